"""The values of a column: numbers, text, or missing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress

import numpy as np

from unseen._optional import pa, pc
from unseen._types import FloatArray
from unseen.tables._arrow import Array, Table, decoded, is_number, is_text

# Beyond this size a number is a mark for "none", and squares of it overflow.
LARGEST = 1e100
_MISSING_WORDS = ("", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "null", "NULL")
# "None" and "-" may well be categories, but among numbers they mean missing.
_MISSING_NUMBERS = (*_MISSING_WORDS, "na", "n/a", "None", "none", "?", "-", ".")
_TRUTHS = {"true": "1", "false": "0"}
# Where so many values of a text column are numbers, the others are probably mistakes.
_MOSTLY = 0.9
_LOOKED_AT_FIRST = 50
# What may part the thousands of a number, by what stands before its decimals.
DECIMALS = {".": ",", ",": "."}
_PLAIN = re.compile(r"([+-]?\d+)(?:[.,](\d*))?")
_SPACES = "'\u2019 \u00a0\u202f"
_GROUPED = {
    decimal: re.compile(
        rf"[+-]?[1-9]\d{{0,2}}([{re.escape(mark)}{_SPACES}]\d{{3}})+([{decimal}]\d*)?"
    )
    for decimal, mark in DECIMALS.items()
}


class BadCell(ValueError):  # noqa: N818  says what is wrong with it
    """Raised for a cell that breaks a rule, in the row at ``place`` of its column of ``table``.

    Examples
    --------
    >>> from unseen.tables import BadCell
    >>> print(BadCell("'when' must hold dates; got 'soon'", 4))
    'when' must hold dates; got 'soon', in row 5.
    """

    def __init__(self, text: str, place: int, table: str = "", advice: str = "") -> None:
        of = f" of {table}" if table else ""
        super().__init__(f"{text}, in row {place + 1}{of}.{advice}")
        self.text = text
        self.place = place
        self.advice = advice

    def of(self, table: str, place: int) -> BadCell:
        """The error with the row of the whole table, and its name."""
        return BadCell(self.text, place, table, self.advice)


class NotANumber(ValueError):  # noqa: N818  says what the value is
    """A column of numbers holds ``value``, which is none, at ``place``, or is of that type."""

    def __init__(self, value: str, place: int | None = None) -> None:
        super().__init__(value)
        self.value = value
        self.place = place


def numbers(column: Array, decimal: str = ".") -> FloatArray:
    """The numbers of a column, NaN where missing or infinite; ``NotANumber`` for any other value.

    Text may say numbers, with marks between thousands; ``decimal`` is the mark before decimals.
    """
    types = pa.types
    column = decoded(column)
    kind = column.type
    if is_text(kind):
        column = _numbers_in_text(_without(column, _MISSING_NUMBERS), decimal)
    elif types.is_boolean(kind):
        column = column.cast(pa.int8())
    elif not (is_number(kind) or types.is_null(kind)):
        raise NotANumber(str(kind))
    values = column.cast(pa.float64(), safe=False).to_numpy()
    return np.where(np.abs(values) <= LARGEST, values, np.nan)


def _numbers_in_text(given: Array, decimal: str) -> Array:
    if decimal == ".":
        with suppress(pa.ArrowInvalid):
            return given.cast(pa.float64())
    encoded = given.combine_chunks().dictionary_encode()
    words = encoded.dictionary.to_pylist()
    values = [number_of(word, decimal) for word in words]
    if None in values:
        wrong = words[values.index(None)]  # the first, as words are in the order of the rows
        raise NotANumber(wrong, pc.index(given, value=wrong).as_py())
    return pa.chunked_array([pa.array(values, pa.float64()).take(encoded.indices)])


def number_of(word: str, decimal: str = ".") -> float | None:
    """The number that a word such as 1,234.5 says; None where it says none."""
    if _GROUPED[decimal].fullmatch(word):
        word = re.sub(f"[{re.escape(DECIMALS[decimal])}{_SPACES}]", "", word)
    elif decimal == "," and "." in word:
        return None
    if decimal == ",":
        word = word.replace(",", ".", 1)
    try:
        # float() would take 1_000, which no table means as a number.
        return float(_TRUTHS.get(word.lower(), "?" if "_" in word else word))
    except ValueError:
        return None


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


def mark_in(column: Array, decimal: str) -> str | None:
    """The first number of a text column that only marks between digits explain; None without."""
    if not is_text(decoded(column).type):
        return None
    given = _without(decoded(column), _MISSING_NUMBERS)
    marked = pc.match_substring_regex(given, rf"\d[{_SPACES},]\d|^,\d")
    if decimal == ",":
        marked = pc.or_(marked, pc.match_substring(given, "."))
    place = pc.index(marked, value=True).as_py()
    return None if place < 0 else given[place].as_py()


def wrong_cells(column: Array, decimal: str) -> list[tuple[int, str]]:
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


def as_text(column: Array) -> Array:
    """A column as text without space around the values, null where missing.

    Classes and windows are read by this rule too, so that missing means the same everywhere.
    """
    return _without(decoded(column).cast(pa.string()), _MISSING_WORDS)


def departs(column: Array, value: float | str) -> bool:
    """Whether a column that was constant has any other value, or none."""
    if isinstance(value, str):
        return as_text(column).unique().to_pylist() != [value]
    try:
        return bool((numbers(column) != value).any())
    except NotANumber:
        return True


def without_marks(column: Array, marks: Sequence[str], decimal: str | None = None) -> Array:
    """The column with null where a value is one of the marks, as text or as a number.

    The mark -999 stands for -999.0 too, as which tables of decimals hold it.
    """
    if is_text(decoded(column).type):
        given = _without(decoded(column), tuple(marks))
        # 9.000 is nine thousand where a comma stands before the decimals.
        point, comma = (r"\.0*", ",0{1,2}") if decimal != "," else (r"\.0{1,2}", ",0*")
        forms = []
        for found in filter(None, (_PLAIN.fullmatch(mark.strip()) for mark in marks)):
            whole, decimals = found[1], (found[2] or "").rstrip("0")
            zeros = f"[.,]{decimals}0*" if decimals else f"({point}|{comma})?"
            forms.append(re.escape(whole) + zeros)
        if not forms:
            return given
        wrong = pc.match_substring_regex(given, f"^({'|'.join(forms)})$")
        return pc.if_else(wrong, pa.scalar(None, given.type), given)
    if not is_number(column.type):
        return column
    values = [value for value in map(number_of, marks) if value is not None]
    wrong = pc.is_in(column.cast(pa.float64(), safe=False), value_set=pa.array(values))
    return pc.if_else(wrong, pa.scalar(None, column.type), column)


def _without(text: Array, missing: tuple[str, ...]) -> Array:
    """Text without space around, null where it is one of the words that mean missing."""
    trimmed = pc.utf8_trim_whitespace(text)
    is_missing = pc.is_in(trimmed, value_set=pa.array(missing, trimmed.type))
    return pc.if_else(is_missing, pa.scalar(None, trimmed.type), trimmed)
