"""The base of the methods that compare the new rows with one known class at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from sklearn.base import clone

from unseen._sklearn import Interval
from unseen.proportions.base import CLASSIFIER_CONSTRAINTS, ProportionEstimator
from unseen.records import MixtureEstimate, RocEvidence
from unseen.roc.sketch import scored_evidence
from unseen.scores import PairScorer, PairScores


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
