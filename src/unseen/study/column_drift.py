"""Columns that changed as a whole: what looks like an unseen class may be a drifted column.

Shares alone cannot tell a new class from a known class whose measurements moved. But where one
column sets the new rows apart, a person who hears its name often can.
"""

from __future__ import annotations

import numpy as np

from unseen._types import FloatArray
from unseen._wording import listed
from unseen.records import Notice
from unseen.samples.oddities import sentinel_notices
from unseen.study.rows import NewRows, Training
from unseen.tables.encodings import NumberEncoding

__all__ = ["column_drift", "in_units"]

# More new rows than this outside the range of training are rarely all of a new class.
_MANY_OUTSIDE = 0.5
_LARGE_CHANGE = 0.1


def column_drift(training: Training, new: NewRows) -> tuple[Notice, ...]:
    """Warn of columns in which most new rows lie out of range, or gaps became more or less common.

    Where a column drifted, one more notice says what follows for the unseen share.
    """
    outside = share_outside(training.X, new.X)
    gaps, gaps_new = ((rows > 0).mean(axis=0) for rows in (training.X, new.X))
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
    return _worded(wandered, gapped)


def in_units(notices: tuple[Notice, ...], training: Training, new: NewRows) -> tuple[Notice, ...]:
    """The notices, where numbers for missing values stand as in the file, with their option."""
    others = tuple(one for one in notices if one.code != "sentinel_values")
    if len(others) == len(notices):
        return notices
    units = [
        (encoding.mean, encoding.scale)
        if isinstance(encoding, NumberEncoding) and name == encoding.name
        else (0.0, 1.0)
        for encoding in training.columns.encodings_
        for name in encoding.names
    ]
    means, scales = np.array(units).T
    rows, rows_new = (means + scales * one for one in (training.X, new.X))
    names = tuple(map(str, training.columns.get_feature_names_out()))
    advice = "give --missing {value}"
    return (*others, *sentinel_notices(rows, rows_new, names, advice))


def _worded(wandered: list[tuple[str, str]], gapped: list[tuple[str, str]]) -> tuple[Notice, ...]:
    """One notice for all columns of a kind, and one on what follows."""
    found = []
    if wandered:
        text = f"Outside the range that TRAIN shows: {_all(wandered)}."
        found.append(Notice("column_out_of_range", text, about=_one(wandered)))
    if gapped:
        text = f"Missing more often or less often than in TRAIN: {_all(gapped)}."
        found.append(Notice("gaps_changed", text, about=_one(gapped)))
    if found:
        advice = (
            "If a column drifted and no class is new, drop it: rows that moved can look unseen."
        )
        found.append(Notice("column_drift", advice))
    return tuple(found)


def _all(found: list[tuple[str, str]]) -> str:
    return listed([said for _, said in found])


def _one(found: list[tuple[str, str]]) -> str | None:
    """The column, where there is one."""
    names = {name for name, _ in found}
    return names.pop() if len(names) == 1 else None


def share_outside(X: FloatArray, X_new: FloatArray) -> FloatArray:
    """Share of new rows below the smallest or above the largest labelled value, by column.

    Examples
    --------
    >>> share_outside(np.array([[0.0], [1.0]]), np.array([[0.5], [2.0], [-1.0], [3.0]]))
    array([0.75])
    """
    return np.asarray(((X_new < X.min(axis=0)) | (X_new > X.max(axis=0))).mean(axis=0))
