"""Quantiles of replicates, stretched or at least as wide as counting noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from unseen._types import FloatArray
from unseen.intervals.evidence import IntervalEvidence, check_n_replicates
from unseen.intervals.percentile import percentile_limits, simultaneous_tail
from unseen.roc.bootstrap import STRETCH

__all__ = ["Calibrated", "Credible", "counting_noise", "stretched_limits"]


@dataclass(frozen=True)
class Calibrated:
    """Bootstrap percentiles, stretched for the noise that a bootstrap of given scores misses.

    The replicates reweight rows and keep their scores. They miss that other folds give other
    scores, that other training rows give another classifier, and that the ROC model has a bias.
    All three are of the order of the sampling noise, so that plain percentiles cover too little;
    each limit is therefore moved away from the estimate by the factor ``stretch``. The factor was
    chosen on simulated development problems and tested on others (``benchmarks/coverage.py``).

    No limit is nearer to the estimate than binomial counting noise, by which the shares would
    vary even if the class of each new row were known. So a share that was estimated as 0 has an
    interval of positive length.

    Parameters
    ----------
    stretch : float, default=1.4
        Factor on the distances from the estimate to the percentiles; 1 is none.
    n_replicates : int, default=500
        Bootstrap replicates.
    simultaneous : bool, default=False
        Whether the level holds for all shares at once, instead of for each.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.intervals import Calibrated, IntervalEvidence
    >>> draws = np.random.default_rng(0).dirichlet([300, 700], 1000)
    >>> evidence = IntervalEvidence(np.array([0.3, 0.7]), lambda n, seed: draws, 1000)
    >>> Calibrated().limits(evidence, 0.95).round(2)
    array([[0.26, 0.34],
           [0.66, 0.74]])
    """

    stretch: float = STRETCH
    n_replicates: int = 500
    simultaneous: bool = False

    def __post_init__(self) -> None:
        check_n_replicates(self.n_replicates)
        if not self.stretch >= 1:
            raise ValueError(f"stretch must be >= 1; got {self.stretch}.")

    def limits(self, evidence: IntervalEvidence, confidence: float) -> FloatArray:
        """Lower and upper limit of each share, unseen last: see :class:`IntervalMethod`."""
        draws = evidence.replicates(self.n_replicates, evidence.seed)
        tail = simultaneous_tail(draws, confidence) if self.simultaneous else (1 - confidence) / 2
        quantiles = percentile_limits(draws, tail)
        noise = counting_noise(evidence.shares, evidence.n_new, tail)
        # An unseen share that is the same in all replicates was assumed (a closed set).
        if np.ptp(draws[:, -1]) == 0:
            noise[-1] = 0.0
        return stretched_limits(evidence.shares, quantiles, self.stretch, noise)


@dataclass(frozen=True)
class Credible:
    """Quantiles of draws from a posterior, nowhere narrower than counting noise.

    The shares would vary by counting noise even if the class of each new row were known.

    Parameters
    ----------
    n_replicates : int, default=500
        Draws from the posterior.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.intervals import Credible, IntervalEvidence
    >>> draws = np.random.default_rng(0).dirichlet([30, 70], 1000)
    >>> evidence = IntervalEvidence(np.array([0.3, 0.7]), lambda n, seed: draws, 1000)
    >>> Credible().limits(evidence, 0.95).round(2)
    array([[0.22, 0.39],
           [0.61, 0.78]])
    """

    n_replicates: int = 500

    def __post_init__(self) -> None:
        check_n_replicates(self.n_replicates)

    def limits(self, evidence: IntervalEvidence, confidence: float) -> FloatArray:
        """Lower and upper limit of each share, unseen last: see :class:`IntervalMethod`."""
        draws = evidence.replicates(self.n_replicates, evidence.seed)
        tail = (1 - confidence) / 2
        noise = counting_noise(evidence.shares, evidence.n_new, tail)
        return stretched_limits(evidence.shares, percentile_limits(draws, tail), 1.0, noise)


def stretched_limits(
    shares: FloatArray, quantiles: FloatArray, stretch: float, least: FloatArray
) -> FloatArray:
    """Limits at ``stretch`` times the distance of the quantiles, or times ``least`` if larger.

    Examples
    --------
    >>> stretched_limits(np.array([0.5]), np.array([[0.25, 0.5]]), 1.5, np.array([0.125]))
    array([[0.125 , 0.6875]])
    """
    side = np.array([-1.0, 1.0])
    reach = np.maximum(side * (quantiles - shares[:, None]), least[:, None])
    return np.clip(shares[:, None] + stretch * side * reach, 0.0, 1.0)


def counting_noise(shares: FloatArray, n_rows: int, tail: float) -> FloatArray:
    """Half-width of the binomial interval of Agresti and Coull, if all labels were known.

    Examples
    --------
    >>> counting_noise(np.array([0.0, 0.5]), 100, 0.025).round(3)
    array([0.026, 0.096])
    """
    quantile = float(norm.isf(tail))
    rows = n_rows + quantile**2
    middle = (shares * n_rows + quantile**2 / 2) / rows
    return quantile * np.sqrt(middle * (1 - middle) / rows)
