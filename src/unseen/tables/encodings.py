"""How one column becomes numbers: an encoding is learned from labelled rows and applied to any.

Here are numbers, which are divided by a scale that all number columns share, and categories; lists
and texts are in embeddings.py. docs/command_line.md says what happens to each kind, and why.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from unseen._optional import pa, pc
from unseen._types import BoolArray, FloatArray
from unseen._wording import LONGEST_NAME, shown
from unseen.tables._arrow import Array
from unseen.tables.values import DECIMALS, LARGEST, BadCell, NotANumber, as_text, number_of, numbers

# Rows of two categories lie 1 apart, as far as one standard deviation of an average number column.
_CODE = float(np.sqrt(0.5))
# Part of a number of rows by which another is nearby.
_NEARBY = 0.3
# Values of fewer words are names or codes.
_WORDS_OF_PROSE = 3
_DATE_OR_TIME = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}([T ].*)?|\d{1,4}[/.]\d{1,2}[/.]\d{2,4}([T ].*)?"
    r"|\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
)
# Fewer numbers than this may be in order by chance.
_FEWEST_IN_ORDER = 10
# In an order with one break in so many rows, such as that of two tables, one below the other.
_BETWEEN_BREAKS = 50
# So many equal pairs, or more, do not all fail to appear by chance.
_MANY_EQUAL = 10
# Names that ids have, such as user_id, orderId or none at all.
ID_NAME = re.compile(
    r"|(?i:(.*[\W_])?([cegprstu]?id|idx|index|key|uuid|guid|nr|rowid|row|rownum|row_nr|row_number"
    r"|unnamed: ?\d+))|.*[a-z](Id|ID|Nr)"
)
_CONSTANT = "has the same value in all labelled rows"


class Unusable(Exception):  # noqa: N818  a reason, not an error
    """Why a column is not used; the reason continues a sentence that begins with its name.

    ``value`` is that of all labelled rows, where they have one.
    """

    def __init__(
        self, reason: str, value: float | str | None = None, is_free_text: bool = False
    ) -> None:
        super().__init__(reason)
        self.value, self.is_free_text = value, is_free_text


@dataclass(frozen=True)
class Departure:
    """A share of the new rows that show in ``column`` what no labelled row does."""

    code: Literal["newly_missing", "new_category"]
    column: str
    share: float
    said: str  # what replaces a missing value, or an example of a category


class Output(NamedTuple):
    """One encoded column."""

    name: str
    unit: tuple[float, float] | None = None  # offset and scale of what are numbers in the table
    category: str | None = None  # of a 0/1 column
    marks_gaps: bool = False  # whether a 1 says that the value is missing


class Encoding(ABC):
    """The encoding of one column.

    ``encode`` makes numbers of the values that ``read`` takes from a table.
    """

    name: str
    was_missing: bool  # whether a labelled row lacks a value
    filler = ""  # what a missing value gets, in words
    scales: Any = ()  # deviations, of which all number columns share the root mean square

    @property
    @abstractmethod
    def outputs(self) -> list[Output]:
        """The encoded columns, in their order."""

    @abstractmethod
    def read(self, column: Array) -> Any:
        """The values of a column; a ValueError where they are not of the kind in TRAIN."""

    @abstractmethod
    def encode(self, values: Any) -> FloatArray:
        """The encoded columns, side by side."""

    def encode_labelled(self, values: Any) -> FloatArray:
        """Encode labelled rows, each as if learned from the others: one row hardly matters."""
        return self.encode(values)

    def departures(self, values: Any) -> tuple[Departure, ...]:
        """What new rows show in this column and no labelled row does."""
        missing = self.gaps(values)
        if not len(missing):
            raise ValueError("NEW must have rows; got none.")
        # Gaps in some rows are no news where labelled rows have gaps too.
        if not missing.any() or (self.was_missing and not missing.all()):
            return ()
        return (Departure("newly_missing", self.name, float(missing.mean()), self.filler),)

    def gaps(self, values: Any) -> BoolArray:
        """Where values are missing; lists never are."""
        return np.zeros(len(values), dtype=bool)

    def gap(self) -> FloatArray:
        """The encoded columns of one row that has no value."""
        return self.encode(self.read(pa.chunked_array([pa.nulls(1, pa.string())])))[0]


@dataclass(frozen=True)
class NumberEncoding(Encoding):
    """A number column, and perhaps a 0/1 column that says where it is missing."""

    name: str
    median: float  # which replaces missing values
    mean: float  # which is subtracted
    scale: float  # which divides; with 0, only the 0/1 column is made
    was_missing: bool
    decimal: str = "."  # the mark before the decimals of numbers that came as text

    filler = "the median"

    @property
    def scales(self) -> list[float]:
        """The scale, where there is one."""
        return [self.scale] if self.scale else []

    @property
    def outputs(self) -> list[Output]:
        """The numbers, and where they are missing."""
        found = [Output(self.name, (self.mean, self.scale))] if self.scale else []
        if self.was_missing:
            found.append(Output(f"{self.name}=missing", category="missing", marks_gaps=True))
        return found

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

    def gaps(self, values: FloatArray) -> BoolArray:
        """Where values are missing."""
        return np.isnan(values)


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
        raise Unusable(_CONSTANT, median)
    is_whole = np.all(given == np.floor(given)) and len(given) > 1
    all_differ = is_whole and len(np.unique(given)) == len(given)
    if not keep and all_differ:
        # Numbers that count rows are in order, or too close to be chance: of n numbers drawn from a
        # range of R, n (n - 1) / 2R pairs are equal on average, and more where some numbers are
        # likelier, as they are in a measurement.
        n_rows, steps, n_numbers = len(given), np.diff(given), given.max() - given.min() + 1
        n_breaks = min(np.sum(steps < 0), np.sum(steps > 0))
        in_order = n_breaks <= n_rows // _BETWEEN_BREAKS
        is_close = n_numbers == n_rows or n_rows * (n_rows - 1) >= 2 * _MANY_EQUAL * n_numbers
        counts_rows = n_rows >= _FEWEST_IN_ORDER and (in_order or is_close)
        if counts_rows or ID_NAME.fullmatch(name):
            raise Unusable("looks like an id: whole numbers, no two the same")
    mean, scale = float(filled.mean()), deviation
    if is_constant:
        mean, scale = median, 1.0 if keep else 0.0
    return NumberEncoding(name, median, mean, scale, was_missing, decimal)


def with_common_scale(encodings: Sequence[Any]) -> list[Any]:
    """The encodings, where all number columns have the root mean square of their scales."""
    scales = [scale for one in encodings for scale in one.scales]
    if not scales:
        return list(encodings)
    widest = max(scales)  # so that no square is too large
    common = float(widest * np.sqrt(np.mean(np.square(np.array(scales) / widest))))
    return [replace(one, scale=common) if len(one.scales) else one for one in encodings]


def check_kind(kind: Any) -> None:
    """Raise ``Unusable`` where values of this type of pyarrow are neither numbers nor text."""
    types = pa.types
    if types.is_temporal(kind):
        raise Unusable("holds dates or times")
    is_bytes = types.is_binary(kind) or types.is_large_binary(kind)
    is_other = isinstance(kind, pa.BaseExtensionType)  # such as intervals of pandas
    if types.is_nested(kind) or is_bytes or types.is_fixed_size_binary(kind) or is_other:
        raise Unusable(f"holds neither numbers nor text, but {shown(kind)}")


@dataclass(frozen=True)
class CategoryEncoding(Encoding):
    """A text column: one column for each common category, and up to three more.

    A labelled row is encoded as if the encoding had been learned from the other ones. Else a
    category that one row alone shows would be known in a labelled row and never seen in a new one,
    and every such new row would look new.
    """

    name: str
    categories: tuple[str, ...]  # the common ones, which have a column each
    rare: tuple[str, ...]  # the other categories of the labelled rows
    commonest: str  # which replaces a missing value where no labelled row lacks one
    was_missing: bool  # whether a labelled row lacks a value; missing then has a column
    once: tuple[str, ...] = ()  # of one labelled row, where they count as never seen
    has_rare: bool = True  # whether rare categories have a column, or share that of never seen

    filler = "the most common category"

    @property
    def outputs(self) -> list[Output]:
        """The common categories, then what is rare, missing or never seen."""
        last = "rare or never seen" if self.rare and not self.has_rare else "never seen"
        rare = ["rare"] if self.rare and self.has_rare else []
        words = [*self.categories, *rare, *["missing"] * self.was_missing, last]
        gaps = len(words) - 2 if self.was_missing else None
        return [
            Output(f"{self.name}={word}", category=word, marks_gaps=place == gaps)
            for place, word in enumerate(words)
        ]

    def read(self, column: Array) -> Array:
        """The text of a column, null where missing."""
        try:
            check_kind(column.type)
        except Unusable as reason:
            raise ValueError(
                f"column {self.name!r} must hold text in NEW as it does in TRAIN; it {reason}."
            ) from None
        return as_text(column)

    def encode_labelled(self, text: Array) -> FloatArray:
        """The encoded columns of the rows that the encoding was learned from."""
        return self.encode(text, sorted(set(self.rare).difference(self.once)))

    def encode(self, text: Array, rare: Iterable[str] | None = None) -> FloatArray:
        """The encoded columns; all but the common and the ``rare`` categories are never seen."""
        n_categories, width = len(self.categories), len(self.outputs)
        filled = text if self.was_missing else text.fill_null(self.commonest)
        others = (self.rare if rare is None else rare) if self.has_rare else ()
        known = pa.array([*self.categories, *others], pa.string())
        found = pc.index_in(filled, value_set=known).fill_null(-1).to_numpy()
        places = np.where(found < 0, width - 1, np.minimum(found, n_categories))
        if self.was_missing:
            places[text.is_null().to_numpy()] = width - 2
        encoded = np.zeros((len(places), width))
        encoded[np.arange(len(places)), places] = _CODE
        return encoded

    def departures(self, text: Array) -> tuple[Departure, ...]:
        """Gaps and categories that new rows show and no labelled row does."""
        gaps = super().departures(text)
        known = pa.array([*self.categories, *self.rare], pa.string())
        never_seen = ~pc.is_in(text, value_set=known).to_numpy() & ~self.gaps(text)
        if not never_seen.any():
            return gaps
        value = text[int(never_seen.argmax())].as_py()
        alike = {_plain_spelling(one): one for one in (*self.rare, *self.categories)}
        other = alike.get(_plain_spelling(value))
        spelt = "" if other is None else f" (which TRAIN spells {shown(repr(other))})"
        share, example = float(never_seen.mean()), f"{shown(repr(value))}{spelt}"
        return (*gaps, Departure("new_category", self.name, share, example))

    def gaps(self, text: Array) -> BoolArray:
        """Where values are missing."""
        return np.asarray(text.is_null().to_numpy())


def _plain_spelling(category: str) -> str:
    """Letters and digits alone, all small: what is left where a spelling has changed."""
    return "".join(filter(str.isalnum, category)).casefold()


def learn_categories(
    name: str, text: Array, rare_below: int, most_categories: int, keep: bool
) -> CategoryEncoding:
    """Learn how to encode the text of labelled rows, or raise ``Unusable``."""
    counted = text.drop_null().value_counts().to_pylist()
    counts = {each["values"]: each["counts"] for each in counted}
    if not counts:
        raise Unusable("has no value in the labelled rows")
    ranked = sorted(counts, key=lambda category: (-counts[category], category))
    common = [each for each in ranked[:most_categories] if counts[each] >= rare_below]
    n_given, n_words = sum(counts.values()), sum(len(each.split()) for each in counts)
    mostly_rare = 2 * sum(counts[category] for category in common) < n_given
    is_prose = mostly_rare and n_words >= _WORDS_OF_PROSE * len(counts)
    reasons = (
        (len(counts) == 1 and not text.null_count, Unusable(_CONSTANT, ranked[0])),
        (all(map(_DATE_OR_TIME.fullmatch, counts)), Unusable("holds dates or times")),
        (is_prose, Unusable("looks like free text: --text uses it", is_free_text=True)),
        (len(counts) == n_given, Unusable("looks like an id: text, no two the same")),
        (mostly_rare, Unusable("looks like free text: most values are rare")),
    )
    refused = [reason for holds, reason in reasons if holds]
    if refused and (is_prose or not keep):
        raise refused[0]
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
    result the mean of c N_c nearby is at most ``rare_below``, or a quarter of the root of the
    number of rows: less than noise.
    """
    sizes = np.asarray(counts)
    highest = max(np.sqrt(sizes.sum()) / 4, rare_below)
    for fewest in range(rare_below, int(sizes.max()) + 1):
        nearby = sizes[np.abs(sizes - fewest) <= _NEARBY * fewest]
        if nearby.sum() <= highest * (2 * int(_NEARBY * fewest) + 1):
            return fewest
    return int(sizes.max()) + 1
