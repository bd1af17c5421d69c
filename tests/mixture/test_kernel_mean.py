import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.metrics import euclidean_distances

from reference.mixture_twins import nearest_in_hull_by_slsqp
from unseen.mixture import KernelMean
from unseen.mixture.kernel_mean import (
    HullDistance,
    gaussian_kernel,
    kernel_mean_proportion,
    nearest_in_hull,
)


def two_samples(n: int = 60, share: float = 0.4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n_both = round(n * share)
    F = np.vstack([rng.normal(0, 1, (n_both, 2)), rng.normal(3, 1, (n - n_both, 2))])
    return F, rng.normal(0, 1, (n, 2))


def hull(F: np.ndarray, H: np.ndarray, bandwidth: float = 1.0) -> HullDistance:
    squared = euclidean_distances(np.vstack([F, H]), squared=True)
    return HullDistance(gaussian_kernel(squared, len(F), bandwidth), len(F))


@pytest.mark.parametrize("seed", range(5))
def test_nearest_point_equals_a_general_solver(seed) -> None:
    rng = np.random.default_rng(seed)
    points, target = rng.normal(size=(6, 15)), rng.normal(size=6) * 3
    found, twin = nearest_in_hull(points, target), nearest_in_hull_by_slsqp(points, target)
    assert_allclose(found.sum(), 1.0)
    assert found.min() >= 0
    assert_allclose(points @ found, points @ twin, atol=1e-5)


@pytest.mark.parametrize("lam", [1.2, 2.0, 5.0])
def test_distance_equals_a_general_solver_on_the_kernel(lam) -> None:
    distance = hull(*two_samples(12))
    target = lam * distance.mean_F + (1 - lam) * distance.mean_H
    twin = distance.points @ nearest_in_hull_by_slsqp(distance.points, target) - target
    assert_allclose(distance(lam)[0], np.linalg.norm(twin), rtol=1e-5)


def test_distance_is_zero_up_to_one_then_convex_with_the_slope_that_is_claimed() -> None:
    distance = hull(*two_samples())
    assert_allclose([distance(lam)[0] for lam in (0.0, 0.5, 1.0)], 0, atol=1e-4)
    lams = np.linspace(1.2, 6, 13)
    slopes = np.array([distance(lam)[1] for lam in lams])
    step = 1e-5
    numeric = [(distance(lam + step)[0] - distance(lam - step)[0]) / (2 * step) for lam in lams]
    assert_allclose(slopes, numeric, rtol=1e-4)
    assert np.all(np.diff(slopes) > -1e-9)
    assert slopes[-1] < distance.final_slope
    assert_allclose(distance(1e4)[1], distance.final_slope, rtol=1e-3)


def test_the_two_variants_threshold_as_published() -> None:
    F, H = two_samples(100)
    distance = hull(F, H)
    thresholds = {
        "km1": 0.1,
        "km2": 0.8 * distance(1.05)[0] / 0.05 + 0.2 * distance.final_slope,
    }
    for variant, threshold in thresholds.items():
        nu = kernel_mean_proportion(F, H, variant, bandwidth=1.0)
        below, above = (distance(1 / (1 - nu - shift))[1] for shift in (-2e-3, 2e-3))
        assert below <= threshold <= above


@pytest.mark.parametrize("variant", ["km1", "km2"])
@pytest.mark.parametrize("share", [0.1, 0.4, 0.7])
def test_finds_the_share_roughly(variant, share) -> None:
    F, H = two_samples(300, share)
    assert abs(KernelMean(variant).fit(H).estimate(F).proportion - share) < 0.1


def test_no_cap_on_lambda() -> None:
    F, H = two_samples(300, 0.95)
    estimate = KernelMean("km1", bandwidth=3.0).fit(H).estimate(F)
    assert estimate.proportion > 0.9  # λ = 8 would be 0.875


def test_rows_are_subsampled_with_the_seed() -> None:
    F, H = two_samples(200)
    first, again, other = (
        KernelMean(max_rows=50, random_state=seed).fit(H).estimate(F).proportion
        for seed in (0, 0, 1)
    )
    assert first == again != other
    all_rows = KernelMean(max_rows=200, random_state=0).fit(H).estimate(F).proportion
    assert all_rows == KernelMean(max_rows=500).fit(H).estimate(F).proportion


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_neither_precision_nor_origin_matters(kind, offset, store) -> None:
    F, H = (sample.round(1) for sample in two_samples(80))
    expected = KernelMean().fit(H).estimate(F).proportion
    # float32 keeps tenths at an offset of 1000, not of a million.
    offset = min(offset, 1e3) if kind is np.float32 else offset
    moved = [store((sample + offset).astype(kind)) for sample in (F, H)]
    found = KernelMean().fit(moved[1]).estimate(moved[0]).proportion
    assert_allclose(found, expected, atol=2e-3)


@pytest.mark.parametrize("variant", ["km1", "km2"])
def test_nothing_of_H_in_F_is_zero_and_H_itself_is_one(variant) -> None:
    """Far apart, d is straight from the start: its one slope is KM2's threshold as well."""
    H = np.arange(20.0)[:, None]
    assert kernel_mean_proportion(H + 100, H, variant, bandwidth=0.2) < 1e-3
    assert kernel_mean_proportion(H, H, variant, bandwidth=0.2) == 1


def test_sparse_rows_give_the_same_answer() -> None:
    F, H = two_samples(50)
    dense = KernelMean().fit(H).estimate(F).proportion
    found = KernelMean().fit(sparse.csr_array(H)).estimate(sparse.csr_array(F)).proportion
    assert_allclose(found, dense, atol=2e-3)


def test_scores_are_taken_as_the_only_feature() -> None:
    F, H = (sample[:, :1] for sample in two_samples(100))
    both = np.round(F, 1), np.round(H, 1)
    from_rows = KernelMean(bandwidth=0.5).fit(both[1]).estimate(both[0]).proportion
    tied = np.isin(both[0], both[1]).mean()
    assert tied > 0.5
    found = KernelMean(bandwidth=0.5).from_scores(both[0], both[1]).proportion
    assert_allclose(found, from_rows, atol=0.02)  # scores of F in a gap move to its middle
