import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from reference.mixture_twins import best_bin_over_all_scores
from unseen.mixture import BestBin
from unseen.mixture.bbe import best_bin

few_scores = st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=30)


@settings(deadline=None, max_examples=50)
@given(few_scores, few_scores, st.floats(0.01, 0.9), st.floats(0, 1))
def test_equals_the_search_over_all_thresholds(F, H, delta, gamma) -> None:
    estimate = BestBin(delta=delta, gamma=gamma).from_scores(F, H)
    twin = best_bin_over_all_scores(np.array(F), np.array(H), delta, gamma)
    assert_allclose(estimate.roc.right_slope, twin, rtol=1e-12)
    assert estimate.proportion == min(estimate.roc.right_slope, 1.0)


def test_equals_the_search_on_continuous_scores() -> None:
    rng = np.random.default_rng(1)
    H = rng.normal(0, 1, 300)
    F = np.r_[rng.normal(0, 1, 80), rng.normal(2, 1, 170)]
    twin = best_bin_over_all_scores(F, H, 0.1, 0.01)
    assert_allclose(BestBin().from_scores(F, H).proportion, twin, rtol=1e-12)


def test_a_stronger_penalty_takes_a_larger_bin() -> None:
    rng = np.random.default_rng(2)
    H = np.histogram(rng.normal(0, 1, 1000), bins=50, range=(-4, 6))[0]
    F = np.histogram(rng.normal(1, 1, 1000), bins=50, range=(-4, 6))[0]
    bins = [best_bin(H, F, delta, 0.01)[1] for delta in (0.5, 0.05, 1e-6, 1e-12)]
    assert bins == sorted(bins)
    assert bins[0] < bins[-1]


@pytest.mark.parametrize(("name", "value"), [("delta", 0.0), ("delta", 1.0), ("gamma", -0.1)])
def test_parameters_outside_their_range_are_named(name, value) -> None:
    with pytest.raises(ValueError, match=f"'{name}' parameter of BestBin must be .* Got {value}"):
        BestBin(**{name: value}).from_scores([0.0], [0.0])
