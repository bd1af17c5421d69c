"""Bayesian bootstrap of a ROC (Gu, Ghosal & Roy, 2008): replicates, mean curve and bands.

Every row of F and of H gets a weight, Dirichlet(1, ..., 1) over its own sample, and each draw
of the weights is one replicate of the ROC. Weights inside a cell of the sketch only ever enter
as their sum, and the sum over ``count`` rows is Gamma(count) before normalisation. So weights
are drawn per cell: the law is the same, and the cost does not depend on the number of rows.
Large samples first sum their cells to about two thousand, inside which a replicate is straight.

The ROCs of several classes share their new rows, and so their weights: a row that counts
double counts double for every class. :func:`bootstrap_rocs` keeps that, so that sums over
classes vary as they should.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unseen._random import generator
from unseen._types import FloatArray, IntArray
from unseen.roc.fit import RocFit
from unseen.roc.models import RocModel
from unseen.roc.sketch import RocSketch, check_scores, cumulative_roc, make_read_only

# Up to so many rows every row keeps its own cell; above, cells are summed.
EXACT_ROWS = 20_000
COARSE_CELLS = 2_000
# Weights drawn at a time: bounds the memory, and keeps the cumulative sums in the cache.
_BLOCK_SIZE = 250_000


@dataclass(frozen=True, eq=False)
class RocBootstrap:
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

    def __post_init__(self) -> None:
        make_read_only(self)

    @property
    def mean(self) -> FloatArray:
        """Mean curve: the smooth estimate of the ROC."""
        return self.replicates.mean(axis=0)

    def band(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Lower and upper curve that hold ``level`` of the replicates at each false alarm."""
        if not 0 < level < 1:
            raise ValueError(f"level must lie strictly between 0 and 1; got {level}.")
        tail = (1 - level) / 2
        lower, upper = np.quantile(self.replicates, [tail, 1 - tail], axis=0)
        return lower, upper


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
        Where to read the replicates.
    n_replicates : int, default=1000
        Number of replicates.
    random_state : int, RandomState, Generator or None, default=None
        Where all randomness comes from.
    max_cells : int, optional
        Cells to which the sketch is summed first. By default none are summed up to 20,000
        rows, and 2,000 are left above.

    Returns
    -------
    RocBootstrap

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.roc.bootstrap import bootstrap_roc
    >>> from unseen.roc.sketch import RocSketch
    >>> sketch = RocSketch.from_scores([1.0, 2.0, 3.0, 4.0], [0.0, 0.5, 2.5, 1.5])
    >>> bootstrap = bootstrap_roc(sketch, [0.25, 0.5, 0.75], 100, random_state=0)
    >>> bootstrap.replicates.shape
    (100, 3)
    >>> lower, upper = bootstrap.band(0.9)
    >>> bool((lower <= bootstrap.mean).all() and (bootstrap.mean <= upper).all())
    True
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

    Within a replicate a new row has one weight, whichever class it is set against.
    Above 20,000 rows of F and H in a pair, weights are drawn per cell and apart for each class:
    each ROC then has the right law, but its dependence on the others is lost. Shares of one
    mixture vary against each other, so that their sum then varies too much rather than too
    little.

    Parameters
    ----------
    pairs : sequence of (scores_F, scores_H)
        For each class, scores of the new rows, always in the same order, and of the
        rows of the class.
    false_alarm : array-like of shape (G,)
        Where to read the replicates.
    n_replicates : int, default=1000
        Number of replicates, B.
    random_state : int, RandomState, Generator or None, default=None
        Where all randomness comes from.

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
    n_new = _shared_rows([scores_F for scores_F, _ in samples])
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
    criterion: RocFit,
    n_replicates: int = 1000,
    random_state: Any = None,
) -> FloatArray:
    """Right-end slopes of a model fitted to every replicate of :func:`bootstrap_rocs`.

    Parameters
    ----------
    pairs : sequence of (scores_F, scores_H)
    model : RocModel
    criterion : RocFit
        ``BinomialDeviance()`` or ``MaximumLikelihood()``.
    n_replicates : int, default=1000
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    ndarray of shape (B, K)

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.roc import BinomialDeviance, Concave
    >>> from unseen.roc.bootstrap import bootstrap_slopes
    >>> rng = np.random.default_rng(0)
    >>> pairs = [(rng.normal(1, 1, 50), rng.normal(0, 1, 30)) for _ in range(2)]
    >>> bootstrap_slopes(pairs, Concave(), BinomialDeviance(), 10, random_state=0).shape
    (10, 2)
    """
    curves = bootstrap_rocs(pairs, criterion.grid, n_replicates, random_state)
    slopes = [
        criterion.fit_curves(
            criterion.grid, curves[:, label], model, n_labelled=np.size(scores_H)
        ).right_slope
        for label, (_, scores_H) in enumerate(pairs)
    ]
    return np.stack(slopes, axis=1)


@dataclass(frozen=True, eq=False)
class _RowCells:
    """The rows of F and H of one class, sorted into cells by falling score.

    ``order`` sorts the rows of F; ``starts`` says where, in that order, each cell that holds
    rows of F begins, and ``held`` which cells those are; ``labelled`` counts rows of H.
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


def _shared_rows(new: list[FloatArray]) -> int:
    """How many new rows all classes were set against."""
    sizes = {scores.size for scores in new}
    if len(sizes) != 1:
        raise ValueError(
            "pairs must hold at least one pair, and score the same new rows in each; "
            f"got {sorted(sizes)} of them."
        )
    return sizes.pop()


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
