"""What a fitted rule says at other thresholds, with other shares, and over a lattice of features.

The probability of a known class is ``eta_i(x) = pi_i p_i(x) / p_0(x)``, and the density p_0 of the
new rows is seen, whatever the shares. So other shares scale each eta_i by their ratio, and what is
left is unseen. Rules that spend their capacity by the shares would change a little more than this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unseen._frozen import Frozen
from unseen._types import FloatArray, IntArray
from unseen._wording import share, text_table
from unseen.rejection.base import RejectionRule
from unseen.rejection.plugin import posterior
from unseen.rejection.sample import labels_at, places_of

_MOST_POINTS = 300


@dataclass(frozen=True, eq=False)
class RiskCurve(Frozen):
    """Risk against the threshold from which a row is called unseen."""

    thresholds: FloatArray  # of the novelty, from 0 (all rows are called unseen) to 1
    risks: FloatArray  # estimated share of wrong labels among the new rows
    standard_errors: FloatArray
    threshold: float  # that the rule uses
    risk: float  # there


def risk_curve(rule: RejectionRule, n_thresholds: int = 81) -> RiskCurve:
    """The risk of a rule, fitted with new rows, at thresholds that go evenly from 0 to 1."""
    if len(rule.classes_) == len(rule.shares_.known):
        raise ValueError("rule must be fitted with X_new; got a fit without.")
    if n_thresholds < 2:
        raise ValueError(f"n_thresholds must be at least 2; got {n_thresholds}.")
    thresholds = np.linspace(0.0, 1.0, n_thresholds)
    found = [rule._risk_at(threshold) for threshold in thresholds.tolist()]
    risks, errors = np.array([(one.risk, one.standard_error) for one in found]).T
    return RiskCurve(thresholds, risks, errors, float(rule.threshold_), float(rule.risk_.risk))


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Share of labels that change when shares move to the ends of their intervals."""

    classes: tuple[Any, ...]  # known labels
    changed: FloatArray  # (K, 2), when one class alone moves to its lower or its upper end
    changed_together: FloatArray  # (2,), when all known classes move at once
    rejected: FloatArray  # called unseen at all lower ends, at the estimate, at all upper ends

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
    """How many labels of the new rows change as the shares move within their intervals.

    Parameters
    ----------
    rule : RejectionRule
        Fitted with new rows.
    limits : ndarray of shape (K, 2) or (K + 1, 2), or None, default=None
        Lower and upper end of each share. None takes the ends of the estimate that the rule was
        fitted with; plain numbers have none.

    Returns
    -------
    Sensitivity

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection import RejectionThreshold, share_sensitivity
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 60)
    >>> X = rng.normal(np.where(y, 4, -4)[:, None], 1)
    >>> X_new = np.vstack([X[::2] + 0.01, rng.normal(0, 0.5, (30, 1))])
    >>> rule = RejectionThreshold(random_state=0).fit(X, y, X_new, [1 / 3, 1 / 3])
    >>> bool(share_sensitivity(rule, [[0.3, 0.4], [0.3, 0.4]]).changed.max() < 0.2)
    True
    """
    known = rule.shares_.known
    ends = rule.shares_.limits if limits is None else np.asarray(limits, dtype=np.float64)
    if ends is None:
        raise ValueError(
            "limits must be given for a rule that was fitted with plain shares; got None."
        )
    n_classes = len(known)
    if ends.ndim != 2 or ends.shape[1] != 2 or len(ends) not in (n_classes, n_classes + 1):
        raise ValueError(f"limits must have shape ({n_classes}, 2); got {ends.shape}.")
    ends = ends[:n_classes]
    probabilities, cut = rule.out_of_fold_.new, rule.threshold_
    now = labels_at(probabilities, cut)

    def labels_with(shares: FloatArray) -> Any:
        return labels_at(reshared(probabilities, known, shares), cut)

    changed = np.zeros((n_classes, 2))
    for label, end in np.ndindex(n_classes, 2):
        alone = np.where(np.arange(n_classes) == label, ends[label, end], known)
        changed[label, end] = np.mean(labels_with(alone) != now)
    low, high = labels_with(ends[:, 0]), labels_with(ends[:, 1])
    return Sensitivity(
        classes=tuple(rule.classes_[:n_classes].tolist()),
        changed=changed,
        changed_together=np.array([np.mean(low != now), np.mean(high != now)]),
        rejected=np.array([np.mean(labels == n_classes) for labels in (low, now, high)]),
    )


def reshared(probabilities: FloatArray, shares: FloatArray, target: FloatArray) -> FloatArray:
    """Probabilities (n, K + 1) under other shares of the known classes; a share of 0 stays 0."""
    ratio = np.divide(target, shares, out=np.zeros(len(shares)), where=shares > 0)
    return posterior(probabilities[:, :-1] * ratio)


@dataclass(frozen=True, eq=False)
class Regions(Frozen):
    """Decision regions of a rejection rule over a window of two features."""

    x: FloatArray  # coordinates of the lattice across
    y: FloatArray  # and up
    codes: IntArray  # place in ``names`` of the label at each point: (n_up, n_across)
    names: tuple[str, ...]
    unseen: int | None  # code of the unseen label; None where the rule has none
    points: FloatArray  # rows to draw on top, evenly spaced among the rows given
    point_codes: IntArray | None = None  # of the labels of these rows; -1 for any other label


def label_regions(
    rule: RejectionRule, X: ArrayLike, labels: ArrayLike | None = None, *, n_across: int = 100
) -> Regions:
    """Label a lattice of points around some rows (n, 2), by a rule of two features.

    The lattice has ``n_across`` points in each direction, and reaches a little beyond the rows.
    """
    rows = np.asarray(X, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise ValueError(f"X must have two columns; got shape {rows.shape}.")
    if n_across < 2:
        raise ValueError(f"n_across must be at least 2; got {n_across}.")
    low, high = rows.min(axis=0), rows.max(axis=0)
    margin = np.where(high > low, 0.08 * (high - low), 0.5)
    x, y = np.linspace(low - margin, high + margin, n_across).T
    lattice = np.stack(np.meshgrid(x, y), axis=-1)
    classes = np.asarray(rule.classes_)
    codes = places_of(rule.predict(lattice.reshape(-1, 2)), classes).reshape(lattice.shape[:2])
    kept = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), _MOST_POINTS)).astype(int))
    return Regions(
        x,
        y,
        codes,
        tuple(map(str, classes.tolist())),
        len(classes) - 1 if len(classes) > len(rule.shares_.known) else None,
        rows[kept],
        None if labels is None else places_of(np.asarray(labels)[kept], classes),
    )
