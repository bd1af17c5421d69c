"""How a text column becomes numbers: a column for each common category, and up to three more.

A labelled row is encoded as if the encoding had been learned from the other ones. Else a category
that one row alone shows would be known in a labelled row and never seen in a new one, and every
such new row would look new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unseen._types import FloatArray
from unseen._wording import shown
from unseen.records import Notice
from unseen.tables._arrow import Array, arrow
from unseen.tables.kinds import MANY, Constant, FreeText, Unusable, check_kind, new_gaps
from unseen.tables.values import as_text, looks_like_dates

__all__ = ["CATEGORY_SCALE", "CategoryEncoding", "learn_categories", "least_common"]

CATEGORY_SCALE = float(np.sqrt(0.5))
# Part of a number of rows by which another is nearby.
_NEARBY = 0.3
# Values of fewer words are names or codes.
_WORDS_OF_PROSE = 3


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
            check_kind(column.type)
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
        found = new_gaps(self.name, missing, self.was_missing, "the most common category")
        known = pa.array([*self.categories, *self.rare], pa.string())
        never_seen = ~pc.is_in(text, value_set=known).to_numpy() & ~missing
        if never_seen.any():
            share, first = never_seen.mean(), text[int(never_seen.argmax())].as_py()
            found.append(
                Notice(
                    "new_category",
                    f"Column {self.name!r} holds a category that the labelled rows never show in "
                    f"{share:.1%} of the new rows, such as {shown(repr(first))}.",
                    "warning" if share >= MANY else "note",
                    about=self.name,
                )
            )
        return found

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
    if not keep or _is_prose(counts, common):
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
    result the mean of c N_c nearby is at most ``rare_below``, or a quarter of the root of the
    number of rows: less than noise.

    Examples
    --------
    >>> least_common([300, 200, 5, 2, 1], 5), least_common([5, 6, 7, 8, 9] * 20 + [400], 5)
    (5, 13)
    """
    sizes = np.asarray(counts)
    highest = max(np.sqrt(sizes.sum()) / 4, rare_below)
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
    if _is_prose(counts, common):
        raise FreeText
    if len(counts) == n_given:
        raise Unusable("looks like an id: text, no two the same")
    if _mostly_rare(counts, common):
        raise Unusable(f"looks like free text: {len(counts)} values, most of them rare")


def _mostly_rare(counts: dict[str, int], common: list[str]) -> bool:
    return 2 * sum(counts[category] for category in common) < sum(counts.values())


def _is_prose(counts: dict[str, int], common: list[str]) -> bool:
    """Whether most values are rare and of several words."""
    n_words = sum(len(each.split()) for each in counts)
    return _mostly_rare(counts, common) and n_words >= _WORDS_OF_PROSE * len(counts)
