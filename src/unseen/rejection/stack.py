"""A rule on stacked features: answers of classifiers and distances to neighbours, beside the row.

A forest cuts along one feature at a time, which in many dimensions finds little. Log-probabilities
of the classes, log-odds of new against known, and distances to the nearest rows of each class tell
it where to look (``docs/rejection.md``). Answers come from models out of fold, and a labelled row
is no neighbour of itself: otherwise a feature would say too much about its own row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors

from unseen._arrays import arrays_of, chosen_arrays
from unseen._random import seeded
from unseen._sklearn import HasMethods
from unseen._types import BoolArray, FloatArray, IntArray, Matrix
from unseen.rejection.base import RejectionRule
from unseen.rejection.cells.cells import smallest_leaf
from unseen.rejection.forest import RejectionForest
from unseen.rejection.learning.sample import (
    FittedRule,
    Folds,
    OpenSample,
    OutOfFold,
    as_chosen,
    out_of_fold,
)
from unseen.rejection.plugin import TwoModels, fit_tasks
from unseen.scores.base import as_rows, fold_masks
from unseen.scores.kernel import Standardisation
from unseen.scores.klr import KernelLogisticRegression

MIN_PROBABILITY = 1e-6  # smaller probabilities have the logarithm of this one
NEIGHBOURS = (1, 3, 8)
MOST_REFERENCES = 300  # rows of a class; more of them take longer and tell no more
_ROUNDED = 1e-6  # part of a row's square: distances below it have lost half of their digits
_SAME = 1e-6  # rounding leaves this part of the usual distance between copies
_KEPT_BITS = 20  # of a feature: a millionth of its value
# Stacked features tell even noise apart: leaves must be larger than a tree's.
LEAF_FACTOR = 2


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The labelled rows of each class, in one scale of the features, to measure distances to."""

    scale: Standardisation
    by_class: list[NearestNeighbors]
    ranks: list[IntArray]  # neighbours of each class to measure, from 1
    copies: list[float]  # distance below which two rows are copies, in each class
    references: list[IntArray]  # the labelled rows of each class

    @classmethod
    def from_sample(
        cls,
        sample: OpenSample,
        wanted: IntArray,
        scale: Standardisation,
        references: list[IntArray],
    ) -> Neighbours:
        """Neighbours among these labelled rows of each class."""
        # A row of the class itself has one neighbour fewer there.
        ranks = [np.unique(np.clip(wanted, 1, max(1, len(rows) - 1))) for rows in references]
        by_class = [NearestNeighbors().fit(scale(sample.X[rows])) for rows in references]
        copies = []
        for model in by_class:
            # A labelled row is no neighbour of its copy among the new rows either: copies would
            # all stand nearer than any labelled row does, and look unseen.
            near = class_distances(model, np.array([1]))
            limit = _SAME * float(np.median(near))
            copies.append(limit if near.min() > limit else 0.0)  # rows may repeat by themselves
        return cls(scale, by_class, ranks, copies, references)

    def __getstate__(self) -> dict[str, Any]:
        # Nobody checks the indices inside a search tree, so a file holds the rows alone.
        return {**vars(self), "by_class": [model._fit_X for model in self.by_class]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        by_class = [NearestNeighbors().fit(rows) for rows in state["by_class"]]
        self.__dict__.update(state, by_class=by_class)

    def distances(self, X: FloatArray, labelled: bool = False) -> FloatArray:
        """Distances from rows to their neighbours in each class.

        Where X are the ``labelled`` rows themselves, no row is its own neighbour.
        """
        found, rows = [], self.scale(X)
        parts = zip(self.by_class, self.ranks, self.copies, self.references, strict=True)
        for model, ranks, copy, own in parts:
            if not labelled:
                found.append(class_distances(model, ranks, rows, copy))
                continue
            distances = np.empty((len(rows), len(ranks)))
            distances[own] = class_distances(model, ranks)
            others = np.delete(np.arange(len(rows)), own)
            if others.size:
                distances[others] = class_distances(model, ranks, rows[others])
            found.append(distances)
        return np.hstack(found)


def class_distances(
    model: NearestNeighbors, ranks: IntArray, rows: FloatArray | None = None, copy: float = 0.0
) -> FloatArray:
    """Distance to the neighbours of these ranks (from 1) among the rows of a class.

    ``rows=None`` measures from each row of the model, without itself. A row that is nearer than
    ``copy`` to a row of the model counts as that row itself.
    """
    last = int(ranks.max())
    if rows is None:
        if model.n_samples_fit_ == 1:
            return np.zeros((1, len(ranks)))  # there is no other row to compare it with
        return np.asarray(model.kneighbors(n_neighbors=last)[0][:, ranks - 1])
    if copy == 0:
        return nearest(model, rows, last)[:, ranks - 1]
    distances = nearest(model, rows, last + 1)
    is_copy = distances[:, :1] < copy
    return np.where(is_copy, distances[:, ranks], distances[:, ranks - 1])


def nearest(model: NearestNeighbors, rows: FloatArray, n_nearest: int) -> FloatArray:
    """Distances to the nearest rows of a class, rising."""
    arrays, size = chosen_arrays(), model.n_samples_fit_
    found, references = np.empty((len(rows), n_nearest)), arrays.put(model._fit_X)
    for part in arrays.parts(len(rows), size):
        # A search tree takes ten times as long to find a few of so few rows.
        apart = arrays.squared_distances(arrays.put(rows[part]), references)
        found[part] = arrays.host(arrays.smallest(apart, n_nearest))
    # Next to long rows little is left of small differences: these are taken one by one.
    lost = found[:, 0] < _ROUNDED * np.einsum("ij,ij->i", rows, rows)
    found = np.sqrt(np.maximum(found, 0.0))
    found.sort(axis=1)
    if lost.any():
        found[lost] = model.kneighbors(rows[lost], n_neighbors=n_nearest)[0]
    return found


@dataclass(frozen=True, eq=False)
class Answers:
    """Fitted models of known against new rows and, where there are several, of the classes."""

    models: list[Any]  # of the tasks of TwoModels

    def __call__(self, X: Matrix) -> FloatArray:
        """Log-odds of new against known, and log-probability of each known class."""
        return _as_features([model.predict_proba(X) for model in self.models])

    def out_of_fold(
        self, sample: OpenSample, n_folds: int, rng: RandomState
    ) -> tuple[FloatArray, FloatArray]:
        """Answers about all rows of the sample, by models that did not learn from the row."""
        classifiers = [as_chosen(model) for model in self.models]
        folds, folds_new = sample.assign_folds(n_folds, rng)
        # A class of one row is never held out: its fold would not know the class.
        lonely = np.bincount(sample.codes)[sample.codes] == 1
        folds = np.where(lonely, -1, folds)
        if all(isinstance(model, KernelLogisticRegression) for model in classifiers):
            labelled, new = _by_one_factor(sample, classifiers, (folds, folds_new), rng)
        else:

            def learn(kept: BoolArray, kept_new: BoolArray) -> Answers:
                tasks = TwoModels().tasks(sample.subset(kept, kept_new))
                return Answers(fit_tasks(tasks, classifiers, rng))

            labelled, new = out_of_fold(learn, (sample.X, sample.X_new), (folds, folds_new))
        if lonely.any():
            labelled[lonely] = self(sample.X)[lonely]
        return labelled, new


def _by_one_factor(
    sample: OpenSample, models: Sequence[KernelLogisticRegression], folds: Folds, rng: RandomState
) -> tuple[FloatArray, FloatArray]:
    """Answers out of fold by models that share, over all folds, the kernel values of the rows."""
    n_labelled, n_new = len(sample.codes), sample.X_new.shape[0]
    is_new = np.repeat([0, 1], [n_labelled, n_new])
    # New rows are of no class: where classes are learnt, they have no weight.
    tasks = [(is_new, np.ones(len(is_new))), (np.append(sample.codes, 0 * folds[1]), 1.0 - is_new)]
    chances, masks = [], fold_masks(np.concatenate(folds))
    for model, (codes, weight) in zip(models, tasks, strict=False):
        found = seeded(model, rng.randint(2**31 - 1))
        found.classes_ = np.arange(int(codes.max()) + 1)
        values = found.fit_checked(as_rows(sample.rows), codes, weight, masks)
        chances.append(arrays_of(values).posteriors(values))
    labelled, new = np.split(_as_features(chances), [n_labelled])
    return labelled, new


def _as_features(chances: Sequence[FloatArray]) -> FloatArray:
    """Log-odds of new against known, and log-probability of each known class."""
    origin, *known = (np.clip(each, MIN_PROBABILITY, 1.0) for each in chances)
    logs = [np.log(each) for each in known]
    return np.hstack([np.log(origin[:, 1:] / origin[:, :1]), *logs])


def steady(features: FloatArray) -> FloatArray:
    """Features to six digits.

    Processors round sums differently, and a forest would cut between values that are equal but
    for that: the same rows would have other labels elsewhere.
    """
    part, exponent = np.frexp(features)
    return np.ldexp(np.rint(part * 2.0**_KEPT_BITS), exponent - _KEPT_BITS)


@dataclass(frozen=True, eq=False)
class StackRule:
    """A fitted rule that reads stacked features."""

    answers: Answers
    neighbours: list[Neighbours]  # in each scale of the features
    rule: FittedRule

    def features(self, X: FloatArray) -> FloatArray:
        """The row, the models' answers, the distances."""
        distances = [each.distances(X) for each in self.neighbours]
        return np.hstack([X, steady(self.answers(X)), *map(steady, distances)])

    def probabilities(self, X: FloatArray) -> FloatArray:
        """Probability of each known class and, last, of unseen ones."""
        return self.rule.probabilities(self.features(X))


@dataclass(eq=False, repr=False)
class RejectionStack(RejectionRule):
    """Any rule, on features that classifiers and neighbours add to the rows.

    Parameters
    ----------
    rule : RejectionRule or None, default=None
        Rule that learns from the features; None is a :class:`RejectionForest` with leaves twice
        as large as the default of a :class:`RejectionTree`.
    classifier : scikit-learn classifier with ``predict_proba`` or None, default=None
        Gives log-probabilities as features; None is :class:`~unseen.KernelLogisticRegression`.
    n_neighbors : array-like of int, default=(1, 3, 8)
        Ranks of the neighbours whose distances are features; in a class with too few rows, the
        last neighbour.
    unseen_label, n_folds, random_state
        Parameters of every rule.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import RejectionStack
    >>> rng = np.random.RandomState(0)
    >>> y = np.repeat(["left", "right"], 100)
    >>> X = rng.normal(size=(200, 1)) + np.where(y == "left", -4, 4)[:, None]
    >>> X_new = rng.normal(size=(300, 1)) + np.repeat([-4, 4, 0], 100)[:, None]
    >>> rule = RejectionStack(random_state=0).fit(X, y, X_new, [1 / 3, 1 / 3])
    >>> rule.predict([[-4.0], [0.0], [4.0]])
    array(['left', 'unseen', 'right'], dtype='<U6')
    """

    rule: RejectionRule | None = None
    classifier: Any = None
    n_neighbors: ArrayLike = NEIGHBOURS

    _accepts_sparse: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "rule": [None, RejectionRule],
        "classifier": [None, HasMethods(["fit", "predict_proba"])],
        "n_neighbors": ["array-like"],
        **RejectionRule._parameter_constraints,
    }

    def _fit_both(self, sample: OpenSample, rng: RandomState) -> tuple[StackRule, OutOfFold]:
        if self.rule is not None:
            self.rule._validate_params()
        reader = coarse_forest(sample) if self.rule is None else clone(self.rule)
        answers, neighbours, stacked = self._stacked(sample, rng)
        rule, rows = reader._fit_both(stacked, rng)
        return StackRule(answers, neighbours, rule), rows

    def _stacked(
        self, sample: OpenSample, rng: RandomState
    ) -> tuple[Answers, list[Neighbours], OpenSample]:
        """What makes the features of other rows, and the sample in stacked features."""
        classifier = KernelLogisticRegression() if self.classifier is None else self.classifier
        models = Answers(fit_tasks(TwoModels().tasks(sample), repeat(classifier), rng))
        ranks = np.unique(np.asarray(self.n_neighbors))
        if ranks.size == 0 or ranks.dtype.kind not in "iu" or ranks[0] < 1:
            raise ValueError(f"n_neighbors must be whole numbers >= 1; got {self.n_neighbors!r}.")
        everything = sample.rows
        scales = Standardisation.of(everything, np.ones(len(everything))).raw_and_standardised
        by_class = (np.flatnonzero(sample.codes == code) for code in range(sample.n_classes))
        references: list[IntArray] = list(by_class)
        for code, rows in enumerate(references):
            if len(rows) > MOST_REFERENCES:
                references[code] = np.sort(rng.choice(rows, MOST_REFERENCES, replace=False))
        neighbours = [Neighbours.from_sample(sample, ranks, one, references) for one in scales]
        answers, answers_new = models.out_of_fold(sample, self.n_folds, rng)
        distances = [each.distances(sample.X, labelled=True) for each in neighbours]
        X = X_new = np.hstack([sample.X, steady(answers), *map(steady, distances)])
        if sample.has_new:
            distances = [each.distances(sample.X_new) for each in neighbours]
            X_new = np.hstack([sample.X_new, steady(answers_new), *map(steady, distances)])
        return models, neighbours, replace(sample, X=X, X_new=X_new)


def coarse_forest(sample: OpenSample) -> RejectionForest:
    """A forest with leaves twice as large as the default of a single tree for these rows."""
    return RejectionForest(min_leaf=LEAF_FACTOR * smallest_leaf("auto", sample))
