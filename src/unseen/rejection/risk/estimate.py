"""The risk of a fixed classifier with the label "unseen", from labelled and new rows alone.

``C_i(l) = P_i(f = l)`` are the rates at which class i gets label l, ``C_0(l)`` the rates of the new
rows. The risk, Eq. (RMul), and other measures are smooth functions of these rates and of the
shares; the delta method carries the noise of both to the standard error (``docs/rejection.md``).
Rows that the classifier learnt from have no place here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unseen._frozen import Frozen
from unseen._types import FloatArray
from unseen.rejection.risk.measures import ErrorRate, RiskMeasure, unseen_error

__all__ = ["RiskEstimate", "label_rates", "open_risk"]


@dataclass(frozen=True, eq=False)
class RiskEstimate(Frozen):
    """An estimated risk, its standard error, and the rates that it was made from.

    Parameters
    ----------
    risk : float
        The estimate. It is unbiased and so not clipped: it can be below 0 on small samples.
    standard_error : float
        Noise of the samples, and of the shares where their covariance was given.
    rates : ndarray of shape (K, K + 1)
        Rate of each label in each known class, unseen last.
    rates_new : ndarray of shape (K + 1,)
        Rate of each label among the new rows.
    proportions : ndarray of shape (K + 1,)
        Shares that were used, unseen last; the last is negative where the others exceed 1.
    measure : RiskMeasure
        Measure that ``risk`` estimates.

    Examples
    --------
    >>> from unseen.rejection import open_risk
    >>> estimate = open_risk([0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 1, 1], [0.5])
    >>> print(estimate)
    risk 0.250 with standard error 0.382 (ErrorRate)
    >>> estimate.class_errors, estimate.unseen_part
    (array([0.25]), 0.125)
    """

    risk: float
    standard_error: float
    rates: FloatArray
    rates_new: FloatArray
    proportions: FloatArray
    measure: RiskMeasure = field(default_factory=ErrorRate)

    @property
    def class_errors(self) -> FloatArray:
        """R_i: share of each known class that gets another label."""
        return np.asarray(1.0 - np.diagonal(self.rates))

    @property
    def unseen_part(self) -> float:
        """Mass of unseen rows that are called known, pi_M R_M, by Eq. (RMhatul)."""
        return float(self.masses[-1, :-1].sum())

    @property
    def unseen_error(self) -> float:
        """R_M: share of the unseen rows that are called known; NaN where none are unseen."""
        return unseen_error(self.rates, self.rates_new, self.proportions[:-1])

    @property
    def masses(self) -> FloatArray:
        """Estimated mass of each class (row) that gets each label (column): (K + 1, K + 1)."""
        known = self.proportions[:-1, None] * self.rates
        return np.vstack([known, self.rates_new - known.sum(axis=0)])

    def __str__(self) -> str:
        return (
            f"risk {self.risk:.3f} with standard error {self.standard_error:.3f} "
            f"({type(self.measure).__name__})"
        )


def open_risk(
    predicted: ArrayLike,
    codes: ArrayLike,
    predicted_new: ArrayLike,
    shares: ArrayLike,
    covariance: FloatArray | None = None,
    measure: RiskMeasure | None = None,
) -> RiskEstimate:
    """R_hat(f) from the labels that f gives to rows it did not learn from.

    Parameters
    ----------
    predicted : array-like of shape (n,)
        Codes that f gives to the labelled rows: 0 to K - 1, and K for unseen.
    codes : array-like of shape (n,)
        Classes of the labelled rows, 0 to K - 1, each at least once.
    predicted_new : array-like of shape (m,)
        Codes that f gives to the new rows.
    shares : array-like of shape (K,)
        Shares of the known classes among the new rows.
    covariance : ndarray of shape (K, K) or None, default=None
        Covariance of the errors of the shares; None takes them as exact.
    measure : RiskMeasure or None, default=None
        Measure to estimate; None is :class:`ErrorRate`, the paper's risk.

    Returns
    -------
    RiskEstimate

    Examples
    --------
    Half of the class is called unseen, and a quarter of all new rows known:

    >>> from unseen.rejection import open_risk
    >>> open_risk([0, 1], [0, 0], [0, 1, 1, 1], [0.5]).risk
    0.25
    """
    shares = np.asarray(shares, dtype=np.float64)
    measure = ErrorRate() if measure is None else measure
    counts = np.bincount(np.asarray(codes), minlength=len(shares))
    rates, rates_new = label_rates(predicted, codes, predicted_new, len(shares))
    found = measure.at(rates, rates_new, shares)
    variance = (
        _multinomial_variance(found.by_class, rates, counts).sum()
        + _multinomial_variance(found.by_new, rates_new, np.size(predicted_new))
        + (0.0 if covariance is None else found.by_share @ covariance @ found.by_share)
    )
    return RiskEstimate(
        risk=found.value,
        standard_error=float(np.sqrt(max(variance, 0.0))),
        rates=rates,
        rates_new=rates_new,
        proportions=np.append(shares, 1.0 - shares.sum()),
        measure=measure,
    )


def label_rates(
    predicted: ArrayLike, codes: ArrayLike, predicted_new: ArrayLike, n_classes: int
) -> tuple[FloatArray, FloatArray]:
    """Rate of each label in each known class, ``C_i``, and among the new rows, ``C_0``.

    Examples
    --------
    >>> rates, rates_new = label_rates([0, 2, 1], [0, 0, 1], [0, 1, 2, 2], 2)
    >>> rates.tolist(), rates_new.tolist()
    ([[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]], [0.25, 0.25, 0.5])
    """
    table = np.zeros((n_classes, n_classes + 1))
    np.add.at(table, (np.asarray(codes), np.asarray(predicted)), 1.0)
    new = np.bincount(np.asarray(predicted_new), minlength=n_classes + 1)
    return table / table.sum(axis=1, keepdims=True), new / new.sum()


def _multinomial_variance(gradient: FloatArray, rates: FloatArray, counts: Any) -> FloatArray:
    """Variance of ``gradient @ rates`` over samples of these sizes; unbiased, as with n - 1."""
    mean = (gradient * rates).sum(axis=-1)
    spread = (gradient**2 * rates).sum(axis=-1) - mean**2
    return np.asarray(np.maximum(spread, 0.0) / np.maximum(np.asarray(counts) - 1, 1))
