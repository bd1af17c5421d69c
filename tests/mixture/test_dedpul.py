import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import trapezoid

from reference.mixture_twins import (
    kernel_density_by_sum,
    pooled_normal_scores,
    prior_by_iteration,
)
from unseen.mixture import DensityRatio
from unseen.mixture.dedpul import falling_ratio, kernel_density, largest_prior, normal_scores
from unseen.roc.sketch import RocSketch

rng = np.random.default_rng(0)
H = rng.normal(0, 1, 400)
F = np.r_[rng.normal(0, 1, 150), rng.normal(2, 1, 350)]


@pytest.mark.parametrize("n_decimals", [1, 12], ids=["tied", "continuous"])
def test_normal_scores_are_quantiles_of_pooled_ranks(n_decimals) -> None:
    tied_H = H.round(n_decimals)
    # Where F is tied with itself but not with H, the ROC cannot tell and neither does the sketch.
    tied_F = np.where(np.isin(F.round(n_decimals), tied_H), F.round(n_decimals), F)
    found = normal_scores(RocSketch.from_scores(tied_F, tied_H))
    for scores, twin in zip(found, pooled_normal_scores(tied_F, tied_H), strict=True):
        assert_allclose(scores, twin, atol=1e-9)


@pytest.mark.parametrize("bandwidth", [0.05, 0.3, 2.0])
def test_binned_density_equals_the_direct_sum(bandwidth) -> None:
    sample, points = np.sort(F), np.linspace(-4, 6, 101)
    twin = kernel_density_by_sum(sample, points, bandwidth)
    assert_allclose(kernel_density(sample, points, bandwidth), twin, atol=1e-3 * twin.max())


def test_binned_density_holds_all_the_mass() -> None:
    points = np.linspace(-20, 20, 20001)
    density = kernel_density(np.sort(F), points, 0.3)
    assert_allclose(trapezoid(density, points), 1.0, rtol=1e-6)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.floats(0.01, 20), min_size=3, max_size=40),
    st.floats(0.01, 0.3),
)
def test_prior_is_where_em_settles(ratio, tolerance) -> None:
    values = np.array(ratio) / np.mean(ratio)
    found = min(1.0, largest_prior(values, tolerance))
    assert_allclose(found, prior_by_iteration(values, tolerance), atol=1e-6)


def test_prior_without_tolerance_is_one_over_the_largest_ratio() -> None:
    values = np.array([4.0, 1.0, 0.5, 0.25, 0.25, 0.0])
    assert_allclose(largest_prior(values, 0.0), 0.25)


def test_ratio_falls_along_the_score() -> None:
    scores = normal_scores(RocSketch.from_scores(F, H))
    ratio = falling_ratio(*scores, 0.2)
    assert np.all(np.diff(ratio) <= 0)
    assert ratio[0] > 1 > ratio[-1]


def test_a_rising_function_of_the_scores_changes_nothing() -> None:
    plain = DensityRatio().from_scores(F, H).proportion
    assert DensityRatio().from_scores(np.exp(F), np.exp(H)).proportion == plain


def test_more_tolerance_means_a_larger_share() -> None:
    shares = [DensityRatio(tolerance=t).from_scores(F, H).proportion for t in (0, 0.02, 0.1, 0.3)]
    assert shares == sorted(shares)
    assert shares[0] < shares[-1]


@pytest.mark.parametrize("n", [5, 100, 1000])
def test_nothing_of_H_found_in_F_is_a_share_of_zero(n) -> None:
    assert DensityRatio().from_scores(rng.normal(20, 1, n), rng.normal(0, 1, n)).proportion == 0
