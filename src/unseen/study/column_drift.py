"""Columns that changed as a whole: what looks like an unseen class may be a drifted column.

Shares alone cannot tell a new class from a known class whose measurements moved. But where one
column sets the new rows apart, a person who hears its name often can.
"""

from __future__ import annotations

import numpy as np

from unseen._types import FloatArray
from unseen.records import Notice
from unseen.study.rows import NewRows, Training

__all__ = ["column_drift"]

# More new rows than this outside the range of training are rarely all of a new class.
_MANY_OUTSIDE = 0.5
_LARGE_CHANGE = 0.1


def column_drift(training: Training, new: NewRows) -> tuple[Notice, ...]:
    """Warn of columns in which most new rows lie out of range, or gaps became more or less common.

    Where a column drifted, one more notice says what follows for the unseen share.
    """
    outside = share_outside(training.X, new.X)
    gaps, gaps_new = ((rows > 0).mean(axis=0) for rows in (training.X, new.X))
    found: list[Notice] = []
    first = 0
    for encoding in training.columns.encodings_:
        for place, name in enumerate(encoding.names, start=first):
            if place - first == encoding.missing_at:
                if abs(gaps_new[place] - gaps[place]) > _LARGE_CHANGE:
                    text = (
                        f"Column {encoding.name!r} is missing in {gaps_new[place]:.0%} of the new "
                        f"rows and in {gaps[place]:.0%} of the labelled ones."
                    )
                    found.append(Notice("gaps_changed", text, about=encoding.name))
            elif outside[place] > _MANY_OUTSIDE:
                text = (
                    f"Column {name!r} lies outside its range in TRAIN in {outside[place]:.0%} of "
                    "the new rows."
                )
                found.append(Notice("column_out_of_range", text, about=encoding.name))
        first += len(encoding.names)
    if found:
        advice = "If a column drifted and no class is new, the unseen share is too large: drop it."
        found.append(Notice("column_drift", advice))
    return tuple(found)


def share_outside(X: FloatArray, X_new: FloatArray) -> FloatArray:
    """Share of new rows below the smallest or above the largest labelled value, by column.

    Examples
    --------
    >>> share_outside(np.array([[0.0], [1.0]]), np.array([[0.5], [2.0], [-1.0], [3.0]]))
    array([0.75])
    """
    return np.asarray(((X_new < X.min(axis=0)) | (X_new > X.max(axis=0))).mean(axis=0))
