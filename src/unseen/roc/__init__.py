"""From scores to a ROC, and from a ROC to the slope at its right end."""

from unseen.roc.bootstrap import bootstrap_roc, bootstrap_rocs
from unseen.roc.fit import BinomialDeviance, fit_roc
from unseen.roc.models import Concave, Gaussian, RocModel
from unseen.roc.sketch import RocSketch, concave_hull

__all__ = [
    "BinomialDeviance",
    "Concave",
    "Gaussian",
    "RocModel",
    "RocSketch",
    "bootstrap_roc",
    "bootstrap_rocs",
    "concave_hull",
    "fit_roc",
]
