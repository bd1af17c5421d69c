"""How much the labels depend on the shares: relabel with the shares at the ends of their intervals.

The probability of a known class is ``eta_i(x) = pi_i p_i(x) / p_0(x)``, and the density p_0 of the
new rows is seen, whatever the shares. So other shares scale each eta_i by their ratio, and
what is left is unseen:

    eta_i' = eta_i pi_i' / pi_i,        eta_unseen' = max(0, 1 - sum_i eta_i'),

rescaled where the known ones exceed 1. No rule is fitted again; rules that spend their capacity
by the shares would change a little more than this says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen._types import FloatArray
from unseen._wording import share, text_table
from unseen.rejection.base import RejectionRule
from unseen.rejection.learning.sample import labels_at

__all__ = ["Sensitivity", "reshared", "share_sensitivity"]


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Share of labels that change when shares move to the ends of their intervals.

    Parameters
    ----------
    classes : tuple
        Known labels.
    changed : ndarray of shape (K, 2)
        Share of the new rows whose label changes when one class alone moves to its lower
        (first column) or upper end.
    changed_together : ndarray of shape (2,)
        The same when all known classes move at once.
    rejected : ndarray of shape (3,)
        Share called unseen at all lower ends, at the estimate, and at all upper ends.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.risk.sensitivity import Sensitivity
    >>> print(Sensitivity(("a",), np.array([[0.02, 0.01]]), np.array([0.02, 0.01]), np.zeros(3)))
    class  labels changed at the lower end  at the upper end
    a                                 2.0%              1.0%
    all                               2.0%              1.0%
    called unseen: 0.0%, 0.0% and 0.0% at the lower ends, the estimate and the upper ends
    """

    classes: tuple[Any, ...]
    changed: FloatArray
    changed_together: FloatArray
    rejected: FloatArray

    def __str__(self) -> str:
        names = [*map(str, self.classes), "all"]
        numbers = np.vstack([self.changed, self.changed_together])
        rows = [[name, *map(share, ends)] for name, ends in zip(names, numbers, strict=True)]
        low, now, high = map(share, self.rejected)
        return text_table(
            [["class", "labels changed at the lower end", "at the upper end"], *rows],
            [
                f"called unseen: {low}, {now} and {high} at the lower ends, the estimate and the "
                "upper ends"
            ],
        )


def share_sensitivity(rule: RejectionRule, limits: FloatArray | None = None) -> Sensitivity:
    """How many labels of the new rows depend on where in its interval each share is.

    Parameters
    ----------
    rule : RejectionRule
        Fitted with new rows.
    limits : ndarray of shape (K, 2) or (K + 1, 2), or None, default=None
        Lower and upper end of each share. None takes those of the shares that the rule was
        fitted with, which plain numbers do not have.

    Returns
    -------
    Sensitivity

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.risk.sensitivity import share_sensitivity
    >>> from unseen.rejection.threshold import RejectionThreshold
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 60)
    >>> X = rng.normal(np.where(y, 4, -4)[:, None], 1)
    >>> X_new = np.vstack([X[::2] + 0.01, rng.normal(0, 0.5, (30, 1))])
    >>> rule = RejectionThreshold(random_state=0).fit(X, y, X_new, [1 / 3, 1 / 3])
    >>> bool(share_sensitivity(rule, [[0.3, 0.4], [0.3, 0.4]]).changed.max() < 0.2)
    True
    """
    shares = rule.shares_
    ends = shares.limits if limits is None else np.asarray(limits, dtype=np.float64)
    if ends is None:
        raise ValueError(
            "limits must be given for a rule that was fitted with plain shares; got None."
        )
    n_classes = len(shares.known)
    if ends.ndim != 2 or ends.shape[1] != 2 or len(ends) not in (n_classes, n_classes + 1):
        raise ValueError(f"limits must have shape ({n_classes}, 2); got {ends.shape}.")
    ends = ends[:n_classes]
    probabilities, cut = rule.out_of_fold_.new, rule.threshold_
    now = labels_at(probabilities, cut)

    def moved(target: FloatArray) -> Any:
        return labels_at(reshared(probabilities, shares.known, target), cut)

    alone = [
        [
            np.mean(moved(np.where(np.arange(n_classes) == label, end, shares.known)) != now)
            for end in ends[label]
        ]
        for label in range(n_classes)
    ]
    low, high = moved(ends[:, 0]), moved(ends[:, 1])
    return Sensitivity(
        classes=tuple(rule.classes_[:n_classes].tolist()),
        changed=np.array(alone),
        changed_together=np.array([np.mean(low != now), np.mean(high != now)]),
        rejected=np.array([np.mean(labels == n_classes) for labels in (low, now, high)]),
    )


def reshared(probabilities: FloatArray, shares: FloatArray, target: FloatArray) -> FloatArray:
    """Probabilities under other shares of the known classes, without a new fit.

    A class of share 0 has no probability to scale, and keeps none.

    Parameters
    ----------
    probabilities : ndarray of shape (n, K + 1)
        Rows on the simplex, unseen last.
    shares, target : ndarray of shape (K,)
        Shares that they were made with, and the other ones.

    Returns
    -------
    ndarray of shape (n, K + 1)

    Examples
    --------
    >>> import numpy as np
    >>> reshared(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([0.5]), np.array([0.25]))
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    ratio = np.divide(target, shares, out=np.zeros(len(shares)), where=shares > 0)
    known = probabilities[:, :-1] * ratio
    known = known / np.maximum(known.sum(axis=1, keepdims=True), 1.0)
    return np.column_stack([known, np.maximum(0.0, 1.0 - known.sum(axis=1))])
