"""MPE-Incomplete: one share for each known class on its own; the rest is unseen.

Under condition (A) the share of class i is the largest share of its distribution that fits into the
new one, ``pi_i = nu(P_0, P_i)``, Eq. (4): one mixture proportion per class, with no model of the
other classes. The unseen share is the rest, ``1 - sum_i pi_i``. MPE-Projected takes every class for
known: then the shares miss one by estimation error only, and a projection takes that error out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from unseen import simplex
from unseen._random import generator
from unseen._sklearn import HasMethods, Interval
from unseen._types import FloatArray, Matrix
from unseen.diagnostics import Finding, attribution, class_drift, hidden_share, quick_checks
from unseen.mixture.slope import ROCSlope
from unseen.proportions.base import (
    CLASSIFIER_CONSTRAINTS,
    ProportionEstimator,
    Reading,
    closed_reading,
    found,
)
from unseen.records import EstimatesMixture, MixtureEstimate, RocEvidence
from unseen.roc.bootstrap import STRETCH, bootstrap_slopes
from unseen.roc.sketch import scored_evidence
from unseen.scores import PairScorer, PairScores
from unseen.scores.pairs import crossfit_scores


@dataclass(eq=False, repr=False, kw_only=True)
class PerClassEstimator(ProportionEstimator):
    """Base of the estimators that compare the new rows with one known class at a time."""

    classifier: Any = None
    n_folds: int = 10
    n_repeats: int = 1
    random_state: Any = None
    n_jobs: int | None = None

    reads = PairScores

    _parameter_constraints = CLASSIFIER_CONSTRAINTS | {
        "n_repeats": [Interval(Integral, 1, None, closed="left")]
    }

    def scorer(self, seed: int) -> PairScorer:
        """The scorer of the new rows against each known class."""
        return PairScorer(self.classifier, self.n_folds, seed, self.n_jobs, self.n_repeats)


@dataclass(eq=False, repr=False)
class MPEIncomplete(PerClassEstimator):
    """Shares of the known classes by one ROC slope each, Eq. (4); what is left is unseen.

    Parameters
    ----------
    method : mixture estimator or None, default=None
        Reads the share of one class off its scores; None is :class:`~unseen.ROCSlope`. Its
        own ``classifier`` and ``n_folds`` play no part here.
    classifier : scikit-learn classifier or None, default=None
        The classifier that tells the new rows from a class; None is kernel logistic regression.
    n_folds : int, default=10
        Folds of the out-of-fold scores.
    n_repeats : int, default=1
        Times the folds are drawn anew.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds and of the classifier.
    n_jobs : int or None, default=None
        Jobs that score at the same time; does not change the result.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import MPEIncomplete
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-4, 1, (300, 2)), rng.normal(4, 1, (300, 2))])
    >>> y = ["left"] * 300 + ["right"] * 300
    >>> X_new = np.vstack([rng.normal(-4, 1, (350, 2)), rng.normal([-4, 4], 1, (150, 2))])
    >>> estimate = MPEIncomplete(random_state=0).fit(X, y).estimate(X_new)
    >>> print(f"left {estimate['left']:.1f}, unseen {estimate.unseen:.1f}")
    left 0.7, unseen 0.3
    """

    method: EstimatesMixture | None = None

    _parameter_constraints = PerClassEstimator._parameter_constraints | {
        "method": [None, HasMethods(["from_scores", "get_params"])]
    }

    def read(self, scores: PairScores) -> Reading:
        """Read one mixture proportion per class, Eq. (4); the rest is unseen."""
        method = with_seed(ROCSlope() if self.method is None else self.method, scores.seed)
        if scores.sketches is None:
            mixtures = [method.from_scores(*pair) for pair in scores.pairs]
        else:
            mixtures = [method.from_sketch(sketch) for sketch in scores.sketches]
        slopes = np.array([mixture.proportion for mixture in mixtures])
        roc = class_evidence(scores, mixtures)
        numbers, notices = found(quick_checks(scores.classes, scores.pairs, roc, scores.seed))
        own = [
            replace(notice, text=f"class {label!r}: {notice.text}", about=label)
            for label, mixture in zip(scores.classes, mixtures, strict=True)
            for notice in mixture.notices
        ]
        return Reading(
            shares=incomplete_shares(slopes),
            replicates=partial(_replicates, method, scores),
            roc=roc,
            diagnostics={"slope_total": float(slopes.sum()), **numbers},
            notices=(*own, *notices),
        )

    def _expensive_findings(self, scores: PairScores, rows: Matrix) -> list[Finding]:
        n_classes, sample, findings = len(scores.classes), self.labelled_, []
        for code, (label, pair) in enumerate(zip(scores.classes, scores.pairs, strict=True)):
            own, weight = sample.of_class(code), attribution(pair)
            findings.append(class_drift(label, own, rows, weight, n_classes, sample.names))
            if n_classes > 1:
                against = crossfit_scores(
                    sample.rows[sample.codes != code],
                    own,
                    self.classifier,
                    n_folds=self.n_folds,
                    random_state=scores.seed,
                    n_jobs=self.n_jobs,
                )
                findings.append(hidden_share(label, against, n_classes, scores.seed))
        return findings


class MPEProjected(MPEIncomplete):
    """Shares by one ROC slope each, Eq. (4), projected on the simplex: nothing is unseen.

    Parameters
    ----------
    method, classifier, n_folds, n_repeats, random_state, n_jobs
        As in :class:`~unseen.MPEIncomplete`.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import MPEProjected
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-2, 1, (300, 2)), rng.normal(2, 1, (300, 2))])
    >>> y = ["left"] * 300 + ["right"] * 300
    >>> X_new = np.vstack([rng.normal(-2, 1, (350, 2)), rng.normal(2, 1, (150, 2))])
    >>> estimate = MPEProjected(random_state=0).fit(X, y).estimate(X_new)
    >>> print(f"left {estimate['left']:.1f}, right {estimate['right']:.1f}")
    left 0.7, right 0.3
    """

    sees_unseen = False
    n_classes = (2, None)

    def read(self, scores: PairScores) -> Reading:
        """The shares of MPE-Incomplete, projected on the simplex."""
        reading = super().read(scores)

        def draw(n_replicates: int, rng: np.random.Generator) -> FloatArray:
            # A projection on the open set, then on the simplex, is one on the simplex.
            return simplex.project(reading.replicates(n_replicates, rng)[:, :-1])

        closed = closed_reading(simplex.project(reading.shares[:-1]), draw)
        return replace(reading, shares=closed.shares, replicates=closed.replicates)


def class_evidence(
    scores: PairScores, mixtures: Sequence[MixtureEstimate]
) -> dict[Any, RocEvidence]:
    """The ROC of each class that has one, with the scores at its vertices."""
    return {
        label: scored_evidence(*pair, mixture.roc.right_slope, parameters=mixture.roc.parameters)
        for label, pair, mixture in zip(scores.classes, scores.pairs, mixtures, strict=True)
        if mixture.roc is not None
    }


def with_seed(method: Any, seed: int | None) -> Any:
    """A copy of a nested method that draws, where it draws at all, from the seed."""
    copy = clone(method)
    if copy.get_params().get("random_state", seed) is None:
        copy.set_params(random_state=seed)
    return copy


def incomplete_shares(slopes: ArrayLike) -> FloatArray:
    """Shares nearest to the slopes (..., K) of the known classes, Eq. (4), and what they leave."""
    known = simplex.project_open(slopes)
    rest = np.maximum(0.0, 1.0 - known.sum(axis=-1, keepdims=True))
    return np.concatenate([known, rest], axis=-1)


def replicate_slopes(
    method: EstimatesMixture,
    pairs: Sequence[tuple[FloatArray, FloatArray]],
    n_replicates: int,
    random_state: Any,
) -> FloatArray:
    """Mixture proportions (B, K) of every class in every bootstrap replicate.

    The slopes of a ROC model are fitted in one batch, with shared weights of the new rows. Any
    other method reads scores that are drawn with replacement, the new rows once for all classes.
    """
    if isinstance(method, ROCSlope):
        return bootstrap_slopes(pairs, method._model(), n_replicates, random_state)
    rng = generator(random_state)
    slopes = np.empty((n_replicates, len(pairs)))
    for replicate in slopes:
        rows = rng.integers(len(pairs[0][0]), size=len(pairs[0][0]))
        for label, (scores_F, scores_H) in enumerate(pairs):
            drawn = rng.choice(scores_H, size=len(scores_H))
            replicate[label] = method.from_scores(scores_F[rows], drawn).proportion
    return slopes


def _replicates(
    method: EstimatesMixture, scores: PairScores, n_replicates: int, random_state: Any
) -> FloatArray:
    """Shares (B, K + 1); of counted rows, with the noise of scores that drawn rows were behind.

    Intervals are stretched as other rows would give other models, however many rows are counted.
    """
    rng = generator(random_state)
    slopes = replicate_slopes(method, scores.pairs, n_replicates, rng)
    if scores.sketches is not None:
        columns = [method.replicates(sketch, n_replicates, rng) for sketch in scores.sketches]  # type: ignore[attr-defined]
        counted, rows = np.column_stack(columns), 1 / STRETCH**2
        middle, drawn = counted.mean(axis=0), slopes - slopes.mean(axis=0)
        apart = np.sqrt(rows) * (counted - middle) + np.sqrt(1 - rows) * drawn
        slopes = np.clip(middle + apart, 0.0, 1.0)
    return incomplete_shares(slopes)
