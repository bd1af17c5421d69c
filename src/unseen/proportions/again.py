"""Ask again without what may have moved; the new answer counts if nothing moved there.

A sensor that was replaced spoils the answer of all columns, so the others are asked alone. Where
all moved, the new rows are laid back onto labelled ones. docs/drift.md, "Asked again".
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unseen._types import FloatArray, Matrix
from unseen.drift import Drift, LaidBack, Without, few_columns
from unseen.drift.verdict import Verdict
from unseen.proportions.base import ProportionEstimator, answer
from unseen.records import Estimate
from unseen.samples import LabelledRows
from unseen.scores.laid_back import laid_back
from unseen.scores.scales import dense

__all__ = ["asked_again", "taken_over"]

_LIKELY = 0.5  # probability of moved above which moved is likelier than not
# Unseen share from which on nothing was taken off that had made rows of known classes look unseen.
_AS_BEFORE = 0.8


def asked_again(
    estimator: ProportionEstimator, own: LabelledRows, estimate: Estimate, rows: Matrix
) -> Estimate:
    """The estimate, or the answer to the question asked again, where classes may have moved.

    ``own`` are the labelled rows. Each way to ask costs another estimate. The verdict stays that of
    all columns. Rows that are taken for a new class could be laid anywhere.
    """
    found = estimate.drift
    if found is None or _verdict(found) == "still":
        return estimate
    told = _without_columns(estimator, own, estimate, found, rows)
    found = told.drift or found
    if found.answered is not None or found.as_class or found.probability_moved <= _LIKELY:
        return told
    return _laid_back(estimator, own, told, found, rows)


def _verdict(drift: Drift) -> Verdict:
    """The verdict as shares take it: the rows of a class that may have moved alone are new."""
    return drift.verdict if drift.moved_class is None else "still"


def _without_columns(
    estimator: ProportionEstimator,
    own: LabelledRows,
    estimate: Estimate,
    found: Drift,
    rows: Matrix,
) -> Estimate:
    """Ask without the columns that hold stray values, or else those that moved most, if few."""
    left_out = few_columns(found, rows.shape[1])
    if not left_out:
        return estimate
    names = own.names or range(rows.shape[1])
    kept = [place for place, name in enumerate(names) if name not in left_out]
    labelled = replace(own, rows=own.rows[:, kept], names=None)
    other = answer(estimator, labelled, rows[:, kept], estimate.confidence)
    if other.drift is None or other.detection_limit is None:
        return estimate
    if not found.stray_columns and other.detection_limit > found.unlike:
        return estimate
    if found.verdict == "moved" and other.unseen >= _AS_BEFORE:
        return estimate
    shares = tuple(other.proportions.tolist())
    without = Without(left_out, other.unseen, _verdict(other.drift), shares)
    return taken_over(estimate, other, replace(found, without=without))


def _laid_back(
    estimator: ProportionEstimator,
    own: LabelledRows,
    estimate: Estimate,
    found: Drift,
    rows: Matrix,
) -> Estimate:
    """Ask of the rows without a shift and a factor of each column."""
    laid = laid_back(own, rows)
    if laid is None:
        return estimate
    other = answer(estimator, replace(own, rows=dense(own.rows)), laid[0], estimate.confidence)
    if other.drift is None or other.unseen >= _AS_BEFORE:
        return estimate
    shares = tuple(other.proportions.tolist())
    record = LaidBack(laid[1], other.unseen, _verdict(other.drift), shares)
    return taken_over(estimate, other, replace(found, laid_back=record))


def taken_over(estimate: Estimate, other: Estimate, drift: Drift) -> Estimate:
    """The estimate, with the shares of the other answer if nothing moved there, or a note of them.

    ``drift`` is that of the estimate, with a record of the other answer. The verdict stays.
    """
    if estimate.drift is None or drift.answered is None:
        return replace(estimate, drift=drift)
    limits = other.intervals
    if limits is not None and estimate.intervals is not None:
        # Under "unclear" all rows may be new, and rows of one class can be laid anywhere.
        sure = drift.verdict == "moved" or drift.answered is drift.without
        limits = reaching(limits, estimate.intervals, 0.5 if sure else 1.0)
    doubts = {notice.code for notice in estimate.drift.notices}
    drift = replace(drift, far=False)
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


def reaching(limits: FloatArray, doubtful: FloatArray, as_far: float = 0.5) -> FloatArray:
    """Intervals ``as_far`` on the way to those that hold both answers; 0% unseen stays possible.

    Limits (K + 1, 2) are those of the other answer and of all columns.
    """
    low = np.minimum(limits[:, 0], doubtful[:, 0])
    both = np.column_stack([low, np.maximum(limits[:, 1], doubtful[:, 1])])
    found = limits + as_far * (both - limits)
    found[-1, 0] = low[-1]
    return found
