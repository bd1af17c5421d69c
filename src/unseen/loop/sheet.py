"""Rows for people to label, and the probability with which each is drawn.

Half of the sheet is a uniform draw, so that its labels weigh at least half as much as those of a
uniform sample whatever the model; the other half goes where labels tell most: to rows of which the
model is unsure, and to every group of unseen rows alike. A row's probability is the sum of these
parts, and systematic sampling in a random order draws with exactly these probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from unseen._frozen import Frozen
from unseen._types import FloatArray, IntArray
from unseen.rejection.base import RejectionRule
from unseen.rejection.sample import novelty

_UNIFORM = 0.5


@dataclass(frozen=True, eq=False)
class Sheet(Frozen):
    """Rows for people to label, in the order of the draw: the first ones alone are a draw too.

    Parameters
    ----------
    rows : ndarray of shape (n,)
        Places of the rows among the new ones, from 0.
    probabilities : ndarray of shape (n,)
        Probability with which each row came into the sheet.
    groups : ndarray of shape (n,)
        Group of each row, from 1; 0 for none.
    guesses : ndarray of shape (n,)
        The model's label of each row.
    novelty : ndarray of shape (n,)
        The model's novelty score of each row.
    n_new : int
        All new rows.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import RejectionThreshold, draw_sheet
    >>> rng = np.random.RandomState(0)
    >>> X, y = rng.normal(size=(100, 1)), np.repeat("cat", 100)
    >>> X_new = np.concatenate([rng.normal(size=(150, 1)), rng.normal(5, 1, size=(50, 1))])
    >>> rule = RejectionThreshold(random_state=0).fit(X, y, X_new, [0.75])
    >>> sheet = draw_sheet(rule, 40, random_state=0)
    >>> len(sheet), bool(sheet.probabilities.min() >= 0.5 * 40 / sheet.n_new)
    (40, True)
    """

    rows: IntArray
    probabilities: FloatArray
    groups: IntArray
    guesses: NDArray[Any]
    novelty: FloatArray
    n_new: int

    def __len__(self) -> int:
        return len(self.rows)


def draw_sheet(
    rule: RejectionRule,
    n_rows: int = 60,
    *,
    groups: ArrayLike | None = None,
    random_state: Any = None,
) -> Sheet:
    """Draw rows to label from the new rows that a rule was fitted with.

    Parameters
    ----------
    rule : fitted rejection rule
        A rule whose out-of-fold probabilities say where labels tell most.
    n_rows : int, default=60
        Rows to draw; all new rows if there are fewer.
    groups : array-like of shape (m,) or None, default=None
        Group of each new row, from 1, such as ``explanation.group_of_row``; 0 for none.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    Sheet

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import RejectionThreshold, audit, draw_sheet
    >>> rng = np.random.RandomState(0)
    >>> X, y = rng.normal(size=(100, 1)), np.repeat("cat", 100)
    >>> X_new = np.concatenate([rng.normal(size=(150, 1)), rng.normal(5, 1, size=(50, 1))])
    >>> rule = RejectionThreshold(random_state=0).fit(X, y, X_new, [0.75])
    >>> sheet = draw_sheet(rule, 40, random_state=0)
    >>> labels = np.where(sheet.rows < 150, "cat", "emu")  # people look at the rows
    >>> found = audit(rule.predict_new(), sheet.rows, labels, sheet.probabilities)
    >>> found.corrected.intervals[-1].round(2)
    array([0.22, 0.32])
    """
    posteriors = fitted_rule(rule).out_of_fold_.new
    n_new = len(posteriors)
    known_groups = np.zeros(n_new, dtype=np.intp) if groups is None else np.asarray(groups)
    if known_groups.shape != (n_new,) or known_groups.dtype.kind not in "iu":
        raise ValueError(
            f"groups must hold a whole number for each of {n_new} new rows; "
            f"got {known_groups.dtype} of shape {known_groups.shape}."
        )
    if not isinstance(n_rows, Integral) or n_rows < 1:
        raise ValueError(f"n_rows must be a whole number, at least 1; got {n_rows!r}.")
    probabilities = draw_probabilities(posteriors, known_groups, n_rows)
    rows = draw_rows(probabilities, check_random_state(random_state))
    return Sheet(
        rows,
        probabilities[rows],
        known_groups[rows],
        rule.predict_new()[rows],
        novelty(posteriors)[rows],
        n_new,
    )


def fitted_rule(rule: RejectionRule) -> RejectionRule:
    """The rule, if it was fitted."""
    if not hasattr(rule, "out_of_fold_"):
        raise NotFittedError(f"rule must be a fitted rejection rule; got {rule!r}.")
    return rule


def draw_probabilities(posteriors: FloatArray, groups: IntArray, n_rows: int) -> FloatArray:
    """Probability with which each row is drawn; they sum to ``n_rows``, or all are 1.

    ``posteriors`` (m, K + 1) has the model's probability of each label, unseen last; ``groups``
    (m,) the group of each row, from 1, and 0 for none.
    """
    n_new = len(posteriors)
    if n_rows >= n_new:
        return np.ones(n_new)
    # The spread of a 0/1 label, over all labels: where it is large a label tells most.
    unsure = np.sqrt(np.maximum(1 - (posteriors**2).sum(axis=1), 0.0))
    aimed = _density(unsure)
    present = np.unique(groups[groups > 0])
    if len(present):
        each = [_density(posteriors[:, -1] * (groups == group)) for group in present]
        aimed = (aimed + np.mean(each, axis=0)) / 2
    found = n_rows * (_UNIFORM / n_new + (1 - _UNIFORM) * aimed)
    while (found > 1).any():  # rows that are not certain share the rest, and none loses
        certain = found >= 1
        rest = np.where(certain, 0.0, found)
        found = np.where(certain, 1.0, rest * (n_rows - certain.sum()) / rest.sum())
    return np.asarray(found)


def _density(values: FloatArray) -> FloatArray:
    """Values divided by their sum; all the same where there is nothing to divide."""
    total = values.sum()
    return np.asarray(values / total if total > 0 else np.full(len(values), 1 / len(values)))


def draw_rows(probabilities: FloatArray, rng: np.random.RandomState) -> IntArray:
    """Rows by systematic sampling: each with exactly its probability, in a random order."""
    order = rng.permutation(len(probabilities))
    ends = np.cumsum(probabilities[order])
    n_rows = round(float(ends[-1]))
    marks = (rng.uniform() + np.arange(n_rows)) * ends[-1] / n_rows
    return rng.permutation(order[np.searchsorted(ends, marks, side="right")])
