"""Rows laid onto other rows by a shift and a factor, and how far they stay apart even so.

Known classes that moved together lie on the labelled rows again once they are laid onto them, and a
part of the rows that moved lies on the other rows. Rows of a new class do not: known classes that
are hidden and laid onto the others say how far these stay apart. docs/drift.md, "The third
hypothesis".
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unseen._arrays import arrays_of
from unseen._frozen import Frozen
from unseen._types import BoolArray, FloatArray, Matrix
from unseen.roc.pooled import log_sums
from unseen.samples import Clusters, LabelledRows, first_rows
from unseen.scores.kernel import Standardisation, dense_pair
from unseen.scores.stray import some_rows

__all__ = ["Laid", "MovedPart", "laid_onto", "laid_rows", "moved_part", "own_neighbours"]

_NEIGHBOURS = 5
# Variance of a column that is rounding alone; columns have a variance of about 1.
_LEAST_VARIANCE = 1e-9
_FEWEST, _MOST, _MOST_CLASSES = 15, 400, 5
# Of how far a sample stands off: deviations beyond which a code for a missing value counts no more;
# a part of a deviation, beside which smaller spreads are alike; known classes stand off at least so
# far.
_FARTHEST_CELL, _LEAST_SPREAD, _LEAST_OFF = 10.0, 0.02, 0.2
# Log density ratio from which on a row looks new; rows and classes that are compared. Every
# constant was chosen on development sets.
_LOOKS_NEW = 1.0
_MOST_OF_PART, _FEWEST_OF_CLASS, _MOST_HIDDEN = 300, 10, 10
# Of rows that look new, those that moved: all, or so many, with rows of new classes beside them.
_ALL_OR_MOST = 1.0, 0.7
# Rows that moved together stay at most so far apart once they are laid back.
_ALIKE = 0.6
# Standard deviation of "apart": by chance, one over the root of the rows, and at least; and how
# much more a new class may differ from the known ones.
_NOISE, _LEAST_NOISE, _BETWEEN_CLASSES = 0.6, 0.02, 0.05


@dataclass(frozen=True)
class Laid(Frozen):
    """How far new rows lie from labelled ones before and after they are laid onto them.

    ``apart`` and ``hidden`` are the share of the nearest rows that are of the own sample: a half if
    both samples are alike, 1 if no row of one lies near the other; NaN where rows are too few.
    """

    apart: float  # of new rows, laid onto labelled ones
    hidden: float  # of known classes, each laid onto the others, on average
    times: float = 1.0  # as far as the known class that stands off most, before

    @property
    def is_told(self) -> bool:
        """Whether there were rows enough to lay them."""
        return not np.isnan(self.apart)


def laid_rows(
    labelled: LabelledRows, X_new: Matrix, closed: FloatArray, clusters: Clusters | None
) -> Laid | None:
    """New rows laid onto labelled rows in which the classes have the shares ``closed``.

    Of copies one row counts. None for one class, and for rows too many to be dense.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.samples import LabelledRows
    >>> from unseen.scores.laid import laid_rows
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1, 2], 50)
    >>> X, X_new = rng.normal(size=(2, 150, 4)) + 3.0 * np.eye(3, 4)[y]
    >>> labelled, even = LabelledRows(X, np.arange(3), y), np.full(3, 1 / 3)
    >>> moved, scaled = (laid_rows(labelled, rows, even, None) for rows in (X_new + 1, 20 * X_new))
    >>> round(moved.apart, 1) < round(moved.hidden, 1), moved.times < 1.6 < scaled.times
    (True, True)
    """
    pair = dense_pair(labelled.rows, X_new)
    if pair is None or len(closed) < 2:
        return None
    (old, new), codes = pair, labelled.codes
    if clusters is not None and not clusters.distinct:
        first = first_rows(clusters.labelled)
        old, codes, new = old[first], codes[first], new[first_rows(clusters.new)]
    (old, new), codes = map(some_rows, (old, new)), some_rows(codes)
    counts = np.bincount(codes, minlength=len(closed))
    chance = (closed / np.maximum(counts, 1))[codes]
    # So few that a draw without replacement keeps the shares.
    n_rows = min(len(new), _MOST, int(chance.sum() / max(chance.max(), _LEAST_VARIANCE)))
    sizes = np.minimum(counts, len(codes) - counts)
    scale = Standardisation.of(old, np.ones(len(old)))
    old, new = scale(old), scale(new)
    of_class = np.eye(len(counts))[sizes >= _FEWEST_OF_CLASS][:, codes]
    times = _times(old, of_class, new) if len(of_class) else 0.0
    enough = np.flatnonzero(sizes >= _FEWEST)
    if n_rows < _FEWEST or not len(enough):
        return Laid(np.nan, np.nan, times)
    rng = np.random.default_rng(0)
    onto = old[rng.choice(len(old), n_rows, replace=False, p=chance / chance.sum())]
    apart = _apart(new, onto, n_rows, rng)
    hidden = [
        _apart(old[codes == code], old[codes != code], min(sizes[code], n_rows), rng)
        for code in some_rows(enough, _MOST_CLASSES)
    ]
    return Laid(apart, float(np.mean(hidden)), times)


def _apart(rows: FloatArray, others: FloatArray, n_rows: int, rng: np.random.Generator) -> float:
    """Share of own neighbours of so many rows, drawn at random, once they are laid on."""
    rows, others = (one[rng.permutation(len(one))[:n_rows]] for one in (rows, others))
    return float(own_neighbours(laid_onto(rows, others), others).mean())


def _times(old: FloatArray, classes: FloatArray, new: FloatArray) -> float:
    """How many times as far new rows stand off as the class that does most, before they are laid.

    By means, in deviations, or by the logarithm of the factor of deviations, whichever is more;
    both are medians over columns, as a few columns in another unit are no whole table. ``classes``
    (K, n) says which of the old rows are of which class.
    """
    varies, every = old.std(axis=0) > 0, np.ones((1, len(old)))
    if not varies.any():
        return 0.0
    old, new = (np.clip(one[:, varies], -_FARTHEST_CELL, _FARTHEST_CELL) for one in (old, new))
    whole = _moments(every, old)
    of_classes = _off(_moments(classes, old), _moments(every - classes, old)).max(axis=1)
    found = _off(_moments(np.ones((1, len(new))), new), whole)[:, 0]
    return float((found / np.maximum(of_classes, _LEAST_OFF)).max())


def _moments(member: FloatArray, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Means and deviations (S, d) of samples, by which rows are members of each (S, n)."""
    count = member.sum(axis=1, keepdims=True)
    mean, square = member @ rows / count, member @ np.square(rows) / count
    return mean, np.sqrt(np.maximum(square - np.square(mean), 0.0)) + _LEAST_SPREAD


def _off(samples: tuple[FloatArray, ...], others: tuple[FloatArray, ...]) -> FloatArray:
    """How far samples stand off others, (2, S): by means, and by spreads."""
    (mean, spread), (middle, usual) = samples, others
    factor = np.median(np.log(spread / usual), axis=1)
    return np.array([np.median(abs(mean - middle) / usual, axis=1), abs(factor)])


def laid_onto(rows: FloatArray, others: FloatArray) -> FloatArray:
    """The rows with the mean of the others, and by one factor their spread."""
    onto, of = (sample.var(axis=0).sum() for sample in (others, rows))
    factor = np.sqrt(onto / max(of, _LEAST_VARIANCE))
    return (rows - rows.mean(axis=0)) * factor + others.mean(axis=0)


def own_neighbours(rows: FloatArray, others: FloatArray) -> FloatArray:
    """For each row, then for each of the others: share of its nearest rows of its own sample."""
    every = np.vstack([rows, others])
    place, own = np.arange(len(every)), np.zeros(len(every))
    distances, is_first = arrays_of(every).squared_distances(every, every), place < len(rows)
    np.fill_diagonal(distances, np.inf)
    for _ in range(_NEIGHBOURS):  # one by one: a partial sort takes several times as long
        nearest = distances.argmin(axis=1)
        own += is_first[nearest] == is_first
        distances[place, nearest] = np.inf
    return own / _NEIGHBOURS


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
    if min(rows.sum(), (~rows).sum()) < _FEWEST:
        return MovedPart(rows)
    (old, new), codes = map(some_rows, pair), some_rows(labelled.codes)
    counts = np.bincount(codes)
    enough = np.flatnonzero(np.minimum(counts, len(codes) - counts) >= _FEWEST_OF_CLASS)
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
    noise = np.hypot(_LEAST_NOISE, _NOISE / np.sqrt(2 * n_rows))
    of_class = _log_normal(apart, np.clip(hidden, 0.5, 1.0), np.hypot(noise, _BETWEEN_CLASSES))
    against = log_sums(of_class, axis=0) - np.log(len(hidden))
    found = np.where(apart > _ALIKE, 0.0, _log_normal(apart, 0.5, noise) - against)
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


def _log_normal(value: FloatArray, mean: FloatArray | float, spread: float) -> FloatArray:
    """Logarithm of the normal density, but for a constant."""
    return np.asarray(-0.5 * ((value - mean) / spread) ** 2 - np.log(spread))
