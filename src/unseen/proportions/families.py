"""The bases of two families: methods that see nothing unseen, and methods for a class at a time.

    P_0 = sum_i pi_i P_i,   sum_i pi_i = 1,                            Eq. (2) with nothing unseen

A method of the first family can work with a classifier of the known classes alone, or with their
densities; one of the second compares the new rows with each known class by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

from sklearn.base import clone

from unseen._sklearn import Interval
from unseen.intervals import Calibrated, IntervalMethod
from unseen.proportions.base import CLASSIFIER_CONSTRAINTS, ProportionEstimator
from unseen.records import MixtureEstimate, RocEvidence
from unseen.roc.sketch import scored_evidence
from unseen.scores import (
    PairScorer,
    PairScores,
    Posteriors,
    PosteriorScorer,
    RowScores,
    Scorer,
    Scores,
)


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
