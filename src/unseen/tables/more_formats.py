"""The formats beside text and columns: NumPy's arrays, read in blocks; ARFF and Excel, whole."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import prod
from typing import IO, Any
from zipfile import ZipFile

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from unseen._optional import pa
from unseen.tables._arrow import Array, Batch, Format, Part, Table, batch_rows, first_line


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
            rows = batch_rows(sum(prod(array.shape[1:]) for array in arrays.values()))
            n_rows = next(iter(arrays.values())).shape[0]
            for start in range(0, n_rows, rows):
                size = min(rows, n_rows - start)
                blocks = [_column_of(array.read(size)) for array in arrays.values()]
                yield pa.record_batch(blocks, names=list(arrays))

    @contextmanager
    def _arrays(self, part: Part, wanted: Sequence[str]) -> Iterator[dict[str, _Array]]:
        """The wanted arrays, or all, with their headers read; each is a column."""
        with part.path.open("rb") as stream:
            yield {"X": _Array(stream, part.name, part.path.stat().st_size)}


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
                arrays[name] = _Array(stream, where, archive.getinfo(members[name]).file_size)
            if len({array.shape[0] for array in arrays.values()}) > 1:
                rows = ", ".join(f"{name!r} has {one.shape[0]}" for name, one in arrays.items())
                raise ValueError(f"{part.name} must be {self.called}; {rows}.")
            yield arrays


class _Array:
    """An array of numbers or text whose header has been read, and whose rows have not."""

    def __init__(self, stream: IO[bytes], name: str, n_bytes: int) -> None:
        self.stream, self.name = stream, name
        with _whole(name, Npy.called):
            version = npy.read_magic(stream)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            self.shape, by_columns, self.dtype = read(stream)
        shape, dtype = self.shape, self.dtype
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
        # Rows that lie column by column can only be read together.
        self.whole: NDArray[Any] | None = None
        if by_columns and len(shape) == 2:
            self.whole = self._values(prod(shape)).reshape(shape[::-1]).T

    def read(self, n_rows: int) -> NDArray[Any]:
        """The next rows."""
        if self.whole is not None:
            rows, self.whole = self.whole[:n_rows], self.whole[n_rows:]
            return rows
        return self._values(n_rows * prod(self.shape[1:])).reshape(n_rows, *self.shape[1:])

    def _values(self, n_values: int) -> NDArray[Any]:
        """The next values, as they lie in the file."""
        size = n_values * self.dtype.itemsize
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


def _column_of(values: NDArray[Any]) -> Array:
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


@dataclass(frozen=True)
class WholeTable(Format):
    """A format whose files are read as a whole, by a function that is told what it is called."""

    called: str
    read: Callable[[Part, str], Table]

    def names(self, part: Part) -> list[str]:
        """The columns of the table."""
        return list(self.read(part, self.called).column_names)

    def batches(self, part: Part, columns: Sequence[str]) -> Iterator[Batch]:
        """The table, cut into batches."""
        table = self.read(part, self.called).select(list(columns))
        yield from table.to_batches(max_chunksize=batch_rows(len(columns)))


def read_arff(part: Part, called: str) -> Table:
    """ARFF, the format of Weka and OpenML; numbers and nominal values."""
    from scipy.io import arff

    try:
        with part.path.open(encoding="utf-8", errors="surrogateescape") as file:
            rows, _ = arff.loadarff(file)
    except (arff.ArffError, NotImplementedError, ValueError, StopIteration) as error:
        reason = " ".join(str(error).split()) or "it has no such header"
        raise ValueError(
            f"{part.name} must be {called}; {reason[:200]}. Save it as csv."
        ) from error
    columns = {name: rows[name] for name in rows.dtype.names or ()}
    for name, column in columns.items():
        if column.dtype.kind == "S":  # nominal values, of which ``?`` is missing
            words = [value.decode("utf-8", "replace") for value in column.tolist()]
            columns[name] = pa.array([None if word == "?" else word for word in words])
    return pa.table(columns)


def read_excel(part: Part, called: str) -> Table:
    """The first sheet of an Excel workbook; columns of several types become text."""
    try:
        import pandas as pd

        with warnings.catch_warnings():
            # Styles and validations that the reader does not know have no values.
            warnings.simplefilter("ignore", UserWarning)
            sheet = pd.read_excel(part.path, dtype=object, keep_default_na=False)
    except ImportError as error:
        raise ImportError(
            f"{part.name} needs pandas and openpyxl to be read, and one is not installed. "
            'Try: pip install "unseen[excel]"'
        ) from error
    except Exception as error:  # a damaged workbook fails in many ways
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise ValueError(f"{part.name} must be {called}; {reason}.") from error
    columns = {}
    for name in sheet.columns:
        cells = [None if one is None or one == "" or one != one else one for one in sheet[name]]
        try:
            columns[str(name)] = pa.array(cells, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            # 1.0 beside text is the whole number that the sheet shows.
            whole = [
                int(cell)
                if isinstance(cell, float | np.floating) and float(cell).is_integer()
                else cell
                for cell in cells
            ]
            words = [None if cell is None else str(cell) for cell in whole]
            columns[str(name)] = pa.array(words, pa.string())
    return pa.table(columns)
