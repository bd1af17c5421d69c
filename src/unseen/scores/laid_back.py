"""New rows laid back onto labelled rows: known classes that moved come to lie where they were.

A shift and a factor for each column are fitted to the new rows that lie near labelled ones, as rows
of known classes do; rows of a new class lie farther off, and hardly count. docs/drift.md, "Laid
back".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from unseen._arrays import arrays_of
from unseen._frozen import Frozen
from unseen._types import FloatArray, IntArray, Matrix
from unseen.samples import LabelledRows
from unseen.scores.kernel import Standardisation, dense_pair

__all__ = ["laid_back"]

_NEIGHBOURS, _ROUNDS, _MOST = 3, 8, 1000
# From so many usual distances on a row hardly counts, and this steeply; so many rows must count.
_NEAR, _STEEP, _FEWEST = 1.5, 6, 5
_MOST_AT_ONCE = 1.15  # factor of one round
_CLEAR = 4.0  # of squares, so many squared errors are noise
_LEAST_VARIANCE = 1e-6
_LEAST_MOVE = 0.08  # in deviations: with less taken off the answer would be the same


def laid_back(labelled: LabelledRows, X_new: Matrix) -> tuple[FloatArray, float] | None:
    """New rows laid back onto the labelled rows, and by how many deviations, over columns.

    Columns that are constant in the labelled rows stay as they are. None where hardly anything is
    to be taken off or no row lies near a labelled one, and for rows too many to be dense.
    """
    pair = dense_pair(labelled.rows, X_new)
    if pair is None or min(map(len, pair)) <= _NEIGHBOURS:
        return None
    old, new = pair
    scale = Standardisation.of(old, np.ones(len(old)))
    varies = scale(old).var(axis=0) > _LEAST_VARIANCE
    rng = np.random.default_rng(0)
    some_old, some_new = (rng.permutation(len(one))[:_MOST] for one in pair)
    known = _Known.of(scale(old[some_old])[:, varies], labelled.codes[some_old])
    drawn = scale(new[some_new])[:, varies]
    fitted = _fitted(known, drawn, np.zeros(drawn.shape[1]))
    if fitted is None:  # all rows lie far off: they begin from the middle of the labelled ones
        fitted = _fitted(known, drawn, np.median(drawn, axis=0) - np.median(known.rows, axis=0))
    if fitted is None:
        return None
    shift, factor = fitted
    if np.mean(np.square(shift) + np.square(np.log(factor))) < _LEAST_MOVE**2:
        return None
    found = np.array(new)
    centre, spread = scale.centre[varies], scale.scale[varies]
    found[:, varies] = ((new[:, varies] - centre) / spread - shift) / factor * spread + centre
    return found, float(np.sqrt(np.mean(np.square(shift))))


@dataclass(frozen=True, eq=False)
class _Known(Frozen):
    """Labelled rows, and the mean of the others nearest to each: rows laid back lie alike."""

    rows: FloatArray
    codes: IntArray
    near: FloatArray
    distance: FloatArray

    @classmethod
    def of(cls, rows: FloatArray, codes: IntArray) -> Self:
        """Labelled rows, each against the others."""
        distance, place = _nearest(rows, rows, itself=False)
        return cls(rows, codes, rows[place].mean(axis=1), distance)

    def counts(self, distance: FloatArray) -> FloatArray:
        """How much rows count that lie so far from the labelled rows nearest to them."""
        usual = max(float(np.median(self.distance)), 1e-300)
        with np.errstate(over="ignore"):  # of rows that repeat each other, so that usual is 0
            return np.asarray(1 / (1 + (distance / (_NEAR * usual)) ** _STEEP))

    def as_common_as(self, place: IntArray, weight: FloatArray) -> FloatArray:
        """Weights by which classes are as common as among rows whose nearest stand at ``place``."""
        n_classes, counts = self.codes.max() + 1, self.counts(self.distance)
        share = np.bincount(self.codes[place].ravel(), np.repeat(weight, _NEIGHBOURS), n_classes)
        of_class = np.bincount(self.codes, counts, n_classes)
        found = (share / np.maximum(of_class, _LEAST_VARIANCE))[self.codes] * counts
        return np.asarray(found / found.sum())


def _fitted(
    known: _Known, new: FloatArray, shift: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """Shift and factor of each column of the new rows; the part that noise explains is taken off.

    Each round compares the rows that lie near with the labelled rows nearest to them, as labelled
    rows of these classes compare with those nearest to *them*.
    """
    factor: FloatArray = np.ones(new.shape[1])
    for _ in range(_ROUNDS):
        laid = (new - shift) / factor
        distance, place = _nearest(laid, known.rows)
        counts = known.counts(distance)
        if counts.sum() < _FEWEST:
            return None
        weight = counts / counts.sum()
        away, slope, error, slope_error = _away(laid, known.rows[place].mean(axis=1), weight)
        usual = _away(known.rows, known.near, known.as_common_as(place, weight))
        step = np.clip(1 + slope - usual[1], 1 / _MOST_AT_ONCE, _MOST_AT_ONCE)
        shift = shift + factor * (away - usual[0])
        factor = factor * step
    shift = _beyond_noise(shift, error + usual[2])
    return shift, np.exp(_beyond_noise(np.log(factor), slope_error + usual[3]))


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


def _beyond_noise(values: FloatArray, error: FloatArray) -> FloatArray:
    """Values drawn towards 0 by the part of their squares that noise explains."""
    return values * np.clip(1 - _CLEAR * error / np.maximum(np.square(values), 1e-300), 0.0, 1.0)
