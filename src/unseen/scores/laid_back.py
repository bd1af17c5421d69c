"""New rows laid back onto labelled rows: known classes that moved come to lie where they were.

A shift and a factor for each column are fitted to the new rows that lie near labelled ones, as rows
of known classes do; rows of a new class lie farther off, and hardly count. docs/drift.md, "Laid
back".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unseen._arrays import arrays_of
from unseen._frozen import Frozen
from unseen._team import own_threads
from unseen._types import BoolArray, FloatArray, IntArray, Matrix
from unseen.samples import LabelledRows
from unseen.scores.scales import Standardisation, dense, dense_pair

__all__ = ["Movement", "laid_back", "movement_of"]

_NEIGHBOURS, _ROUNDS, _MOST = 3, 8, 1000
# From so many usual distances on a row hardly counts, and this steeply; so many rows must count.
_NEAR, _STEEP, _FEWEST = 1.5, 6, 5
_MOST_AT_ONCE = 1.15  # factor of one round
_CLEAR = 4.0  # of squares, so many squared errors are noise
_LEAST_VARIANCE = 1e-6
_LEAST_MOVE = 0.08  # in deviations: with less taken off the answer would be the same


@dataclass(frozen=True, eq=False)
class Movement(Frozen):
    """A shift and a factor of each column, by which new rows differ from labelled ones."""

    varies: BoolArray  # columns that vary among the labelled rows; the others stay as they are
    centre: FloatArray  # of these columns, in the labelled rows
    spread: FloatArray
    shift: FloatArray  # in spreads
    factor: FloatArray

    @property
    def size(self) -> float:
        """Root mean square of the shifts over columns, in standard deviations."""
        return float(np.sqrt(np.mean(np.square(self.shift))))

    def taken_off(self, X: Matrix) -> FloatArray:
        """Rows laid back, dense."""
        found = np.array(dense(X))
        units = (found[:, self.varies] - self.centre) / self.spread
        found[:, self.varies] = (units - self.shift) / self.factor * self.spread + self.centre
        return found


def laid_back(labelled: LabelledRows, X_new: Matrix) -> tuple[FloatArray, float] | None:
    """New rows laid back onto the labelled rows, and by how many deviations, over columns.

    None where there is no :func:`movement_of` them.
    """
    movement = movement_of(labelled, X_new)
    return None if movement is None else (movement.taken_off(X_new), movement.size)


def movement_of(labelled: LabelledRows, X_new: Matrix) -> Movement | None:
    """How the new rows of known classes have moved.

    Columns that are constant in the labelled rows do not count. None where hardly anything is to be
    taken off or no row lies near a labelled one, for rows of one class alone, which could be laid
    anywhere, and for rows too many to be dense.
    """
    pair = dense_pair(labelled.rows, X_new)
    if pair is None or min(map(len, pair)) <= _NEIGHBOURS or len(labelled.classes) == 1:
        return None
    with own_threads():  # or rounding would depend on the number of cores
        return _moved(labelled.codes, *pair)


def _moved(codes: IntArray, old: FloatArray, new: FloatArray) -> Movement | None:
    """The movement between dense samples; ``codes`` are those of the labelled rows."""
    scale = Standardisation.of(old, np.ones(len(old)))
    varies = scale(old).var(axis=0) > _LEAST_VARIANCE
    rng = np.random.default_rng(0)
    some_old, some_new = (rng.permutation(len(one))[:_MOST] for one in (old, new))
    known, codes = scale(old[some_old])[:, varies], codes[some_old]
    drawn = scale(new[some_new])[:, varies]
    fitted = _fitted(known, codes, drawn, np.zeros(drawn.shape[1]))
    if fitted is None:  # all rows lie far off: they begin from the middle of the labelled ones
        middle = np.median(drawn, axis=0) - np.median(known, axis=0)
        fitted = _fitted(known, codes, drawn, middle)
    if fitted is None:
        return None
    shift, factor = fitted
    if np.mean(np.square(shift) + np.square(np.log(factor))) < _LEAST_MOVE**2:
        return None
    return Movement(varies, scale.centre[varies], scale.scale[varies], shift, factor)


def _fitted(
    known: FloatArray, codes: IntArray, new: FloatArray, shift: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """Shift and factor of each column of the new rows; the part that noise explains is taken off.

    Each round compares the rows that lie near with the labelled rows nearest to them, as labelled
    rows of these classes compare with those nearest to *them*.
    """
    distance, place = _nearest(known, known, itself=False)
    usual = max(float(np.median(distance)), 1e-300)
    # Row by row in memory, as the rounds multiply them by weights.
    known, near = map(np.ascontiguousarray, (known, known[place].mean(axis=1)))

    def counting(distance: FloatArray) -> FloatArray:
        """How much rows count that lie so far from the labelled rows nearest to them."""
        with np.errstate(over="ignore"):  # of rows that repeat each other, so that usual is 0
            return np.asarray(1 / (1 + (distance / (_NEAR * usual)) ** _STEEP))

    counts_known, n_classes = counting(distance), codes.max() + 1
    of_class = np.maximum(np.bincount(codes, counts_known, n_classes), _LEAST_VARIANCE)
    factor: FloatArray = np.ones(new.shape[1])
    for _ in range(_ROUNDS):
        laid = (new - shift) / factor
        distance, place = _nearest(laid, known)
        counts = counting(distance)
        if counts.sum() < _FEWEST:
            return None
        weight = counts / counts.sum()
        share = np.bincount(codes[place].ravel(), np.repeat(weight, _NEIGHBOURS), n_classes)
        as_common = (share / of_class)[codes] * counts_known
        away, slope, error, slope_error = _away(laid, known[place].mean(axis=1), weight)
        among = _away(known, near, as_common / as_common.sum())
        step = np.clip(1 + slope - among[1], 1 / _MOST_AT_ONCE, _MOST_AT_ONCE)
        shift = shift + factor * (away - among[0])
        factor = factor * step
    # Drawn towards 0 by the part of the squares that noise explains.
    found = []
    for values, noise in ((shift, error + among[2]), (np.log(factor), slope_error + among[3])):
        explained = _CLEAR * noise / np.maximum(np.square(values), 1e-300)
        found.append(values * np.clip(1 - explained, 0.0, 1.0))
    return found[0], np.exp(found[1])


def _away(rows: FloatArray, near: FloatArray, weight: FloatArray) -> tuple[FloatArray, ...]:
    """How far rows lie from those near them: at 0 and by slope, and squared errors of both."""
    apart, middle = rows - near, weight @ near
    mean, beside = weight @ apart, near - middle
    variance = np.maximum(weight @ np.square(beside), _LEAST_VARIANCE)
    slope = (weight @ (apart * beside)) / variance
    error = (weight @ np.square(apart - mean)) * np.square(weight).sum()
    return mean - slope * middle, slope, error, error / variance


def _nearest(
    rows: FloatArray, others: FloatArray, itself: bool = True
) -> tuple[FloatArray, IntArray]:
    """Root mean square distance to the nearest others, and their places."""
    squares = arrays_of(rows).squared_distances(rows, others)
    if not itself:
        np.fill_diagonal(squares, np.inf)
    place = np.argpartition(squares, _NEIGHBOURS, axis=1)[:, :_NEIGHBOURS]
    nearest = np.take_along_axis(squares, place, axis=1)
    return np.sqrt(np.maximum(nearest.mean(axis=1), 0.0)), place
