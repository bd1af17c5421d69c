"""pyarrow, when it is there; the sentence a user gets when it is not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeAlias

__all__ = [
    "Array",
    "Batch",
    "Table",
    "arrow",
    "as_table",
    "readable",
    "told_by_arrow",
    "without_views",
]

# pyarrow ships no types.
Array: TypeAlias = Any
Batch: TypeAlias = Any
Table: TypeAlias = Any


def arrow(module: str = "") -> Any:
    """``pyarrow``, or one of its modules such as ``csv``."""
    try:
        return import_module(f"pyarrow.{module}" if module else "pyarrow")
    except ImportError as error:
        raise ImportError(
            'Tables are read and written with pyarrow. Install it: pip install "unseen[io]"'
        ) from error


def as_table(data: Any) -> Table:
    """A pyarrow table, from a pyarrow, pandas or polars one."""
    pa = arrow()
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
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise ValueError(
            f"each column of a table must hold values of one type; {told_by_arrow(error)}"
        ) from error
    kind = type(data).__name__
    raise TypeError(
        f"table must be a pyarrow, pandas or polars table with named columns; got {kind}."
    )


def without_views(rows: Any) -> Any:
    """Text and bytes in their usual form; polars hands out another, which not all can read."""
    pa = arrow()
    usual = {"string_view": pa.string(), "binary_view": pa.binary()}
    kinds = [usual.get(str(kind)) for kind in rows.schema.types]
    if not any(kinds):
        return rows
    columns = [
        column.cast(kind) if kind else column
        for column, kind in zip(rows.columns, kinds, strict=True)
    ]
    return type(rows).from_arrays(columns, names=rows.schema.names)


def told_by_arrow(error: Exception) -> str:
    """The first line of what pyarrow says, short enough for one line of ours."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else type(error).__name__
    return text[:200].rstrip(".") + "."


@contextmanager
def readable(name: str, rule: str) -> Iterator[None]:
    """Turn what pyarrow raises while reading into one sentence that names the file.

    Parameters
    ----------
    name : str
        What the user calls the file.
    rule : str
        What it must be, such as ``a Parquet file``.
    """
    pa = arrow()
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(f"{name} does not exist.") from None
    except PermissionError:
        raise PermissionError(f"{name} may not be read: permission denied.") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} must be {rule}; it is no UTF-8 text.") from error
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{name} must be {rule}; {told_by_arrow(error)}") from error
