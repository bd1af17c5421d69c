"""Estimators of class proportions, one idea per file."""

from unseen.proportions.base import ClassScores, PerClassEstimator, ProportionEstimator
from unseen.proportions.closed_set.adjusted import AdjustedCount, adjusted_shares
from unseen.proportions.closed_set.count import ClassifyAndCount
from unseen.proportions.closed_set.em import (
    BiasCorrectedTemperature,
    Rescaling,
    SaerensEM,
    Temperature,
)
from unseen.proportions.closed_set.hall import HallECDF
from unseen.proportions.closed_set.kl import KLDivergence
from unseen.proportions.closed_set.l2 import L2Distance
from unseen.proportions.closed_set.posteriors import ClosedSetEstimator, Posteriors, RowScores
from unseen.proportions.comparison import Comparison, compare
from unseen.proportions.open_set.estimator import OpenSetEstimator
from unseen.proportions.open_set.scores import OpenSetScores
from unseen.proportions.per_class.binary import BinaryRescaled, BinaryScores, rescaled_proportions
from unseen.proportions.per_class.incomplete import MPEIncomplete, incomplete_proportions
from unseen.proportions.per_class.joint import MPEJoint
from unseen.proportions.per_class.projected import MPEProjected
from unseen.simplex import mixture_shares

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
