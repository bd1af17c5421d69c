"""Rules that are constant on cells: masses, labels, probabilities, and how many cells to have.

Over a partition the risk is a sum over cells, so that the masses of a cell alone decide its best
label: the known class of largest mass a_k, or unseen where ``e = u - sum_i a_i`` is larger still.
``docs/rejection.md`` derives this, and why the number of cells grows as :func:`growing_cells` says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from unseen._types import FloatArray, IntArray, Matrix
from unseen.rejection.learning.sample import OpenSample

# Beyond this many features the power d / (d + 2) is nearly 1 and cells would hold a row each.
FEATURES_COUNTED = 4


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


def cell_masses(cell: IntArray, masses: FloatArray, n_cells: int) -> FloatArray:
    """Masses a_1 ... a_K and u of each cell: sums of the masses of its rows."""
    return np.stack([np.bincount(cell, column, n_cells) for column in masses.T], axis=1)


def cell_costs(masses: Any) -> FloatArray:
    """Cost of each label in each cell: ``u - a_k`` for class k, ``sum_i a_i`` for unseen.

    ``masses`` holds a_1 ... a_K and u of each cell in its last axis. The label of least cost is the
    empirical risk minimiser in the cell.

    Examples
    --------
    >>> from unseen.rejection import cell_costs
    >>> cell_costs([0.25, 0.125, 0.75])
    array([0.5  , 0.625, 0.375])
    """
    masses = np.asarray(masses, dtype=np.float64)
    known, total = masses[..., :-1], masses[..., -1:]
    return np.concatenate([total - known, known.sum(axis=-1, keepdims=True)], axis=-1)


def cell_labels(masses: FloatArray) -> IntArray:
    """The label of least cost in each cell; K stands for unseen."""
    return cell_costs(masses).argmin(axis=-1)


def cell_probabilities(masses: FloatArray, prior: FloatArray, pseudo_mass: float) -> FloatArray:
    """Probability of each label in each cell: masses a_1 ... a_K and max(e, 0) over their sum.

    The pseudo-mass is added to every cell, evenly over the labels: the most probable label stays. A
    cell without rows has the prior.
    """
    labels = masses.copy()
    labels[:, -1] = np.maximum(masses[:, -1] - masses[:, :-1].sum(axis=1), 0.0)
    empty = labels.sum(axis=1) <= 0
    labels += pseudo_mass / labels.shape[1]
    labels[empty] = prior
    return labels / labels.sum(axis=1, keepdims=True)


def cell_rule(cells: Cells, sample: OpenSample) -> CellRule:
    """The rule of least estimated risk on given cells, with its probabilities."""
    cell = np.concatenate([cells.cell(sample.X), cells.cell(sample.X_new)])
    masses = cell_masses(cell, sample.masses, cells.n_cells)
    return CellRule(cells, cell_probabilities(masses, sample.prior, 1 / effective_size(sample)))


def effective_size(sample: OpenSample) -> float:
    """Rows' worth of a sample: ``1 / (1 / n_0 + sum_i pi_i^2 / n_i)``.

    One over this size bounds the variance of R_hat(f), up to a constant, for every classifier f.
    The size is at most n_0, and at most ``n_i / pi_i^2``: of order n_i where class i has a share.
    """
    counts = np.bincount(sample.codes, minlength=sample.n_classes)
    return float(1 / (1 / sample.X_new.shape[0] + (sample.shares**2 / counts).sum()))


def growing_cells(size: float, n_features: int) -> float:
    """How many cells to have for samples of this size: ``n^(d / (d + 2))``, d taken at most 4."""
    counted = min(n_features, FEATURES_COUNTED)
    return float(size ** (counted / (counted + 2)))


def smallest_leaf(min_leaf: int | str, sample: OpenSample, factor: float = 2.0) -> int:
    """Rows that a leaf must hold, so that the number of leaves grows as the theorem asks.

    A number ``min_leaf`` is kept. "auto" allows ``factor`` leaves for each cell of a histogram:
    trees put leaves where they are needed.
    """
    if not isinstance(min_leaf, str):
        return int(min_leaf)
    n_rows, n_features = sample.X.shape[0] + sample.X_new.shape[0], sample.X.shape[1]
    return max(1, round(n_rows / (factor * growing_cells(effective_size(sample), n_features))))
