"""Arrays of NumPy, or of torch on a graphics card: the one module that knows of devices.

No call passes a device on to the next: who wants a device names it around the call. Rows are put
there once, and everything made of them stays there. The numerical code is written once, in the
operators that NumPy and torch share and in the verbs of :class:`NumpyArrays`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import wraps
from itertools import combinations
from operator import getitem
from typing import Any, TypeVar

import numpy as np
from scipy.linalg import get_lapack_funcs
from scipy.linalg.lapack import dpstrf, dtrtri
from scipy.sparse import issparse
from scipy.special import softmax

from unseen._progress import held
from unseen._team import BLOCK, even_blocks, row_blocks, side_by_side, summed
from unseen._types import Array, FloatArray, IntArray

Method = TypeVar("Method", bound=Callable[..., Any])

WORTH, MOST_BLOCKS = 2**23, 32  # least multiplications that are worth a thread's call, and blocks
TILE = 256  # columns of a piece of a square product
MOST_IN_FOURS = 36  # columns
SHORT_BLOCK = 512  # rows of a design whose product is written as fast as the design is read
LEAST_BLOCK, AT_WORK = 256, 2**19  # rows, and numbers, where a row has very many numbers
AT_HAND = 2**17  # numbers of a block that is gone over several times
UNPACKED, LEAST_UNPACKED = 1_000_000, 128  # multiplications of a small product, and its least rows
FEW_OUTPUTS = 12
LARGE_SHIFT = -0.4  # exponents from here on are rounded as much as a difference of exponentials
# Smaller shares would be subnormal numbers, which a processor multiplies ten times as slowly.
_LEAST_POWERS = {np.dtype(np.float32): -80.0, np.dtype(np.float64): -700.0}
# The checks of scipy.linalg cost as much as small matrices.
_LAPACK: dict[Any, Any] = {
    np.dtype(kind): get_lapack_funcs(("potrf", "potrs"), dtype=np.dtype(kind)) for kind in "fd"
}
# Rows on a device, by the identity of those on the host and the name of the device.
sent_rows: ContextVar[dict[Any, Any] | None] = ContextVar("unseen_sent", default=None)


@contextmanager
def on_device(device: str | None) -> Iterator[None]:
    """Run the heavy work of a ``with`` block on a graphics card: estimates, rules, predictions.

    Fitted objects hold plain NumPy arrays: they can be saved, and used on any machine.

    Parameters
    ----------
    device : str or None
        "cuda", or "cuda:1" for the second card; "cpu", the default of everything, is NumPy.
        "torch" is torch on the CPU, to try the code of the card without one. None changes nothing.

    Raises
    ------
    ImportError
        When torch is not installed.
    RuntimeError
        When torch sees no such card.

    Examples
    --------
    >>> import numpy as np
    >>> import unseen
    >>> X, y = np.arange(20.0)[:, None], np.repeat(["low", "high"], 10)
    >>> with unseen.on_device("cpu"):  # or "cuda"
    ...     model = unseen.KernelLogisticRegression(random_state=0).fit(X, y)
    >>> model.predict([[1.0], [18.0]])
    array(['low', 'high'], dtype='<U4')
    """
    if device is None:
        yield
        return
    arrays, (kind, _, number) = _NUMPY, str(device).partition(":")
    if device not in ("cpu", "cuda", "torch") and not (kind == "cuda" and number.isdecimal()):
        raise ValueError(f'device must be "cpu", "cuda", "cuda:1" or "torch"; got {device!r}.')
    if device != "cpu":
        try:
            from unseen._torch import TorchArrays
        except ImportError as error:
            raise ImportError(
                f'device={device!r} needs torch; install it with: pip install "unseen[gpu]"'
            ) from error
        arrays = TorchArrays.named(device)
    with held(_chosen, arrays), arrays.full_precision():
        yield


def where_rows_are(method: Method) -> Method:
    """A method whose first argument is rows, run on the card that the rows are on, if any."""

    @wraps(method)
    def there(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        with on_device(card_of(X)):
            return method(self, X, *args, **kwargs)

    return there  # type: ignore[return-value]


def card_of(X: Any) -> str | None:
    """Name of the graphics card that a tensor is on; None for anything else."""
    return f"cuda:{X.device.index}" if getattr(X, "is_cuda", False) else None


def chosen_arrays() -> NumpyArrays:
    """The verbs of the device that the work runs on."""
    return _chosen.get()


def arrays_of(array: Array) -> NumpyArrays:
    """The verbs of the device that an array is on."""
    if isinstance(array, np.ndarray) or not hasattr(array, "device"):
        return _NUMPY
    from unseen._torch import TorchArrays

    return TorchArrays(array.device)


def kept_there(record: Any, name: str) -> Array:
    """An array of a record on the device that the work runs on; the record keeps it there."""
    array, arrays = getattr(record, name), chosen_arrays()
    if arrays.is_host:
        return array
    kept = vars(record).setdefault("_kept_there", {})
    if (name, arrays.name) not in kept:
        kept[name, arrays.name] = arrays.put(array)
    return kept[name, arrays.name]


@contextmanager
def rows_sent_once() -> Iterator[None]:
    """Rows that are put on a device inside stay there until the end; nobody may write to them."""
    with held(sent_rows, {}):
        yield


class NumpyArrays:
    """NumPy's verbs, in blocks of rows that stay in the cache of a processor.

    ``xp`` is the module whose functions of one name and meaning need no verb of their own. Verbs
    that are functions of NumPy have its names for their arguments.
    """

    name, is_host = "cpu", True
    xp: Any = np
    side_by_side, summed = staticmethod(side_by_side), staticmethod(summed)
    # Inside, products of single precision are not rounded any further.
    full_precision: Any = staticmethod(nullcontext)
    empty: Any = staticmethod(np.empty)
    zeros: Any = staticmethod(np.zeros)
    # An array to be filled, whose products with narrow arrays are fast.
    design: Any = staticmethod(np.empty)
    # Rows of all parts, one after the other; on the device if a part is there.
    joined: Any = staticmethod(np.concatenate)
    # Values of a table at the places of rows, which are small whole numbers.
    looked_up: Any = staticmethod(getitem)
    # The axes of the left array must be the first ones of the right array.
    contract: Any = staticmethod(np.einsum)
    # Straight lines between places at rising knots, constant beyond.
    interpolated: Any = staticmethod(np.interp)

    def put(self, values: Array, dtype: Any = None) -> Array:
        """Values on the device, without a copy where they are there; sparse rows stay."""
        sparse = not isinstance(values, np.ndarray) and issparse(values)  # the latter takes longer
        return values if sparse else np.asarray(values, dtype=dtype)

    host: Any = put  # the array as NumPy's own; sparse rows as they are

    def put_rows(self, rows: Array) -> Array:
        """Rows on the device where they are many; a few are put there whenever they are needed.

        The scale of a few rows is then found by NumPy alone, and with it the landmarks that count.
        """
        return rows

    def sealed(self, array: Array) -> Array:
        """The array, which nobody writes to any more, so that a record needs no copy."""
        array.flags.writeable = False
        return array

    def blocks(self, n_rows: int, width: int, times: int = 1) -> list[slice]:
        """Slices of rows, for so many numbers a row, each the sum of so many products."""
        most = min(BLOCK, max(LEAST_BLOCK, AT_WORK // max(width, 1)))
        least = max(LEAST_BLOCK, n_rows / MOST_BLOCKS, WORTH / max(width * times, 1))
        return even_blocks(n_rows, most, least)

    def parts(self, n_rows: int, width: int) -> list[slice]:
        """Slices of rows, for kernel values against so many landmarks."""
        # Several passes go over a block: it must stay in the cache of one core.
        return row_blocks(n_rows, max(64, AT_HAND // max(width, 1)))

    def total(self, array: Array) -> FloatArray:
        """Sum over the rows, in double precision, on the host."""
        found: FloatArray = self.host(array.sum(0, dtype=self.xp.float64))
        return found

    def product(self, design: Array, right: Array, out: Array) -> None:
        """``design @ right``, into ``out``."""
        n_columns, right = right.shape[1], _in_fours(right)
        for part in _unpacked(out, design.shape[1], SHORT_BLOCK):
            if right.shape[1] == n_columns:
                np.matmul(design[part], right, out=out[part])
            else:
                out[part] = (right.T @ design[part].T)[:n_columns].T

    def transposed_product(self, left: Array, design: Array) -> Array:
        """``design.T @ left``."""
        n_columns, left = left.shape[1], _in_fours(left)
        parts = _unpacked(left, design.shape[1], BLOCK)
        total = left[parts[0]].T @ design[parts[0]]
        for part in parts[1:]:
            total += left[part].T @ design[part]
        return total[:n_columns].T

    def gram(self, rows: Array, weight: Array) -> Array:
        """``rows.T @ (weight * rows)``; zeros may stand for what the other half mirrors."""
        root, scaled = weight**0.5, np.empty_like(rows)
        found = np.zeros((rows.shape[1], rows.shape[1]), dtype=rows.dtype)
        tiles = even_blocks(rows.shape[1], TILE)

        def multiply(pair: tuple[slice, slice]) -> None:
            # A product of the same columns twice takes half the time.
            found[pair] = scaled[:, pair[0]].T @ scaled[:, pair[1]]

        side_by_side(
            lambda some: np.multiply(rows[some], root[some, None], out=scaled[some]),
            even_blocks(len(rows), 4 * TILE),
        )
        side_by_side(multiply, [*combinations(tiles, 2), *zip(tiles, tiles, strict=True)])
        return found

    def whitening(self, kernel: FloatArray, tol: float) -> tuple[FloatArray, IntArray]:
        """Upper triangular W with ``W' kernel W`` = identity, and the rows of the kernel it is for.

        Rows that the others span but for ``tol`` are left out; the kernel may be overwritten.
        """
        triangle, pivots, rank, _ = dpstrf(kernel, tol=tol)
        return np.triu(dtrtri(triangle[:rank, :rank])[0]), pivots[:rank] - 1

    def whitened(self, rows: Array, whiten: FloatArray) -> Array:
        """``rows @ whiten`` for an upper triangular matrix; may overwrite the rows."""
        whiten, found = whiten.astype(rows.dtype), np.empty_like(rows)

        def multiply(some: slice) -> None:
            for part in even_blocks(len(whiten), TILE // 2):  # below the diagonal are zeros
                np.matmul(rows[some, : part.stop], whiten[: part.stop, part], out=found[some, part])

        side_by_side(multiply, even_blocks(len(rows), 4 * TILE))
        return found

    def cholesky(self, matrix: Array) -> Array:
        """What :meth:`solve` needs of a symmetric definite matrix, which may be overwritten."""
        return _LAPACK[matrix.dtype][0](matrix.T, lower=1, overwrite_a=1)[0]

    def solve(self, factor: Array, right: Array) -> Array:
        """``matrix^-1 @ right``, given the matrix's :meth:`cholesky`."""
        flat = np.array(right, dtype=factor.dtype, order="F")
        return _LAPACK[factor.dtype][1](factor, flat, lower=1, overwrite_b=1)[0]

    def shifted_exp(self, exponent: Array, shift: float | None, out: Array) -> None:
        """``exp(exponent + shift)``, less ``exp(shift)`` where there is a shift, into ``out``."""
        np.minimum(exponent, -(shift or 0.0), out=exponent)
        if shift is None:
            np.exp(exponent, out=out)
        elif out.dtype == np.float32 and shift < LARGE_SHIFT:
            exponent += np.float32(shift)
            np.subtract(np.exp(exponent, out=exponent), np.float32(np.exp(shift)), out=out)
        elif out.dtype == np.float32:
            exponent *= out.dtype.type(0.5)
            out[:] = single_expm1(exponent, np.empty_like(exponent), np.exp(shift))
        else:
            np.multiply(np.expm1(exponent), np.exp(shift), out=out)

    def shares(self, values: Array) -> Array:
        """Shares of the exponentials along the last axis; a fresh array.

        Of one value, the log-odds of the second of two classes, its probability.
        """
        if values.shape[-1] == 1:
            odds = np.clip(values, -60, 60)
            np.exp(np.negative(odds, out=odds), out=odds)
            return np.reciprocal(np.add(odds, 1, out=odds), out=odds)
        powers = values - _largest(values)[..., None]
        np.maximum(powers, _LEAST_POWERS[powers.dtype], out=powers)
        np.exp(powers, out=powers)
        # Sums over a short last axis are faster as a product.
        powers /= (powers @ np.ones(values.shape[-1], dtype=values.dtype))[..., None]
        return powers

    def posteriors(self, logits: Array) -> FloatArray:
        """Probabilities of the classes, in double precision, on the host.

        Of logits (n, K), or of log-odds (n, 1) of the second of two classes.
        """
        if logits.shape[1] == 1:
            logits = np.column_stack([0 * logits, logits])
        return np.asarray(softmax(logits, axis=1))

    def log_losses(self, logits: Array, codes: Array) -> Array:
        """Minus the log-probability of a class for each row, (n, problems).

        Of logits (n, problems, K), or of log-odds (n, problems, 1) of the second of two classes.
        """
        if logits.shape[2] == 1:
            # In the precision of the values: in single precision a race is judged in half the time.
            sign = np.asarray(1.0 - 2.0 * (codes > 0), dtype=logits.dtype)
            values = sign[:, None] * logits[..., 0]
            # NumPy's logaddexp takes ten times as long.
            return np.maximum(values, 0) + np.log1p(np.exp(-np.abs(values)))
        true, largest = logits[np.arange(len(codes)), :, codes], _largest(logits)
        # Sums over a short last axis are faster as a product; ones of double precision.
        sums = np.exp(logits - largest[..., None]) @ np.ones(logits.shape[2])
        return np.log(sums) + (largest - true)

    def squared_distances(self, rows: Array, references: Array) -> Array:
        """Squares of distances, a column for each reference; rounding may take one below 0."""
        # One product writes the distances once; sums added to it would read and write all again.
        samples = rows, references
        squares = [self.contract("ij,ij->i", points, points) for points in samples]
        ones = [self.zeros((len(points),)) + 1 for points in samples]
        left = self.xp.column_stack([rows, squares[0], ones[0]])
        return left @ self.xp.column_stack([-2 * references, ones[1], squares[1]]).T

    def smallest(self, values: Array, n_values: int) -> Array:
        """The least so many values of each row, in any order; may overwrite the values."""
        if n_values > FEW_OUTPUTS // 2:
            values.partition(n_values - 1, axis=1)
            return values[:, :n_values]
        found, every = np.empty((len(values), n_values)), np.arange(len(values))
        for place in range(n_values):  # faster than a partial sort, where they are few
            least = values.argmin(axis=1)
            found[:, place] = values[every, least]
            values[every, least] = np.inf
        return found

    def ranks(self, values: Array) -> Array:
        """The place of each value (C, n) among the distinct values of its row, rising."""
        rows = np.ascontiguousarray(values)
        order = np.argsort(rows, axis=1)
        order += rows.shape[1] * np.arange(len(rows))[:, None]
        rising = rows.ravel()[order]
        steps, found = np.zeros(order.shape, dtype=order.dtype), np.empty(order.size, order.dtype)
        np.cumsum(rising[:, 1:] != rising[:, :-1], axis=1, out=steps[:, 1:])
        found[order] = steps
        return found.reshape(order.shape)


_NUMPY = NumpyArrays()
_chosen: ContextVar[NumpyArrays] = ContextVar("unseen_device", default=_NUMPY)


def _largest(values: FloatArray) -> FloatArray:
    """The largest value along the last axis; output by output where outputs are few."""
    if values.shape[-1] > FEW_OUTPUTS:
        return np.asarray(values.max(axis=-1))
    largest = values[..., 0].copy()
    for output in range(1, values.shape[-1]):
        np.maximum(largest, values[..., output], out=largest)
    return largest


def single_expm1(half: FloatArray, rest: FloatArray, factor: float) -> FloatArray:
    """``factor expm1(2 half)``, into ``half``; ``rest`` is overwritten.

    ``expm1(2 t) = 2 tanh(t) / (1 - tanh(t))`` takes a fourth of the time of NumPy's expm1.

    Examples
    --------
    >>> half = np.array([-2.0, -1e-3, 0.0], dtype=np.float32)
    >>> bool(np.allclose(single_expm1(half.copy(), half.copy(), 3.0), 3 * np.expm1(2 * half)))
    True
    """
    np.tanh(half, out=half)
    half /= np.subtract(1, half, out=rest)
    half *= half.dtype.type(2 * factor)
    return half


def _in_fours(columns: FloatArray) -> FloatArray:
    """A few columns, with zeros up to a multiple of four, which BLAS takes at a time."""
    n_rows, n_columns = columns.shape
    if not 3 <= n_columns <= MOST_IN_FOURS or n_columns % 4 == 0:
        return columns
    found = np.zeros((n_rows, -(-n_columns // 4) * 4), dtype=columns.dtype)
    found[:, :n_columns] = columns
    return found


def _unpacked(rows: FloatArray, rank: int, size_of_many: int) -> list[slice]:
    """Blocks of rows so small that BLAS multiplies them by a design of this rank without packing.

    With few columns packing costs as much as the product itself; with many, no block is so small.
    """
    size = UNPACKED // (rank * rows.shape[1])
    return row_blocks(len(rows), size if size >= LEAST_UNPACKED else size_of_many)
