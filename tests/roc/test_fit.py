import numpy as np
import pytest
from numpy.testing import assert_allclose

from reference.roc_twins import minimise_deviance
from unseen.roc.fit import GRID, fit_roc, fit_sketches
from unseen.roc.models import Concave, Gaussian, RocModel
from unseen.roc.sketch import RocSketch

MODELS = [Concave(), Concave(mu=None), Gaussian()]
each_model = pytest.mark.parametrize("model", MODELS, ids=str)
ALPHA = GRID


def gaussian_sketch(seed: int, n: int) -> RocSketch:
    rng = np.random.default_rng(seed)
    known = rng.binomial(n, rng.uniform())
    novel = rng.normal(rng.choice([0.3, 1, 2, 4]), rng.choice([0.7, 1, 1.5]), n - known)
    return RocSketch.from_scores(np.r_[rng.normal(size=known), novel], rng.normal(size=n))


def true_parameters(model: RocModel) -> np.ndarray:
    rows = {
        "Delta": [[0.0, 0.1], [0.1, 0.02], [0.4, 0.2], [0.8, 0.001]],
        "mu": [[0.0, 0.1, 0.5], [0.1, 0.02, 1.0], [0.4, 0.05, 2.0], [0.7, 0.01, 1.5]],
    }
    if isinstance(model, Gaussian):
        return np.array([[0.0, 1.0], [0.1, 2.0], [0.4, 1.5], [0.8, 3.0]])
    return np.array(rows[model.names[-1]])


@each_model
def test_points_on_the_model_give_its_parameters_back(model: RocModel) -> None:
    truth = true_parameters(model)
    fitted = fit_roc(ALPHA, model.value(ALPHA, truth), model)
    assert_allclose(fitted.parameters, truth, rtol=1e-4, atol=1e-6)
    assert_allclose(fitted.right_slope, model.right_slope(truth), atol=1e-6)


@pytest.mark.parametrize("n", [5, 25, 400])
@each_model
def test_a_batch_ends_where_scipy_ends_from_many_starts(model: RocModel, n: int) -> None:
    curves = np.array([np.interp(ALPHA, *gaussian_sketch(s, n).roc()) for s in range(6)])
    fitted = fit_roc(ALPHA, curves, model)
    starts = model.starts[:: len(model.starts) // 5]
    for row, curve in enumerate(curves):
        seeds = np.vstack([starts, fitted.parameters[row]])
        twin = minimise_deviance(model, ALPHA, curve, seeds)
        # Nearly equal minima with nearly equal slopes exist; missing one of them is harmless.
        assert fitted.deviance[row] <= twin.fun + 0.03
        assert_allclose(fitted.right_slope[row], model.right_slope(twin.x), atol=0.01)
        if fitted.deviance[row] <= twin.fun + 1e-9:
            assert_allclose(fitted.right_slope[row], model.right_slope(twin.x), atol=1e-4)


@each_model
def test_a_batch_equals_one_curve_at_a_time(model: RocModel) -> None:
    curves = np.array([np.interp(ALPHA, *gaussian_sketch(s, 200).roc()) for s in range(150)])
    together = fit_roc(ALPHA, curves, model).right_slope
    for row in (0, 70, 149):
        alone = fit_roc(ALPHA, curves[row], model).right_slope
        assert_allclose(together[row], alone[0], atol=1e-7)


@each_model
def test_extreme_samples_give_a_sane_slope(model: RocModel) -> None:
    rng = np.random.default_rng(0)
    same = rng.normal(size=200)

    def slope(scores_F: np.ndarray, scores_H: np.ndarray) -> float:
        sketch = RocSketch.from_scores(scores_F, scores_H)
        return float(fit_sketches([sketch], model).right_slope[0])

    assert slope(rng.normal(20, 1, 200), same) < 0.01
    assert_allclose(slope(np.zeros(30), np.zeros(40)), 1, atol=0.01)
    assert slope(same, same) > 0.95
    assert slope(rng.normal(-20, 1, 200), same) > 0.9
    assert_allclose(slope(np.array([1.0]), np.array([0.0])), 0, atol=1e-3)
    assert_allclose(slope(np.array([0.0]), np.array([0.0])), 1, atol=0.01)


def test_half_separable_data_do_not_get_stuck() -> None:
    rng = np.random.default_rng(1)
    for nu in (0.01, 0.05, 0.1):
        known = int(1000 * nu)
        F = np.r_[rng.normal(size=known), rng.normal(30, 1, 1000 - known)]
        sketch = RocSketch.from_scores(F, rng.normal(size=1000))
        found = fit_sketches([sketch], Concave()).right_slope[0]
        assert_allclose(found, nu, atol=0.01)


@pytest.mark.parametrize(
    ("false_alarm", "detection", "message"),
    [
        ([0.0, 0.5], [0.1, 0.6], "false_alarm must be one grid strictly between 0 and 1"),
        ([0.2, 0.5], [0.1, 0.6, 0.9], "detection must hold 2 points per curve"),
        ([0.2, 0.5], [0.1, 1.6], r"detection must lie in \[0, 1\]; got values in \[0.1, 1.6\]"),
        ([0.2, 0.5], [0.1, np.nan], r"detection must lie in \[0, 1\]"),
    ],
)
def test_bad_curves_are_named(
    false_alarm: list[float], detection: list[float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        fit_roc(false_alarm, detection, Concave())


def test_the_grid_of_all_fits_cannot_be_changed() -> None:
    assert_allclose(GRID, np.arange(0.0025, 1, 0.005))
    with pytest.raises(ValueError, match="read-only"):
        GRID[0] = 0.5


def test_fitted_curves_can_be_compared_hashed_and_not_changed() -> None:
    one, other = (fit_roc([0.2, 0.5], [0.3, 0.6], Concave()) for _ in range(2))
    assert len({one, other, one}) == 2
    assert one == one
    assert one != other
    for array in vars(one).values():
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.5


def test_parameters_at_a_wall_do_not_lie_beyond_it_by_rounding() -> None:
    """They are read back into a model, which refuses what is outside its bounds."""
    alpha = np.linspace(0.005, 0.995, 200)
    curves = np.array([np.minimum(1, alpha + 0.3 * (alpha > 0.5)), alpha**1.2, alpha])
    for model in (Concave(mu=None), Gaussian()):
        fitted = fit_roc(alpha, curves, model)
        lower, upper = model.bounds
        assert (fitted.parameters >= lower).all()
        assert (fitted.parameters <= upper).all()
