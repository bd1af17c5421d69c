"""Estimators of class proportions, one idea per file."""

from unseen.proportions.base import ClassScores, PerClassEstimator, ProportionEstimator
from unseen.proportions.incomplete import MPEIncomplete, incomplete_proportions

__all__ = [
    "ClassScores",
    "MPEIncomplete",
    "PerClassEstimator",
    "ProportionEstimator",
    "incomplete_proportions",
]
