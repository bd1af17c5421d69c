"""Held-out probabilities: what rules say of rows that they did not learn from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from unseen._types import FloatArray, IntArray, Matrix
from unseen.rejection.learning import threshold as cut
from unseen.rejection.learning.sample import OpenSample
from unseen.scores.selection import assign_folds

__all__ = ["FittedRule", "HeldOut", "assign_sample_folds", "cross_fit"]


class FittedRule(Protocol):
    """What a rule has learnt: a pure function of rows."""

    def probabilities(self, X: Matrix) -> FloatArray:
        """Probability of each known class and, last, of unseen ones: shape (n, K + 1)."""
        ...


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Probabilities of rows by rules that did not learn from them.

    Parameters
    ----------
    labelled : ndarray of shape (n, K + 1)
        Of the labelled rows.
    codes : ndarray of shape (n,)
        Classes of the labelled rows.
    new : ndarray of shape (m, K + 1)
        Of the new rows.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.learning.folds import HeldOut
    >>> held_out = HeldOut(np.array([[0.75, 0.25]]), np.array([0]), np.array([[0.25, 0.75]]))
    >>> held_out.novelty
    (array([0.25]), array([0.75]))
    """

    labelled: FloatArray
    codes: IntArray
    new: FloatArray

    @property
    def novelty(self) -> tuple[FloatArray, FloatArray]:
        """Novelty of the labelled rows, and of the new ones."""
        return cut.novelty(self.labelled), cut.novelty(self.new)


def cross_fit(
    fit_rule: Callable[[OpenSample, np.random.RandomState], FittedRule],
    sample: OpenSample,
    n_folds: int,
    rng: np.random.RandomState,
) -> HeldOut:
    """Probabilities of all rows, each by a rule fitted without its fold.

    Folds are stratified over the known classes and the new rows. A class whose only row is
    held out is unknown to that fold's rule, and has probability 0 there.

    Parameters
    ----------
    fit_rule : callable
        ``fit_rule(sample, rng)`` learns a rule.
    sample : OpenSample
    n_folds : int
        Folds; fewer where no sample has as many rows.
    rng : RandomState
        Draws the folds, and whatever the rule draws.

    Returns
    -------
    HeldOut
    """
    folds, folds_new = assign_sample_folds(sample, n_folds, rng)
    n_labels = sample.n_classes + 1
    labelled = np.zeros((len(folds), n_labels))
    new = np.zeros((len(folds_new), n_labels))
    for fold in range(int(folds.max(initial=folds_new.max())) + 1):
        out, out_new = folds == fold, folds_new == fold
        known, present = _without_absent(sample.subset(~out, ~out_new))
        rule = fit_rule(known, rng)
        labelled[np.ix_(out, present)] = _asked(rule, sample.X[out])
        new[np.ix_(out_new, present)] = _asked(rule, sample.X_new[out_new])
    return HeldOut(labelled, sample.codes, new)


def assign_sample_folds(
    sample: OpenSample, n_folds: int, rng: np.random.RandomState
) -> tuple[IntArray, IntArray]:
    """Fold of each labelled row and of each new row, spread evenly over both.

    Parameters
    ----------
    sample : OpenSample
    n_folds : int
        Folds; fewer where no sample has as many rows.
    rng : RandomState
        Draws them.

    Returns
    -------
    folds, folds_new : ndarray of shape (n,) and (m,)

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.learning.sample import OpenSample
    >>> sample = OpenSample(np.zeros((2, 1)), np.zeros(2, int), np.zeros((4, 1)), np.ones(1))
    >>> folds, folds_new = assign_sample_folds(sample, 2, np.random.RandomState(0))
    >>> np.bincount(folds), np.bincount(folds_new)
    (array([1, 1]), array([2, 2]))
    """
    if sample.X_new is sample.X:  # no new rows: a row and its copy leave together
        folds = assign_folds(sample.codes, n_folds, rng)
        return folds, folds
    n_labelled, n_new = len(sample.codes), sample.X_new.shape[0]
    strata = np.append(sample.codes, np.full(n_new, sample.n_classes))
    folds = assign_folds(strata, n_folds, rng)
    return folds[:n_labelled], folds[n_labelled:]


def _without_absent(sample: OpenSample) -> tuple[OpenSample, IntArray]:
    """The sample of the classes that it has rows of, and the columns that they stand for."""
    present, codes = np.unique(sample.codes, return_inverse=True)
    columns = np.append(present, sample.n_classes)
    if len(present) == sample.n_classes:
        return sample, columns
    return replace(sample, codes=codes, shares=sample.shares[present]), columns


def _asked(rule: FittedRule, X: Matrix) -> FloatArray:
    """Probabilities of rows, of which there may be none: then no rule need cope with that."""
    return rule.probabilities(X) if X.shape[0] else np.zeros((0, 1))
