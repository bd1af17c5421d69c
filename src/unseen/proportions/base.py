"""The base of every estimator of class proportions: Scorer -> Scores -> Reading -> Estimate.

An estimator declares the scores that it reads and whether it sees the unseen, names its scorer, and
writes :meth:`ProportionEstimator.read`. Scoring, intervals and the record are written once, here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from unseen._arrays import rows_sent_once
from unseen._frozen import Frozen
from unseen._random import generator, whole_seed
from unseen._sklearn import HasMethods, Interval, fit_context
from unseen._team import by_a_team
from unseen._types import FloatArray, Matrix
from unseen.diagnostics import Finding
from unseen.drift import Drift, with_drift
from unseen.intervals import (
    Calibrated,
    IntervalEvidence,
    IntervalMethod,
    certified_unseen,
    check_interval,
)
from unseen.proportions.overlap import confusion_notices
from unseen.records import Estimate, Notice, RocEvidence
from unseen.samples import LabelledRows, check_labelled, check_n_classes, check_new, sample_notices
from unseen.scores import Posteriors, PosteriorScorer, RowScores, Scorer, Scores

# Parameters that scorers with a classifier have in common.
CLASSIFIER_CONSTRAINTS: dict[str, list[Any]] = {
    "classifier": [None, HasMethods(["fit", "get_params"])],
    "n_folds": [Interval(Integral, 2, None, closed="left")],
    "random_state": ["random_state"],
    "n_jobs": [None, Integral],
}
_CLOSED_SET = "assumes that every new row belongs to a known class: it cannot see unseen classes."


@dataclass(frozen=True, eq=False)
class Reading(Frozen):
    """Shares read off scores, and a function that draws their replicates.

    Parameters
    ----------
    shares : ndarray of shape (K + 1,)
        Share of each known class, then of unseen ones.
    replicates : callable
        ``replicates(n_replicates, random_state)`` draws shares of shape (B, K + 1) under
        Bayesian-bootstrap weights of the scored rows, or from a posterior; nothing is refitted.
    roc : mapping
        The ROC evidence of each class, where the method has any.
    pooled : RocEvidence or None
        The ROC of the new rows against all known classes together.
    diagnostics : mapping
        Numbers by which the shares can be judged.
    notices : tuple of Notice
        Facts that a person should know before trusting the shares.
    drift : Drift or None
        Whether known classes have moved, where the method asks.
    detection_limit : float or None
        The unseen share that would have been found, where the method knows.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.proportions import Reading
    >>> Reading(np.array([0.7, 0.3]), lambda n, seed: np.tile([0.7, 0.3], (n, 1))).unseen
    0.3
    """

    shares: FloatArray
    replicates: Callable[[int, Any], FloatArray]
    roc: Mapping[Any, RocEvidence] = field(default_factory=dict)
    pooled: RocEvidence | None = None
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()
    drift: Drift | None = None
    detection_limit: float | None = None

    @property
    def unseen(self) -> float:
        """Share of unseen classes."""
        return float(self.shares[-1])

    @property
    def expected(self) -> FloatArray:
        """Shares for what is linear in them, such as a risk; the shares themselves by default."""
        return self.shares


def closed_reading(
    shares: FloatArray,
    draw: Callable[[int, np.random.Generator], FloatArray],
    **diagnostics: Any,
) -> Reading:
    """The reading of a closed-set method: shares (K,) and draws of them (B, K); unseen is 0."""

    def replicates(n_replicates: int, random_state: Any) -> FloatArray:
        drawn = draw(n_replicates, generator(random_state))
        return np.column_stack([drawn, np.zeros(len(drawn))])

    return Reading(np.append(shares, 0.0), replicates, diagnostics=diagnostics)


class ProportionEstimator(BaseEstimator, ABC):
    """Base of the estimators of class proportions: ``fit(X, y)``, then ``estimate(X_new)``.

    A subclass declares ``reads``, ``sees_unseen`` and ``n_classes``, has a parameter
    ``random_state``, and writes :meth:`scorer` and :meth:`read`.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        Labels of the known classes.
    labelled_ : LabelledRows
        The labelled sample.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : ndarray of str
        Names of these columns, where X had names.

    Examples
    --------
    >>> from unseen import OpenSetEstimator, ProportionEstimator, SaerensEM
    >>> isinstance(SaerensEM(), ProportionEstimator)
    True
    >>> OpenSetEstimator().sees_unseen, SaerensEM().sees_unseen
    (True, False)
    """

    reads: ClassVar[type[Scores]]
    """The kind of scores that :meth:`read` takes."""
    sees_unseen: bool = True
    """Whether the method can find unseen classes."""
    n_classes: tuple[int, int | None] = (1, None)
    """Fewest and most known classes that the method takes."""

    random_state: Any
    _default_interval: ClassVar[IntervalMethod] = Calibrated()
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    @abstractmethod
    def scorer(self, seed: int) -> Scorer:
        """The scorer of this estimator, whose settings are the estimator's own."""

    @abstractmethod
    def read(self, scores: Any) -> Reading:
        """Read the shares off scores; the only step that each method writes itself."""

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Keep the labelled sample.

        Parameters
        ----------
        X : array-like of shape (n_labelled, n_features)
            Rows of the known classes; dense, sparse or a table.
        y : array-like of shape (n_labelled,)
            Labels of the rows of X: text, whole numbers or booleans. One class is enough for
            methods that see the unseen; closed-set methods need two.
        """
        self.labelled_ = check_labelled(self, X, y)
        self.classes_ = self.labelled_.classes
        check_n_classes(type(self).__name__, self.classes_, self.n_classes)
        return self

    @by_a_team
    def scores(self, X_new: ArrayLike) -> Scores:
        """Score new rows, out of fold; nearly all the time of an estimate is spent here.

        Scores are a read-only record of the kind that ``reads`` names.

        Parameters
        ----------
        X_new : array-like of shape (n_new, n_features)
            New rows, with the columns of X.
        """
        return self._scored(X_new)[1]

    @by_a_team
    def from_scores(
        self,
        scores: Scores,
        *,
        confidence: float | None = None,
        interval: IntervalMethod | None = None,
    ) -> Estimate:
        """Estimate the shares from scores that have been made before; needs no ``fit``.

        Then only the default has a verdict on drift: other methods need the rows for it.

        Parameters
        ----------
        scores : Scores
            Scores of the kind that ``reads`` names.
        confidence, interval
            As in :meth:`estimate`.
        """
        check_interval(confidence, interval)
        return self.read_and_estimate(scores, confidence, interval)[1]

    def read_and_estimate(
        self,
        scores: Scores,
        confidence: float | None = None,
        interval: IntervalMethod | None = None,
    ) -> tuple[Reading, Estimate]:
        """The reading of scores, and the estimate made of the reading."""
        self._validate_params()
        method = type(self).__name__
        if not isinstance(scores, self.reads):
            raise TypeError(
                f"scores must be {self.reads.__name__} for {method}; got {type(scores).__name__}."
            )
        check_n_classes(method, scores.classes, self.n_classes)
        reading = self.read(scores)
        limits = None
        if confidence is not None:
            drawn, pairs = (reading.shares, reading.replicates), getattr(scores, "pairs", None)
            evidence = IntervalEvidence(*drawn, scores.n_new, pairs, scores.seed)
            limits = (interval or self._default_interval).limits(evidence, confidence)
            if reading.drift is not None and reading.drift.far:
                # Which class a row looks like says nothing once classes moved so far.
                limits = np.tile([0.0, 1.0], (len(reading.shares), 1))
        # What a person should know: of the rows, of the reading, and of the method.
        confused = confusion_notices(scores, reading.shares)
        notices = (*scores.notices, *reading.notices, *confused)
        if not self.sees_unseen:
            notices = (*notices, Notice("closed_set", f"{method} {_CLOSED_SET}"))
        return reading, Estimate(
            classes=scores.classes,
            proportions=reading.shares[:-1],
            unseen=float(reading.shares[-1]),
            method=method,
            n_labelled=dict(zip(scores.classes, scores.counts.tolist(), strict=True)),
            n_new=scores.n_new,
            intervals=limits,
            confidence=confidence,
            sees_unseen=self.sees_unseen,
            roc=reading.roc,
            pooled=reading.pooled,
            diagnostics=reading.diagnostics,
            notices=notices,
            seed=scores.seed,
            drift=reading.drift,
            detection_limit=reading.detection_limit,
        )

    @by_a_team
    def estimate(
        self,
        X_new: ArrayLike,
        *,
        confidence: float | None = None,
        interval: IntervalMethod | None = None,
        delta: float | None = None,
        diagnose: bool = False,
        drift: Drift | None = None,
    ) -> Estimate:
        """Estimate the share of each known class, and of unseen ones.

        Checks of scores that the estimate has made anyway always run, and leave a notice where they
        fire. Checks that need new scores, and the certified bound, cost about as much as the
        estimate itself, and run on request.

        Parameters
        ----------
        X_new : array-like of shape (n_new, n_features)
            New rows, with the columns of X.
        confidence : float or None, default=None
            Level of the intervals, such as 0.95; None makes no intervals.
        interval : interval method or None, default=None
            The way to make intervals; None is :class:`~unseen.intervals.Calibrated`, with a smaller
            stretch for estimators that read posteriors or densities.
        delta : float or None, default=None
            Also certify a lower bound of the unseen share that fails with at most this
            probability, such as 0.05 (:func:`~unseen.intervals.certified_unseen`).
        diagnose : bool, default=False
            Also run the expensive checks of :mod:`unseen.diagnostics`, where the method has any.
        drift : Drift or None, default=None
            Drift that was found before, such as ``estimate.drift`` of the default on the same rows.
            None asks the default, at the cost of another estimate (docs/drift.md); the default
            always looks for itself.
        """
        check_interval(confidence, interval)
        if delta is not None and not 0 < delta < 1:
            raise ValueError(f"delta must lie strictly between 0 and 1, such as 0.05; got {delta}.")
        rows, scores = self._scored(X_new)
        estimate = self.read_and_estimate(scores, confidence, interval)[1]
        estimate = self.with_verdict(estimate, rows, drift)
        if diagnose:
            numbers, notices = found(self._expensive_findings(scores, rows))
            estimate = replace(
                estimate,
                diagnostics={**estimate.diagnostics, **numbers},
                notices=(*estimate.notices, *notices),
            )
        if delta is not None:
            samples = [self.labelled_.of_class(code) for code in range(len(self.classes_))]
            classifier, seed = getattr(self, "classifier", None), scores.seed
            bound = certified_unseen(samples, rows, delta, classifier=classifier, random_state=seed)
            estimate = replace(estimate, unseen_certified=bound)
        return estimate

    def _scored(self, X_new: ArrayLike) -> tuple[Matrix, Any]:
        """Checked new rows, and their scores."""
        check_is_fitted(self)
        rows = check_new(self.labelled_, X_new)
        scorer = self.scorer(whole_seed(self.random_state))
        scorer.check(self.labelled_, rows.shape[0])
        with rows_sent_once():
            notices = sample_notices(self.labelled_, rows, given=X_new)
            scores: Any = scorer.score(self.labelled_, rows)
        return rows, replace(scores, notices=(*notices, *scores.notices))

    def with_verdict(self, estimate: Estimate, rows: Matrix, drift: Drift | None) -> Estimate:
        """The estimate with the drift that was found before, or else with what the default finds.

        Used by methods that see the unseen and assume that no known class moved: docs/drift.md.
        """
        if not self.sees_unseen or estimate.drift is not None:
            return estimate
        if drift is None:
            from unseen.proportions.open_set import OpenSetEstimator  # which is built on this file

            drift = answer(OpenSetEstimator(random_state=estimate.seed), self.labelled_, rows).drift
        return estimate if drift is None else with_drift(estimate, drift)

    def _expensive_findings(self, scores: Any, rows: Matrix) -> list[Finding]:
        """Checks that need new scores or the rows; none, unless a method says otherwise."""
        return []

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


class ClosedSetEstimator(ProportionEstimator):
    """Base of the closed-set estimators: at least two classes, and nothing is unseen."""

    reads: ClassVar[type[Scores]] = RowScores
    sees_unseen = False
    n_classes = (2, None)

    # No ROC model and no sum of slopes stand between scores and shares: less escapes the
    # bootstrap. Chosen by benchmarks/coverage_closed.py --choose.
    _default_interval: ClassVar[IntervalMethod] = Calibrated(stretch=1.1)


@dataclass(eq=False, repr=False, kw_only=True)
class PosteriorEstimator(ClosedSetEstimator):
    """Base of the estimators that read shares off a classifier's posteriors."""

    reads: ClassVar[type[Scores]] = Posteriors

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = CLASSIFIER_CONSTRAINTS

    classifier: Any = None
    n_folds: int = 10
    random_state: Any = None
    n_jobs: int | None = None

    def scorer(self, seed: int) -> Scorer:
        """The scorer that makes the posteriors of the known classes."""
        return PosteriorScorer(self.classifier, self.n_folds, seed, self.n_jobs)


def found(findings: Sequence[Finding]) -> tuple[dict[str, Any], tuple[Notice, ...]]:
    """Numbers by the name of the check, and by class where it is about one; and notices."""
    numbers: dict[str, Any] = {}
    for finding in findings:
        number = None if np.isnan(finding.value) else finding.value
        value = number if finding.interval is None else [number, *finding.interval]
        if finding.label is None:
            numbers[finding.name] = value
        else:
            numbers.setdefault(finding.name, {})[finding.label] = value
    return numbers, tuple(one.notice for one in findings if one.notice is not None)


def answer(
    estimator: ProportionEstimator,
    labelled: LabelledRows,
    rows: Matrix,
    confidence: float | None = None,
) -> Estimate:
    """The estimate for checked rows against checked labelled ones, without notices about them."""
    scorer = estimator.scorer(whole_seed(estimator.random_state))
    scorer.check(labelled, rows.shape[0])
    return estimator.read_and_estimate(scorer.score(labelled, rows), confidence)[1]


def seeded_copy(fitted: ProportionEstimator, argument: str) -> ProportionEstimator:
    """A copy with one seed for all questions; raise where the method cannot see unseen classes."""
    if not fitted.sees_unseen:
        name = type(fitted).__name__
        raise ValueError(f"{argument} needs an estimator that sees the unseen; got {name}.")
    return copy(fitted).set_params(random_state=whole_seed(fitted.random_state))
