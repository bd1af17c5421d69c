"""Answers about rows from models that did not learn from them: the one fold loop of all rules.

In-sample the least estimated risk is to reject every new row, so each risk, threshold, calibration
and choice between rules comes from rows out of fold (``docs/rejection.md``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

import numpy as np

from unseen._frozen import Frozen
from unseen._types import BoolArray, FloatArray, IntArray, Matrix
from unseen.rejection.learning.sample import OpenSample
from unseen.rejection.learning.threshold import novelty
from unseen.scores.base import assign_folds

__all__ = ["FittedRule", "Folds", "OutOfFold", "assign_sample_folds", "cross_fit", "out_of_fold"]

Folds: TypeAlias = tuple[IntArray, IntArray]  # fold of each labelled row, and of each new row


class FittedRule(Protocol):
    """A rule that has learnt: a pure function of rows."""

    def probabilities(self, X: Matrix) -> FloatArray:
        """Probability of each known class and, last, of unseen ones: shape (n, K + 1)."""
        ...


@dataclass(frozen=True, eq=False)
class OutOfFold(Frozen):
    """Probabilities of rows by rules that did not learn from these rows.

    Parameters
    ----------
    labelled : ndarray of shape (n, K + 1)
        Probabilities of the labelled rows.
    codes : ndarray of shape (n,)
        Classes of the labelled rows.
    new : ndarray of shape (m, K + 1)
        Probabilities of the new rows.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection import OutOfFold
    >>> rows = OutOfFold(np.array([[0.75, 0.25]]), np.array([0]), np.array([[0.25, 0.75]]))
    >>> rows.novelty
    (array([0.25]), array([0.75]))
    """

    labelled: FloatArray
    codes: IntArray
    new: FloatArray

    @property
    def novelty(self) -> tuple[FloatArray, FloatArray]:
        """Novelty of the labelled rows, and of the new rows."""
        return novelty(self.labelled), novelty(self.new)


def out_of_fold(
    learn: Callable[[BoolArray, BoolArray], Callable[[Any], FloatArray]],
    rows: tuple[Any, Any],
    folds: Folds,
) -> tuple[FloatArray, FloatArray]:
    """Answers about all rows, each by a function that was learnt without the fold of the row.

    Parameters
    ----------
    learn : callable
        ``learn(kept, kept_new)`` learns from the labelled and new rows of these masks, and returns
        a function from rows to answers, one answer (of any shape) a row.
    rows : pair of arrays or CSR matrices
        Labelled rows and new rows, as the learnt functions read them.
    folds : pair of ndarray
        Fold of each row. A row of fold -1 is in every ``kept``; its answer is 0.

    Returns
    -------
    labelled, new : ndarray
        Answers about the labelled rows and about the new rows.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0])
    >>> folds = np.array([0, 1, 1]), np.array([0, 1])
    >>> def learn(kept, kept_new):
    ...     total = rows[0][kept].sum() + rows[1][kept_new].sum()
    ...     return lambda values: values + total
    >>> out_of_fold(learn, rows, folds)
    (array([26., 13., 14.]), array([35., 31.]))
    """
    answers: list[FloatArray] = []
    for fold in range(1 + max(int(part.max()) for part in folds)):
        out = [part == fold for part in folds]
        answer = learn(~out[0], ~out[1])
        for place, mask in enumerate(out):
            if mask.any():  # no learnt function need cope with an empty sample
                found = answer(rows[place][mask])
                if not answers:
                    answers = [np.zeros((len(part), *found.shape[1:])) for part in folds]
                answers[place][mask] = found
    labelled, new = answers
    return labelled, new


def cross_fit(
    fit_rule: Callable[[OpenSample, np.random.RandomState], FittedRule],
    sample: OpenSample,
    n_folds: int,
    rng: np.random.RandomState,
) -> OutOfFold:
    """Probabilities of all rows, each by a rule that was fitted without the fold of the row.

    A class whose only row is held out is unknown to the rule of that fold, and has probability 0.

    Parameters
    ----------
    fit_rule : callable
        ``fit_rule(sample, rng)`` returns a fitted rule.
    sample : OpenSample
        All rows.
    n_folds : int
        Number of folds; fewer where no sample has as many rows.
    rng : RandomState
        Draws the folds, then serves every fit.
    """
    n_classes = sample.n_classes

    def learn(kept: BoolArray, kept_new: BoolArray) -> Callable[[Matrix], FloatArray]:
        part = sample.subset(kept, kept_new)
        present, codes = np.unique(part.codes, return_inverse=True)
        if len(present) < n_classes:
            part = replace(part, codes=codes, shares=part.shares[present])
        rule = fit_rule(part, rng)

        def probabilities(X: Matrix) -> FloatArray:
            found = np.zeros((X.shape[0], n_classes + 1))
            found[:, np.append(present, n_classes)] = rule.probabilities(X)
            return found

        return probabilities

    folds = assign_sample_folds(sample, n_folds, rng)
    labelled, new = out_of_fold(learn, (sample.X, sample.X_new), folds)
    return OutOfFold(labelled, sample.codes, new)


def assign_sample_folds(sample: OpenSample, n_folds: int, rng: np.random.RandomState) -> Folds:
    """Folds that spread every class and the new rows evenly; fewer where no sample fills them.

    Examples
    --------
    >>> import numpy as np
    >>> sample = OpenSample(np.zeros((2, 1)), np.zeros(2, int), np.zeros((4, 1)), np.ones(1))
    >>> folds, folds_new = assign_sample_folds(sample, 2, np.random.RandomState(0))
    >>> np.bincount(folds), np.bincount(folds_new)
    (array([1, 1]), array([2, 2]))
    """
    if not sample.has_new:  # a row and its copy leave together
        folds = assign_folds(sample.codes, n_folds, rng)
        return folds, folds
    n_labelled, n_new = len(sample.codes), sample.X_new.shape[0]
    strata = np.append(sample.codes, np.full(n_new, sample.n_classes))
    folds = assign_folds(strata, n_folds, rng)
    return folds[:n_labelled], folds[n_labelled:]
