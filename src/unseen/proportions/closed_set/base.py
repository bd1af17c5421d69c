"""The base of the methods that assume that every new row is of a known class.

    P_0 = sum_i pi_i P_i,   sum_i pi_i = 1,                            Eq. (2) with nothing unseen

Such a method can work with a classifier of the known classes alone, or with their densities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from unseen.intervals import Calibrated, IntervalMethod
from unseen.proportions.base import CLASSIFIER_CONSTRAINTS, ProportionEstimator
from unseen.scores import Posteriors, PosteriorScorer, RowScores, Scorer, Scores


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
