"""Signs of known classes that moved: what rows look like, how surely, and how far they lie."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_matrix

from unseen import OpenSetEstimator
from unseen.datasets import load_dataset
from unseen.drift import Drift, Tolerance, drift_record, moved_reading, weigh_three
from unseen.drift.hypotheses import PROBABILITY_MOVED
from unseen.drift.moved import SHARES
from unseen.proportions.again import taken_over
from unseen.proportions.open_set import open_set_fit
from unseen.samples import LabelledRows
from unseen.scores import OpenScores
from unseen.scores.moves import class_shifts
from unseen.scores.part import MovedPart, StrayValues
from unseen.scores.signs import (
    Departure,
    Laid,
    Signs,
    evenness,
    mean_departure,
    sureness,
    variety,
)


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


def numbers(found: Departure) -> list[float]:
    return [found.distance, found.separation, *found.by_class]


def test_neither_order_nor_units_nor_a_few_far_rows_change_it() -> None:
    X, y = two_classes(300, 3.0)
    X_new, y_new = X[::-1] + 0.7, y[::-1]
    found = mean_departure(X, X_new, y, y_new)
    unit = np.array([1e3, 1e-3, 1.0])
    same = (X * unit + 5, X_new * unit + 5), (csr_matrix(X), csr_matrix(X_new))
    for old, new in same:
        assert_allclose(numbers(mean_departure(old, new, y, y_new)), numbers(found))
    far = X_new.copy()
    far[:2] = 1e6
    assert_allclose(mean_departure(X, far, y, y_new).distance, found.distance, atol=0.05)


def test_one_class_is_measured_by_its_own_deviations() -> None:
    X, y = two_classes(4000, 0.0)
    one = np.zeros(len(y), dtype=int)
    moved = two_classes(4000, 0.0, seed=1)[0] + np.array([0.3, 0.3, 0.3])
    found = mean_departure(X, moved, one, one)
    assert_allclose(numbers(found), (0.3, 1.0, 0.3), atol=0.05)
    constant = np.column_stack([X, np.ones(len(X))]), np.column_stack([moved, np.full(len(X), 9)])
    assert_allclose(numbers(mean_departure(*constant, one, one)), numbers(found))


def test_classes_without_new_rows_say_how_far_apart_classes_lie() -> None:
    X, y = two_classes(100, 3.0)
    assert mean_departure(X, X[:5], y, y[:5]) is None
    # New rows of one class of two are compared with the distance of both.
    assert_allclose(mean_departure(X, X[y == 0] + 3.0, y, y[y == 0]).distance, 2.0, atol=0.2)


def test_little_departure_speaks_for_moved_and_a_large_one_for_what_is_new() -> None:
    share = np.linspace(0.05, 0.3, 6)
    nothing = np.append(1.0, np.zeros(len(SHARES) - 1))
    laws = (SHARES, nothing), (1 - share, np.full(6, 1 / 6))
    odds = [away(x).log_odds(*laws) for x in (0.05, 0.2, 0.9)]
    assert odds[0] > odds[1] > 0 > odds[2]


def test_classes_near_each_other_depart_by_much_when_they_move_by_little() -> None:
    nothing, all_new = np.eye(len(SHARES))[[0, -1]]
    laws = (SHARES, nothing), (np.array([0.9]), np.ones(1))
    near, apart = (away(0.8, gap).log_odds(*laws) for gap in (0.2, 0.9))
    assert apart < -1.5 < -0.5 < near
    # A class that is new is as far away in these units, however near classes lie.
    best = [away(1.1, gap).log_likelihood(SHARES, 0.0).argmax() for gap in (0.2, 0.9)]
    assert best == [all_new.argmax()] * 2


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_the_likelihood_is_highest_near_the_share_that_makes_such_a_departure(share) -> None:
    grid = np.linspace(0, 1, 201)
    for move, without in ((0.0, 0.0), (0.12, 0.12 / 0.8 - 0.1)):
        best = grid[away(1.1 * share + without).log_likelihood(grid, move).argmax()]
        assert_allclose(best, share, atol=0.01)


def test_the_law_is_wider_where_classes_lie_near_each_other() -> None:
    # Four times the usual distance: less of a surprise where the law is wider.
    near, apart = (away(1.1 * 4, gap).log_likelihood(np.ones(1), 0.0) for gap in (0.2, 0.5))
    assert near > apart + 0.5


def test_the_separation_does_not_depend_on_the_shares_of_the_new_rows() -> None:
    X, y = two_classes(400, 3.0)
    few = np.concatenate([np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:20]])
    found = [mean_departure(X, X[rows], y, y[rows]).separation for rows in (few, np.arange(800))]
    assert_allclose(found[0], found[1])


def test_shifts_are_in_deviations_of_the_column_and_have_standard_errors() -> None:
    rows, one = 3 * np.random.default_rng(0).normal(size=(400, 2)), np.zeros(400, dtype=int)
    sample = LabelledRows(rows, np.array(["a"]), one)
    shift, error = class_shifts(sample, rows + np.array([1.5, 0.0]), one)
    assert_allclose(shift, [[0.5, 0.0]], atol=0.03)
    assert_allclose(error, np.full((1, 2), np.sqrt(2 / 400)), rtol=1e-6)


def test_under_moved_the_sentence_gives_the_range() -> None:
    limits = Tolerance(np.zeros(0), np.zeros(0))
    moved = Drift("moved", 0.97, limits, 0.98)
    assert "Between 0% and 80% may be new." in moved.sentence(np.array([0.0, 0.8]))
    assert "cannot be told" in moved.sentence(None)


def test_a_large_move_is_no_proof_of_something_new() -> None:
    nothing, half = away(0.7).log_likelihood_if_moved(np.array([0.0, 0.5]))
    usual = away(0.7).log_likelihood(np.array([0.0, 0.5]), 0.12)
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
    told = taken_over(too_far, other, replace(too_far.drift, without=without))
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
    assert moved_reading(departed(scores, None), fit).signs.departure == 0.0


def test_the_farther_laid_rows_stay_apart_the_more_is_new_if_classes_moved() -> None:
    scores = departed(scores_of(2), None)
    fit = open_set_fit(scores, 0.9)
    laid = [replace(scores.moves, laid=Laid(x, 0.9)) for x in (0.5, 0.6, 0.85)]
    read = [moved_reading(replace(scores, moves=moves), fit) for moves in laid]
    assert read[0].log_new < read[1].log_new < read[2].log_new
    means = [one.probability @ SHARES for one in read]
    assert means[0] < means[1] < means[2]
    assert read[0].signs.laid > read[1].signs.laid > read[2].signs.laid


def test_a_part_that_moved_has_the_signs_of_rows_and_no_others() -> None:
    none = Signs(0.0, 0.0)
    assert none.log_odds_of_part == 0.0
    for name, weight in (("evenness", 0.49), ("variety", 5.5), ("sureness", 4.9), ("part", 1.0)):
        assert replace(none, **{name: 1.0}).log_odds_of_part == pytest.approx(weight)
    whole = Signs(9.0, 0.0, departure=9.0, laid=9.0, beyond=9.0)
    assert whole.log_odds_of_part == 0.0
    scores = scores_of(2)
    part = replace(scores.moves, part=MovedPart(np.arange(160) < 40, 2.5))
    read = moved_reading(replace(scores, moves=part), open_set_fit(scores, 0.9))
    assert read.signs.part == 2.5


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


@pytest.mark.parametrize("apart", [1.2, 1.6, 2.0])
def test_rows_that_left_as_one_may_all_be_new(apart: float) -> None:
    rng, y = np.random.default_rng(0), np.arange(300) % 6
    centres = apart * rng.normal(size=(7, 8))
    X = centres[y] + rng.normal(size=(300, 8))
    fitted = OpenSetEstimator(random_state=0).fit(X, y)
    found = fitted.estimate(centres[6] + rng.normal(size=(200, 8)), confidence=0.95)
    assert found.drift.verdict == "unclear"
    assert found.intervals[-1].tolist() == pytest.approx([0.0, 1.0], abs=0.02)


def test_doubt_is_the_share_of_pairs_of_a_class_in_which_the_labelled_row_is_surer() -> None:
    rng = np.random.default_rng(0)
    new, labelled = rng.dirichlet([1, 1, 1], 40), rng.dirichlet([0.3, 0.3, 0.3], 60)
    new[:5] = labelled[:5]  # ties count half
    first, second = (
        np.log(np.sort(rows)[:, -1] / np.sort(rows)[:, -2].clip(1e-6)) for rows in (new, labelled)
    )
    surer = (second > first[:, None]) + 0.5 * (second == first[:, None])
    same = new.argmax(1)[:, None] == labelled.argmax(1)
    doubt = ((surer * same).sum(1) / same.sum(1)).mean()
    assert_allclose(sureness(new, labelled), 0.5 - doubt)
    assert_allclose(sureness(labelled, labelled), 0.0, atol=1e-12)


def test_sureness_does_not_depend_on_how_common_classes_are() -> None:
    rng = np.random.default_rng(0)
    posteriors = rng.dirichlet([0.4, 0.4, 2.0], 300)
    alike = posteriors.argmax(1) == 2
    assert sureness(posteriors[alike], posteriors) == 0.0
    assert sureness(np.eye(3)[[0, 1]], posteriors[alike]) == 0.0  # nothing to compare with


def test_unseen_rows_that_look_like_many_classes_speak_for_moved_and_like_one_for_new() -> None:
    even, one, unseen = np.arange(60) % 6, np.zeros(60, dtype=int), np.zeros(60)
    assert_allclose(variety(even, unseen, 6), 2 / 3 * np.log(6) / 3)
    assert_allclose(variety(one, unseen, 6), -2 / 3 * np.log(6) * 2 / 3)
    assert_allclose(variety(np.arange(60) % 4, unseen, 8), 0.0, atol=1e-12)  # 4 of 8
    assert variety(one, unseen, 2) == variety(even % 2, unseen, 2) == 0.0
    # Rows that look known do not count, whatever they look like.
    known = np.where(even == 1, 0.0, 1.0)
    assert_allclose(variety(even, known, 6), -2 / 3 * np.log(6) * 2 / 3, atol=1e-6)


def test_every_sign_has_the_weight_of_its_own() -> None:
    none = Signs(0.0, 0.0)
    weights = {
        "discriminators": 0.3, "evenness": 0.49, "departure": 0.74, "variety": 5.5,
        "sureness": 4.9, "laid": 1.4, "beyond": 1.0, "part": 0.0,
    }  # fmt: skip
    assert set(weights) == {one.name for one in fields(Signs)}
    assert none.log_odds == 0.0
    for name, weight in weights.items():
        assert replace(none, **{name: 1.0}).log_odds == pytest.approx(weight)


def test_one_class_has_two_signs() -> None:
    alone = moved_reading(scores_of(1), open_set_fit(scores_of(1), 0.5)).signs
    assert replace(alone, discriminators=0.0, evenness=0.0) == Signs(0.0, 0.0)
    fit = open_set_fit(scores_of(2), 0.9)
    several, posteriors = moved_reading(scores_of(2), fit).signs, scores_of(2).posteriors
    like = posteriors.new.argmax(1)
    assert_allclose(several.sureness, sureness(posteriors.new, posteriors.of_labelled))
    assert_allclose(several.evenness, evenness(like, fit.known))
    assert several.variety == variety(like, fit.known, 2) == 0.0
    u_open = 1 - fit.posterior.open_quantile(0.5)
    assert several.laid == scores_of(2).moves.laid.sign(u_open) != 0.0


def test_rows_beyond_any_class_have_moved_where_nearly_all_look_unseen() -> None:
    laid = [Laid(0.9, 0.9, times) for times in (1.5, 2.0, 3.5)]
    for n_known, u_open, said in ((5, 0.9, [0, 20, 20]), (2, 0.9, [0, 0, 20]), (5, 0.7, [0, 0, 0])):
        assert [one.beyond(n_known, u_open) for one in laid] == said
    assert Laid().beyond(5, 0.9) == 0.0


def test_rows_that_lie_as_far_as_a_class_may_all_be_new() -> None:
    """Unless they moved too far to tell, or many rows look like training."""
    verdicts = [
        drift_record(departed(scores_of(2), x), 0.95, far, unlike).verdict
        for x, far, unlike in ((0.7, 0.0, 0.9), (0.9, 0.0, 0.9), (0.9, 1.0, 0.9), (0.9, 0.0, 0.7))
    ]
    assert verdicts == ["moved", "unclear", "moved", "moved"]


def test_rows_far_off_are_taken_for_a_class_where_moved_is_not_sure() -> None:
    def taken(x=1.1, probability=0.5, far=0.0, unlike=0.9, n_classes=2) -> bool:
        scores = departed(scores_of(n_classes), x)
        return drift_record(scores, probability, far, unlike).as_class

    assert taken()
    assert not taken(x=0.9)
    assert not taken(unlike=0.7)
    assert not taken(far=1.0)
    assert not taken(probability=0.9)  # moved is sure
    assert not taken(probability=0.1)  # still: nothing moved, and nothing is unclear
    assert not taken(n_classes=1)
    assert not taken(x=None)
    moves = departed(scores_of(2), 1.2).moves
    stray = StrayValues(np.ones(200, dtype=bool), (1,), 1.0)
    strays = replace(scores_of(2), moves=replace(moves, stray=stray))
    assert not drift_record(strays, 0.5, 0.0, 0.9).as_class


@pytest.mark.filterwarnings("ignore:.*repeat other ones:unseen.UnseenWarning")
def test_a_sample_of_new_rows_alone_is_found_and_left_in_doubt() -> None:
    """99% of the rows are of the third class of dna, between the known two: not laid onto them."""
    data, rng = load_dataset("dna"), np.random.default_rng(0)
    rows = {label: rng.permutation(np.flatnonzero(data.y == label)) for label in np.unique(data.y)}
    hidden = data.unobserved
    first, second = (rows[label] for label in rows if label != hidden)
    old = np.concatenate([first[:200], second[:200]])
    new = np.concatenate([rows[hidden][:396], first[200:202], second[200:202]])
    estimator = OpenSetEstimator(random_state=0).fit(data.X[old], data.y[old])
    found = estimator.estimate(data.X[new], confidence=0.95)
    assert found.drift.verdict == "unclear"
    assert found.drift.as_class
    assert found.drift.laid_back is None
    assert found.unseen == found.drift.unlike
    assert_allclose(found.unseen, 0.99, atol=0.03)
    assert_allclose(found.intervals[-1], [0.0, 1.0], atol=0.02)
    (told,) = found.drift.notices
    assert (told.code, json.loads(json.dumps(found.to_dict()))["drift"]["as_class"]) == (
        "moved_unclear",
        True,
    )
    assert "take them for new" in told.text


def test_evenness_is_of_the_class_in_which_least_looks_unseen() -> None:
    like = np.repeat([0, 1, 2], [60, 38, 2])
    known = np.where(like == 0, 0.3, 0.6)
    assert_allclose(evenness(like, known), np.log(0.4 / 0.6))
    # Two rows of a hundred are too few to say how evenly classes look unseen.
    assert_allclose(evenness(like, np.where(like == 2, 1.0, known)), np.log(0.4 / 0.6))
    assert_allclose(evenness(np.arange(100), np.linspace(0, 0.9, 100)), np.log(0.1 / 0.9))
    # However sure rows are, the odds stay finite.
    assert_allclose(evenness(like, np.ones(100)), np.log(0.005 / 0.995))
    assert_allclose(evenness(like, np.zeros(100)), np.log(0.995 / 0.005))
