"""Moved or new: what can be said of unseen classes where known ones may have drifted."""

from unseen.drift.held_out import Control, HeldOut, calibrated
from unseen.drift.hypotheses import ThreeHypotheses, drift_record, weigh_three
from unseen.drift.moved import MovedReading, moved_reading
from unseen.drift.tolerance import Tolerance, certified_tolerance, group_tolerance
from unseen.drift.verdict import Drift, LaidBack, Without, few_columns, with_drift

__all__ = [
    "Control",
    "Drift",
    "HeldOut",
    "LaidBack",
    "MovedReading",
    "ThreeHypotheses",
    "Tolerance",
    "Without",
    "calibrated",
    "certified_tolerance",
    "drift_record",
    "few_columns",
    "group_tolerance",
    "moved_reading",
    "weigh_three",
    "with_drift",
]
