"""Columns as people know them, and columns that changed as a whole.

Shares alone cannot tell a new class from a known class whose measurements moved. But where one
column sets the new rows apart, a person who hears its name often can.
"""

from __future__ import annotations

from unseen._wording import listed
from unseen.loop import Column
from unseen.records import Notice
from unseen.study.rows import NewRows, Training
from unseen.tables import Columns
from unseen.tables.texts import TextEncoding

# More new rows than this outside the range of training are rarely all of a new class.
_MANY_OUTSIDE = 0.5
_LARGE_CHANGE = 0.1


def readable(columns: Columns) -> list[Column]:
    """The encoded columns as people know them: numbers in their units, categories by name."""
    found = []
    for encoding in columns.encodings_:
        for name, unit in zip(encoding.names, encoding.units, strict=True):
            _, is_category, category = name.removeprefix(encoding.name).partition("=")
            if is_category:
                found.append(Column(encoding.name, category=category))
            else:
                offset, scale = unit or (0.0, 1.0)
                is_direction = isinstance(encoding, TextEncoding)
                found.append(Column(name, offset, scale, is_direction=is_direction))
    return found


def column_drift(training: Training, new: NewRows) -> tuple[Notice, ...]:
    """Warn of columns in which most new rows lie out of range, or gaps became more or less common.

    Where a column drifted, one more notice says what follows for the unseen share.
    """
    X, X_new = training.X, new.X
    outside = ((X_new < X.min(axis=0)) | (X_new > X.max(axis=0))).mean(axis=0)
    gaps, gaps_new = ((rows > 0).mean(axis=0) for rows in (X, X_new))
    wandered: list[tuple[str, str]] = []
    gapped: list[tuple[str, str]] = []
    first = 0
    for encoding in training.columns.encodings_:
        for place, name in enumerate(encoding.names, start=first):
            if place - first == encoding.missing_at:
                if abs(gaps_new[place] - gaps[place]) > _LARGE_CHANGE:
                    shares = f"{gaps_new[place]:.0%} of the new rows, {gaps[place]:.0%} in TRAIN"
                    gapped.append((encoding.name, f"{encoding.name!r} ({shares})"))
            elif outside[place] > _MANY_OUTSIDE:
                shares = f"{outside[place]:.0%} of the new rows"
                wandered.append((encoding.name, f"{name!r} ({shares})"))
        first += len(encoding.names)
    found = []
    if wandered:
        said, about = _listed(wandered)
        text = f"Outside the range that TRAIN shows: {said}."
        found.append(Notice("column_out_of_range", text, about=about))
    if gapped:
        said, about = _listed(gapped)
        text = f"Missing more often or less often than in TRAIN: {said}."
        found.append(Notice("gaps_changed", text, about=about))
    advice = "If a column drifted and no class is new, drop it: rows that moved can look unseen."
    return (*found, Notice("column_drift", advice)) if found else ()


def _listed(found: list[tuple[str, str]]) -> tuple[str, str | None]:
    """What is said of all columns, and the column, where there is one."""
    names = {name for name, _ in found}
    return listed([said for _, said in found]), names.pop() if len(names) == 1 else None
