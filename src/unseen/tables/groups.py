"""The key of each row: its class, or the window of time that it falls in."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unseen._optional import pa, pc
from unseen.tables._arrow import Array, decoded, is_text
from unseen.tables.source import check_names
from unseen.tables.values import as_text

Key: TypeAlias = str | int | float | bool

# How a window is named; text order is time order.
UNITS = {
    "hour": "%Y-%m-%d %H:00",
    "day": "%Y-%m-%d",
    "week": "%G-W%V",
    "month": "%Y-%m",
    "quarter": "%Y-Q{quarter}",
    "year": "%Y",
}


@dataclass(frozen=True)
class GroupBy:
    """Rows are grouped by a column, or by the hour, day, week, month, quarter or year of its dates.

    Parameters
    ----------
    column : str
        Text, whole numbers or dates; with a unit: dates, times, or ISO text such as
        ``2024-01-31T23:59:59``. Text is cut as written: an offset at its end is not applied.
        Space around text does not count.
    unit : {"hour", "day", "week", "month", "quarter", "year"} or None, default=None
        None takes the values as they are. A week is that of ISO 8601, from Monday.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from unseen.tables import GroupBy
    >>> dates = pa.array(["2024-01-31", "2024-02-01 09:30", None])
    >>> GroupBy("when", "month").keys(dates).to_pylist()
    ['2024-01', '2024-02', None]
    >>> GroupBy.parse("when:week")
    GroupBy(column='when', unit='week')
    """

    column: str
    unit: str | None = None

    def __post_init__(self) -> None:
        if self.unit is not None and self.unit not in UNITS:
            raise ValueError(f"unit must be one of {', '.join(UNITS)}; got {self.unit!r}.")

    @classmethod
    def parse(cls, text: str) -> GroupBy:
        """``column``, or ``column:unit`` where the last word is a unit."""
        column, colon, unit = text.rpartition(":")
        return cls(column, unit) if colon and unit in UNITS else cls(text)

    def check(self, columns: Sequence[str], name: str) -> None:
        """Raise ``ValueError`` unless the table ``name`` has the column; a wrong unit is named."""
        column, _, unit = self.column.rpartition(":")
        if self.column not in columns and column in columns:
            raise ValueError(
                f"by must cut {column!r} by {', '.join(UNITS)}, as in {column}:week; got {unit!r}."
            )
        check_names("by", [self.column], columns, name)

    def keys(self, values: Array) -> Array:
        """The key of each value; null where it is missing."""
        values = decoded(values)
        if self.unit is None or pa.types.is_null(values.type):
            return values
        try:
            moments = pc.floor_temporal(self._moments(values), unit=self.unit)
            encoded, form = moments.dictionary_encode(), UNITS[self.unit]
            names = [
                moment.strftime(form).format(quarter=(moment.month + 2) // 3)
                for moment in encoded.dictionary.to_pylist()
            ]
        except (pa.ArrowInvalid, OverflowError) as error:
            raise ValueError(self._rule("dates beyond all calendars")) from error
        return pa.array(names, pa.string()).take(encoded.indices)

    def _moments(self, values: Array) -> Array:
        types = pa.types
        if types.is_timestamp(values.type):
            # As clocks there show it: when they are put back, an hour comes twice.
            local = values if values.type.tz is None else pc.local_timestamp(values)
            target = pa.timestamp("us")
            return pc.cast(local, options=pc.CastOptions(target, allow_time_truncate=True))
        if types.is_date(values.type):
            return values.cast(pa.timestamp("us"))
        if is_text(values.type):
            return self._from_text(as_text(values))
        raise ValueError(
            f"column {self.column!r} must hold dates to be cut by the {self.unit}; "
            f"it holds {values.type}."
        )

    def _from_text(self, given: Array) -> Array:
        """Moments in text, of which only the stretch that says the window is looked at."""
        n_letters, form = 10, r"^\d{4}-\d{2}-\d{2}$"
        if self.unit == "hour":
            n_letters, form = 13, r"^\d{4}-\d{2}-\d{2}[T ]\d{2}$"
        begins = pc.utf8_slice_codeunits(given, 0, n_letters)
        wrong = given.filter(pc.invert(pc.match_substring_regex(begins, form)))
        if len(wrong):
            raise ValueError(self._rule(repr(wrong[0].as_py())))
        for text in filter(None, begins.unique().to_pylist()):
            try:
                datetime.fromisoformat(text)
            except ValueError as error:
                raise ValueError(self._rule(repr(text))) from error
        if self.unit != "hour":
            return begins.cast(pa.date32()).cast(pa.timestamp("us"))
        hours = pc.replace_substring(begins, "T", " ")
        return pc.binary_join_element_wise(hours, ":00", "").cast(pa.timestamp("us"))

    def _rule(self, got: str) -> str:
        example = "2024-01-31 09:30" if self.unit == "hour" else "2024-01-31"
        return (
            f"column {self.column!r} must hold dates such as {example} to be cut by the "
            f"{self.unit}; got {got}. Write other dates as year-month-day before, for example with "
            "pandas.to_datetime(..., dayfirst=True)."
        )


class KeyCodes:
    """Numbers 0, 1, 2, ... for keys, in the order in which they first occur.

    More than ``most`` keys are an error that names the ``argument`` and gives the ``advice``.
    """

    def __init__(self, argument: str, most: int, advice: str) -> None:
        self.argument = argument
        self.most = most
        self.advice = advice
        self.known: dict[Key, int] = {}
        self._n_rows = 0

    def encode(self, values: Array) -> NDArray[np.int64]:
        """The number of each value's key; -1 where it is missing."""
        types = pa.types
        wrong = (types.is_nested, types.is_binary, types.is_duration, types.is_interval)
        if any(is_wrong(values.type) for is_wrong in wrong):
            raise ValueError(
                f"{self.argument} must hold text, numbers or dates; it holds {values.type}."
            )
        encoded = decoded(values).dictionary_encode()
        self._n_rows += len(values)
        distinct = encoded.dictionary
        distinct = as_text(distinct) if is_text(distinct.type) else distinct
        keys = [key_of(value) for value in distinct.to_pylist()]
        numbers = [
            -1 if key is None else self.known.setdefault(key, len(self.known)) for key in keys
        ]
        if len(self.known) > self.most:
            raise ValueError(
                f"{self.argument} must have at most {self.most} distinct values; found "
                f"{len(self.known)} in the first {self._n_rows} rows. {self.advice}"
            )
        # One more place, so that the index -1 of a null finds "missing".
        table = np.array([*numbers, -1], dtype=np.int64)
        return table[encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)]


def key_of(value: Any) -> Key | None:
    """The key that the value of a cell stands for; None where it is missing."""
    if value is None or value != value:
        return None
    if isinstance(value, Decimal):
        value = float(value)
    # Whole numbers with gaps are often stored as decimals.
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return value.strip() if isinstance(value, str) else value


def natural_order(keys: Iterable[Key]) -> list[Key]:
    """Sort keys as a reader would: numbers by size, also within text."""
    keys = list(keys)
    try:
        are_numbers = not any(math.isnan(float(key)) for key in keys)
    except (ValueError, OverflowError):
        are_numbers = False
    if are_numbers:
        return sorted(keys, key=lambda key: (float(key), str(key)))
    return sorted(keys, key=lambda key: (_pieces(str(key)), str(key)))


def _pieces(text: str) -> list[tuple[bool, int, str]]:
    parts = re.split(r"(\d+)", text)
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]
