"""The estimated risk of a fitted rule at every threshold of the novelty score, as a record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unseen._frozen import Frozen
from unseen._types import FloatArray
from unseen.rejection.base import RejectionRule

__all__ = ["RiskCurve", "risk_curve"]


@dataclass(frozen=True, eq=False)
class RiskCurve(Frozen):
    """Risk against the threshold from which a row is called unseen.

    Parameters
    ----------
    thresholds : ndarray of shape (n,)
        Thresholds of the novelty score, from 0 (all rows are called unseen) to 1.
    risks, standard_errors : ndarray of shape (n,)
        Estimated share of wrong labels among the new rows, and its standard error.
    threshold, risk : float
        The threshold that the rule uses, and its risk.
    """

    thresholds: FloatArray
    risks: FloatArray
    standard_errors: FloatArray
    threshold: float
    risk: float


def risk_curve(rule: RejectionRule, n_thresholds: int = 81) -> RiskCurve:
    """Estimate the risk of a rule at all thresholds, from its out-of-fold probabilities.

    Parameters
    ----------
    rule : RejectionRule
        A rule that was fitted with new rows.
    n_thresholds : int, default=81
        Thresholds to try, evenly from 0 to 1.

    Returns
    -------
    RiskCurve

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection import RejectionTree, risk_curve
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(-4, 1, (200, 1))
    >>> X_new = np.vstack([rng.normal(-4, 1, (200, 1)), rng.normal(4, 1, (200, 1))])
    >>> rule = RejectionTree(random_state=0).fit(X, ["left"] * 200, X_new, [0.5])
    >>> float(risk_curve(rule).risks[0])  # all rows are called unseen: the known half is wrong
    0.5
    """
    if len(rule.classes_) == len(rule.shares_.known):
        raise ValueError("rule must be fitted with X_new; got a fit without.")
    if n_thresholds < 2:
        raise ValueError(f"n_thresholds must be at least 2; got {n_thresholds}.")
    thresholds = np.linspace(0.0, 1.0, n_thresholds)
    found = [rule._risk_at(threshold) for threshold in thresholds.tolist()]
    return RiskCurve(
        thresholds,
        np.array([one.risk for one in found]),
        np.array([one.standard_error for one in found]),
        float(rule.threshold_),
        float(rule.risk_.risk),
    )
