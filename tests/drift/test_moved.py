"""The default under drift: known classes that moved are not called new."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import unseen
from unseen import Estimate, OpenSetEstimator
from unseen.drift import Drift
from unseen.drift.hypotheses import ThreeHypotheses, weigh_three
from unseen.drift.moved import moved_reading
from unseen.proportions.open_set import open_set_fit
from unseen.scores import OpenScores

KNOWN = 3
SPOILS = ("none", "offset", "gain", "one column")


def spoilt(X, sd, spoil) -> np.ndarray:
    rng = np.random.default_rng(5)
    if spoil == "offset":
        return X + rng.choice([-0.1, 0.1], X.shape[1]) * sd
    if spoil == "gain":
        return 1.05 * X
    if spoil == "one column":
        return X + np.where(np.arange(X.shape[1]) == 20, sd, 0.0)
    return X


@cache
def scores_of(spoil: str, unseen: float = 0.0) -> OpenScores:
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    rows = {digit: rng.permutation(np.flatnonzero(y == digit)) for digit in range(KNOWN + 1)}
    old = np.concatenate([rows[digit][:80] for digit in range(KNOWN)])
    n_unseen = int(270 * unseen)
    n_known = (270 - n_unseen) // KNOWN
    new = np.concatenate([rows[digit][80 : 80 + n_known] for digit in range(KNOWN)])
    new = np.concatenate([new, rows[KNOWN][:n_unseen]])
    X_new = spoilt(X[new], X[old].std(axis=0), spoil)
    return OpenSetEstimator(random_state=0).fit(X[old], y[old]).scores(X_new)


@cache
def estimate_of(spoil: str, unseen: float = 0.0, prior_moved: float | None = None) -> Estimate:
    estimator = OpenSetEstimator(prior_moved=prior_moved)
    return estimator.from_scores(scores_of(spoil, unseen), confidence=0.95)


@pytest.mark.parametrize("spoil", SPOILS[1:])
def test_known_classes_that_moved_are_not_called_new(spoil) -> None:
    assert estimate_of(spoil, prior_moved=0.0).unseen > 0.5
    found = estimate_of(spoil)
    assert found.drift.verdict != "still"
    assert found.unseen <= 0.1
    assert_allclose(found.proportions, 1 / 3, atol=0.05)
    assert found.intervals[-1, 0] == 0.0
    assert {notice.code for notice in found.notices} & {"moved", "moved_unclear"}
    assert "bayes_factor" not in found.diagnostics


@pytest.mark.parametrize("unseen", [0.0, 0.2])
def test_without_drift_the_answer_stays(unseen) -> None:
    found, two = estimate_of("none", unseen), estimate_of("none", unseen, prior_moved=0.0)
    assert found.drift.verdict == "still"
    assert_allclose(found.unseen, two.unseen, atol=0.02)
    assert_allclose(found.proportions, two.proportions, atol=0.02)
    assert not {notice.code for notice in found.notices} & {"moved", "moved_unclear"}
    assert "moved" not in found.sentence()


def test_a_prior_of_zero_does_not_ask() -> None:
    found = estimate_of("offset", prior_moved=0.0)
    assert found.drift is None
    assert set(found.diagnostics) == {"probability_unseen", "bayes_factor"}
    scores = scores_of("offset")
    fit = open_set_fit(scores, 0.9)
    assert_allclose([*found.proportions, found.unseen], fit.shares, rtol=1e-12)
    reading = OpenSetEstimator(prior_moved=0.0).read(scores)
    assert_allclose(reading.expected, fit.expected, rtol=1e-12)
    nu = fit.posterior.quantile(np.random.default_rng(7).random(30))
    assert_array_equal(reading.replicates(30, 7)[:, -1] == 0, nu == 1)


@pytest.mark.parametrize(("spoil", "unseen"), [("none", 0.2), *((spoil, 0.0) for spoil in SPOILS)])
def test_shares_limits_and_laws_are_sound(spoil, unseen) -> None:
    found = estimate_of(spoil, unseen)
    shares = np.append(found.proportions, found.unseen)
    assert (shares >= 0).all()
    assert_allclose(shares.sum(), 1.0)
    low, high = found.intervals.T
    assert (low <= shares + 1e-12).all()
    assert (shares <= high + 1e-12).all()
    assert found.drift.must(1.0) <= high[-1]
    reading = OpenSetEstimator().read(scores_of(spoil, unseen))
    draws = reading.replicates(50, 0)
    assert (draws >= 0).all()
    assert_allclose(draws.sum(axis=1), 1.0)
    assert_array_equal(draws, reading.replicates(50, 0))
    assert_allclose(reading.expected.sum(), 1.0)
    assert_allclose(reading.three.mixtures.sum(axis=1), 1.0)
    assert 0 <= found.diagnostics["probability_unseen"] <= 1


def test_a_shifted_column_is_named() -> None:
    column, shift = estimate_of("one column").drift.columns[0]
    assert column == 20
    assert 0.6 < shift < 1.4
    assert "column 20" in estimate_of("one column").sentence()


def test_a_higher_prior_makes_moved_more_probable() -> None:
    moved = [estimate_of("none", 0.2, prior).drift.probability_moved for prior in (0.05, 0.5, 0.95)]
    assert moved == sorted(moved)
    assert moved[0] < moved[2]


def test_the_record_is_plain_in_json() -> None:
    found = estimate_of("offset").to_dict()["drift"]
    assert json.loads(json.dumps(found)) == found
    assert [one["factor"] for one in found["must"]] == [1.0, 2.0, 3.0, 5.0]
    assert len(found["displacement"]) == KNOWN


@pytest.mark.parametrize("given", [True, False])
def test_sentences_by_verdict_claim_no_certainty(given) -> None:
    limits = estimate_of("offset").drift.tolerance
    interval = np.array([0.0, 0.6]) if given else None
    moved = Drift("moved", 0.99, limits, 0.97).sentence(interval)
    assert moved.startswith("Hardly any new row looks as rows did in training: the known classes")
    far = Drift("moved", 0.99, limits, 0.97, far=True).sentence(interval)
    assert "too far to tell" in far
    unclear = Drift("unclear", 0.5, limits, 0.4).sentence(interval)
    assert unclear.startswith("About 40% of the new rows look unlike training. Whether they are")
    assert ("60%" in unclear) == given
    for verdict in ("moved", "unclear"):
        assert Drift(verdict, 0.9, limits, 0.0).sentence(interval).startswith("Some of the new")


@pytest.mark.parametrize("kind", ["sparse", "wide", "own classifier", "one class"])
def test_other_rows_and_classifiers_have_a_verdict(kind) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(160, 5)), np.repeat([0, 1], 80)
    X[y == 1] += 3
    X_new = X + 0.5 + rng.normal(0, 1, X.shape) * 0.1
    if kind == "sparse":
        X, X_new = csr_matrix(X), csr_matrix(X_new)
    if kind == "wide":
        X, X_new = (np.hstack([rows, np.zeros((160, 2000))]) for rows in (X, X_new))
    if kind == "one class":
        y = np.zeros(160)
    classifier = LogisticRegression() if kind == "own classifier" else None
    estimator = OpenSetEstimator(classifier=classifier, random_state=0, n_folds=3)
    found = estimator.fit(X, y).estimate(X_new, confidence=0.9)
    assert found.drift.verdict in ("still", "unclear", "moved")
    if kind == "wide":
        assert found.drift.columns == ()
        assert set(found.drift.displacement.values()) == {None}
    if kind == "own classifier":
        assert found.drift.must(1.0) == 0.0


def test_draws_follow_the_law() -> None:
    law = ThreeHypotheses(
        probability=np.array([0.5, 0.3, 0.2]),
        mixtures=np.full((3, 2), 0.5),
        points=np.array([0.0, 0.4, 0.6, 0.0, 0.8]),
        weight=np.array([0.5, 0.1, 0.2, 0.1, 0.1]),
        wide_points=np.array([0.0, 0.4, 0.6, 0.0, 0.8]),
        wide=np.array([0.5, 0.1, 0.2, 0.1, 0.1]),
        part=np.array([0, 1, 1, 2, 2]),
        probability_moved=0.2,
    )
    u, part = law.draws(20_000, np.random.default_rng(0))
    assert_allclose(np.bincount(part) / 20_000, law.probability, atol=0.015)
    assert (u[part == 0] == 0).all()
    assert 0.4 <= u[part == 1].min() <= u[part == 1].max() <= 0.6
    assert law.probability_unseen == pytest.approx(0.4)
    assert law.shares[-1] == 0.0
    assert_allclose(law.expected, [0.38, 0.38, 0.24])
    # The known shares of "moved" count where it is the likelier.
    apart = replace(law, mixtures=np.array([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9]]))
    assert_allclose(apart.shares, [0.9, 0.1, 0.0])
    likely = replace(apart, probability=np.array([0.2, 0.2, 0.6]))
    assert_allclose(likely.shares, [0.42, 0.58, 0.0])


@cache
def one_class(shift: float) -> OpenScores:
    rng = np.random.default_rng(0)
    X, X_new = rng.normal(size=(150, 5)), rng.normal(shift, 1, (200, 5))
    return OpenSetEstimator(random_state=0, n_folds=3).fit(X, np.zeros(150)).scores(X_new)


@pytest.mark.parametrize("shift", [0.0, 0.4, 0.8])
def test_with_one_known_class_the_shares_follow_only_a_sure_move(shift) -> None:
    scores = one_class(shift)
    found = OpenSetEstimator().from_scores(scores, confidence=0.95)
    two = OpenSetEstimator(prior_moved=0.0).from_scores(scores, confidence=0.95)
    assert (found.drift.verdict == "still") == (shift == 0)
    if found.drift.verdict != "moved":
        assert found.unseen == two.unseen
    if shift > 0:
        assert two.intervals[-1, 0] > 0 == found.intervals[-1, 0]


def read_wrongly(X, way) -> np.ndarray:
    X = X.copy()
    if way == "another unit":
        X[:, 2] *= 1000
    elif way == "exchanged":
        X[:, [0, 4]] = X[:, [4, 0]]
    elif way == "a gain of 10%":
        X *= 1.1
    return X


@pytest.mark.parametrize("way", ["another unit", "exchanged", "a gain of 10%"])
@pytest.mark.parametrize("n_rows", [40, 120])
def test_a_column_that_is_read_wrongly_is_no_sure_new_class(way, n_rows) -> None:
    """All rows jump by many deviations in a column or two, and look like one class."""
    rng = np.random.default_rng(3)
    centres = rng.normal(0, 2, (4, 6)) + np.array([1, 5, 30, 0, 200, 2])
    X, X_new = (np.repeat(centres, n_rows, axis=0) + rng.normal(size=(4 * n_rows, 6)) for _ in "ab")
    y = np.repeat([*"abcd"], n_rows)
    given = {"confidence": 0.95, "random_state": 0}
    found = unseen.estimate(X, y, read_wrongly(X_new, way), **given)
    assert found.drift.verdict != "still"
    assert found.intervals[-1, 0] <= 0.01
    low, high = found.intervals[:-1].T
    assert (low <= 0.25).all()
    assert (high >= 0.25).all()
    assert unseen.estimate(X, y, X_new, **given).drift.verdict == "still"


def test_rows_beyond_all_labelled_values_put_a_new_class_in_doubt() -> None:
    """Where most lie outside in a column, moved has 0.3 against open, and knows nothing of u."""
    scores = scores_of("none", 0.4)
    fit = open_set_fit(scores, 0.9)
    reading = replace(moved_reading(scores, fit), outside=0.55)
    inside, outside = (
        weigh_three(fit, replace(reading, outside=share), None) for share in (0.55, 0.65)
    )
    assert not inside.read_wrongly
    assert outside.read_wrongly
    of_open, of_moved = outside.probability[1:]
    assert_allclose(of_moved / (of_open + of_moved), 0.3)
    at_none = [
        law.weight[(law.part == 2) & (law.points == 0)].sum() / law.weight[law.part == 2].sum()
        for law in (inside, outside)
    ]
    assert at_none[0] < 0.2
    assert at_none[1] > 0.5
