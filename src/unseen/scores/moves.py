"""What tells known classes that moved from classes that are new, and how far each class moved.

The record holds what :mod:`unseen.drift` reads: distances that small moves hardly change, signs,
rows that no new class need explain, and the shift of each class in each column.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen._arrays import chosen_arrays, kept_there
from unseen._frozen import Frozen
from unseen._types import FloatArray, IntArray, Matrix
from unseen.samples import LabelledRows
from unseen.scores.base import Distances, some_rows
from unseen.scores.part import MovedPart, StrayValues, moved_part, stray_values
from unseen.scores.scales import Standardisation, dense_pair
from unseen.scores.signs import Departure, Laid, laid_rows, mean_departure

if TYPE_CHECKING:
    from unseen.scores.open import OpenScores

# A mean without a fifth of the rows at either end is not the work of a few rows of a new class.
_TRIMMED = 0.2
_FEWEST_ROWS, _MOST_ROWS = 10, 2000


@dataclass(frozen=True, eq=False)
class Moves(Frozen):
    """What tells known classes that moved from classes that are new."""

    distances: Distances | None  # that small moves hardly change
    # (K, d), how far the rows that look like a class lie from its labelled rows, in standard
    # deviations of the column, and the standard error; NaN for a class with few such rows, and None
    # for very wide rows and for sparse rows of many values.
    shift: FloatArray | None = None
    error: FloatArray | None = None
    names: tuple[str, ...] | None = None  # of the columns, where they have any
    stray: StrayValues = field(default_factory=StrayValues)
    part: MovedPart = field(default_factory=MovedPart)
    departure: Departure | None = None
    laid: Laid = field(default_factory=Laid)
    outside: float = 0.0  # share of the new rows outside the labelled ones, in the worst column


def made_moves(
    scores: OpenScores, labelled: LabelledRows, X_new: Matrix, distances: Distances | None
) -> Moves:
    """The record beside steady distances; a row counts for its likeliest class under closed."""
    looks_like, of_labelled = np.zeros(X_new.shape[0], dtype=np.intp), labelled.codes
    if scores.posteriors is not None:
        arrays = chosen_arrays()
        densities = kept_there(scores.posteriors, "ratios") * arrays.put(scores.closed)
        looks_like = arrays.host(densities.argmax(1))
        of_labelled = arrays.host(kept_there(scores.posteriors, "of_labelled").argmax(1))
    ratios = scores.ratios
    asked: list[Callable[[], Any]] = [
        partial(class_shifts, labelled, X_new, looks_like),
        partial(stray_values, labelled.rows, X_new),
        partial(moved_part, labelled, X_new, ratios.new[:, ratios.best]),
        partial(mean_departure, labelled.rows, X_new, of_labelled, looks_like),
        partial(laid_rows, labelled, X_new, scores.closed, ratios.clusters),
        partial(rows_outside, labelled.rows, X_new),
    ]
    found = chosen_arrays().side_by_side(lambda ask: ask(), asked)
    (shift, error), *signs = found
    return Moves(distances, shift, error, labelled.names, *signs)


def class_shifts(
    labelled: LabelledRows, X_new: Matrix, looks_like: IntArray
) -> tuple[FloatArray | None, FloatArray | None]:
    """Shift of each class in each column, in standard deviations, and its standard error, (K, d).

    ``looks_like`` (m,) is the class that each new row looks like most. None for rows too many to
    be dense.
    """
    pair = dense_pair(labelled.rows, X_new)
    if pair is None:
        return None, None
    scale = Standardisation.of(chosen_arrays().put_rows(pair[0]), np.ones(len(pair[0]))).scale
    shift, error = np.full((2, len(labelled.classes), len(scale)), np.nan)
    for code in range(len(shift)):
        own = (np.flatnonzero(classes == code) for classes in (labelled.codes, looks_like))
        samples = [
            rows[some_rows(places, _MOST_ROWS)] for rows, places in zip(pair, own, strict=True)
        ]
        if min(map(len, samples)) < _FEWEST_ROWS:
            continue
        middle, noise = [], []
        for rows in samples:
            cut = int(_TRIMMED * len(rows))
            middle.append(np.sort(rows, axis=0)[cut : len(rows) - cut].mean(axis=0))
            noise.append(rows.var(axis=0) / len(rows))
        shift[code] = (middle[1] - middle[0]) / scale
        error[code] = np.sqrt(noise[1] + noise[0]) / scale
    return shift, error


def rows_outside(labelled: Matrix, X_new: Matrix) -> float:
    """Share of the new rows beyond all labelled values of a column, in the worst column.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.scores.moves import rows_outside
    >>> rows_outside(np.array([[0.0, 0.0], [1.0, 9.0]]), np.array([[0.5, 5.0], [1.0, 99.0]]))
    0.5
    """
    pair = dense_pair(labelled, X_new)
    if pair is None:
        return 0.0
    old, new = pair
    return float(((new < old.min(axis=0)) | (new > old.max(axis=0))).mean(axis=0).max())
