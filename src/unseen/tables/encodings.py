"""How one column becomes numbers: an encoding is learned from labelled rows and applied to any.

A number column is centred and divided by a scale that all number columns share. A text column
becomes one column for each category, holding 1/sqrt(2) or 0: two rows that differ in category lie
1 apart, as far as one standard deviation of an average number column. docs/command_line.md says
what happens to columns of every kind, and why.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from unseen._types import FloatArray
from unseen._wording import shown
from unseen.records import Notice
from unseen.tables._arrow import Array, arrow
from unseen.tables.categories import CATEGORY_SCALE, CategoryEncoding, learn_categories
from unseen.tables.kinds import Constant, Unusable, check_kind, new_gaps
from unseen.tables.values import LARGEST, BadCell, NotANumber, as_text, numbers

__all__ = [
    "CATEGORY_SCALE",
    "CategoryEncoding",
    "Constant",
    "Encoding",
    "NumberEncoding",
    "Unusable",
    "is_named_like_id",
    "learn_encoding",
    "with_common_scale",
]

# Fewer numbers than this may be in order by chance.
_FEWEST_IN_ORDER = 10
_ID_NAME = re.compile(
    r"|(?i:(.*[\W_])?(id|idx|index|key|uuid|guid|rowid|row|rownum|row_number|unnamed: ?\d+))"
    r"|.*[a-z](Id|ID)"
)
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


@dataclass(frozen=True)
class NumberEncoding:
    """A number column, and perhaps a 0/1 column that says where it is missing.

    Parameters
    ----------
    name : str
        Name of the column.
    median, mean : float
        The median replaces missing values; the mean is subtracted.
    scale : float
        Divisor of the numbers; with 0, only the 0/1 column is made.
    was_missing : bool
        Whether a labelled row lacks a value.
    decimal : {".", ","}, default="."
        The mark before the decimals of numbers that came as text.

    Examples
    --------
    >>> import pyarrow as pa
    >>> size = NumberEncoding("size", median=2.0, mean=2.0, scale=0.5, was_missing=True)
    >>> size.names, size.encode(size.read(pa.chunked_array([[3.0, None]]))).tolist()
    (['size', 'size=missing'], [[2.0, 0.0], [0.0, 1.0]])
    """

    name: str
    median: float
    mean: float
    scale: float
    was_missing: bool
    decimal: str = "."

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

    def read(self, column: Array) -> FloatArray:
        """The numbers of a column, NaN where missing; a ValueError where it holds others."""
        try:
            return numbers(column, self.decimal)
        except NotANumber as error:
            text = (
                f"column {self.name!r} must hold numbers in NEW as it does in TRAIN; "
                f"got {shown(repr(error.value))}"
            )
            if error.place is None:
                raise ValueError(f"{text}.") from None
            raise BadCell(text, error.place) from None

    def encode(self, values: FloatArray) -> FloatArray:
        """The encoded columns, side by side."""
        missing = np.isnan(values)
        blocks = []
        if self.scale:
            blocks.append((np.where(missing, self.median, values) - self.mean) / self.scale)
        if self.was_missing:
            blocks.append(missing.astype(np.float64))
        return np.column_stack(blocks)

    def encode_labelled(self, values: FloatArray) -> FloatArray:
        """Encode as any row: one row hardly changes the mean and the scale."""
        return self.encode(values)

    def departures(self, values: FloatArray) -> list[Notice]:
        """Notices of values that new rows show in this column and no labelled row does."""
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


Encoding: TypeAlias = NumberEncoding | CategoryEncoding


def learn_encoding(
    name: str,
    column: Array,
    rare_below: int,
    most_categories: int,
    keep: bool = False,
    decimals: Sequence[str] = (".",),
) -> Encoding:
    """Learn how to encode a column of labelled rows, or raise ``Unusable``.

    ``rare_below`` and ``most_categories`` are those of :class:`unseen.tables.Columns`; with
    ``keep``, what looks like a constant, an id, dates or free text is encoded too. Text is read as
    numbers with the first of the ``decimals`` marks that suits all values.

    Examples
    --------
    >>> import pyarrow as pa
    >>> size = learn_encoding("size", pa.chunked_array([["1", "3", "", "2"]]), 5, 100)
    >>> size.median, size.was_missing
    (2.0, True)
    """
    check_kind(column.type)
    if _PANDAS_INDEX.fullmatch(name) and not keep:
        raise Unusable("is the index of a pandas table")
    # A column that is declared to hold categories does, even where they look like numbers.
    if not arrow().types.is_dictionary(column.type):
        for mark in decimals:
            try:
                found = numbers(column, mark)
            except NotANumber:
                continue
            return replace(_learn_numbers(name, found, keep), decimal=mark)
    return learn_categories(name, as_text(column), rare_below, most_categories, keep)


def with_common_scale(encodings: Sequence[Any]) -> list[Any]:
    """The encodings, where all number columns have the root mean square of their scales.

    Examples
    --------
    >>> columns = [NumberEncoding(name, 0.0, 0.0, scale, False) for name, scale in
    ...            (("a", 1.0), ("b", 7.0))]
    >>> [encoding.scale for encoding in with_common_scale(columns)]
    [5.0, 5.0]
    """
    scales = [scale for one in encodings for scale in getattr(one, "scales", ())]
    if not scales:
        return list(encodings)
    widest = max(scales)  # so that no square is too large
    common = float(widest * np.sqrt(np.mean(np.square(np.array(scales) / widest))))
    return [
        replace(one, scale=common) if len(getattr(one, "scales", ())) > 0 else one
        for one in encodings
    ]


def is_named_like_id(name: str) -> bool:
    """Whether a column has a name that ids have.

    Examples
    --------
    >>> [is_named_like_id(name) for name in ("user_id", "orderId", "", "Unnamed: 0", "grid")]
    [True, True, True, True, False]
    """
    return _ID_NAME.fullmatch(name) is not None


def _learn_numbers(name: str, values: FloatArray, keep: bool) -> NumberEncoding:
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
    if is_constant:
        return NumberEncoding(name, median, median, 1.0 if keep else 0.0, was_missing)
    return NumberEncoding(name, median, float(filled.mean()), deviation, was_missing)


def _numbers_like_ids(name: str, given: FloatArray) -> bool:
    is_whole = np.all(given == np.floor(given))
    if not is_whole or len(np.unique(given)) < len(given) or len(given) == 1:
        return False
    if is_named_like_id(name):
        return True
    steps = np.diff(given)
    is_run = given.max() - given.min() == len(given) - 1
    in_order = bool(np.all(steps > 0) or np.all(steps < 0) or is_run)
    return in_order and len(given) >= _FEWEST_IN_ORDER
