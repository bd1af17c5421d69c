"""How one column becomes numbers: an encoding is learned from labelled rows and applied to any.

A labelled row is encoded as if the encoding had been learned from the other ones. Else a category
that one row alone shows would be known in a labelled row and never seen in a new one, and every
such new row would look new.

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

from unseen._types import BoolArray, FloatArray
from unseen._wording import shown
from unseen.records import Notice
from unseen.tables._arrow import Array, arrow
from unseen.tables.values import (
    LARGEST,
    BadCell,
    NotANumber,
    as_text,
    looks_like_dates,
    numbers,
)

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

CATEGORY_SCALE = float(np.sqrt(0.5))
# Departures in at least this share of the new rows can move the unseen share.
_MANY = 0.05
# Part of a number of rows by which another is nearby.
_NEARBY = 0.3
# Fewer numbers than this may be in order by chance.
_FEWEST_IN_ORDER = 10
_ID_NAME = re.compile(
    r"|(?i:(.*[\W_])?(id|idx|index|key|uuid|guid|rowid|row|rownum|row_number|unnamed: ?\d+))"
    r"|.*[a-z](Id|ID)"
)
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


class Unusable(Exception):  # noqa: N818  a reason, not an error
    """Why a column is not used; the reason continues a sentence that begins with its name."""


class Constant(Unusable):
    """A column is not used because it has one ``value`` in all labelled rows."""

    def __init__(self, value: float | str) -> None:
        super().__init__("has the same value in all labelled rows")
        self.value = value


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
        What stands before the decimals of numbers that came as text.

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
        return _new_gaps(self.name, np.isnan(values), self.was_missing, "the median")

    @staticmethod
    def statement(n_columns: int) -> list[str]:
        """The treatment of number columns in plain sentences."""
        one = (
            "1 number column: centred, and divided by its standard deviation in the labelled rows."
        )
        more = (
            f"{n_columns} number columns: centred, and all divided by one number, the root mean "
            "square of their standard deviations in the labelled rows, so that their units stay as "
            "given."
        )
        return [
            one if n_columns == 1 else more,
            f"Missing, infinite and huge (over {LARGEST:g}) numbers are replaced by the median.",
        ]


@dataclass(frozen=True)
class CategoryEncoding:
    """A text column: one column for each common category, and up to three more.

    Parameters
    ----------
    name : str
        Name of the column.
    categories : tuple of str
        The common categories, which have a column each.
    rare : tuple of str
        The other categories of the labelled rows.
    commonest : str
        The category that replaces a missing value where no labelled row lacks one.
    was_missing : bool
        Whether a labelled row lacks a value; missing then has a column.
    once : tuple of str, default=()
        Categories of one labelled row, which is encoded as if its category had never been seen.
    has_rare : bool, default=True
        Whether rare categories have a column; else they share that of categories never seen.

    Examples
    --------
    >>> import pyarrow as pa
    >>> colour = CategoryEncoding("colour", ("blue", "red"), (), "red", was_missing=False)
    >>> colour.names
    ['colour=blue', 'colour=red', 'colour=never seen']
    >>> colour.encode(colour.read(pa.chunked_array([["red", "green", None]]))).argmax(axis=1)
    array([1, 2, 1])
    """

    name: str
    categories: tuple[str, ...]
    rare: tuple[str, ...]
    commonest: str
    was_missing: bool
    once: tuple[str, ...] = ()
    has_rare: bool = True

    @property
    def names(self) -> list[str]:
        """Names of the encoded columns."""
        last = "rare or never seen" if self.rare and not self.has_rare else "never seen"
        others = ["rare"] * self._n_rare + ["missing"] * self.was_missing + [last]
        return [f"{self.name}={category}" for category in (*self.categories, *others)]

    @property
    def missing_at(self) -> int | None:
        """Place of the column for missing values among the encoded columns."""
        return len(self.categories) + self._n_rare if self.was_missing else None

    @property
    def _n_rare(self) -> int:
        """Columns of rare categories: one, or none."""
        return int(bool(self.rare) and self.has_rare)

    def read(self, column: Array) -> Array:
        """The text of a column, null where missing; a ValueError where it holds no text."""
        try:
            _check_kind(column.type)
        except Unusable as reason:
            raise ValueError(
                f"column {self.name!r} must hold text in NEW as it does in TRAIN; it {reason}."
            ) from None
        return as_text(column)

    def encode(self, text: Array) -> FloatArray:
        """The encoded columns, side by side."""
        return self._encode(text, self.rare if self.has_rare else ())

    def encode_labelled(self, text: Array) -> FloatArray:
        """The encoded columns of the rows that the encoding was learned from."""
        repeated = set(self.rare).difference(self.once) if self.has_rare else set()
        return self._encode(text, tuple(sorted(repeated)))

    def _encode(self, text: Array, rare: tuple[str, ...]) -> FloatArray:
        """The encoded columns, where categories but the common and the ``rare`` are never seen."""
        pa, pc = arrow(), arrow("compute")
        n_categories, width = len(self.categories), len(self.names)
        known = pa.array([*self.categories, *rare], pa.string())
        filled = text if self.was_missing else text.fill_null(self.commonest)
        found = pc.index_in(filled, value_set=known).fill_null(-1).to_numpy()
        places = np.where(found < 0, width - 1, np.minimum(found, n_categories))
        if self.was_missing:
            places[text.is_null().to_numpy()] = self.missing_at
        encoded = np.zeros((len(places), width))
        encoded[np.arange(len(places)), places] = CATEGORY_SCALE
        return encoded

    def departures(self, text: Array) -> list[Notice]:
        """Notices of values that new rows show in this column and no labelled row does."""
        pa, pc = arrow(), arrow("compute")
        missing = text.is_null().to_numpy()
        found = _new_gaps(self.name, missing, self.was_missing, "the most common category")
        known = pa.array([*self.categories, *self.rare], pa.string())
        never_seen = ~pc.is_in(text, value_set=known).to_numpy() & ~missing
        if never_seen.any():
            share, first = never_seen.mean(), text[int(never_seen.argmax())].as_py()
            found.append(
                Notice(
                    "new_category",
                    f"Column {self.name!r} holds a category that the labelled rows never show in "
                    f"{share:.1%} of the new rows, such as {shown(repr(first))}.",
                    "warning" if share >= _MANY else "note",
                    about=self.name,
                )
            )
        return found

    @staticmethod
    def statement(n_columns: int, rare_below: int, most_categories: int) -> list[str]:
        """The treatment of text columns in plain sentences."""
        return [
            f"{n_columns} text {'column' if n_columns == 1 else 'columns'}: one 0/1 column a "
            "category, scaled so that two rows which differ in it are as far apart as one standard "
            "deviation of a middling number. A scorer that gives each column the same spread, as "
            "the default does, weighs a rare category more.",
            f"Categories with fewer than {rare_below} labelled rows (more where many categories "
            f"are nearly as rare), or beyond the {most_categories} most common, share a column. "
            "Those that no other labelled row shows have one of their own, in labelled rows and in "
            "new ones alike.",
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
    _check_kind(column.type)
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
    return _learn_categories(name, as_text(column), rare_below, most_categories, keep)


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
    return [replace(one, scale=common) if _is_scaled(one) else one for one in encodings]


def _is_scaled(encoding: Any) -> bool:
    return len(getattr(encoding, "scales", ())) > 0


def is_named_like_id(name: str) -> bool:
    """Whether a column has a name that ids have.

    Examples
    --------
    >>> [is_named_like_id(name) for name in ("user_id", "orderId", "", "Unnamed: 0", "grid")]
    [True, True, True, True, False]
    """
    return _ID_NAME.fullmatch(name) is not None


def _check_kind(kind: Any) -> None:
    types = arrow().types
    if types.is_temporal(kind):
        raise Unusable("holds dates or times")
    is_bytes = types.is_binary(kind) or types.is_large_binary(kind)
    if types.is_nested(kind) or is_bytes or types.is_fixed_size_binary(kind):
        raise Unusable(f"holds neither numbers nor text, but {kind}")


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


def _learn_categories(
    name: str, text: Array, rare_below: int, most_categories: int, keep: bool
) -> CategoryEncoding:
    counted = text.drop_null().value_counts().to_pylist()
    counts = {each["values"]: each["counts"] for each in counted}
    if not counts:
        raise Unusable("has no value in the labelled rows")
    ranked = sorted(counts, key=lambda category: (-counts[category], category))
    common = [each for each in ranked[:most_categories] if counts[each] >= rare_below]
    if not keep:
        _check_categories(counts, common, text.null_count)
    fewest = least_common(list(counts.values()), rare_below)
    common = [category for category in common if counts[category] >= fewest]
    rare = tuple(sorted(set(counts).difference(common)))
    once = tuple(category for category in rare if counts[category] == 1)
    # Else hardly a labelled row, or none, would be in a column that new rows may well be in.
    has_rare = sum(counts[category] for category in rare) - len(once) >= rare_below
    return CategoryEncoding(
        name, tuple(sorted(common)), rare, ranked[0], text.null_count > 0, once, has_rare
    )


def least_common(counts: Sequence[int], rare_below: int) -> int:
    """Fewest rows of a category with a column of its own, so that its rows are not so by chance.

    By Good and Turing the categories of c labelled rows have, together, as many of equally many
    new rows as those of c + 1 labelled rows have of the labelled ones. So new rows are less often
    in a category of c rows or more, by c N_c of them, where N_c categories have c rows. At the
    result the mean of c N_c nearby is at most a quarter of the root of the number of rows: less
    than noise.

    Examples
    --------
    >>> least_common([300, 200, 5, 2, 1], 5), least_common([5, 6, 7, 8, 9] * 20 + [400], 5)
    (5, 13)
    """
    sizes = np.asarray(counts)
    highest = np.sqrt(sizes.sum()) / 4
    for fewest in range(rare_below, int(sizes.max()) + 1):
        nearby = sizes[np.abs(sizes - fewest) <= _NEARBY * fewest]
        if nearby.sum() <= highest * (2 * int(_NEARBY * fewest) + 1):
            return fewest
    return int(sizes.max()) + 1


def _check_categories(counts: dict[str, int], common: list[str], n_missing: int) -> None:
    n_given = sum(counts.values())
    if len(counts) == 1 and not n_missing:
        raise Constant(next(iter(counts)))
    if looks_like_dates(list(counts)):
        raise Unusable("holds dates or times")
    if len(counts) == n_given:
        raise Unusable("looks like an id: text, no two the same")
    if 2 * sum(counts[category] for category in common) < n_given:
        raise Unusable(f"looks like free text: {len(counts)} values, most of them rare")


def _new_gaps(name: str, missing: BoolArray, was_missing: bool, filler: str) -> list[Notice]:
    """Missing values where labelled rows have none; a column with nothing else is an error."""
    if missing.all():
        raise ValueError(
            f"column {name!r} must have values in NEW as it has in TRAIN; it has none."
        )
    if was_missing or not missing.any():
        return []
    text = (
        f"Column {name!r} is missing in {missing.mean():.1%} of the new rows and in none of "
        f"the labelled ones; they get {filler}."
    )
    severe = missing.mean() >= _MANY
    return [Notice("newly_missing", text, "warning" if severe else "note", about=name)]
