"""Intervals from quantiles of replicates: plain, stretched, or of draws from a posterior.

An interval method takes :class:`IntervalEvidence`, the estimate and a way to draw replicates of it,
and returns limits. docs/theory.md, "Intervals and what the data can refute", says what each covers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol

import numpy as np
from scipy.stats import norm, rankdata

from unseen._frozen import Frozen
from unseen._types import FloatArray
from unseen.roc.bootstrap import STRETCH

__all__ = [
    "Calibrated",
    "Credible",
    "IntervalEvidence",
    "IntervalMethod",
    "Percentile",
    "check_interval",
    "check_n_replicates",
    "simultaneous_tail",
    "stretched_limits",
]


@dataclass(frozen=True, eq=False)
class IntervalEvidence(Frozen):
    """The estimate, and a way to draw replicates of it.

    Parameters
    ----------
    shares : ndarray of shape (K + 1,)
        The estimate: share of each known class, then of unseen ones.
    replicates : callable
        ``replicates(n_replicates, random_state)`` draws shares, shape (B, K + 1).
    n_new : int
        New rows.
    pairs : tuple of (ndarray, ndarray) or None
        Scores of the new rows and of the rows of each class; None if the estimator has none.
    seed : int or None
        Seed of the replicates.
    """

    shares: FloatArray
    replicates: Callable[[int, Any], FloatArray]
    n_new: int
    pairs: tuple[tuple[FloatArray, FloatArray], ...] | None = None
    seed: int | None = None


class IntervalMethod(Protocol):
    """A way to make intervals."""

    def limits(self, evidence: IntervalEvidence, confidence: float) -> FloatArray:
        """Lower and upper limit of each share, unseen last.

        Parameters
        ----------
        evidence : IntervalEvidence
            The estimate, its replicates and, where the estimator has them, its scores.
        confidence : float
            Level of the intervals, strictly between 0 and 1.

        Returns
        -------
        ndarray of shape (K + 1, 2)
        """
        ...


def check_interval(confidence: float | None, interval: Any = None) -> None:
    """Check that the level lies strictly between 0 and 1, and that the method makes limits.

    Examples
    --------
    >>> check_interval(95)
    Traceback (most recent call last):
        ...
    ValueError: confidence must lie strictly between 0 and 1, such as 0.95; got 95.
    """
    is_number = isinstance(confidence, Real)
    if confidence is not None and not (is_number and 0 < confidence < 1):
        raise ValueError(
            f"confidence must lie strictly between 0 and 1, such as 0.95; got {confidence!r}."
        )
    if interval is not None and (isinstance(interval, type) or not hasattr(interval, "limits")):
        raise TypeError(
            f"interval must be an interval method such as Calibrated(), or None; got {interval!r}."
        )
    if interval is not None and confidence is None:
        raise ValueError(f"interval needs a confidence, such as 0.95; got {interval!r} and None.")


def check_n_replicates(n_replicates: int) -> None:
    """Check that there are enough replicates to have quantiles."""
    if n_replicates < 20:
        raise ValueError(f"n_replicates must be >= 20 to have quantiles; got {n_replicates}.")


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
        return np.quantile(draws, [tail, 1 - tail], axis=0).T


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
        quantiles = np.quantile(draws, [tail, 1 - tail], axis=0).T
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
        quantiles = np.quantile(draws, [tail, 1 - tail], axis=0).T
        noise = counting_noise(evidence.shares, evidence.n_new, tail)
        return stretched_limits(evidence.shares, quantiles, 1.0, noise)


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
