"""Distances between rows, and the Gaussian kernel between rows and a few landmarks.

With landmarks Z drawn from the rows, functions ``f(x) = sum_j beta_j k(x, z_j)`` with the penalty
``beta' K_ZZ beta`` are the Nyström approximation of the full kernel machine. Kernel values are made
block by block, by one product and one exponential. docs/numerics.md has the design.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol, Self

import numpy as np
from scipy import sparse
from scipy.spatial.distance import squareform

from unseen._arrays import NumpyArrays, arrays_of, chosen_arrays
from unseen._frozen import Frozen
from unseen._team import Part, Result
from unseen._types import Array, FloatArray, IntArray, Matrix
from unseen.samples import Clusters, first_rows
from unseen.scores.base import Distances

EXACT_CELLS = 2**18  # below this size of the factor, double precision costs hardly any time
# The least that a landmark must add to the span of the others: whitening multiplies the rounding of
# the factor by up to one over the root of this number.
RESIDUAL = {np.float64: 1e-10, np.float32: 1e-4}
_SMALLEST = 1e-100
_NEIGHBOURS = 3
# Squared distances below this part of a row's square are rounding, which must not order rows.
_ROUNDING = 1e-13
# With so many rows to compare with, more of them would only take longer.
_MOST_REFERENCES = 1000
# Rows of more columns, and sparse rows of more values, are not made dense as a whole.
_MOST_COLUMNS, _MOST_VALUES = 2000, 20_000_000
_MOST_SIDE_BY_SIDE = 2**22  # numbers of a factor of which there may be one for each thread


class Scale(Protocol):
    """Puts rows where their Euclidean distances say how different they are."""

    @classmethod
    def of(cls, X: Matrix, weight: FloatArray) -> Self:
        """The scale for weighted rows."""

    def __call__(self, X: Matrix) -> Array:
        """Rows on this scale, dense."""

    @property
    def for_distances(self) -> tuple[Scale, ...]:
        """Scales on which distances are worth taking."""


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


def automatic_rank(n_rows: int) -> int:
    """Landmarks that keep the held-out AUC of the full kernel (benchmarks/klr.py)."""
    return min(n_rows, int(np.clip(5.5 * np.sqrt(n_rows), 300, 1024)))


def choose_landmarks(
    X: Matrix, weight: FloatArray, rank: int, rng: np.random.RandomState
) -> FloatArray:
    """Distinct rows of positive weight: all of them when they are few, else a random draw."""
    candidates = np.flatnonzero(weight > 0)
    if candidates.size > rank:
        candidates = np.sort(rng.choice(candidates, rank, replace=False))
    return np.unique(arrays_of(X).host(dense(X[candidates])), axis=0)


def median_bandwidth(landmarks: FloatArray) -> float:
    """Median distance between landmarks; 1 where all of them coincide."""
    squares = np.einsum("ij,ij->i", landmarks, landmarks)
    apart = squareform(-2 * (landmarks @ landmarks.T) + squares[:, None] + squares, checks=False)
    positive = apart[apart > 0]
    return float(np.median(np.sqrt(positive))) if positive.size else 1.0


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
    chosen, labelled, new = _references(H.shape[0], F.shape[0], rng, clusters)
    arrays, own = chosen_arrays(), labelled[chosen]
    largest = int(np.unique(own, return_counts=True)[1].max())
    n_nearest = max(1, min(_NEIGHBOURS, len(chosen) - largest))
    references = [arrays.put(scale(H[chosen])) for scale in scales]
    samples = [
        (
            arrays.put(rows),
            numbers,
            np.isin(numbers, own),
            arrays.empty((len(numbers), len(scales))),
        )
        for rows, numbers in ((F, new), (H, labelled))
    ]

    def measure(part: tuple[int, int, slice]) -> None:
        sample, column, block = part
        rows, numbers, shared, found = samples[sample]
        scaled = scales[column](arrays.put(dense(rows[block])))
        apart = arrays.squared_distances(scaled, references[column])
        few = np.flatnonzero(shared[block])
        row, reference = np.nonzero(numbers[block][few, None] == own)
        apart[arrays.put(few[row]), arrays.put(reference)] = np.inf
        nearest = arrays.smallest(apart, n_nearest)
        squares = arrays.contract("ij,ij->i", scaled, scaled)
        nearest[nearest <= _ROUNDING * squares[:, None]] = 0.0
        found[block, column] = (nearest**0.5).mean(1)

    blocks = [arrays.parts(n_rows, len(chosen)) for n_rows in (len(new), len(labelled))]
    parts = product((0, 1), range(len(scales)))
    arrays.side_by_side(measure, [(*part, block) for part in parts for block in blocks[part[0]]])
    return Distances(*(arrays.sealed(arrays.host(found)) for *_, found in samples))


def _references(
    n_old: int, n_new: int, rng: np.random.RandomState, clusters: Clusters | None
) -> tuple[IntArray, IntArray, IntArray]:
    """Places of the labelled rows to measure from; the cluster of each labelled and new row."""
    labelled: IntArray = np.arange(n_old)
    new: IntArray = n_old + np.arange(n_new)
    chosen = labelled
    if clusters is not None and not clusters.distinct:
        # Of copies one is enough to measure from.
        distinct = first_rows(clusters.labelled)
        chosen = distinct if len(distinct) > 1 else chosen
    if len(chosen) > _MOST_REFERENCES:
        chosen = np.sort(rng.choice(chosen, _MOST_REFERENCES, replace=False))
    if clusters is not None and len(np.unique(clusters.together[0][chosen])) > 1:
        labelled, new = clusters.together
    return chosen, labelled, new


@dataclass(frozen=True, eq=False)
class ShiftedKernel(Frozen):
    """Gaussian kernel ``exp(-|x - z|^2 / (2 bandwidth^2))`` less a constant, against landmarks.

    At a wide bandwidth all values are close to 1, and single precision would keep few of the
    digits in which they differ. Their differences from a typical value have full precision; the
    intercept takes up the constant.
    """

    landmarks: FloatArray  # (r, d), standardised
    bandwidth: float
    exponent: float | None = None  # logarithm of the constant; None subtracts nothing

    def fill(self, rows: Array, out: Array) -> Array:
        """Values between rows and landmarks, in the precision of ``out``."""
        arrays, dtype = arrays_of(out), out.dtype
        scale, shift = 0.5 / self.bandwidth**2, self.exponent or 0.0
        # One product gives the whole exponent 2 s x.z - s |x|^2 - s |z|^2 - shift.
        z, ones = self.landmarks, np.ones(len(self.landmarks))
        squares = arrays.contract("ij,ij->i", rows, rows)
        z_squares = np.einsum("ij,ij->i", z, z)
        one = arrays.zeros((len(rows),)) + 1
        left = arrays.put(arrays.xp.column_stack([2 * scale * rows, -scale * squares, one]), dtype)
        right = arrays.put(np.column_stack([z, ones, -scale * z_squares - shift]), dtype)
        arrays.side_by_side(
            lambda part: arrays.shifted_exp(left[part] @ right.T, self.exponent, out[part]),
            arrays.parts(len(rows), len(z)),
        )
        return out

    def functions(self, X: Matrix, scale: Scale, coefficients: FloatArray) -> FloatArray:
        """Sums of kernel functions with coefficients (r, K), at rows not yet on the scale."""
        arrays = chosen_arrays()
        values = np.empty((X.shape[0], coefficients.shape[1]))
        weights = arrays.put(coefficients)

        def add_up(rows: slice) -> None:
            block = scale(arrays.put(dense(X[rows])))
            kernel = arrays.empty((len(block), len(coefficients)), coefficients.dtype)
            values[rows] = arrays.host(self.fill(block, kernel) @ weights)

        arrays.side_by_side(add_up, arrays.blocks(X.shape[0], len(coefficients)))
        return values


@dataclass(frozen=True, eq=False)
class KernelFactor(Frozen):
    """Kernel values of all rows at one bandwidth, and the matrix that whitens them.

    ``design`` (n, r + 1) holds kernel values, and a last column of ones for the intercept, on the
    device of the rows. ``whiten`` is an upper triangular W with ``W' penalty W`` = identity, so
    that ``design @ W @ w`` has the penalty ``w' w``: applied to the r coefficients, never to rows.
    """

    design: Array
    whiten: FloatArray
    kernel: ShiftedKernel
    dtype: np.dtype[Any]  # of the design, in NumPy's words


@dataclass(frozen=True, eq=False)
class PreparedRows:
    """Checked rows with their scale, landmarks, the median distance of these, and the device."""

    X: Matrix
    weight: FloatArray
    standardise: Scale
    landmarks: FloatArray
    median: float
    arrays: NumpyArrays

    def side_by_side(self, work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
        """Results of work that needs a factor for each part.

        Factors of many rows are made one after another: the rows of each are shared.
        """
        if self.X.shape[0] * len(self.landmarks) > _MOST_SIDE_BY_SIDE:
            return [work(part) for part in parts]
        return self.arrays.side_by_side(work, parts)

    def factor(self, bandwidth: float) -> KernelFactor:
        """Factor of the kernel on the rows."""
        X, landmarks, arrays = self.X, self.landmarks, self.arrays
        dtype = np.float64 if X.shape[0] * len(landmarks) <= EXACT_CELLS else np.float32
        # Landmarks with linearly independent kernel functions, and their whitening.
        between = np.empty((len(landmarks), len(landmarks)))
        ShiftedKernel(landmarks, bandwidth).fill(landmarks, between)
        triangle, kept = arrays.whitening(between, RESIDUAL[dtype])
        whiten = np.zeros((len(kept) + 1, len(kept) + 1))
        whiten[:-1, :-1] = triangle
        whiten[-1, -1] = 1.0
        # Subtract the value at the typical distance, unless this value is negligible.
        exponent = -0.5 * (self.median / bandwidth) ** 2
        kernel = ShiftedKernel(landmarks[kept], bandwidth, exponent if exponent > -10 else None)
        design = arrays.design((X.shape[0], len(kept) + 1), dtype)
        design[:, -1] = 1
        arrays.side_by_side(
            lambda rows: kernel.fill(
                self.standardise(arrays.put(dense(X[rows]))), design[rows, :-1]
            ),
            arrays.blocks(*X.shape),
        )
        return KernelFactor(arrays.sealed(design), whiten, kernel, np.dtype(dtype))
