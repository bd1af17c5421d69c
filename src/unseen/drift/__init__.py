"""Moved or new: what is said of unseen classes when known ones may have drifted."""

from unseen.drift.control import Control
from unseen.drift.hypotheses import ThreeHypotheses, weigh_three
from unseen.drift.moved import MovedReading, moved_reading
from unseen.drift.tolerance import Tolerance, certified_tolerance
from unseen.drift.verdict import Drift, drift_record

__all__ = [
    "Control",
    "Drift",
    "MovedReading",
    "ThreeHypotheses",
    "Tolerance",
    "certified_tolerance",
    "drift_record",
    "moved_reading",
    "weigh_three",
]
