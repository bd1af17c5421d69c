"""The samples that rules learn from, masses and labels of cells, and answers out of fold.

For a set A of rows, ``a_i = pi_i P_i(A)`` is the mass of known class i and ``u = P_0(A)`` the mass
of the new rows; ``e = u - sum_i a_i`` is left for unseen classes. In-sample the least estimated
risk is to reject every new row, so each risk, threshold, calibration and choice between rules comes
from rows out of fold (``docs/rejection.md``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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

# Beyond this many features the power d / (d + 2) is nearly 1 and cells would hold a row each.
FEATURES_COUNTED = 4

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
    def prior(self) -> FloatArray:
        """Shares of the known classes and, last, of unseen ones: 0 where the others exceed 1."""
        return np.append(self.shares, max(0.0, 1.0 - float(self.shares.sum())))

    @property
    def rows(self) -> Matrix:
        """All rows, labelled rows first."""
        return stack_samples(self.X, self.X_new)[0]

    @property
    def strata(self) -> IntArray:
        """Class of each row, labelled rows first; K for a new row."""
        return np.append(self.codes, np.full(self.X_new.shape[0], len(self.shares)))

    @property
    def masses(self) -> FloatArray:
        """Mass of each row, labelled rows first: a_1 ... a_K and u, shape (n + m, K + 1)."""
        n_labelled, n_new = len(self.codes), self.X_new.shape[0]
        masses = np.zeros((n_labelled + n_new, len(self.shares) + 1))
        masses[np.arange(n_labelled), self.codes] = row_masses(self.codes, self.shares)
        masses[n_labelled:, -1] = 1 / n_new
        return masses

    @property
    def groups(self) -> list[IntArray]:
        """Places among ``rows`` of each class and, last, of the new rows where there are any."""
        strata = self.strata if self.has_new else self.codes
        n_groups = len(self.shares) + self.has_new
        return [np.flatnonzero(strata == group) for group in range(n_groups)]

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
        labelled, new = np.split(assign_folds(self.strata, n_folds, rng), [len(self.codes)])
        return labelled, new


def row_masses(codes: IntArray, shares: FloatArray) -> FloatArray:
    """Mass ``pi_i / n_i`` of each labelled row."""
    counts = np.bincount(codes, minlength=len(shares))
    return np.asarray((shares / np.maximum(counts, 1))[codes])


def cell_masses(cell: IntArray, masses: FloatArray, n_cells: int) -> FloatArray:
    """Masses a_1 ... a_K and u of each cell: sums of the masses of its rows."""
    return np.stack([np.bincount(cell, column, n_cells) for column in masses.T], axis=1)


def cell_costs(masses: Any) -> FloatArray:
    """Cost of each label in each cell: ``u - a_k`` for class k, ``sum_i a_i`` for unseen.

    ``masses`` holds a_1 ... a_K and u of each cell in its last axis. The label of least cost is the
    empirical risk minimiser in the cell.

    Examples
    --------
    >>> from unseen.rejection import cell_costs
    >>> cell_costs([0.25, 0.125, 0.75])
    array([0.5  , 0.625, 0.375])
    """
    masses = np.asarray(masses, dtype=np.float64)
    known, total = masses[..., :-1], masses[..., -1:]
    return np.concatenate([total - known, known.sum(axis=-1, keepdims=True)], axis=-1)


def cell_labels(masses: FloatArray) -> IntArray:
    """The label of least cost in each cell; K stands for unseen."""
    return cell_costs(masses).argmin(axis=-1)


def cell_probabilities(masses: FloatArray, prior: FloatArray, pseudo_mass: float) -> FloatArray:
    """Probability of each label in each cell: masses a_1 ... a_K and max(e, 0) over their sum."""
    labels = masses.copy()
    labels[:, -1] = np.maximum(masses[:, -1] - masses[:, :-1].sum(axis=1), 0.0)
    empty = labels.sum(axis=1) <= 0
    labels += pseudo_mass / labels.shape[1]  # the most probable label stays
    labels[empty] = prior
    return labels / labels.sum(axis=1, keepdims=True)


def effective_size(sample: OpenSample) -> float:
    """Rows' worth of a sample: ``1 / (1 / n_0 + sum_i pi_i^2 / n_i)``.

    One over this size bounds the variance of R_hat(f), up to a constant, for every classifier f.
    """
    counts = np.bincount(sample.codes, minlength=len(sample.shares))
    return float(1 / (1 / sample.X_new.shape[0] + (sample.shares**2 / counts).sum()))


def growing_cells(size: float, n_features: int) -> float:
    """How many cells to have for samples of this size: ``n^(d / (d + 2))``, d taken at most 4."""
    counted = min(n_features, FEATURES_COUNTED)
    return float(size ** (counted / (counted + 2)))


def smallest_leaf(min_leaf: int | str, sample: OpenSample, factor: float = 2.0) -> int:
    """Rows that a leaf must hold; "auto" allows ``factor`` leaves for each cell of a histogram."""
    if not isinstance(min_leaf, str):
        return int(min_leaf)
    n_rows, n_features = sample.X.shape[0] + sample.X_new.shape[0], sample.X.shape[1]
    return max(1, round(n_rows / (factor * growing_cells(effective_size(sample), n_features))))


def rescaled(parts: FloatArray, otherwise: Any) -> FloatArray:
    """Rows divided by their sums; ``otherwise`` where a row sums to 0."""
    total = parts.sum(axis=1, keepdims=True)
    return np.where(total > 0, parts / np.where(total > 0, total, 1.0), otherwise)


def with_unseen(classes: NDArray[Any], unseen_label: Any = "auto") -> NDArray[Any]:
    """The known labels, then the unseen label; "auto" is -1 among numbers, "unseen" among text."""
    numbers = classes.dtype.kind in "biuf"
    if isinstance(unseen_label, str) and unseen_label == "auto":
        unseen_label = -1 if numbers else "unseen"
    if not numbers and not isinstance(unseen_label, str):
        raise TypeError(f"unseen_label must be text, as the labels are; got {unseen_label!r}.")
    if unseen_label in classes.tolist():
        raise ValueError(f"unseen_label must differ from every known label; got {unseen_label!r}.")
    if numbers and isinstance(unseen_label, str):
        classes = classes.astype(object)  # no other array holds both
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
    """Code of each row: K (unseen) from this novelty on, else the best known class."""
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


def held_out(folds: Folds) -> Iterator[tuple[BoolArray, BoolArray]]:
    """Labelled and new rows of each fold in turn, as masks; those of fold -1 are never held out."""
    for fold in range(1 + max(int(part.max()) for part in folds)):
        yield folds[0] == fold, folds[1] == fold


def hold_out(sample: OpenSample, share: float, rng: RandomState) -> tuple[OpenSample, OpenSample]:
    """Divide every class and the new rows into a part to learn from and one held out.

    Either part needs a row of each to price labels, so a row that is alone is in both.
    """
    n_labelled = len(sample.codes)
    out = np.zeros(n_labelled + sample.X_new.shape[0], dtype=bool)
    rest = ~out
    for rows in sample.groups:
        n_out = max(1, min(round(share * len(rows)), len(rows) - 1))
        out[rng.permutation(rows)[:n_out]] = True
        rest[rows] = ~out[rows] | (len(rows) == 1)
    if not sample.has_new:  # a row and its copy stay together
        out[n_labelled:], rest[n_labelled:] = out[:n_labelled], rest[:n_labelled]
    kept, held_out = (sample.subset(mask[:n_labelled], mask[n_labelled:]) for mask in (rest, out))
    return kept, held_out


def cross_fit(
    fit_rule: Callable[[OpenSample, RandomState], FittedRule],
    sample: OpenSample,
    n_folds: int,
    rng: RandomState,
) -> OutOfFold:
    """Probabilities of all rows, each by a rule that was fitted without the fold of the row."""
    n_classes, samples = len(sample.shares), (sample.X, sample.X_new)
    answers = [np.zeros((rows.shape[0], n_classes + 1)) for rows in samples]
    for out in held_out(sample.assign_folds(n_folds, rng)):
        part = sample.subset(~out[0], ~out[1])
        present, codes = np.unique(part.codes, return_inverse=True)
        if len(present) < n_classes:  # a class whose only row is held out has probability 0
            part = replace(part, codes=codes, shares=part.shares[present])
        rule, labels = fit_rule(part, rng), np.append(present, n_classes)
        for rows, mask, found in zip(samples, out, answers, strict=True):
            if mask.any():  # no rule need cope with an empty sample
                found[np.ix_(mask, labels)] = rule.probabilities(rows[mask])
    return OutOfFold(answers[0], sample.codes, answers[1])


def as_chosen(model: Any) -> Any:
    """An unfitted copy of a model; of a kernel model, with the bandwidth and C that it chose."""
    copy = clone(model)
    if isinstance(model, KernelLogisticRegression):  # two numbers hardly give a row away
        copy.set_params(bandwidth=model.bandwidth_, C=model.C_)
    return copy
