"""The answer of the other columns, where a few columns moved or hold stray values.

A sensor that was replaced spoils the answer of all columns. Where nothing seems to have moved in
the others, these are asked alone. docs/drift.md, "A few columns".
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unseen._types import FloatArray
from unseen.drift import Without
from unseen.records import Estimate

__all__ = ["without_columns"]


def without_columns(estimate: Estimate, other: Estimate, left_out: tuple[Any, ...]) -> Estimate:
    """The shares of the other columns if nothing seems to have moved there; else a note of them.

    Parameters
    ----------
    estimate : Estimate
        Of all columns, with a verdict on drift.
    other : Estimate
        Without the columns that moved most, or that hold stray values, with a verdict.
    left_out : tuple
        These columns.

    Returns
    -------
    Estimate
        With the verdict of all columns.
    """
    found, there = estimate.drift, other.drift
    if found is None or there is None:
        return estimate
    shares = tuple(other.proportions.tolist())
    without = Without(left_out, other.unseen, there.verdict, shares)
    if without.verdict != "still":
        return replace(estimate, drift=replace(found, without=without))
    limits = other.intervals
    if limits is not None and estimate.intervals is not None:
        limits = reaching(limits, estimate.intervals)
    drift = replace(found, far=False, without=without)
    doubts = {notice.code for notice in found.notices}
    unseen = {"probability_unseen": other.diagnostics["probability_unseen"]}
    return replace(
        estimate,
        proportions=other.proportions,
        unseen=other.unseen,
        intervals=limits,
        roc=other.roc,
        pooled=other.pooled,
        diagnostics={**estimate.diagnostics, **unseen},
        notices=(*(one for one in estimate.notices if one.code not in doubts), *drift.notices),
        drift=drift,
        detection_limit=other.detection_limit,
    )


def reaching(limits: FloatArray, doubtful: FloatArray) -> FloatArray:
    """Intervals halfway to those that hold both; 0% unseen stays possible where it was.

    Parameters
    ----------
    limits, doubtful : ndarray of shape (K + 1, 2)
        Ends without the columns and with them, of the unseen share last.

    Returns
    -------
    ndarray of shape (K + 1, 2)

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.proportions.without import reaching
    >>> reaching(np.array([[0.6, 0.8], [0.2, 0.4]]), np.array([[0.2, 0.7], [0.0, 0.8]]))
    array([[0.4, 0.8],
           [0. , 0.6]])
    """
    low = np.minimum(limits[:, 0], doubtful[:, 0])
    both = np.column_stack([low, np.maximum(limits[:, 1], doubtful[:, 1])])
    halfway = (limits + both) / 2
    halfway[-1, 0] = low[-1]
    return halfway
