"""Two classes, rescaled: right even where one class hides inside the other (Prop. "binary").

Eq. (4) needs condition (A). With two classes the weaker ``P_1 != P_2`` is enough: what of P_2
can be found inside P_1 is itself a mixture proportion, ``nu(P_1, P_2)``, and

    1 - nu(P_0, P_2) = pi_1 (1 - nu(P_1, P_2)),
    1 - nu(P_0, P_1) = pi_2 (1 - nu(P_2, P_1)).

Either equation gives both shares, as ``pi_1 + pi_2 = 1``; the paper divides each to get pi_1'
and pi_2', which need not sum to one. Here both are solved together by least squares under that
condition. An equation counts by the square of ``1 - nu`` on its right, as it should: its error
is multiplied by one over that in the division, so that a class which nearly drowns in the other
does not spoil the answer. All three samples are needed, hence no class may be unseen.

Where part of P_1 is P_2, the likelihood ratios have plateaus and the ROCs have kinks. The smooth
curves of Sec. 6.1 cannot follow a kink, and their slopes stay off however many rows there are.
So the slope is read off the best bin here, unless another method is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import ClassifierTags, Tags

from unseen._random import generator
from unseen._sklearn import HasMethods
from unseen._types import FloatArray
from unseen.mixture.bbe import BestBin
from unseen.proportions.base import (
    ClassScores,
    PerClassEstimator,
    class_evidence,
    closed_set_notice,
)
from unseen.proportions.per_class.incomplete import replicate_slopes
from unseen.records import Estimate, EstimatesMixture, Notice
from unseen.scores.crossfit import crossfit_scores

__all__ = ["BinaryRescaled", "BinaryScores", "rescaled_proportions"]

# With less of each class outside the other than this, the classes are as good as one.
_LEAST_DIFFERENCE = 1e-6


@dataclass(frozen=True, eq=False)
class BinaryScores(ClassScores):
    """Class scores of two classes, and out-of-fold scores of the first against the second.

    Parameters
    ----------
    classes : tuple
        Labels of the two classes.
    pairs : tuple of (ndarray, ndarray)
        For each class, the scores of the new rows and of the rows of that class;
        high where a row looks new, low where it looks like the class.
    seed : int or None
        Seed that made them.
    notices : tuple of Notice
        What a person should know about the rows.
    between : tuple of (ndarray, ndarray)
        Scores of the rows of the first class and of the second; high where a row looks like
        the first.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.proportions import BinaryScores
    >>> pair = np.zeros(5), np.ones(2)
    >>> BinaryScores(("a", "b"), (pair, pair), between=(np.ones(2), np.zeros(2))).n_new
    5
    """

    between: tuple[FloatArray, FloatArray] = (np.empty(0), np.empty(0))

    def __post_init__(self) -> None:
        super().__post_init__()
        check_two_classes(self.classes)
        sizes = tuple(len(scores) for scores in self.between)
        if sizes != tuple(self.n_labelled.values()):
            raise ValueError(
                "between must hold one score per labelled row of each class; "
                f"got {sizes} for {tuple(self.n_labelled.values())} rows."
            )

    @property
    def all_pairs(self) -> tuple[tuple[FloatArray, FloatArray], ...]:
        """Scores for nu(P_0, P_1), nu(P_0, P_2), nu(P_1, P_2) and nu(P_2, P_1), in this order."""
        first, second = self.between
        return (*self.pairs, (first, second), (-second, -first))


class BinaryRescaled(PerClassEstimator):
    """Shares of two classes from three samples, also without condition (A) (Prop. "binary").

    Parameters
    ----------
    method : mixture estimator or None, default=None
        Reads a mixture proportion off scores; None is :class:`~unseen.BestBin`, which has no
        trouble with kinks in a ROC. Its own ``classifier`` and ``n_folds`` play no part here.
    classifier : scikit-learn classifier or None, default=None
        What tells two samples apart; None is kernel logistic regression.
    n_folds : int, default=10
        Folds of the out-of-fold scores.
    n_repeats : int, default=1
        Times the folds are drawn anew.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds and of the classifier.
    n_jobs : int or None, default=None
        Jobs that score at the same time; does not change the result.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Labels of the known classes.
    labelled_ : LabelledRows
        The labelled sample.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    Examples
    --------
    Half of the first class looks like the second, so that condition (A) fails:

    >>> import numpy as np
    >>> from unseen import BinaryRescaled
    >>> rng = np.random.default_rng(0)
    >>> def first(n):
    ...     return rng.normal(np.where(rng.random((n, 1)) < 0.5, -4, 4), 1, (n, 2))
    >>> X = np.vstack([first(600), rng.normal(4, 1, (600, 2))])
    >>> y = ["both"] * 600 + ["right"] * 600
    >>> X_new = np.vstack([first(600), rng.normal(4, 1, (200, 2))])
    >>> estimate = BinaryRescaled(random_state=0).fit(X, y).estimate(X_new)
    >>> bool(abs(estimate["both"] - 0.75) < 0.1)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "method": [None, HasMethods(["from_scores", "get_params"])],
        **PerClassEstimator._parameter_constraints,
    }

    def __init__(
        self,
        method: EstimatesMixture | None = None,
        classifier: Any = None,
        n_folds: int = 10,
        n_repeats: int = 1,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(classifier, n_folds, n_repeats, random_state, n_jobs)
        self.method = method

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Keep the labelled sample.

        Parameters
        ----------
        X : array-like of shape (n_labelled, n_features)
            Rows of the known classes; dense, sparse or a table.
        y : array-like of shape (n_labelled,)
            Their labels: text, whole numbers or booleans; two classes.

        Returns
        -------
        self
        """
        super().fit(X, y)
        check_two_classes(self.classes_)
        return self

    def scores(self, X_new: ArrayLike) -> BinaryScores:
        """Score new rows against each class, and the classes against each other.

        Parameters
        ----------
        X_new : array-like of shape (n_new, n_features)
            New rows, with the columns of X.

        Returns
        -------
        BinaryScores
            A record that this and any estimator of :class:`ClassScores` can read.
        """
        scores = super().scores(X_new)
        rows, codes = self.labelled_.rows, self.labelled_.codes
        between = crossfit_scores(
            rows[codes == 0],
            rows[codes == 1],
            self.classifier,
            n_folds=self.n_folds,
            n_repeats=self.n_repeats,
            random_state=scores.seed,
            n_jobs=self.n_jobs,
        )
        return BinaryScores(scores.classes, scores.pairs, scores.seed, scores.notices, between)

    def from_scores(self, scores: ClassScores) -> Estimate:
        """Read the shares off scores that have been made before; needs no ``fit``.

        Parameters
        ----------
        scores : BinaryScores

        Returns
        -------
        Estimate
            The paper's pi_1' and pi_2', before they are made to sum to one, are in
            ``diagnostics["rescaled"]``.
        """
        record, method = check_binary_scores(scores), self._seeded_method(scores.seed)
        mixtures = [method.from_scores(*pair) for pair in record.all_pairs]
        nu = np.array([mixture.proportion for mixture in mixtures])
        inside = dict(zip(record.classes, nu[2:].tolist(), strict=True))
        return Estimate(
            classes=record.classes,
            proportions=rescaled_proportions(nu[:2], nu[2:]),
            unseen=0.0,
            method=type(self).__name__,
            n_labelled=record.n_labelled,
            n_new=record.n_new,
            roc=class_evidence(record, mixtures[:2]),
            diagnostics={"inside_other": inside, "rescaled": _divided(nu[:2], nu[2:])},
            sees_unseen=False,
            notices=(*record.notices, *_same(nu[2:]), closed_set_notice(type(self).__name__)),
            seed=record.seed,
        )

    def replicates(
        self, scores: ClassScores, n_replicates: int = 500, random_state: Any = None
    ) -> FloatArray:
        """Shares under Bayesian-bootstrap weights of the scored rows; nothing is refitted.

        The new rows are weighted once for both classes. The ROCs between the classes
        get weights of their own.

        Parameters
        ----------
        scores : BinaryScores
        n_replicates : int, default=500
            Number of replicates, B.
        random_state : int, RandomState, Generator or None, default=None
            Where all randomness comes from; None is the seed of the scores.

        Returns
        -------
        ndarray of shape (B, 3)
            Share of each class, then of unseen ones: 0.
        """
        record, method = check_binary_scores(scores), self._seeded_method(scores.seed)
        seed = record.seed if random_state is None else random_state
        rng = generator(seed)
        groups = (record.pairs, record.all_pairs[2:3], record.all_pairs[3:])
        whole, first, second = (
            replicate_slopes(method, pairs, n_replicates, rng) for pairs in groups
        )
        shares = rescaled_proportions(whole, np.hstack([first, second]))
        return np.column_stack([shares, np.zeros(n_replicates)])

    def _seeded_method(self, seed: int | None) -> EstimatesMixture:
        """A copy of the method that draws, where it draws at all, from the one seed."""
        method = BestBin() if self.method is None else clone(self.method)
        if method.get_params().get("random_state", seed) is None:
            method.set_params(random_state=seed)
        return method

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags


def rescaled_proportions(in_new: ArrayLike, in_other: ArrayLike) -> FloatArray:
    """Shares of two classes that solve the two equations of Prop. "binary" by least squares.

    Parameters
    ----------
    in_new : array-like of shape (..., 2)
        ``nu(P_0, P_1)`` and ``nu(P_0, P_2)``.
    in_other : array-like of shape (..., 2)
        ``nu(P_1, P_2)`` and ``nu(P_2, P_1)``.

    Returns
    -------
    ndarray of shape (..., 2)
        Shares that sum to 1; one half each where the classes are the same.

    Examples
    --------
    Half of P_1 is P_2, and the new rows are 60% P_1 and 40% P_2, hence 70% P_2:

    >>> from unseen.proportions import rescaled_proportions
    >>> rescaled_proportions([0.6, 0.7], [0.5, 0.0])
    array([0.6, 0.4])
    """
    # 1 - nu(P_0, P_2) belongs to pi_1, so the pair of the new rows is turned round.
    outside_new = 1 - np.asarray(in_new, dtype=float)[..., ::-1]
    outside_other = 1 - np.asarray(in_other, dtype=float)
    weight = (outside_other**2).sum(axis=-1)
    # Minimises (b_1 - a_1 p)^2 + (b_2 - a_2 (1 - p))^2 over p.
    a, b = np.moveaxis(outside_other, -1, 0), np.moveaxis(outside_new, -1, 0)
    first = a[0] * b[0] + a[1] * (a[1] - b[1])
    told_apart = weight > _LEAST_DIFFERENCE**2
    share = np.where(told_apart, first / np.where(told_apart, weight, 1.0), 0.5)
    share = np.clip(share, 0.0, 1.0)
    return np.stack([share, 1 - share], axis=-1)


def check_two_classes(classes: Any) -> None:
    """Prop. "binary" is about two classes, both observed."""
    if len(classes) != 2:
        raise ValueError(
            f"y must hold exactly 2 classes for BinaryRescaled; got {len(classes)}. "
            "With more classes use MPEJoint or MPEIncomplete."
        )


def check_binary_scores(scores: ClassScores) -> BinaryScores:
    """Scores of the classes against each other are needed too."""
    if not isinstance(scores, BinaryScores):
        raise TypeError(
            f"scores must be BinaryScores, as BinaryRescaled.scores makes them; "
            f"got {type(scores).__name__}."
        )
    return scores


def _divided(in_new: FloatArray, in_other: FloatArray) -> list[float | None]:
    """The paper's pi_1' and pi_2'; None where the division has no answer."""
    return [
        float((1 - whole) / (1 - part)) if part < 1 - _LEAST_DIFFERENCE else None
        for whole, part in zip(in_new[::-1], in_other, strict=True)
    ]


def _same(in_other: FloatArray) -> list[Notice]:
    if (in_other < 1 - _LEAST_DIFFERENCE).any():
        return []
    return [
        Notice("same_classes", "the two classes cannot be told apart, so one half each is given.")
    ]
