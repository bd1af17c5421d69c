"""What every estimator of class proportions shares: the labelled sample, and its scores.

Scoring costs nearly all the time and reading the shares off the scores nearly none. So the
two are apart: :meth:`PerClassEstimator.scores` makes a record of out-of-fold scores, and any
number of estimators can read that one record with :meth:`PerClassEstimator.from_scores`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from unseen._random import whole_seed
from unseen._sklearn import HasMethods, Interval, fit_context
from unseen._types import FloatArray, Matrix
from unseen.diagnostics import Finding
from unseen.intervals import (
    Calibrated,
    IntervalEvidence,
    IntervalMethod,
    certified_unseen,
    check_interval,
)
from unseen.records import Estimate, MixtureEstimate, Notice, RocEvidence
from unseen.roc.evidence import scored_evidence
from unseen.samples.checks import check_folds, check_labelled, check_new, remarks
from unseen.scores.crossfit import class_scores

__all__ = ["ClassScores", "PerClassEstimator", "ProportionEstimator"]


@dataclass(frozen=True, eq=False)
class ClassScores:
    """Out-of-fold scores of the new rows (F) against each known class (H).

    Parameters
    ----------
    classes : tuple
        Labels of the known classes.
    pairs : tuple of (ndarray, ndarray)
        For each class, the scores of the new rows and of the rows of that class;
        high where a row looks new, low where it looks like the class.
    seed : int or None
        Seed that made them.
    notices : tuple of Notice
        What a person should know about the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.proportions import ClassScores
    >>> scores = ClassScores(("a", "b"), ((np.zeros(5), np.ones(2)), (np.zeros(5), np.ones(3))))
    >>> scores.n_labelled, scores.n_new
    ({'a': 2, 'b': 3}, 5)
    """

    classes: tuple[Any, ...]
    pairs: tuple[tuple[FloatArray, FloatArray], ...]
    seed: int | None = None
    notices: tuple[Notice, ...] = ()

    def __post_init__(self) -> None:
        if len(self.classes) != len(self.pairs) or not self.pairs:
            raise ValueError(
                "pairs must hold one pair of scores per class; "
                f"got {len(self.pairs)} for {len(self.classes)} classes."
            )

    @property
    def n_new(self) -> int:
        """New rows."""
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

    _default_interval: ClassVar[IntervalMethod] = Calibrated()

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    @fit_context(prefer_skip_nested_validation=True)
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
    def scores(self, X_new: ArrayLike) -> Any:
        """Score new rows; the record can be read by every estimator of its kind."""

    @abstractmethod
    def from_scores(self, scores: Any) -> Estimate:
        """Read the shares off scores that have been made before; needs no ``fit``."""

    @abstractmethod
    def replicates(
        self, scores: Any, n_replicates: int = 500, random_state: Any = None
    ) -> FloatArray:
        """Shares under Bayesian-bootstrap weights of the scored rows; nothing is refitted.

        Parameters
        ----------
        scores : the record that :meth:`scores` makes
        n_replicates : int, default=500
            Number of replicates, B.
        random_state : int, RandomState, Generator or None, default=None
            Where all randomness comes from.

        Returns
        -------
        ndarray of shape (B, K + 1)
            Share of each known class, then of unseen ones.
        """

    def estimate(
        self,
        X_new: ArrayLike,
        *,
        confidence: float | None = None,
        interval: IntervalMethod | None = None,
        delta: float | None = None,
        diagnose: bool = False,
    ) -> Estimate:
        """Estimate the share of each known class, and of unseen ones.

        Checks that read what the estimate has made anyway are part of :meth:`from_scores`, and
        leave a notice where they fire. Those that need new scores cost about
        as much as the estimate itself, as does the certified bound: they are run on request.

        Parameters
        ----------
        X_new : array-like of shape (n_new, n_features)
            New rows, with the columns of X.
        confidence : float or None, default=None
            Level of the intervals, such as 0.95; None makes no intervals.
        interval : interval method or None, default=None
            How to make them; None is :class:`~unseen.intervals.Calibrated`, with a smaller
            stretch for estimators that read posteriors or densities.
        delta : float or None, default=None
            Also certify a lower bound of the unseen share that fails with at most this
            probability, such as 0.05 (:func:`~unseen.intervals.certified_unseen`).
        diagnose : bool, default=False
            Also run the expensive checks of :mod:`unseen.diagnostics`, where the method has any.

        Returns
        -------
        Estimate
        """
        check_interval(confidence, interval)
        _check_delta(delta)
        scores = self.scores(X_new)
        estimate = self.from_scores(scores)
        if diagnose:
            found = self._deep_findings(scores, estimate, check_new(self, X_new))
            estimate = with_findings(estimate, found)
        if confidence is not None:
            estimate = self.with_intervals(estimate, scores, confidence, interval)
        if delta is not None:
            bound = self._certified(check_new(self, X_new), delta, scores.seed)
            estimate = replace(estimate, unseen_certified=bound)
        return estimate

    def with_intervals(
        self,
        estimate: Estimate,
        scores: Any,
        confidence: float = 0.95,
        interval: IntervalMethod | None = None,
    ) -> Estimate:
        """The same estimate, with intervals from the scores that it was read off.

        Parameters
        ----------
        estimate : Estimate
            What :meth:`from_scores` returned.
        scores : the record that :meth:`scores` makes
        confidence : float, default=0.95
            Level of the intervals.
        interval : interval method or None, default=None
            How to make them; None is :class:`~unseen.intervals.Calibrated`, with a smaller
            stretch for estimators that read posteriors or densities.

        Returns
        -------
        Estimate
        """
        check_interval(confidence, interval)
        method = self._default_interval if interval is None else interval
        evidence = IntervalEvidence(
            shares=np.append(estimate.proportions, estimate.unseen),
            replicates=partial(self.replicates, scores),
            n_new=estimate.n_new,
            pairs=getattr(scores, "pairs", None),
            seed=scores.seed,
        )
        limits = method.limits(evidence, confidence)
        return replace(estimate, intervals=limits, confidence=confidence)

    def _deep_findings(self, scores: Any, estimate: Estimate, rows: Matrix) -> list[Finding]:
        """Checks that need new scores or the rows; none, unless a method says otherwise."""
        return []

    def _certified(self, rows: Matrix, delta: float, seed: int | None) -> float:
        return certified_unseen(
            [self._labelled_rows(code) for code in range(len(self.classes_))],
            rows,
            delta,
            classifier=getattr(self, "classifier", None),
            random_state=seed,
        )

    def _labelled_rows(self, code: int) -> Matrix:
        return self.labelled_.rows[self.labelled_.codes == code]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


class PerClassEstimator(ProportionEstimator):
    """Base of the estimators that set each known class against the new rows.

    Parameters
    ----------
    classifier : scikit-learn classifier or None, default=None
        What tells the new rows from a class; None is kernel logistic regression.
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

    def scores(self, X_new: ArrayLike) -> ClassScores:
        """Score new rows against each known class, out of fold.

        Parameters
        ----------
        X_new : array-like of shape (n_new, n_features)
            New rows, with the columns of X.

        Returns
        -------
        ClassScores
            A record that this and any other such estimator can read.
        """
        check_is_fitted(self)
        rows = check_new(self, X_new)
        check_folds(self.labelled_, rows.shape[0], self.n_folds)
        odd = remarks(self, self.labelled_.rows, rows, given=X_new)
        seed = whole_seed(self.random_state)
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


def class_evidence(
    scores: ClassScores, mixtures: Sequence[MixtureEstimate]
) -> dict[Any, RocEvidence]:
    """The ROC of each class that has one, with the scores at its vertices."""
    found = zip(scores.classes, scores.pairs, mixtures, strict=True)
    return {
        label: scored_evidence(mixture.roc, *pair)
        for label, pair, mixture in found
        if mixture.roc is not None
    }


def with_findings(estimate: Estimate, findings: Sequence[Finding]) -> Estimate:
    """The same estimate, with what checks found: numbers in diagnostics, sentences in notices.

    Examples
    --------
    >>> from unseen.records import Estimate
    >>> from unseen.diagnostics import effective_rows
    >>> estimate = Estimate(("cat",), [0.5], 0.5, "m", n_labelled={"cat": 20}, n_new=20)
    >>> checked = with_findings(estimate, [effective_rows("cat", 20, 20)])
    >>> checked.diagnostics, len(checked.notices)
    ({'effective_rows': {'cat': 10.0}}, 1)
    """
    found: dict[str, Any] = dict(estimate.diagnostics)
    for finding in findings:
        number = None if np.isnan(finding.value) else finding.value
        value = number if finding.interval is None else [number, *finding.interval]
        if finding.label is None:
            found[finding.name] = value
        else:
            found.setdefault(finding.name, {})[finding.label] = value
    notices = (finding.notice for finding in findings if finding.notice is not None)
    return replace(estimate, diagnostics=found, notices=(*estimate.notices, *notices))


def _check_delta(delta: float | None) -> None:
    if delta is not None and not 0 < delta < 1:
        raise ValueError(f"delta must lie strictly between 0 and 1, such as 0.05; got {delta}.")


def closed_set_notice(method: str) -> Notice:
    """What a person must know before trusting a method that takes all classes for known."""
    return Notice(
        "closed_set",
        f"{method} assumes that every new row belongs to a known class: it cannot see unseen "
        "classes.",
    )
