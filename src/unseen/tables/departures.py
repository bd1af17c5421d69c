"""What new rows show in a column and no labelled row does: gaps and categories, told together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from unseen._types import BoolArray
from unseen._wording import listed, quoted
from unseen.records import Notice

Severity: TypeAlias = Literal["note", "warning"]

# Departures in at least this share of the new rows can move the unseen share.
_MANY = 0.05


@dataclass(frozen=True)
class Departure:
    """A share of the new rows that show in ``column`` what no labelled row does."""

    code: Literal["newly_missing", "new_category"]
    column: str
    share: float
    said: str  # what replaces a missing value, or an example of a category


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
