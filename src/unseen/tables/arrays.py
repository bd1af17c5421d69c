"""NumPy files: an array of one dimension is a column, one of two a column of lists.

The arrays are read block by block, so that a file may be larger than the memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import prod
from typing import IO, Any
from zipfile import ZipFile

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from unseen._optional import pa
from unseen.tables._arrow import Array, Batch, Format, Part, batch_rows, first_line


@dataclass(frozen=True)
class Npy(Format):
    """One array, saved by ``numpy.save``; it becomes the column X."""

    called = "an array that numpy.save wrote"

    def names(self, part: Part) -> list[str]:
        """The names of the arrays."""
        with self._arrays(part, ()) as arrays:
            return list(arrays)

    def batches(self, part: Part, columns: Sequence[str]) -> Iterator[Batch]:
        """Blocks of rows of all wanted arrays."""
        with self._arrays(part, columns) as arrays:
            rows = batch_rows(sum(array.width for array in arrays.values()))
            n_rows = next(iter(arrays.values())).shape[0]
            for start in range(0, n_rows, rows):
                size = min(rows, n_rows - start)
                blocks = [column_of(array.read(size)) for array in arrays.values()]
                yield pa.record_batch(blocks, names=list(arrays))

    @contextmanager
    def _arrays(self, part: Part, wanted: Sequence[str]) -> Iterator[dict[str, _Array]]:
        """The wanted arrays, or all, with their headers read; each is a column."""
        with part.path.open("rb") as stream:
            size = part.path.stat().st_size
            yield {"X": _Array.begun(stream, part.name, self.called, size)}


@dataclass(frozen=True)
class Npz(Npy):
    """Several arrays with as many rows, saved by ``numpy.savez``."""

    called = "a file of numpy.savez whose arrays have as many rows"

    @contextmanager
    def _arrays(self, part: Part, wanted: Sequence[str]) -> Iterator[dict[str, _Array]]:
        with ExitStack() as stack:
            with _whole(part.name, self.called):
                archive = stack.enter_context(ZipFile(part.path))
            members = {name.removesuffix(".npy"): name for name in archive.namelist()}
            arrays = {}
            for name in wanted or members:
                where = f"{name!r} in {part.name}"
                with _whole(where, Npy.called):
                    stream = stack.enter_context(archive.open(members[name]))
                size = archive.getinfo(members[name]).file_size
                arrays[name] = _Array.begun(stream, where, Npy.called, size)
            if len({array.shape[0] for array in arrays.values()}) > 1:
                rows = ", ".join(f"{name!r} has {one.shape[0]}" for name, one in arrays.items())
                raise ValueError(f"{part.name} must be {self.called}; {rows}.")
            yield arrays


@dataclass
class _Array:
    """An array whose header has been read, and whose rows have not."""

    stream: IO[bytes]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    name: str
    whole: NDArray[Any] | None = None
    n_read: int = 0

    @classmethod
    def begun(cls, stream: IO[bytes], name: str, called: str, n_bytes: int) -> _Array:
        """Read the header, and check that rows of numbers or text follow."""
        with _whole(name, called):
            version = npy.read_magic(stream)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, by_columns, dtype = read(stream)
        if dtype.kind not in "fiubUS":
            kind = "Python objects" if dtype.hasobject else str(dtype)
            advice = ". Save them so: numpy.save(file, values.astype(float)), labels as str"
            raise ValueError(
                f"{name} must hold numbers or text; got {kind}{advice * dtype.hasobject}."
            )
        if len(shape) not in (1, 2) or 0 in shape:
            raise ValueError(f"{name} must have rows, and perhaps columns; got shape {shape}.")
        if prod(shape) * dtype.itemsize > n_bytes:
            raise ValueError(f"{name} must hold {prod(shape):,} values; the file is cut short.")
        array = cls(stream, shape, dtype, name)
        if by_columns and len(shape) == 2:
            array.whole = array.take(shape[0]).reshape(shape[::-1]).T
        return array

    @property
    def width(self) -> int:
        """Values of one row."""
        return prod(self.shape[1:])

    def read(self, n_rows: int) -> NDArray[Any]:
        """The next rows."""
        self.n_read += n_rows
        if self.whole is not None:
            return self.whole[self.n_read - n_rows : self.n_read]
        return self.take(n_rows).reshape(n_rows, *self.shape[1:])

    def take(self, n_rows: int) -> NDArray[Any]:
        """The values of the next rows, as they lie in the file."""
        size = n_rows * self.width * self.dtype.itemsize
        with _whole(self.name, "whole"):
            data = self.stream.read(size)
        if len(data) < size:
            raise ValueError(f"{self.name} must hold {prod(self.shape):,} values; it is cut short.")
        return np.frombuffer(data, self.dtype)


@contextmanager
def _whole(name: str, called: str) -> Iterator[None]:
    """Give one kind of error for a damaged file: headers and archives fail in many ways."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(f"{name} must be {called}; {first_line(error)}") from error


def column_of(values: NDArray[Any]) -> Array:
    """Numbers or text as a column; rows of two dimensions become lists of one length."""
    kind = values.dtype.kind
    if kind == "S":
        values = np.char.decode(values, "utf-8")
    elif kind != "U":
        # Half precision has no arithmetic in pyarrow; long doubles and foreign byte order none.
        native = values.dtype.newbyteorder("=")
        usual: dict[Any, Any] = {np.dtype("e"): np.float32, np.dtype("g"): np.float64}
        values = values.astype(usual.get(native, native), copy=False)
    if values.ndim == 1:
        return pa.array(values)
    return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1])
