"""The reference of windows, and the scores that all windows share.

Posteriors and distances do not depend on the window of a row, so they are made once for all
windows. Density ratios of new rows against labelled ones are made window by window, by few
candidates (:class:`~unseen.scores.open.OpenPool`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np

from unseen._types import IntArray, Matrix
from unseen._wording import quoted
from unseen.monitoring.change import change_p_values, class_probabilities
from unseen.proportions import ProportionEstimator
from unseen.records import Estimate
from unseen.samples import LabelledRows
from unseen.scores import OpenScorer, Scorer
from unseen.scores.base import Pool, stack_samples
from unseen.scores.crossfit import Search
from unseen.scores.open import OpenPool

# A test needs a scorer that is good enough, not the best: in development problems, fewer folds and
# candidates than an estimate takes found as much.
TEST_FOLDS = 5
_TEST_SEARCH = Search(np.array([1.0]), np.array([0.3, 30.0]))
# More reference rows than this for each row of the window add little, and dilute what is new.
_REFERENCE_ROWS = 2
# One labelled row in so many stands for training in the tests.
_SET_ASIDE = 3


@dataclass(frozen=True, eq=False)
class WindowScorer:
    """The new rows of all windows, with what windows share, for estimates and for tests."""

    estimator: ProportionEstimator  # reads the scores of each window
    estimated: Pool  # scored by the estimator's scorer, with its folds settled
    tested: OpenPool  # scored by the tests' scorer

    @classmethod
    def prepare(
        cls, estimator: ProportionEstimator, scorer: Scorer, labelled: LabelledRows, rows: Matrix
    ) -> WindowScorer:
        """Make what windows share."""
        posteriors, posterior_scorer = None, scorer.posterior_scorer()
        posterior_scorer.check(labelled, rows.shape[0])
        # With one known class any classifier serves the tests.
        classifier = scorer.classifier
        if len(labelled.classes) > 1:
            posteriors = posterior_scorer.score(labelled, rows)
            classifier = posterior_scorer.classifier
        shared = labelled, rows, posteriors
        tests = OpenScorer(classifier, TEST_FOLDS, scorer.seed, scorer.n_jobs)
        return cls(estimator, scorer.pool(*shared), tests.pool(*shared, _TEST_SEARCH))

    @property
    def seed(self) -> int:
        """The seed of all randomness."""
        return self.tested.scorer.seed

    def estimate(self, places: IntArray, confidence: float) -> Estimate:
        """Shares in some of the rows."""
        return self.estimator.from_scores(self.estimated.window(places), confidence=confidence)

    def p_values(
        self, window: IntArray, reference: IntArray, n_permutations: int, rng: np.random.Generator
    ) -> tuple[float, float]:
        """P-values of "nothing has changed" and of "the unseen share has not changed"."""
        reference = rng.permutation(reference)[: _REFERENCE_ROWS * len(window)]
        places = np.concatenate([window, reference])
        shuffled = rng.permutation(len(places))
        probabilities = class_probabilities(self.tested.still(places[shuffled]))
        back = np.argsort(shuffled)
        in_order = replace(
            probabilities,
            among_known=probabilities.among_known[back],
            novelty=probabilities.novelty[back],
        )
        return change_p_values(in_order, len(window), n_permutations, rng)


@dataclass(frozen=True, eq=False)
class Reference:
    """The sample that windows are compared with: shares, rows, and a scorer for these rows."""

    estimate: Estimate
    scorer: WindowScorer
    rows: IntArray


def training_reference(scorer: WindowScorer) -> Reference:
    """Labelled rows that the tests' scorer takes for new ones.

    The shares are those of the labels. As many rows of each class are set aside as its share asks
    for, so that the reference varies less than a random sample, and tests err on the safe side.
    """
    pool, rng = scorer.estimated, np.random.default_rng(scorer.seed)
    sample = pool.labelled
    _check_enough_to_set_aside(sample, pool.scorer.posterior_scorer().n_folds)
    order = rng.permutation(len(sample.codes))
    place_in_class = np.empty(len(order), dtype=np.intp)
    for code in range(len(sample.classes)):
        of_class = order[sample.codes[order] == code]
        place_in_class[of_class] = np.arange(len(of_class))
    aside = place_in_class % _SET_ASIDE == _SET_ASIDE - 1
    rows = stack_samples(pool.rows, sample.rows[aside])[0]
    places = np.arange(pool.rows.shape[0], rows.shape[0])
    rest = WindowScorer.prepare(scorer.estimator, pool.scorer, sample.part(~aside), rows)
    estimate = Estimate(
        classes=sample.labels,
        proportions=sample.counts / sample.counts.sum(),
        unseen=0.0,
        method="labels of training",
        n_labelled=dict(zip(sample.labels, sample.counts.tolist(), strict=True)),
        n_new=0,
    )
    return Reference(estimate, rest, places)


def _check_enough_to_set_aside(sample: LabelledRows, n_folds: Any) -> None:
    """Raise where a class without its third has fewer rows than folds."""
    least = next(n for n in count(n_folds) if n - n // _SET_ASIDE >= n_folds)
    few = np.flatnonzero(sample.counts < least)
    if few.size:
        raise ValueError(
            f'with reference="training" each class must have at least {least} rows in X: a third '
            f"is set aside for the tests, and n_folds={n_folds} folds need a row of each class; "
            f"{quoted(sample.classes[few[:1]])} has {sample.counts[few[0]]}."
        )
