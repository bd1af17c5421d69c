"""Rules that are constant on cells, and the histogram: the rule of least risk over a partition.

Over a partition the risk is a sum over cells, so that the masses of a cell alone decide its best
label: the known class of largest mass a_k, or unseen where ``e = u - sum_i a_i`` is larger still.
With the default number of cells the risk tends to the Bayes risk (``docs/rejection.md``). Cells are
equal boxes, boxes between quantiles, or nearest centres, which are for many features: there a grid
has more cells than rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin

from unseen._sklearn import HasMethods, Interval, StrOptions
from unseen._types import FloatArray, IntArray, Matrix
from unseen.rejection.base import RejectionRule
from unseen.rejection.sample import (
    OpenSample,
    cell_masses,
    cell_probabilities,
    effective_size,
    growing_cells,
)
from unseen.scores.scales import Standardisation

GRID_FEATURES = 3  # of more than these a grid cuts each too coarsely to be the default
LLOYD_STEPS, ROWS_PER_CENTRE = 5, 32  # a few steps on a part of the rows place centres well enough


class Cells(Protocol):
    """A partition of the space of rows."""

    @property
    def n_cells(self) -> int:
        """How many cells there are; some may hold no row."""

    def cell(self, X: Matrix) -> IntArray:
        """Cell of each row, from 0 to n_cells - 1."""


@dataclass(frozen=True, eq=False)
class CellRule:
    """A rule that gives all rows of a cell the same probabilities."""

    cells: Cells
    table: FloatArray  # probabilities of the labels in each cell, unseen last: (n_cells, K + 1)

    def probabilities(self, X: Matrix) -> FloatArray:
        """Probability of each known class and, last, of unseen ones: shape (n, K + 1)."""
        return self.table[self.cells.cell(X)]


def cell_rule(cells: Cells, sample: OpenSample) -> CellRule:
    """The rule of least estimated risk on given cells, with its probabilities."""
    cell = np.concatenate([cells.cell(sample.X), cells.cell(sample.X_new)])
    masses = cell_masses(cell, sample.masses, cells.n_cells)
    return CellRule(cells, cell_probabilities(masses, sample.prior, 1 / effective_size(sample)))


@dataclass(eq=False, repr=False)
class RejectionHistogram(RejectionRule):
    """The rule of least estimated risk over all labellings of the cells of a partition.

    This rule is simple and fast, and is the paper's theorem word for word. Trees, and above all
    forests, put their cells in better places.

    Parameters
    ----------
    partition : Partition or None, default=None
        :class:`EqualWidthCells`, :class:`QuantileCells`, :class:`VoronoiCells`, or any object with
        ``fit(X, n_cells, rng)``. None is quantiles in up to three features, else Voronoi cells.
        The partition is fitted to the new rows, whose distribution the risk is about.
    n_cells : int or "auto", default="auto"
        Number of cells. "auto" is ``n^(d / (d + 2))``, where n is about the number of rows
        (:func:`~unseen.rejection.sample.effective_size`) and d the number of features, at most
        4, as the theorem asks.
    unseen_label, n_folds, random_state
        Parameters of every rule.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import RejectionHistogram
    >>> rng = np.random.RandomState(0)
    >>> y = np.repeat(["left", "right"], 200)
    >>> X = rng.normal(size=(400, 1)) + np.where(y == "left", -4, 4)[:, None]
    >>> X_new = rng.normal(size=(600, 1)) + np.repeat([-4, 4, 0], 200)[:, None]
    >>> rule = RejectionHistogram(random_state=0).fit(X, y, X_new, [1 / 3, 1 / 3])
    >>> rule.predict([[-4.0], [0.0], [4.0]])
    array(['left', 'unseen', 'right'], dtype='<U6')
    """

    partition: Partition | None = None
    n_cells: int | str = "auto"

    _accepts_sparse: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "partition": [None, HasMethods("fit")],
        "n_cells": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        **RejectionRule._parameter_constraints,
    }

    def _fit_rule(self, sample: OpenSample, rng: RandomState) -> CellRule:
        n_features = sample.X.shape[1]
        size = effective_size(sample)
        n_cells = growing_cells(size, n_features) if self.n_cells == "auto" else float(self.n_cells)
        few = n_features <= GRID_FEATURES
        partition = self.partition or (QuantileCells() if few else VoronoiCells())
        return cell_rule(partition.fit(sample.X_new, n_cells, rng), sample)


class Partition(Protocol):
    """A way to divide the space of rows into cells."""

    def fit(self, X: FloatArray, n_cells: float, rng: RandomState) -> Cells:
        """Divide the space into about ``n_cells`` cells."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Cells between the cuts of each axis; the outer ones reach to infinity."""

    axes: FloatArray  # directions that rows are cut along, in columns
    cuts: tuple[FloatArray, ...]  # sorted, along each axis

    @property
    def n_cells(self) -> int:
        """Product of the numbers of cells along the axes."""
        return int(np.prod([len(cuts) + 1 for cuts in self.cuts]))

    def cell(self, X: FloatArray) -> IntArray:
        """Cell of each row, counted along the last axis first."""
        columns = zip(self.cuts, (X @ self.axes).T, strict=True)
        places = [np.searchsorted(cuts, column) for cuts, column in columns]
        return np.ravel_multi_index(places, [len(cuts) + 1 for cuts in self.cuts])


@dataclass(frozen=True, eq=False)
class NearestCentre:
    """Voronoi cells."""

    centres: FloatArray  # in units of the scale
    scale: FloatArray  # each feature is divided by its scale

    @property
    def n_cells(self) -> int:
        """Number of centres."""
        return len(self.centres)

    def cell(self, X: FloatArray) -> IntArray:
        """Nearest centre of each row."""
        return pairwise_distances_argmin(X / self.scale, self.centres)


@dataclass(frozen=True)
class EqualWidthCells:
    """Equal boxes, as many along each axis: a fixed partition.

    The corners of the box are numbers, or one number for each feature; None is the range of the new
    rows. Cells at its sides reach beyond. With more features than ``max_axes`` the leading
    principal axes are cut instead, and no corners can be given.
    """

    low: ArrayLike | None = None
    high: ArrayLike | None = None
    max_axes: int = GRID_FEATURES

    def fit(self, X: FloatArray, n_cells: float, rng: RandomState) -> Cells:
        """Divide the box."""
        if X.shape[1] > self.max_axes and not (self.low is None and self.high is None):
            raise ValueError(
                f"low and high must be None for rows with more than max_axes = {self.max_axes} "
                f"features; got {X.shape[1]} features."
            )
        axes = leading_axes(X, self.max_axes)
        places = X @ axes
        low = places.min(axis=0) if self.low is None else self.low
        high = places.max(axis=0) if self.high is None else self.high
        corners = (np.broadcast_to(corner, places.shape[1]) for corner in (low, high))
        ends, along = zip(*corners, strict=True), max(1, round(n_cells ** (1 / places.shape[1])))
        cuts = (np.linspace(start, end, along + 1)[1:-1] for start, end in ends)
        return Grid(axes, tuple(cuts))


@dataclass(frozen=True)
class QuantileCells:
    """Boxes between quantiles of the new rows along each axis: a data-dependent partition.

    With more features than ``max_axes`` the leading principal axes are cut instead.
    """

    max_axes: int = GRID_FEATURES

    def fit(self, X: FloatArray, n_cells: float, rng: RandomState) -> Cells:
        """Find the quantiles; those that are equal count once."""
        axes = leading_axes(X, self.max_axes)
        places = X @ axes
        along = max(1, round(n_cells ** (1 / places.shape[1])))
        levels = np.linspace(0, 1, along + 1)[1:-1]
        quantiles = np.quantile(places, levels, axis=0, method="inverted_cdf")
        return Grid(axes, tuple(np.unique(column) for column in quantiles.T))


@dataclass(frozen=True)
class VoronoiCells:
    """Cells of nearest centres, by a few steps of k-means: a partition for many features.

    Features are divided by their standard deviation.
    """

    def fit(self, X: FloatArray, n_cells: float, rng: RandomState) -> Cells:
        """Find the centres."""
        scale = nonzero_scale(X)
        rows = X[rng.permutation(len(X))[: max(1, round(ROWS_PER_CENTRE * n_cells))]] / scale
        n_centres = min(max(1, round(n_cells)), len(np.unique(rows, axis=0)))
        means = KMeans(n_centres, max_iter=LLOYD_STEPS, n_init=1, random_state=rng)
        return NearestCentre(means.fit(rows).cluster_centers_, scale)


def leading_axes(X: FloatArray, max_axes: int) -> FloatArray:
    """Columns: the features or, where they are too many, principal axes of standardised ones."""
    if X.shape[1] <= max_axes or len(X) == 1:
        return np.eye(X.shape[1])[:, :max_axes]
    scale = nonzero_scale(X)
    _, directions = np.linalg.eigh(np.cov(X / scale, rowvar=False))
    return np.asarray(directions[:, : -max_axes - 1 : -1] / scale[:, None])


def nonzero_scale(X: FloatArray) -> FloatArray:
    """Standard deviation of each feature, 1 for a constant one."""
    return Standardisation.of(X, np.ones(len(X))).scale
