"""The verbs of :mod:`unseen._arrays` in torch, for a graphics card."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self
from weakref import ref

import numpy as np
import torch
from scipy.sparse import issparse

from unseen._arrays import NumpyArrays, sent_rows
from unseen._team import Part, Result, Total, row_blocks
from unseen._types import Array, FloatArray, IntArray

# Numbers that a piece of work holds at a time, and those that stay in the card's cache.
_MOST_NUMBERS, _CACHED = 2**28, 2**23
_FEW_NUMBERS = 2**22
_ALIGNED = 16  # columns of a design come in so many, or its products run at half their speed
_SPLIT = 1000  # rows whose products are added up in single precision
_LARGE = 2**27  # designs of so many numbers are worth products of our own


class TorchArrays(NumpyArrays):
    """Torch's verbs: few large pieces of work instead of many small ones."""

    is_host, xp = False, torch

    def __init__(self, device: torch.device) -> None:
        self.device, self.name = device, "torch" if device.type == "cpu" else str(device)

    @classmethod
    def named(cls, device: str) -> Self:
        """The verbs of a device, by the name that a user gives it."""
        if device == "torch":
            return cls(torch.device("cpu"))
        found, number = torch.cuda.device_count(), int(device.partition(":")[2] or 0)
        if number >= found:
            raise RuntimeError(
                f"device={device!r} needs a CUDA GPU that torch sees; got {found} of them. "
                "torch.cuda.is_available() must be True: check the driver, and that this torch "
                "was built for CUDA."
            )
        return cls(torch.device("cuda", number))

    @contextmanager
    def full_precision(self) -> Iterator[None]:
        before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("highest")
        try:
            yield
        finally:
            torch.set_float32_matmul_precision(before)

    def put(self, values: Array, dtype: Any = None) -> Array:
        if issparse(values):
            return values
        if not isinstance(values, torch.Tensor):
            values = _tensor(np.ascontiguousarray(values))
        # The card copies what it needs of the host's memory at once, and goes on with its work.
        values = values.to(self.device, non_blocking=True)
        return values if dtype is None else values.to(_kind(dtype))

    def put_rows(self, rows: Array) -> Array:
        if rows.shape[0] * rows.shape[1] <= _FEW_NUMBERS:
            return rows
        sent, key = sent_rows.get(), (id(rows), self.device)
        if sent is None:
            return self.put(rows)
        source, there = sent.get(key, (None, None))
        # Other rows may have the identity of rows that are gone.
        if source is None or source() is not rows:
            there = self.put(rows)
            sent[key] = ref(rows), there
        return there

    def host(self, array: Array) -> Any:
        if not isinstance(array, torch.Tensor):
            return array
        if array.numel() < _FEW_NUMBERS // 64:
            return array.cpu().numpy()
        # NumPy asks for large pages, and a copy into those takes a fraction of the time.
        found = np.empty(tuple(array.shape), dtype=str(array.dtype).removeprefix("torch."))
        torch.from_numpy(found).copy_(array)
        return found

    def empty(self, shape: tuple[int, ...], dtype: Any = np.float64) -> Array:
        return torch.empty(shape, dtype=_kind(dtype), device=self.device)

    def zeros(self, shape: tuple[int, ...], dtype: Any = np.float64) -> Array:
        return torch.zeros(shape, dtype=_kind(dtype), device=self.device)

    def design(self, shape: tuple[int, int], dtype: Any = np.float64) -> Array:
        n_rows, n_columns = shape
        width = -(-n_columns // _ALIGNED) * _ALIGNED
        whole = self.empty((n_rows, width), dtype)
        whole[:, n_columns:] = 0  # products take in these columns too
        return whole[:, :n_columns]

    def sealed(self, array: Array) -> Array:
        return array if isinstance(array, torch.Tensor) else super().sealed(array)

    def blocks(self, n_rows: int, width: int, times: int = 1) -> list[slice]:
        return row_blocks(n_rows, max(_MOST_NUMBERS // width, 1))

    def parts(self, n_rows: int, width: int) -> list[slice]:
        return row_blocks(n_rows, max(_CACHED // width, 1))

    @staticmethod
    def side_by_side(work: Callable[[Part], Result], parts: Iterable[Part]) -> list[Result]:
        return [work(part) for part in parts]  # the card has one queue

    @staticmethod
    def summed(work: Callable[[Part], Total], parts: Sequence[Part], total: Total) -> Total:
        for part in parts:
            total += work(part)
        return total

    def joined(self, parts: list[Array]) -> Array:
        if not any(isinstance(part, torch.Tensor) for part in parts):
            return np.concatenate(parts)
        return torch.cat([self.put(part) for part in parts])

    def looked_up(self, table: FloatArray, places: Array) -> Array:
        return self.put(table)[places.int()]

    def contract(self, formula: str, left: Array, right: Array, dtype: Any = None) -> Array:
        operands, kept = formula.split("->")
        axes = operands.split(",")[1]
        if left.ndim < right.ndim:
            left = left.reshape(left.shape + (1,) * (right.ndim - left.ndim))
        summed = [place for place, axis in enumerate(axes) if axis not in kept]
        # Sums over rows or coefficients are long.
        kind = torch.float64 if 0 in summed or dtype else right.dtype
        return (left * right).sum(summed, dtype=kind)

    def product(self, design: Array, right: Array, out: Array) -> None:
        whole, own = _whole(design), _own_products(design, right)
        right = torch.nn.functional.pad(right, (0, 0, 0, whole.shape[1] - len(right)))
        if own is not None:
            out.copy_(own.product(whole, right)[:, : right.shape[1]])
        else:
            torch.mm(whole, right.T.contiguous().T, out=out)  # twice as fast as its transpose

    def transposed_product(self, left: Array, design: Array) -> Array:
        whole, own = _whole(design), _own_products(design, left)
        if own is not None:
            parts = own.transposed_product(left, whole)
            total = parts.sum(0, dtype=torch.float64)[:, : left.shape[1]]
        else:
            end = len(whole) // _SPLIT * _SPLIT
            total = (whole[end:].T @ left[end:]).double()
            if end:
                split = (array[:end].unflatten(0, (-1, _SPLIT)) for array in (whole, left))
                turned, parts = next(split).mT, next(split)
                total += (turned @ parts).sum(0, dtype=torch.float64)
        return total[: design.shape[1]]

    def gram(self, rows: Array, weight: Array) -> Array:
        scaled = rows * (weight**0.5)[:, None]
        return scaled.T @ scaled

    def whitening(self, kernel: FloatArray, tol: float) -> tuple[FloatArray, IntArray]:
        inverse = _inverse_triangle(self.put(kernel))
        # One over what a row adds to the span of all others; torch cannot leave rows out.
        alone = (inverse * inverse).sum(0)
        if not bool((alone * tol < 1).all()):
            return super().whitening(kernel, tol)
        return self.host(inverse.T), np.arange(len(kernel))

    def whitened(self, rows: Array, whiten: FloatArray) -> Array:
        return rows @ self.put(whiten).to(rows.dtype)

    def cholesky(self, matrix: Array) -> Array:
        inverse = _inverse_triangle(matrix)
        for more in (1e-4, 1e-3, 1e-2, 0.1, 1.0):
            if bool(torch.isfinite(inverse).all()):
                break
            # Rounding made the matrix indefinite.
            matrix.diagonal().mul_(1 + more)
            inverse = _inverse_triangle(matrix)
        return inverse

    def solve(self, factor: Array, right: Array) -> Array:
        # Two products with the inverse of the triangle, where substitution would wait on itself.
        return (factor.T @ (factor @ right.to(factor.dtype))).to(right.dtype)

    def shifted_exp(self, exponent: Array, shift: float | None, out: Array) -> None:
        exponent.clamp_(max=-(shift or 0.0))
        if shift is None:
            torch.exp(exponent, out=out)
        else:
            torch.mul(exponent.expm1_(), float(np.exp(shift)), out=out)

    def shares(self, values: Array) -> Array:
        return torch.sigmoid(values) if values.shape[-1] == 1 else torch.softmax(values, -1)

    def posteriors(self, logits: Array) -> FloatArray:
        logits = self.put(logits, np.float64)
        if logits.shape[1] == 1:
            logits = torch.nn.functional.pad(logits, (1, 0))
        return self.host(torch.softmax(logits, -1))

    def log_losses(self, logits: Array, codes: Array) -> Array:
        logits = logits.double()
        if logits.shape[2] == 1:
            values = torch.where(codes > 0, -1.0, 1.0)[:, None] * logits[..., 0]
            return torch.logaddexp(torch.zeros_like(values), values)
        places = codes[:, None, None].expand(-1, logits.shape[1], 1)
        return torch.logsumexp(logits, 2) - logits.gather(2, places)[..., 0]

    def smallest(self, values: Array, n_values: int) -> Array:
        found = []
        for _ in range(n_values):  # faster than a sort, for the few that anybody asks for
            least = values.min(1)
            found.append(least.values)
            values.scatter_(1, least.indices[:, None], torch.inf)
        return torch.stack(found, 1)

    def ranks(self, values: Array) -> Array:
        rising, order = torch.sort(self.put(values), 1)
        steps = torch.nn.functional.pad((rising.diff() != 0).cumsum(1), (1, 0))
        return torch.empty_like(order).scatter_(1, order, steps)

    def interpolated(self, values: Array, knots: Array, places: Array) -> Array:
        x, y = self.put(knots), self.put(places)
        if len(x) == 1:
            return torch.zeros_like(values) + y
        right = torch.searchsorted(x, values.contiguous()).clamp(1, len(x) - 1)
        part = (values - x[right - 1]) / (x[right] - x[right - 1])
        return torch.lerp(y[right - 1], y[right], part.nan_to_num(0.0).clamp(0, 1))


def _tensor(values: FloatArray) -> torch.Tensor:
    """A tensor over the memory of an array."""
    if values.flags.writeable:
        return torch.from_numpy(values)
    with warnings.catch_warnings():
        # Nobody writes to what was put; torch warns that nobody should.
        warnings.filterwarnings("ignore", "The given NumPy array is not writable")
        return torch.from_numpy(values)


def _kind(dtype: Any) -> torch.dtype:
    return dtype if isinstance(dtype, torch.dtype) else getattr(torch, np.dtype(dtype).name)


def _inverse_triangle(matrix: Array) -> Array:
    """Inverse of the Cholesky factor of a matrix; NaN where the matrix is not definite."""
    factor, failed = torch.linalg.cholesky_ex(matrix)
    one = torch.eye(len(factor), dtype=factor.dtype, device=factor.device)
    inverse = torch.linalg.solve_triangular(factor, one, upper=False)
    return torch.where(failed == 0, inverse, torch.nan)


def _own_products(design: Array, columns: Array) -> Any:
    """Our own products, where they are faster; None where they are not, or cannot be had."""
    if design.numel() < _LARGE or not design.is_cuda or design.dtype != torch.float32:
        return None
    try:
        import unseen._triton as own
    except ImportError:  # torch has no Triton on some systems
        return None
    return own if 1 < columns.shape[1] <= own.MOST_COLUMNS else None


def _whole(design: Array) -> Array:
    """A design with the columns of zeros beyond its last one."""
    width = design.stride(0)
    return design.as_strided((len(design), width), (width, 1))
