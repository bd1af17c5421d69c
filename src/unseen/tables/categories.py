"""How a text column becomes numbers: a column for each common category, and up to three more.

A category is coded 1/sqrt(2) or 0: rows of two categories lie 1 apart, as far as one standard
deviation of an average number column. A labelled row is encoded as if the encoding had been learned
from the other ones. Else a category that one row alone shows would be known in a labelled row and
never seen in a new one, and every such new row would look new.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from unseen._optional import pa, pc
from unseen._types import FloatArray
from unseen._wording import shown
from unseen.tables._arrow import Array
from unseen.tables.encodings import (
    Constant,
    Departure,
    Encoding,
    FreeText,
    Unusable,
    check_kind,
    new_gaps,
)
from unseen.tables.values import as_text

_SCALE = float(np.sqrt(0.5))
# Part of a number of rows by which another is nearby.
_NEARBY = 0.3
# Values of fewer words are names or codes.
_WORDS_OF_PROSE = 3
_DATE_OR_TIME = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}([T ].*)?|\d{1,4}[/.]\d{1,2}[/.]\d{2,4}([T ].*)?"
    r"|\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
)


@dataclass(frozen=True)
class CategoryEncoding(Encoding):
    """A text column: one column for each common category, and up to three more."""

    name: str
    categories: tuple[str, ...]  # the common ones, which have a column each
    rare: tuple[str, ...]  # the other categories of the labelled rows
    commonest: str  # which replaces a missing value where no labelled row lacks one
    was_missing: bool  # whether a labelled row lacks a value; missing then has a column
    once: tuple[str, ...] = ()  # of one labelled row, where they count as never seen
    has_rare: bool = True  # whether rare categories have a column, or share that of never seen

    @property
    def names(self) -> list[str]:
        """Names of the encoded columns."""
        last = "rare or never seen" if self.rare and not self.has_rare else "never seen"
        rare = ["rare"] if self.rare and self.has_rare else []
        others = [*rare, *["missing"] * self.was_missing, last]
        return [f"{self.name}={category}" for category in (*self.categories, *others)]

    @property
    def missing_at(self) -> int | None:
        """Place of the column for missing values, which is the last but one."""
        return len(self.names) - 2 if self.was_missing else None

    def read(self, column: Array) -> Array:
        """The text of a column, null where missing."""
        try:
            check_kind(column.type)
        except Unusable as reason:
            raise ValueError(
                f"column {self.name!r} must hold text in NEW as it does in TRAIN; it {reason}."
            ) from None
        return as_text(column)

    def encode(self, text: Array) -> FloatArray:
        """The encoded columns, side by side."""
        return self._encode(text, self.rare)

    def encode_labelled(self, text: Array) -> FloatArray:
        """The encoded columns of the rows that the encoding was learned from."""
        return self._encode(text, sorted(set(self.rare).difference(self.once)))

    def _encode(self, text: Array, rare: Iterable[str]) -> FloatArray:
        """The encoded columns, where categories but the common and the ``rare`` are never seen."""
        n_categories, width = len(self.categories), len(self.names)
        filled = text if self.was_missing else text.fill_null(self.commonest)
        known = _strings([*self.categories, *(rare if self.has_rare else ())])
        found = pc.index_in(filled, value_set=known).fill_null(-1).to_numpy()
        places = np.where(found < 0, width - 1, np.minimum(found, n_categories))
        if self.was_missing:
            places[text.is_null().to_numpy()] = self.missing_at
        encoded = np.zeros((len(places), width))
        encoded[np.arange(len(places)), places] = _SCALE
        return encoded

    def departures(self, text: Array) -> tuple[Departure, ...]:
        """Gaps and categories that new rows show and no labelled row does."""
        missing = text.is_null().to_numpy()
        gaps = new_gaps(self.name, missing, self.was_missing, "the most common category")
        known = _strings([*self.categories, *self.rare])
        never_seen = ~pc.is_in(text, value_set=known).to_numpy() & ~missing
        if not never_seen.any():
            return gaps
        example = shown(repr(text[int(never_seen.argmax())].as_py()))
        share = float(never_seen.mean())
        return (*gaps, Departure("new_category", self.name, share, example))

    @staticmethod
    def statement(n_columns: int, rare_below: int, most_categories: int) -> list[str]:
        """The treatment of text columns in plain sentences."""
        return [
            f"{n_columns} text {'column' if n_columns == 1 else 'columns'}: each category becomes "
            "a 0/1 column, scaled so that rows of two categories lie as far apart as one standard "
            "deviation of a typical numeric column. A scorer that gives each column the same "
            "spread, as the default does, weighs a rare category more.",
            f"Categories with fewer than {rare_below} labelled rows (more where many categories "
            f"are nearly as rare), or beyond the {most_categories} most common, share a column. "
            "Categories that no other labelled row shows have a column of their own, in labelled "
            "rows and in new ones alike.",
        ]


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
    _check_categories(counts, common, text.null_count, keep)
    fewest = least_common(list(counts.values()), rare_below)
    common = [category for category in common if counts[category] >= fewest]
    rare = tuple(sorted(set(counts).difference(common)))
    once = tuple(category for category in rare if counts[category] == 1)
    # Else hardly a labelled row, or none, would be in a column that new rows may well be in.
    has_rare = sum(counts[category] for category in rare) - len(once) >= rare_below
    return CategoryEncoding(
        name, tuple(sorted(common)), rare, ranked[0], text.null_count > 0, once, has_rare
    )


def _check_categories(
    counts: dict[str, int], common: list[str], n_missing: int, keep: bool
) -> None:
    """Refuse constants, dates, prose, ids and texts; with ``keep``, only what is prose."""
    n_given = sum(counts.values())
    mostly_rare = 2 * sum(counts[category] for category in common) < n_given
    n_words = sum(len(each.split()) for each in counts)
    is_prose = mostly_rare and n_words >= _WORDS_OF_PROSE * len(counts)
    if keep and not is_prose:
        return
    if len(counts) == 1 and not n_missing:
        raise Constant(next(iter(counts)))
    if all(_DATE_OR_TIME.fullmatch(word) for word in counts):
        raise Unusable("holds dates or times")
    if is_prose:
        raise FreeText
    if len(counts) == n_given:
        raise Unusable("looks like an id: text, no two the same")
    if mostly_rare:
        raise Unusable("looks like free text: most values are rare")


def _strings(words: list[str]) -> Array:
    return pa.array(words, pa.string())


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
