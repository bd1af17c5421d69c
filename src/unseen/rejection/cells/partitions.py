"""Partitions of the space of rows into cells: equal boxes, quantiles, nearest centres.

:class:`EqualWidthCells` on a box does not look at the rows; :class:`QuantileCells` adapts to their
density; :class:`VoronoiCells` is for many features, where a grid has more cells than rows. Grids
over more than ``max_axes`` features cut principal axes only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin

from unseen._types import FloatArray, IntArray
from unseen.rejection.cells.cells import Cells
from unseen.scores.kernel import Standardisation

__all__ = ["EqualWidthCells", "Partition", "QuantileCells", "VoronoiCells"]

# With more features than this a grid is too coarse along each of them to be the default.
GRID_FEATURES = 3
# A few steps on a part of the rows place centres well enough.
LLOYD_STEPS = 5
ROWS_PER_CENTRE = 32


class Partition(Protocol):
    """A way to divide the space of rows into cells."""

    def fit(self, X: FloatArray, n_cells: float, rng: np.random.RandomState) -> Cells:
        """Divide the space into about ``n_cells`` cells."""
        ...


@dataclass(frozen=True, eq=False)
class Axes:
    """Directions along which rows are cut: features, or principal axes of standardised ones."""

    directions: FloatArray | None  # None leaves rows as they are

    @classmethod
    def from_rows(cls, X: FloatArray, max_axes: int) -> Axes:
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
    """Cells between the cuts of each axis; the outer ones reach to infinity."""

    axes: Axes
    cuts: tuple[FloatArray, ...]  # sorted, along each axis

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
    >>> from unseen.rejection import EqualWidthCells
    >>> grid = EqualWidthCells(0.0, 1.0).fit(np.zeros((1, 1)), 4, np.random.RandomState(0))
    >>> grid.cell(np.array([[-7.0], [0.3], [0.99], [7.0]]))
    array([0, 1, 3, 3])
    """

    low: ArrayLike | None = None
    high: ArrayLike | None = None
    max_axes: int = GRID_FEATURES

    def fit(self, X: FloatArray, n_cells: float, rng: np.random.RandomState) -> Cells:
        """Divide the box."""
        axes = Axes.from_rows(X, self.max_axes)
        if axes.directions is not None and not (self.low is None and self.high is None):
            raise ValueError(
                f"low and high must be None for rows with more than max_axes = {self.max_axes} "
                f"features; got {X.shape[1]} features."
            )
        places = axes(X)
        low = places.min(axis=0) if self.low is None else self.low
        high = places.max(axis=0) if self.high is None else self.high
        corners = (np.broadcast_to(corner, places.shape[1]) for corner in (low, high))
        along = max(1, round(n_cells ** (1 / places.shape[1])))
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
    >>> from unseen.rejection import QuantileCells
    >>> rows = np.array([[0.0], [1.0], [10.0], [100.0], [1000.0]])
    >>> grid = QuantileCells().fit(rows, 4, np.random.RandomState(0))
    >>> grid.cuts
    (array([  1.,  10., 100.]),)
    """

    max_axes: int = GRID_FEATURES

    def fit(self, X: FloatArray, n_cells: float, rng: np.random.RandomState) -> Cells:
        """Find the quantiles; those that are equal count once."""
        axes = Axes.from_rows(X, self.max_axes)
        places = axes(X)
        along = max(1, round(n_cells ** (1 / places.shape[1])))
        levels = np.linspace(0, 1, along + 1)[1:-1]
        quantiles = np.quantile(places, levels, axis=0, method="inverted_cdf")
        return Grid(axes, tuple(np.unique(column) for column in quantiles.T))


@dataclass(frozen=True)
class VoronoiCells:
    """Cells of nearest centres, by a few steps of k-means: a partition for many features.

    Features are divided by their standard deviation.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection import VoronoiCells
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


def nonzero_scale(X: FloatArray) -> FloatArray:
    """Standard deviation of each feature, 1 for a constant one."""
    return Standardisation.of(X, np.ones(len(X))).scale
