"""The rule of least risk over the cells of a partition: a histogram with the label "unseen".

On m cells every labelling is a classifier, and the best of all (K + 1)^m takes no search: each cell
gets the label of least cost by its own masses. Three partitions are here. :class:`EqualWidthCells`
on a box does not look at the rows; :class:`QuantileCells` adapts to their density; and
:class:`VoronoiCells`, the cells of nearest centres, is the one for many features, where a grid has
more cells than there are rows.

**Theorem** (Sec. "Anomaly Rejection"). If labellings of the cells can approach any classifier, the
number of cells grows, and ``V log n_i / n_i -> 0`` for every sample, then the risk tends to the
Bayes risk. By default there are ``m = n^(d / (d + 2))`` cells for n rows' worth and d features (at
most 4 counted), so that ``V log n / n`` tends to 0 (:mod:`unseen.rejection.cells.cells`). Grids over
more than ``max_axes`` features see principal axes only and give up the first condition.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin

from unseen._sklearn import HasMethods, Interval, StrOptions
from unseen._types import FloatArray, IntArray
from unseen.rejection.base import RejectionRule
from unseen.rejection.cells.cells import (
    CellRule,
    Cells,
    cell_masses,
    cell_probabilities,
    effective_size,
    growing_cells,
)
from unseen.rejection.learning.sample import OpenSample
from unseen.scores.kernel import Standardisation

__all__ = [
    "EqualWidthCells",
    "Partition",
    "QuantileCells",
    "RejectionHistogram",
    "VoronoiCells",
]

# Of more features than this a grid is too coarse along each to be the default.
GRID_FEATURES = 3
# Centres need not be the best ones: a few steps, and a part of the rows, place them well enough.
LLOYD_STEPS = 5
ROWS_PER_CENTRE = 32


class Partition(Protocol):
    """How to divide the space of rows into a number of cells."""

    def fit(self, X: FloatArray, n_cells: float, rng: np.random.RandomState) -> Cells:
        """Divide it, in about ``n_cells``."""
        ...


@dataclass(frozen=True, eq=False)
class Axes:
    """Directions along which rows are cut: features, or principal axes of standardised ones.

    Parameters
    ----------
    directions : ndarray of shape (d, n_axes) or None
        None leaves rows as they are.
    """

    directions: FloatArray | None

    @classmethod
    def of(cls, X: FloatArray, max_axes: int) -> Axes:
        """The features, or the leading principal axes where there are too many."""
        if X.shape[1] <= max_axes:
            return cls(None)
        if len(X) == 1:
            return cls(np.eye(X.shape[1])[:, :max_axes])
        scale = nonzero_scale(X)
        _, directions = np.linalg.eigh(np.cov(X / scale, rowvar=False))
        return cls(directions[:, : -max_axes - 1 : -1] / scale[:, None])

    def __call__(self, X: FloatArray) -> FloatArray:
        return X if self.directions is None else X @ self.directions


@dataclass(frozen=True, eq=False)
class Grid:
    """Cells between the cuts of each axis; the outer ones reach to infinity.

    Parameters
    ----------
    axes : Axes
        Directions of the cuts.
    cuts : tuple of ndarrays
        Sorted cuts along each axis.
    """

    axes: Axes
    cuts: tuple[FloatArray, ...]

    @property
    def n_cells(self) -> int:
        """Product of the numbers of cells along the axes."""
        return int(np.prod([len(cuts) + 1 for cuts in self.cuts]))

    def cell(self, X: FloatArray) -> IntArray:
        """Cell of each row, counted along the last axis first."""
        columns = zip(self.cuts, self.axes(X).T, strict=True)
        places = [np.searchsorted(cuts, column) for cuts, column in columns]
        return np.ravel_multi_index(places, [len(cuts) + 1 for cuts in self.cuts])


@dataclass(frozen=True, eq=False)
class NearestCentre:
    """Voronoi cells.

    Parameters
    ----------
    centres : ndarray of shape (n_cells, d)
        In units of the scale.
    scale : ndarray of shape (d,)
        What a feature is divided by.
    """

    centres: FloatArray
    scale: FloatArray

    @property
    def n_cells(self) -> int:
        """How many centres there are."""
        return len(self.centres)

    def cell(self, X: FloatArray) -> IntArray:
        """Nearest centre of each row."""
        return pairwise_distances_argmin(X / self.scale, self.centres)


@dataclass(frozen=True)
class EqualWidthCells:
    """Equal boxes, as many along each axis: a fixed partition.

    Parameters
    ----------
    low, high : float, array-like of shape (d,) or None, default=None
        Corners of the box that is divided; cells at its sides reach beyond. None is the range of
        the new rows.
    max_axes : int, default=3
        With more features than this the leading principal axes are cut instead, and no corners can
        be given.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.histogram import EqualWidthCells
    >>> grid = EqualWidthCells(0.0, 1.0).fit(np.zeros((1, 1)), 4, np.random.RandomState(0))
    >>> grid.cell(np.array([[-7.0], [0.3], [0.99], [7.0]]))
    array([0, 1, 3, 3])
    """

    low: ArrayLike | None = None
    high: ArrayLike | None = None
    max_axes: int = GRID_FEATURES

    def fit(self, X: FloatArray, n_cells: float, rng: np.random.RandomState) -> Cells:
        """Divide the box."""
        axes = Axes.of(X, self.max_axes)
        if axes.directions is not None and not (self.low is None and self.high is None):
            raise ValueError(
                f"low and high must be None for rows with more than max_axes = {self.max_axes} "
                f"features; got {X.shape[1]} features."
            )
        places = axes(X)
        low = places.min(axis=0) if self.low is None else self.low
        high = places.max(axis=0) if self.high is None else self.high
        corners = (np.broadcast_to(corner, places.shape[1]) for corner in (low, high))
        along = cells_along(n_cells, places.shape[1])
        cuts = (
            np.linspace(start, end, along + 1)[1:-1] for start, end in zip(*corners, strict=True)
        )
        return Grid(axes, tuple(cuts))


@dataclass(frozen=True)
class QuantileCells:
    """Boxes between quantiles of the new rows along each axis: a data-dependent partition.

    Parameters
    ----------
    max_axes : int, default=3
        With more features than this the leading principal axes are cut instead.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.histogram import QuantileCells
    >>> rows = np.array([[0.0], [1.0], [10.0], [100.0], [1000.0]])
    >>> grid = QuantileCells().fit(rows, 4, np.random.RandomState(0))
    >>> grid.cuts
    (array([  1.,  10., 100.]),)
    """

    max_axes: int = GRID_FEATURES

    def fit(self, X: FloatArray, n_cells: float, rng: np.random.RandomState) -> Cells:
        """Find the quantiles; those that are equal count once."""
        axes = Axes.of(X, self.max_axes)
        places = axes(X)
        levels = np.linspace(0, 1, cells_along(n_cells, places.shape[1]) + 1)[1:-1]
        quantiles = np.quantile(places, levels, axis=0, method="inverted_cdf")
        return Grid(axes, tuple(np.unique(column) for column in quantiles.T))


@dataclass(frozen=True)
class VoronoiCells:
    """Cells of nearest centres, by a few steps of k-means: a partition for many features.

    Features are divided by their standard deviation.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.histogram import VoronoiCells
    >>> rows = np.array([[0.0, 0.0], [0.1, 0.0], [9.0, 9.0], [9.1, 9.0]])
    >>> cell = VoronoiCells().fit(rows, 2, np.random.RandomState(0)).cell(rows)
    >>> bool(cell[0] == cell[1] != cell[2] == cell[3])
    True
    """

    def fit(self, X: FloatArray, n_cells: float, rng: np.random.RandomState) -> Cells:
        """Find the centres."""
        scale = nonzero_scale(X)
        rows = X[rng.permutation(len(X))[: max(1, round(ROWS_PER_CENTRE * n_cells))]] / scale
        n_centres = min(max(1, round(n_cells)), len(np.unique(rows, axis=0)))
        means = KMeans(n_centres, max_iter=LLOYD_STEPS, n_init=1, random_state=rng)
        return NearestCentre(means.fit(rows).cluster_centers_, scale)


class RejectionHistogram(RejectionRule):
    """The rule of least estimated risk over all labellings of the cells of a partition.

    Simple, quick, and the paper's theorem word for word; in practice the tree, and above all the
    forest, have cells in better places.

    Parameters
    ----------
    partition : Partition or None, default=None
        :class:`EqualWidthCells`, :class:`QuantileCells`, :class:`VoronoiCells`, or any object with
        ``fit(X, n_cells, rng)``. None is quantiles in up to three features, else Voronoi cells.
        It is fitted to the new rows, whose distribution the risk is about.
    n_cells : int or "auto", default="auto"
        How many cells. "auto" is ``n^(d / (d + 2))``, where n is about the number of rows
        (:func:`~unseen.rejection.cells.cells.effective_size`) and d the number of features, at most 4:
        it grows, and ``V log n / n`` tends to 0, as the theorem asks.
    unseen_label, n_folds, random_state
        As for every rule.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.histogram import RejectionHistogram
    >>> rng = np.random.RandomState(0)
    >>> y = np.repeat(["left", "right"], 200)
    >>> X = rng.normal(size=(400, 1)) + np.where(y == "left", -4, 4)[:, None]
    >>> X_new = rng.normal(size=(600, 1)) + np.repeat([-4, 4, 0], 200)[:, None]
    >>> rule = RejectionHistogram(random_state=0).fit(X, y, X_new, [1 / 3, 1 / 3])
    >>> rule.predict([[-4.0], [0.0], [4.0]])
    array(['left', 'unseen', 'right'], dtype='<U6')
    """

    _accepts_sparse: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "partition": [None, HasMethods("fit")],
        "n_cells": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        **RejectionRule._parameter_constraints,
    }

    def __init__(
        self,
        partition: Partition | None = None,
        n_cells: int | str = "auto",
        *,
        unseen_label: Any = "auto",
        n_folds: int = 5,
        random_state: Any = None,
    ) -> None:
        super().__init__(unseen_label=unseen_label, n_folds=n_folds, random_state=random_state)
        self.partition = partition
        self.n_cells = n_cells

    def _fit_rule(self, sample: OpenSample, rng: np.random.RandomState) -> CellRule:
        n_features = sample.X.shape[1]
        size = effective_size(sample)
        n_cells = growing_cells(size, n_features) if self.n_cells == "auto" else float(self.n_cells)
        partition = self.partition or default_partition(n_features)
        return label_cells(partition.fit(sample.X_new, n_cells, rng), sample)


def label_cells(cells: Cells, sample: OpenSample) -> CellRule:
    """The rule of least estimated risk on given cells, with its probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.histogram import Axes, Grid, label_cells
    >>> from unseen.rejection.learning.sample import OpenSample
    >>> X_new = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> sample = OpenSample(X_new[:2], np.array([0, 0]), X_new, np.array([0.5]))
    >>> rule = label_cells(Grid(Axes(None), (np.array([3.0]),)), sample)
    >>> rule.probabilities(X_new).argmax(axis=1)
    array([0, 0, 1, 1])
    """
    cell = np.concatenate([cells.cell(sample.X), cells.cell(sample.X_new)])
    masses = cell_masses(cell, sample.masses, cells.n_cells)
    prior = np.append(sample.shares, sample.unseen)
    return CellRule(cells, cell_probabilities(masses, prior, 1 / effective_size(sample)))


def default_partition(n_features: int) -> Partition:
    """Quantiles where a grid is fine enough, else Voronoi cells."""
    return QuantileCells() if n_features <= GRID_FEATURES else VoronoiCells()


def cells_along(n_cells: float, n_axes: int) -> int:
    """Cells along each of the axes for a given number in all."""
    return max(1, round(n_cells ** (1 / n_axes)))


def nonzero_scale(X: FloatArray) -> FloatArray:
    """Standard deviation of each feature, 1 for a constant one."""
    return Standardisation.of(X, np.ones(len(X))).scale
