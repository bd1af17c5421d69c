"""From scores to a ROC, and from a ROC to the slope at its right end."""

from unseen.roc.bootstrap import RocBootstrap, bootstrap_roc, bootstrap_rocs, bootstrap_slopes
from unseen.roc.fit import BinomialDeviance, FittedRoc, fit_roc
from unseen.roc.models import Concave, Gaussian, RocModel
from unseen.roc.sketch import RocSketch, concave_hull, cumulative_roc

__all__ = [
    "BinomialDeviance",
    "Concave",
    "FittedRoc",
    "Gaussian",
    "RocBootstrap",
    "RocModel",
    "RocSketch",
    "bootstrap_roc",
    "bootstrap_rocs",
    "bootstrap_slopes",
    "concave_hull",
    "cumulative_roc",
    "fit_roc",
]
