"""Stray values: codes and other units are told from classes that are new."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from unseen import OpenSetEstimator
from unseen._types import FloatArray
from unseen.scores.part import _to_nearest, stray_values

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson([0.2, 0.3, 4.0, 6.0, 20.0, 20.0], size=(600, 6)).astype(float)
OLD, NEW = COUNTS[:300], COUNTS[300:]

NOTHING = 0.0, (), False


def found(X: FloatArray, X_new: FloatArray) -> tuple[float, tuple[int, ...], bool]:
    stray = stray_values(X, X_new)
    return stray.share, stray.columns, stray.ordinary


@pytest.mark.parametrize("factor", [10.0, 1000.0])
def test_a_column_of_counts_in_another_unit_strays(factor: float) -> None:
    share = float((NEW[:, 1] * factor > OLD[:, 1].max()).mean())
    assert found(OLD, NEW * [1, factor, 1, 1, 1, 1]) == (share, (1,), True)


def test_codes_in_counts_stray_though_the_column_spans_them() -> None:
    coded = NEW.copy()
    coded[::5, 4] = -1.0  # the labelled counts span 30, and begin at about 8
    assert found(OLD, coded) == (0.2, (4,), True)


def test_a_code_that_is_rare_in_every_column_strays() -> None:
    rows = np.random.default_rng(1).normal(size=(160, 12))
    old, new = rows[:100], rows[100:]
    first = np.arange(20)
    for shift in (0, 5):
        new[first, (first + shift) % 12] = -999.0  # at most four in a column, two in a row
    assert found(old, new) == (20 / 60, tuple(range(12)), True)
    new[first, (first + 5) % 12] = -np.arange(980.0, 1000.0)  # values of their own are no code
    assert found(old, new)[1] != tuple(range(12))


def test_faults_of_single_cells_stray() -> None:
    rows = RNG.normal(size=(800, 8)) @ RNG.normal(size=(8, 8))
    old, new = rows[:400], rows[400:].copy()
    spoilt = RNG.random(new.shape) < 0.02
    faulty = stray_values(old, np.where(spoilt, new + 20 * old.std(axis=0), new))
    assert faulty.ordinary
    assert faulty.share == pytest.approx(spoilt.any(axis=1).mean(), abs=0.01)
    # One value in the midst of the others is a code as well, and whole rows of faults are not.
    filled = stray_values(old, np.where(spoilt, old.mean(axis=0), new))
    assert filled.share == pytest.approx(spoilt.any(axis=1).mean(), abs=0.01)
    assert stray_values(old, np.where(spoilt.any(axis=1)[:, None], 9 * new, new)).share == 0.0


def test_a_column_in_another_unit_strays_as_a_whole() -> None:
    spoilt = NEW * [1, 1, 10, 1, 1, 1]
    beyond = spoilt[:, 2] > OLD[:, 2].max()
    assert found(OLD, spoilt) == (float(beyond.mean()), (2,), True)


@pytest.mark.parametrize("part", [0.2, 0.5])
def test_many_rows_far_beyond_in_one_column_are_a_class_if_the_others_stay(part: float) -> None:
    rows = NEW.copy()
    n_other = int(part * len(rows))
    rows[:n_other, 1] = RNG.poisson(9.0, n_other)  # a class that counts more of one kind
    few = part < 0.25  # rows as another instrument might spoil
    assert found(OLD, rows)[1:] == (((1,), True) if few else ((), False))


def test_values_that_training_has_too_and_new_categories_do_not_stray() -> None:
    rows = RNG.normal(size=(600, 5))
    old, often = rows[:300].copy(), rows[300:].copy()
    old[RNG.random(300) < 0.2, 1] = 0.0
    often[RNG.random(300) < 0.6, 1] = 0.0
    assert found(old, often) == NOTHING
    old, other = rows[:300].copy(), rows[300:].copy()
    old[:, 1], other[:, 1] = RNG.integers(1, 4, 300), RNG.integers(1, 4, 300)
    other[:60, 1] = 4.0
    assert found(old, other) == NOTHING


def test_rows_are_ordinary_beside_other_new_rows_and_not_beside_labelled_ones() -> None:
    rows = RNG.normal(size=(600, 8))
    new = rows[300:] + 1.2 * (RNG.random((300, 1)) < 0.7)  # most rows are of another class
    new[::3, 1] = -99.0
    # Rows of the other class that lie beyond the labelled values of this column are counted too.
    assert found(rows[:300], new) == (pytest.approx(1 / 3, abs=0.05), (1,), True)


def test_a_class_that_differs_in_many_columns_does_not_stray() -> None:
    other = NEW.copy()
    other[:60] = RNG.poisson([0.2, 0.3, 4.0, 6.0, 90.0, 90.0], size=(60, 6))
    assert found(OLD, other) == NOTHING
    # One column lies beyond by its width, and two others tell that the class is new.
    other[:60, 2:4], other[:60, 5] = [9.0, 13.0], NEW[:60, 5]
    assert found(OLD, other) == NOTHING


def test_where_few_columns_are_left_only_codes_that_lie_apart_are_told() -> None:
    rows = RNG.normal(size=(400, 2))
    coded, far = rows[200:].copy(), rows[200:].copy()
    coded[::4, 0], far[::4, 0] = -999.0, far[::4, 0] - 999.0
    assert found(rows[:200], coded) == (0.25, (0,), False)
    assert found(rows[:200], far) == NOTHING


@given(st.integers(0, 10**6), st.integers(1, 6))
def test_distances_over_all_columns_are_the_usual_ones(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    rows, to = rng.normal(size=(5, d)), rng.normal(size=(9, d))
    apart = np.sort(np.linalg.norm(rows[:, None] - to, axis=2), axis=1)
    kept = np.ones(rows.shape, dtype=bool)
    np.testing.assert_allclose(_to_nearest(rows, to, kept, 0), apart[:, :3].mean(axis=1))
    np.testing.assert_allclose(_to_nearest(rows, to, kept, 1), apart[:, 1:4].mean(axis=1))


def test_a_pixel_in_another_unit_is_no_new_class() -> None:
    X, y = load_digits(return_X_y=True)
    rows = np.random.default_rng(1).permutation(np.flatnonzero(y < 4))[:320]
    X, y = X[rows], y[rows]
    X[160:, 9] *= 1000.0
    known = OpenSetEstimator(random_state=0).fit(X[:160], y[:160])
    estimate = known.estimate(X[160:], confidence=0.95)
    assert estimate.drift is not None
    assert estimate.drift.without is not None
    assert (estimate.drift.verdict, estimate.drift.stray_columns) == ("unclear", (9,))
    assert (estimate.drift.without.columns, estimate.drift.without.verdict) == ((9,), "still")
    assert estimate.unseen < 0.1 < estimate.drift.unlike
    shares = [*estimate.drift.without.proportions, estimate.drift.without.unseen]
    assert sum(shares) == pytest.approx(1.0)
    low, high = estimate.intervals.T
    assert np.all((low <= shares) & (shares <= high))
    assert "stray_values" in {notice.code for notice in estimate.notices}
