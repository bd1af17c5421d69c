"""Values that no class explains: codes for missing values, faults, columns in other units.

A class that is new differs in many columns. Rows that are odd in a few columns, and look as other
rows do in all others, hold a code such as -999, a value in another unit, or a fault. docs/drift.md,
"Stray values".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen._frozen import Frozen
from unseen._types import BoolArray, FloatArray, Matrix
from unseen.scores.kernel import Standardisation, dense_pair

# Every constant was chosen on digits and on hidden classes of many sets, none of which may stray.
# Rows that share a code are at least so many, and so large a part of all.
_FEWEST, _LEAST_PART = 5, 0.005
# A code beyond the labelled values lies there by part of a deviation, and is so large a part of all
# that does. A code among them is so much more common than any other value, and so rare in training.
_BEYOND, _SAME_VALUE, _MORE_COMMON, _MOST_LABELLED = 0.5, 0.8, 3, 0.01
# A column with fewer values is a category rather than a measurement or a count.
_FEWEST_VALUES = 10
# Far values lie beyond the labelled ones by part of their width, in columns that vary in training,
# and mostly in rows that have few of them. From a part of the rows on, the whole column is in
# another unit.
_WIDTHS, _LEAST_VARIED, _FEW_CELLS, _MOSTLY, _LEAST_IN_UNIT = 0.75, 0.05, 0.1, 0.8, 0.02
# Of more rows than this part, other values of the column must vary so much less than in training:
# another unit leaves zeros alone.
_MOST_OF_ROWS, _LESS_VARIED = 0.25, 0.5
# Rows are ordinary if so large a part of the other rows lies farther from labelled rows than their
# median. So many columns, and so many other rows, must be left to say so.
_ORDINARY, _FEWEST_LEFT, _FEWEST_OTHERS = 0.35, 3, 20
_NEAREST = 3
# Rows that are looked at, and rows between which distances are taken.
_MOST_ROWS, _MOST_COMPARED = 5000, 1000


@dataclass(frozen=True, eq=False)
class StrayValues(Frozen):
    """New rows with odd values in a few columns, which no new class need explain."""

    # (m,), whether a new row holds such a value; of very many rows, of some_rows.
    rows: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    columns: tuple[int, ...] = ()  # of these values
    # Whether these rows look as other new rows do in all other columns; False where too few columns
    # are left to say so.
    ordinary: bool = False

    @property
    def share(self) -> float:
        """Share of the new rows that hold such a value."""
        return float(self.rows.mean()) if len(self.rows) else 0.0


def stray_values(X: Matrix, X_new: Matrix) -> StrayValues:
    """Codes, such as -999 for a missing value, faults, and columns in another unit.

    A code is one value that many new rows share and hardly any labelled row has. Far values lie
    beyond the labelled ones by most of the width of these. Both stray where the rows look, in all
    other columns, as other new rows do; a code that lies apart also where too few columns, or other
    rows, are left to say so. Of very many rows a part is looked at, and nothing is said of rows too
    many to be dense.
    """
    pair = dense_pair(X, X_new)
    if pair is None:
        return StrayValues()
    old, new = map(some_rows, pair)
    sure, likely = _cells(old, new)
    for cells in (sure | likely, sure):
        if cells.any() and _can_be_told(cells) and _are_ordinary(old, new, cells):
            return _found(cells, ordinary=True)
    found = _found(sure, ordinary=False)
    return StrayValues() if _can_be_told(sure) and not hardly_any(~found.rows) else found


def hardly_any(rows: BoolArray) -> bool:
    """Whether these rows are too few to say how all others of their kind look."""
    return bool(rows.sum() < _FEWEST_OTHERS)


def _found(cells: BoolArray, *, ordinary: bool) -> StrayValues:
    columns = tuple(np.flatnonzero(cells.any(axis=0)).tolist())
    return StrayValues(np.asarray(cells.any(axis=1)), columns, ordinary)


def _can_be_told(cells: BoolArray) -> bool:
    """Whether most rows with such cells have enough other columns to say how ordinary they are."""
    left = (~cells).sum(axis=1)[cells.any(axis=1)]
    return bool(np.mean(left >= _FEWEST_LEFT) >= 0.5) if len(left) else True


def _cells(old: FloatArray, new: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Cells of new rows, (m, d), with codes for sure, and with what may stray."""
    sure, likely = np.zeros((2, *new.shape), dtype=bool)
    low, high = old.min(axis=0), old.max(axis=0)
    apart = min(int(max(_FEWEST, _LEAST_PART * len(new))), len(new)) - 1
    in_order = np.sort(new, axis=0)
    is_shared = (in_order[apart:] == in_order[: len(new) - apart]).any(axis=0)
    for column in np.flatnonzero(is_shared & (high > low)).tolist():
        sure[:, column], likely[:, column] = _codes(old[:, column], new[:, column])
    return sure | _spread_code(old, new), likely | _far(old, new)


def _spread_code(old: FloatArray, new: FloatArray) -> BoolArray:
    """Cells with one value that stands in several columns, beyond the labelled values of each.

    A code may be too rare in every single column to be told there.
    """
    gap = _BEYOND * old.std(axis=0)
    beyond = (new < old.min(axis=0) - gap) | (new > old.max(axis=0) + gap)
    values, counts = np.unique(new[beyond], return_counts=True)
    if counts.max(initial=0) < max(_FEWEST, counts.sum() / 2):
        return np.zeros_like(beyond)
    found = beyond & (new == values[counts.argmax()])
    return found & bool(found.any(axis=0).sum() > 1)


def _far(old: FloatArray, new: FloatArray) -> BoolArray:
    """Cells far beyond the labelled values, if most rows have few of them."""
    low, high = old.min(axis=0), old.max(axis=0)
    beyond = _WIDTHS * (high - low)
    varies = np.mean(old != np.median(old, axis=0), axis=0) >= _LEAST_VARIED
    far = ((new < low - beyond) | (new > high + beyond)) & varies
    in_unit = far.sum(axis=0) >= max(_FEWEST, _LEAST_IN_UNIT * len(new))
    far |= ((new < low) | (new > high)) & in_unit
    # A part of the rows may be in another unit, but hardly so many; a new class has such values
    # too, and leaves the column of the other rows as it was.
    for column in np.flatnonzero(far.sum(axis=0) > _MOST_OF_ROWS * len(new)).tolist():
        usual, left = old[:, column], new[~far[:, column], column]
        far[:, column] &= _variety(left) <= _LESS_VARIED * _variety(usual)
    of_row = far.sum(axis=1)
    few = of_row <= max(1, _FEW_CELLS * len(beyond))
    return far & bool((few & (of_row > 0)).sum() >= _MOSTLY * (of_row > 0).sum())


def _variety(values: FloatArray) -> float:
    """Share of the values that are not the most common one."""
    most = np.unique(values, return_counts=True)[1].max(initial=0)
    return float(len(values) - most) / max(len(values), 1)


def _codes(old: FloatArray, new: FloatArray) -> tuple[BoolArray, BoolArray]:
    """New values of one column that are a code for sure, and those that may be one."""
    low, high, gap = old.min(), old.max(), _BEYOND * old.std()
    n_values, width = len(np.unique(old)), max(gap, high - low)
    # Values of a count or a category stand apart anyway, and may be new.
    is_discrete, fewest = n_values < len(old) / 2, max(_FEWEST, _LEAST_PART * len(new))
    far, near = (width if is_discrete else gap), (width if n_values < _FEWEST_VALUES else gap)
    sure, likely = np.zeros((2, len(new)), dtype=bool)
    for away in (low - new, new - high):
        values, counts = np.unique(new[away > gap], return_counts=True)
        if counts.max(initial=0) >= max(fewest, _SAME_VALUE * counts.sum()):
            is_code = (away > gap) & (new == values[counts.argmax()])
            sure |= is_code & (away > far)
            likely |= is_code & (away > near)
    values, counts = np.unique(new, return_counts=True)
    value, (second, first) = values[counts.argmax()], np.sort([0, *counts])[-2:]
    if not is_discrete and first >= max(fewest, _MORE_COMMON * second):
        likely |= (new == value) & (np.mean(old == value) <= _MOST_LABELLED)
    return sure, likely


def _are_ordinary(old: FloatArray, new: FloatArray, cells: BoolArray) -> bool:
    """Whether rows with such cells look, in their other columns, as other new rows do."""
    stray = cells.any(axis=1)
    own, rows, others = (
        some_rows(places, _MOST_COMPARED)
        for places in (np.arange(len(old)), np.flatnonzero(stray), np.flatnonzero(~stray))
    )
    for scale in Standardisation.of(old, np.ones(len(old))).raw_and_standardised:
        labelled = scale(old[own])
        usual = _to_nearest(labelled, labelled, np.ones_like(labelled, dtype=bool), 1)
        if len(others) >= _FEWEST_OTHERS:
            usual = _to_nearest(scale(new[others]), labelled, ~cells[others], 0)
        found = _to_nearest(scale(new[rows]), labelled, ~cells[rows], 0)
        if np.mean(usual > np.median(found)) < _ORDINARY:
            return False
    return True


def _to_nearest(rows: FloatArray, to: FloatArray, kept: BoolArray, n_own: int) -> FloatArray:
    """Mean distance to the nearest rows over the columns kept, as if these were all columns.

    The first ``n_own`` of the nearest, the row itself, are left out.
    """
    spread, masked = to.var(axis=0), np.where(kept, rows, 0.0)
    squares = np.square(masked).sum(axis=1)[:, None] + kept @ np.square(to).T - 2 * masked @ to.T
    squares *= (spread.sum() / np.maximum(kept @ spread, 1e-300))[:, None]
    n_nearest = min(n_own + _NEAREST, len(to))
    nearest = np.sort(np.partition(squares, n_nearest - 1, axis=1)[:, :n_nearest], axis=1)
    return np.asarray(np.sqrt(nearest[:, n_own:].clip(min=0.0)).mean(axis=1))


def some_rows(rows: NDArray[Any], most: int = _MOST_ROWS) -> NDArray[Any]:
    """The rows, or evenly spaced ones of more than so many."""
    return rows[:: -(-len(rows) // most) or 1]
