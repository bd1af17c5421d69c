"""Bayesian bootstrap of a ROC (Gu, Ghosal & Roy, 2008): replicates and their mean curve.

Each sample gets Dirichlet(1, ..., 1) weights over its rows. Only sums of weights over the cells of
a sketch matter, and the sum over ``count`` rows is Gamma(count) before normalisation: weights are
drawn per cell, at a cost that does not depend on the number of rows. The ROCs of several classes
share their new rows, and so the weights of these rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unseen._frozen import Frozen
from unseen._random import generator
from unseen._types import FloatArray, IntArray
from unseen.roc.fit import BinomialDeviance, fit_roc
from unseen.roc.models import RocModel
from unseen.roc.sketch import RocSketch, check_scores, cumulative_roc

# Up to this number of rows every row keeps its own cell; above, cells are summed.
EXACT_ROWS = 20_000
COARSE_CELLS = 2_000
# The spread of replicates misses that other folds and other training rows give other scores: this
# factor on the spread makes up for it (see unseen.intervals.Calibrated).
STRETCH = 1.4
# Weights drawn at a time: bounds the memory, and keeps the cumulative sums in the cache.
_BLOCK_SIZE = 250_000


@dataclass(frozen=True, eq=False)
class RocBootstrap(Frozen):
    """Replicates of a ROC on a grid of false-alarm rates.

    Parameters
    ----------
    false_alarm : ndarray of shape (G,)
        The grid.
    replicates : ndarray of shape (B, G)
        Detection of each replicate on the grid.
    """

    false_alarm: FloatArray
    replicates: FloatArray

    @property
    def mean(self) -> FloatArray:
        """Mean curve: the smooth estimate of the ROC."""
        return self.replicates.mean(axis=0)


def bootstrap_roc(
    sketch: RocSketch,
    false_alarm: ArrayLike,
    n_replicates: int = 1000,
    random_state: Any = None,
    max_cells: int | None = None,
) -> RocBootstrap:
    """Draw replicates of the ROC of a sketch.

    Parameters
    ----------
    sketch : RocSketch
        Counts behind the ROC.
    false_alarm : array-like of shape (G,)
        False-alarm rates at which the replicates are read.
    n_replicates : int, default=1000
        Number of replicates.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the weights.
    max_cells : int, optional
        Cells to which the sketch is summed first. By default every cell stays up to 20,000
        rows, and 2,000 are left above.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.roc.bootstrap import bootstrap_roc
    >>> from unseen.roc.sketch import RocSketch
    >>> sketch = RocSketch.from_scores([1.0, 2.0, 3.0, 4.0], [0.0, 0.5, 2.5, 1.5])
    >>> bootstrap = bootstrap_roc(sketch, [0.25, 0.5, 0.75], 100, random_state=0)
    >>> bootstrap.replicates.shape
    (100, 3)
    >>> bootstrap.mean.round(1)
    array([0.7, 0.8, 0.9])
    """
    if n_replicates < 1:
        raise ValueError(f"n_replicates must be >= 1; got {n_replicates}.")
    grid = np.asarray(false_alarm, dtype=float)
    labelled, new = _cells(sketch, max_cells)
    rng = generator(random_state)
    replicates = np.empty((n_replicates, grid.size))
    block = max(1, _BLOCK_SIZE // labelled.size)
    for first in range(0, n_replicates, block):
        rows = range(first, min(first + block, n_replicates))
        curves = cumulative_roc(
            _gamma_weights(rng, labelled, len(rows)),
            _gamma_weights(rng, new, len(rows)),
        )
        for row, vertices in zip(rows, zip(*curves, strict=True), strict=True):
            replicates[row] = np.interp(grid, *vertices)
    return RocBootstrap(grid, replicates)


def bootstrap_rocs(
    pairs: Sequence[tuple[ArrayLike, ArrayLike]],
    false_alarm: ArrayLike,
    n_replicates: int = 1000,
    random_state: Any = None,
) -> FloatArray:
    """Draw replicates of the ROCs of several classes against the same new rows.

    Within a replicate a new row has one weight for all classes. Above 20,000 rows of F and H in a
    pair, weights are drawn per cell and for each class by itself: each ROC then has the right
    law, but the dependence between classes is lost. Shares of one mixture vary against each
    other, so that their sum then varies too much rather than too little.

    Parameters
    ----------
    pairs : sequence of (scores_F, scores_H)
        For each class, scores of the new rows, always in the same order, and of the
        rows of the class.
    false_alarm, n_replicates, random_state
        See :func:`bootstrap_roc`.

    Returns
    -------
    ndarray of shape (B, K, G)
        Detection of each replicate of each class on the grid.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.roc.bootstrap import bootstrap_rocs
    >>> rng = np.random.default_rng(0)
    >>> pairs = [(rng.normal(1, 1, 50), rng.normal(0, 1, 30)) for _ in range(3)]
    >>> bootstrap_rocs(pairs, [0.25, 0.75], 10, random_state=0).shape
    (10, 3, 2)
    """
    if n_replicates < 1:
        raise ValueError(f"n_replicates must be >= 1; got {n_replicates}.")
    grid, rng = np.asarray(false_alarm, dtype=float), generator(random_state)
    samples = [
        (check_scores(scores_F, "scores_F"), check_scores(scores_H, "scores_H"))
        for scores_F, scores_H in pairs
    ]
    sizes = {scores_F.size for scores_F, _ in samples}
    if len(sizes) != 1:
        raise ValueError(
            "pairs must hold at least one pair, and score the same new rows in each; "
            f"got {sorted(sizes)} of them."
        )
    n_new = sizes.pop()
    if max(n_new + scores_H.size for _, scores_H in samples) > EXACT_ROWS:
        sketches = [RocSketch.from_scores(*pair) for pair in samples]
        curves = [bootstrap_roc(one, grid, n_replicates, rng) for one in sketches]
        return np.stack([one.replicates for one in curves], axis=1)
    cells = [_RowCells.from_scores(*pair) for pair in samples]
    replicates = np.empty((n_replicates, len(cells), grid.size))
    block = max(1, _BLOCK_SIZE // max(one.n_cells for one in cells))
    for first in range(0, n_replicates, block):
        part = replicates[first : first + block]
        weight = rng.standard_exponential((len(part), n_new))
        for label, one in enumerate(cells):
            part[:, label] = one.curves(weight, grid, rng)
    return replicates


def bootstrap_slopes(
    pairs: Sequence[tuple[ArrayLike, ArrayLike]],
    model: RocModel,
    n_replicates: int = 1000,
    random_state: Any = None,
) -> FloatArray:
    """Right-end slopes of a model fitted to every replicate of :func:`bootstrap_rocs`.

    Parameters
    ----------
    pairs, n_replicates, random_state
        See :func:`bootstrap_rocs`.
    model : RocModel
        The model that is fitted to each replicate.

    Returns
    -------
    ndarray of shape (B, K)
        Slopes of each replicate of each class.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.roc import Concave
    >>> from unseen.roc.bootstrap import bootstrap_slopes
    >>> rng = np.random.default_rng(0)
    >>> pairs = [(rng.normal(1, 1, 50), rng.normal(0, 1, 30)) for _ in range(2)]
    >>> bootstrap_slopes(pairs, Concave(), 10, random_state=0).shape
    (10, 2)
    """
    grid = BinomialDeviance().grid
    curves = bootstrap_rocs(pairs, grid, n_replicates, random_state)
    slopes = [fit_roc(grid, curves[:, label], model).right_slope for label in range(len(pairs))]
    return np.stack(slopes, axis=1)


@dataclass(frozen=True, eq=False)
class _RowCells:
    """The rows of F and H of one class, sorted into cells by falling score.

    ``order`` sorts the rows of F. ``held`` lists the cells with rows of F, and ``starts`` where
    each of these cells begins in that order. ``labelled`` counts the rows of H in each cell.
    """

    order: IntArray
    starts: IntArray
    held: IntArray
    labelled: IntArray

    @classmethod
    def from_scores(cls, scores_F: FloatArray, scores_H: FloatArray) -> _RowCells:
        labelled, new = RocSketch.from_scores(scores_F, scores_H).increments()
        used = labelled + new > 0
        labelled, new = labelled[used], new[used]
        held = np.flatnonzero(new)
        starts = np.cumsum(new) - new
        return cls(np.argsort(-scores_F), starts[held], held, labelled)

    @property
    def n_cells(self) -> int:
        return int(self.labelled.size + self.order.size)

    def curves(self, weight: FloatArray, grid: FloatArray, rng: np.random.Generator) -> FloatArray:
        """One replicate on the grid per row of weights of the rows of F."""
        new = np.zeros((len(weight), self.labelled.size))
        new[:, self.held] = np.add.reduceat(weight[:, self.order], self.starts, axis=1)
        steps = _gamma_weights(rng, self.labelled, len(weight)), new
        vertices = zip(*cumulative_roc(*steps), strict=True)
        return np.array([np.interp(grid, *one) for one in vertices])


def _cells(sketch: RocSketch, max_cells: int | None) -> tuple[IntArray, IntArray]:
    """Rows of H and F in each cell that holds any."""
    if max_cells is not None and max_cells < 1:
        raise ValueError(f"max_cells must be >= 1; got {max_cells}.")
    if max_cells is None and sketch.n_labelled + sketch.n_new > EXACT_ROWS:
        max_cells = COARSE_CELLS
    labelled, new = (
        sketch.increments() if max_cells is None else sketch.coarse_increments(max_cells)
    )
    held = labelled + new > 0
    return labelled[held], new[held]


def _gamma_weights(rng: np.random.Generator, count: IntArray, n_draws: int) -> FloatArray:
    """Sum of ``count`` standard exponential weights per cell; 0 where a cell is empty."""
    weights = np.zeros((n_draws, count.size))
    held = np.flatnonzero(count)
    weights[:, held] = rng.standard_gamma(count[held], size=(n_draws, held.size))
    return weights
