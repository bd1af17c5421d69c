"""Batches that may differ in type, made one table.

Files of one pattern, and blocks of JSON, are read apart: a column may be whole numbers here,
decimals there, and nothing but missing elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unseen.tables._arrow import Batch, Table, arrow

__all__ = ["is_number", "is_text", "join", "plain"]


def join(batches: Sequence[Batch]) -> Table:
    """One table of all rows, each column of the narrowest type that holds them all.

    Numbers of several kinds become decimals; text beside anything else makes text.

    Examples
    --------
    >>> import pyarrow as pa
    >>> ones = pa.RecordBatch.from_pydict({"a": [1]})
    >>> join([ones, pa.RecordBatch.from_pydict({"a": [0.5]})])["a"].to_pylist()
    [1.0, 0.5]
    """
    pa = arrow()
    schemas = {batch.schema for batch in batches}
    if len(schemas) == 1:
        return pa.Table.from_batches(batches)
    columns = {
        name: _joined(name, [batch.column(name) for batch in batches])
        for name in batches[0].schema.names
    }
    return pa.table(columns)


def plain(column: Any) -> Any:
    """The values of a dictionary-encoded column; any other column as it is."""
    pa = arrow()
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def is_number(kind: Any) -> bool:
    """Whether a type is that of numbers, whole or decimal."""
    types = arrow().types
    return types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)


def is_text(kind: Any) -> bool:
    """Whether a type is that of text, however long."""
    types = arrow().types
    return types.is_string(kind) or types.is_large_string(kind)


def _joined(name: str, chunks: list[Any]) -> Any:
    pa = arrow()
    chunks = [plain(chunk) for chunk in chunks]
    kinds = {chunk.type for chunk in chunks if not pa.types.is_null(chunk.type)}
    try:
        kind = _common(kinds)
        return pa.chunked_array([chunk.cast(kind, safe=False) for chunk in chunks], type=kind)
    except pa.ArrowException:
        kinds_named = " and ".join(sorted(str(kind) for kind in kinds))
        raise ValueError(
            f"column {name!r} must be of one type throughout; got {kinds_named}."
        ) from None


def _common(kinds: set[Any]) -> Any:
    pa = arrow()
    types = pa.types
    if not kinds:
        return pa.null()
    if len(kinds) == 1:
        return next(iter(kinds))
    if all(types.is_integer(kind) for kind in kinds):
        return pa.int64()
    if all(is_number(kind) for kind in kinds):
        return pa.float64()
    if all(types.is_timestamp(kind) for kind in kinds):
        return pa.timestamp("us", tz=next(iter(kinds)).tz)
    return pa.string()
