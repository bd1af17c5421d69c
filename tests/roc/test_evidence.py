"""Evidence says of each vertex which rows are counted there."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import unseen
from unseen.roc.sketch import scored_evidence

scores = st.lists(st.integers(-30, 30).map(float), min_size=1, max_size=60).map(np.array)


@given(scores, scores)
def test_vertices_are_the_shares_of_scores_above_the_threshold(scores_F, scores_H):
    found = scored_evidence(scores_F, scores_H, 0.5)
    assert (np.diff(found.thresholds) <= 0).all()
    for place in range(1, len(found.thresholds) - 1):
        threshold = found.thresholds[place]
        assert threshold not in [*scores_F, *scores_H]
        assert_allclose(found.false_alarm[place], (scores_H > threshold).mean())
        assert_allclose(found.detection[place], (scores_F > threshold).mean())
    assert (found.false_alarm[0], found.detection[0]) == (0, 0)
    assert (found.false_alarm[-1], found.detection[-1]) == (1, 1)


def test_many_scores_are_thinned_and_both_ends_stay():
    rng = np.random.default_rng(0)
    scores_F, scores_H = rng.normal(1, 1, 50_000), rng.normal(0, 1, 30_000)
    found = scored_evidence(scores_F, scores_H, 0.7)
    assert 100 < len(found.thresholds) <= 400
    inner = found.thresholds[1:-1]
    assert_allclose(found.detection[1:-1], (scores_F[:, None] > inner).mean(axis=0), atol=1e-12)
    assert (found.false_alarm[-1], found.detection[-1]) == pytest.approx((1, 1))
    assert np.diff(found.false_alarm).max() < 0.02


def test_weights_of_labelled_rows_weigh_their_false_alarm():
    rng = np.random.default_rng(1)
    scores_F, scores_H = rng.normal(size=40), rng.normal(size=30)
    copies = rng.integers(1, 4, 30)
    weighted = scored_evidence(scores_F, scores_H, 0.5, copies.astype(float))
    repeated = scored_evidence(scores_F, np.repeat(scores_H, copies), 0.5)
    assert_allclose(weighted.false_alarm, repeated.false_alarm)
    assert_allclose(weighted.thresholds, repeated.thresholds)


def test_the_pooled_curve_of_the_default_ends_with_the_slope_of_the_known_share():
    rng = np.random.default_rng(2)
    X = np.vstack([rng.normal(-4, 1, (200, 2)), rng.normal(4, 1, (200, 2))])
    X_new = np.vstack([rng.normal(-4, 1, (250, 2)), rng.normal([-4, 4], 1, (150, 2))])
    estimate = unseen.estimate(X, ["a"] * 200 + ["b"] * 200, X_new, random_state=0)
    pooled = estimate.pooled
    assert pooled.right_slope == pytest.approx(1 - estimate.unseen)
    rest = 1 - np.interp(0.1, pooled.false_alarm, pooled.detection)
    assert rest / 0.9 == pytest.approx(1 - estimate.unseen, abs=0.03)
    assert estimate.to_dict()["pooled"]["n_new"] == 400
