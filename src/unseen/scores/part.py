"""A part of the new rows that moved together: rows of another instrument, site or unit.

Rows that look new are laid onto the other new rows by a shift and a factor. Where a part of the
rows moved, both then look alike, class by class. A new class stays apart: known classes that are
hidden and laid onto the others say how far. docs/drift.md, "A part of the rows".
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unseen._frozen import Frozen
from unseen._types import BoolArray, FloatArray, IntArray, Matrix
from unseen.roc.pooled import log_sums
from unseen.samples import LabelledRows
from unseen.scores.kernel import Standardisation, dense_pair
from unseen.scores.laid import laid_onto, own_neighbours
from unseen.scores.stray import some_rows

# Log density ratio from which on a row looks new; rows and classes that are compared. Every
# constant was chosen on development sets.
_LOOKS_NEW = 1.0
_FEWEST, _MOST, _FEWEST_OF_CLASS, _MOST_CLASSES = 15, 300, 10, 10
# Of rows that look new, those that moved: all, or so many, with rows of new classes beside them.
_ALL_OR_MOST = 1.0, 0.7
# Rows that moved together stay at most so far apart once they are laid back; and log-odds below
# which nothing is said.
_ALIKE, _LEAST_ODDS = 0.6, 2.5
# Standard deviation of "apart": by chance, one over the root of the rows, and at least; and how
# much more a new class may differ from the known ones.
_NOISE, _LEAST_NOISE, _BETWEEN_CLASSES = 0.6, 0.02, 0.05


@dataclass(frozen=True, eq=False)
class MovedPart(Frozen):
    """New rows that look new, and whether they moved together."""

    # (m,), whether a new row looks new; of very many rows, of some_rows.
    rows: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    # For "these rows moved together" against "they are of a new class"; 0 where little or nothing
    # speaks for it.
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
    # Of both samples: a column that hardly varies in training would count more than all others.
    scale = Standardisation.of(np.vstack([old, new]), np.ones(len(old) + len(new)))
    old, new = scale(old), scale(new)
    found = [way.log_odds(new[rows], new[~rows], old, codes) for way in _WAYS]
    log_odds, moved = max(zip(np.max(found, axis=0).tolist(), _ALL_OR_MOST, strict=True))
    return MovedPart(rows, log_odds, moved) if log_odds > _LEAST_ODDS else MovedPart(rows)


@dataclass(frozen=True)
class _Way:
    """A way to lay rows onto others: by one factor, or by one for each column."""

    by_column: bool

    def log_odds(
        self, part: FloatArray, others: FloatArray, labelled: FloatArray, codes: IntArray
    ) -> FloatArray:
        """Log-odds of "the part moved together" against "a new class": of all of it, and most."""
        n_rows = min(len(part), len(others), _MOST)
        apart = self.apart(part, others, n_rows)
        if apart.min() > _ALIKE:
            return np.zeros(len(apart))
        counts = np.bincount(codes)
        enough = np.flatnonzero(np.minimum(counts, len(codes) - counts) >= _FEWEST_OF_CLASS)
        own = [codes == code for code in some_rows(enough, _MOST_CLASSES)]
        if not own:
            return np.zeros(len(apart))
        # Of as many rows as the part: fewer rows lie less clearly apart.
        hidden = np.array([self.apart(labelled[one], labelled[~one], n_rows) for one in own])
        noise = np.hypot(_LEAST_NOISE, _NOISE / np.sqrt(2 * n_rows))
        of_class = _log_normal(apart, hidden.clip(0.5), np.hypot(noise, _BETWEEN_CLASSES))
        against = log_sums(of_class, axis=0) - np.log(len(hidden))
        return np.where(apart > _ALIKE, 0.0, _log_normal(apart, 0.5, noise) - against)

    def apart(self, part: FloatArray, others: FloatArray, most: int) -> FloatArray:
        """Share of the nearest rows that are of the own sample, once one is laid onto the other.

        A half if both are alike; 1 if no row of one lies near the other. Of all rows of the part;
        then, as if not all had moved, of those alone that lie among the others, laid on again.
        """
        n_rows = min(len(part), len(others), most)
        n_moved = int(_ALL_OR_MOST[1] * n_rows)
        # At random: evenly spaced rows of a sorted table may all be of one class.
        rng = np.random.default_rng(0)
        part, others = (rows[rng.permutation(len(rows))[:n_rows]] for rows in (part, others))
        own = own_neighbours(laid_onto(part, others, self.by_column), others)
        among = part[np.argsort(own[:n_rows], kind="stable")[:n_moved]]
        again = own_neighbours(laid_onto(among, others, self.by_column), others[:n_moved])
        return np.array([own.mean(), again.mean()])


_WAYS = _Way(by_column=False), _Way(by_column=True)


def _log_normal(value: FloatArray, mean: FloatArray | float, spread: float) -> FloatArray:
    """Logarithm of the normal density, but for a constant."""
    return np.asarray(-0.5 * ((value - mean) / spread) ** 2 - np.log(spread))
