"""A rule on stacked features: what classifiers and neighbours say of a row, beside the row itself.

A forest cuts along one feature at a time, which in many dimensions finds little. Three kinds of
features tell it where to look: the log-probabilities of the K classes by a classifier that knows
no others, the log-odds that a row is new rather than known, and the distances to the nearest
rows of each class, in the units given and with columns of equal spread, as either may hide what is
unseen. A feature from a model that has seen the row would say too much, so that rows get theirs out
of fold, and labelled rows are no neighbours of themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors

from unseen._sklearn import HasMethods
from unseen._types import FloatArray, IntArray, Matrix
from unseen.rejection.base import RejectionRule
from unseen.rejection.forest import RejectionForest
from unseen.rejection.learning.folds import FittedRule, HeldOut, assign_sample_folds
from unseen.rejection.learning.sample import OpenSample
from unseen.rejection.plugin import PlugInRule, Pooled, fit_plug_in, refitted
from unseen.rejection.tree import least_leaf
from unseen.scores.kernel import Standardisation
from unseen.scores.klr import KernelLogisticRegression

__all__ = ["RejectionStack", "StackRule", "class_distances"]

LEAST = 1e-6  # smallest probability whose logarithm is told from that of 0
NEIGHBOURS = (1, 3, 8)
_SAME = 1e-6  # of the usual distance; what rounding leaves of 0
# Stacked features are good at telling rows apart, noise included: leaves must be larger.
LEAF_FACTOR = 2


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Rows of each class, to which distances are taken, in one scale of the features.

    Parameters
    ----------
    scale : Standardisation
        Centre and scale of each feature.
    by_class : list of NearestNeighbors
        The labelled rows of each class.
    ranks : list of ndarray
        Which neighbours of each class to measure, from 1.
    copies : list of float
        How near to one of each class a row is a copy of it, see :func:`copy_distance`.
    """

    scale: Standardisation
    by_class: list[NearestNeighbors]
    ranks: list[IntArray]
    copies: list[float]

    @classmethod
    def of(cls, sample: OpenSample, wanted: IntArray, scale: Standardisation) -> Neighbours:
        """Neighbours among the labelled rows."""
        rows = scale(sample.X)
        counts = np.bincount(sample.codes, minlength=sample.n_classes)
        # A row of the class itself has one neighbour fewer there.
        ranks = [np.unique(np.clip(wanted, 1, max(1, count - 1))) for count in counts]
        by_class = [
            NearestNeighbors().fit(rows[sample.codes == code]) for code in range(sample.n_classes)
        ]
        return cls(scale, by_class, ranks, [copy_distance(model) for model in by_class])

    def __getstate__(self) -> dict[str, Any]:
        # Nobody checks the indices inside a search tree, so a file holds the rows alone.
        return {**vars(self), "by_class": [model._fit_X for model in self.by_class]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        by_class = [NearestNeighbors().fit(rows) for rows in state["by_class"]]
        self.__dict__.update(state, by_class=by_class)

    def distances(self, X: FloatArray) -> FloatArray:
        """From new rows to the neighbours of each class."""
        rows = self.scale(X)
        parts = zip(self.by_class, self.ranks, self.copies, strict=True)
        return np.hstack(
            [class_distances(model, ranks, rows, copy) for model, ranks, copy in parts]
        )

    def distances_of_labelled(self, sample: OpenSample) -> FloatArray:
        """The same of the labelled rows, none of which is its own neighbour."""
        found, rows = [], self.scale(sample.X)
        for code, (model, ranks) in enumerate(zip(self.by_class, self.ranks, strict=True)):
            own = sample.codes == code
            distances = np.empty((len(own), len(ranks)))
            distances[own] = class_distances(model, ranks)
            if not own.all():
                distances[~own] = class_distances(model, ranks, rows[~own])
            found.append(distances)
        return np.hstack(found)


def copy_distance(model: NearestNeighbors) -> float:
    """How near to a row of the model another one is its copy; 0 where rows repeat by themselves.

    A labelled row is no neighbour of itself. Nor may it be one of its copy among the new
    rows, or copies would all stand nearer than any labelled row does, and look unseen.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import NearestNeighbors
    >>> copy_distance(NearestNeighbors().fit(np.array([[0.0], [1.0], [3.0]])))
    1e-06
    >>> copy_distance(NearestNeighbors().fit(np.array([[0.0], [1.0], [1.0]])))
    0.0
    """
    if model.n_samples_fit_ == 1:
        return 0.0
    nearest = model.kneighbors(n_neighbors=1)[0]
    limit = _SAME * float(np.median(nearest))
    return limit if nearest.min() > limit else 0.0


def class_distances(
    model: NearestNeighbors, ranks: IntArray, rows: FloatArray | None = None, copy: float = 0.0
) -> FloatArray:
    """Distance to the neighbours of these ranks; None asks for the rows of the model themselves.

    Parameters
    ----------
    model : NearestNeighbors
        Fitted on the rows of a class.
    ranks : ndarray of int
        Which neighbours, from 1.
    rows : ndarray of shape (n, d) or None, default=None
        From where; None takes each row of the model, without itself.
    copy : float, default=0.0
        A row that is nearer than this to one of the model counts as that one, without itself too.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import NearestNeighbors
    >>> from unseen.rejection.stack import class_distances
    >>> model = NearestNeighbors().fit(np.array([[0.0], [1.0], [5.0]]))
    >>> class_distances(model, np.array([1, 2]), np.array([[0.0]]))
    array([[0., 1.]])
    >>> class_distances(model, np.array([1, 2]))[0]
    array([1., 5.])
    """
    if rows is None and model.n_samples_fit_ == 1:
        return np.zeros((1, len(ranks)))  # a class of one row: nothing else to compare it with
    if copy == 0:
        return np.asarray(model.kneighbors(rows, n_neighbors=int(ranks.max()))[0][:, ranks - 1])
    distances = model.kneighbors(rows, n_neighbors=int(ranks.max()) + 1)[0]
    is_copy = distances[:, :1] < copy
    return np.where(is_copy, distances[:, ranks], distances[:, ranks - 1])


def log_answers(rule: PlugInRule, X: Matrix) -> FloatArray:
    """Log-odds of new against known, and log-probability of each known class."""
    origin, *known = (np.clip(model.predict_proba(X), LEAST, 1.0) for model in rule.models)
    logs = [np.log(chances) for chances in known]
    return np.hstack([np.log(origin[:, 1:] / origin[:, :1]), *logs])


def held_out_answers(
    rule: PlugInRule, sample: OpenSample, n_folds: int, rng: np.random.RandomState
) -> tuple[FloatArray, FloatArray]:
    """The same of all rows of the sample, by models that did not learn from them."""
    folds, folds_new = (part.copy() for part in assign_sample_folds(sample, n_folds, rng))
    fit = refitted(rule)
    # A class of one row is never held out: its fold would not know it.
    lonely = np.bincount(sample.codes)[sample.codes] == 1
    folds[lonely] = -1
    labelled, new = log_answers(rule, sample.X), log_answers(rule, sample.X_new)
    for fold in range(int(max(folds.max(), folds_new.max())) + 1):
        out, out_new = folds == fold, folds_new == fold
        part = fit(sample.subset(~out, ~out_new), rng)
        for mask, rows, answers in (
            (out, sample.X, labelled),
            (out_new, sample.X_new, new),
        ):
            if mask.any():
                answers[mask] = log_answers(part, rows[mask])
    return labelled, new


@dataclass(frozen=True, eq=False)
class Describer:
    """Makes the stacked features of new rows."""

    models: PlugInRule
    neighbours: list[Neighbours]

    def __call__(self, X: FloatArray) -> FloatArray:
        """The row, the models' answers, the distances."""
        far = [each.distances(X) for each in self.neighbours]
        return np.hstack([X, log_answers(self.models, X), *far])


@dataclass(frozen=True, eq=False)
class StackRule:
    """A fitted rule that reads stacked features."""

    describe: Describer
    rule: FittedRule

    def probabilities(self, X: FloatArray) -> FloatArray:
        """Probability of each known class and, last, of unseen ones."""
        return self.rule.probabilities(self.describe(X))


class RejectionStack(RejectionRule):
    """Any rule, on features that classifiers and neighbours add to the rows.

    Parameters
    ----------
    rule : RejectionRule or None, default=None
        What learns from the features; None is a :class:`RejectionForest` with leaves twice as
        large as its default.
    classifier : scikit-learn classifier with ``predict_proba`` or None, default=None
        Whose log-probabilities are features; None is :class:`~unseen.KernelLogisticRegression`.
    n_neighbors : array-like of int, default=(1, 3, 8)
        Which neighbours' distances are features; in a class with too few rows the last one there
        is.
    unseen_label, n_folds, random_state
        As for every rule.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.stack import RejectionStack
    >>> rng = np.random.RandomState(0)
    >>> y = np.repeat(["left", "right"], 100)
    >>> X = rng.normal(size=(200, 1)) + np.where(y == "left", -4, 4)[:, None]
    >>> X_new = rng.normal(size=(300, 1)) + np.repeat([-4, 4, 0], 100)[:, None]
    >>> rule = RejectionStack(random_state=0).fit(X, y, X_new, [1 / 3, 1 / 3])
    >>> rule.predict([[-4.0], [0.0], [4.0]])
    array(['left', 'unseen', 'right'], dtype='<U6')
    """

    _accepts_sparse: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "rule": [None, RejectionRule],
        "classifier": [None, HasMethods(["fit", "predict_proba"])],
        "n_neighbors": ["array-like"],
        **RejectionRule._parameter_constraints,
    }

    def __init__(
        self,
        rule: RejectionRule | None = None,
        classifier: Any = None,
        n_neighbors: ArrayLike = NEIGHBOURS,
        *,
        unseen_label: Any = "auto",
        n_folds: int = 5,
        random_state: Any = None,
    ) -> None:
        super().__init__(unseen_label=unseen_label, n_folds=n_folds, random_state=random_state)
        self.rule = rule
        self.classifier = classifier
        self.n_neighbors = n_neighbors

    def _fit_rule(self, sample: OpenSample, rng: np.random.RandomState) -> StackRule:
        describe, described = self._described(sample, rng)
        return StackRule(describe, self._reader(sample)._fit_rule(described, rng))

    def _fit_both(
        self, sample: OpenSample, rng: np.random.RandomState
    ) -> tuple[StackRule, HeldOut]:
        describe, described = self._described(sample, rng)
        rule, held_out = self._reader(sample)._fit_both(described, rng)
        return StackRule(describe, rule), held_out

    def _reader(self, sample: OpenSample) -> RejectionRule:
        if self.rule is None:
            return coarse_forest(sample)
        self.rule._validate_params()
        return clone(self.rule)

    def _described(
        self, sample: OpenSample, rng: np.random.RandomState
    ) -> tuple[Describer, OpenSample]:
        """How to describe new rows, and the sample in stacked features."""
        classifier = KernelLogisticRegression() if self.classifier is None else self.classifier
        form = Pooled()
        models = fit_plug_in(sample, form, [classifier] * len(form.tasks(sample)), rng)
        ranks = _ranks(self.n_neighbors)
        neighbours = [Neighbours.of(sample, ranks, scale) for scale in _scales(sample)]
        answers, answers_new = held_out_answers(models, sample, self.n_folds, rng)
        far = [each.distances_of_labelled(sample) for each in neighbours]
        X = np.hstack([sample.X, answers, *far])
        if sample.X_new is sample.X:
            X_new = X  # no new rows: the copies must stay copies
        else:
            far_new = [each.distances(sample.X_new) for each in neighbours]
            X_new = np.hstack([sample.X_new, answers_new, *far_new])
        return Describer(models, neighbours), replace(sample, X=X, X_new=X_new)


def coarse_forest(sample: OpenSample) -> RejectionForest:
    """A forest with leaves twice as large as its default for these rows."""
    return RejectionForest(min_leaf=LEAF_FACTOR * least_leaf("auto", sample))


def _scales(sample: OpenSample) -> tuple[Standardisation, Standardisation]:
    everything = np.vstack([sample.X, sample.X_new])
    return Standardisation.of(everything, np.ones(len(everything))).both


def _ranks(n_neighbors: ArrayLike) -> IntArray:
    ranks = np.unique(np.asarray(n_neighbors))
    if ranks.size == 0 or ranks.dtype.kind not in "iu" or ranks[0] < 1:
        raise ValueError(f"n_neighbors must be whole numbers >= 1; got {n_neighbors!r}.")
    return ranks
