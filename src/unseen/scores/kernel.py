"""The Gaussian kernel between rows and a few landmarks.

With landmarks Z drawn from the rows, functions ``f(x) = sum_j beta_j k(x, z_j)`` with the penalty
``beta' K_ZZ beta`` are the Nyström approximation of the full kernel machine. Kernel values are made
block by block, by one product and one exponential. docs/numerics.md has the design.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import squareform

from unseen._arrays import NumpyArrays, arrays_of, chosen_arrays
from unseen._frozen import Frozen
from unseen._team import Part, Result
from unseen._types import Array, FloatArray, Matrix
from unseen.scores.scales import Scale, dense

EXACT_CELLS = 2**18  # below this size of the factor, double precision costs hardly any time
# The least that a landmark must add to the span of the others: whitening multiplies the rounding of
# the factor by up to one over the root of this number.
RESIDUAL = {np.float64: 1e-10, np.float32: 1e-4}
_MOST_SIDE_BY_SIDE = 2**22  # numbers of a factor of which there may be one for each thread


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
