"""Rows that moved together look like the others once they are laid back; a new class does not."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.utils import shuffle

import unseen
from unseen.samples import LabelledRows
from unseen.scores.part import MovedPart, _all_and_most, moved_part

DIGITS, DIGIT = shuffle(*load_digits(return_X_y=True), random_state=0)  # by writer otherwise
HALF = np.arange(500) % 2 == 1


def sample_of(own: np.ndarray) -> LabelledRows:
    classes, codes = np.unique(DIGIT[own], return_inverse=True)
    return LabelledRows(DIGITS[own], classes, codes)


def found(new: np.ndarray, looks_new: np.ndarray, classes: int = 10) -> MovedPart:
    labelled = sample_of(np.flatnonzero(DIGIT[:600] < classes))
    return moved_part(labelled, new, np.where(looks_new, 2.0, -0.7))


def sides(new: np.ndarray, looks_new: np.ndarray, classes: int = 10) -> float:
    return found(new, looks_new, classes).log_odds


def test_rows_that_lie_alike_are_half_of_the_nearest() -> None:
    rows = np.random.default_rng(0).normal(size=(600, 4))
    # 5 of the 599 others, 299 of them of the own sample; noise of .6 / sqrt(600).
    alike = pytest.approx(299 / 599, abs=0.06)
    assert _all_and_most(rows[:300] * 3 + 7, rows[300:], 300)[0] == alike
    two = np.concatenate([rows[:150] - 9, rows[150:300] + 9])
    assert _all_and_most(rows[300:], two, 300)[0] > 0.95


def test_rows_that_moved_are_found_beside_rows_of_a_new_class() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(600, 4)) + 9 * np.eye(4)[np.arange(600) % 4]
    part = np.concatenate([rows[:200] + 5, rng.normal(size=(80, 4)) + 6])
    every, most = _all_and_most(part, rows[300:], 300)
    assert every > 0.65
    assert most == pytest.approx(0.5, abs=0.06)


def test_a_shift_and_a_gain_of_half_of_the_rows_is_found() -> None:
    rows = DIGITS[600:1100]
    shift = np.random.default_rng(0).choice([-0.6, 0.6], 64) * DIGITS.std(axis=0)
    assert sides(rows + HALF[:, None] * shift, HALF) > 5
    assert sides(rows * np.where(HALF, 1.3, 1.0)[:, None], HALF) > 5
    new = sparse.csr_array(rows + HALF[:, None] * shift)
    assert sides(new, HALF) == sides(new.toarray(), HALF)


def test_a_column_that_hardly_varies_in_training_does_not_rule() -> None:
    """A few rows with a value that one labelled row has are no reason to squeeze all others."""
    shift = np.random.default_rng(0).choice([-0.6, 0.6], 64) * DIGITS.std(axis=0)
    odd = np.arange(500) % 62 == 0  # not one of them moved
    labelled = sample_of(np.arange(600))
    old = np.column_stack([labelled.rows, np.arange(600) == 0])
    new = np.column_stack([DIGITS[600:1100] + HALF[:, None] * shift, 5.0 * odd])
    labelled = LabelledRows(old, labelled.classes, labelled.codes)
    assert moved_part(labelled, new, np.where(HALF | odd, 2.0, -0.7)).log_odds > 5


def test_a_column_far_from_0_does_not_drown_the_others() -> None:
    """Squares of a column about 1e9 leave no digits for the differences of the others."""
    rng, labelled = np.random.default_rng(0), sample_of(np.arange(600))
    old, new = DIGITS[:600], DIGITS[600:1100] + HALF[:, None] * rng.choice([-3.0, 3.0], 64)
    old, new = (np.column_stack([rows, 1e9 + rng.normal(size=len(rows))]) for rows in (old, new))
    labelled = LabelledRows(old, labelled.classes, labelled.codes)
    assert moved_part(labelled, new, np.where(HALF, 2.0, -0.7)).log_odds > 5


def test_a_part_that_moved_is_found_beside_a_new_class_and_is_not_all_that_looks_new() -> None:
    new, is_new = DIGITS[600:1100], DIGIT[600:1100] >= 8
    shift = np.random.default_rng(0).choice([-0.6, 0.6], 64) * DIGITS.std(axis=0)
    part = found(new + HALF[:, None] * shift, HALF | is_new, classes=8)
    assert part.log_odds > 3
    assert part.share < part.rows.mean()


def test_few_rows_of_a_new_class_are_compared_with_as_few_of_a_known_one() -> None:
    """With some known rows among them, few rows of a new class lie less clearly apart."""
    new, is_new = DIGITS[600:1100], DIGIT[600:1100] == 9
    for seed in range(3):
        rng = np.random.default_rng(seed)
        looks_new = is_new & (rng.random(500) < 0.6) | (rng.random(500) < 0.03)
        assert sides(new, looks_new, classes=9) < 3


def test_a_new_class_is_no_part_that_moved() -> None:
    new, is_new = DIGITS[600:1100], DIGIT[600:1100]
    for hidden in (9, 8, 7):  # one to three classes
        assert sides(new, is_new >= hidden, classes=hidden) == 0


def test_many_classes_in_turn_hide_no_new_one() -> None:
    """Classes that come in turn, of which evenly spaced rows would all be of one class."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(51, 10))
    centres *= 3 / np.linalg.norm(centres, axis=1, keepdims=True)
    y, codes = np.arange(1000) % 50, np.where(np.arange(1000) % 5, np.arange(1000) % 50, 50)
    X, X_new = (centres[own] + rng.normal(size=(1000, 10)) for own in (y, codes))
    labelled = LabelledRows(X, np.arange(50), y)
    assert moved_part(labelled, X_new, np.where(codes == 50, 2.0, -0.7)).log_odds < 1


def test_nothing_is_said_of_few_rows_of_one_class_and_of_classes_that_overlap() -> None:
    rows = DIGITS[600:1100] + 9.0 * HALF[:, None]
    assert sides(rows, np.arange(500) < 14) == 0
    assert sides(rows, HALF, classes=1) == 0
    noise = np.random.default_rng(0).normal(size=(900, 3))
    overlapping = LabelledRows(noise[:400], np.array(["a", "b"]), np.arange(400) % 2)
    moved = noise[400:] + 9.0 * HALF[:, None]
    assert moved_part(overlapping, moved, np.where(HALF, 2.0, -0.7)).log_odds < 1


def test_half_of_the_rows_of_another_instrument_is_no_new_class_for_sure() -> None:
    shift = np.random.default_rng(1).choice([-0.6, 0.6], 64) * DIGITS.std(axis=0)
    new = DIGITS[600:900] + HALF[:300, None] * shift
    found = unseen.estimate(DIGITS[:400], DIGIT[:400], new, random_state=0)
    assert found.drift.verdict != "still"
    assert found.intervals[-1][0] == 0
    assert found.drift.part == pytest.approx(0.5, abs=0.1)
    assert "part_moved" in {notice.code for notice in found.notices}
