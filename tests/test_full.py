"""A full pass counts every row, the same in any order and in any pieces."""

from dataclasses import astuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier

import unseen
from unseen import FullPass, MPEIncomplete, MPEProjected, OpenSetEstimator, SaerensEM
from unseen.roc.sketch import RocSketch
from unseen.scores.counting import _on_grid, row_folds

RNG = np.random.default_rng(0)
CODES = np.arange(240) % 2
X = RNG.normal(2.0 * np.eye(3)[CODES])
X_NEW = RNG.normal(2.0 * np.eye(3)[RNG.choice(3, size=3_000, p=[0.5, 0.2, 0.3])])
DRAWN, ROWS = X_NEW[:800], np.vstack([X_NEW, X])  # of these some tie with labelled rows


@pytest.fixture(scope="module")
def full() -> FullPass:
    return FullPass.fit(MPEIncomplete(n_folds=5, random_state=0).fit(X, CODES), DRAWN)


@pytest.fixture(scope="module")
def whole(full):
    return full.count(ROWS)


def same(one: RocSketch, other: RocSketch) -> bool:
    return all(map(np.array_equal, astuple(one), astuple(other)))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31), st.lists(st.integers(1, 2_999), max_size=6))
def test_counts_are_the_same_for_any_order_and_any_pieces(full, whole, seed, cuts) -> None:
    order = np.random.default_rng(seed).permutation(len(ROWS))
    pieces = [piece for piece in np.split(ROWS[order], sorted(cuts)) if len(piece)]
    assert full.counter.models[0].coef.dtype == np.float32  # where rounding would show
    first, *others = map(full.count, pieces)
    found = sum(others, start=first)
    assert all(map(same, found.sketches, whole.sketches))


def test_counts_are_those_of_the_scores(full, whole) -> None:
    scores = full.counter.score(ROWS)
    for code, (_, own) in enumerate(full.counter.drawn.pairs):
        assert same(whole.sketches[code], RocSketch.from_scores(scores[:, code], own))
        assert whole.sketches[code].edge_new.sum() >= 120  # copies of labelled rows tie with them
    drawn = full.counter.drawn
    np.testing.assert_array_equal(drawn.pairs[1][0], scores[:800, 1])


def test_an_estimate_is_read_off_the_counts(full, whole) -> None:
    estimate = full.estimate(whole, confidence=0.95)
    assert estimate.n_new == len(ROWS)
    again = full.estimator.from_scores(full.counter.scores(whole))
    assert estimate.unseen == again.unseen
    few = full.estimate(full.count(DRAWN), confidence=0.95)
    assert np.ptp(estimate.intervals, axis=1).sum() < np.ptp(few.intervals, axis=1).sum()
    closed = FullPass(MPEProjected(random_state=0), full.counter).estimate(whole)
    assert closed.proportions.sum() == pytest.approx(1)


def test_no_row_is_scored_by_a_model_that_has_seen_it() -> None:
    # All rows are of one law, and the nearest neighbour of a row that was learnt is the row itself.
    rows = np.random.default_rng(1).normal(size=(600, 2))
    nearest = KNeighborsClassifier(1)
    estimator = MPEIncomplete(classifier=nearest, n_folds=5, random_state=0)
    full = FullPass.fit(estimator.fit(rows[:300], ["a"] * 300), rows[300:])
    new, own = (scores.mean() for scores in full.counter.drawn.pairs[0])
    in_sample = np.log(1 / 1e-12)
    assert abs(new - own) < 0.2 * in_sample


def test_equal_rows_share_a_fold_and_folds_are_even() -> None:
    rows = np.random.default_rng(0).integers(-3, 3, size=(4_000, 8)).astype(float)
    folds = row_folds(rows, 5, seed=3)
    assert np.array_equal(folds, row_folds(rows * 1.0 - 0.0, 5, seed=3))
    assert np.array_equal(row_folds(-np.zeros((1, 2)), 5, 0), row_folds(np.zeros((1, 2)), 5, 0))
    assert abs(np.bincount(folds) / 800 - 1).max() < 0.15
    assert not np.array_equal(folds, row_folds(rows, 5, seed=4))


def test_one_newton_step_from_drawn_rows_is_em_on_all_rows() -> None:
    known = X_NEW[RNG.permutation(len(X_NEW))]
    estimator = SaerensEM(n_folds=3, random_state=0).fit(X, CODES)
    on_all = estimator.estimate(known, confidence=0.95)
    on_drawn = estimator.estimate(known[:300])
    full = FullPass.fit(estimator, known[:300])
    found = full.estimate(full.count(known[:1000]) + full.count(known[1000:]), confidence=0.95)
    missed = abs(on_drawn.proportions - on_all.proportions).max()
    assert missed > 0.01
    assert abs(found.proportions - on_all.proportions).max() < 4 * missed**2
    widths = [np.ptp(one.intervals, axis=1)[0] for one in (found, on_all)]
    assert widths[0] == pytest.approx(widths[1], rel=0.25)


@pytest.mark.parametrize(
    "estimator", [OpenSetEstimator(), MPEIncomplete(n_repeats=2), MPEIncomplete(method="other")]
)
def test_methods_that_read_no_counts_are_refused(estimator) -> None:
    with pytest.raises(TypeError, match="a full pass needs MPEIncomplete"):
        FullPass.fit(estimator, DRAWN)


def test_rows_of_too_few_values_are_refused() -> None:
    estimator = MPEIncomplete(random_state=0).fit(np.ones((30, 1)), ["a"] * 30)
    with pytest.raises(ValueError, match="as equal rows share a fold; class 'a' has too few"):
        FullPass.fit(estimator, np.arange(60.0)[:, None])


def test_full_in_one_call_counts_every_row_of_an_array_or_a_table(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr("unseen.full._BATCH", 700)
    np.save(tmp_path / "new.npy", X_NEW)
    mapped = np.load(tmp_path / "new.npy", mmap_mode="r")
    given = {"estimator": MPEIncomplete(n_folds=5), "max_rows": 800, "random_state": 0}
    found = unseen.estimate(X, CODES, mapped, full=True, **given)
    drawn = unseen.estimate(X, CODES, X_NEW, **given)
    assert (found.n_new, drawn.n_new) == (3_000, 800)
    assert found.unseen == pytest.approx(0.3, abs=0.08)
    assert np.diff(found.intervals).max() < np.diff(drawn.intervals).max()
    assert found.drift is not None
    said = found.notices[0]
    assert said.code == "all_rows_counted"
    assert said.text == "All 3,000 rows of X_new were counted, with models fitted to 800 of them."
    frames = [pd.DataFrame(rows, columns=list("abc")) for rows in (X, X_NEW)]
    # A table of numbers is answered as the array of its rows.
    assert unseen.estimate(frames[0], CODES, frames[1], full=True, **given).unseen == found.unseen
    tables = [one.assign(text=np.where(one.a > 1, "high", "low")) for one in frames]
    # A gap that no drawn row shows is no reason to stop after half of the rows.
    tables[1].loc[2_999, "b"] = np.nan
    again = unseen.estimate(tables[0], CODES, tables[1], full=True, **given)
    assert again.n_new == 3_000
    assert again.unseen == pytest.approx(found.unseen, abs=0.08)


def test_full_says_what_does_not_go_with_it() -> None:
    with pytest.raises(TypeError, match=r"a full pass needs MPEIncomplete .* got OpenSetEstimator"):
        unseen.estimate(X, CODES, X_NEW, full=True)
    with pytest.raises(ValueError, match="full counts rows one by one: leave out groups"):
        unseen.estimate(X, CODES, X_NEW, full=True, estimator=SaerensEM(), control=X_NEW)


@pytest.mark.parametrize("n_folds", [2, 5])
@pytest.mark.parametrize("rows", [X_NEW, np.arange(6_000.0).reshape(-1, 2)], ids=["fine", "whole"])
def test_folds_are_even_and_the_seed_deals_them_anew(rows, n_folds) -> None:
    one, other = (row_folds(rows, n_folds, seed) for seed in (0, 1))
    np.testing.assert_allclose(np.bincount(one) * n_folds / len(rows), 1, atol=0.1)
    assert (one == other).mean() == pytest.approx(1 / n_folds, abs=0.05)


def test_squared_distances_are_exact_on_the_grid() -> None:
    x, z = (_on_grid(RNG.normal(0, 20, size=(60, 7))) for _ in range(2))
    left = np.column_stack([-2 * x, np.square(x).sum(axis=1), np.ones(60)])
    right = np.column_stack([z, np.ones(60), np.square(z).sum(axis=1)]).T
    true = np.square(x[:, None] - z).sum(axis=2)
    np.testing.assert_array_equal(left @ right, true)
