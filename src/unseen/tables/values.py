"""The values of a column: numbers, text, dates, or missing."""

from __future__ import annotations

import re

import numpy as np

from unseen._types import FloatArray
from unseen.tables._arrow import Array, arrow, decoded, is_number, is_text

__all__ = ["LARGEST", "NotANumber", "as_text", "looks_like_dates", "numbers"]


# Beyond this size a number is a mark for "none", and squares of it overflow.
LARGEST = 1e100
_MISSING_WORDS = ("", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "null", "NULL")
# "None" and "-" may well be categories, but among numbers they mean missing.
_MISSING_NUMBERS = (*_MISSING_WORDS, "na", "n/a", "None", "none", "?", "-", ".")
_TRUTHS = {"true": "1", "false": "0"}
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([T ].*)?|\d{1,4}[/.]\d{1,2}[/.]\d{2,4}([T ].*)?")
_TIME = re.compile(r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?")


class NotANumber(ValueError):  # noqa: N818  says what the value is
    """A column of numbers holds ``value``, which is none."""

    def __init__(self, value: str) -> None:
        super().__init__(value)
        self.value = value


def numbers(column: Array) -> FloatArray:
    """The numbers of a column, NaN where missing or infinite.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        Numbers, booleans, or text that says numbers.

    Raises
    ------
    NotANumber
        When a value is no number; the error holds the first such value.

    Examples
    --------
    >>> import pyarrow as pa
    >>> numbers(pa.chunked_array([["1e3", " 4 ", "NA", "inf", "true"]])).tolist()
    [1000.0, 4.0, nan, nan, 1.0]
    """
    pa, types = arrow(), arrow().types
    column = decoded(column)
    kind = column.type
    if is_text(kind):
        column = _numbers_in_text(column)
    elif types.is_boolean(kind):
        column = column.cast(pa.int8())
    elif not (is_number(kind) or types.is_null(kind)):
        raise NotANumber(str(kind))
    values = column.cast(pa.float64(), safe=False).to_numpy()
    return np.where(np.abs(values) <= LARGEST, values, np.nan)


def as_text(column: Array) -> Array:
    """A column as text without space around the values, null where missing.

    Classes and windows are read by this rule too, so that missing means the same everywhere.

    Examples
    --------
    >>> import pyarrow as pa
    >>> as_text(pa.chunked_array([["red ", "NA", None]])).to_pylist()
    ['red', None, None]
    """
    text = decoded(column).cast(arrow().string())
    return _without(text, _MISSING_WORDS)


def looks_like_dates(distinct: list[str]) -> bool:
    """Whether all texts are written like dates or times of day.

    Examples
    --------
    >>> looks_like_dates(["2024-01-31", "31/01/2024"]), looks_like_dates(["3-1", "5-2"])
    (True, False)
    """
    return bool(distinct) and all(
        _DATE.fullmatch(word) or _TIME.fullmatch(word) for word in distinct
    )


def _without(text: Array, missing: tuple[str, ...]) -> Array:
    pa, pc = arrow(), arrow("compute")
    trimmed = pc.utf8_trim_whitespace(text)
    is_missing = pc.is_in(trimmed, value_set=pa.array(missing, trimmed.type))
    return pc.if_else(is_missing, pa.scalar(None, trimmed.type), trimmed)


def _numbers_in_text(text: Array) -> Array:
    pa = arrow()
    given = _without(text, _MISSING_NUMBERS)
    try:
        return given.cast(pa.float64())
    except pa.ArrowInvalid:
        encoded = given.combine_chunks().dictionary_encode()
        values = [_number(word) for word in encoded.dictionary.to_pylist()]
        return pa.chunked_array([pa.array(values, pa.float64()).take(encoded.indices)])


def _number(word: str) -> float:
    try:
        # float() would take 1_000, which no table means as a number.
        return float(_TRUTHS.get(word.lower(), "?" if "_" in word else word))
    except ValueError:
        raise NotANumber(word) from None
