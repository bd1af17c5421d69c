"""The risk of a fixed classifier with the label "unseen", from labelled and new rows alone.

``C_i(l) = P_i(f = l)`` are the rates at which class i gets label l, ``C_0(l)`` the rates of the new
rows. The risk, Eq. (RMul), and other measures are smooth functions of these rates and of the
shares; the delta method carries the noise of both to the standard error (``docs/rejection.md``).
Rows that the classifier learnt from have no place here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from unseen._frozen import Frozen
from unseen._types import FloatArray

__all__ = [
    "CostSensitive",
    "ErrorRate",
    "Linearised",
    "MinMax",
    "RiskEstimate",
    "RiskMeasure",
    "label_rates",
    "open_risk",
]


class Linearised(NamedTuple):
    """A measure and its derivatives by ``C_i`` (K, K + 1), ``C_0`` (K + 1) and ``pi`` (K)."""

    value: float
    by_class: FloatArray
    by_new: FloatArray
    by_share: FloatArray


class RiskMeasure(Protocol):
    """A function of the rates ``C_i``, ``C_0`` and the shares ``pi``."""

    def at(self, rates: FloatArray, rates_new: FloatArray, shares: FloatArray) -> Linearised:
        """Value and derivatives.

        Parameters
        ----------
        rates : ndarray of shape (K, K + 1)
            Rate of each label in each known class, unseen last.
        rates_new : ndarray of shape (K + 1,)
            Rate of each label among the new rows.
        shares : ndarray of shape (K,)
            Shares of the known classes.

        Returns
        -------
        Linearised
        """
        ...


@dataclass(frozen=True, eq=False)
class CostSensitive:
    """Mean cost ``sum_i pi_i sum_l L(i, l) C_i(l)`` over known and unseen classes.

    Parameters
    ----------
    costs : array-like of shape (K + 1, K + 1)
        Cost L of each label (column) for rows of each class (row), unseen last.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection import CostSensitive, open_risk
    >>> costs = CostSensitive([[0, 1], [5, 0]])
    >>> open_risk([0, 1], [0, 0], [0, 0, 1, 1], [0.5], measure=costs).risk
    1.5
    """

    costs: ArrayLike

    def at(self, rates: FloatArray, rates_new: FloatArray, shares: FloatArray) -> Linearised:
        """Value and derivatives at these rates and shares."""
        costs, size = np.asarray(self.costs, dtype=np.float64), len(rates_new)
        if costs.shape != (size, size) or not np.isfinite(costs).all():
            raise ValueError(
                f"costs must be finite, of shape {(size, size)}: known classes and unseen; "
                f"got shape {costs.shape}."
            )
        # The cost of an unseen row is charged to all new rows, and taken back from known rows.
        extra = costs[:-1] - costs[-1]
        by_share = (rates * extra).sum(axis=1)
        value = float(rates_new @ costs[-1] + shares @ by_share)
        return Linearised(value, shares[:, None] * extra, costs[-1], by_share)


@dataclass(frozen=True)
class ErrorRate:
    """The paper's R(f): probability of a wrong label, with unseen as a label.

    Examples
    --------
    >>> from unseen.rejection import ErrorRate, open_risk
    >>> open_risk([0, 1], [0, 0], [0, 0, 1, 1], [0.5], measure=ErrorRate()).risk
    0.5
    """

    def at(self, rates: FloatArray, rates_new: FloatArray, shares: FloatArray) -> Linearised:
        """Value and derivatives at these rates and shares."""
        return CostSensitive(1.0 - np.eye(len(rates_new))).at(rates, rates_new, shares)


@dataclass(frozen=True)
class MinMax:
    """Error of the worst class, unseen among them: ``max_i R_i(f)``.

    The standard error is that of the class that is worst here. Where two classes are close the
    largest of their noisy errors is biased up.

    Examples
    --------
    >>> from unseen.rejection import MinMax, open_risk
    >>> open_risk([0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 1], [0.5], measure=MinMax()).risk
    0.75
    """

    def at(self, rates: FloatArray, rates_new: FloatArray, shares: FloatArray) -> Linearised:
        """Value and derivatives at these rates and shares."""
        errors = 1.0 - np.diagonal(rates)
        unseen = 1.0 - float(shares.sum())
        missed = unseen_error(rates, rates_new, shares)
        worst = int(errors.argmax())
        by_class, by_new, by_share = (np.zeros_like(a) for a in (rates, rates_new, shares))
        if not missed > errors[worst]:
            by_class[worst, worst] = -1.0
            return Linearised(float(errors[worst]), by_class, by_new, by_share)
        by_new[:-1] = 1.0 / unseen
        by_class[:, :-1] = -shares[:, None] / unseen
        by_share = (missed - rates[:, :-1].sum(axis=1)) / unseen
        return Linearised(missed, by_class, by_new, by_share)


def unseen_error(rates: FloatArray, rates_new: FloatArray, shares: FloatArray) -> float:
    """Share of the unseen rows that are called known; NaN where none are unseen."""
    unseen = 1.0 - float(shares.sum())
    if unseen <= 1e-12:
        return float("nan")
    called_known = rates_new[:-1].sum() - shares @ rates[:, :-1].sum(axis=1)
    return float(called_known / unseen)


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
    sizes = np.append(counts, np.size(predicted_new))
    rates, rates_new = label_rates(predicted, codes, predicted_new, len(shares))
    found = measure.at(rates, rates_new, shares)
    # Multinomial variances of gradient @ rates in each class and among the new rows.
    gradient, every = np.vstack([found.by_class, found.by_new]), np.vstack([rates, rates_new])
    spread = (gradient**2 * every).sum(axis=1) - (gradient * every).sum(axis=1) ** 2
    variance = (np.maximum(spread, 0.0) / np.maximum(sizes - 1, 1)).sum()
    if covariance is not None:
        variance += found.by_share @ covariance @ found.by_share
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
