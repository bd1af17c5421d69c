"""The question asked again, of rows laid back onto labelled ones."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from unseen import OpenSetEstimator
from unseen.drift import LaidBack, Without
from unseen.proportions.again import asked_again, reaching, taken_over

CENTRES = 2.5 * np.random.default_rng(5).normal(size=(5, 8))
FACTOR, SHIFT = np.linspace(0.8, 1.3, 8), np.linspace(-0.8, 0.8, 8)


def rows_of(counts: list[int], seed: int) -> tuple[np.ndarray, np.ndarray]:
    codes = np.repeat(np.arange(len(counts)), counts)
    return CENTRES[codes] + np.random.default_rng(seed).normal(size=(len(codes), 8)), codes


X, y = rows_of([80, 80, 80, 80], 0)


@pytest.fixture(scope="module")
def moved():
    X_new = rows_of([90, 30, 60, 60, 60], 1)[0] * FACTOR + SHIFT
    estimator = OpenSetEstimator(random_state=0).fit(X, y)
    return estimator, X_new, estimator.estimate(X_new, confidence=0.95)


def test_where_classes_moved_the_rows_laid_back_are_the_answer(moved) -> None:
    estimator, X_new, found = moved
    drift = found.drift
    assert (drift.verdict, drift.laid_back.verdict) == ("moved", "still")
    assert drift.answered is drift.laid_back
    assert_allclose([*found.proportions, found.unseen], [0.3, 0.1, 0.2, 0.2, 0.2], atol=0.05)
    assert drift.laid_back.unseen == found.unseen
    assert_array_equal(drift.laid_back.proportions, found.proportions)
    alone = estimator.from_scores(estimator.scores(X_new), confidence=0.95)
    assert alone.drift.laid_back is None
    assert (found.intervals[-1] <= [0.0, alone.intervals[-1, 1]]).all()
    assert found.intervals[-1, 1] > 0.2
    assert_allclose(drift.laid_back.shift, np.sqrt(np.mean((SHIFT / X.std(axis=0)) ** 2)), rtol=0.5)


def test_sentences_and_notices_say_whose_shares_they_are(moved) -> None:
    found = moved[2]
    assert "Once a shift and a factor are taken off each column" in found.sentence()
    (told,) = (one.text for one in found.drift.notices if one.code == "moved")
    assert "the shares are those of the rows once a shift and a factor" in told
    assert found.to_dict()["drift"]["laid_back"]["shift"] == found.drift.laid_back.shift


def test_sparse_rows_are_laid_back_too(moved) -> None:
    _, X_new, found = moved
    estimator = OpenSetEstimator(random_state=0).fit(sparse.csr_array(X), y)
    again = estimator.estimate(sparse.csr_array(X_new))
    assert_allclose(again.unseen, found.unseen, atol=0.02)


def test_rows_that_stayed_are_asked_once() -> None:
    stayed = OpenSetEstimator(random_state=0).fit(X, y).estimate(rows_of([50] * 4, 2)[0])
    assert stayed.drift.verdict == "still"
    assert stayed.drift.laid_back is None


def test_rows_of_several_classes_are_laid_back_where_moved_is_the_likelier(moved) -> None:
    estimator, X_new, _ = moved
    one = OpenSetEstimator(random_state=0).fit(X[:80], y[:80])
    for fitted, probability, asked in (
        (estimator, 0.6, True),
        (estimator, 0.4, False),
        (one, 0.9, False),
    ):
        alone = fitted.from_scores(fitted.scores(X_new))
        drift = replace(alone.drift, verdict="unclear", columns=(), probability_moved=probability)
        told = asked_again(fitted, fitted.labelled_, replace(alone, drift=drift), X_new)
        assert (told.drift.laid_back is not None) == asked


def test_an_answer_that_moved_too_is_only_noted(moved) -> None:
    found = moved[2]
    noted = replace(found.drift, laid_back=LaidBack(0.5, 0.4, "unclear", (0.1,) * 4))
    told = taken_over(found, found, noted)
    assert told.drift is noted
    assert told.drift.answered is None
    assert_array_equal(told.proportions, found.proportions)


def test_the_answer_of_other_columns_goes_first() -> None:
    without, laid = Without((1,), 0.1, "still"), LaidBack(0.5, 0.2, "still")
    stayed = OpenSetEstimator(random_state=0).fit(X, y).estimate(rows_of([50] * 4, 2)[0]).drift
    assert replace(stayed, without=without, laid_back=laid).answered is without
    doubted = replace(without, verdict="unclear")
    assert replace(stayed, without=doubted, laid_back=laid).answered is laid
    assert stayed.answered is None


def test_columns_that_moved_are_left_out_if_the_others_would_show_the_share() -> None:
    rng = np.random.default_rng(0)
    centres = 5 * rng.normal(size=(4, 9))
    known, labels = centres[np.repeat([0, 1, 2], 60)], np.repeat([0, 1, 2], 60)
    labelled = known + rng.normal(size=(180, 9))
    X_new = centres[np.repeat([0, 1, 2, 3], 50)] + rng.normal(size=(200, 9))
    X_new[:, 4] += labelled[:, 4].std()
    fitted = OpenSetEstimator(random_state=0).fit(labelled, labels)
    alone = fitted.from_scores(fitted.scores(X_new))
    for unlike, stray, asked in ((0.9, (), True), (0.001, (), False), (0.001, (4,), True)):
        drift = replace(alone.drift, unlike=unlike, stray_columns=stray, probability_moved=0.4)
        told = asked_again(fitted, fitted.labelled_, replace(alone, drift=drift), X_new)
        assert (told.drift.without is not None) == asked


def test_intervals_go_halfway() -> None:
    own, doubtful = np.array([[0.4, 0.6], [0.1, 0.2]]), np.array([[0.5, 0.9], [0.0, 0.8]])
    assert_allclose(reaching(own, doubtful), [[0.4, 0.75], [0.0, 0.5]])
    assert_allclose(reaching(own, doubtful, 1.0), [[0.4, 0.9], [0.0, 0.8]])


def test_under_unclear_intervals_of_rows_laid_back_hold_both(moved) -> None:
    found = moved[2]
    doubtful = replace(
        found,
        drift=replace(found.drift, verdict="unclear", laid_back=None),
        intervals=np.array([[0.0, 1.0]] * 5),
    )
    drift = replace(doubtful.drift, laid_back=found.drift.laid_back)
    assert_array_equal(taken_over(doubtful, found, drift).intervals, doubtful.intervals)
