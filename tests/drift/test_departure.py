"""How far new rows lie from known classes: a new class departs, a class that moved hardly does."""

from __future__ import annotations

from dataclasses import astuple, replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_matrix

from unseen import OpenSetEstimator
from unseen._types import FloatArray
from unseen.drift import Drift, Tolerance, drift_record, moved_reading, weigh_three
from unseen.drift.departure import departure_likelihood, departure_odds, new_likelihood
from unseen.drift.hypotheses import PROBABILITY_MOVED
from unseen.drift.lattice import SHARES
from unseen.mixture.placement import PlacementPosterior
from unseen.proportions.open_set import open_set_fit
from unseen.proportions.without import without_columns
from unseen.scores import OpenScores
from unseen.scores.moves import Departure, mean_departure


def two_classes(n_rows: int, gap: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    y = np.repeat([0, 1], n_rows)
    noise = np.random.default_rng(seed).normal(size=(2 * n_rows, 3))
    return noise + gap * np.array([1.0, 0.0, 0.0]) * y[:, None], y


def away(distance: float, separation: float = 0.8) -> Departure:
    return Departure(distance, separation)


@pytest.mark.parametrize("shift", [0.0, 0.5, 2.0])
def test_a_common_shift_departs_by_its_size_in_units_of_the_classes(shift) -> None:
    (X, y), (X_new, _) = two_classes(4000, 4.0), two_classes(4000, 4.0, seed=1)
    # Class means lie 2 from their middle; the other columns tell nothing, and do not count.
    moved = X_new + np.array([shift, 0.0, 0.0])
    assert_allclose(mean_departure(X, moved, y, y).distance, shift / 2, atol=0.03)
    aside = mean_departure(X, X_new + np.array([0.0, shift, shift]), y, y)
    assert_allclose(aside.distance, 0.0, atol=0.05)
    assert_allclose(aside.separation, 2 / np.sqrt(1 + 4), atol=0.02)


def test_neither_order_nor_units_nor_a_few_far_rows_change_it() -> None:
    X, y = two_classes(300, 3.0)
    X_new, y_new = X[::-1] + 0.7, y[::-1]
    found = mean_departure(X, X_new, y, y_new)
    unit = np.array([1e3, 1e-3, 1.0])
    same = (X * unit + 5, X_new * unit + 5), (csr_matrix(X), csr_matrix(X_new))
    for old, new in same:
        assert_allclose(astuple(mean_departure(old, new, y, y_new)), astuple(found))
    far = X_new.copy()
    far[:2] = 1e6
    assert_allclose(mean_departure(X, far, y, y_new).distance, found.distance, atol=0.05)


def test_one_class_is_measured_by_its_own_deviations() -> None:
    X, y = two_classes(4000, 0.0)
    one = np.zeros(len(y), dtype=int)
    moved = two_classes(4000, 0.0, seed=1)[0] + np.array([0.3, 0.3, 0.3])
    found = mean_departure(X, moved, one, one)
    assert_allclose(astuple(found), (0.3, 1.0), atol=0.05)
    constant = np.column_stack([X, np.ones(len(X))]), np.column_stack([moved, np.full(len(X), 9)])
    assert_allclose(astuple(mean_departure(*constant, one, one)), astuple(found))


def test_classes_without_new_rows_say_how_far_apart_classes_lie() -> None:
    X, y = two_classes(100, 3.0)
    assert mean_departure(X, X[:5], y, y[:5]) is None
    # New rows of one class of two are compared with the distance of both.
    assert_allclose(mean_departure(X, X[y == 0] + 3.0, y, y[y == 0]).distance, 2.0, atol=0.2)


def test_little_departure_speaks_for_moved_and_a_large_one_for_what_is_new() -> None:
    share = np.linspace(0.05, 0.3, 6)
    open_law = PlacementPosterior(share, np.full(6, 1 / 6), 50.0, 0.9, np.ones((1, 1)))
    nothing = np.append(1.0, np.zeros(len(SHARES) - 1))
    odds = [departure_odds(away(x), SHARES, nothing, open_law) for x in (0.05, 0.2, 0.9)]
    assert odds[0] > odds[1] > 0 > odds[2]


def test_classes_near_each_other_depart_by_much_when_they_move_by_little() -> None:
    nothing, all_new = np.eye(len(SHARES))[[0, -1]]
    posterior = PlacementPosterior(np.array([0.1]), np.ones(1), 50.0, 0.9, np.ones((1, 1)))
    near, apart = (departure_odds(away(0.8, gap), SHARES, nothing, posterior) for gap in (0.2, 0.9))
    assert apart < -1.5 < -0.5 < near
    # A class that is new is as far away in these units, however near classes lie.
    best = [departure_likelihood(away(1.1, gap), SHARES, 0.0).argmax() for gap in (0.2, 0.9)]
    assert best == [all_new.argmax()] * 2


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_the_likelihood_is_highest_near_the_share_that_makes_such_a_departure(share) -> None:
    grid = np.linspace(0, 1, 201)
    for move, without in ((0.0, 0.0), (0.12, 0.12 / 0.8 - 0.1)):
        best = grid[departure_likelihood(away(1.1 * share + without), grid, move).argmax()]
        assert_allclose(best, share, atol=0.01)


def test_the_law_is_wider_where_classes_lie_near_each_other() -> None:
    # Four times the usual distance: less of a surprise where the law is wider.
    near, apart = (departure_likelihood(away(1.1 * 4, gap), np.ones(1), 0.0) for gap in (0.2, 0.5))
    assert near > apart + 0.5


def test_the_separation_does_not_depend_on_the_shares_of_the_new_rows() -> None:
    X, y = two_classes(400, 3.0)
    few = np.concatenate([np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:20]])
    found = [mean_departure(X, X[rows], y, y[rows]).separation for rows in (few, np.arange(800))]
    assert_allclose(found[0], found[1])


def test_under_moved_the_sentence_gives_the_range() -> None:
    limits = Tolerance(np.zeros(0), np.zeros(0))
    moved = Drift("moved", 0.97, limits, 0.98)
    assert "Between 0% and 80% may be new." in moved.sentence(np.array([0.0, 0.8]))
    assert "cannot be told" in moved.sentence(None)


def test_a_large_move_is_no_proof_of_something_new() -> None:
    nothing, half = new_likelihood(away(0.7), np.array([0.0, 0.5]))
    usual = departure_likelihood(away(0.7), np.array([0.0, 0.5]), 0.12)
    assert half - nothing < np.log(3.5) < np.log(20) < usual[1] - usual[0]


def test_most_rows_new_and_none_moved_is_not_called_moved() -> None:
    rng = np.random.default_rng(2)
    centres = rng.normal(size=(3, 8)) * 1.3
    X, y = centres[np.repeat([0, 1], 60)] + rng.normal(size=(120, 8)), np.repeat([0, 1], 60)
    X_new = centres[np.repeat([0, 1, 2], [30, 30, 240])] + rng.normal(size=(300, 8))
    found = OpenSetEstimator(random_state=0).fit(X, y).estimate(X_new)
    assert found.drift.verdict != "moved"
    assert_allclose(found.unseen, 0.8, atol=0.1)


def test_without_a_column_that_moved_the_other_columns_are_the_answer() -> None:
    rng = np.random.default_rng(0)
    centres = 5 * rng.normal(size=(4, 9))
    X, y = centres[np.repeat([0, 1, 2], 60)] + rng.normal(size=(180, 9)), np.repeat([0, 1, 2], 60)
    X_new = centres[np.repeat([0, 1, 2, 3], 50)] + rng.normal(size=(200, 9))
    X_new[:, 4] += X[:, 4].std()
    fitted = OpenSetEstimator(random_state=0).fit(X, y)
    found, alone = fitted.estimate(X_new, confidence=0.95), fitted.from_scores(fitted.scores(X_new))
    without = found.drift.without
    assert found.drift.verdict == alone.drift.verdict != "still"
    assert (without.columns, without.verdict) == ((4,), "still")
    assert_allclose(without.unseen, 0.25, atol=0.02)
    kept = [0, 1, 2, 3, 5, 6, 7, 8]
    other = OpenSetEstimator(random_state=0).fit(X[:, kept], y).estimate(X_new[:, kept])
    assert_allclose([*found.proportions, found.unseen], [*other.proportions, other.unseen])
    probabilities = [one.diagnostics["probability_unseen"] for one in (found, other)]
    assert_allclose(*probabilities)
    low, high = found.intervals.T
    assert (low <= [*other.proportions, other.unseen]).all()
    assert low[-1] == 0 < 0.25 < high[-1] < 1
    assert [note.code for note in found.notices] == [note.code for note in alone.notices]
    too_far = replace(alone, drift=replace(alone.drift, far=True))
    told = without_columns(too_far, other, (4,))
    assert not told.drift.far
    assert told.pooled is other.pooled
    assert "Without column 4 nothing seems to have moved, and 2" in found.sentence()
    named = found.drift.named([f"s{place}" for place in range(9)])
    assert named.to_dict()["without"]["columns"] == ["s4"]


def test_columns_that_tell_no_classes_apart_have_no_answer_of_their_own() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = np.column_stack([6 * y + rng.normal(size=120), np.ones((120, 3))])
    found = OpenSetEstimator(random_state=0).fit(X, y).estimate(X + np.array([2.0, 0, 0, 0]))
    assert found.drift.verdict != "still"
    assert [name for name, _ in found.drift.columns] == [0]
    assert found.drift.without is None


@cache
def scores_of(n_classes: int) -> OpenScores:
    """Scores of rows of which all have moved, by one known class or two."""
    X, y = two_classes(80, 4.0)
    kept = y < n_classes
    return OpenSetEstimator(random_state=0).fit(X[kept], y[kept]).scores(X[kept] + 0.8)


def departed(scores: OpenScores, distance: float | None) -> OpenScores:
    departure = None if distance is None else away(distance)
    return replace(scores, moves=replace(scores.moves, departure=departure))


def test_the_farther_new_rows_depart_the_more_is_new_if_classes_moved() -> None:
    scores = scores_of(2)
    fit = open_set_fit(scores, 0.9)
    read = [moved_reading(departed(scores, x), fit) for x in (0.05, 0.4, 1.2)]
    assert read[0].log_new < read[1].log_new < read[2].log_new
    means = [one.probability @ SHARES for one in read]
    assert means[0] < means[1] < means[2]
    assert_allclose([one.probability.sum() for one in read], 1.0)
    assert moved_reading(departed(scores, None), fit).departure == 0.0


def test_a_large_departure_speaks_against_a_part_and_a_small_one_says_nothing() -> None:
    scores = scores_of(2)
    fit = open_set_fit(scores, 0.9)
    near, far = (moved_reading(departed(scores, x), fit) for x in (0.05, 1.2))
    assert near.part_departure > 0 > far.part_departure
    # Only a part is left to weigh against open where moved as a whole is out of the question.
    readings = [replace(near, departure=-50.0, part_departure=sign) for sign in (2.0, 0.0, -2.0)]
    odds = [logit_moved(weigh_three(fit, one, None).probability) for one in readings]
    assert_allclose(np.diff(odds), [0.0, -2.0], atol=1e-6)


def logit_moved(probability: FloatArray) -> float:
    """Log-odds of moved against open."""
    return float(np.log(probability[2] / probability[1]))


def test_one_class_is_said_to_have_moved_only_if_by_little() -> None:
    verdicts = [
        drift_record(departed(scores_of(n_classes), x), 0.95, 0.0, 0.9).verdict
        for n_classes in (1, 2)
        for x in (0.05, 0.5, None)
    ]
    assert verdicts == ["moved", "unclear", "unclear", "moved", "moved", "moved"]


def test_with_one_class_moved_starts_lower() -> None:
    for n_classes in (1, 2):
        fit = open_set_fit(scores_of(n_classes), 0.5)
        reading = moved_reading(scores_of(n_classes), fit)
        own, given = (
            weigh_three(fit, reading, prior).probability_moved
            for prior in (None, PROBABILITY_MOVED)
        )
        assert own < given if n_classes == 1 else own == given


def test_rows_that_all_lie_as_far_as_a_class_may_all_be_new() -> None:
    cases = list(product((0.3, 1.1), (0.5, 0.97), (0.0, 1.0)))

    def unclear(n_classes: int) -> set[tuple[float, ...]]:
        return {
            (distance, unlike, far)
            for distance, unlike, far in cases
            if drift_record(departed(scores_of(n_classes), distance), 0.95, far, unlike).verdict
            == "unclear"
        }

    assert unclear(2) == {(1.1, 0.97, 0.0)}
    assert unclear(1) == set(cases)


@pytest.mark.parametrize("apart", [1.2, 1.6, 2.0])
def test_rows_that_left_as_one_are_rather_new(apart: float) -> None:
    rng, y = np.random.default_rng(0), np.arange(300) % 6
    centres = apart * rng.normal(size=(7, 8))
    X = centres[y] + rng.normal(size=(300, 8))
    fitted = OpenSetEstimator(random_state=0).fit(X, y)
    found = fitted.estimate(centres[6] + rng.normal(size=(200, 8)), confidence=0.95)
    assert found.drift.verdict == "unclear"
    assert found.drift.rather_new
    assert found.unseen > 0.9
    assert found.intervals[-1, 0] == 0


def test_rows_of_many_classes_or_like_training_are_not_rather_new() -> None:
    doubtful = Drift("unclear", 0.95, Tolerance(np.zeros(0), np.zeros(0)), 0.98)
    for n_like, rather in ((0, False), (1, True), (2, True), (3, False)):
        found = replace(doubtful, displacement={k: 0.5 if k < n_like else None for k in range(6)})
        assert found.rather_new == rather
        assert not replace(found, unlike=0.7).rather_new
        assert not replace(found, verdict="moved").rather_new
        assert not replace(found, stray=0.5).rather_new
        assert not replace(found, part=0.5).rather_new
