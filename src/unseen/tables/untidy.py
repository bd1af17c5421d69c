"""What a person should know about labelled columns, numbers in disguise among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from unseen._types import IntArray
from unseen._wording import LONGEST_NAME, listed, quoted, shown
from unseen.records import Notice
from unseen.tables._arrow import Array, Table, decoded, is_text
from unseen.tables.encodings import NumberEncoding, is_named_like_id
from unseen.tables.values import NotANumber, as_text, mark_in, number_of, numbers

# Where so many values of a text column are numbers, the others are probably mistakes.
_MOSTLY = 0.9
_LOOKED_AT_FIRST = 50
# Options that a sentence proposes.
_NAMED = 3


def decimals_of(table: Table, names: Iterable[str]) -> tuple[str, ...]:
    """Decimal marks to try, a comma first where only that makes numbers of a column of text."""
    texts = [table[name] for name in names if is_text(decoded(table[name]).type)]
    with_comma = any(not says_numbers(one, ".") and says_numbers(one, ",") for one in texts)
    return (",", ".") if with_comma else (".", ",")


def says_numbers(column: Array, decimal: str) -> bool:
    """Whether all values of a column are numbers with this mark before the decimals."""
    try:
        numbers(column, decimal)
    except NotANumber:
        return False
    return True


def marks_notice(table: Table, encodings: Iterable[object]) -> list[Notice]:
    """One notice that names the number columns whose text has marks between digits."""
    found = []
    for one in encodings:
        if isinstance(one, NumberEncoding):
            word = mark_in(table[one.name], one.decimal)
            if word is not None:
                found.append(f"{one.name!r} ({word!r} is {number_of(word, one.decimal):.12g})")
    if not found:
        return []
    text = f"Read as numbers: {listed(found)}. --decimal says otherwise."
    return [Notice("numbers_with_marks", text, "note")]


def nearly_numbers(
    table: Table, names: Sequence[str], decimals: Sequence[str], rows: IntArray | None
) -> list[Notice]:
    """A warning that names the text columns that are numbers but for a few cells, and a cell each.

    ``rows`` holds the place of each row in its file; None takes the table for the file.
    """
    said, words, about = [], [], []
    for name in names:
        wrong = next(filter(None, (_wrong_cells(table[name], mark) for mark in decimals)), None)
        if wrong:
            place, word = wrong[0]
            number = place if rows is None else int(rows[place])
            n_values = len(table) - as_text(table[name]).null_count
            row = f"row {number + 1} holds {shown(repr(word))}"
            said.append(f"{name!r} (but {len(wrong)} of {n_values}: {row})")
            words += [word] if word not in words and len(word) <= LONGEST_NAME else []
            about.append(name)
    if not said:
        return []
    options = " ".join(f"--missing {quoted([word])}" for word in words[:_NAMED])
    text = (
        f"Not read as numbers, though nearly all values are: {listed(said)}. Correct these cells"
        f"{', or give ' if options else ''}{options}."
    )
    return [Notice("nearly_numbers", text, about=about[0] if len(about) == 1 else None)]


def _wrong_cells(column: Array, decimal: str) -> list[tuple[int, str]]:
    """Places and words of a text column that are no numbers, where few are none."""
    if not is_text(decoded(column).type):
        return []
    text = as_text(column)
    first = text.slice(0, _LOOKED_AT_FIRST).drop_null().to_pylist()
    if sum(number_of(word, decimal) is None for word in first) > len(first) / 2:
        return []
    given = [(place, word) for place, word in enumerate(text.to_pylist()) if word is not None]
    wrong = [(place, word) for place, word in given if number_of(word, decimal) is None]
    return wrong if len(wrong) <= (1 - _MOSTLY) * len(given) else []


def by_reason(dropped: Mapping[str, str]) -> list[tuple[str, str]]:
    """The columns that are left out for one reason, and the reason, which follows their names."""
    found: dict[str, list[str]] = {}
    for name, reason in dropped.items():
        found.setdefault(reason, []).append(name)
    return [
        (quoted(names), f"{'each ' * (len(names) > 1)}{reason}") for reason, names in found.items()
    ]


def notices_on_train(columns: Any) -> list[Notice]:
    """Columns of labelled rows that are left out, and those that are used in spite of a name."""
    texts = columns.free_texts_
    others = {name: why for name, why in columns.dropped_.items() if name not in texts}
    notices = [
        Notice("columns_not_used", f"Not used: {names} ({why}).", "note")
        for names, why in by_reason(others)
    ]
    if texts:
        text = (
            f"Not used, though a text may say most about a row: {quoted(texts)}. --text "
            f"{shown(texts[0])!r} uses {'it' if len(texts) == 1 else 'the first'}."
        )
        about = texts[0] if len(texts) == 1 else None
        notices.append(Notice("free_text_not_used", text, about=about))
    used = [name for name in columns.feature_names_in_ if name not in columns.keep]
    like_ids = [name for name in used if is_named_like_id(name)]
    if like_ids:
        text = f"Used, though named like an id: {quoted(like_ids)}. Leave ids out: --drop."
        notices.append(Notice("named_like_id", text, "note"))
    return notices
