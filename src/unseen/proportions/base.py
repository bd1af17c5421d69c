"""What every estimator of class proportions shares: the labelled sample, and its scores.

Scoring costs nearly all the time and reading the shares off the scores nearly none. So the
two are apart: :meth:`PerClassEstimator.scores` makes a record of out-of-fold scores, and any
number of estimators can read that one record with :meth:`PerClassEstimator.from_scores`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_is_fitted

from unseen._validation import check_folds, check_labelled, check_unlabelled, remarks
from unseen.base import Estimate, FloatArray
from unseen.scores.crossfit import class_scores

__all__ = ["ClassScores", "PerClassEstimator", "ProportionEstimator"]


@dataclass(frozen=True, eq=False)
class ClassScores:
    """Out-of-fold scores of the unlabelled rows (F) against each known class (H).

    Parameters
    ----------
    classes : tuple
        Labels of the known classes.
    pairs : tuple of (ndarray, ndarray)
        For each class, the scores of the unlabelled rows and of the rows of that class;
        high where a row looks unlabelled, low where it looks like the class.
    seed : int or None
        Seed that made them.
    warnings : tuple of str
        What was odd about the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.proportions import ClassScores
    >>> scores = ClassScores(("a", "b"), ((np.zeros(5), np.ones(2)), (np.zeros(5), np.ones(3))))
    >>> scores.n_labelled, scores.n_unlabelled
    ({'a': 2, 'b': 3}, 5)
    """

    classes: tuple[Any, ...]
    pairs: tuple[tuple[FloatArray, FloatArray], ...]
    seed: int | None = None
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.classes) != len(self.pairs) or not self.pairs:
            raise ValueError(
                "pairs must hold one pair of scores per class; "
                f"got {len(self.pairs)} for {len(self.classes)} classes."
            )

    @property
    def n_unlabelled(self) -> int:
        """Unlabelled rows."""
        return len(self.pairs[0][0])

    @property
    def n_labelled(self) -> dict[Any, int]:
        """Labelled rows of each class."""
        return {
            label: len(scores_H)
            for label, (_, scores_H) in zip(self.classes, self.pairs, strict=True)
        }


class ProportionEstimator(BaseEstimator, ABC):
    """Base of the estimators of class proportions: ``fit(X, y)``, then ``estimate(X_new)``."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Keep the labelled sample.

        Parameters
        ----------
        X : array-like of shape (n_labelled, n_features)
            Rows of the known classes; dense, sparse or a table.
        y : array-like of shape (n_labelled,)
            Their labels: text, whole numbers or booleans. One class is enough.

        Returns
        -------
        self
        """
        self.labelled_ = check_labelled(self, X, y)
        self.classes_ = self.labelled_.classes
        return self

    @abstractmethod
    def estimate(self, X_new: ArrayLike) -> Estimate:
        """Estimate the share of each known class, and of unseen ones.

        Parameters
        ----------
        X_new : array-like of shape (n_unlabelled, n_features)
            Unlabelled rows, with the columns of X.

        Returns
        -------
        Estimate
        """

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


class PerClassEstimator(ProportionEstimator):
    """Base of the estimators that set each known class against the unlabelled rows.

    Parameters
    ----------
    classifier : scikit-learn classifier or None, default=None
        What tells the unlabelled rows from a class; None is kernel logistic regression.
    n_folds : int, default=10
        Folds of the out-of-fold scores.
    n_repeats : int, default=1
        Times the folds are drawn anew.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds and of the classifier.
    n_jobs : int or None, default=None
        Jobs that score at the same time; does not change the result.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "classifier": [None, HasMethods(["fit", "get_params"])],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "n_repeats": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        classifier: Any = None,
        n_folds: int = 10,
        n_repeats: int = 1,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.classifier = classifier
        self.n_folds = n_folds
        self.n_repeats = n_repeats
        self.random_state = random_state
        self.n_jobs = n_jobs

    def estimate(self, X_new: ArrayLike) -> Estimate:
        """Estimate the share of each known class, and of unseen ones.

        Parameters
        ----------
        X_new : array-like of shape (n_unlabelled, n_features)
            Unlabelled rows, with the columns of X.

        Returns
        -------
        Estimate
        """
        return self.from_scores(self.scores(X_new))

    def scores(self, X_new: ArrayLike) -> ClassScores:
        """Score unlabelled rows against each known class, out of fold.

        Parameters
        ----------
        X_new : array-like of shape (n_unlabelled, n_features)
            Unlabelled rows, with the columns of X.

        Returns
        -------
        ClassScores
            A record that this and any other such estimator can read.
        """
        check_is_fitted(self)
        rows = check_unlabelled(self, X_new)
        check_folds(self.labelled_, rows.shape[0], self.n_folds)
        odd = remarks(self, self.labelled_.rows, rows, given=X_new)
        seed = _drawn_seed(self.random_state)
        pairs = class_scores(
            self.labelled_.rows,
            self.labelled_.codes,
            rows,
            self.classifier,
            n_folds=self.n_folds,
            n_repeats=self.n_repeats,
            random_state=seed,
            n_jobs=self.n_jobs,
        )
        return ClassScores(tuple(self.classes_.tolist()), tuple(pairs), seed, odd)

    @abstractmethod
    def from_scores(self, scores: ClassScores) -> Estimate:
        """Read the shares off scores that have been made before; needs no ``fit``.

        Parameters
        ----------
        scores : ClassScores

        Returns
        -------
        Estimate
        """


def _drawn_seed(random_state: Any) -> int:
    """One whole number for the whole run, so that the record can say how to repeat it."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
