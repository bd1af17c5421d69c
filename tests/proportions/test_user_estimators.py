"""A user's own estimators and scorers work wherever those of the library do."""

from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.naive_bayes import GaussianNB

import unseen
from unseen import ClassifyAndCount, ProportionEstimator, SaerensEM
from unseen.monitoring import monitor
from unseen.proportions import Reading
from unseen.scores import Posteriors, PosteriorScorer, RowScores, Scorer

QUICK = {"classifier": GaussianNB(), "n_folds": 3}


class MeanPosterior(SaerensEM):
    """Another reading of the scores that EM reads: the mean posterior of the new rows."""

    def read(self, scores: Posteriors) -> Reading:
        shares = np.append(scores.new.mean(axis=0), 0.0)
        return Reading(shares, lambda n, seed: np.tile(shares, (n, 1)))


@dataclass(frozen=True, eq=False)
class ColumnScorer(Scorer):
    """Takes one column for the score."""

    column: int = 0
    seed: int = 0
    n_jobs: int | None = None

    def score(self, labelled: Any, X_new: Any) -> RowScores:
        column = [self.column]
        rows = labelled.rows[:, column], X_new[:, column]
        return RowScores(labelled.labels, labelled.codes, *rows, self.seed)


class MatchedMeans(ProportionEstimator):
    """Two classes, by the mean of one column: own scorer, own reading."""

    reads = RowScores
    sees_unseen = False
    n_classes = (2, 2)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "column": [int],
        "random_state": [None, int],
    }

    def __init__(self, column: int = 0, random_state: Any = None) -> None:
        self.column = column
        self.random_state = random_state

    def scorer(self, seed: int) -> ColumnScorer:
        return ColumnScorer(self.column, seed)

    def read(self, scores: RowScores) -> Reading:
        first, second = (scores.of_labelled[scores.codes == code].mean() for code in (0, 1))

        def shares(rows: np.ndarray) -> np.ndarray:
            share = np.clip((rows.mean(axis=-1) - second) / (first - second), 0, 1)
            return np.stack([share, 1 - share, 0 * share], axis=-1)

        def replicates(n_replicates: int, random_state: Any) -> np.ndarray:
            rng = np.random.default_rng(random_state)
            return shares(rng.choice(scores.new[:, 0], (n_replicates, scores.n_new)))

        return Reading(shares(scores.new[:, 0]), replicates)


OWN = [MeanPosterior(**QUICK), MatchedMeans()]
each = pytest.mark.parametrize("estimator", OWN, ids=lambda one: type(one).__name__)


@pytest.fixture
def scored(monkeypatch) -> list[str]:
    """Names of the scorers that scored, in turn."""
    calls = []
    for kind in (PosteriorScorer, ColumnScorer):
        made = kind.score

        @wraps(made)
        def score(self, labelled, X_new, *, made=made):
            calls.append(type(self).__name__)
            return made(self, labelled, X_new)

        monkeypatch.setattr(kind, "score", score)
    return calls


@each
def test_the_call_in_one_line(estimator, samples) -> None:
    estimate = unseen.estimate(*samples, estimator=estimator, confidence=0.9, random_state=0)
    assert estimate.method == type(estimator).__name__
    assert estimate.proportions.sum() == pytest.approx(1)
    assert estimate.intervals.shape == (3, 2)
    assert "closed_set" in {notice.code for notice in estimate.notices}


def test_compare_gives_the_answers_of_each_alone(samples) -> None:
    chosen = [*OWN, SaerensEM(**QUICK)]
    together = unseen.compare(*samples, chosen, random_state=0)
    for estimator in chosen:
        alone = unseen.estimate(*samples, estimator=estimator, confidence=None, random_state=0)
        assert together[type(estimator).__name__].to_dict() == alone.to_dict()


def test_equal_scorers_share_their_scores_whoever_wrote_the_estimator(samples, scored) -> None:
    chosen = [ClassifyAndCount(classifier=GaussianNB()), SaerensEM(**QUICK), *OWN]
    unseen.compare(*samples, chosen, random_state=0)
    assert sorted(scored) == ["ColumnScorer", "PosteriorScorer"]


def test_other_settings_of_an_own_scorer_are_scored_anew(samples, scored) -> None:
    columns = {str(column): MatchedMeans(column) for column in (0, 1)}
    comparison = unseen.compare(*samples, {**columns, "again": MatchedMeans(1)}, random_state=0)
    assert scored == ["ColumnScorer", "ColumnScorer"]
    assert_array_equal(comparison["again"].proportions, comparison["1"].proportions)


@each
def test_monitor_gives_each_window_the_answer_of_its_rows_alone(estimator, samples) -> None:
    X, y, X_new = samples
    by = np.arange(len(X_new)) % 2
    timeline = monitor(X, y, X_new, by, estimator=estimator, random_state=0)
    for key in (0, 1):
        alone = unseen.estimate(
            X, y, X_new[by == key], estimator=estimator, confidence=0.95, random_state=0
        )
        assert_allclose(timeline[key].proportions, alone.proportions, atol=1e-12)
        assert_allclose(timeline[key].intervals, alone.intervals, atol=1e-12)


def test_posteriors_of_all_windows_are_made_once(samples, scored) -> None:
    X, y, X_new = samples
    monitor(X, y, X_new, np.arange(len(X_new)) % 3, estimator=OWN[0], random_state=0)
    assert scored == ["PosteriorScorer"]


def test_limits_on_the_classes_hold_for_own_estimators(samples) -> None:
    X, y, _ = samples
    with pytest.raises(ValueError, match="exactly 2 classes for MatchedMeans; got 1"):
        MatchedMeans().fit(X[y == "left"], y[y == "left"])


def test_a_reading_with_another_share_of_the_unseen_reaches_the_record(samples) -> None:
    class Half(SaerensEM):
        sees_unseen = True

        def read(self, scores: Posteriors) -> Reading:
            reading = super().read(scores)
            return replace(reading, shares=np.append(reading.shares[:-1] / 2, 0.5))

    estimate = unseen.estimate(*samples, estimator=Half(**QUICK), random_state=0, confidence=None)
    assert estimate.unseen == 0.5
    assert estimate.sees_unseen
    assert "closed_set" not in {notice.code for notice in estimate.notices}
