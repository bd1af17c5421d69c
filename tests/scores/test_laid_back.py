"""Known classes that moved by a shift and a factor of each column are laid back where they were."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from unseen.samples import LabelledRows
from unseen.scores.laid_back import laid_back

CENTRES = 3 * np.random.default_rng(1).normal(size=(4, 5))
GAIN, OFFSET = np.array([1.2, 0.9, 1.0, 1.0, 1.3]), np.array([0.5, -0.5, 0.0, 1.0, -1.0])


def rows_of(counts: list[int], seed: int) -> np.ndarray:
    codes = np.repeat(np.arange(len(counts)), counts)
    return CENTRES[codes] + np.random.default_rng(seed).normal(size=(len(codes), 5))


X = rows_of([150, 150, 150], 2)
STAYED = rows_of([150, 50, 100], 3)  # classes come in other proportions
UNIT = X.std(axis=0)
CLASSES, CODES = np.arange(3), np.repeat(np.arange(3), 150)
LABELLED = LabelledRows(X, CLASSES, CODES)


def error(found: np.ndarray, truth: np.ndarray) -> float:
    """Root mean square over the rows of known classes, in deviations."""
    return float(np.sqrt(np.mean(((found - truth)[: len(STAYED)] / UNIT) ** 2)))


def test_shifts_and_factors_are_taken_off() -> None:
    moved = STAYED * GAIN + OFFSET
    found, shift = laid_back(LABELLED, moved)
    assert error(moved, STAYED) > 0.4
    assert error(found, STAYED) < 0.22
    assert shift == pytest.approx(np.sqrt(np.mean((OFFSET / UNIT) ** 2)), rel=0.6)


def test_classes_may_come_in_other_proportions() -> None:
    errors = []
    for seed in (3, 4, 5):
        stayed = rows_of([10, 280, 10], seed)
        errors.append(error(laid_back(LABELLED, stayed * GAIN + OFFSET)[0], stayed))
    assert np.mean(errors) < 0.26


def test_rows_of_a_new_class_hardly_count() -> None:
    with_new = np.vstack([STAYED, rows_of([0, 0, 0, 75], 4)])
    found, _ = laid_back(LABELLED, with_new * GAIN + OFFSET)
    assert error(found, with_new) < 0.22
    # The new class lies as far from the known ones as it did.
    assert_allclose(found[-75:].mean(axis=0), CENTRES[3], atol=0.6)


def test_rows_that_all_lie_far_off_are_laid_back() -> None:
    moved = STAYED + 1000 * UNIT
    assert error(laid_back(LABELLED, moved)[0], STAYED) < 0.22


def test_rows_that_stayed_are_not_asked_about_again() -> None:
    assert laid_back(LABELLED, STAYED) is None
    assert laid_back(LABELLED, X) is None


def test_units_make_no_difference() -> None:
    unit, zero = np.array([1, 10, 0.1, 1000, 3.0]), np.array([0, 5, -2, 100, 7.0])
    moved = STAYED * GAIN + OFFSET
    found, shift = laid_back(LabelledRows(X * unit + zero, CLASSES, CODES), moved * unit + zero)
    plain, same = laid_back(LABELLED, moved)
    assert_allclose(found, plain * unit + zero, rtol=1e-6, atol=1e-6)
    assert shift == pytest.approx(same, rel=1e-6)


def test_a_column_that_is_constant_in_training_stays_as_it_is() -> None:
    rng = np.random.default_rng(0)
    beside = rng.normal(size=len(STAYED))
    labelled = LabelledRows(np.column_stack([X, np.full(len(X), 3.0)]), CLASSES, CODES)
    found, _ = laid_back(labelled, np.column_stack([STAYED + OFFSET, beside]))
    assert_allclose(found[:, -1], beside)
    assert_allclose(found[:, :-1], laid_back(LABELLED, STAYED + OFFSET)[0])


def test_nothing_is_laid_back_where_nothing_lies_near() -> None:
    assert laid_back(LABELLED, STAYED * 1000) is None
    assert laid_back(LABELLED, STAYED[:3]) is None
    wide = sparse.csr_array((450, 100_000))
    assert laid_back(LabelledRows(wide, CLASSES, CODES), wide) is None


def test_rows_that_repeat_each_other_overflow_nowhere() -> None:
    copies = np.repeat(CENTRES[:3], 150, axis=0)
    found, _ = laid_back(LabelledRows(copies, CLASSES, CODES), copies + 1)
    assert np.isfinite(found).all()


def test_sparse_rows_are_laid_back_as_dense_ones() -> None:
    moved = STAYED * GAIN + OFFSET
    found, _ = laid_back(LabelledRows(sparse.csr_array(X), CLASSES, CODES), sparse.csr_array(moved))
    assert_allclose(found, laid_back(LABELLED, moved)[0])
