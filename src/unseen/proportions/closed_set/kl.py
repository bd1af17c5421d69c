"""Matching in Kullback-Leibler divergence by density ratios (after du Plessis & Sugiyama, 2012).

The shares have the least ``KL(P_0 || sum_i theta_i P_i)``. A log-linear density ratio over Gaussian
kernels at landmarks bounds the divergence from below, at a cost linear in the rows. docs/theory.md,
"Closed-set methods", derives the convex problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.metrics.pairwise import rbf_kernel

from unseen._sklearn import Interval
from unseen._team import own_threads
from unseen._types import FloatArray, IntArray, Matrix
from unseen.proportions.base import ClosedSetEstimator, Reading, closed_reading
from unseen.proportions.closed_set.matching import gradient_noise
from unseen.samples import LabelledRows
from unseen.scores import RowScores, Scorer
from unseen.scores.kernel import median_bandwidth
from unseen.scores.scales import Standardisation, dense
from unseen.simplex import minimise_on_simplex

_SHARE_TOL = 1e-9
_MAX_STEPS = 100


@dataclass(eq=False, repr=False)
class KLDivergence(ClosedSetEstimator):
    """Shares of the known classes by the least Kullback-Leibler divergence to the new rows.

    Parameters
    ----------
    bandwidth : float or None, default=None
        Standard deviation of the kernels, on standardised features. None makes the kernel
        ``exp(-distance^2 / median^2)`` with the median distance between landmarks.
    penalty : float, default=10.0
        Weight of ``|alpha|^2 / 2``, divided by the number of labelled rows.
    n_landmarks : int, default=200
        Rows, drawn at random from all, that a kernel sits on.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw of landmarks.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import KLDivergence
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-1, 1, (300, 2)), rng.normal(1, 1, (300, 2))])
    >>> y = ["left"] * 300 + ["right"] * 300
    >>> X_new = np.vstack([rng.normal(-1, 1, (400, 2)), rng.normal(1, 1, (100, 2))])
    >>> round(KLDivergence(random_state=0).fit(X, y).estimate(X_new)["left"], 1)
    0.8
    """

    bandwidth: float | None = None
    penalty: float = 10.0
    n_landmarks: int = 200
    random_state: Any = None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "bandwidth": [Interval(Real, 0, None, closed="neither"), None],
        "penalty": [Interval(Real, 0, None, closed="neither")],
        "n_landmarks": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    }

    def scorer(self, seed: int) -> LandmarkScorer:
        """The scorer that makes kernel values at landmarks."""
        return LandmarkScorer(self.bandwidth, self.n_landmarks, seed)

    def read(self, scores: RowScores) -> Reading:
        """Find the density ratio with the highest bound on the divergence, and its shares."""
        labelled, codes, new = scores.of_labelled, scores.codes, scores.new
        fit = fit_density_ratio(labelled, codes, new, self.penalty / len(codes))
        divergence = float((new @ fit.alpha).mean() - fit.heights.max())
        return closed_reading(fit.shares, partial(_replicates, fit, scores), divergence=divergence)


@dataclass(frozen=True, eq=False)
class LandmarkScorer(Scorer):
    """Scores each row by kernel values at landmarks, which the seed draws."""

    bandwidth: float | None = None
    n_landmarks: int = 200
    seed: int = 0
    n_jobs: int | None = None

    def score(self, labelled: LabelledRows, X_new: Matrix) -> RowScores:
        """Score checked rows."""
        codes = labelled.codes
        both = np.concatenate([dense(labelled.rows), dense(X_new)])
        both = Standardisation.of(both, np.ones(len(both)))(both)
        drawn = np.random.RandomState(self.seed).permutation(len(both))[: self.n_landmarks]
        landmarks = both[np.sort(drawn)]
        bandwidth = self.bandwidth or median_bandwidth(landmarks) / np.sqrt(2)
        with own_threads():
            kernels = rbf_kernel(both, landmarks, gamma=0.5 / bandwidth**2)
        rows, new = kernels[: len(codes)], kernels[len(codes) :]
        return RowScores(labelled.labels, codes, rows, new, self.seed)


def _replicates(
    fit: RatioFit, scores: RowScores, n_replicates: int, rng: np.random.Generator
) -> FloatArray:
    """Shares under Bayesian-bootstrap weights of the rows, to first order in the weights.

    Weights move the linear term of the last quadratic program; its curvature is held fixed.
    """
    labelled, codes = scores.of_labelled, scores.codes
    response = cho_solve(cho_factor(fit.curvature), fit.slopes.T)
    gram = fit.slopes @ response
    tilt = np.exp(labelled @ fit.alpha - fit.heights[codes])
    off_centre = (labelled - fit.slopes[codes]) * tilt[:, None]
    moves = np.column_stack([off_centre @ response, tilt]), codes, scores.new @ response
    noise = gradient_noise(*moves, fit.shares, n_replicates, rng)
    linear = gram @ fit.shares + fit.heights + noise
    return minimise_on_simplex(gram, linear)


@dataclass(frozen=True, eq=False)
class RatioFit:
    """The ratio with the highest bound on the divergence, and the shares."""

    alpha: FloatArray  # (L,), weights of the kernels in ``log r``
    shares: FloatArray  # (K,)
    heights: FloatArray  # (K,), ``log E_i[r]`` of each class
    slopes: FloatArray  # (K, L), of the heights in alpha: mean kernels of each class, weighted by r
    curvature: FloatArray  # (L, L), second derivative of the objective at the shares


def fit_density_ratio(
    labelled: FloatArray, codes: IntArray, new: FloatArray, penalty: float
) -> RatioFit:
    """Minimise ``max_i log E_i[r] - E_0[log r] + penalty |alpha|^2 / 2`` over alpha.

    Sequential quadratic programming: each step minimises the maximum of the linearised ``log
    E_i[r]`` with the curvature of their mixture, which is a program in the shares. Kernels have the
    shape (n, L) at the labelled rows and (m, L) at the new rows.
    """
    n_classes = int(codes.max()) + 1
    classes = [labelled[codes == code] for code in range(n_classes)]
    mean_new = new.mean(axis=0)
    alpha = np.zeros(labelled.shape[1])
    shares = np.full(n_classes, 1 / n_classes)
    for _ in range(_MAX_STEPS):
        heights, slopes, curvature = _log_means(classes, alpha, shares, penalty)
        factor = cho_factor(curvature)
        free = cho_solve(factor, mean_new - penalty * alpha)
        response = cho_solve(factor, slopes.T)
        last, shares = shares, minimise_on_simplex(slopes @ response, heights + slopes @ free)
        move = free - response @ shares
        length = _descent(classes, alpha, move, mean_new, penalty)
        alpha = alpha + length * move
        if length == 1 and np.abs(shares - last).max() < _SHARE_TOL:
            break
    return RatioFit(alpha, shares, *_log_means(classes, alpha, shares, penalty))


def _log_means(
    classes: list[FloatArray], alpha: FloatArray, shares: FloatArray, penalty: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """``log E_i[r]``, their slopes, and the second derivative of the objective at the shares."""
    heights, slopes = np.empty(len(classes)), np.empty((len(classes), len(alpha)))
    curvature = np.zeros((len(alpha), len(alpha)))
    for code, kernels in enumerate(classes):
        logs = kernels @ alpha
        top = logs.max()
        tilt = np.exp(logs - top)
        heights[code] = top + np.log(tilt.mean())
        tilt /= tilt.sum()
        slopes[code] = tilt @ kernels
        spread = (kernels - slopes[code]) * np.sqrt(tilt)[:, None]
        curvature += shares[code] * (spread.T @ spread)
    curvature[np.diag_indices_from(curvature)] += penalty
    return heights, slopes, curvature


def _descent(
    classes: list[FloatArray],
    alpha: FloatArray,
    move: FloatArray,
    mean_new: FloatArray,
    penalty: float,
) -> float:
    """The longest of 1, 1/2, 1/4 ... of the move that does not climb."""
    logs = [(kernels @ alpha, kernels @ move) for kernels in classes]

    def objective(length: float) -> float:
        at = alpha + length * move
        heights = [
            np.logaddexp.reduce(start + length * change) - np.log(len(start))
            for start, change in logs
        ]
        return float(max(heights) - at @ mean_new + penalty * (at @ at) / 2)

    length, start = 1.0, objective(0.0)
    # Near the bottom a descent is lost in rounding: there the full step is safe.
    while objective(length) > start + 1e-12 * (1 + abs(start)) and length > 1e-6:
        length /= 2
    return length
