"""New rows that no new class need explain: stray values, and rows of another instrument.

A class that is new differs in many columns. Rows that are odd in a few columns, and look as other
rows do in all others, hold a code such as -999, a value in another unit, or a fault. Rows that look
like the other new rows once a shift and a factor are taken off moved together. docs/drift.md, "A
part of the rows may have moved".
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unseen._frozen import Frozen
from unseen._types import BoolArray, FloatArray, Matrix
from unseen.roc.pooled import log_sums
from unseen.samples import LabelledRows
from unseen.scores.base import some_rows
from unseen.scores.scales import Standardisation, dense_pair
from unseen.scores.signs import FEWEST_OF_CLASS, laid_onto, own_neighbours

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
_ORDINARY, _FEWEST_LEFT, FEWEST_OTHERS = 0.35, 3, 20
_NEAREST = 3
_MOST_COMPARED = 1000  # rows between which distances are taken


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
    sure, likely = _codes(old, new)
    sure |= _spread_code(old, new)
    likely |= sure | _far(old, new)
    told = (cells for cells in (likely, sure) if cells.any() and _can_be_told(cells))
    ordinary = next((cells for cells in told if _are_ordinary(old, new, cells)), None)
    cells = sure if ordinary is None else ordinary
    rows: BoolArray = np.asarray(cells.any(axis=1))
    if ordinary is None and _can_be_told(sure) and (~rows).sum() >= FEWEST_OTHERS:
        return StrayValues()
    columns = tuple(np.flatnonzero(cells.any(axis=0)).tolist())
    return StrayValues(rows, columns, ordinary is not None)


def _can_be_told(cells: BoolArray) -> bool:
    """Whether most rows with such cells have enough other columns to say how ordinary they are."""
    left = (~cells).sum(axis=1)[cells.any(axis=1)]
    return bool(np.mean(left >= _FEWEST_LEFT) >= 0.5) if len(left) else True


def _codes(old: FloatArray, new: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Cells of new rows, (m, d), with one value that is a code for sure, and that may be one."""
    sure, likely = np.zeros((2, *new.shape), dtype=bool)
    fewest = max(_FEWEST, _LEAST_PART * len(new))
    apart, in_order = min(int(fewest), len(new)) - 1, np.sort(new, axis=0)
    is_shared = (in_order[apart:] == in_order[: len(new) - apart]).any(axis=0)
    for column in np.flatnonzero(is_shared & (old.min(axis=0) < old.max(axis=0))).tolist():
        known, found = old[:, column], new[:, column]
        low, high, gap = known.min(), known.max(), _BEYOND * known.std()
        n_values, width = len(np.unique(known)), max(gap, high - low)
        # Values of a count or a category stand apart anyway, and may be new.
        is_discrete = n_values < len(known) / 2
        far, near = (width if is_discrete else gap), (width if n_values < _FEWEST_VALUES else gap)
        for away in (low - found, found - high):
            values, counts = np.unique(found[away > gap], return_counts=True)
            if counts.max(initial=0) >= max(fewest, _SAME_VALUE * counts.sum()):
                is_code = (away > gap) & (found == values[counts.argmax()])
                sure[:, column] |= is_code & (away > far)
                likely[:, column] |= is_code & (away > near)
        values, counts = np.unique(found, return_counts=True)
        value, (second, first) = values[counts.argmax()], np.sort([0, *counts])[-2:]
        if not is_discrete and first >= max(fewest, _MORE_COMMON * second):
            is_rare = np.mean(known == value) <= _MOST_LABELLED
            likely[:, column] |= (found == value) & is_rare
    return sure, likely


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
        # Share of the values that are not the most common one.
        usual, left = (
            (len(values) - np.unique(values, return_counts=True)[1].max(initial=0))
            / max(len(values), 1)
            for values in (old[:, column], new[~far[:, column], column])
        )
        far[:, column] &= left <= _LESS_VARIED * usual
    of_row = far.sum(axis=1)
    few = of_row <= max(1, _FEW_CELLS * len(beyond))
    return far & bool((few & (of_row > 0)).sum() >= _MOSTLY * (of_row > 0).sum())


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
        if len(others) >= FEWEST_OTHERS:
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


# Rows that look new: from this log density ratio on; rows and classes that are compared. Every
# constant was chosen on development sets.
_LOOKS_NEW = 1.0
_FEWEST_OF_PART, _MOST_OF_PART, _MOST_HIDDEN = 15, 300, 10
# Of rows that look new, those that moved: all, or so many, with rows of new classes beside them.
_ALL_OR_MOST = 1.0, 0.7
# Rows that moved together stay at most so far apart once they are laid back.
_ALIKE = 0.6
# Standard deviation of "apart": by chance, one over the root of the rows, and at least; and how
# much more a new class may differ from the known ones.
_NOISE, _LEAST_NOISE, _BETWEEN_CLASSES = 0.6, 0.02, 0.05


@dataclass(frozen=True, eq=False)
class MovedPart(Frozen):
    """New rows that look new, and whether they moved together."""

    # (m,), whether a new row looks new; of very many rows, of some_rows.
    rows: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    # For "these rows moved together" against "they are of a new class"; 0 where nothing speaks for
    # it.
    log_odds: float = 0.0
    moved: float = 1.0  # part of these rows that moved together; the others may be new

    @property
    def share(self) -> float:
        """Share of the new rows that look new and moved together, if any did."""
        return self.moved * float(self.rows.mean()) if len(self.rows) else 0.0


def moved_part(labelled: LabelledRows, X_new: Matrix, log_ratios: FloatArray) -> MovedPart:
    """Rows that look new, laid onto the other new rows.

    ``log_ratios`` (m,) are out-of-fold log density ratios of the new rows against the labelled
    ones. Nothing is said of one class alone, nor of rows too many to be dense.
    """
    pair = dense_pair(labelled.rows, X_new)
    if pair is None or len(labelled.classes) < 2:
        return MovedPart()
    rows = some_rows(log_ratios > _LOOKS_NEW)
    if min(rows.sum(), (~rows).sum()) < _FEWEST_OF_PART:
        return MovedPart(rows)
    (old, new), codes = map(some_rows, pair), some_rows(labelled.codes)
    counts = np.bincount(codes)
    enough = np.flatnonzero(np.minimum(counts, len(codes) - counts) >= FEWEST_OF_CLASS)
    # Of both samples: a column that hardly varies in training would count more than all others.
    scale = Standardisation.of(np.vstack([old, new]), np.ones(len(old) + len(new)))
    old, new = scale(old), scale(new)
    n_rows = min(rows.sum(), (~rows).sum(), _MOST_OF_PART)
    apart = _all_and_most(new[rows], new[~rows], n_rows)
    if apart.min() > _ALIKE or not len(enough):
        return MovedPart(rows)
    # Of as many rows as the part: fewer rows lie less clearly apart.
    hidden = [
        _all_and_most(old[codes == code], old[codes != code], n_rows)
        for code in some_rows(enough, _MOST_HIDDEN)
    ]
    # Of apart a normal law about a half if they moved, and if not, about one of the hidden classes.
    noise = np.hypot(_LEAST_NOISE, _NOISE / np.sqrt(2 * n_rows))
    wider = np.hypot(noise, _BETWEEN_CLASSES)
    away = (apart - np.clip(hidden, 0.5, 1.0)) / wider
    of_class = log_sums(-0.5 * away**2 - np.log(wider), axis=0) - np.log(len(hidden))
    of_moved = -0.5 * ((apart - 0.5) / noise) ** 2 - np.log(noise)
    found = np.where(apart > _ALIKE, 0.0, of_moved - of_class)
    log_odds, moved = max(zip(found.tolist(), _ALL_OR_MOST, strict=True))
    return MovedPart(rows, log_odds, moved) if log_odds > 0 else MovedPart(rows)


def _all_and_most(part: FloatArray, others: FloatArray, most: int) -> FloatArray:
    """Share of the nearest rows that are of the own sample, once one is laid onto the other.

    Of all rows of the part; then, as if not all had moved, of those alone that lie among the
    others, laid on again.
    """
    n_rows = min(len(part), len(others), most)
    n_moved = int(_ALL_OR_MOST[1] * n_rows)
    # At random: evenly spaced rows of a sorted table may all be of one class.
    rng = np.random.default_rng(0)
    part, others = (rows[rng.permutation(len(rows))[:n_rows]] for rows in (part, others))
    own = own_neighbours(laid_onto(part, others), others)
    among = part[np.argsort(own[:n_rows], kind="stable")[:n_moved]]
    again = own_neighbours(laid_onto(among, others), others[:n_moved])
    return np.array([own.mean(), again.mean()])
