"""Scales on which rows are compared, and the distances to the nearest rows on them.

In a log-normal column a few rows stand far from all others, which stand together; code 3 lies no
nearer to code 4 than to code 9. Beside the equal spread, such columns call for a scale of ranks and
of codes that stand equally far apart. Which of the two scales is better, held-out rows say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Self, TypeAlias

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from unseen._arrays import arrays_of, chosen_arrays
from unseen._frozen import Frozen
from unseen._types import Array, BoolArray, FloatArray, IntArray, Matrix
from unseen.samples import Clusters, first_rows
from unseen.scores.base import Distances

_SMALLEST = 1e-100
# Rows of more columns, and sparse rows of more values, are not made dense as a whole.
_MOST_COLUMNS, _MOST_VALUES = 2000, 20_000_000
_LEAST_SKEW = 2.0
_FEWEST_CODES, _MOST_CODES = 3, 12
_COMMONEST = 0.75  # a column with a commoner code says little, whatever its scale
_LEAST_PART = 0.5  # of the columns; fewer of them do not spoil distances
_MOST_ROWS = 2000  # evenly spaced rows tell the shape of a column
_MOST_KNOTS = 200
_RARE_END = 0.1  # of the commonest code
_ERRORS = 2.0
_NEIGHBOURS = 3
# Squared distances below this part of a row's square are rounding, which must not order rows.
_ROUNDING = 1e-13
# With so many rows to compare with, more of them would only take longer.
_MOST_REFERENCES = 1000


def dense(X: Matrix) -> Array:
    """The rows as a dense array of double precision."""
    is_sparse = sparse.issparse(X)
    return arrays_of(X).put(X.toarray() if is_sparse else X, np.float64)


def dense_pair(X: Matrix, X_new: Matrix) -> tuple[FloatArray, FloatArray] | None:
    """Both samples as dense rows; None for very wide rows, and for sparse ones of many values."""
    n_rows, n_columns = X.shape[0] + X_new.shape[0], X.shape[1]
    if n_columns > _MOST_COLUMNS or (sparse.issparse(X) and n_rows * n_columns > _MOST_VALUES):
        return None
    return dense(X), dense(X_new)


@dataclass(frozen=True, eq=False)
class Standardisation(Frozen):
    """Centre and scale of each feature; a constant feature keeps the scale 1, or its rounding."""

    centre: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, X: Matrix, weight: FloatArray) -> Self:
        """Weighted means and standard deviations of the columns of X, dense or sparse."""
        arrays = arrays_of(X)
        share = arrays.put(weight / weight.sum())
        centre, square = arrays.zeros((2, X.shape[1]))
        for rows in arrays.blocks(*X.shape):
            centre += share[rows] @ dense(X[rows])
        for rows in arrays.blocks(*X.shape):
            square += share[rows] @ (dense(X[rows]) - centre) ** 2
        centre, scale = arrays.host(centre), np.sqrt(arrays.host(square))
        # Rounding leaves a constant feature with a spread of about eps times its size, and its rows
        # as far from their centre: which is much where the feature is larger than 1e15.
        rounding = 10 * np.finfo(np.float64).eps * np.abs(centre)
        scale = np.where(scale <= rounding, np.maximum(rounding, 1.0), scale)
        # And squares of the smallest numbers vanish.
        scale[scale < _SMALLEST] = 1.0
        return cls(centre, scale)

    @property
    def raw_and_standardised(self) -> tuple[Standardisation, Standardisation]:
        """Centred only, and centred and scaled: neither is better on all data."""
        return Standardisation(self.centre, np.ones_like(self.scale)), self

    for_distances = raw_and_standardised

    def __call__(self, X: Matrix) -> Array:
        """Standardised rows, dense."""
        put = arrays_of(X).put
        found = dense(X) - put(self.centre)
        found /= put(self.scale)
        return found


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
        curves = [_curve(rows[:, column], share, coded[column]) for column in reshaped]
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


def _curve(column: FloatArray, share: FloatArray, coded: bool) -> tuple[FloatArray, FloatArray]:
    """Values, and where they lie: an axis for each code, or else normal quantiles of middle ranks.

    Either way the column has equal spread in all.
    """
    values, place = np.unique(column, return_inverse=True)
    at_value = np.bincount(place, share)
    if coded:
        return values, np.eye(len(values)) / np.sqrt(1 - at_value @ at_value)
    middle = np.cumsum(at_value) - at_value / 2
    scores = ndtri(middle)
    scores -= at_value @ scores
    scores /= np.sqrt(at_value @ scores**2)
    levels = np.linspace(middle[0], middle[-1], _MOST_KNOTS)
    knots = np.unique(np.searchsorted(middle, levels).clip(max=len(values) - 1))
    return values[knots], scores[knots, None]


Scale: TypeAlias = Standardisation | Reshaping


def neighbour_distances(
    F: Matrix,
    H: Matrix,
    scales: Sequence[Scale],
    rng: np.random.RandomState,
    clusters: Clusters | None = None,
) -> Distances:
    """Mean distance of each row to the three nearest rows of H, itself and copies left out.

    There is a column for each scale. H has at least 2 rows; of more than 1,000, ``rng`` draws those
    to which distances are taken. No distance is taken between rows of one cluster; without
    ``clusters`` the row alone is left out.
    """
    n_old, n_new = H.shape[0], F.shape[0]
    apart = Clusters(np.arange(n_old), n_old + np.arange(n_new), distinct=True)
    clusters, chosen = clusters or apart, apart.labelled
    # Of copies one is enough to measure from.
    if not clusters.distinct and len(distinct := first_rows(clusters.labelled)) > 1:
        chosen = distinct
    if len(chosen) > _MOST_REFERENCES:
        chosen = np.sort(rng.choice(chosen, _MOST_REFERENCES, replace=False))
    in_one = len(np.unique(clusters.together[0][chosen])) < 2
    labelled, new = (apart if in_one else clusters).together
    arrays, own = chosen_arrays(), labelled[chosen]
    largest = int(np.unique(own, return_counts=True)[1].max())
    n_nearest = max(1, min(_NEIGHBOURS, len(chosen) - largest))
    references = [arrays.put(scale(H[chosen])) for scale in scales]
    samples = [
        (arrays.put(rows), numbers, np.isin(numbers, own))
        for rows, numbers in ((F, new), (H, labelled))
    ]
    found = [arrays.empty((len(numbers), len(scales))) for _, numbers, _ in samples]

    def measure(part: tuple[int, int, slice]) -> None:
        sample, column, block = part
        rows, numbers, shared = samples[sample]
        scaled = scales[column](arrays.put(dense(rows[block])))
        squares = arrays.squared_distances(scaled, references[column])
        few = np.flatnonzero(shared[block])
        row, reference = np.nonzero(numbers[block][few, None] == own)
        squares[arrays.put(few[row]), arrays.put(reference)] = np.inf
        nearest = arrays.smallest(squares, n_nearest)
        rounding = _ROUNDING * arrays.contract("ij,ij->i", scaled, scaled)
        nearest[nearest <= rounding[:, None]] = 0.0
        found[sample][block, column] = (nearest**0.5).mean(1)

    blocks = [arrays.parts(len(numbers), len(chosen)) for _, numbers, _ in samples]
    parts = product((0, 1), range(len(scales)))
    arrays.side_by_side(measure, [(*part, block) for part in parts for block in blocks[part[0]]])
    return Distances(*(arrays.sealed(arrays.host(one)) for one in found))
