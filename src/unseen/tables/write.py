"""Rows written to a table, batch by batch; the file appears when the last is written."""

from __future__ import annotations

import json
import math
from contextlib import ExitStack
from datetime import date, time
from pathlib import Path
from typing import Any, Protocol

from unseen._files import StrPath, write_then_rename
from unseen.tables._arrow import Batch, Table, arrow, as_table, decoded, first_line
from unseen.tables.formats import (
    FORMATS,
    Delimited,
    Feather,
    JsonLines,
    Parquet,
    check_name,
    format_of_name,
)

__all__ = ["RowWriter"]

_WRITTEN = (Delimited, JsonLines, Parquet, Feather)


class RowWriter:
    """Write batches of rows to a file that appears when the last is written.

    The suffix says the format: csv, tsv, parquet, feather or json lines; text also with .gz, .zst
    or .bz2. The first batch sets the columns and their types.

    Parameters
    ----------
    path : path
        The file to make or replace.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pyarrow as pa
    >>> from unseen.tables import RowWriter
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "labelled.csv")
    ...     with RowWriter(file) as writer:
    ...         writer.write(pa.table({"label": ["a"], "score": [0.5]}))
    ...         writer.write(pa.table({"label": ["b"], "score": [0.25]}))
    ...     print(file.read_text())
    "label","score"
    "a",0.5
    "b",0.25
    <BLANKLINE>
    """

    def __init__(self, path: StrPath) -> None:
        self.path = Path(path)
        check_name(str(path))
        self.n_rows = 0
        self._kind, self._compression = format_of_name(self.path, str(path))
        if not isinstance(FORMATS[self._kind], _WRITTEN):
            raise ValueError(
                f"{path} must be csv, tsv, parquet, feather or json lines; .{self._kind} is read "
                "only."
            )
        self._stack = ExitStack()
        self._schema: Any = None

    @property
    def keeps_types(self) -> bool:
        """Whether the format tells numbers from text."""
        return not isinstance(FORMATS[self._kind], Delimited)

    def __enter__(self) -> RowWriter:
        arrow()
        self._draft = self._stack.enter_context(write_then_rename(self.path))
        # Within the stack, so that the draft goes when there is nothing in it.
        self._stack.push(self._refuse_nothing)
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def write(self, rows: Table | Batch) -> None:
        """Add rows with the columns of the first; numbers are cast to the types of the first."""
        pa = arrow()
        table = as_table(rows)
        table = pa.table([decoded(column) for column in table.columns], names=table.column_names)
        try:
            if self._schema is None:
                self._schema = table.schema
                self._sink = _open_sink(
                    self._stack, self._draft, self._kind, self._compression, self._schema
                )
            self._sink.write(table.select(self._schema.names).cast(self._schema))
        except (pa.ArrowException, KeyError) as error:
            place = f"after row {self.n_rows}"
            raise ValueError(
                f"{self.path} must have rows of one form; {place}: {first_line(error)}"
            ) from error
        self.n_rows += table.num_rows

    def _refuse_nothing(self, kind: type[BaseException] | None, *_: Any) -> None:
        if kind is None and self._schema is None:
            raise ValueError(f"{self.path} must have rows; none were written.")


class _Sink(Protocol):
    def write(self, table: Table) -> None: ...

    def close(self) -> None: ...


class _JsonSink:
    """One object a line; NaN and infinity, which JSON lacks, become null, at any depth."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, table: Table) -> None:
        lines = (
            json.dumps(_json_value(row), ensure_ascii=False, allow_nan=False)
            for row in table.to_pylist()
        )
        self._stream.write("".join(f"{line}\n" for line in lines).encode())

    def close(self) -> None: ...


def _open_sink(
    stack: ExitStack, draft: Path, kind: str, compression: str | None, schema: Any
) -> _Sink:
    """The writer of a format; it is closed before the draft gets its name."""
    pa, format = arrow(), FORMATS[kind]
    sink: _Sink
    if isinstance(format, Parquet):
        sink = arrow("parquet").ParquetWriter(draft, schema, compression="zstd")
    elif isinstance(format, Feather):
        options = arrow("ipc").IpcWriteOptions(compression="zstd")
        sink = pa.ipc.new_file(str(draft), schema, options=options)
    else:
        stream = stack.enter_context(pa.output_stream(str(draft), compression=compression))
        if isinstance(format, Delimited):
            options = arrow("csv").WriteOptions(delimiter=format.separator)
            sink = arrow("csv").CSVWriter(stream, schema, write_options=options)
        else:
            sink = _JsonSink(stream)
    stack.callback(sink.close)
    return sink


def _json_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _json_value(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | int | float):
        return value
    return value.isoformat() if isinstance(value, date | time) else str(value)
