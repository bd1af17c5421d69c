"""Columns in which distances say little: heavily skewed ones, and categories coded as numbers.

In a log-normal column a few rows stand far from all others, which stand together; code 3 lies no
nearer to code 4 than to code 9. Beside the equal spread, such columns call for a scale of ranks and
of codes that stand equally far apart. Which of the two scales is better, held-out rows say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from unseen._arrays import arrays_of
from unseen._frozen import Frozen
from unseen._types import Array, BoolArray, FloatArray, IntArray, Matrix
from unseen.scores.kernel import Scale, Standardisation, dense

_LEAST_SKEW = 2.0
_FEWEST_CODES, _MOST_CODES = 3, 12
_COMMONEST = 0.75  # a column with a commoner code says little, whatever its scale
_LEAST_PART = 0.5  # of the columns; fewer of them do not spoil distances
_MOST_ROWS = 2000  # evenly spaced rows tell the shape of a column
_MOST_KNOTS = 200
_RARE_END = 0.1  # of the commonest code
_ERRORS = 2.0


@dataclass(frozen=True, eq=False)
class Reshaping(Frozen):
    """Skewed columns by normal scores of their ranks, codes at equal distances, others scaled.

    Every reshaped column is drawn as a curve: by straight lines between ``places`` at ``knots``,
    constant beyond. A code has an axis of its own. All columns have the same spread.
    """

    scale: Standardisation
    kept: IntArray  # columns that are scaled only
    reshaped: IntArray  # the other columns
    knots: tuple[FloatArray, ...]  # (k,), rising values of each reshaped column
    places: tuple[FloatArray, ...]  # (k, axes), where the values lie

    @classmethod
    def of(cls, X: Matrix, weight: FloatArray) -> Self:
        """The scale for these rows."""
        rows, share, skewed, coded = _shapes(X, weight)
        reshaped = np.flatnonzero(skewed | coded)
        curves = [
            (_axes if coded[column] else _normal_scores)(rows[:, column], share)
            for column in reshaped
        ]
        knots, places = (tuple(curve[part] for curve in curves) for part in (0, 1))
        kept = np.flatnonzero(~(skewed | coded))
        return cls(Standardisation.of(X, weight), kept, reshaped, knots, places)

    @property
    def for_distances(self) -> tuple[Reshaping]:
        """The scale itself, alone."""
        return (self,)

    def __call__(self, X: Matrix) -> Array:
        """Rows on the axes of the scale."""
        rows, arrays = dense(X), arrays_of(X)
        curves = zip(self.reshaped, self.knots, self.places, strict=True)
        reshaped = [
            arrays.interpolated(rows[:, column], knots, place)
            for column, knots, places in curves
            for place in places.T
        ]
        return arrays.xp.column_stack([self.scale(rows)[:, self.kept], *reshaped])


def fitting_scales(X: Matrix, weight: FloatArray) -> tuple[type[Scale], ...]:
    """Kinds of scale for these rows: equal spread, and reshaping where many columns call for it."""
    if sparse.issparse(X):
        return (Standardisation,)
    _, _, skewed, coded = _shapes(X, weight)
    calls = (skewed | coded).mean() >= _LEAST_PART
    return (Standardisation, Reshaping) if calls else (Standardisation,)


def _shapes(X: Matrix, weight: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray, BoolArray]:
    """Some rows and their shares; which columns are heavily skewed there, and which hold codes."""
    # Evenly spaced ones of positive weight.
    some = np.flatnonzero(weight > 0)
    some = some[:: -(-len(some) // _MOST_ROWS)]
    rows, share = arrays_of(X).host(dense(X[some])), weight[some] / weight[some].sum()
    whole = (rows == np.round(rows)).all(axis=0)
    coded = np.zeros(rows.shape[1], dtype=bool)
    coded[whole] = [_holds_codes(column) for column in rows[:, whole].T]
    skewed = np.abs(share @ Standardisation.of(rows, share)(rows) ** 3) > _LEAST_SKEW
    # Two values stand where they stand on any scale.
    binary = ((rows == rows.min(axis=0)) | (rows == rows.max(axis=0))).all(axis=0)
    return rows, share, skewed & ~coded & ~binary, coded


def _holds_codes(column: FloatArray) -> bool:
    """Whether whole numbers look like codes: few, and unlike counts, which rise and fall."""
    counts = np.unique(column, return_counts=True)[1].astype(np.int64)
    if not _FEWEST_CODES <= len(counts) <= _MOST_CODES or counts.max() > _COMMONEST * len(column):
        return False
    top = counts.argmax()
    steps = np.diff(counts) / np.sqrt(counts[1:] + counts[:-1])
    rises_and_falls = (steps[:top] > -_ERRORS).all() and (steps[top:] < _ERRORS).all()
    return not (rises_and_falls and min(counts[0], counts[-1]) < _RARE_END * counts[top])


def _normal_scores(column: FloatArray, share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values, and normal quantiles of their middle ranks, at equal spread."""
    values, place = np.unique(column, return_inverse=True)
    at_value = np.bincount(place, share)
    middle = np.cumsum(at_value) - at_value / 2
    scores = ndtri(middle)
    scores -= at_value @ scores
    scores /= np.sqrt(at_value @ scores**2)
    levels = np.linspace(middle[0], middle[-1], _MOST_KNOTS)
    knots = np.unique(np.searchsorted(middle, levels).clip(max=len(values) - 1))
    return values[knots], scores[knots, None]


def _axes(column: FloatArray, share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Codes, and an axis for each, with the spread of one column in all."""
    codes, place = np.unique(column, return_inverse=True)
    at_code = np.bincount(place, share)
    return codes, np.eye(len(codes)) / np.sqrt(1 - at_code @ at_code)
