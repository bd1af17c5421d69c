"""Estimators of class proportions, one idea per file."""

from unseen.proportions.adjusted import AdjustedCount, adjusted_shares
from unseen.proportions.base import ClassScores, PerClassEstimator, ProportionEstimator
from unseen.proportions.binary import BinaryRescaled, BinaryScores, rescaled_proportions
from unseen.proportions.comparison import Comparison, compare
from unseen.proportions.count import ClassifyAndCount
from unseen.proportions.default import OpenSetEstimator
from unseen.proportions.em import (
    BiasCorrectedTemperature,
    Rescaling,
    SaerensEM,
    Temperature,
    mixture_shares,
)
from unseen.proportions.hall import HallECDF
from unseen.proportions.incomplete import MPEIncomplete, incomplete_proportions
from unseen.proportions.joint import MPEJoint
from unseen.proportions.kl import KLDivergence
from unseen.proportions.l2 import L2Distance
from unseen.proportions.open_scores import OpenSetScores
from unseen.proportions.posteriors import ClosedSetEstimator, Posteriors, RowScores
from unseen.proportions.projected import MPEProjected

__all__ = [
    "AdjustedCount",
    "BiasCorrectedTemperature",
    "BinaryRescaled",
    "BinaryScores",
    "ClassScores",
    "ClassifyAndCount",
    "ClosedSetEstimator",
    "Comparison",
    "HallECDF",
    "KLDivergence",
    "L2Distance",
    "MPEIncomplete",
    "MPEJoint",
    "MPEProjected",
    "OpenSetEstimator",
    "OpenSetScores",
    "PerClassEstimator",
    "Posteriors",
    "ProportionEstimator",
    "Rescaling",
    "RowScores",
    "SaerensEM",
    "Temperature",
    "adjusted_shares",
    "compare",
    "incomplete_proportions",
    "mixture_shares",
    "rescaled_proportions",
]
