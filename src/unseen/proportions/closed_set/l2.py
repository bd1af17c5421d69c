"""Matching kernel densities in L2 (Titterington, 1983).

Each class and the new rows get a Gaussian kernel density estimate with one bandwidth b. The shares
minimise ``integral (p_0(x) - sum_i pi_i p_i(x))^2 dx``, a quadratic program
(:mod:`unseen.proportions.closed_set.matching`) whose integrals are means over pairs of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from unseen import simplex
from unseen._sklearn import Interval
from unseen._team import own_threads, row_blocks
from unseen._types import FloatArray, IntArray, Matrix
from unseen.proportions.base import ClosedSetEstimator, Reading, closed_reading
from unseen.proportions.closed_set.matching import matching, matching_replicates
from unseen.records import Notice
from unseen.samples import LabelledRows
from unseen.scores import RowScores, Scorer
from unseen.scores.kernel import choose_landmarks, median_bandwidth
from unseen.scores.scales import Standardisation, dense
from unseen.simplex import minimise_on_simplex

# The cost grows with the square of the rows. Up to so many in all, every row is used.
MAX_ROWS = 20_000
# So many distances give their median to about one per cent.
_MEDIAN_ROWS = 1_000
# Above so many rows single precision is close enough, and twice as fast.
_EXACT_ROWS = 4_000
_BLOCK = 512


@dataclass(eq=False, repr=False)
class L2Distance(ClosedSetEstimator):
    """Shares of the known classes by matching kernel densities of the features in L2.

    Parameters
    ----------
    constrained : bool, default=True
        True looks for shares on the simplex. False solves the program without constraints
        and then takes the nearest point of the simplex; ``diagnostics["unconstrained"]`` of the
        estimate holds the solution itself, whose sum shows how well the classes fit.
    bandwidth : float or None, default=None
        Standard deviation of the density kernels, on standardised features. None takes half
        the median distance between rows.
    leave_one_out : bool, default=True
        True leaves out the overlap of each labelled row with itself, which would make small
        classes look denser than they are and lose shares to large ones. False gives the L2
        distance between the density estimates to the letter.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw of rows for that median and, above 20,000 rows in all, of the rows to use.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import L2Distance
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-1, 1, (300, 2)), rng.normal(1, 1, (300, 2))])
    >>> y = ["left"] * 300 + ["right"] * 300
    >>> X_new = np.vstack([rng.normal(-1, 1, (400, 2)), rng.normal(1, 1, (100, 2))])
    >>> round(L2Distance(random_state=0).fit(X, y).estimate(X_new)["left"], 1)
    0.8
    """

    constrained: bool = True
    bandwidth: float | None = None
    leave_one_out: bool = True
    random_state: Any = None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "constrained": ["boolean"],
        "bandwidth": [Interval(Real, 0, None, closed="neither"), None],
        "leave_one_out": ["boolean"],
        "random_state": ["random_state"],
    }

    def scorer(self, seed: int) -> DensityScorer:
        """The scorer that makes inner products of kernel densities."""
        return DensityScorer(self.bandwidth, self.leave_one_out, seed)

    def read(self, scores: RowScores) -> Reading:
        """Bring the mixture of densities nearest to that of the new rows."""
        rows = scores.of_labelled, scores.codes, scores.new
        gram, linear = matching(*rows)
        free = np.linalg.lstsq(gram, linear, rcond=None)[0]
        minimise = minimise_on_simplex if self.constrained else _projected
        shares = minimise_on_simplex(gram, linear) if self.constrained else simplex.project(free)
        draw = partial(matching_replicates, *rows, minimise=minimise)
        return closed_reading(shares, draw, unconstrained=free.tolist())


def _projected(gram: FloatArray, linear: FloatArray) -> FloatArray:
    """The solutions without constraints, moved to the nearest points of the simplex."""
    return simplex.project(np.linalg.solve(gram, linear[..., None])[..., 0])


@dataclass(frozen=True, eq=False)
class DensityScorer(Scorer):
    """Scores each row by its inner products with each class and, last, with the new rows."""

    bandwidth: float | None = None
    leave_one_out: bool = True
    seed: int = 0
    n_jobs: int | None = None

    def score(self, labelled: LabelledRows, X_new: Matrix) -> RowScores:
        """Score checked rows."""
        rng = np.random.RandomState(self.seed)
        keep, keep_new, notices = _kept(labelled.codes, X_new.shape[0], rng)
        codes = labelled.codes[keep]
        both = np.concatenate([dense(labelled.rows[keep]), dense(X_new[keep_new])])
        both = Standardisation.of(both, np.ones(len(both)))(both)
        bandwidth = self.bandwidth
        if bandwidth is None:
            some = choose_landmarks(both, np.ones(len(both)), _MEDIAN_ROWS, rng)
            bandwidth = median_bandwidth(some) / 2
        rows, new = both[: len(codes)], both[len(codes) :]
        products = density_products(rows, codes, new, bandwidth, leave_one_out=self.leave_one_out)
        return RowScores(labelled.labels, codes, *products, self.seed, notices)


def density_products(
    labelled: FloatArray,
    codes: IntArray,
    new: FloatArray,
    bandwidth: float,
    *,
    leave_one_out: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Inner products of the kernel at each row with each sample's density, block by block.

    For each labelled row (n, d) and new row (m, d) the products with each class and, last, with the
    new rows, (n, K + 1) and (m, K + 1), but for the factor ``(4 pi bandwidth^2)^(-d / 2)``.
    """
    n_classes, n_rows = int(codes.max()) + 1, len(labelled) + len(new)
    dtype = np.float64 if n_rows <= _EXACT_ROWS else np.float32
    rows = np.concatenate([labelled, new]).astype(dtype)
    samples = np.append(codes, np.full(len(new), n_classes))
    share = (samples[:, None] == np.arange(n_classes + 1)) / np.bincount(samples)
    share = share.astype(dtype)
    products = np.empty((len(rows), n_classes + 1))
    with own_threads():
        for block in row_blocks(len(rows), _BLOCK):
            products[block] = rbf_kernel(rows[block], rows, gamma=0.25 / bandwidth**2) @ share
    if leave_one_out:
        own, size = products[np.arange(len(codes)), codes], np.bincount(codes)[codes]
        products[np.arange(len(codes)), codes] = (own * size - 1) / np.maximum(size - 1, 1)
    return products[: len(codes)], products[len(codes) :]


def _kept(
    codes: IntArray, n_new: int, rng: np.random.RandomState
) -> tuple[IntArray, IntArray, tuple[Notice, ...]]:
    """Which labelled and new rows to use: all, or an equal part of each sample."""
    n_rows = len(codes) + n_new
    if n_rows <= MAX_ROWS:
        return np.arange(len(codes)), np.arange(n_new), ()
    samples = [
        *(np.flatnonzero(codes == code) for code in range(codes.max() + 1)),
        np.arange(n_new),
    ]
    drawn = [
        np.sort(rng.choice(rows, -(-len(rows) * MAX_ROWS // n_rows), replace=False))
        for rows in samples
    ]
    text = f"a random part of the rows was used: {sum(map(len, drawn))} of {n_rows}."
    return np.sort(np.concatenate(drawn[:-1])), drawn[-1], (Notice("part_of_rows", text, "note"),)
