"""Classifiers with the label "unseen", and their risk: multiclass anomaly rejection."""

from unseen.rejection.base import RejectionRule
from unseen.rejection.cells.cells import cell_costs
from unseen.rejection.cells.partitions import EqualWidthCells, QuantileCells, VoronoiCells
from unseen.rejection.classifier import RejectionClassifier
from unseen.rejection.forest import RejectionForest
from unseen.rejection.histogram import RejectionHistogram
from unseen.rejection.kernel import RejectionKernel
from unseen.rejection.learning.losses import Logistic, Square
from unseen.rejection.learning.sample import FittedRule, OpenSample, OutOfFold
from unseen.rejection.learning.shares import Shares
from unseen.rejection.plugin import OneModel, RejectionPlugIn, TwoModels
from unseen.rejection.regions import Regions, label_regions
from unseen.rejection.risk.curve import RiskCurve, risk_curve
from unseen.rejection.risk.estimate import CostSensitive, ErrorRate, MinMax, RiskEstimate, open_risk
from unseen.rejection.risk.metrics import (
    known_accuracy,
    novelty_auc,
    open_auc,
    open_macro_f1,
    unseen_precision,
    unseen_recall,
)
from unseen.rejection.risk.scorer import OpenSetScorer, open_set_risk, open_set_scorer
from unseen.rejection.risk.sensitivity import Sensitivity, share_sensitivity
from unseen.rejection.stack import RejectionStack
from unseen.rejection.threshold import RejectionThreshold
from unseen.rejection.tree import RejectionTree

__all__ = [
    "CostSensitive",
    "EqualWidthCells",
    "ErrorRate",
    "FittedRule",
    "Logistic",
    "MinMax",
    "OneModel",
    "OpenSample",
    "OpenSetScorer",
    "OutOfFold",
    "QuantileCells",
    "Regions",
    "RejectionClassifier",
    "RejectionForest",
    "RejectionHistogram",
    "RejectionKernel",
    "RejectionPlugIn",
    "RejectionRule",
    "RejectionStack",
    "RejectionThreshold",
    "RejectionTree",
    "RiskCurve",
    "RiskEstimate",
    "Sensitivity",
    "Shares",
    "Square",
    "TwoModels",
    "VoronoiCells",
    "cell_costs",
    "known_accuracy",
    "label_regions",
    "novelty_auc",
    "open_auc",
    "open_macro_f1",
    "open_risk",
    "open_set_risk",
    "open_set_scorer",
    "risk_curve",
    "share_sensitivity",
    "unseen_precision",
    "unseen_recall",
]
