"""The samples that rules learn from, the labels that rules give, and answers out of fold.

For a set A of rows, ``a_i = pi_i P_i(A)`` is the mass of known class i and ``u = P_0(A)`` the mass
of the new rows; ``e = u - sum_i a_i`` is left for unseen classes. In-sample the least estimated
risk is to reject every new row, so each risk, threshold, calibration and choice between rules comes
from rows out of fold (``docs/rejection.md``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.base import clone

from unseen._frozen import Frozen
from unseen._types import BoolArray, FloatArray, IntArray, Matrix
from unseen.scores.base import assign_folds, stack_samples
from unseen.scores.klr import KernelLogisticRegression

Folds: TypeAlias = tuple[IntArray, IntArray]  # fold of each labelled row, and of each new row


class FittedRule(Protocol):
    """A rule that has learnt: a pure function of rows."""

    def probabilities(self, X: Matrix) -> FloatArray:
        """Probability of each known class and, last, of unseen ones: shape (n, K + 1)."""


@dataclass(frozen=True, eq=False)
class OpenSample:
    """Rows of K known classes, new rows, and the shares of the classes among the new rows.

    Without new rows (``has_new=False``) the labelled rows stand for these too, row by row, and a
    row and its copy must be held out together.
    """

    X: Matrix  # the n labelled rows
    codes: IntArray  # class of each labelled row, 0 to K - 1; every class has a row
    X_new: Matrix  # the m new rows
    shares: FloatArray  # pi_1 ... pi_K; the rest is unseen
    has_new: bool = True

    @property
    def n_classes(self) -> int:
        """Number of known classes, K."""
        return len(self.shares)

    @property
    def prior(self) -> FloatArray:
        """Shares of the known classes and, last, of unseen ones: 0 where the others exceed 1."""
        return np.append(self.shares, max(0.0, 1.0 - float(self.shares.sum())))

    @property
    def rows(self) -> Matrix:
        """All rows, labelled rows first."""
        return stack_samples(self.X, self.X_new)[0]

    @property
    def masses(self) -> FloatArray:
        """Mass of each row, labelled rows first: a_1 ... a_K and u, shape (n + m, K + 1)."""
        n_labelled, n_new = len(self.codes), self.X_new.shape[0]
        masses = np.zeros((n_labelled + n_new, self.n_classes + 1))
        masses[np.arange(n_labelled), self.codes] = row_masses(self.codes, self.shares)
        masses[n_labelled:, -1] = 1 / n_new
        return masses

    def subset(self, labelled: BoolArray, new: BoolArray) -> OpenSample:
        """Some of the rows, with the same shares."""
        has_new = self.has_new or not np.array_equal(labelled, new)
        rows = self.X[labelled], self.codes[labelled], self.X_new[new]
        return OpenSample(*rows, self.shares, has_new)

    def assign_folds(self, n_folds: int, rng: RandomState) -> Folds:
        """Folds that hold classes and new rows evenly; fewer where no sample fills them."""
        if not self.has_new:  # a row and its copy leave together
            folds = assign_folds(self.codes, n_folds, rng)
            return folds, folds
        strata = np.append(self.codes, np.full(self.X_new.shape[0], self.n_classes))
        labelled, new = np.split(assign_folds(strata, n_folds, rng), [len(self.codes)])
        return labelled, new


def row_masses(codes: IntArray, shares: FloatArray) -> FloatArray:
    """Mass ``pi_i / n_i`` of each labelled row."""
    counts = np.bincount(codes, minlength=len(shares))
    return np.asarray((shares / np.maximum(counts, 1))[codes])


def rescaled(parts: FloatArray, otherwise: Any) -> FloatArray:
    """Rows divided by their sums; ``otherwise`` where a row sums to 0."""
    total = parts.sum(axis=1, keepdims=True)
    return np.where(total > 0, parts / np.where(total > 0, total, 1.0), otherwise)


def with_unseen(classes: NDArray[Any], unseen_label: Any = "auto") -> NDArray[Any]:
    """The known labels, then the unseen label; "auto" is -1 among numbers, "unseen" among text.

    A word among numbers makes an array of objects, as no other holds both.
    """
    numbers = classes.dtype.kind in "biuf"
    if isinstance(unseen_label, str) and unseen_label == "auto":
        unseen_label = -1 if numbers else "unseen"
    if not numbers and not isinstance(unseen_label, str):
        raise TypeError(f"unseen_label must be text, as the labels are; got {unseen_label!r}.")
    if unseen_label in classes.tolist():
        raise ValueError(f"unseen_label must differ from every known label; got {unseen_label!r}.")
    if numbers and isinstance(unseen_label, str):
        classes = classes.astype(object)
    elif classes.dtype.kind == "u":
        classes = classes.astype(np.int64)
    # NumPy widens text to the longer of the two labels, but would turn objects into text.
    kind = object if classes.dtype.kind == "O" else None
    return np.concatenate([classes, np.array([unseen_label], dtype=kind)])


def places_of(labels: Any, classes: NDArray[Any]) -> IntArray:
    """Place of each label among the classes; -1 for any other label."""
    places = {label: place for place, label in enumerate(classes.tolist())}
    return np.array([places.get(label, -1) for label in np.ravel(labels).tolist()], dtype=np.intp)


def novelty(probabilities: FloatArray) -> FloatArray:
    """Probability of unseen, the last column, against the best known class: in [0, 1]."""
    unseen = probabilities[:, -1]
    return np.asarray(unseen / (unseen + probabilities[:, :-1].max(axis=1)))


def labels_at(probabilities: FloatArray, threshold: float = 0.5) -> IntArray:
    """Code of each row: K (unseen) from this novelty on, else the best known class.

    One half takes the most probable of all K + 1 labels.
    """
    known = probabilities[:, :-1].argmax(axis=1)
    return np.where(novelty(probabilities) >= threshold, probabilities.shape[1] - 1, known)


@dataclass(frozen=True, eq=False)
class OutOfFold(Frozen):
    """Probabilities (rows, K + 1) of rows by rules that did not learn from these rows."""

    labelled: FloatArray
    codes: IntArray  # classes of the labelled rows
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
    """Answers about labelled and new rows, each learnt without the fold of the row.

    ``learn(kept, kept_new)`` learns from the rows of these masks, and returns a function from rows
    to answers, one answer (of any shape) a row. A row of fold -1 is in every ``kept``; its answer
    is 0.
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
    fit_rule: Callable[[OpenSample, RandomState], FittedRule],
    sample: OpenSample,
    n_folds: int,
    rng: RandomState,
) -> OutOfFold:
    """Probabilities of all rows, each by a rule that was fitted without the fold of the row.

    A class whose only row is held out is unknown to the rule of that fold, and has probability 0.
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

    folds = sample.assign_folds(n_folds, rng)
    labelled, new = out_of_fold(learn, (sample.X, sample.X_new), folds)
    return OutOfFold(labelled, sample.codes, new)


def as_chosen(model: Any) -> Any:
    """An unfitted copy of a model; of a kernel model, with the bandwidth and C that it chose.

    Settings that are chosen from all rows hold in every fold: two numbers hardly give a row away.
    """
    copy = clone(model)
    if isinstance(model, KernelLogisticRegression):
        copy.set_params(bandwidth=model.bandwidth_, C=model.C_)
    return copy
