"""Choices by rows out of fold: where to cut the novelty, and which of several rules to take.

Above a cut t the mass of unseen classes is ``P_0(s >= t) - sum_i pi_i P_i(s >= t)``, Eq. (RMul) for
the rule "unseen from t on", so recall and false discoveries are counted without an unseen label.
Rules are compared by the mean of the risk R_hat, unbiased but a step function of the rule, and half
the Brier score, which is smooth (``docs/rejection.md``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from unseen._types import BoolArray, FloatArray, IntArray
from unseen.rejection.learning.sample import Folds, OutOfFold, labels_at, out_of_fold

__all__ = [
    "RowLosses",
    "choose_by_other_folds",
    "cost_threshold",
    "false_discovery_threshold",
    "lowest_risk",
    "recall_threshold",
    "reject_rate_threshold",
    "row_losses",
    "within_one_standard_error",
]

_REJECT_NOTHING = float(np.nextafter(1.0, np.inf))  # no novelty is as high


def cost_threshold(cost: float) -> float:
    """Cut of least expected cost when a missed unseen row costs ``cost`` and other errors 1.

    To say k costs ``cost * p_unseen + (1 - p_unseen - p_k)``, and to say unseen ``1 - p_unseen``:
    unseen costs no more when ``p_k <= cost * p_unseen``.

    Examples
    --------
    >>> cost_threshold(1.0), cost_threshold(3.0)
    (0.5, 0.25)
    """
    if not cost > 0:
        raise ValueError(f"cost must be > 0; got {cost}.")
    return 1.0 / (1.0 + cost)


def reject_rate_threshold(new: FloatArray, rate: float) -> float:
    """Cut that calls a share ``rate`` of the new rows unseen, or as near to it as ties allow.

    Examples
    --------
    >>> import numpy as np
    >>> reject_rate_threshold(np.array([0.1, 0.2, 0.7, 0.9]), 0.5)
    0.7
    """
    if not 0 <= rate <= 1:
        raise ValueError(f"reject_rate must lie in [0, 1]; got {rate}.")
    if rate == 0:
        return _REJECT_NOTHING
    cuts = np.append(np.unique(new), _REJECT_NOTHING)
    return float(cuts[np.abs(_at_least(new, cuts) - rate).argmin()])


def recall_threshold(
    known: FloatArray, codes: IntArray, new: FloatArray, shares: FloatArray, recall: float
) -> float:
    """Largest cut that still finds a share ``recall`` of the unseen rows.

    Parameters
    ----------
    known, codes : ndarray of shape (n,)
        Novelty of the labelled rows out of fold, and their classes.
    new : ndarray of shape (m,)
        Novelty of the new rows out of fold.
    shares : ndarray of shape (K,)
        Shares of the known classes among the new rows.
    recall : float
        Share of the unseen rows to find, in (0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> known, new = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.1, 0.3, 0.8, 0.9])
    >>> recall_threshold(known, np.zeros(4, dtype=int), new, np.array([0.5]), 1.0)
    0.8
    """
    if not 0 < recall <= 1:
        raise ValueError(f"recall must lie in (0, 1]; got {recall}.")
    unseen = 1.0 - float(shares.sum())
    if unseen <= 0:
        raise ValueError(
            f"recall needs an unseen share > 0; got {max(unseen, 0.0):g}: the known shares leave "
            "nothing to find."
        )
    cuts = np.unique(np.concatenate([known, new]))
    rejected, by_known = _rates_from(cuts, known, codes, new, shares)
    # The lowest cut rejects everything and so reaches every recall; rounding must not deny it.
    reached = rejected - by_known >= recall * unseen - 1e-12
    return float(cuts[np.flatnonzero(reached)[-1]])


def false_discovery_threshold(
    known: FloatArray, codes: IntArray, new: FloatArray, shares: FloatArray, level: float
) -> float:
    """Smallest cut whose rejected rows hold at most a share ``level`` of known rows.

    The count of known rows above the cut is taken one too high in each class, as for a conformal
    p-value: a cut above all n_i calibration rows still lets 1 / (n_i + 1) of new ones through.

    Parameters
    ----------
    known, codes, new, shares
        See :func:`recall_threshold`.
    level : float
        Largest share of known rows among the rejected rows, in (0, 1).

    Raises
    ------
    ValueError
        When no cut reaches the level: small samples cannot certify small levels. The message
        names the level that the samples can reach.

    Examples
    --------
    >>> import numpy as np
    >>> known, new = np.linspace(0, 0.5, 99), np.array([0.1, 0.45, 0.8, 0.9])
    >>> false_discovery_threshold(known, np.zeros(99, dtype=int), new, np.array([0.5]), 0.1)
    0.45
    """
    if not 0 < level < 1:
        raise ValueError(f"fdr must lie strictly between 0 and 1; got {level}.")
    cuts = np.unique(new)
    counts = np.bincount(codes, minlength=len(shares))
    rejected, by_known = _rates_from(cuts, known, codes, new, shares * counts / (counts + 1))
    discoveries = (by_known + float((shares / (counts + 1)).sum())) / rejected
    reached = np.flatnonzero(discoveries <= level)
    if not reached.size:
        raise ValueError(
            f"fdr={level:g} cannot be certified: the calibration sample is too small, or unseen "
            f"rows stand out too little. With {counts.min()} to {counts.max()} labelled rows per "
            f"class and {len(new)} new ones the smallest level within reach is "
            f"{discoveries.min():.3g}. Ask for that level, add labelled rows, or use recall= or "
            "cost= instead."
        )
    return float(cuts[reached[0]])


def _rates_from(
    cuts: FloatArray, known: FloatArray, codes: IntArray, new: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """At each cut: P_0(s >= t), and the weighted sum over classes of P_i(s >= t)."""
    by_known = sum(
        weight * _at_least(known[codes == label], cuts) for label, weight in enumerate(weights)
    )
    return _at_least(new, cuts), np.asarray(by_known)


def _at_least(scores: FloatArray, cuts: FloatArray) -> FloatArray:
    below = np.searchsorted(np.sort(scores), cuts, side="left")
    return 1.0 - below / len(scores)


@dataclass(frozen=True, eq=False)
class RowLosses:
    """Loss of a rule on each row out of fold, or the difference of two such losses.

    Parameters
    ----------
    labelled : ndarray of shape (n,)
        Losses of the labelled rows; a row of class i counts ``pi_i / n_i`` times.
    codes : ndarray of shape (n,)
        Classes of the labelled rows.
    new : ndarray of shape (m,)
        Losses of the new rows; each counts 1 / m times.
    """

    labelled: FloatArray
    codes: IntArray
    new: FloatArray

    def total(self, shares: FloatArray) -> float:
        """Weighted sum of the losses: the estimated loss of a new row."""
        counts = np.maximum(np.bincount(self.codes, minlength=len(shares)), 1)
        means = np.bincount(self.codes, self.labelled, len(shares)) / counts
        return float(shares @ means + self.new.mean())

    def standard_error(self, shares: FloatArray) -> float:
        """Standard error of the total, with the shares taken as exact."""
        groups = [*(self.labelled[self.codes == code] for code in range(len(shares))), self.new]
        variance = sum(
            weight**2 * float(group.var(ddof=1) / len(group))
            for weight, group in zip([*shares, 1.0], groups, strict=True)
            if len(group) > 1
        )
        return float(np.sqrt(variance))


def row_losses(rows: OutOfFold) -> RowLosses:
    """Mean of R_hat and half the Brier score, row by row.

    Examples
    --------
    >>> import numpy as np
    >>> sure = OutOfFold(np.array([[1.0, 0.0]]), np.array([0]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> losses = row_losses(sure)
    >>> losses.labelled, losses.new, losses.total(np.array([0.5]))
    (array([-1.]), array([1., 0.]), 0.0)
    """
    known, codes, new = rows.labelled, rows.codes, rows.new
    unseen = known.shape[1] - 1
    label = labels_at(known)
    wrong = (label == unseen).astype(np.float64) - (label == codes)
    brier_new = (new**2).sum(axis=1) / 2 - new[:, -1] + 0.5
    return RowLosses(
        (wrong + known[:, -1] - known[np.arange(len(codes)), codes]) / 2,
        codes,
        ((labels_at(new) != unseen) + brier_new) / 2,
    )


def lowest_risk(rules: Sequence[RowLosses], shares: FloatArray) -> int:
    """Place of the rule with the smallest total loss; the first of equal rules."""
    return int(np.argmin([rule.total(shares) for rule in rules]))


def within_one_standard_error(rules: Sequence[RowLosses], shares: FloatArray) -> int:
    """Place of the first rule that the best rule does not beat by more than a standard error.

    Parameters
    ----------
    rules : sequence of RowLosses
        Losses on the same rows, the favoured rule first.
    shares : ndarray of shape (K,)
        Shares of the known classes.

    Examples
    --------
    >>> import numpy as np
    >>> codes, nothing = np.zeros(2, dtype=int), np.zeros(2)
    >>> favoured = RowLosses(nothing, codes, np.array([0.0, 1.0, 0.0, 1.0]))
    >>> other = RowLosses(nothing, codes, np.array([0.0, 0.0, 0.0, 1.0]))
    >>> within_one_standard_error([favoured, other], np.array([0.5]))
    0
    """
    best = rules[lowest_risk(rules, shares)]
    gaps = [
        RowLosses(rule.labelled - best.labelled, rule.codes, rule.new - best.new) for rule in rules
    ]
    close = [gap.total(shares) <= gap.standard_error(shares) for gap in gaps]
    return close.index(True)


def choose_by_other_folds(
    candidates: Sequence[OutOfFold],
    losses: Sequence[RowLosses],
    folds: Folds,
    shares: FloatArray,
    pick: Callable[[Sequence[RowLosses], FloatArray], int],
) -> OutOfFold:
    """Probabilities of each fold by the candidate that the other folds pick.

    The rows that picked a candidate would make it look better than it is.

    Parameters
    ----------
    candidates : sequence of OutOfFold
        Probabilities of the same rows by several rules.
    losses : sequence of RowLosses
        Losses of the candidates.
    folds : pair of ndarray
        Fold of each labelled row, and of each new row.
    shares : ndarray of shape (K,)
        Shares of the known classes.
    pick : callable
        :func:`lowest_risk` or :func:`within_one_standard_error`.
    """

    def learn(kept: BoolArray, kept_new: BoolArray) -> Callable[[FloatArray], FloatArray]:
        rest = [RowLosses(one.labelled[kept], one.codes[kept], one.new[kept_new]) for one in losses]
        best = pick(rest, shares)
        return lambda rows: rows[:, best]

    labelled = np.stack([each.labelled for each in candidates], axis=1)
    new = np.stack([each.new for each in candidates], axis=1)
    chosen, chosen_new = out_of_fold(learn, (labelled, new), folds)
    return OutOfFold(chosen, candidates[0].codes, chosen_new)
