"""Rows written batch by batch: to a file that appears when the last is written, or kept for it."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from datetime import date, time
from pathlib import Path
from typing import Any

from unseen._files import StrPath, write_then_rename
from unseen._optional import pa, pa_csv, pa_feather, pa_ipc, pa_parquet
from unseen.tables._arrow import Batch, Table, as_table, decoded, first_line
from unseen.tables.formats import (
    FORMATS,
    Delimited,
    Feather,
    JsonLines,
    Parquet,
    check_name,
    format_of_name,
)


class RowWriter:
    """Write batches of rows to a file that appears when the last is written.

    The suffix says the format: csv, tsv, parquet, feather or json lines; text also with .gz, .zst
    or .bz2. Lists in csv are JSON. The first batch sets the columns and their types.

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
        kind, self._compression = format_of_name(self.path, str(path))
        format = FORMATS[kind]
        if not isinstance(format, Delimited | JsonLines | Parquet | Feather):
            raise ValueError(
                f"{path} must be csv, tsv, parquet, feather or json lines; .{kind} is read only."
            )
        self._format = format
        self._stack = ExitStack()
        self._schema: Any = None

    @property
    def keeps_types(self) -> bool:
        """Whether the format tells numbers from text."""
        return not isinstance(self._format, Delimited)

    def __enter__(self) -> RowWriter:
        self._draft = self._stack.enter_context(write_then_rename(self.path))
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: Any) -> None:
        if kind is not None:
            self._stack.__exit__(kind, *error)
            return
        with self._stack:
            if self._schema is None:
                raise ValueError(f"{self.path} must have rows; none were written.")

    def write(self, rows: Table | Batch) -> None:
        """Add rows with the columns of the first; numbers are cast to the types of the first."""
        table = as_table(rows)
        columns = [decoded(column) for column in table.columns]
        for number, column in enumerate(columns):
            if isinstance(self._format, Delimited) and pa.types.is_nested(column.type):
                cells = [None if cell is None else _json(cell) for cell in column.to_pylist()]
                columns[number] = pa.array(cells, pa.string())
        table = pa.table(columns, names=table.column_names)
        try:
            if self._schema is None:
                self._schema = table.schema
                self._add = self._opened()
            self._add(table.select(self._schema.names).cast(self._schema))
        except (pa.ArrowException, KeyError) as error:
            place = f"after row {self.n_rows}"
            raise ValueError(
                f"{self.path} must have rows of one form; {place}: {first_line(error)}"
            ) from error
        self.n_rows += table.num_rows

    def _opened(self) -> Callable[[Table], None]:
        """What writes tables to the draft; it is closed before the draft gets its name."""
        if isinstance(self._format, Parquet):
            sink = pa_parquet.ParquetWriter(self._draft, self._schema, compression="zstd")
        elif isinstance(self._format, Feather):
            options = pa_ipc.IpcWriteOptions(compression="zstd")
            sink = pa.ipc.new_file(str(self._draft), self._schema, options=options)
        else:
            stream = pa.output_stream(str(self._draft), compression=self._compression)
            self._stack.enter_context(stream)
            if isinstance(self._format, JsonLines):
                return lambda table: stream.write(
                    "".join(f"{_json(row)}\n" for row in table.to_pylist()).encode()
                )
            options = pa_csv.WriteOptions(delimiter=self._format.separator)
            sink = pa_csv.CSVWriter(stream, self._schema, write_options=options)
        self._stack.callback(sink.close)
        return sink.write


def _json(value: Any) -> str:
    return json.dumps(_json_value(value), ensure_ascii=False, allow_nan=False)


def _json_value(value: Any) -> Any:
    """A value that JSON has: NaN and infinity, which it lacks, become null, at any depth."""
    if isinstance(value, dict):
        return {name: _json_value(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | int | float):
        return value
    return value.isoformat() if isinstance(value, date | time) else str(value)


class KeptBatches:
    """Tables by number, in a hidden folder beside a file that is being made of them.

    Each table is on disk, whole, before :meth:`keep` returns, so that a process may be killed at
    any time. A later run finds the tables by the name of the file and by the ``key``, which says
    what the tables were made from; tables of another key are thrown away.

    Parameters
    ----------
    target : path
        The file that the tables are for.
    key : str
        Equal for equal tables.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import pyarrow as pa
    >>> from unseen.tables import KeptBatches
    >>> with TemporaryDirectory() as folder:
    ...     KeptBatches(f"{folder}/out.csv", "new.csv, seed 0").keep(0, pa.table({"x": [1, 2]}))
    ...     again = KeptBatches(f"{folder}/out.csv", "new.csv, seed 0")
    ...     again.find(0).num_rows, again.find(1)
    (2, None)
    """

    def __init__(self, target: StrPath, key: str) -> None:
        target = Path(os.path.realpath(target))
        self.folder = target.with_name(f".{target.name}.kept")
        known = self.folder / "key.txt"
        if not (known.is_file() and known.read_bytes() == key.encode()):
            self.remove()
            self.folder.mkdir(mode=0o700)  # the file may be for its owner alone
            with write_then_rename(known) as draft:
                draft.write_text(key)

    def find(self, number: int) -> Table | None:
        """The table of this number; None where it was not kept."""
        file = self.folder / f"{number:08d}.feather"
        return pa_feather.read_table(file, memory_map=False) if file.exists() else None

    def keep(self, number: int, table: Table) -> None:
        """Put the table of this number on disk."""
        with write_then_rename(self.folder / f"{number:08d}.feather") as draft:
            pa_feather.write_feather(table, draft, compression="lz4")

    def remove(self) -> None:
        """Throw all tables away."""
        if self.folder.exists():
            shutil.rmtree(self.folder)
