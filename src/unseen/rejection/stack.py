"""A rule on stacked features: answers of classifiers and distances to neighbours, beside the row.

A forest cuts along one feature at a time, which in many dimensions finds little. Log-probabilities
of the classes, log-odds of new against known, and distances to the nearest rows of each class tell
it where to look (``docs/rejection.md``). Answers come from models out of fold, and a labelled row
is no neighbour of itself: otherwise a feature would say too much about its own row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors

from unseen._arrays import arrays_of, chosen_arrays
from unseen._random import seeded
from unseen._sklearn import HasMethods
from unseen._team import own_threads
from unseen._types import FloatArray, IntArray
from unseen.rejection.base import RejectionRule
from unseen.rejection.forest import RejectionForest
from unseen.rejection.sample import (
    FittedRule,
    OpenSample,
    OutOfFold,
    as_chosen,
    held_out,
    smallest_leaf,
)
from unseen.scores.base import as_rows, fold_masks
from unseen.scores.klr import KernelLogisticRegression
from unseen.scores.scales import Standardisation

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
            near = nearest(model, None, 1)
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
        """Distances from rows, new or the ``labelled`` ones, to their neighbours in each class."""
        found, rows = [], self.scale(X)
        parts = zip(self.by_class, self.ranks, self.copies, self.references, strict=True)
        for model, ranks, copy, own in parts:
            last = int(ranks.max())
            if labelled:
                distances: FloatArray = np.empty((len(rows), last))
                distances[own] = nearest(model, None, last)
                others = np.delete(np.arange(len(rows)), own)
                if others.size:
                    distances[others] = nearest(model, rows[others], last)
            elif copy == 0:
                distances = nearest(model, rows, last)
            else:  # a copy of a row counts as that row itself
                distances = nearest(model, rows, last + 1)
                is_copy = distances[:, :1] < copy
                distances = np.where(is_copy, distances[:, 1:], distances[:, :-1])
            found.append(distances[:, ranks - 1])
        return np.hstack(found)


def nearest(model: NearestNeighbors, rows: FloatArray | None, n_nearest: int) -> FloatArray:
    """Distances to the nearest rows of a class, rising; without rows, of its own rows to others."""
    if rows is None:
        if model.n_samples_fit_ == 1:
            return np.zeros((1, n_nearest))  # there is no other row to compare it with
        return np.asarray(model.kneighbors(n_neighbors=n_nearest)[0])
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


def fit_models(sample: OpenSample, classifiers: Sequence[Any], rng: RandomState) -> list[Any]:
    """Models of known against new rows and, where there are several, of the known classes."""
    is_new = np.repeat([0, 1], [len(sample.codes), sample.X_new.shape[0]])
    tasks = [(sample.rows, is_new)]
    if len(sample.shares) > 1:
        tasks.append((sample.X, sample.codes))
    with own_threads():
        return [
            seeded(classifier, rng.randint(2**31 - 1)).fit(X, codes)
            for (X, codes), classifier in zip(tasks, classifiers, strict=False)
        ]


def log_answers(chances: Sequence[FloatArray]) -> FloatArray:
    """Log-odds of new against known, and log-probability of each class where there are several."""
    origin, *known = (np.clip(each, MIN_PROBABILITY, 1.0) for each in chances)
    return np.hstack([np.log(origin[:, 1:] / origin[:, :1]), *map(np.log, known)])


def answers_out_of_fold(
    sample: OpenSample, models: Sequence[Any], n_folds: int, rng: RandomState
) -> tuple[FloatArray, FloatArray]:
    """Answers about labelled and new rows, by copies of the models that did not learn the row."""
    classifiers, n_labelled = [as_chosen(model) for model in models], len(sample.codes)
    folds, folds_new = sample.assign_folds(n_folds, rng)
    # A class of one row is never held out: its fold would not know the class.
    lonely = np.bincount(sample.codes)[sample.codes] == 1
    folds = np.where(lonely, -1, folds)
    if all(isinstance(model, KernelLogisticRegression) for model in classifiers):
        is_new = np.repeat([0, 1], [n_labelled, len(folds_new)])
        # New rows are of no class: where classes are learnt, they have no weight.
        of_class = np.append(sample.codes, 0 * folds_new), 1.0 - is_new
        tasks = [(is_new, np.ones(len(is_new))), of_class]
        chances, masks = [], fold_masks(np.append(folds, folds_new))
        for model, (codes, weight) in zip(classifiers, tasks, strict=False):
            found = seeded(model, rng.randint(2**31 - 1))
            found.classes_ = np.arange(int(codes.max()) + 1)
            # Folds share the kernel values of the rows.
            values = found.fit_checked(as_rows(sample.rows), codes, weight, masks)
            chances.append(arrays_of(values).posteriors(values))
        labelled, new = np.split(log_answers(chances), [n_labelled])
    else:
        n_answers = 1 + len(sample.shares) * (len(models) > 1)
        labelled, new = (np.zeros((len(part), n_answers)) for part in (folds, folds_new))
        for out, out_new in held_out((folds, folds_new)):
            fitted = fit_models(sample.subset(~out, ~out_new), classifiers, rng)
            for X, mask, answers in ((sample.X, out, labelled), (sample.X_new, out_new, new)):
                if mask.any():  # no model need cope with an empty sample
                    answers[mask] = log_answers([each.predict_proba(X[mask]) for each in fitted])
    if lonely.any():
        labelled[lonely] = log_answers([one.predict_proba(sample.X) for one in models])[lonely]
    return labelled, new


def steady(features: FloatArray) -> FloatArray:
    """Features to six digits: a forest would cut between values that differ by rounding alone."""
    part, exponent = np.frexp(features)
    return np.ldexp(np.rint(part * 2.0**_KEPT_BITS), exponent - _KEPT_BITS)


@dataclass(frozen=True, eq=False)
class StackRule:
    """A fitted rule that reads stacked features."""

    models: list[Any]  # of known against new rows and, where there are several, of the classes
    neighbours: list[Neighbours]  # in each scale of the features
    rule: FittedRule

    def features(self, X: FloatArray) -> FloatArray:
        """The row, the models' answers, the distances."""
        answers = log_answers([model.predict_proba(X) for model in self.models])
        distances = [each.distances(X) for each in self.neighbours]
        return np.hstack([X, steady(answers), *map(steady, distances)])

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
        ranks = np.unique(np.asarray(self.n_neighbors))
        if ranks.size == 0 or ranks.dtype.kind not in "iu" or ranks[0] < 1:
            raise ValueError(f"n_neighbors must be whole numbers >= 1; got {self.n_neighbors!r}.")
        reader = coarse_forest(sample) if self.rule is None else clone(self.rule)
        classifier = KernelLogisticRegression() if self.classifier is None else self.classifier
        models = fit_models(sample, [classifier, classifier], rng)
        everything = sample.rows
        scales = Standardisation.of(everything, np.ones(len(everything))).raw_and_standardised
        references = sample.groups[: len(sample.shares)]
        for code, own in enumerate(references):
            if len(own) > MOST_REFERENCES:
                references[code] = np.sort(rng.choice(own, MOST_REFERENCES, replace=False))
        neighbours = [Neighbours.from_sample(sample, ranks, one, references) for one in scales]
        answers, answers_new = answers_out_of_fold(sample, models, self.n_folds, rng)
        distances = [each.distances(sample.X, labelled=True) for each in neighbours]
        X = X_new = np.hstack([sample.X, steady(answers), *map(steady, distances)])
        if sample.has_new:
            distances = [each.distances(sample.X_new) for each in neighbours]
            X_new = np.hstack([sample.X_new, steady(answers_new), *map(steady, distances)])
        rule, rows = reader._fit_both(replace(sample, X=X, X_new=X_new), rng)
        return StackRule(models, neighbours, rule), rows


def coarse_forest(sample: OpenSample) -> RejectionForest:
    """A forest with leaves twice as large as the default of a single tree for these rows."""
    return RejectionForest(min_leaf=LEAF_FACTOR * smallest_leaf("auto", sample))
