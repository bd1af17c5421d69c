"""Scores of windows: what all share is made once, the rest window by window.

Posteriors of the known classes depend on the labelled rows alone, so they are made once for all
windows. Density ratios of new rows against labelled ones are made window by window: in a pool of
all windows, a class that is new in one of them would be too rare to be learnt.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
from sklearn.base import clone

from unseen._types import IntArray, Matrix
from unseen.monitoring.change import change_p_values, class_probabilities
from unseen.monitoring.windows import Windows
from unseen.proportions import OpenSetEstimator, ProportionEstimator
from unseen.proportions.closed_set.posteriors import ClosedSetEstimator, Posteriors
from unseen.proportions.open_set.scores import OpenSetScores, open_set_scores
from unseen.records import Estimate
from unseen.samples.checks import LabelledRows, _quoted, check_folds
from unseen.scores.crossfit import stack_samples
from unseen.scores.klr import KernelLogisticRegression
from unseen.scores.posteriors import crossfit_posteriors

__all__ = ["FOLDS", "TEST_FOLDS", "Reference", "Source", "training_reference", "window_reference"]

FOLDS = 10
# A test needs a scorer that is good enough, not the best: in development problems, fewer folds and
# candidates than an estimate takes found as much.
TEST_FOLDS = 5
_TEST_STRENGTHS = (0.3, 30.0)
# More reference rows than this for each row of the window add little, and dilute what is new.
_REFERENCE_ROWS = 2
# One labelled row in so many stands for training in the tests.
_SET_ASIDE = 3


@dataclass(frozen=True, eq=False)
class Source:
    """A fitted estimator, the new rows of all windows, and the posteriors that they share."""

    estimator: ProportionEstimator
    rows: Matrix
    seed: int
    classifier: Any
    posteriors: Posteriors | None

    @classmethod
    def of(cls, estimator: ProportionEstimator, rows: Matrix, seed: int) -> Source:
        """Make the posteriors of all new rows."""
        sample = estimator.labelled_
        settings = estimator.get_params(deep=False)
        classifier, n_folds = _test_classifier(estimator), settings.get("n_folds", FOLDS)
        check_folds(sample, n_folds, n_folds)
        posteriors = None
        if len(sample.classes) > 1:
            found = crossfit_posteriors(
                sample.rows,
                sample.codes,
                rows,
                classifier,
                n_folds=n_folds,
                random_state=seed,
                n_jobs=settings.get("n_jobs"),
            )
            posteriors = Posteriors(tuple(sample.classes.tolist()), sample.codes, *found, seed)
        return cls(estimator, rows, seed, classifier, posteriors)

    def estimate(self, places: IntArray, confidence: float) -> Estimate:
        """Shares in some of the rows, as if they had come alone."""
        scores = self._scores(places)
        estimate = self.estimator.from_scores(scores)
        return self.estimator.with_intervals(estimate, scores, confidence)

    def _scores(self, places: IntArray) -> Any:
        makes = type(self.estimator).scores
        if makes is ClosedSetEstimator.scores:
            return self._posteriors(places)
        if makes is OpenSetEstimator.scores:
            return self._open_scores(places, self.classifier, self.estimator.n_folds)
        return self.estimator.scores(self.rows[places])

    def _open_scores(self, places: IntArray, classifier: Any, n_folds: int) -> OpenSetScores:
        sample = self.estimator.labelled_
        return open_set_scores(
            tuple(sample.classes.tolist()),
            sample.rows,
            sample.codes,
            self.rows[places],
            self._posteriors(places),
            classifier,
            n_folds=n_folds,
            random_state=self.seed,
            n_jobs=self.estimator.get_params(deep=False).get("n_jobs"),
        )

    def _posteriors(self, places: IntArray) -> Posteriors | None:
        if self.posteriors is None:
            return None
        return replace(self.posteriors, new=self.posteriors.new[places])

    def p_values(
        self, window: IntArray, reference: IntArray, n_permutations: int, rng: np.random.Generator
    ) -> tuple[float, float]:
        """Of "nothing has changed" and of "the unseen share has not changed"."""
        reference = rng.permutation(reference)[: _REFERENCE_ROWS * len(window)]
        places = np.concatenate([window, reference])
        shuffled = rng.permutation(len(places))
        scorer = KernelLogisticRegression(C=_TEST_STRENGTHS)
        classifier = scorer if self.classifier is None else self.classifier
        scores = self._open_scores(places[shuffled], classifier, TEST_FOLDS)
        probabilities = class_probabilities(scores)
        back = np.argsort(shuffled)
        in_order = replace(
            probabilities,
            among_known=probabilities.among_known[back],
            novelty=probabilities.novelty[back],
        )
        return change_p_values(in_order, len(window), n_permutations, rng)


def _test_classifier(estimator: ProportionEstimator) -> Any:
    """The estimator's own, unless it cannot tell known classes apart as the tests need it."""
    classifier = estimator.get_params(deep=False).get("classifier")
    shares_scores = type(estimator).scores in (ClosedSetEstimator.scores, OpenSetEstimator.scores)
    serves = shares_scores or len(estimator.classes_) == 1 or hasattr(classifier, "predict_proba")
    return classifier if serves else None


@dataclass(frozen=True, eq=False)
class Reference:
    """What windows are compared with: its shares, its rows, and the source of scores with them."""

    estimate: Estimate
    source: Source
    rows: IntArray


def window_reference(
    source: Source, windows: Windows, places: list[int], confidence: float
) -> Reference:
    """All rows of some windows."""
    rows = np.concatenate([windows.rows[place] for place in places])
    return Reference(source.estimate(rows, confidence), source, rows)


def training_reference(source: Source) -> Reference:
    """Labelled rows of which the tests' scorer is not told that they are labelled.

    The shares are those of the labels. As many rows of each class are set aside as its share asks
    for, so that the reference varies less than a random sample, and tests err on the safe side.
    """
    sample, rng = source.estimator.labelled_, np.random.default_rng(source.seed)
    _check_enough_to_set_aside(
        sample, source.estimator.get_params(deep=False).get("n_folds", FOLDS)
    )
    order = rng.permutation(len(sample.codes))
    place_in_class = np.empty(len(order), dtype=np.intp)
    for code in range(len(sample.classes)):
        of_class = order[sample.codes[order] == code]
        place_in_class[of_class] = np.arange(len(of_class))
    aside = place_in_class % _SET_ASIDE == _SET_ASIDE - 1
    labels = sample.classes[sample.codes]
    estimator = clone(source.estimator).fit(sample.rows[~aside], labels[~aside])
    rows = stack_samples(source.rows, sample.rows[aside])[0]
    places = np.arange(source.rows.shape[0], rows.shape[0])
    return Reference(_labels_as_estimate(sample), Source.of(estimator, rows, source.seed), places)


def _check_enough_to_set_aside(sample: LabelledRows, n_folds: int) -> None:
    """What is left of each class must have a row for each fold."""
    counts = np.bincount(sample.codes, minlength=len(sample.classes))
    least = next(n for n in count(n_folds) if n - n // _SET_ASIDE >= n_folds)
    few = np.flatnonzero(counts < least)
    if few.size:
        raise ValueError(
            f'with reference="training" each class must have at least {least} rows in X: a third '
            f"is set aside for the tests, and n_folds={n_folds} folds need a row of each class; "
            f"{_quoted(sample.classes[few[:1]])} has {counts[few[0]]}."
        )


def _labels_as_estimate(sample: LabelledRows) -> Estimate:
    counts = np.bincount(sample.codes, minlength=len(sample.classes))
    classes = tuple(sample.classes.tolist())
    return Estimate(
        classes=classes,
        proportions=counts / counts.sum(),
        unseen=0.0,
        method="labels of training",
        n_labelled=dict(zip(classes, counts.tolist(), strict=True)),
        n_new=0,
    )
