"""Bayesian bootstrap of a ROC (Gu, Ghosal & Roy, 2008): replicates and their mean curve.

Each sample gets Dirichlet(1, ..., 1) weights over its rows. Only sums of weights over the cells of
a sketch matter, and the sum over ``count`` rows is Gamma(count) before normalisation. The ROCs of
several classes share their new rows, and so the weights of these rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unseen._random import generator
from unseen._team import row_blocks, side_by_side
from unseen._types import FloatArray, IntArray
from unseen.roc.fit import GRID, fit_roc
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


def bootstrap_roc(
    sketch: RocSketch,
    false_alarm: ArrayLike,
    n_replicates: int = 1000,
    random_state: Any = None,
    max_cells: int | None = None,
) -> FloatArray:
    """Replicates (B, G) of the ROC of a sketch; their mean is a smooth estimate of the ROC.

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
        rows; from more rows, 2,000 cells are made.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.roc.bootstrap import bootstrap_roc
    >>> from unseen.roc.sketch import RocSketch
    >>> sketch = RocSketch.from_scores([1.0, 2.0, 3.0, 4.0], [0.0, 0.5, 2.5, 1.5])
    >>> replicates = bootstrap_roc(sketch, [0.25, 0.5, 0.75], 100, random_state=0)
    >>> replicates.shape
    (100, 3)
    >>> replicates.mean(axis=0).round(1)
    array([0.7, 0.8, 0.9])
    """
    if n_replicates < 1:
        raise ValueError(f"n_replicates must be >= 1; got {n_replicates}.")
    if max_cells is not None and max_cells < 1:
        raise ValueError(f"max_cells must be >= 1; got {max_cells}.")
    if max_cells is None and sketch.n_labelled + sketch.n_new > EXACT_ROWS:
        max_cells = COARSE_CELLS
    counts = sketch.increments() if max_cells is None else sketch.coarse_increments(max_cells)
    held = sum(counts) > 0
    labelled, new = (count[held] for count in counts)
    rng, grid = generator(random_state), np.asarray(false_alarm, dtype=float)
    replicates = np.empty((n_replicates, grid.size))
    for part in row_blocks(n_replicates, max(1, _BLOCK_SIZE // labelled.size)):
        n_draws = part.stop - part.start
        weights = _gamma_weights(rng, labelled, n_draws), _gamma_weights(rng, new, n_draws)
        replicates[part] = _read(*weights, grid)
    return replicates


def bootstrap_rocs(
    pairs: Sequence[tuple[ArrayLike, ArrayLike]],
    false_alarm: ArrayLike,
    n_replicates: int = 1000,
    random_state: Any = None,
) -> FloatArray:
    """Replicates (B, K, G) of the ROCs of K classes against the same new rows.

    ``pairs`` holds for each class the scores of the new rows, always in the same order, and of the
    rows of the class. Within a replicate a new row has one weight for all classes. Above 20,000
    rows in a pair, weights are drawn per cell and for each class by itself: the dependence between
    classes is lost, and the sum of shares varies too much rather than too little.
    """
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
        alone = [bootstrap_roc(one, grid, n_replicates, rng) for one in sketches]
        return np.stack(alone, axis=1)
    cells = []
    for scores_F, scores_H in samples:
        labelled, new = RocSketch.from_scores(scores_F, scores_H).increments()
        used = labelled + new > 0
        labelled, new = labelled[used], new[used]
        held = np.flatnonzero(new)  # the cells with rows of F
        # Counts have 64 bits everywhere, places 32 in a browser.
        starts = (np.cumsum(new) - new).astype(np.intp)[held]
        cells.append((labelled, held, starts, np.argsort(-scores_F)))
    replicates = np.empty((n_replicates, len(cells), grid.size))
    n_cells = n_new + max(labelled.size for labelled, *_ in cells)
    for part in row_blocks(n_replicates, max(1, _BLOCK_SIZE // n_cells)):
        weight = rng.standard_exponential((part.stop - part.start, n_new))
        for label, (labelled, held, starts, order) in enumerate(cells):
            drawn = _gamma_weights(rng, labelled, len(weight))
            summed = np.zeros(drawn.shape)
            summed[:, held] = np.add.reduceat(weight[:, order], starts, axis=1)
            replicates[part, label] = _read(drawn, summed, grid)
    return replicates


def bootstrap_slopes(
    pairs: Sequence[tuple[ArrayLike, ArrayLike]],
    model: RocModel,
    n_replicates: int = 1000,
    random_state: Any = None,
) -> FloatArray:
    """Right-end slopes (B, K) of a model fitted to every replicate of :func:`bootstrap_rocs`."""
    curves = bootstrap_rocs(pairs, GRID, n_replicates, random_state)

    def slopes(label: int) -> FloatArray:
        return fit_roc(GRID, curves[:, label], model).right_slope

    return np.stack(side_by_side(slopes, range(len(pairs))), axis=1)


def _gamma_weights(rng: np.random.Generator, count: IntArray, n_draws: int) -> FloatArray:
    """Sum of ``count`` standard exponential weights per cell; 0 where a cell is empty."""
    weights = np.zeros((n_draws, count.size))
    held = np.flatnonzero(count)
    weights[:, held] = rng.standard_gamma(count[held], size=(n_draws, held.size))
    return weights


def _read(labelled: FloatArray, new: FloatArray, grid: FloatArray) -> FloatArray:
    """One ROC on the grid per row of weights of the cells."""
    vertices = zip(*cumulative_roc(labelled, new), strict=True)
    return np.array([np.interp(grid, *one) for one in vertices])
