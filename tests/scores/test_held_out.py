"""A C that falls too far behind leaves the race, and the others do not notice."""

from dataclasses import replace

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal

from unseen import KernelLogisticRegression
from unseen.scores.base import training_masks
from unseen.scores.held_out import GRID_LIMITS, Grid, Race, _best_first, neg_log_loss

C_VALUES = 10.0 ** np.arange(-2, 4)


@pytest.fixture(scope="module")
def grid():
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], 100)
    X = rng.normal(size=(300, 2)) + 1.5 * np.column_stack([codes == 1, codes == 2])
    rows = KernelLogisticRegression().prepare(X, np.ones(300), np.random.RandomState(0))
    return Grid(rows, codes, C_VALUES, training_masks(3, codes, 0), limits=(1e-4, 60))


def test_survivors_of_the_race_are_as_without_it(grid):
    width = grid.rows.median
    alone, raced = grid.held_out(width), grid.held_out(width, Race(0.02))
    stays = alone.scores > alone.scores.max() - 0.02
    assert 0 < stays.sum() < len(C_VALUES)
    # Both are within their errors of the exact fit; the preconditioner is another.
    gap = np.abs(raced.values - alone.values).max(axis=(0, 2))
    assert (gap <= alone.error + raced.error)[stays].all()
    assert gap[stays].max() < 1e-3
    assert raced.scores.argmax() == alone.scores.argmax()
    # Who has left was behind.
    assert raced.scores[~stays].max() < alone.scores.max() - 0.01


def test_a_race_against_a_better_bandwidth_ends_at_once(grid):
    beaten = grid.held_out(grid.rows.median, Race(0.01, best=0.0))
    assert beaten.error.max() > 10 * grid.held_out(grid.rows.median).error.max()
    assert beaten.scores.max() < -0.01


def test_a_fold_that_scouts_keeps_the_scores_of_those_that_may_win(grid):
    widths = grid.rows.median * np.array([2.0, 1.0, 0.25])
    quick = replace(grid, limits=GRID_LIMITS)
    full = np.array([one.scores for one in quick.raced(widths, Race(0.005))])
    found = quick.scouted(widths, Race(0.005))
    near = full > full.max() - 0.005
    assert_allclose(found[near], full[near], atol=3e-3)  # as far as a grid is solved
    assert found.argmax() == full.argmax()
    assert (found[full < full.max() - 0.15] < found.max() - 0.05).all()


def bandwidths_tried(grid, race, monkeypatch):
    """Times the typical distance, in order; and the answers."""
    widths, tried = grid.rows.median * 2.0 ** np.arange(2, -4, -1), []
    of_one = Grid.held_out

    def held_out(self, bandwidth, race):
        tried.append(bandwidth / grid.rows.median)
        return of_one(self, bandwidth, race)

    monkeypatch.setattr(Grid, "held_out", held_out)
    return tried, grid.raced(widths, race)


def test_no_bandwidth_is_tried_beyond_one_that_fell_behind(grid, monkeypatch):
    tried, found = bandwidths_tried(grid, Race(0.05), monkeypatch)
    # Outwards on either side; three overlapping blobs are not told apart at an eighth of their
    # distance.
    assert tried == [1.0, 2.0, 4.0, 0.5, 0.25]
    best = max(one.scores.max() for one in found)
    assert found[-2].scores.max() < best - 0.05
    assert_array_equal(found[-1].scores, found[-2].scores)
    alone = grid.held_out(grid.rows.median / 8, Race(np.inf))
    assert alone.scores.max() < best - 0.05


def test_a_hopeless_race_ends_with_the_first_bandwidth(grid, monkeypatch):
    tried, found = bandwidths_tried(grid, Race(0.01, best=0.0), monkeypatch)
    assert tried == [1.0]
    assert len(found) == 6


def test_other_scores_than_the_loss_give_up_no_bandwidth(grid, monkeypatch):
    by_area = replace(grid, scoring="roc_auc")
    tried, _ = bandwidths_tried(by_area, Race(0.01, best=1.0), monkeypatch)
    assert len(tried) == 6


def test_the_loss_in_single_precision_is_that_in_double():
    rng = np.random.default_rng(0)
    codes, weight = rng.integers(2, size=2000), rng.random(2000)
    values = 5 * rng.normal(size=(2000, 3, 1))
    values[:3, :, 0] = [[200.0], [-200.0], [0.0]]
    exact = neg_log_loss(values, codes, weight)
    found = neg_log_loss(values.astype(np.float32), codes, weight)
    assert found.dtype == np.float64
    assert_allclose(found, exact, rtol=1e-6)


def test_the_race_begins_near_the_typical_distance():
    assert _best_first(np.array([4.0, 2.0, 1.0, 0.5]), 1.0).tolist() == [2, 1, 3, 0]


def test_many_rows_are_chosen_on_a_part_that_keeps_rare_classes():
    rng = np.random.default_rng(1)
    codes = np.append(rng.integers(2, size=3990), np.full(10, 2))
    X = rng.normal(size=(4000, 2)) + codes[:, None]
    model = KernelLogisticRegression()
    rows = model.prepare(X, np.ones(4000), np.random.RandomState(0))
    (some,), some_codes = model._few_rows([rows], codes, np.random.RandomState(0))
    assert len(some_codes) == some.X.shape[0] == 2000
    assert_allclose(np.bincount(some_codes) / 2000, np.bincount(codes) / 4000, atol=1e-3)
    splits = KernelLogisticRegression(cv=[(np.arange(10), np.arange(10, 20))])
    assert_array_equal(splits._few_rows([rows], codes, np.random.RandomState(0))[1], codes)


def test_the_number_of_jobs_changes_no_bit():
    rng = np.random.default_rng(2)
    codes = np.repeat([0, 1], 60)
    X = rng.normal(size=(120, 3)) + codes[:, None]
    with parallel_config(n_jobs=1):
        alone = KernelLogisticRegression(random_state=0).fit(X, codes)
    with parallel_config(n_jobs=3):
        spread = KernelLogisticRegression(random_state=0).fit(X, codes)
    assert_array_equal(spread.cv_scores_, alone.cv_scores_)
    assert_array_equal(spread.coef_, alone.coef_)
