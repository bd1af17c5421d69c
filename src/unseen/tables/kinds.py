"""Columns that cannot be used and why, and gaps that labelled rows do not have."""

from __future__ import annotations

from typing import Any

from unseen._types import BoolArray
from unseen.records import Notice
from unseen.tables._arrow import arrow

__all__ = ["MANY", "Constant", "FreeText", "Unusable", "check_kind", "new_gaps"]

# Departures in at least this share of the new rows can move the unseen share.
MANY = 0.05


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


def check_kind(kind: Any) -> None:
    """Raise ``Unusable`` where values of this type of pyarrow are neither numbers nor text."""
    types = arrow().types
    if types.is_temporal(kind):
        raise Unusable("holds dates or times")
    is_bytes = types.is_binary(kind) or types.is_large_binary(kind)
    is_other = isinstance(kind, arrow().BaseExtensionType)  # such as intervals of pandas
    if types.is_nested(kind) or is_bytes or types.is_fixed_size_binary(kind) or is_other:
        raise Unusable(f"holds neither numbers nor text, but {kind}")


def new_gaps(name: str, missing: BoolArray, was_missing: bool, filler: str) -> list[Notice]:
    """Missing values where labelled rows have none; a column with nothing else is an error."""
    if not len(missing):
        raise ValueError("NEW must have rows; got none.")
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
    severe = missing.mean() >= MANY
    return [Notice("newly_missing", text, "warning" if severe else "note", about=name)]
