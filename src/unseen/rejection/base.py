"""What every rule with the label "unseen" shares: samples, shares, held-out rows, the threshold.

A rule says for each row how probable each known class is, and how probable unseen ones. It learns
that from three samples at once: labelled rows, new rows, and the shares of the classes among
the latter. Its risk can be estimated without a single unseen label (:mod:`unseen.rejection.risk.estimate`),
but only on rows that it did not learn from: in-sample the least risk is to reject every new
row. So ``fit`` also scores every row out of fold. From those scores come the risk, the labels of
the new rows themselves (the transductive setting), and every threshold.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from unseen._sklearn import Interval, KeepsRequests, fit_context
from unseen._types import FloatArray, IntArray, Matrix
from unseen.records import UnseenWarning
from unseen.rejection.learning import threshold as cut
from unseen.rejection.learning.folds import FittedRule, HeldOut, cross_fit
from unseen.rejection.learning.labels import with_unseen
from unseen.rejection.learning.notices import (
    negative_mass,
    overfull_shares,
    rare_classes,
    uncertain_shares,
)
from unseen.rejection.learning.sample import OpenSample
from unseen.rejection.learning.shares import Shares, find_shares
from unseen.rejection.risk.estimate import open_risk
from unseen.samples.checks import (
    LabelledRows,
    _warn,
    check_labelled,
    check_new,
    is_sparse,
    remarks,
)

__all__ = ["RejectionRule"]


class RejectionRule(KeepsRequests, ClassifierMixin, BaseEstimator, ABC):
    """Base of the classifiers with the label "unseen"; a rule adds ``_fit_rule``.

    Parameters
    ----------
    unseen_label : label, default="auto"
        What ``predict`` says to rows of unseen classes; "auto" is "unseen" for text labels and -1
        for numbers.
    n_folds : int, default=5
        Folds behind the held-out probabilities.
    random_state : int, RandomState instance or None, default=None
        Seed of all randomness.

    Attributes
    ----------
    classes_ : ndarray of shape (K + 1,)
        The known labels, then the unseen one. Without new rows, the known labels only.
    shares_ : Shares
        Shares of the known classes among the new rows.
    rule_ : FittedRule
        What was learnt from all rows.
    held_out_ : HeldOut
        Probabilities of all rows by rules that did not learn from them.
    risk_ : RiskEstimate
        Held-out risk of the labels at ``threshold_``.
    threshold_ : float
        Rows of at least this novelty are called unseen; one half until ``set_threshold``.
    warnings_ : list of str
        What a person should know before trusting the labels.
    n_features_in_ : int
        Columns of X.
    """

    # Rules whose arithmetic needs dense rows set this to False.
    _accepts_sparse: ClassVar[bool] = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "unseen_label": [str, Real],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self, *, unseen_label: Any = "auto", n_folds: int = 5, random_state: Any = None
    ) -> None:
        self.unseen_label = unseen_label
        self.n_folds = n_folds
        self.random_state = random_state

    @abstractmethod
    def _fit_rule(self, sample: OpenSample, rng: np.random.RandomState) -> FittedRule:
        """Learn from a sample; the result must not depend on anything else."""

    def _held_out(self, sample: OpenSample, rng: np.random.RandomState) -> HeldOut:
        """Probabilities of all rows by rules that did not learn from them: by folds.

        A rule with a cheaper way (bags of rows) may override it. Where ``sample.X_new is sample.X``
        nothing is new, and a labelled row must be left out together with its copy.
        """
        return cross_fit(self._fit_rule, sample, self.n_folds, rng)

    def _fit_both(
        self, sample: OpenSample, rng: np.random.RandomState
    ) -> tuple[FittedRule, HeldOut]:
        """The rule of all rows, and the held-out probabilities.

        A rule that makes one on the way to the other overrides it, to do the work once.
        """
        held_out = self._held_out(sample, rng)
        return self._fit_rule(sample, rng), held_out

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        X_new: ArrayLike | None = None,
        proportions: Any = None,
    ) -> Self:
        """Learn the rule, and score all rows out of fold.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows of the known classes.
        y : array-like of shape (n,)
            Their labels: text, whole numbers or booleans. One class is enough. Booleans come back
            as 0 and 1, beside -1 for unseen.
        X_new : array-like of shape (m, d) or None, default=None
            Rows that may hold unseen classes. Without them nothing can be unseen, and this is an
            ordinary classifier.
        proportions : None, shares, mapping, Estimate or proportion estimator, default=None
            Shares of the known classes among the new rows: K numbers in sorted order of the
            labels (or K + 1, unseen last), a mapping from label to share, an estimate, or the
            estimator to make one with. None is :class:`~unseen.OpenSetEstimator` at even odds
            that something is unseen.

        Returns
        -------
        self
        """
        labelled = self._checked_labelled(X, y)
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=2)
        self.warnings_ = rare_classes(labelled.classes, labelled.codes, self.n_folds)
        sample = self._sample(labelled, X_new, proportions, int(seeds[0]))
        self.rule_, self.held_out_ = self._fit_both(sample, np.random.RandomState(seeds[1]))
        self._set_cut(self._first_cut())
        self._warn_of_negative_mass()
        return self

    def predict_proba(self, X: Matrix) -> FloatArray:
        """Probability of each label of ``classes_``.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n, K + 1), or (n, K) where nothing can be unseen
        """
        probabilities = self._probabilities(X)
        return probabilities if self._open else _known_only(probabilities, self.shares_.known)

    def novelty_score(self, X: Matrix) -> FloatArray:
        """How much more probable unseen is than the best known class, in [0, 1].

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            ``p_unseen / (p_unseen + max_k p_k)``: one half where they are equal. All 0 where
            nothing can be unseen.
        """
        probabilities = self._probabilities(X)
        return cut.novelty(probabilities) if self._open else np.zeros(len(probabilities))

    def predict(self, X: Matrix) -> NDArray[Any]:
        """Label of each row: unseen from ``threshold_`` on, else the best known class.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._labels(self._probabilities(X))

    def predict_new(self) -> NDArray[Any]:
        """Labels of the new rows of ``fit``, each by a rule that did not learn from it.

        Returns
        -------
        ndarray of shape (m,)
        """
        check_is_fitted(self)
        if not self._open:
            raise ValueError("predict_new needs a fit with X_new; got a fit without.")
        return self._labels(self.held_out_.new)

    def fit_predict_new(
        self, X: ArrayLike, y: ArrayLike, X_new: ArrayLike, proportions: Any = None
    ) -> NDArray[Any]:
        """Learn, and label the new rows themselves: the transductive setting.

        Parameters
        ----------
        X, y, X_new, proportions
            As for ``fit``.

        Returns
        -------
        ndarray of shape (m,)
            Cross-fitted labels; those of ``predict(X_new)`` would reject too much.
        """
        return self.fit(X, y, X_new, proportions).predict_new()

    def set_threshold(
        self,
        *,
        cost: float | None = None,
        reject_rate: float | str | None = None,
        recall: float | None = None,
        fdr: float | None = None,
    ) -> Self:
        """Move the cut between known and unseen, without a new fit. Give exactly one argument.

        Parameters
        ----------
        cost : float, optional
            Cost of calling an unseen row known, where every other error costs 1. 1 takes the most
            probable label.
        reject_rate : float or "estimated", optional
            Share of the new rows to call unseen; "estimated" is the estimated unseen share.
        recall : float, optional
            Share of the unseen rows to find.
        fdr : float, optional
            Largest share of known rows among those called unseen.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            When not exactly one is given, when fit had no new rows, or when the sample is
            too small for the ``fdr``.
        """
        check_is_fitted(self)
        asked = {"cost": cost, "reject_rate": reject_rate, "recall": recall, "fdr": fdr}
        given = {name: value for name, value in asked.items() if value is not None}
        if len(given) != 1:
            raise ValueError(
                f"set_threshold takes exactly one of {', '.join(asked)}; "
                f"got {list(given) or 'none'}."
            )
        if not self._open:
            raise ValueError("set_threshold needs a fit with X_new; got a fit without.")
        self._set_cut(self._cut(*given.popitem()))
        return self

    def _first_cut(self) -> float:
        """The cut after ``fit``: the most probable label."""
        return 0.5

    def _cut(self, aim: str, value: Any) -> float:
        known, new = self.held_out_.novelty
        shares = self.shares_.known
        if aim == "cost":
            return cut.cost_threshold(value)
        if aim == "reject_rate":
            return cut.reject_rate_threshold(new, self._rate(value))
        find = cut.recall_threshold if aim == "recall" else cut.false_discovery_threshold
        return find(known, self.held_out_.codes, new, shares, value)

    def _rate(self, rate: float | str) -> float:
        if not isinstance(rate, str):
            return rate
        if rate != "estimated":
            raise ValueError(f'reject_rate must be "estimated" or in [0, 1]; got {rate!r}.')
        return self.shares_.unseen

    def _set_cut(self, threshold: float) -> None:
        self.threshold_ = threshold
        self.risk_ = open_risk(
            self._codes(self.held_out_.labelled),
            self.held_out_.codes,
            self._codes(self.held_out_.new),
            self.shares_.known,
            self.shares_.covariance,
        )

    @property
    def _open(self) -> bool:
        """Whether anything can be unseen."""
        return len(self.classes_) > len(self.shares_.known)

    def _codes(self, probabilities: FloatArray) -> IntArray:
        if self._open:
            return cut.decide(probabilities, self.threshold_)
        return _known_only(probabilities, self.shares_.known).argmax(axis=1)

    def _labels(self, probabilities: FloatArray) -> NDArray[Any]:
        labels: NDArray[Any] = self.classes_[self._codes(probabilities)]
        return labels

    def _probabilities(self, X: Matrix) -> FloatArray:
        check_is_fitted(self)
        checks = {"accept_sparse": "csr"} if self._accepts_sparse else {}
        rows = validate_data(self, X, dtype=np.float64, reset=False, **checks)
        return self.rule_.probabilities(rows)

    def _checked_labelled(self, X: Any, y: Any) -> LabelledRows:
        if not self._accepts_sparse and is_sparse(X):
            raise TypeError(
                f"X must be dense for {type(self).__name__}; got a sparse matrix. "
                "Call X.toarray() if it fits into memory."
            )
        if hasattr(X, "__array__") and not hasattr(X, "shape"):
            X = np.asarray(X)
        labelled = check_labelled(self, X, y)
        # Of one kind, as has been checked, though their array may be one of objects.
        labelled = labelled._replace(classes=np.array(labelled.classes.tolist()))
        check_classification_targets(labelled.classes[labelled.codes])
        if np.bincount(labelled.codes).max() == 1:
            raise ValueError("y must hold at least 2 rows of some class; got n_samples=1 of each.")
        return labelled._replace(rows=labelled.rows.astype(np.float64, copy=False))

    def _sample(
        self, labelled: LabelledRows, X_new: Any, proportions: Any, seed: int
    ) -> OpenSample:
        """The rows and shares to learn from; notes labels and shares on the rule."""
        if X_new is not None:
            self.classes_ = with_unseen(labelled.classes, self.unseen_label)
            rows_new = self._checked_new(labelled, X_new)
            self.shares_ = self._find_shares(labelled, rows_new, X_new, proportions, seed)
        elif proportions is None:
            self.classes_, rows_new = labelled.classes, labelled.rows
            self.shares_ = Shares(np.bincount(labelled.codes) / len(labelled.codes))
        else:
            raise ValueError(
                "proportions must come with X_new, whose shares they are; got None for it."
            )
        return OpenSample(labelled.rows, labelled.codes, rows_new, self.shares_.known)

    def _checked_new(self, labelled: LabelledRows, X_new: Any) -> Matrix:
        # The check compares with the labelled rows; it needs their format only, not the rows.
        self.labelled_ = labelled.rows[:0]
        rows = check_new(self, X_new, name="X_new")
        del self.labelled_
        if rows.shape[0] < 2:
            raise ValueError(
                f"X_new must hold at least 2 rows, so that one can be held out; "
                f"got {rows.shape[0]}."
            )
        return rows.astype(np.float64, copy=False)

    def _find_shares(
        self, labelled: LabelledRows, rows_new: Matrix, given: Any, proportions: Any, seed: int
    ) -> Shares:
        labels = labelled.classes[labelled.codes]
        shares = find_shares(proportions, labelled.rows, labels, rows_new, seed)
        estimate = None if shares.estimate is proportions else shares.estimate
        told = () if estimate is None else estimate.warnings
        with warnings.catch_warnings():
            if told:  # the estimator has warned, but does not know what the user calls the rows
                warnings.simplefilter("ignore", UnseenWarning)
            self.warnings_ += remarks(self, labelled.rows, rows_new, given, name="X_new")
        self.warnings_ += [text for text in told if "X_new" not in text]
        self._warn(overfull_shares(shares))
        self._warn(uncertain_shares(shares, self.classes_))
        return shares

    def _warn_of_negative_mass(self) -> None:
        held_out = self.held_out_
        found = negative_mass(held_out.labelled, held_out.codes, held_out.new, self.shares_)
        self._warn(found.message)

    def _warn(self, message: str | None) -> None:
        if message is not None:
            self.warnings_.append(message)
            _warn(message)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether a fit has ended; one that failed leaves some attributes too."""
        return hasattr(self, "risk_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._accepts_sparse
        return tags


def _known_only(probabilities: FloatArray, shares: FloatArray) -> FloatArray:
    """Probabilities of the known classes given that the row is of one; shares where it says 0."""
    known = probabilities[:, :-1]
    total = known.sum(axis=1, keepdims=True)
    return np.where(total > 0, known / np.where(total > 0, total, 1.0), shares)
