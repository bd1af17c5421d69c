"""Placement likelihood: a posterior of ν from where the rows of F stand among those of H.

Let ``F = (1 - ν) G + ν H``, Eq. (3), and let a score order the rows, high where a row looks like
F. The placement value of a row is the false alarm at its score, ``α = H(score > s)``. Among rows
of H it is uniform; among rows of F its density is the slope of the ROC,

    f'(α) = (1 - γ) g'(α) + γ,

with g the ROC of G against H. So ROC models are densities, and γ has a likelihood.

**Pooled ranks.** H is known by a sample only, and a likelihood of placement values that takes the
sample for H is too sure of itself. Order the rows of both samples together instead. A fraction w
of them, in the limit, stands above the threshold with false alarm α, and a row that stands
there is one of F with probability η:

    w = r f(α) + (1 - r) α,    η(w) = r f'(α) / (r f'(α) + 1 - r),    r = n_F / (n_F + n_H).

Given the pooled order the labels are independent Bernoulli draws with these η, as in
case-control studies: that is a proper likelihood of f, with the noise of both samples in it. η is
bounded where f' is not. Ranks are binned into equal cells, so that any number of rows costs the
same, and so that the ROC as counts (:class:`~unseen.roc.sketch.RocSketch`) is all that is needed.

**Curves.** g is binormal, ``Φ(Φ⁻¹(α) + Δ)``, Eq. (8), with log Δ uniform between limits. What is
not H is taken to be visible at least a little, Δ >= 0.6, or else nothing could be said where F and
H look alike; with more rows a discriminator sees more, and the limit rises to 1. A small prior
weight is on the concave curve of Eq. (9), whose slope at the right end is not 0; with many rows the
data decide. ν is the slope of f at the right end, and γ is uniform a priori. Everything is summed
over a lattice, which is laid anew where the posterior has its mass.

**Candidates.** Which score? Each candidate (bandwidth and C) has a likelihood of the same labels.
The prior of candidate c is ``q_c ~ exp(-n (loss_c - least loss) / 10)``, by held-out log-loss.
Its Bayes factor B_c, of "F holds something besides H" against "F is H", where η = r, adds to

    B = sum_c q_c B_c,

and the posterior of ν mixes those of the candidates with weights ``q_c sqrt(B_c)``: their scores
come from the same rows, so that their evidence is not counted in full.

**Spike.** "F is H" is one point, ν = 1, and has a prior weight of its own. The estimate is the
posterior median, which has the least expected absolute error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp
from sklearn.utils._param_validation import Interval

from unseen.base import BoolArray, FloatArray, IntArray, MixtureEstimate
from unseen.mixture.base import MixtureEstimator, clipped_estimate
from unseen.roc.bootstrap import check_generator
from unseen.roc.models import Concave, Gaussian
from unseen.roc.sketch import RocSketch
from unseen.scores.ratio import RatioScores, ratio_scores

__all__ = [
    "Placement",
    "PlacementCells",
    "PlacementPosterior",
    "candidate_cells",
    "candidate_prior",
    "placement_posterior",
]

N_CELLS = 200
_COARSE, _FINE = (41, 13), (61, 21)  # points of γ and of Δ
_SEPARATIONS = (0.6, 1.0, 4.5)  # the least with few rows, the least with many, the largest
_FEW_ROWS = 100
# Beyond so many rows the coarse lattice is too coarse to say more than where to look.
_COARSE_ROWS, _ZOOM = 2000, 50
_CONCAVE_DELTA = np.array([0.02, 0.05, 0.1, 0.2, 0.35])
_CONCAVE_MU = (0.5, 1.0, 2.0)
_CONCAVE_WEIGHT = 0.02
_LOSS_WEIGHT = 0.1
_EVIDENCE_POWER = 0.5
_NEGLIGIBLE = 1e-6
_LEAST_RATE = 1e-9
_LARGEST_LOG = 690.0
# False-alarm rates at which curves are tabled: dense where a good ROC turns.
_ALPHA = np.unique(
    np.concatenate(
        [
            [0.0],
            np.geomspace(1e-9, 1e-2, 80),
            np.linspace(0.01, 1, 200),
            1 - np.geomspace(1e-6, 0.01),
        ]
    )
)


@dataclass(frozen=True, eq=False)
class PlacementCells:
    """Rows of F and of H in equal cells of the pooled order, high scores first.

    Parameters
    ----------
    unlabelled, labelled : ndarray of shape (C, cells)
        Mass of F and of H in each cell, for each candidate score.
    place : ndarray of shape (C, n_F)
        The cell in which each row of F stands.
    """

    unlabelled: FloatArray
    labelled: FloatArray
    place: IntArray

    @property
    def n_rows(self) -> float:
        """Pooled mass of F and H."""
        return float((self.unlabelled + self.labelled).sum(axis=1).max())

    @property
    def share(self) -> float:
        """Share of F in the pooled mass, r."""
        return float(self.unlabelled.sum(axis=1).max()) / self.n_rows


@dataclass(frozen=True, eq=False)
class PlacementPosterior:
    """Posterior of the share ν of H in F.

    Parameters
    ----------
    share : ndarray of shape (L,)
        ν at the points of the lattice, rising.
    probability : ndarray of shape (L,)
        Posterior probability of the points, given that F holds something besides H; sums to 1.
    log_bayes_factor : float
        Logarithm of the Bayes factor for "F holds something besides H" against "F is H".
    spike : float
        Prior probability of "F is H".
    known : ndarray of shape (C, cells)
        Probability that a row of F in this cell belongs to H, given the same; each row is
        weighted by the probability of the candidate, so that they add up over candidates.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.mixture.placement import PlacementPosterior
    >>> share, half = np.array([0.2, 0.4]), np.array([0.5, 0.5])
    >>> even = PlacementPosterior(share, half, 0.0, spike=0.5, known=np.ones((1, 1)))
    >>> even.probability_mixed, even.quantile(0.25).round(3), even.quantile(0.5)
    (0.5, np.float64(0.3), np.float64(1.0))
    """

    share: FloatArray
    probability: FloatArray
    log_bayes_factor: float
    spike: float
    known: FloatArray

    @property
    def bayes_factor(self) -> float:
        """Bayes factor for "F holds something besides H"."""
        return float(np.exp(min(self.log_bayes_factor, _LARGEST_LOG)))

    @property
    def probability_mixed(self) -> float:
        """Posterior probability that F holds something besides H."""
        if self.spike in (0.0, 1.0):
            return 1.0 - self.spike
        log_odds = np.log1p(-self.spike) - np.log(self.spike) + self.log_bayes_factor
        return float(1 / (1 + np.exp(-np.clip(log_odds, -_LARGEST_LOG, _LARGEST_LOG))))

    def quantile(self, level: ArrayLike) -> FloatArray:
        """Quantiles of ν, the spike at 1 included."""
        mixed = self.probability_mixed
        levels = np.asarray(level, dtype=float)
        inner = self.mixed_quantile(np.minimum(levels / max(mixed, _LEAST_RATE), 1.0))
        return np.where(levels < mixed, inner, 1.0)[()]

    def mixed_quantile(self, level: ArrayLike) -> FloatArray:
        """Quantiles of ν given that F holds something besides H."""
        middle = np.cumsum(self.probability) - self.probability / 2
        return np.interp(np.asarray(level, dtype=float), middle, self.share)

    def draws(self, n_draws: int, random_state: Any = None) -> FloatArray:
        """Draws of ν, the spike at 1 included."""
        return self.quantile(check_generator(random_state).random(n_draws))


class Placement(MixtureEstimator):
    """Estimate ν by the posterior median of the placement likelihood.

    Parameters
    ----------
    spike : float, default=0.02
        Prior probability that F is H, ν = 1. It is small: who asks how much of F is H has
        reason to expect something else in it.
    classifier : scikit-learn classifier or None, default=None
        What tells F from H; None is kernel logistic regression, averaged over its candidates.
    n_folds : int, default=10
        Folds of the out-of-fold scores.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds and of the classifier.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.mixture.placement import Placement
    >>> rng = np.random.default_rng(0)
    >>> scores_H = rng.normal(0, 1, 2000)
    >>> scores_F = np.concatenate([rng.normal(0, 1, 600), rng.normal(2, 1, 1400)])
    >>> estimate = Placement().from_scores(scores_F, scores_H)
    >>> abs(estimate.proportion - 0.3) < 0.03
    True
    >>> lower, upper = Placement().posterior(scores_F, scores_H).quantile([0.025, 0.975])
    >>> bool(lower < 0.3 < upper)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MixtureEstimator._parameter_constraints,
        "spike": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(
        self,
        spike: float = 0.02,
        classifier: Any = None,
        n_folds: int = 10,
        random_state: Any = None,
    ) -> None:
        super().__init__(classifier, n_folds, random_state)
        self.spike = spike

    def posterior(self, scores_F: ArrayLike, scores_H: ArrayLike) -> PlacementPosterior:
        """Posterior of ν from out-of-fold scores; needs no ``fit``.

        Parameters
        ----------
        scores_F, scores_H : array-like of shape (n_unlabelled,) and (n_labelled,)
            Out-of-fold scores, high where a row looks like F.

        Returns
        -------
        PlacementPosterior
        """
        return self._posterior(RocSketch.from_scores(scores_F, scores_H))

    def from_sketch(self, sketch: RocSketch) -> MixtureEstimate:
        """Estimate from the counts behind a ROC; needs no ``fit``.

        Parameters
        ----------
        sketch : RocSketch

        Returns
        -------
        MixtureEstimate
            With the 95% limits, and the probability that F holds something besides H, in
            ``roc.parameters``.
        """
        return _estimate(sketch, self._posterior(sketch))

    def replicates(
        self, sketch: RocSketch, n_replicates: int = 1000, random_state: Any = None
    ) -> FloatArray:
        """Draws of ν from its posterior.

        Parameters
        ----------
        sketch : RocSketch
        n_replicates : int, default=1000
        random_state : int, RandomState, Generator or None, default=None
            Seed of the draws; None is the seed of the estimator.

        Returns
        -------
        ndarray of shape (n_replicates,)
        """
        seed = self.random_state if random_state is None else random_state
        return self._posterior(sketch).draws(n_replicates, seed)

    def _posterior(self, sketch: RocSketch) -> PlacementPosterior:
        self._validate_params()
        labelled, unlabelled = sketch.increments()
        F, H = _spread(unlabelled.astype(float), labelled.astype(float))
        cells = PlacementCells(F[None], H[None], np.zeros((1, 0), dtype=np.intp))
        return placement_posterior(cells, np.zeros(1), self.spike)

    def _from_rows(self, unlabelled: Any) -> MixtureEstimate:
        scores = ratio_scores(
            unlabelled,
            self.labelled_,
            None,
            self.classifier,
            n_folds=self.n_folds,
            random_state=self.random_state,
        )
        n_rows = unlabelled.shape[0] + self.labelled_.shape[0]
        prior = candidate_prior(scores, n_rows)
        posterior = placement_posterior(candidate_cells(scores, prior), prior, self.spike)
        best = scores.best
        sketch = RocSketch.from_scores(scores.unlabelled[:, best], scores.labelled[:, best])
        return _estimate(sketch, posterior)


def _estimate(sketch: RocSketch, posterior: PlacementPosterior) -> MixtureEstimate:
    lower, median, upper = posterior.quantile([0.025, 0.5, 0.975])
    found = {
        "lower": float(lower),
        "upper": float(upper),
        "probability_mixed": posterior.probability_mixed,
    }
    return clipped_estimate("Placement", sketch, float(median), found)


def candidate_prior(scores: RatioScores, n_rows: float) -> FloatArray:
    """Log prior weights of the candidates, -inf for those that cannot matter.

    Parameters
    ----------
    scores : RatioScores
    n_rows : float
        Weight of all rows behind the log-loss.

    Returns
    -------
    ndarray of shape (C,)

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.scores.ratio import RatioScores
    >>> scores = RatioScores(np.zeros((1, 3)), np.zeros((1, 3)), np.array([0.5, 0.5, 9.0]))
    >>> np.exp(candidate_prior(scores, 100))
    array([0.5, 0.5, 0. ])
    """
    log_prior = -_LOSS_WEIGHT * n_rows * (scores.log_loss - scores.log_loss.min())
    log_prior[log_prior < np.log(_NEGLIGIBLE)] = -np.inf
    return log_prior - logsumexp(log_prior)


def candidate_cells(
    scores: RatioScores, log_prior: FloatArray, weight: FloatArray | None = None
) -> PlacementCells:
    """Cells of every candidate; those that cannot matter are left empty.

    Parameters
    ----------
    scores : RatioScores
    log_prior : ndarray of shape (C,)
        Candidates at -inf are left out.
    weight : ndarray of shape (n_H,), optional
        Weights of the rows of H; their mass is the effective number of rows
        ``(sum w)^2 / sum w^2``.

    Returns
    -------
    PlacementCells
    """
    n_labelled = len(scores.labelled)
    weights = np.ones(n_labelled) if weight is None else weight
    mass = weights * weights.sum() / np.square(weights).sum()
    used = np.isfinite(log_prior)
    parts = [
        _row_cells(scores.unlabelled[:, column], scores.labelled[:, column], mass)
        for column in np.flatnonzero(used)
    ]
    return PlacementCells(*(_filled(used, [part[item] for part in parts]) for item in range(3)))


def _filled(used: BoolArray, parts: list[Any]) -> Any:
    rows = np.zeros((len(used), len(parts[0])), dtype=parts[0].dtype)
    rows[used] = parts
    return rows


def _row_cells(
    scores_F: FloatArray, scores_H: FloatArray, mass: FloatArray
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Cells of F and H, and the cell of each row of F, by falling score."""
    steps, step = np.unique(-np.concatenate([scores_F, scores_H]), return_inverse=True)
    unlabelled = np.bincount(step[: len(scores_F)], minlength=len(steps)).astype(float)
    labelled = np.bincount(step[len(scores_F) :], mass, minlength=len(steps)).astype(float)
    pooled = unlabelled + labelled
    middle = (np.cumsum(pooled) - pooled / 2) / pooled.sum()
    place = np.minimum((middle * N_CELLS).astype(np.intp), N_CELLS - 1)
    return *_spread(unlabelled, labelled), place[step[: len(scores_F)]]


def _spread(unlabelled: FloatArray, labelled: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Masses of steps, by falling score, in equal cells; a tie or a split step is shared evenly.

    Examples
    --------
    >>> F, H = _spread(np.array([1.0, 1.0]), np.array([0.0, 2.0]))
    >>> F[: N_CELLS // 4].sum().round(6), H[N_CELLS // 4 :].sum().round(6)
    (np.float64(1.0), np.float64(2.0))
    """
    pooled = unlabelled + labelled
    edges = np.append(0.0, np.cumsum(pooled)) / pooled.sum()
    grid = np.linspace(0, 1, N_CELLS + 1)
    F, H = (
        np.diff(np.interp(grid, edges, np.append(0.0, np.cumsum(mass))))
        for mass in (unlabelled, labelled)
    )
    return F, H


def placement_posterior(
    cells: PlacementCells, log_prior: FloatArray, spike: float
) -> PlacementPosterior:
    """Sum the likelihood over candidates, curves and γ.

    Parameters
    ----------
    cells : PlacementCells
    log_prior : ndarray of shape (C,)
        Log prior weights of the candidates.
    spike : float
        Prior probability that F is H.

    Returns
    -------
    PlacementPosterior
    """
    limits = separation_limits(cells.n_rows * cells.share * (1 - cells.share))
    lattice = _Lattice(
        np.linspace(0, 1, _COARSE[0]), np.geomspace(*limits, _COARSE[1]), cells.share, limits
    )
    for most_rows in _zoom_rows(cells.n_rows):
        lattice = lattice.zoomed(lattice.weights(cells, log_prior, most_rows)[1].sum(axis=0))
    log_bayes_factor, weight = lattice.weights(cells, log_prior)
    order = np.argsort(lattice.slope, kind="stable")
    return PlacementPosterior(
        lattice.slope[order],
        weight.sum(axis=0)[order],
        log_bayes_factor,
        float(spike),
        weight @ lattice.known(),
    )


def separation_limits(n_rows: float) -> tuple[float, float]:
    """Least and largest separation Δ of what is not H, given ``n_F n_H / (n_F + n_H)``.

    Examples
    --------
    >>> [separation_limits(n_rows)[0] for n_rows in (30, 196, 1e6)]
    [0.6, 0.84, 1.0]
    """
    few, many, largest = _SEPARATIONS
    return min(few * max(1.0, (n_rows / _FEW_ROWS) ** 0.5), many), largest


def _zoom_rows(n_rows: float) -> Iterator[float]:
    """Rows that the lattice can take at each zoom, until all are in."""
    most_rows = float(_COARSE_ROWS)
    yield most_rows
    while most_rows < n_rows:
        most_rows *= _ZOOM
        yield most_rows


def _span(grid: FloatArray, mass: FloatArray) -> tuple[float, float]:
    """Ends of the part of a grid that carries mass, and one point more on either side.

    Where none does (all of it is with the concave curves) the grid stays as it is.
    """
    if mass.max() == 0:
        return float(grid[0]), float(grid[-1])
    inside = np.flatnonzero(mass > _NEGLIGIBLE * mass.max())
    low, high = max(inside[0] - 1, 0), min(inside[-1] + 1, len(grid) - 1)
    return float(grid[low]), float(grid[high])


class _Lattice:
    """Curves at all points of a lattice of γ and shapes, read at the edges of the cells."""

    def __init__(
        self,
        gamma: FloatArray,
        separations: FloatArray,
        share: float,
        limits: tuple[float, float],
    ) -> None:
        self.gamma, self.separations, self.share, self.limits = gamma, separations, share, limits
        shapes = _with_binormal(separations, limits)
        column = gamma[:, None]
        curves = (1 - column[..., None]) * shapes.curves + column[..., None] * _ALPHA
        self.slope = (column + (1 - column) * shapes.slope).ravel()
        self.rate = cell_rates(curves.reshape(-1, _ALPHA.size), share)
        self.log_prior = np.add.outer(np.log(_trapezoid(gamma)), np.log(shapes.prior)).ravel()

    def zoomed(self, mass: FloatArray) -> _Lattice:
        """A finer lattice over the part of this one that carries the mass (L,)."""
        table = mass.reshape(len(self.gamma), -1)
        gamma = np.linspace(*_span(self.gamma, table.sum(axis=1)), _FINE[0])
        by_separation = table[:, : len(self.separations)].sum(axis=0)
        separations = np.geomspace(*_span(self.separations, by_separation), _FINE[1])
        return _Lattice(gamma, separations, self.share, self.limits)

    def weights(
        self, cells: PlacementCells, log_prior: FloatArray, most_rows: float = np.inf
    ) -> tuple[float, FloatArray]:
        """Log Bayes factor, and posterior weights (C, L) of candidates and lattice points.

        More rows than ``most_rows`` count as so many.
        """
        used = np.isfinite(log_prior)
        F, H = cells.unlabelled[used], cells.labelled[used]
        null = F.sum(axis=1) * np.log(self.share) + H.sum(axis=1) * np.log1p(-self.share)
        gain = F @ np.log(self.rate).T + H @ np.log1p(-self.rate).T - null[:, None]
        fit = gain * min(1.0, most_rows / cells.n_rows) + self.log_prior
        evidence = logsumexp(fit, axis=1)
        mixing = log_prior[used] + _EVIDENCE_POWER * evidence
        weight = np.zeros((len(used), self.rate.shape[0]))
        weight[used] = np.exp(fit - evidence[:, None] + (mixing - logsumexp(mixing))[:, None])
        return float(logsumexp(log_prior[used] + evidence)), weight

    def known(self) -> FloatArray:
        """Probability (L, cells) that a row of F in a cell is one of H: ``ν / f'``, at most 1."""
        odds = (1 - self.rate) / self.rate * self.share / (1 - self.share)
        return np.minimum(self.slope[:, None] * odds, 1.0)


@dataclass(frozen=True, eq=False)
class _Shapes:
    """Curves g at the tabled false alarms (S, A), their right slopes and prior weights (S,)."""

    curves: FloatArray
    slope: FloatArray
    prior: FloatArray


def _with_binormal(separations: FloatArray, limits: tuple[float, float]) -> _Shapes:
    """Binormal curves at these Δ, with their part of the prior, then the concave ones."""
    theta = np.column_stack([np.zeros_like(separations), separations])
    concave, (low, high) = _concave_shapes(), np.log(limits)
    prior = (1 - _CONCAVE_WEIGHT) * _trapezoid(np.log(separations)) / (high - low)
    return _Shapes(
        np.concatenate([Gaussian().value(_ALPHA, theta), concave.curves]),
        np.concatenate([np.zeros(len(separations)), concave.slope]),
        np.concatenate([prior, concave.prior]),
    )


@lru_cache(maxsize=1)
def _concave_shapes() -> _Shapes:
    theta = np.column_stack([np.zeros_like(_CONCAVE_DELTA), _CONCAVE_DELTA])
    n_shapes = len(_CONCAVE_MU) * len(_CONCAVE_DELTA)
    return _Shapes(
        np.concatenate([Concave(mu).value(_ALPHA, theta) for mu in _CONCAVE_MU]),
        np.tile(_CONCAVE_DELTA, len(_CONCAVE_MU)),
        np.full(n_shapes, _CONCAVE_WEIGHT / n_shapes),
    )


def cell_rates(curves: FloatArray, share: float) -> FloatArray:
    """Mean η in equal cells of the pooled order, from ROC curves at the tabled false alarms.

    The mean over a cell is the mass of F in it over the mass of the cell: no slope is needed.

    Parameters
    ----------
    curves : ndarray of shape (B, A)
        Detection at each tabled false alarm.
    share : float
        Share r of F in the pooled rows.

    Returns
    -------
    ndarray of shape (B, cells)
    """
    grid = np.linspace(0, 1, N_CELLS + 1)
    above = share * curves + (1 - share) * _ALPHA
    masses = np.empty((len(curves), N_CELLS + 1))
    for mass, curve, position in zip(masses, curves, above, strict=True):
        mass[:] = np.interp(grid, position, curve)
    rates = share * N_CELLS * np.diff(masses, axis=1)
    return np.clip(rates, _LEAST_RATE, 1 - _LEAST_RATE)


def _trapezoid(grid: FloatArray) -> FloatArray:
    """Weights of the trapezoidal rule."""
    steps = np.diff(grid)
    return (np.append(steps, 0.0) + np.append(0.0, steps)) / 2
