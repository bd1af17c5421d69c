import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from unseen.mixture.slope import ROCSlope
from unseen.roc.models import Concave, Gaussian
from unseen.roc.sketch import RocSketch

VARIANTS = [
    ROCSlope(),
    ROCSlope(smooth=True, random_state=0),
    ROCSlope(Concave(mu=None)),
    ROCSlope(Gaussian()),
]
each_variant = pytest.mark.parametrize("method", VARIANTS, ids=str)


def separated(nu: float, n: int, seed: int, shift: float = 5.0) -> tuple[np.ndarray, np.ndarray]:
    """F holds exactly the share nu of H, the rest well away from it."""
    rng = np.random.default_rng(seed)
    known = round(nu * n)
    F = np.r_[rng.normal(size=known), rng.normal(shift, 1, n - known)]
    return F, rng.normal(size=n)


@each_variant
@pytest.mark.parametrize("nu", [0.05, 0.3, 0.6, 0.9])
def test_finds_the_share_of_h(method: ROCSlope, nu: float) -> None:
    assert_allclose(method.from_scores(*separated(nu, 2000, 1)).proportion, nu, atol=0.05)


def test_error_shrinks_with_the_sample() -> None:
    def error(n: int) -> float:
        slopes = [ROCSlope().from_scores(*separated(0.4, n, s, 3.0)).proportion for s in range(20)]
        return float(np.mean(np.abs(np.array(slopes) - 0.4)))

    assert error(20_000) < 0.5 * error(200)


def test_any_rising_map_of_the_scores_changes_nothing() -> None:
    F, H = separated(0.4, 300, 2, 1.5)
    expected = ROCSlope().from_scores(F, H).proportion
    assert_allclose(ROCSlope().from_scores(np.exp(F), np.exp(H)).proportion, expected, atol=1e-9)


def test_the_record_holds_the_curve() -> None:
    F, H = separated(0.4, 500, 3)
    estimate = ROCSlope().from_scores(F, H)
    assert estimate.method == "ROCSlope"
    evidence = estimate.roc
    assert evidence is not None
    assert set(evidence.parameters) == {"gamma", "Delta", "mu"}
    gamma, delta = evidence.parameters["gamma"], evidence.parameters["Delta"]
    assert_allclose(evidence.right_slope, (1 - gamma) * delta + gamma)
    assert estimate.proportion == evidence.right_slope
    assert (evidence.n_new, evidence.n_labelled) == (500, 500)
    assert evidence.false_alarm.size <= 202
    assert (evidence.detection[0], evidence.detection[-1]) == (0, 1)


@each_variant
def test_extreme_samples_give_a_sane_share(method: ROCSlope) -> None:
    rng = np.random.default_rng(4)
    same = rng.normal(size=100)
    assert method.from_scores(rng.normal(30, 1, 100), same).proportion < 0.02
    assert method.from_scores(np.zeros(20), np.zeros(30)).proportion > 0.99
    assert method.from_scores(same, same).proportion > 0.9
    five = same[:5]
    assert method.from_scores(five + 30, five).proportion < 0.02
    assert method.from_scores(five, five).proportion > 0.9
    assert method.from_scores([1.0], [0.0]).proportion < 0.02
    assert method.from_scores([0.0], [0.0]).proportion > 0.99


def test_smoothing_moves_a_large_sample_little() -> None:
    F, H = separated(0.4, 3000, 5, 2.0)
    plain = ROCSlope().from_scores(F, H).proportion
    smooth = ROCSlope(smooth=True, random_state=0).from_scores(F, H).proportion
    assert_allclose(smooth, plain, atol=0.01)


@each_variant
def test_replicates_scatter_around_the_estimate(method: ROCSlope) -> None:
    sketch = RocSketch.from_scores(*separated(0.5, 1500, 6))
    slopes = method.replicates(sketch, 200, random_state=0)
    assert slopes.shape == (200,)
    assert np.isfinite(slopes).all()
    spread = slopes.std()
    assert 0.003 < spread < 0.1
    assert abs(slopes.mean() - method.from_sketch(sketch).proportion) < 2.5 * spread
    assert_array_equal(slopes, method.replicates(sketch, 200, random_state=0))


def test_spread_of_replicates_is_the_spread_of_samples() -> None:
    """Calibration: the bootstrap's standard deviation is that over fresh samples, within 25%."""
    slopes = [
        ROCSlope()
        .from_scores(
            np.where(
                np.random.default_rng(s).random(600) < 0.4,
                np.random.default_rng(s + 1000).normal(size=600),
                np.random.default_rng(s + 2000).normal(3, 1, 600),
            ),
            np.random.default_rng(s + 3000).normal(size=600),
        )
        .proportion
        for s in range(100)
    ]
    spread = [
        ROCSlope()
        .replicates(RocSketch.from_scores(*separated(0.4, 600, s, 3.0)), 200, random_state=s)
        .std()
        for s in range(10)
    ]
    assert_allclose(np.mean(spread), np.std(slopes), rtol=0.25)


def test_the_default_is_the_concave_model() -> None:
    F, H = separated(0.3, 200, 7)
    explicit = ROCSlope(Concave(mu=1.0)).from_scores(F, H)
    assert explicit.proportion == ROCSlope().from_scores(F, H).proportion
    assert clone(ROCSlope(Gaussian())).model == Gaussian()


def test_bad_parameters_are_named() -> None:
    with pytest.raises(ValueError, match="'model' parameter of ROCSlope must be"):
        ROCSlope(model="concave").from_scores([1.0], [0.0])
    with pytest.raises(ValueError, match="'smooth' parameter of ROCSlope must be"):
        ROCSlope(smooth="yes").from_scores([1.0], [0.0])
