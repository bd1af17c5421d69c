"""Confidence intervals of class proportions, for any estimator that can be bootstrapped.

Every estimator of class proportions makes replicates: its shares under Bayesian-bootstrap
weights of the labelled and the new rows. From those, and from the ROCs behind them:

- :class:`Percentile`: the quantiles of the replicates. They know the sampling noise of the
  scores that were made, and nothing else, and so cover too little.
- :class:`PaperBand`: the paper's appendix. A model fitted to the lower band of the ROC of a
  class has the upper limit of its share as its right-end slope.
- :class:`Calibrated`: the default. See there for what it adds and why.
- :class:`Credible`: for replicates that are draws from a posterior.

None of them is a guarantee. :func:`certified_unseen` is one: a lower bound of the unseen share
that holds for every distribution.
"""

from unseen.intervals.band import PaperBand
from unseen.intervals.calibrated import Calibrated, Credible
from unseen.intervals.certified import certified_unseen
from unseen.intervals.evidence import IntervalEvidence, IntervalMethod, check_interval
from unseen.intervals.percentile import Percentile

__all__ = [
    "Calibrated",
    "Credible",
    "IntervalEvidence",
    "IntervalMethod",
    "PaperBand",
    "Percentile",
    "certified_unseen",
    "check_interval",
]
