"""Which of several rules is better, judged on rows that none of them learnt from.

Each row out of fold has a loss whose weighted sum estimates the mean of the risk R_hat and of half
the Brier score: the risk is unbiased but a step function of the rule, the Brier score is smooth.
``docs/rejection.md`` derives both losses; neither needs an unseen label.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from unseen._types import BoolArray, FloatArray, IntArray
from unseen.rejection.learning.folds import Folds, OutOfFold, out_of_fold
from unseen.rejection.learning.threshold import labels_at

__all__ = [
    "RowLosses",
    "choose_by_other_folds",
    "lowest_risk",
    "row_losses",
    "within_one_standard_error",
]


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

    def minus(self, other: RowLosses) -> RowLosses:
        """Losses of this rule less the losses of another rule, row by row."""
        return RowLosses(self.labelled - other.labelled, self.codes, self.new - other.new)

    def subset(self, labelled: BoolArray, new: BoolArray) -> RowLosses:
        """Losses of some of the rows."""
        return RowLosses(self.labelled[labelled], self.codes[labelled], self.new[new])


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
    gaps = [rule.minus(best) for rule in rules]
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
        best = pick([each.subset(kept, kept_new) for each in losses], shares)
        return lambda rows: rows[:, best]

    labelled = np.stack([each.labelled for each in candidates], axis=1)
    new = np.stack([each.new for each in candidates], axis=1)
    chosen, chosen_new = out_of_fold(learn, (labelled, new), folds)
    return OutOfFold(chosen, candidates[0].codes, chosen_new)
