"""The base of every rule with the label "unseen": checked samples, shares, risk, the threshold.

A rule gives each row a probability of each known class and of unseen classes. ``fit`` learns from
labelled rows, new rows and shares, and scores every row out of fold: the risk, the labels of the
new rows and every threshold come from these scores (``docs/rejection.md``).
"""

from __future__ import annotations

import copy
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from unseen._arrays import chosen_arrays, where_rows_are
from unseen._progress import between
from unseen._random import whole_seed
from unseen._sklearn import Interval, KeepsRequests, fit_context
from unseen._team import team
from unseen._types import FloatArray, IntArray, Matrix
from unseen.proportions import ProportionEstimator
from unseen.records import Notice
from unseen.rejection.moved import LayBack
from unseen.rejection.risk import (
    RiskEstimate,
    cost_threshold,
    false_discovery_threshold,
    open_risk,
    recall_threshold,
    reject_rate_threshold,
)
from unseen.rejection.sample import (
    FittedRule,
    OpenSample,
    OutOfFold,
    cross_fit,
    labels_at,
    novelty,
    rescaled,
    with_unseen,
)
from unseen.rejection.shares import (
    Shares,
    doubtful_shares,
    estimate_shares,
    given_shares,
    negative_mass,
)
from unseen.samples import LabelledRows, check_again, check_labelled, check_new, sample_notices
from unseen.samples.checks import check_rows, warn
from unseen.scores.scales import dense

# Sparse rows with more values than this, zeros included, are not made dense.
_MOST_DENSE_VALUES = 100_000_000
_FEW_ROWS = 5  # every fold of the default five should hold a row of the class


@dataclass(eq=False, repr=False)
class RejectionRule(KeepsRequests, ClassifierMixin, BaseEstimator):
    """Base of the classifiers with "unseen"; a rule adds ``_fit_rule``, or ``_fit_both``.

    Parameters
    ----------
    unseen_label : label, default="auto"
        Label of rows of unseen classes; "auto" is "unseen" for text labels and -1 for numbers.
        A word among numbers makes labels an array of objects.
    n_folds : int, default=5
        Number of folds behind the probabilities out of fold.
    random_state : int, RandomState instance or None, default=None
        Seed of all randomness.

    Attributes
    ----------
    classes_ : ndarray of shape (K + 1,)
        The known labels, then the unseen label. Without new rows, the known labels only.
    shares_ : Shares
        Shares of the known classes among the new rows.
    rule_ : FittedRule
        The rule that was learnt from all rows.
    out_of_fold_ : OutOfFold
        Probabilities of all rows by rules that did not learn from them.
    threshold_ : float
        Rows of at least this novelty are called unseen; one half, unless a rule says otherwise.
    risk_ : RiskEstimate
        Risk of the labels out of fold at ``threshold_``; withheld, and NaN, where the known
        classes may have moved (docs/drift.md), or hardly anything is known of the unseen share.
    lay_back_ : LayBack or None
        The movement that is taken off new rows, and off all rows to be labelled, where known
        classes have moved; else None.
    notices_ : tuple of Notice
        Facts that a person should know before trusting the labels.
    n_features_in_ : int
        Number of columns of X.
    """

    _: KW_ONLY
    unseen_label: Any = "auto"
    n_folds: int = 5
    random_state: Any = None

    # The aim of the cut after fit, as for with_threshold: the most probable label.
    _default_aim: ClassVar[tuple[str, Any]] = ("cost", 1.0)
    # Rules whose arithmetic needs dense rows set this to False.
    _accepts_sparse: ClassVar[bool] = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "unseen_label": [str, Real],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    }

    def _fit_rule(self, sample: OpenSample, rng: RandomState) -> FittedRule:
        """Learn from a sample; the result must not depend on anything else."""
        raise NotImplementedError("a rule writes _fit_rule, or _fit_both")

    def _fit_both(self, sample: OpenSample, rng: RandomState) -> tuple[FittedRule, OutOfFold]:
        """The rule of all rows, and the probabilities of all rows out of fold.

        A rule that makes one on the way to the other writes this alone, to do the work once.
        """
        out_of_fold = cross_fit(self._fit_rule, sample, self.n_folds, rng)
        return self._fit_rule(sample, rng), out_of_fold

    @where_rows_are
    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: ArrayLike, y: ArrayLike, X_new: ArrayLike | None = None, proportions: Any = None
    ) -> Self:
        """Learn the rule, and score all rows out of fold.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows of the known classes.
        y : array-like of shape (n,)
            Labels of these rows: text, whole numbers or booleans. One class is enough. Booleans
            come back as 0 and 1, beside -1 for unseen.
        X_new : array-like of shape (m, d) or None, default=None
            Rows that may hold unseen classes. Without them nothing can be unseen, and the rule is
            an ordinary classifier.
        proportions : None, shares, mapping, Estimate or proportion estimator, default=None
            Shares of the known classes among the new rows: K numbers in sorted order of the
            labels (or K + 1, unseen last), a mapping from label to share, an estimate, or the
            estimator to make one with. None is :class:`~unseen.OpenSetEstimator` at even odds
            that something is unseen.

        Returns
        -------
        self
        """
        labelled, notices = self._checked_labelled(X, y)
        self.lay_back_: LayBack | None = None
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=2)
        if X_new is not None:
            # A whole number seeds the shares as it seeds an estimate: both ask the same scores.
            given = isinstance(self.random_state, Integral)
            seed = whole_seed(self.random_state) if given else int(seeds[0])
            with between(0.0, 0.3):
                sample, found = self._open_sample(labelled, X_new, proportions, seed)
            notices += found
        elif proportions is None:
            self.classes_ = labelled.classes
            self.shares_ = Shares(np.bincount(labelled.codes) / len(labelled.codes))
            rows, codes = labelled.rows, labelled.codes
            sample = OpenSample(rows, codes, rows, self.shares_.known, has_new=False)
        else:
            raise ValueError(
                "proportions must come with X_new, whose shares they are; got None for it."
            )
        with between(0.3, 1.0):
            self.rule_, self.out_of_fold_ = self._fit_both(sample, RandomState(seeds[1]))
        doubts = () if X_new is None else doubtful_shares(self.shares_, self.classes_)
        # Classes that moved leave negative mass where they were, which says nothing new.
        if self.shares_.verdict != "moved":
            doubts += negative_mass(self.out_of_fold_, self.shares_)
        for notice in doubts:
            if notice.code != "risk_withheld":
                warn(notice.text)
        self.notices_ = (*notices, *doubts)
        self.threshold_ = self._threshold_for(*self._default_aim) if self._open else 0.5
        self.risk_ = self._risk_at(self.threshold_)
        return self

    def predict_proba(self, X: Matrix) -> FloatArray:
        """Probability of each label of ``classes_`` for rows X (n, d): shape (n, K + 1).

        Where nothing can be unseen, the shape is (n, K). The rows are of the batch of ``X_new``:
        where known classes had moved there, the same movement is taken off these rows too, even if
        they lie as in training.
        """
        probabilities = self._probabilities(X)
        return probabilities if self._open else self._among_known(probabilities)

    def novelty_score(self, X: Matrix) -> FloatArray:
        """Novelty of rows X (n, d): how much likelier unseen is than the best known class.

        In [0, 1], of shape (n,): ``p_unseen / (p_unseen + max_k p_k)``, one half where both are
        equal. All 0 where nothing can be unseen.
        """
        probabilities = self._probabilities(X)
        return novelty(probabilities) if self._open else np.zeros(len(probabilities))

    def predict(self, X: Matrix) -> NDArray[Any]:
        """Labels of rows X (n, d): unseen from ``threshold_`` on, else the best known class."""
        probabilities = self._probabilities(X)
        return self.classes_[self._codes(probabilities, self.threshold_)]

    def predict_new(self) -> NDArray[Any]:
        """Labels of the new rows of ``fit``, each by a rule that did not learn from the row."""
        check_is_fitted(self)
        if not self._open:
            raise ValueError("predict_new needs a fit with X_new; got a fit without.")
        return self.classes_[self._codes(self.out_of_fold_.new, self.threshold_)]

    def fit_predict_new(
        self, X: ArrayLike, y: ArrayLike, X_new: ArrayLike, proportions: Any = None
    ) -> NDArray[Any]:
        """Learn the rule, and label the new rows themselves: the transductive setting.

        The labels are those of ``predict_new()``; ``predict(X_new)`` would reject too much.
        """
        return self.fit(X, y, X_new, proportions).predict_new()

    def with_threshold(
        self,
        *,
        cost: float | None = None,
        reject_rate: float | str | None = None,
        recall: float | None = None,
        fdr: float | None = None,
    ) -> Self:
        """A copy of the fitted rule with another cut between known and unseen.

        Nothing is fitted again, and this rule stays as it is. Give exactly one argument.

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
            Largest share of known rows among the rows called unseen.

        Returns
        -------
        RejectionRule
            The copy, with its own ``threshold_`` and ``risk_``.

        Raises
        ------
        ValueError
            When not exactly one argument is given, when fit had no new rows, or when the samples
            are too small for the ``fdr``.
        """
        check_is_fitted(self)
        asked = {"cost": cost, "reject_rate": reject_rate, "recall": recall, "fdr": fdr}
        given = {name: value for name, value in asked.items() if value is not None}
        if len(given) != 1:
            raise ValueError(
                f"with_threshold takes exactly one of {', '.join(asked)}; "
                f"got {list(given) or 'none'}."
            )
        if not self._open:
            raise ValueError("with_threshold needs a fit with X_new; got a fit without.")
        other = copy.copy(self)
        other.threshold_ = self._threshold_for(*given.popitem())
        other.risk_ = self._risk_at(other.threshold_)
        return other

    def _threshold_for(self, aim: str, value: Any) -> float:
        if aim == "cost":
            return cost_threshold(value)
        if aim == "reject_rate":
            if value == "estimated":
                value = self.shares_.unseen
            elif isinstance(value, str):
                raise ValueError(f'reject_rate must be "estimated" or in [0, 1]; got {value!r}.')
            return reject_rate_threshold(novelty(self.out_of_fold_.new), value)
        known, new = self.out_of_fold_.novelty
        find = recall_threshold if aim == "recall" else false_discovery_threshold
        return find(known, self.out_of_fold_.codes, new, self.shares_.known, value)

    def _risk_at(self, threshold: float) -> RiskEstimate:
        rows, shares = self.out_of_fold_, self.shares_
        labels, labels_new = (self._codes(one, threshold) for one in (rows.labelled, rows.new))
        found = open_risk(labels, rows.codes, labels_new, shares.known, shares.covariance)
        return found if shares.tell_risk else found.withheld()

    @property
    def _open(self) -> bool:
        """Whether anything can be unseen."""
        return len(self.classes_) > len(self.shares_.known)

    def _codes(self, probabilities: FloatArray, threshold: float) -> IntArray:
        if self._open:
            return labels_at(probabilities, threshold)
        return self._among_known(probabilities).argmax(axis=1)

    def _among_known(self, probabilities: FloatArray) -> FloatArray:
        """Probabilities given that the row is of a known class; the shares where none has any."""
        return rescaled(probabilities[:, :-1], self.shares_.known)

    @where_rows_are
    def _probabilities(self, X: Matrix) -> FloatArray:
        check_is_fitted(self)
        rows = check_again(self, self._dense(X, "X")).astype(np.float64, copy=False)
        arrays = chosen_arrays()

        def ask(block: slice) -> FloatArray:
            part = rows[block] if self.lay_back_ is None else self.lay_back_(rows[block])
            return self.rule_.probabilities(part)

        with team():
            parts = arrays.side_by_side(ask, arrays.blocks(rows.shape[0], 1))
        return np.concatenate(parts)

    def _dense(self, X: Any, name: str) -> Any:
        """Sparse rows as dense ones, where the rule needs them and they are not too large."""
        is_sparse: bool = sparse.issparse(X)
        if self._accepts_sparse or not is_sparse:
            return X
        if X.shape[0] * X.shape[1] > _MOST_DENSE_VALUES:
            raise TypeError(
                f"{name} must be dense for {type(self).__name__}, or have at most "
                f"{_MOST_DENSE_VALUES:,} values when dense; got a sparse matrix of shape "
                f"{X.shape}. Reduce both samples together, for example with TruncatedSVD."
            )
        return check_rows(X, name).toarray()

    def _checked_labelled(self, X: Any, y: Any) -> tuple[LabelledRows, tuple[Notice, ...]]:
        """The labelled rows, and a notice for each class with very few of them."""
        labelled = check_labelled(self, self._dense(X, "X"), y)
        # The labels are of one kind, though their array may be an array of objects.
        classes = np.array(labelled.classes.tolist())
        check_classification_targets(classes[labelled.codes])
        counts = np.bincount(labelled.codes)
        if counts.max() == 1:
            raise ValueError("y must hold at least 2 rows of some class; got n_samples=1 of each.")
        notices = tuple(
            Notice(
                "few_rows",
                f"class {label!r} has {count} labelled rows, fewer than {_FEW_ROWS}: its error is "
                "hardly known.",
                about=label,
            )
            for label, count in zip(classes.tolist(), counts.tolist(), strict=True)
            if count < _FEW_ROWS
        )
        rows = labelled.rows.astype(np.float64, copy=False)
        return replace(labelled, rows=rows, classes=classes), notices

    def _open_sample(
        self, labelled: LabelledRows, X_new: Any, proportions: Any, seed: int
    ) -> tuple[OpenSample, tuple[Notice, ...]]:
        """The rows and shares to learn from; keeps labels and shares on the rule."""
        self.classes_ = with_unseen(labelled.classes, self.unseen_label)
        X_new = self._dense(X_new, "X_new")
        rows_new = check_new(labelled, X_new).astype(np.float64, copy=False)
        if rows_new.shape[0] < 2:
            raise ValueError(
                f"X_new must hold at least 2 rows, so that one can be held out; "
                f"got {rows_new.shape[0]}."
            )
        notices = sample_notices(labelled, rows_new, given=X_new)
        if proportions is None or isinstance(proportions, ProportionEstimator):
            self.shares_ = estimate_shares(proportions, labelled, rows_new, seed)
            estimate = self.shares_.estimate
            notices += () if estimate is None else estimate.notices
        else:
            self.shares_ = given_shares(proportions, labelled.classes)
        rows = labelled.rows
        if self.shares_.verdict == "moved":
            self.lay_back_ = LayBack.of(labelled, rows_new)
        if self.lay_back_ is not None:
            rows, rows_new = dense(rows), self.lay_back_(rows_new)
            notices += (self.lay_back_.notice,)
        return OpenSample(rows, labelled.codes, rows_new, self.shares_.known), notices

    def __sklearn_is_fitted__(self) -> bool:
        """Whether a fit has ended; a fit that failed leaves some attributes too."""
        return hasattr(self, "risk_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
