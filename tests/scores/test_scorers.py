"""Scorers are values: equal settings are equal scorers, and nothing expensive is done twice."""

from dataclasses import FrozenInstanceError, dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import unseen
from unseen.scores import (
    OpenScorer,
    PairScorer,
    PosteriorScorer,
    RawScorer,
    Scorer,
    TwoClassScorer,
)

KINDS = [PairScorer, TwoClassScorer, PosteriorScorer, OpenScorer]
each = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


class CountedNB(GaussianNB):
    """Naive Bayes that counts its fits."""

    fits: list[int] = []  # noqa: RUF012 -- clones must share it

    def fit(self, X, y, sample_weight=None):
        self.fits.append(len(y))
        return super().fit(X, y, sample_weight)


@pytest.fixture
def fits() -> list[int]:
    CountedNB.fits.clear()
    return CountedNB.fits


@pytest.fixture
def labelled(samples):
    X, y, _ = samples
    return unseen.SaerensEM().fit(X, y).labelled_


# --- equality --------------------------------------------------------------------------------


@each
def test_equal_settings_are_equal_scorers(kind) -> None:
    one = kind(GaussianNB(), 5, 3)
    assert one == kind(GaussianNB(), 5, 3)
    assert hash(one) == hash(kind(GaussianNB(), 5, 3))
    assert len({one, kind(GaussianNB(), 5, 3)}) == 1


@each
def test_jobs_make_no_other_scorer(kind) -> None:
    one, two = kind(n_folds=5), kind(n_folds=5, n_jobs=2)
    assert one == two
    assert hash(one) == hash(two)


@each
@pytest.mark.parametrize(
    "change",
    [
        {"seed": 4},
        {"n_folds": 6},
        {"classifier": None},
        {"classifier": GaussianNB(var_smoothing=0.1)},
        {"classifier": LogisticRegression()},
    ],
    ids=str,
)
def test_other_settings_are_other_scorers(kind, change) -> None:
    one = kind(GaussianNB(), 5, 3)
    assert one != replace(one, **change)


def test_kinds_differ_though_all_settings_agree() -> None:
    scorers = [kind(GaussianNB(), 5, 3) for kind in KINDS]
    assert len(set(scorers)) == len(KINDS)
    assert PairScorer() != PairScorer(n_repeats=2)
    assert RawScorer() != PairScorer()
    assert PairScorer() != "PairScorer"


def test_classes_of_one_name_are_still_two() -> None:
    ours = PairScorer(GaussianNB(), 5, 3)

    @dataclass(frozen=True, eq=False)
    class PairScorerOfTheUser(PairScorer):
        pass

    PairScorerOfTheUser.__name__ = "PairScorer"
    assert PairScorerOfTheUser(GaussianNB(), 5, 3) != ours
    assert not PairScorerOfTheUser(GaussianNB(), 5, 3).serves(ours)


@each
def test_scorers_cannot_be_changed(kind) -> None:
    with pytest.raises(FrozenInstanceError):
        kind().seed = 1


# --- whose scores serve whom -----------------------------------------------------------------


def test_scores_serve_those_who_need_a_part() -> None:
    folds, none = PosteriorScorer(GaussianNB(), 5, 3), PosteriorScorer(GaussianNB(), None, 3)
    assert folds.serves(none)
    assert not none.serves(folds)
    pairs, two = PairScorer(GaussianNB(), 5, 3), TwoClassScorer(GaussianNB(), 5, 3)
    assert two.serves(pairs)
    assert not pairs.serves(two)
    assert not two.serves(replace(pairs, n_repeats=2))


@each
def test_every_scorer_serves_its_equals_alone(kind) -> None:
    one = kind(GaussianNB(), 5, 3)
    assert one.serves(replace(one, n_jobs=2))
    assert not one.serves(replace(one, seed=4))
    assert not one.serves(RawScorer())


@pytest.mark.parametrize(
    ("larger", "smaller", "estimator"),
    [
        (
            PosteriorScorer(GaussianNB(), 5, 3),
            PosteriorScorer(GaussianNB(), None, 3),
            unseen.ClassifyAndCount(),
        ),
        (
            TwoClassScorer(GaussianNB(), 5, 3),
            PairScorer(GaussianNB(), 5, 3),
            unseen.MPEIncomplete(),
        ),
    ],
    ids=["posteriors", "pairs"],
)
def test_scores_that_serve_give_the_same_answer(larger, smaller, estimator, labelled, samples):
    answers = [
        estimator.from_scores(scorer.score(labelled, samples[2])) for scorer in (larger, smaller)
    ]
    assert_array_equal(answers[0].proportions, answers[1].proportions)


def test_posteriors_without_folds_say_what_is_missing(labelled, samples) -> None:
    scores = PosteriorScorer(GaussianNB(), None).score(labelled, samples[2])
    assert scores.labelled is None
    with pytest.raises(ValueError, match="scores must hold the labelled rows too"):
        unseen.AdjustedCount().from_scores(scores)


# --- settings that depend on the rows --------------------------------------------------------


def test_folds_settle_by_the_number_of_rows_unless_given() -> None:
    assert OpenScorer().settled(4999).n_folds == 10
    assert OpenScorer().settled(5000).n_folds == 5
    assert OpenScorer(n_folds=7).settled(5000).n_folds == 7
    assert PairScorer().settled(5000) == PairScorer()


def test_a_classifier_without_posteriors_leaves_them_to_the_default() -> None:
    assert PairScorer(LinearSVC(), 5, 3).posterior_scorer() == PosteriorScorer(None, 5, 3)
    bayes = GaussianNB()
    assert PairScorer(bayes, 5, 3).posterior_scorer() == PosteriorScorer(bayes, 5, 3)
    assert PosteriorScorer(bayes, None, 3).posterior_scorer() == PosteriorScorer(bayes, 10, 3)


@each
def test_windows_get_the_scores_of_their_rows_alone(kind, labelled, samples) -> None:
    places = np.arange(10, 70)
    scorer = kind(GaussianNB(), 3, 5)
    posteriors = scorer.posterior_scorer().score(labelled, samples[2])
    part = scorer.pool(labelled, samples[2], posteriors).window(places)
    alone = scorer.score(labelled, samples[2][places])
    for found, expected in zip(arrays_of(part), arrays_of(alone), strict=True):
        assert_allclose(found, expected, atol=1e-12)


def test_windows_know_how_a_hidden_class_would_look(labelled, samples) -> None:
    """Without that, the interval of a window would be sharper than that of all rows."""
    scorer, X_new = OpenScorer(n_folds=3), samples[2]
    whole = scorer.score(labelled, X_new)
    part = scorer.pool(labelled, X_new, whole.posteriors).window(np.arange(10, 70))
    assert whole.hidden
    for (found, *_), (expected, *_) in zip(part.hidden, whole.hidden, strict=True):
        assert_allclose(np.concatenate(found), np.concatenate(expected))


def arrays_of(scores: Any) -> list[np.ndarray]:
    if hasattr(scores, "pairs"):
        return [array for pair in scores.pairs for array in pair]
    if hasattr(scores, "ratios") and not isinstance(scores.ratios, np.ndarray):
        return [scores.ratios.new, scores.ratios.labelled, scores.closed]
    return [scores.new, scores.labelled]


# --- nothing twice ---------------------------------------------------------------------------


def test_classify_and_count_fits_its_classifier_once(samples, fits) -> None:
    X, y, X_new = samples
    unseen.estimate(
        X, y, X_new, estimator=unseen.ClassifyAndCount(classifier=CountedNB()), confidence=None
    )
    assert fits == [len(y)]


@pytest.mark.parametrize("kind", [unseen.SaerensEM, unseen.AdjustedCount])
def test_folds_take_one_fit_each_and_the_new_rows_one(kind, samples, fits) -> None:
    X, y, X_new = samples
    unseen.estimate(X, y, X_new, estimator=kind(classifier=CountedNB(), n_folds=4), confidence=None)
    assert len(fits) == 5
    assert fits.count(len(y)) == 1


def test_an_estimate_solves_closed_set_em_once(samples, monkeypatch) -> None:
    """EM over weighted rows, of the open hypothesis and of replicates, is another problem."""
    from unseen.simplex import mixture_shares

    solved = []

    def counted(ratios, weights=None, *rest, **options):
        solved.append(weights is None)
        return mixture_shares(ratios, weights, *rest, **options)

    for module in ("scores.open", "proportions.closed_set.em"):
        monkeypatch.setattr(f"unseen.{module}.mixture_shares", counted)
    unseen.estimate(*samples, confidence=0.9, random_state=0)
    assert solved.count(True) == 1
    assert solved.count(False) >= 3


def test_the_base_asks_for_a_way_to_score() -> None:
    with pytest.raises(TypeError, match="abstract class Scorer"):
        Scorer()
