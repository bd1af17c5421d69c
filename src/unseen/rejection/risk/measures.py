"""Measures of a classifier with the label "unseen", as smooth functions of countable rates.

A measure reads the rates ``C_i(l) = P_i(f = l)`` of each known class, the rates ``C_0(l)`` of the
new rows, and the shares ``pi``. Its derivatives carry their noise to a standard error
(:mod:`unseen.rejection.risk.estimate`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from unseen._types import FloatArray

__all__ = ["CostSensitive", "ErrorRate", "Linearised", "MinMax", "RiskMeasure", "unseen_error"]


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
