"""What is true of every estimator of ν that starts from scores."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from unseen.mixture import BestBin, DensityRatio, KernelMean, ROCSlope
from unseen.mixture.base import sketch_scores
from unseen.roc.sketch import RocSketch

SCORE_METHODS = [ROCSlope(), BestBin(), DensityRatio()]
ALL_METHODS = [
    *SCORE_METHODS,
    KernelMean("km1", max_rows=200, random_state=0),
    KernelMean("km2", max_rows=200, random_state=0),
]


def gaussian_scores(n: int, share: float, shift: float, seed: int = 0):
    rng = np.random.default_rng(seed)
    n_both = round(n * share)
    F = np.r_[rng.normal(0, 1, n_both), rng.normal(shift, 1, n - n_both)]
    return F, rng.normal(0, 1, n)


# The concave model is not quite the ROC of shifted Gaussians; the more they overlap, the more
# its slope at the end shows that.
@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 0.7, 0.95, 1.0])
@pytest.mark.parametrize(
    ("method", "shift", "tolerance"),
    [
        (ROCSlope(), 2, 0.035),
        (ROCSlope(), 4, 0.005),
        (BestBin(), 2, 0.025),
        (BestBin(), 4, 0.01),
        (DensityRatio(), 2, 0.025),
        (DensityRatio(), 4, 0.01),
    ],
    ids=str,
)
def test_large_gaussian_samples(method, share, shift, tolerance) -> None:
    estimate = method.from_scores(*gaussian_scores(100_000, share, shift))
    assert abs(estimate.proportion - share) < tolerance


@pytest.mark.parametrize("method", SCORE_METHODS, ids=str)
def test_errors_shrink_with_the_sample(method) -> None:
    def mean_error(n: int) -> float:
        draws = (gaussian_scores(n, 0.4, 3, seed) for seed in range(20))
        return float(np.mean([abs(method.from_scores(*d).proportion - 0.4) for d in draws]))

    assert mean_error(20_000) < mean_error(2_000) < mean_error(200)


# F, H, and the least and greatest share that a method which reads the ROC may give.
DEGENERATE = {
    "one row each": ([1.0], [0.0], 0, 0),
    "the same row": ([0.0], [0.0], 1, 1),
    "all tied": ([0.0] * 50, [0.0] * 50, 1, 1),
    # 11 of 50 rows of F at or below the one score of H; a smooth curve cuts the corner.
    "H tied": (np.arange(50.0), [10.0] * 50, 0.22, 0.4),
    # The ROC runs below the diagonal nearly to its end.
    "F tied": ([10.0] * 50, np.arange(50.0), 1, 1),
    # Two of five rows of F lie among H, and so few rows prove little.
    "n = 5": ([0.1, 0.5, 2.0, 3.0, 4.0], [0.0, 0.2, 0.4, 0.6, 0.8], 0.4, 0.85),
    "F above": (np.arange(100.0, 200.0), np.arange(100.0), 0, 0),
    "F below": (np.arange(100.0), np.arange(100.0, 200.0), 1, 1),
    "identical": (np.arange(200.0), np.arange(200.0), 1, 1),
    "far outlier": (np.r_[np.arange(99.0), 1e12], np.r_[np.arange(99.0), -1e12], 0.98, 1),
    # Half of F lies at or below the larger of two scores of H.
    "huge F": (np.linspace(0, 1, 5000), [0.2, 0.5], 0.5, 1),
}
# Kernel means see rows and no order: what does not lie where H lies is not of H.
DEGENERATE_ROWS = {
    "H tied": (0.02, 0.02),  # one of 50 rows of F is where all of H is
    "F tied": (0, 0),
    "n = 5": (0, 0.7),
    "F below": (0, 0),
    "huge F": (0, 0.8),
}


@pytest.mark.parametrize("method", ALL_METHODS, ids=str)
@pytest.mark.parametrize("case", DEGENERATE)
def test_degenerate_scores_give_the_share_they_show(method, case) -> None:
    F, H, least, greatest = DEGENERATE[case]
    if isinstance(method, KernelMean):
        least, greatest = DEGENERATE_ROWS.get(case, (least, greatest))
    proportion = method.from_scores(F, H).proportion
    assert least - 1e-3 <= proportion <= greatest + 1e-3


@pytest.mark.parametrize("method", ALL_METHODS, ids=str)
def test_scores_and_their_sketch_agree(method) -> None:
    F, H = gaussian_scores(300, 0.4, 2)
    sketch = RocSketch.from_scores(F[:100], H) + RocSketch.from_scores(F[100:], H)
    seeded = method.set_params(random_state=0)
    assert seeded.from_sketch(sketch).proportion == seeded.from_scores(F, H).proportion


@pytest.mark.parametrize("method", SCORE_METHODS, ids=str)
def test_the_order_of_rows_does_not_matter(method) -> None:
    F, H = gaussian_scores(300, 0.4, 2)
    rng = np.random.default_rng(1)
    shuffled = method.from_scores(rng.permutation(F), rng.permutation(H))
    assert shuffled.proportion == method.from_scores(F, H).proportion


@pytest.mark.parametrize("method", SCORE_METHODS, ids=str)
def test_the_roc_comes_with_the_estimate_thinned(method) -> None:
    estimate = method.from_scores(*gaussian_scores(5000, 0.4, 2))
    assert 50 < estimate.roc.false_alarm.size < 500
    assert estimate.roc.n_new == estimate.roc.n_labelled == 5000
    assert np.clip(estimate.roc.right_slope, 0, 1) == estimate.proportion
    assert estimate.method == type(method).__name__


def test_scores_drawn_back_from_a_sketch_have_that_sketch() -> None:
    F, H = (sample.round(1) for sample in gaussian_scores(200, 0.4, 2))
    sketch = RocSketch.from_scores(F, H)
    again = RocSketch.from_scores(*sketch_scores(sketch))
    assert_allclose(again.gap_new, sketch.gap_new)
    assert_allclose(again.edge_new, sketch.edge_new)
    assert_allclose(again.edge_labelled, sketch.edge_labelled)
    # Beyond the outermost scores of H, half a mean gap away.
    middles, edges = sketch_scores(RocSketch.from_scores([0.2, 1.0, 9.0], [0.0, 1.0]))
    assert_allclose(middles, [0.5, 1.0, 1.5])
    assert_allclose(edges, [0.0, 1.0])
