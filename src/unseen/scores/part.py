"""A part of the new rows that moved together: rows of another instrument, site or unit.

Rows that look new are laid onto the other new rows by one shift and one factor. Where a part of the
rows moved, both then look alike, class by class. A new class stays apart: known classes that are
hidden and laid onto the others say how far. docs/drift.md, "A part of the rows".
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.special import logsumexp
from scipy.stats import norm
from sklearn.metrics.pairwise import euclidean_distances

from unseen._frozen import Frozen
from unseen._types import BoolArray, FloatArray, IntArray, Matrix
from unseen.samples import LabelledRows
from unseen.scores.kernel import Standardisation, dense_pair
from unseen.scores.stray import some_rows

__all__ = ["MovedPart", "moved_part"]

# Log density ratio from which on a row looks new; rows and classes that are compared. Every
# constant was chosen on development sets.
_LOOKS_NEW = 1.0
_FEWEST, _MOST, _FEWEST_OF_CLASS, _MOST_CLASSES = 15, 300, 10, 10
_NEIGHBOURS = 5
# Rows that moved together stay at most so far apart once they are laid back; and log-odds below
# which nothing is said.
_ALIKE, _LEAST_ODDS = 0.6, 1.0
# Standard deviation of "apart": by chance, one over the root of the rows, and at least; and how
# much more a new class may differ from the known ones.
_NOISE, _LEAST_NOISE, _BETWEEN_CLASSES = 0.6, 0.02, 0.05


@dataclass(frozen=True, eq=False)
class MovedPart(Frozen):
    """New rows that look new, and whether they moved together.

    Parameters
    ----------
    rows : ndarray of shape (m,)
        Whether a new row looks new; of very many rows, of :func:`~unseen.scores.stray.some_rows`.
    log_odds : float, default=0.0
        For "these rows moved together" against "they are of a new class"; 0 where little or
        nothing speaks for it.
    """

    rows: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    log_odds: float = 0.0

    @property
    def share(self) -> float:
        """Share of the new rows that look new."""
        return float(self.rows.mean()) if len(self.rows) else 0.0


def moved_part(labelled: LabelledRows, X_new: Matrix, log_ratios: FloatArray) -> MovedPart:
    """Rows that look new, laid onto the other new rows.

    Parameters
    ----------
    labelled : LabelledRows
        Nothing is said of one class alone, nor of rows too many to be dense.
    X_new : ndarray or sparse matrix of shape (m, d)
    log_ratios : ndarray of shape (m,)
        Out-of-fold log density ratios of the new rows against the labelled ones.

    Returns
    -------
    MovedPart

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.samples import LabelledRows
    >>> from unseen.scores.part import moved_part
    >>> rng, y = np.random.default_rng(0), np.arange(600) % 3
    >>> X, half = 8 * np.eye(3)[y] + rng.normal(size=(600, 3)), np.arange(300) % 2
    >>> sample = LabelledRows(X[:300], np.array(list("abc")), y[:300])
    >>> moved_part(sample, X[300:] + 3 * half[:, None], 2.0 * half).log_odds > 5
    True
    >>> moved_part(sample, np.where(half[:, None], 9.0, X[300:]), 2.0 * half).log_odds
    0.0
    """
    pair = dense_pair(labelled.rows, X_new)
    if pair is None or len(labelled.classes) < 2:
        return MovedPart()
    rows = some_rows(log_ratios > _LOOKS_NEW)
    if min(rows.sum(), (~rows).sum()) < _FEWEST:
        return MovedPart(rows)
    (old, new), codes = map(some_rows, pair), some_rows(labelled.codes)
    # Of both samples: a column that hardly varies in training would count more than all others.
    scale = Standardisation.of(np.vstack([old, new]), np.ones(len(old) + len(new))).scale
    part, others = new[rows] / scale, new[~rows] / scale
    apart = _apart(part, others)
    if apart > _ALIKE:
        return MovedPart(rows)
    hidden = _hidden_apart(old / scale, codes)
    noise = np.hypot(_LEAST_NOISE, _NOISE / np.sqrt(2 * min(len(part), len(others), _MOST)))
    of_class = norm.logpdf(apart, hidden.clip(0.5), np.hypot(noise, _BETWEEN_CLASSES))
    against = logsumexp(of_class) - np.log(len(hidden)) if len(hidden) else np.inf
    log_odds = float(norm.logpdf(apart, 0.5, noise) - against)
    return MovedPart(rows, log_odds if log_odds > _LEAST_ODDS else 0.0)


def _hidden_apart(rows: FloatArray, codes: IntArray) -> FloatArray:
    """How far each known class stays apart, laid onto the others."""
    counts = np.bincount(codes)
    enough = np.flatnonzero(np.minimum(counts, len(rows) - counts) >= _FEWEST_OF_CLASS)
    own = [codes == code for code in some_rows(enough, _MOST_CLASSES)]
    return np.array([_apart(rows[one], rows[~one]) for one in own])


def _apart(part: FloatArray, others: FloatArray) -> float:
    """Share of the nearest rows that are of the own sample, once one is laid onto the other.

    A half if both are alike; 1 if no row of one lies near the other.
    """
    spread = others.var(axis=0).sum() / max(part.var(axis=0).sum(), 1e-300)
    laid = (part - part.mean(axis=0)) * np.sqrt(spread) + others.mean(axis=0)
    n_rows = min(len(part), len(others), _MOST)
    # At random: evenly spaced rows of a sorted table may all be of one class.
    rng = np.random.default_rng(0)
    samples = [rows[rng.permutation(len(rows))[:n_rows]] for rows in (laid, others)]
    distances = euclidean_distances(np.vstack(samples))
    np.fill_diagonal(distances, np.inf)
    nearest = np.argpartition(distances, _NEIGHBOURS - 1, axis=1)[:, :_NEIGHBOURS]
    is_part = np.arange(2 * n_rows) < n_rows
    return float(np.mean(is_part[nearest] == is_part[:, None]))
