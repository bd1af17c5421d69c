"""Posterior probabilities of the known classes, made once, for every closed-set estimator.

A closed-set method takes for granted that each new row belongs to a known class:

    P_0 = sum_i pi_i P_i,   sum_i pi_i = 1,                            Eq. (2) with nothing unseen

so it can work with a classifier of the known classes alone. Most such methods need nothing but
that classifier's posteriors: of the new rows, and of the labelled rows by a model that did not
see them. Making them costs nearly all the time; reading shares off them costs nearly none.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from unseen._random import whole_seed
from unseen._sklearn import HasMethods, Interval
from unseen._types import FloatArray, IntArray, Matrix
from unseen.intervals import Calibrated, IntervalMethod
from unseen.proportions.base import ProportionEstimator, closed_set_notice
from unseen.records import Estimate, Notice
from unseen.samples.checks import check_closed_set, check_folds, check_new, remarks
from unseen.scores.posteriors import crossfit_posteriors

__all__ = ["ClosedSetEstimator", "Posteriors", "RowScores", "RowScoresEstimator"]


@dataclass(frozen=True, eq=False)
class RowScores:
    """A few numbers for every row, labelled and new, from which shares can be read.

    Parameters
    ----------
    classes : tuple
        Labels of the known classes.
    codes : ndarray of shape (n,)
        Class of each labelled row, as its place among ``classes``.
    labelled : ndarray of shape (n, S)
        Scores of the labelled rows.
    new : ndarray of shape (m, S)
        Scores of the new rows.
    seed : int or None
        Seed that made them.
    notices : tuple of Notice
        What a person should know about the rows.
    """

    classes: tuple[Any, ...]
    codes: IntArray
    labelled: FloatArray
    new: FloatArray
    seed: int | None = None
    notices: tuple[Notice, ...] = ()

    def __post_init__(self) -> None:
        for name in ("labelled", "new"):
            object.__setattr__(self, name, _finite_rows(getattr(self, name), name))
        object.__setattr__(self, "codes", np.asarray(self.codes, dtype=np.intp))
        if self.codes.shape != (len(self.labelled),):
            raise ValueError(
                "codes must hold one class per labelled row; "
                f"got {self.codes.shape} for {len(self.labelled)} rows."
            )
        if self.labelled.shape[1] != self.new.shape[1]:
            raise ValueError(
                "labelled and new must have the same columns; "
                f"got {self.labelled.shape[1]} and {self.new.shape[1]}."
            )
        check_closed_set(np.asarray(self.classes))
        if set(np.unique(self.codes)) != set(range(len(self.classes))):
            raise ValueError(
                f"codes must name each of the {len(self.classes)} classes at least once, as "
                f"0 to {len(self.classes) - 1}; got {np.unique(self.codes).tolist()}."
            )

    @property
    def n_new(self) -> int:
        """New rows."""
        return len(self.new)

    @property
    def n_labelled(self) -> dict[Any, int]:
        """Labelled rows of each class."""
        counts = np.bincount(self.codes, minlength=len(self.classes))
        return dict(zip(self.classes, counts.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Posteriors(RowScores):
    """Posterior probabilities of the known classes, one column each.

    Parameters
    ----------
    classes : tuple
        Labels of the known classes.
    codes : ndarray of shape (n,)
        Class of each labelled row, as its place among ``classes``.
    labelled : ndarray of shape (n, K)
        Posteriors of the labelled rows, each from a model fitted without the row.
    new : ndarray of shape (m, K)
        Posteriors of the new rows, from a model fitted to all labelled rows.
    seed : int or None
        Seed that made them.
    notices : tuple of Notice
        What a person should know about the rows.
    prior : ndarray of shape (K,) or None
        Shares of the classes that the posteriors take for granted. None means those of
        the labelled rows; give others if the classifier was trained on other shares.

    Examples
    --------
    >>> from unseen.proportions import Posteriors
    >>> record = Posteriors(("a", "b"), [0, 0, 1], [[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]],
    ...                     [[0.8, 0.2], [0.5, 0.5]])
    >>> record.prior.round(3), record.n_labelled
    (array([0.667, 0.333]), {'a': 2, 'b': 1})
    """

    prior: FloatArray | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("labelled", "new"):
            _check_posteriors(getattr(self, name), name, len(self.classes))
        prior = self.training_shares if self.prior is None else np.asarray(self.prior, float)
        shape = (len(self.classes),)
        if prior.shape != shape or not (prior > 0).all() or abs(prior.sum() - 1) > 1e-6:
            raise ValueError(
                f"prior must hold {shape[0]} shares > 0 that sum to 1; got {prior.tolist()}."
            )
        object.__setattr__(self, "prior", prior / prior.sum())

    @property
    def training_shares(self) -> FloatArray:
        """Shares of the classes among the labelled rows."""
        return np.bincount(self.codes, minlength=len(self.classes)) / len(self.codes)

    @property
    def ratios(self) -> FloatArray:
        """Posteriors of the new rows over the prior: proportional to the class densities."""
        assert self.prior is not None
        return self.new / self.prior


class RowScoresEstimator(ProportionEstimator):
    """Base of the closed-set estimators: at least two classes, and nothing is unseen."""

    # No ROC model and no sum of slopes stand between scores and shares: less goes unseen by the
    # bootstrap. Chosen by benchmarks/coverage_closed.py --choose.
    _default_interval: ClassVar[IntervalMethod] = Calibrated(stretch=1.1)

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Keep the labelled sample.

        Parameters
        ----------
        X : array-like of shape (n_labelled, n_features)
            Rows of the known classes; dense, sparse or a table.
        y : array-like of shape (n_labelled,)
            Their labels: text, whole numbers or booleans; at least two classes.

        Returns
        -------
        self
        """
        super().fit(X, y)
        check_closed_set(self.classes_)
        return self

    @abstractmethod
    def scores(self, X_new: ArrayLike) -> RowScores:
        """Score the labelled and the new rows.

        Parameters
        ----------
        X_new : array-like of shape (n_new, n_features)
            New rows, with the columns of X.

        Returns
        -------
        RowScores
        """

    def _checked(self, X_new: ArrayLike) -> tuple[Matrix, tuple[Notice, ...]]:
        """New rows, and what is odd about them."""
        check_is_fitted(self)
        rows = check_new(self, X_new)
        return rows, remarks(self, self.labelled_.rows, rows, given=X_new)

    def _estimate(self, record: RowScores, shares: FloatArray, **diagnostics: Any) -> Estimate:
        """The answer as a record: nothing is unseen, and it says that this was assumed."""
        name = type(self).__name__
        return Estimate(
            classes=record.classes,
            proportions=shares,
            unseen=0.0,
            method=name,
            n_labelled=record.n_labelled,
            n_new=record.n_new,
            diagnostics=diagnostics,
            sees_unseen=False,
            notices=(*record.notices, closed_set_notice(name)),
            seed=record.seed,
        )


class ClosedSetEstimator(RowScoresEstimator):
    """Base of the estimators that read shares off a classifier's posteriors.

    Parameters
    ----------
    classifier : scikit-learn classifier or None, default=None
        What tells the known classes apart, with ``predict_proba``; None is kernel logistic
        regression.
    n_folds : int, default=10
        Folds of the out-of-fold posteriors.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds and of the classifier.
    n_jobs : int or None, default=None
        Folds that are fitted at the same time; does not change the result.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "classifier": [None, HasMethods(["fit", "get_params"])],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        classifier: Any = None,
        n_folds: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.classifier = classifier
        self.n_folds = n_folds
        self.random_state = random_state
        self.n_jobs = n_jobs

    def scores(self, X_new: ArrayLike) -> Posteriors:
        """Posteriors of the new rows, and of the labelled rows out of fold.

        Parameters
        ----------
        X_new : array-like of shape (n_new, n_features)
            New rows, with the columns of X.

        Returns
        -------
        Posteriors
            A record that every estimator of this kind can read.
        """
        rows, odd = self._checked(X_new)
        sample = self.labelled_
        # New rows are in no fold here, so there may be fewer of them than folds.
        check_folds(sample, self.n_folds, self.n_folds)
        seed = whole_seed(self.random_state)
        labelled, new = crossfit_posteriors(
            sample.rows,
            sample.codes,
            rows,
            self.classifier,
            n_folds=self.n_folds,
            random_state=seed,
            n_jobs=self.n_jobs,
        )
        classes = tuple(self.classes_.tolist())
        return Posteriors(classes, sample.codes, labelled, new, seed, odd)


def closed(shares: FloatArray) -> FloatArray:
    """Replicates of the known shares with the unseen share, 0, as a last column."""
    return np.column_stack([shares, np.zeros(len(shares))])


def _finite_rows(values: Sequence[Sequence[float]] | FloatArray, name: str) -> FloatArray:
    rows = np.asarray(values, dtype=np.float64)
    if rows.ndim != 2 or 0 in rows.shape:
        raise ValueError(f"{name} must be 2-d and not empty; got shape {rows.shape}.")
    if not np.isfinite(rows).all():
        raise ValueError(
            f"{name} must be finite; got {int((~np.isfinite(rows)).sum())} that are not."
        )
    return rows


def _check_posteriors(rows: FloatArray, name: str, n_classes: int) -> None:
    if rows.shape[1] != n_classes:
        raise ValueError(
            f"{name} must have one column per class; got {rows.shape[1]} for {n_classes} classes."
        )
    worst = float(np.abs(rows.sum(axis=1) - 1).max())
    if rows.min() < 0 or worst > 1e-3:
        raise ValueError(
            f"{name} must hold posteriors, >= 0 with rows that sum to 1; got a least value of "
            f"{rows.min():g} and a row sum off by {worst:g}."
        )
