"""Quantiles of bootstrap replicates, for each share or for all at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from unseen._types import FloatArray
from unseen.intervals.evidence import IntervalEvidence, check_n_replicates

__all__ = ["Percentile", "percentile_limits", "simultaneous_tail"]


@dataclass(frozen=True)
class Percentile:
    """Quantiles of the bootstrap replicates, the new and labelled rows both reweighted.

    The quantiles hold the noise of the rows for given scores. They miss that other folds give
    other scores and that a ROC model has a bias: expect a coverage below the stated level.

    Parameters
    ----------
    n_replicates : int, default=500
        Bootstrap replicates.
    simultaneous : bool, default=False
        Whether the level holds for all shares at once, instead of for each.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.intervals import IntervalEvidence, Percentile
    >>> draws = np.random.default_rng(0).dirichlet([300, 700], 1000)
    >>> evidence = IntervalEvidence(np.array([0.3, 0.7]), lambda n, seed: draws, 1000)
    >>> Percentile().limits(evidence, 0.95).round(2)
    array([[0.27, 0.33],
           [0.67, 0.73]])
    """

    n_replicates: int = 500
    simultaneous: bool = False

    def __post_init__(self) -> None:
        check_n_replicates(self.n_replicates)

    def limits(self, evidence: IntervalEvidence, confidence: float) -> FloatArray:
        """Lower and upper limit of each share, unseen last: see :class:`IntervalMethod`."""
        draws = evidence.replicates(self.n_replicates, evidence.seed)
        tail = simultaneous_tail(draws, confidence) if self.simultaneous else (1 - confidence) / 2
        return percentile_limits(draws, tail)


def percentile_limits(draws: FloatArray, tail: float) -> FloatArray:
    """Quantiles ``tail`` and ``1 - tail`` of each column: shape (columns, 2)."""
    return np.quantile(draws, [tail, 1 - tail], axis=0).T


def simultaneous_tail(draws: FloatArray, confidence: float) -> float:
    """Tail to cut off each column so that whole rows stay inside with this confidence.

    Each row is measured by the rank of its most extreme column, and the level is set on this one
    number per row. So the dependence between columns needs no assumption.

    Parameters
    ----------
    draws : ndarray of shape (B, columns)
        Replicates.
    confidence : float
        Share of the rows that lie inside the limits.

    Returns
    -------
    float
        At most ``(1 - confidence) / 2``, the tail for one column alone.

    Examples
    --------
    >>> import numpy as np
    >>> draws = np.random.default_rng(0).normal(size=(4000, 1))
    >>> round(simultaneous_tail(draws, 0.9), 2)
    0.05
    """
    below = (rankdata(draws, method="min", axis=0) - 1) / len(draws)
    above = (rankdata(-draws, method="min", axis=0) - 1) / len(draws)
    # Ties count as inside: half the replicates may have an unseen share of exactly 0.
    outermost = np.minimum(1 - below, 1 - above).min(axis=1)
    return float(min(np.quantile(outermost, 1 - confidence), (1 - confidence) / 2))
