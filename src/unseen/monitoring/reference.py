"""The reference of windows, and the scores that all windows share.

Posteriors of the known classes depend on the labelled rows alone, so they are made once for all
windows. Density ratios of new rows against labelled ones are made window by window: in a pool of
all windows, a class that is new in one of them would be too rare to be learnt.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np

from unseen._types import IntArray, Matrix
from unseen._wording import quoted
from unseen.monitoring.change import change_p_values, class_probabilities
from unseen.monitoring.windows import Windows
from unseen.proportions import ProportionEstimator
from unseen.records import Estimate
from unseen.samples import LabelledRows
from unseen.scores import OpenScorer, Posteriors, Scorer
from unseen.scores.base import stack_samples
from unseen.scores.klr import KernelLogisticRegression

__all__ = ["TEST_FOLDS", "Reference", "WindowScorer", "training_reference", "window_reference"]

# A test needs a scorer that is good enough, not the best: in development problems, fewer folds and
# candidates than an estimate takes found as much.
TEST_FOLDS = 5
_TEST_C_VALUES = (0.3, 30.0)
# More reference rows than this for each row of the window add little, and dilute what is new.
_REFERENCE_ROWS = 2
# One labelled row in so many stands for training in the tests.
_SET_ASIDE = 3


@dataclass(frozen=True, eq=False)
class WindowScorer:
    """Labelled rows, the new rows of all windows, and the posteriors that these share.

    Parameters
    ----------
    estimator : ProportionEstimator
        Reads the scores of each window.
    scorer : Scorer
        The estimator's scorer, with its folds settled.
    labelled : LabelledRows
    rows : array or CSR matrix
        New rows of all windows.
    posteriors : Posteriors or None
        Posteriors of all new rows; None where only one class is known.
    """

    estimator: ProportionEstimator
    scorer: Scorer
    labelled: LabelledRows
    rows: Matrix
    posteriors: Posteriors | None

    @classmethod
    def prepare(
        cls, estimator: ProportionEstimator, scorer: Scorer, labelled: LabelledRows, rows: Matrix
    ) -> WindowScorer:
        """Make the posteriors of all new rows."""
        posteriors, posterior_scorer = None, scorer.posterior_scorer()
        posterior_scorer.check(labelled, rows.shape[0])
        if len(labelled.classes) > 1:
            posteriors = posterior_scorer.score(labelled, rows)
        return cls(estimator, scorer, labelled, rows, posteriors)

    def estimate(self, places: IntArray, confidence: float) -> Estimate:
        """Shares in some of the rows, as if they had come alone."""
        scores = self.scorer.score_window(self.labelled, self.rows, places, self.posteriors)
        return self.estimator.from_scores(scores, confidence=confidence)

    def p_values(
        self, window: IntArray, reference: IntArray, n_permutations: int, rng: np.random.Generator
    ) -> tuple[float, float]:
        """P-values of "nothing has changed" and of "the unseen share has not changed"."""
        reference = rng.permutation(reference)[: _REFERENCE_ROWS * len(window)]
        places = np.concatenate([window, reference])
        shuffled = rng.permutation(len(places))
        scores = self._test_scorer().score_window(
            self.labelled, self.rows, places[shuffled], self.posteriors
        )
        probabilities = class_probabilities(scores)
        back = np.argsort(shuffled)
        in_order = replace(
            probabilities,
            among_known=probabilities.among_known[back],
            novelty=probabilities.novelty[back],
        )
        return change_p_values(in_order, len(window), n_permutations, rng)

    def _test_scorer(self) -> OpenScorer:
        """The classifier of the posteriors; with one known class any classifier serves."""
        several = len(self.labelled.classes) > 1
        scorer = self.scorer.posterior_scorer() if several else self.scorer
        classifier = scorer.classifier
        if classifier is None:
            classifier = KernelLogisticRegression(C=_TEST_C_VALUES)
        return OpenScorer(classifier, TEST_FOLDS, self.scorer.seed, self.scorer.n_jobs)


@dataclass(frozen=True, eq=False)
class Reference:
    """The sample that windows are compared with: shares, rows, and a scorer for these rows."""

    estimate: Estimate
    scorer: WindowScorer
    rows: IntArray


def window_reference(
    scorer: WindowScorer, windows: Windows, places: list[int], confidence: float
) -> Reference:
    """All rows of some windows."""
    rows = np.concatenate([windows.rows[place] for place in places])
    return Reference(scorer.estimate(rows, confidence), scorer, rows)


def training_reference(scorer: WindowScorer) -> Reference:
    """Labelled rows that the tests' scorer takes for new ones.

    The shares are those of the labels. As many rows of each class are set aside as its share asks
    for, so that the reference varies less than a random sample, and tests err on the safe side.
    """
    sample, rng = scorer.labelled, np.random.default_rng(scorer.scorer.seed)
    _check_enough_to_set_aside(sample, scorer.scorer.posterior_scorer().n_folds)
    order = rng.permutation(len(sample.codes))
    place_in_class = np.empty(len(order), dtype=np.intp)
    for code in range(len(sample.classes)):
        of_class = order[sample.codes[order] == code]
        place_in_class[of_class] = np.arange(len(of_class))
    aside = place_in_class % _SET_ASIDE == _SET_ASIDE - 1
    rows = stack_samples(scorer.rows, sample.rows[aside])[0]
    places = np.arange(scorer.rows.shape[0], rows.shape[0])
    rest = WindowScorer.prepare(scorer.estimator, scorer.scorer, sample.part(~aside), rows)
    return Reference(_labels_as_estimate(sample), rest, places)


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


def _labels_as_estimate(sample: LabelledRows) -> Estimate:
    return Estimate(
        classes=sample.labels,
        proportions=sample.counts / sample.counts.sum(),
        unseen=0.0,
        method="labels of training",
        n_labelled=dict(zip(sample.labels, sample.counts.tolist(), strict=True)),
        n_new=0,
    )
