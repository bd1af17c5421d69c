"""Which of several rules is better, judged on rows that none of them learnt from.

R_hat charges each held-out row: a new one 1 if it is called known; a row of class i, which
counts ``pi_i / n_i`` times, +1 if it is called unseen and -1 if it is called i. Summed, that is the
risk of the labels (:mod:`unseen.rejection.risk.estimate`), unbiased but a step function of the rule, and
noisy. Half the Brier score, ``|p - label|^2 / 2``, can be charged to the same rows, for it needs of
the label only its product with p: ``|p|^2 / 2 - p_unseen + 1/2`` to a new row, and
``p_unseen - p_i`` to one of class i. It is the risk itself where p is 0 or 1, and smooth. Rules are
ranked by the mean of the two, which on problems of development chose better than either alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from unseen._types import FloatArray, IntArray
from unseen.rejection.learning.folds import HeldOut
from unseen.rejection.learning.threshold import decide

__all__ = [
    "Charges",
    "charges",
    "choice_by_other_folds",
    "least",
    "within_one_standard_error",
]

Folds: TypeAlias = tuple[IntArray, IntArray]  # of the labelled rows, of the new ones


@dataclass(frozen=True, eq=False)
class Charges:
    """What each held-out row costs a rule; differences of two rules are of the same kind.

    Parameters
    ----------
    labelled : ndarray of shape (n,)
        Of the labelled rows, each to count ``pi_i / n_i`` times.
    codes : ndarray of shape (n,)
        Their classes.
    new : ndarray of shape (m,)
        Of the new rows, each to count 1 / m times.
    """

    labelled: FloatArray
    codes: IntArray
    new: FloatArray

    def total(self, shares: FloatArray) -> float:
        """Their sum, which estimates the expected cost of a row."""
        counts = np.maximum(np.bincount(self.codes, minlength=len(shares)), 1)
        means = np.bincount(self.codes, self.labelled, len(shares)) / counts
        return float(shares @ means + self.new.mean())

    def standard_error(self, shares: FloatArray) -> float:
        """Of the sum, with the shares taken as exact."""
        groups = [self.labelled[self.codes == code] for code in range(len(shares))]
        known = sum(
            share**2 * _variance_of_mean(group) for share, group in zip(shares, groups, strict=True)
        )
        return float(np.sqrt(known + _variance_of_mean(self.new)))

    def minus(self, other: Charges) -> Charges:
        """What this rule costs more than another, row by row."""
        labelled, new = self.labelled - other.labelled, self.new - other.new
        return Charges(labelled, self.codes, new)

    def of(self, labelled: Any, new: Any) -> Charges:
        """Those of some rows."""
        return Charges(self.labelled[labelled], self.codes[labelled], self.new[new])


def charges(held_out: HeldOut) -> Charges:
    """Mean of R_hat and half the Brier score, as charged to each row.

    Parameters
    ----------
    held_out : HeldOut
        Probabilities of rows by rules that did not learn from them.

    Returns
    -------
    Charges

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.learning.folds import HeldOut
    >>> from unseen.rejection.learning.selection import charges
    >>> sure = HeldOut(np.array([[1.0, 0.0]]), np.array([0]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> charges(sure).labelled, charges(sure).new
    (array([-1.]), array([1., 0.]))
    >>> charges(sure).total(np.array([0.5]))
    0.0
    """
    known, new = held_out.labelled, held_out.new
    codes, rows = held_out.codes, np.arange(len(held_out.codes))
    unseen = known.shape[1] - 1
    label, label_new = decide(known), decide(new)
    wrong = (label == unseen).astype(np.float64) - (label == codes)
    brier_new = (new**2).sum(axis=1) / 2 - new[:, -1] + 0.5
    return Charges(
        (wrong + known[:, -1] - known[rows, codes]) / 2,
        codes,
        ((label_new != unseen) + brier_new) / 2,
    )


def least(rules: Sequence[Charges], shares: FloatArray) -> int:
    """The rule that costs least; the first of equals."""
    return int(np.argmin([rule.total(shares) for rule in rules]))


def within_one_standard_error(rules: Sequence[Charges], shares: FloatArray) -> int:
    """The first rule that the best one does not beat by more than a standard error.

    Parameters
    ----------
    rules : sequence of Charges
        On the same rows, the favoured rule first.
    shares : ndarray of shape (K,)
        Shares of the known classes.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.learning.selection import Charges, within_one_standard_error
    >>> codes, nothing = np.zeros(2, dtype=int), np.zeros(2)
    >>> favoured = Charges(nothing, codes, np.array([0.0, 1.0, 0.0, 1.0]))
    >>> other = Charges(nothing, codes, np.array([0.0, 0.0, 0.0, 1.0]))
    >>> within_one_standard_error([favoured, other], np.array([0.5]))
    0
    """
    best = rules[least(rules, shares)]
    gaps = [rule.minus(best) for rule in rules]
    close = [gap.total(shares) <= gap.standard_error(shares) for gap in gaps]
    return close.index(True)


def choice_by_other_folds(
    candidates: Sequence[HeldOut],
    folds: Folds,
    shares: FloatArray,
    pick: Callable[[Sequence[Charges], FloatArray], int],
) -> HeldOut:
    """Held-out probabilities of each fold by the candidate that the other folds pick.

    The best candidate's own would look better than they are: it was picked by these very rows.

    Parameters
    ----------
    candidates : sequence of HeldOut
        On the same rows.
    folds : pair of ndarray
        Fold of each labelled row, and of each new one.
    shares : ndarray of shape (K,)
        Shares of the known classes.
    pick : callable
        :func:`least` or :func:`within_one_standard_error`.

    Returns
    -------
    HeldOut
    """
    costs = [charges(each) for each in candidates]
    labelled, new = candidates[0].labelled.copy(), candidates[0].new.copy()
    for fold in np.unique(np.concatenate(folds)):
        out, out_new = folds[0] == fold, folds[1] == fold
        best = candidates[pick([each.of(~out, ~out_new) for each in costs], shares)]
        labelled[out], new[out_new] = best.labelled[out], best.new[out_new]
    return HeldOut(labelled, candidates[0].codes, new)


def _variance_of_mean(values: FloatArray) -> float:
    return float(values.var(ddof=1) / len(values)) if len(values) > 1 else 0.0
