"""What rules learn from, the labels they give, and answers about rows from other folds.

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
from numpy.typing import NDArray
from sklearn.base import clone

from unseen._frozen import Frozen
from unseen._types import BoolArray, FloatArray, IntArray, Matrix
from unseen.scores.base import assign_folds, stack_samples
from unseen.scores.klr import KernelLogisticRegression

__all__ = [
    "FittedRule",
    "Folds",
    "OpenSample",
    "OutOfFold",
    "as_chosen",
    "assign_sample_folds",
    "codes_of",
    "cross_fit",
    "labels_at",
    "novelty",
    "out_of_fold",
    "row_masses",
    "with_unseen",
]

Folds: TypeAlias = tuple[IntArray, IntArray]  # fold of each labelled row, and of each new row


class FittedRule(Protocol):
    """A rule that has learnt: a pure function of rows."""

    def probabilities(self, X: Matrix) -> FloatArray:
        """Probability of each known class and, last, of unseen ones: shape (n, K + 1)."""
        ...


@dataclass(frozen=True, eq=False)
class OpenSample:
    """Rows of K known classes, new rows, and the shares of the classes among the new rows.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Labelled rows.
    codes : ndarray of shape (n,)
        Class of each labelled row, 0 to K - 1; every class has a row.
    X_new : array or CSR matrix of shape (m, d)
        New rows.
    shares : ndarray of shape (K,)
        Shares pi of the known classes among the new rows; the rest is unseen.
    has_new : bool, default=True
        False where the labelled rows stand for the new rows too, row by row. A row and its copy
        must then be held out together.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection import OpenSample
    >>> X, X_new = np.zeros((3, 1)), np.zeros((2, 1))
    >>> sample = OpenSample(X, np.array([0, 0, 1]), X_new, np.array([0.5, 0.25]))
    >>> sample.masses
    array([[0.25, 0.  , 0.  ],
           [0.25, 0.  , 0.  ],
           [0.  , 0.25, 0.  ],
           [0.  , 0.  , 0.5 ],
           [0.  , 0.  , 0.5 ]])
    """

    X: Matrix
    codes: IntArray
    X_new: Matrix
    shares: FloatArray
    has_new: bool = True

    @classmethod
    def closed(cls, X: Matrix, codes: IntArray, shares: FloatArray) -> OpenSample:
        """A sample without new rows: the labelled rows stand for them."""
        return cls(X, codes, X, shares, has_new=False)

    @property
    def n_classes(self) -> int:
        """Number of known classes, K."""
        return len(self.shares)

    @property
    def unseen(self) -> float:
        """Share of unseen classes; 0 where the known shares sum to more than 1."""
        return max(0.0, 1.0 - float(self.shares.sum()))

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
        X, codes = self.X[labelled], self.codes[labelled]
        if not self.has_new and np.array_equal(labelled, new):
            return OpenSample.closed(X, codes, self.shares)
        return OpenSample(X, codes, self.X_new[new], self.shares)


def row_masses(codes: IntArray, shares: FloatArray) -> FloatArray:
    """Mass ``pi_i / n_i`` of each labelled row.

    Examples
    --------
    >>> import numpy as np
    >>> row_masses(np.array([0, 0, 1]), np.array([0.5, 0.25]))
    array([0.25, 0.25, 0.25])
    """
    counts = np.bincount(codes, minlength=len(shares))
    return np.asarray((shares / np.maximum(counts, 1))[codes])


def with_unseen(classes: NDArray[Any], unseen_label: Any = "auto") -> NDArray[Any]:
    """The known labels, then the label of unseen classes.

    Examples
    --------
    >>> import numpy as np
    >>> with_unseen(np.array([3, 7]))
    array([ 3,  7, -1])
    >>> with_unseen(np.array(["cat", "unseen"]))
    Traceback (most recent call last):
        ...
    ValueError: unseen_label must differ from every known label; got 'unseen'.
    """
    numbers = classes.dtype.kind in "biuf"
    if isinstance(unseen_label, str) and unseen_label == "auto":
        unseen_label = -1 if numbers else "unseen"
    if numbers == isinstance(unseen_label, str):
        rule = "a number" if numbers else "text"
        raise TypeError(f"unseen_label must be {rule}, as the labels are; got {unseen_label!r}.")
    if unseen_label in classes.tolist():
        raise ValueError(f"unseen_label must differ from every known label; got {unseen_label!r}.")
    if classes.dtype.kind == "u":
        classes = classes.astype(np.int64)
    # NumPy widens text to the longer of the two labels, but would turn objects into text.
    kind = object if classes.dtype.kind == "O" else None
    return np.concatenate([classes, np.array([unseen_label], dtype=kind)])


def codes_of(labels: Any, everything: NDArray[Any]) -> IntArray:
    """Code of each label: its place among the K + 1 labels.

    Examples
    --------
    >>> import numpy as np
    >>> codes_of(["dog", "unseen"], np.array(["cat", "dog", "unseen"]))
    array([1, 2])
    """
    places = {label: place for place, label in enumerate(everything.tolist())}
    values = np.asarray(labels).ravel().tolist()
    strange = next((label for label in values if label not in places), None)
    if strange is not None:
        raise ValueError(
            f"classifier must predict labels of y or unseen_label={everything.tolist()[-1]!r}; "
            f"got {strange!r}."
        )
    return np.array([places[label] for label in values], dtype=np.intp)


def novelty(probabilities: FloatArray) -> FloatArray:
    """Probability of unseen against the best known class, in [0, 1]; unseen is the last column.

    Examples
    --------
    >>> import numpy as np
    >>> novelty(np.array([[0.5, 0.25, 0.25], [0.25, 0.0, 0.75]])).round(3)
    array([0.333, 0.75 ])
    """
    unseen = probabilities[:, -1]
    return np.asarray(unseen / (unseen + probabilities[:, :-1].max(axis=1)))


def labels_at(probabilities: FloatArray, threshold: float = 0.5) -> IntArray:
    """Code of each row: K (unseen) from the threshold on, else the best known class.

    Parameters
    ----------
    probabilities : ndarray of shape (n, K + 1)
        Probability of each label, unseen last.
    threshold : float, default=0.5
        Cut of the novelty; one half takes the most probable of all K + 1 labels.

    Examples
    --------
    >>> import numpy as np
    >>> labels_at(np.array([[0.5, 0.25, 0.25], [0.25, 0.0, 0.75]]))
    array([0, 2])
    """
    known = probabilities[:, :-1].argmax(axis=1)
    return np.where(novelty(probabilities) >= threshold, probabilities.shape[1] - 1, known)


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


def as_chosen(model: Any) -> Any:
    """An unfitted copy of a model; of a kernel model, with the bandwidth and C that it chose.

    Settings that are chosen from all rows hold in every fold: two numbers hardly give a row away.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from unseen import KernelLogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelLogisticRegression(C=[1.0, 10.0], bandwidth=2.0).fit(X, y)
    >>> as_chosen(model).C == model.C_
    True
    """
    copy = clone(model)
    if isinstance(model, KernelLogisticRegression):
        copy.set_params(bandwidth=model.bandwidth_, C=model.C_)
    return copy
