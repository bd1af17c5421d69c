"""Files that appear whole or not at all.

What is written goes to a draft beside the target, which takes the target's name only when it is
complete and on disk. A process that is killed may leave the draft, whose name begins with a dot,
but never half a target.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import date, time
from pathlib import Path
from typing import Any, Protocol, TypeAlias
from uuid import uuid4

from unseen.tables._arrow import Batch, Table, arrow, as_table, told_by_arrow
from unseen.tables.formats import FORMATS, Delimited, Feather, Format, Parquet, format_of_name
from unseen.tables.join import plain

__all__ = ["RowWriter", "check_writable", "write_then_rename"]

StrPath: TypeAlias = str | os.PathLike[str]


def check_writable(path: StrPath) -> None:
    """Raise at once what writing a file would raise at the end.

    Parameters
    ----------
    path : path
        Where a file is to go; what is there stays as it is.

    Raises
    ------
    OSError
        When its folder does not exist or may not be written to, or when it is no plain file.

    Examples
    --------
    >>> from unseen.tables import check_writable
    >>> check_writable("no such folder/out.csv")
    Traceback (most recent call last):
        ...
    FileNotFoundError: no such folder/out.csv cannot be written: its folder does not exist.
    """
    target = Path(os.path.realpath(path))
    try:
        _check_target(target)
        draft = _draft_beside(target)
        draft.touch(exist_ok=False)
        draft.unlink()
    except OSError as error:
        # Without its number an error is its sentence and nothing else.
        raise type(error)(f"{path} cannot be written: {_reason(error)}.") from None


@contextmanager
def write_then_rename(path: StrPath) -> Iterator[Path]:
    """Yield a draft to write to; it becomes the file when all went well, else goes.

    Parameters
    ----------
    path : path
        The file to make or replace.

    Yields
    ------
    Path
        The draft, in the same folder and with the same suffix.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from unseen.tables import write_then_rename
    >>> with TemporaryDirectory() as folder:
    ...     target = Path(folder, "note.txt")
    ...     with write_then_rename(target) as draft:
    ...         _ = draft.write_text("all of it")
    ...     print(target.read_text(), len(list(Path(folder).iterdir())))
    all of it 1
    """
    check_writable(path)
    target = Path(os.path.realpath(path))
    draft = _draft_beside(target)
    try:
        yield draft
        _to_disk(draft)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


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
        self.n_rows = 0
        self._kind, self._compression = format_of_name(self.path, str(path))
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
        """Add rows; they must have the columns of the first.

        Parameters
        ----------
        rows : pyarrow.Table or pyarrow.RecordBatch
            Further rows; numbers are cast to the types of the first rows.
        """
        pa = arrow()
        table = _plain_table(as_table(rows))
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
                f"{self.path} must have rows of one form; {place}: {told_by_arrow(error)}"
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
        sink = _text_sink(format, stream, schema)
    stack.callback(sink.close)
    return sink


def _text_sink(format: Format, stream: Any, schema: Any) -> _Sink:
    if not isinstance(format, Delimited):
        return _JsonSink(stream)
    csv = arrow("csv")
    sink: _Sink = csv.CSVWriter(
        stream, schema, write_options=csv.WriteOptions(delimiter=format.separator)
    )
    return sink


def _plain_table(table: Table) -> Table:
    columns = [plain(column) for column in table.columns]
    return arrow().table(columns, names=table.column_names)


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


def _check_target(target: Path) -> None:
    if not target.parent.exists():
        raise FileNotFoundError("its folder does not exist")
    if not target.parent.is_dir():
        raise NotADirectoryError("it would lie within a file")
    if target.is_dir():
        raise IsADirectoryError("it is a folder")
    # Renaming over a device such as /dev/null would replace it.
    if target.exists() and not target.is_file():
        raise OSError("it is no plain file")


def _draft_beside(target: Path) -> Path:
    # Some writers, such as matplotlib's, go by the suffix.
    return target.with_name(f".{uuid4().hex}{target.suffix}")


def _to_disk(file: Path) -> None:
    with file.open("rb") as opened:
        os.fsync(opened.fileno())


def _reason(error: OSError) -> str:
    return error.strerror.lower() if error.strerror else str(error)
