"""Known classes that moved lie on the labelled rows again once they are laid onto them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import t as student_t
from sklearn.datasets import load_digits

import unseen
from unseen.samples import Clusters, LabelledRows
from unseen.scores.signs import Laid, laid_onto, laid_rows, own_neighbours

CENTRES = 4 * np.random.default_rng(1).normal(size=(5, 6))


def rows_of(codes: np.ndarray, seed: int) -> np.ndarray:
    return CENTRES[codes] + np.random.default_rng(seed).normal(size=(len(codes), 6))


CODES = np.arange(400) % 4
LABELLED = LabelledRows(rows_of(CODES, 2), np.arange(4), CODES)
EVEN = np.full(4, 0.25)


def laid(X_new: np.ndarray, closed: np.ndarray = EVEN) -> Laid:
    return laid_rows(LABELLED, X_new, closed, Clusters.of_copies(LABELLED.rows, X_new))


def test_laid_rows_have_the_mean_and_by_one_factor_the_spread_of_the_others() -> None:
    rows, others = np.random.default_rng(0).normal(3, [1, 2, 5], (2, 50, 3)) * [[[1]], [[7]]]
    found = laid_onto(rows, others)
    assert_allclose(found.mean(axis=0), others.mean(axis=0))
    assert_allclose(found.var(axis=0).sum(), others.var(axis=0).sum())
    assert_allclose(np.ptp(found.std(axis=0) / rows.std(axis=0)), 0, atol=1e-12)


def test_neighbours_are_counted_as_a_loop_would() -> None:
    rng = np.random.default_rng(0)
    rows, others = rng.normal(size=(20, 3)), rng.normal(size=(30, 3)) + 0.5
    every, own = np.vstack([rows, others]), np.arange(50) < 20
    slow = []
    for place in range(50):
        far = np.linalg.norm(every - every[place], axis=1)
        nearest = np.argsort(far)[1:6]
        slow.append(np.mean(own[nearest] == own[place]))
    assert_allclose(own_neighbours(rows, others), slow)


def test_offsets_and_a_gain_are_taken_off_and_a_new_class_is_not() -> None:
    known = rows_of(CODES, 3)
    moved = laid(1.3 * known + [0.5, 1, 2, -1, 0, 3])
    assert moved.apart == pytest.approx(0.5, abs=0.05)
    assert moved.hidden > 0.75
    half_new = laid(rows_of(np.where(np.arange(400) % 2, CODES, 4), 3))
    assert half_new.apart > 0.65


def test_labelled_rows_are_drawn_at_the_shares_of_the_classes() -> None:
    uneven = np.array([0.7, 0.1, 0.1, 0.1])
    X_new = rows_of(np.repeat(np.arange(4), [140, 20, 20, 20]), 4) + 0.5
    assert laid(X_new, uneven).apart == pytest.approx(0.5, abs=0.06)
    assert laid(X_new).apart > laid(X_new, uneven).apart + 0.05


def test_copies_count_once() -> None:
    X_new = rows_of(CODES[:150], 5)
    assert laid(np.repeat(X_new, 3, axis=0)).apart == pytest.approx(0.5, abs=0.06)


def test_nothing_is_said_of_one_class_and_of_few_rows() -> None:
    one = LabelledRows(LABELLED.rows, np.arange(1), np.zeros(400, dtype=int))
    assert np.isnan(laid_rows(one, LABELLED.rows, np.ones(1), None).apart)
    assert np.isnan(laid_rows(LABELLED, rows_of(CODES[:10], 6), EVEN, None).apart)
    assert laid_rows(LABELLED, rows_of(CODES, 6), np.array([0.0, 0.0, 0.0, 1.0]), None).apart > 0.5


def test_a_table_in_another_unit_stands_off_even_where_classes_have_ten_rows() -> None:
    labelled = LabelledRows(LABELLED.rows[:40], np.arange(4), CODES[:40])
    only = np.array([1.0, 0.0, 0.0, 0.0])  # as closed shares of such rows may be
    alike, scaled = (laid_rows(labelled, k * rows_of(CODES, 7), only, None) for k in (1, 16))
    assert np.isnan(scaled.apart)
    assert scaled.sign(1.0) == 0.0
    assert alike.times < 1.6 < scaled.times


def test_the_sign_is_a_half_for_moved_and_minus_a_half_for_a_new_class() -> None:
    assert Laid(0.5, 0.9).sign(0.5) == Laid(0.47, 0.9).sign(0.5) == 0.5
    assert Laid(0.5 + 0.4 * 0.5, 0.9).sign(0.5) == pytest.approx(-0.5)
    assert Laid(0.55, 0.9).sign(0.2) < Laid(0.55, 0.9).sign(0.9)
    assert Laid().sign(0.5) == 0.0


def test_rows_that_stay_apart_speak_for_new_ones_where_classes_moved() -> None:
    shares = np.array([0.0, 0.2, 0.8])
    laid = (Laid(0.5 + x, 0.9) for x in (0.0, 0.1, 0.35))
    alike, some, far = (one.log_likelihood_if_moved(shares) for one in laid)
    assert [np.argmax(one) for one in (alike, some, far)] == [0, 1, 2]
    # Student with 3 degrees of freedom, of log(x + .1) about log(u + .15) with a spread of .4.
    twin = student_t(3).logpdf((np.log(0.25 + 0.1) - np.log(shares + 0.15)) / 0.4)
    assert_allclose(some, twin)


def times(old: np.ndarray, new: np.ndarray, codes: np.ndarray) -> float:
    labelled = LabelledRows(old, np.unique(codes), codes)
    return laid_rows(labelled, new, np.full(3, 1 / 3), None).times


RNG = np.random.default_rng(0)
THREE = np.repeat([0, 1, 2], 80)
OLD = RNG.normal(size=(240, 15)) + 1.5 * RNG.normal(size=(3, 15))[THREE]
NEW = RNG.normal(size=(150, 15)) + 1.2 * RNG.normal(size=15)


def test_times_agree_with_one_class_at_a_time() -> None:
    old, new = ((rows - OLD.mean(axis=0)) / OLD.std(axis=0) for rows in (OLD, NEW))

    def off(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        usual = others.std(axis=0) + 0.02
        away = abs(rows.mean(axis=0) - others.mean(axis=0)) / usual
        factor = np.log((rows.std(axis=0) + 0.02) / usual)
        return np.array([np.median(away), abs(np.median(factor))])

    classes = [off(old[code == THREE], old[code != THREE]) for code in range(3)]
    farthest = np.maximum(np.max(classes, axis=0), 0.2)
    assert_allclose(times(OLD, NEW, THREE), (off(new, old) / farthest).max(), rtol=1e-9)


@pytest.mark.parametrize("factor", [16, 1 / 16])
def test_a_table_in_another_unit_is_no_class_and_one_column_is_no_table(factor) -> None:
    assert times(OLD, NEW, THREE) < 1.6 < times(OLD, NEW * factor, THREE)
    column, unit = NEW.copy(), np.exp(np.linspace(-3, 3, 15))
    column[:, 2] *= 1000 * factor
    assert times(OLD, column, THREE) < 1.6
    assert_allclose(times(OLD * unit + 7, NEW * unit + 7, THREE), times(OLD, NEW, THREE))
    constant = np.ones((240, 2)), np.ones((150, 2))
    assert times(*constant, THREE) == 0.0


@pytest.mark.parametrize("spoil", [lambda X: X / 16, lambda X: 255 * X / 16, lambda X: 16 - X])
def test_pixels_on_another_scale_moved_too_far_to_tell(spoil) -> None:
    X, y = load_digits(return_X_y=True)
    found = unseen.estimate(X[::4], y[::4], spoil(X[1::4]), random_state=0)
    assert (found.drift.verdict, found.drift.far) == ("moved", True)
    assert_allclose(found.intervals[-1], [0.0, 1.0])
    assert found.unseen < 0.05
