"""Confidence intervals of class proportions, from replicates of the shares.

:class:`Percentile` takes quantiles of bootstrap replicates, :class:`Calibrated` stretches them,
:class:`Credible` is for draws from a posterior, and :class:`RocBand` is the paper's appendix. None
is a guarantee; :func:`certified_unseen` bounds the unseen share from below for every distribution.
See docs/theory.md, "Intervals and what the data can refute".
"""

from unseen.intervals.band import RocBand
from unseen.intervals.certified import certified_unseen
from unseen.intervals.quantiles import (
    Calibrated,
    Credible,
    IntervalEvidence,
    IntervalMethod,
    Percentile,
    check_interval,
)

__all__ = [
    "Calibrated",
    "Credible",
    "IntervalEvidence",
    "IntervalMethod",
    "Percentile",
    "RocBand",
    "certified_unseen",
    "check_interval",
]
