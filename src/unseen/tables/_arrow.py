"""What all readers need of pyarrow: what its errors become, and tables made one.

Files of one pattern, and blocks of JSON, are read apart. A column may hold whole numbers in one of
them, decimals in another, and nothing but missing values in a third: :func:`join` settles its type.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from errno import EAGAIN, ENOMEM
from pathlib import Path
from typing import Any, TypeAlias

from unseen._optional import pa
from unseen._wording import check_named_once
from unseen.records import Notice

# pyarrow ships no types.
Array: TypeAlias = Any
Batch: TypeAlias = Any
Table: TypeAlias = Any

# Sizes of one batch: fewer rows where there are many columns, or where the first rows are large.
_BATCH_ROWS = 1 << 16
_BATCH_VALUES = 1 << 20
_BATCH_BYTES = 8 << 20


def release_unused() -> None:
    """Hand the memory of batches that are gone back to the system; else pyarrow keeps it."""
    pa.default_memory_pool().release_unused()


def as_table(data: Any) -> Table:
    """A pyarrow table, from a pyarrow, pandas or polars one."""
    check_named_once("a table", getattr(data, "column_names", getattr(data, "columns", ())))
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    try:
        if type(data).__module__.startswith("pandas"):
            return pa.Table.from_pandas(data, preserve_index=False)
        if hasattr(data, "__arrow_c_stream__"):
            return without_views(pa.table(data))
        if hasattr(data, "to_arrow"):
            return without_views(data.to_arrow())
    except (pa.ArrowException, OverflowError) as error:
        reason = first_line(ValueError("; ".join(map(str, error.args))))
        raise ValueError(
            f"each column of a table must hold values of one type that pyarrow has; {reason}"
        ) from error
    raise TypeError(
        "table must be a pyarrow, pandas or polars table with named columns; "
        f"got {type(data).__name__}."
    )


def without_views(rows: Any) -> Any:
    """Text and bytes in their usual form; polars hands out views, which not every reader knows."""
    columns = [_without_views(column) for column in rows.columns]
    if [column.type for column in columns] == rows.schema.types:
        return rows
    return type(rows).from_arrays(columns, names=rows.schema.names)


def _without_views(column: Any) -> Any:
    if pa.types.is_dictionary(column.type):
        if isinstance(column, pa.ChunkedArray):
            return pa.chunked_array([_without_views(chunk) for chunk in column.chunks])
        return pa.DictionaryArray.from_arrays(column.indices, _without_views(column.dictionary))
    kind = {"string_view": pa.string(), "binary_view": pa.binary()}.get(str(column.type))
    return column.cast(kind) if kind else column


def first_line(error: Exception) -> str:
    """The first line of an error of pyarrow, cut to 200 letters."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else type(error).__name__
    return text[:200].rstrip(".") + "."


def batch_rows(n_values: int, row_bytes: int = 0) -> int:
    """Rows of one batch, where each row has so many values, of so many bytes."""
    limits = _BATCH_ROWS, _BATCH_VALUES // max(1, n_values), _BATCH_BYTES // max(1, row_bytes)
    return max(1, min(limits))


@contextmanager
def readable(name: str, rule: str) -> Iterator[None]:
    """Turn errors of reading into one sentence: the file ``name`` must be ``rule``."""
    try:
        yield
    except pa.ArrowMemoryError as error:
        raise MemoryError(f"{name} needs more memory than there is.") from error
    except FileNotFoundError:
        raise FileNotFoundError(f"{name} does not exist.") from None
    except PermissionError:
        raise PermissionError(f"{name} may not be read: permission denied.") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} must be {rule}; its bytes are no such text.") from error
    except LookupError as error:
        raise ValueError(f"{name} must be {rule}; {first_line(error)}") from error
    except (pa.ArrowException, OSError) as error:
        if getattr(error, "errno", None) in (EAGAIN, ENOMEM):
            raise MemoryError(f"{name} needs more memory or threads than there are.") from error
        raise ValueError(f"{name} must be {rule}; {first_line(error)}") from error


@dataclass(frozen=True)
class Part:
    """One file: where it is, how to read it, and what the user calls it.

    A piece of a file begins with its row ``first``, from 0.
    """

    path: Path
    format: Format
    compression: str | None
    name: str
    notices: tuple[Notice, ...] = ()
    first: int = 0

    def open(self) -> Any:
        """The bytes of the file, decompressed, as a stream."""
        return pa.input_stream(str(self.path), compression=self.compression)

    def names(self) -> list[str]:
        """The columns of the file; each name may occur once."""
        with readable(self.name, self.format.called):
            found = self.format.names(self)
        check_named_once(self.name, found)
        return found

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """The rows of the file, with these columns."""
        with readable(self.name, self.format.called):
            yield from self.format.batches(self, columns)

    def pieces(self) -> list[Part]:
        """Parts of the file that can be read side by side."""
        with readable(self.name, self.format.called):
            return self.format.pieces(self)


class Format(ABC):
    """How to read one kind of file."""

    called: str  # name of the format in an error

    @abstractmethod
    def names(self, part: Part) -> list[str]:
        """The columns of a file, in its order."""

    @abstractmethod
    def batches(self, part: Part, columns: Sequence[str]) -> Iterator[Batch]:
        """The rows of a file, with these columns."""

    def pieces(self, part: Part) -> list[Part]:
        """The file itself, or parts of it that can be read side by side."""
        return [part]


def join(batches: Sequence[Batch]) -> Table:
    """One table of all rows, each column of the narrowest type that holds them all.

    Numbers of several kinds become decimals; text beside anything else makes text.
    """
    if len({batch.schema for batch in batches}) == 1:
        return pa.Table.from_batches(batches)
    columns = {}
    for name in batches[0].schema.names:
        chunks = [decoded(batch.column(name)) for batch in batches]
        kinds = {chunk.type for chunk in chunks if not pa.types.is_null(chunk.type)}
        try:
            kind = _common(kinds)
            cast = [chunk.cast(kind, safe=False) for chunk in chunks]
            columns[name] = pa.chunked_array(cast, type=kind)
        except pa.ArrowException:
            named = " and ".join(sorted(map(str, kinds)))
            rule = f"column {name!r} must be of one type throughout"
            raise ValueError(f"{rule}; got {named}.") from None
    return pa.table(columns)


def _common(kinds: set[Any]) -> Any:
    types = pa.types
    if not kinds:
        return pa.null()
    if len(kinds) == 1:
        return next(iter(kinds))
    if all(types.is_integer(kind) for kind in kinds):
        return pa.int64()
    if all(is_number(kind) for kind in kinds):
        return pa.float64()
    if all(types.is_nested(kind) and hasattr(kind, "value_type") for kind in kinds):
        return pa.large_list(_common({kind.value_type for kind in kinds}))
    if all(types.is_timestamp(kind) for kind in kinds):
        return pa.timestamp("us", tz=next(iter(kinds)).tz)
    return pa.string()


def decoded(column: Any) -> Any:
    """The values of a dictionary-encoded column; any other column as it is."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def is_number(kind: Any) -> bool:
    """Whether a type holds numbers, whole or decimal."""
    types = pa.types
    return types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)


def is_text(kind: Any) -> bool:
    """Whether a type holds text."""
    types = pa.types
    return types.is_string(kind) or types.is_large_string(kind)
