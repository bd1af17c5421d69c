"""How far a sample stands off as a whole, beside how far any known class does.

A new class stands off the known ones about as far as they do from each other. A table in other
units, or one that was scaled apart, stands off much farther, by its means or by its spreads.
docs/drift.md, "The third hypothesis", says what follows.
"""

from __future__ import annotations

import numpy as np

from unseen._types import FloatArray, Matrix
from unseen.samples import LabelledRows
from unseen.scores.kernel import dense_pair

_FEWEST_ROWS, _MOST_ROWS = 10, 5000
_FARTHEST_CELL = 10.0  # deviations, beyond which a code for a missing value counts no more
_LEAST_SPREAD = 0.02  # part of a deviation, beside which smaller spreads are alike
_LEAST_APART = 0.2  # known classes lie and spread at least so differently


def times_a_class(labelled: LabelledRows, X_new: Matrix) -> float:
    """How many times as far new rows stand off as the known class that stands off most.

    By means, in deviations, or by the logarithm of the factor of deviations, whichever is more;
    both are medians over columns, so that a few columns in another unit are no whole table. 0 with
    one class, where all classes are small, and for rows too many to be dense.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.samples import LabelledRows
    >>> from unseen.scores.beyond import times_a_class
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1, 2], 50)
    >>> X = rng.normal(size=(150, 4)) + 2.0 * np.eye(3, 4)[y]
    >>> labelled, X_new = LabelledRows(X, np.arange(3), y), rng.normal(size=(90, 4))
    >>> times_a_class(labelled, X_new) < 1.5 < times_a_class(labelled, 10 * X_new)
    True
    """
    pair = dense_pair(labelled.rows, X_new)
    if pair is None or len(labelled.classes) < 2:
        return 0.0
    rng = np.random.default_rng(0)
    drawn, drawn_new = (rng.permutation(len(rows))[:_MOST_ROWS] for rows in pair)
    old, codes, new = pair[0][drawn], labelled.codes[drawn], pair[1][drawn_new]
    counts = np.bincount(codes)
    enough = np.flatnonzero(np.minimum(counts, len(codes) - counts) >= _FEWEST_ROWS)
    if not len(enough):
        return 0.0
    varies = old.std(axis=0) > 0
    if not varies.any():
        return 0.0
    centre, unit = old[:, varies].mean(axis=0), old[:, varies].std(axis=0)
    old, new = (
        np.clip((rows[:, varies] - centre) / unit, -_FARTHEST_CELL, _FARTHEST_CELL)
        for rows in (old, new)
    )
    one, every = np.eye(len(counts))[enough][:, codes], np.ones((1, len(codes)))
    of_classes = _apart(_moments(one, old), _moments(every - one, old)).max(axis=1)
    found = _apart(_moments(np.ones((1, len(new))), new), _moments(every, old))[:, 0]
    return float((found / np.maximum(of_classes, _LEAST_APART)).max())


def _moments(member: FloatArray, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Means and deviations (S, d) of samples, by which rows are members of each (S, n)."""
    count = member.sum(axis=1, keepdims=True)
    mean, square = member @ rows / count, member @ np.square(rows) / count
    return mean, np.sqrt(np.maximum(square - np.square(mean), 0.0))


def _apart(
    samples: tuple[FloatArray, FloatArray], others: tuple[FloatArray, FloatArray]
) -> FloatArray:
    """How far samples stand off others, (2, S): by means, and by spreads."""
    (mean, spread), (middle, usual) = samples, others
    away = abs(mean - middle) / np.maximum(usual, _LEAST_SPREAD)
    factor = np.log((spread + _LEAST_SPREAD) / (usual + _LEAST_SPREAD))
    return np.array([np.median(away, axis=1), abs(np.median(factor, axis=1))])
