"""How one column becomes numbers: an encoding is learned from labelled rows and applied to any.

Here is what all encodings share, the reasons for which a column is not used, what new rows show and
no labelled row does, and numbers: centred, and divided by a scale that all number columns share.
docs/command_line.md says what happens to columns of every kind, and why.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from unseen._optional import pa
from unseen._types import BoolArray, FloatArray
from unseen._wording import LONGEST_NAME, listed, quoted, shown
from unseen.records import Notice
from unseen.tables._arrow import Array
from unseen.tables.values import DECIMALS, LARGEST, BadCell, NotANumber, number_of, numbers

Severity: TypeAlias = Literal["note", "warning"]

# Departures in at least this share of the new rows can move the unseen share.
_MANY = 0.05
# Fewer numbers than this may be in order by chance.
_FEWEST_IN_ORDER = 10
_ID_NAME = re.compile(
    r"|(?i:(.*[\W_])?(id|idx|index|key|uuid|guid|rowid|row|rownum|row_number|unnamed: ?\d+))"
    r"|.*[a-z](Id|ID)"
)


class Unusable(Exception):  # noqa: N818  a reason, not an error
    """Why a column is not used; the reason continues a sentence that begins with its name."""


class Constant(Unusable):
    """A column is not used because it has one ``value`` in all labelled rows."""

    def __init__(self, value: float | str) -> None:
        super().__init__("has the same value in all labelled rows")
        self.value = value


class FreeText(Unusable):
    """A column is not used because nobody asked for its text."""

    def __init__(self) -> None:
        super().__init__("looks like free text: --text uses it")


@dataclass(frozen=True)
class Departure:
    """A share of the new rows that show in ``column`` what no labelled row does."""

    code: Literal["newly_missing", "new_category"]
    column: str
    share: float
    said: str  # what replaces a missing value, or an example of a category


class Encoding(ABC):
    """The encoding of one column.

    ``read`` takes the values from a table, and raises a ValueError where the column holds other
    ones than the labelled rows do; ``encode`` makes numbers of them.
    """

    name: str
    was_missing: bool  # whether a labelled row lacks a value

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """Names of the encoded columns."""

    @property
    def missing_at(self) -> int | None:
        """Place of the column for missing values among the encoded columns."""
        return None

    @property
    def units(self) -> list[tuple[float, float] | None]:
        """Offset and scale of each encoded column that holds numbers of the table, else None."""
        return [None] * len(self.names)

    @abstractmethod
    def encode(self, values: Any) -> FloatArray:
        """The encoded columns, side by side."""

    def encode_labelled(self, values: Any) -> FloatArray:
        """Encode labelled rows, each as if learned from the others: one row hardly matters."""
        return self.encode(values)

    def departures(self, values: Any) -> tuple[Departure, ...]:
        """What new rows show in this column and no labelled row does."""
        return ()


@dataclass(frozen=True)
class NumberEncoding(Encoding):
    """A number column, and perhaps a 0/1 column that says where it is missing."""

    name: str
    median: float  # which replaces missing values
    mean: float  # which is subtracted
    scale: float  # which divides; with 0, only the 0/1 column is made
    was_missing: bool
    decimal: str = "."  # the mark before the decimals of numbers that came as text

    @property
    def scales(self) -> list[float]:
        """The scale, where there is one."""
        return [self.scale] if self.scale else []

    @property
    def names(self) -> list[str]:
        """Names of the encoded columns."""
        missing = [f"{self.name}=missing"] if self.was_missing else []
        return [self.name, *missing] if self.scale else missing

    @property
    def missing_at(self) -> int | None:
        """Place of the 0/1 column for missing values among the encoded columns."""
        return len(self.names) - 1 if self.was_missing else None

    @property
    def units(self) -> list[tuple[float, float] | None]:
        """Offset and scale of the numbers; None for the 0/1 column."""
        return [(self.mean, self.scale) if name == self.name else None for name in self.names]

    def read(self, column: Array) -> FloatArray:
        """The numbers of a column, NaN where missing."""
        try:
            return numbers(column, self.decimal)
        except NotANumber as error:
            has_other_mark = number_of(error.value, DECIMALS[self.decimal]) is not None
            mark = f" with {self.decimal!r} before the decimals" * has_other_mark
            text = (
                f"column {self.name!r} must hold numbers{mark} in NEW as it does in TRAIN; "
                f"got {shown(repr(error.value))}"
            )
            if error.place is None:
                raise ValueError(f"{text}.") from None
            may_be_missing = not has_other_mark and len(error.value) <= LONGEST_NAME
            advice = f" If it means missing: --missing {error.value!r}." * may_be_missing
            raise BadCell(text, error.place, advice=advice) from None

    def encode(self, values: FloatArray) -> FloatArray:
        """The encoded columns, side by side."""
        missing = np.isnan(values)
        blocks = []
        if self.scale:
            blocks.append((np.where(missing, self.median, values) - self.mean) / self.scale)
        if self.was_missing:
            blocks.append(missing.astype(np.float64))
        return np.column_stack(blocks)

    def departures(self, values: FloatArray) -> tuple[Departure, ...]:
        """Gaps, where no labelled row has any."""
        return new_gaps(self.name, np.isnan(values), self.was_missing, "the median")

    @staticmethod
    def statement(n_columns: int) -> list[str]:
        """The treatment of number columns in plain sentences."""
        one = (
            "1 numeric column: centred, and divided by its standard deviation in the labelled rows."
        )
        more = (
            f"{n_columns} numeric columns: centred, and all divided by one number, the root mean "
            "square of their standard deviations in the labelled rows, so that their units stay as "
            "given."
        )
        return [
            one if n_columns == 1 else more,
            f"Missing, infinite and huge (over {LARGEST:g}) numbers are replaced by the median.",
        ]


def learn_numbers(name: str, values: FloatArray, keep: bool, decimal: str) -> NumberEncoding:
    """Learn how to encode the numbers of labelled rows, or raise ``Unusable``."""
    given = values[~np.isnan(values)]
    if not len(given):
        raise Unusable("has no value in the labelled rows")
    was_missing = len(given) < len(values)
    median = float(np.median(given))
    filled = np.where(np.isnan(values), median, values)
    deviation = float(filled.std())
    # Rounding makes a deviation out of nothing; one that is too small cannot be divided by.
    is_constant = bool(given.min() == given.max()) or deviation * LARGEST < 1
    if is_constant and not was_missing and not keep:
        raise Constant(median)
    if not keep and _numbers_like_ids(name, given):
        raise Unusable("looks like an id: whole numbers, no two the same")
    mean, scale = float(filled.mean()), deviation
    if is_constant:
        mean, scale = median, 1.0 if keep else 0.0
    return NumberEncoding(name, median, mean, scale, was_missing, decimal)


def _numbers_like_ids(name: str, given: FloatArray) -> bool:
    is_whole = np.all(given == np.floor(given))
    if not is_whole or len(np.unique(given)) < len(given) or len(given) == 1:
        return False
    steps = np.diff(given)
    is_run = given.max() - given.min() == len(given) - 1
    in_order = bool(np.all(steps > 0) or np.all(steps < 0) or is_run)
    return is_named_like_id(name) or (in_order and len(given) >= _FEWEST_IN_ORDER)


def is_named_like_id(name: str) -> bool:
    """Whether a column has a name that ids have, such as user_id, orderId or none at all."""
    return _ID_NAME.fullmatch(name) is not None


def with_common_scale(encodings: Sequence[Any]) -> list[Any]:
    """The encodings, where all number columns have the root mean square of their scales."""
    scales = [scale for one in encodings for scale in getattr(one, "scales", ())]
    if not scales:
        return list(encodings)
    widest = max(scales)  # so that no square is too large
    common = float(widest * np.sqrt(np.mean(np.square(np.array(scales) / widest))))
    return [
        replace(one, scale=common) if len(getattr(one, "scales", ())) > 0 else one
        for one in encodings
    ]


def check_kind(kind: Any) -> None:
    """Raise ``Unusable`` where values of this type of pyarrow are neither numbers nor text."""
    types = pa.types
    if types.is_temporal(kind):
        raise Unusable("holds dates or times")
    is_bytes = types.is_binary(kind) or types.is_large_binary(kind)
    is_other = isinstance(kind, pa.BaseExtensionType)  # such as intervals of pandas
    if types.is_nested(kind) or is_bytes or types.is_fixed_size_binary(kind) or is_other:
        raise Unusable(f"holds neither numbers nor text, but {shown(kind)}")


def new_gaps(
    column: str, missing: BoolArray, was_missing: bool, filler: str
) -> tuple[Departure, ...]:
    """Missing values, where labelled rows have none or no new row has a value."""
    if not len(missing):
        raise ValueError("NEW must have rows; got none.")
    if not missing.any() or (was_missing and not missing.all()):
        return ()
    return (Departure("newly_missing", column, float(missing.mean()), filler),)


def departure_notices(found: Iterable[Departure]) -> list[Notice]:
    """One notice for all columns of a kind; a column without any value is an error."""
    kinds: dict[tuple[str, bool], list[Departure]] = {}
    for one in found:
        kinds.setdefault((one.code, one.share >= _MANY), []).append(one)
    gaps = kinds.get(("newly_missing", True), [])
    empty = [one.column for one in gaps if one.share == 1]
    if empty:
        raise ValueError(
            f"columns of NEW must have values as in TRAIN; none is in {quoted(empty)}. --drop "
            "leaves a column out."
        )
    return [
        (_gaps if code == "newly_missing" else _categories)(some, "warning" if severe else "note")
        for (code, severe), some in kinds.items()
    ]


def _gaps(found: list[Departure], severity: Severity) -> Notice:
    fillers = " or ".join(dict.fromkeys(one.said for one in found))
    if len(found) == 1:
        (one,) = found
        text = (
            f"Column {one.column!r} is missing in {one.share:.1%} of the new rows and in none of "
            f"the labelled ones; they get {fillers}."
        )
        return Notice("newly_missing", text, severity, about=one.column)
    columns = listed([f"{one.column!r} ({one.share:.1%})" for one in found])
    text = f"Missing in new rows and in none of the labelled ones: {columns}; they get {fillers}."
    return Notice("newly_missing", text, severity)


def _categories(found: list[Departure], severity: Severity) -> Notice:
    if len(found) == 1:
        (one,) = found
        text = (
            f"Column {one.column!r} holds a category that the labelled rows never show in "
            f"{one.share:.1%} of the new rows, such as {one.said}."
        )
        return Notice("new_category", text, severity, about=one.column)
    columns = listed([f"{one.column!r} ({one.share:.1%}, such as {one.said})" for one in found])
    text = f"Categories in new rows that the labelled rows never show: {columns}."
    return Notice("new_category", text, severity)
