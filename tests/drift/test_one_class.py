"""One class among several may have moved alone."""

import json
from dataclasses import replace

import numpy as np
import pytest

import unseen
from unseen.drift import Drift, Tolerance, Without, moved_reading, weigh_three
from unseen.proportions.open_set import open_set_fit
from unseen.scores.signs import Departure, OneClass

CENTRES = 1.6 * np.random.default_rng(4).normal(size=(5, 6))


def rows_of(counts: list[int], seed: int) -> tuple[np.ndarray, np.ndarray]:
    codes = np.repeat(np.arange(len(counts)), counts)
    rows = CENTRES[codes] + np.random.default_rng(seed).normal(size=(len(codes), 6))
    return rows, codes


X, y = rows_of([100] * 4, 0)
LABELS = np.array(["a", "b", "c", "d"])[y]


def asked(X_new: np.ndarray) -> unseen.Estimate:
    return unseen.estimate(X, LABELS, X_new, confidence=0.95, random_state=0)


@pytest.mark.parametrize("moved", [0, 2])
def test_a_class_that_moved_is_no_sure_new_class(moved) -> None:
    X_new, codes = rows_of([80] * 4, 1)
    X_new[codes == moved] += 0.9 * np.array([1, -1, 1, 1, -1, -1])
    found = asked(X_new)
    assert found.drift.verdict == "unclear"
    assert found.drift.moved_class == "abcd"[moved]
    assert found.intervals[-1, 0] == 0
    assert "class_moved" in {notice.code for notice in found.notices}
    assert f"class {'abcd'[moved]} alone has moved" in found.sentence()
    assert json.loads(json.dumps(found.to_dict()))["drift"]["moved_class"] == "abcd"[moved]


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
def test_a_new_class_beside_known_ones_is_new(share) -> None:
    n_new = round(320 * share / (1 - share))
    found = asked(rows_of([80] * 4 + [n_new], 1)[0])
    assert (found.drift.verdict, found.drift.moved_class) == ("still", None)
    assert abs(found.unseen - share) < 0.05


@pytest.mark.parametrize(("far", "said"), [(0.6, ("unclear", "d")), (1.0, ("still", None))])
def test_a_new_class_in_the_place_of_a_known_one_is_taken_for_new(far, said) -> None:
    """Near the class both look the same; as far off as another class lies another class."""
    X_new, codes = rows_of([80, 80, 80, 0, 80], 1)
    X_new[codes == 4] -= (1 - far) * (CENTRES[4] - CENTRES[3])
    found = asked(X_new)
    assert abs(found.unseen - 0.25) < 0.06
    assert (found.drift.verdict, found.drift.moved_class) == said
    low, high = found.intervals[-1]
    assert low < 0.25 < high
    assert (low == 0) == (said[1] == "d")


def test_each_sign_speaks_for_a_class_that_moved() -> None:
    near, far = (Departure(distance, 0.8) for distance in (0.3, 1.2))
    one = OneClass(0, share=0.2, of_own=0.9, deserted=3.0, others=0.02, departure=near)
    for less in (
        {"deserted": -3.0},
        {"others": 0.3},
        {"departure": far},
        {"beside_others": 1.0},
    ):
        assert OneClass(**{**vars(one), **less}).log_odds < one.log_odds - 1
    assert OneClass(**{**vars(one), "departure": None}).log_odds == pytest.approx(
        -2.4 + 0.35 * 3 - 1.9 * np.log(0.12)
    )


def test_must_says_nothing_of_rows_that_another_answer_explains() -> None:
    limits = Tolerance(np.full(1, 0.01), np.full(1, 0.95))
    whole = Drift("moved", 0.97, limits, 0.98)
    again = Drift("moved", 0.97, limits, 0.98, without=Without(("s1",), 0.2, "still", (0.8,)))
    assert min(whole.must(1.0), whole.gamma) > 0.9
    assert (again.must(1.0), again.gamma) == (0, 0)
    assert "at least" not in again.sentence(None)


def test_a_column_that_moved_in_one_class_alone_is_not_left_out() -> None:
    """The rows of the class count as new, so that nothing is asked without a column."""
    X_new, codes = rows_of([80] * 4, 1)
    X_new[codes == 2, 0] += 3.0
    found = asked(X_new)
    assert (found.drift.moved_class, found.drift.without, found.drift.laid_back) == (
        "c",
        None,
        None,
    )


def read(X_new: np.ndarray, copies: int = 1) -> tuple:
    rows = np.repeat(X, copies, axis=0), np.repeat(LABELS, copies)
    estimator = unseen.OpenSetEstimator(random_state=0).fit(*rows)
    scores = estimator.scores(np.repeat(X_new, copies, axis=0))
    fit = open_set_fit(scores, 0.9)
    return fit, moved_reading(scores, fit)


def test_columns_that_are_read_wrongly_are_no_class_that_moved() -> None:
    X_new, codes = rows_of([80] * 4, 1)
    X_new[codes == 2] += 0.9 * np.array([1, -1, 1, 1, -1, -1])
    fit, reading = read(X_new)
    assert weigh_three(fit, reading, None).moved_class == 2
    outside = replace(reading, outside=0.7)
    told, without = (
        weigh_three(fit, one, None) for one in (outside, replace(outside, one_class=None))
    )
    assert told.moved_class is None
    assert told.probability_moved == without.probability_moved


@pytest.mark.filterwarnings("ignore::unseen.UnseenWarning")
def test_copies_are_no_evidence() -> None:
    X_new = rows_of([80] * 4 + [60], 1)[0]
    once, twice = (read(X_new, copies)[1].one_class for copies in (1, 2))
    assert twice.code == once.code == 3
    assert abs(twice.deserted - once.deserted) < 2 < abs(once.deserted)


def test_rows_that_could_show_no_class_leave_room_for_one() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), np.repeat(["a", "b", "c"], 30)
    X[:, 0] += 0.3 * np.repeat([0, 1, 2], 30)
    found = unseen.estimate(X, y, X[::2] + 0.01 * rng.normal(size=(45, 3)), random_state=0)
    assert found.detection_limit is None
    assert found.intervals[-1, 1] > 0.6
