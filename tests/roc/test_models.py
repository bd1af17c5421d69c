import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from unseen.roc.models import Concave, Gaussian, RocModel

MODELS = [Concave(), Concave(mu=0.3), Concave(mu=5.0), Concave(mu=None), Gaussian()]
each_model = pytest.mark.parametrize("model", MODELS, ids=str)
GRID = np.linspace(0, 1, 201)
quick = settings(deadline=None, max_examples=50)


@st.composite
def curves(draw: st.DrawFn) -> tuple[RocModel, np.ndarray]:
    model = draw(st.sampled_from(MODELS))
    share = np.array([draw(st.floats(0, 1)) for _ in model.names])
    lower, upper = model.bounds
    on_log = np.exp(np.log(np.maximum(lower, 1e-9)) * (1 - share) + np.log(upper) * share)
    return model, np.where(model.log_scaled, on_log, lower * (1 - share) + upper * share)


@quick
@given(curves())
def test_a_curve_is_a_proper_roc(curve: tuple[RocModel, np.ndarray]) -> None:
    model, parameters = curve
    value = model.value(GRID, parameters)
    assert value[0] == 0
    assert_allclose(value[-1], 1, atol=1e-12)
    assert (np.diff(value) >= -1e-12).all()
    assert (np.diff(value, 2) <= 1e-10).all()
    assert (value >= GRID - 1e-12).all()


@quick
@given(curves())
def test_logs_are_finite_next_to_the_ends(curve: tuple[RocModel, np.ndarray]) -> None:
    model, parameters = curve
    alpha = np.array([1e-300, 1e-100, 1e-12, 0.5, 1 - 1e-12, 1 - 2**-53])
    value, complement, gradient = model.value_and_gradient(alpha, parameters)
    assert (value > 0).all()
    assert (complement > 0).all()
    assert_allclose(value + complement, 1, atol=1e-12)
    for array in (np.log(value), np.log(complement), gradient):
        assert np.isfinite(array).all()


@quick
@given(curves())
def test_gradients_equal_central_differences(curve: tuple[RocModel, np.ndarray]) -> None:
    model, parameters = curve
    lower, upper = model.bounds
    width = np.where(model.log_scaled, parameters, 1.0)
    step = 1e-5 * width
    inside = np.clip(parameters, lower + 2 * step, upper - 2 * step)
    alpha = np.array([0.01, 0.2, 0.5, 0.8, 0.99])
    _, _, gradient = model.value_and_gradient(alpha, inside)
    for k, shift in enumerate(np.diag(step)):
        up, down = inside + shift, inside - shift
        slope = (model.value(alpha, up) - model.value(alpha, down)) / (2 * step[k])
        assert_allclose(gradient[k] * width[k], slope * width[k], rtol=1e-5, atol=1e-8)


@each_model
def test_right_slope_is_the_slope_at_one(model: RocModel) -> None:
    parameters = np.array([[0.0, 0.3, 2.0], [0.2, 0.05, 0.5], [0.7, 0.9, 6.0]])
    parameters = parameters[:, : len(model.names)]
    # The Gaussian model bends until the very end: its slope there is a limit.
    run, tolerance = (1e-14, 0.1) if isinstance(model, Gaussian) else (1e-7, 1e-5)
    if isinstance(model, Gaussian):
        parameters[:, 1] += 2
    _, complement, _ = model.value_and_gradient(np.array([1 - run]), parameters)
    assert_allclose(complement[:, 0] / run, model.right_slope(parameters), atol=tolerance)


def test_right_slope_of_the_diagonal_is_one() -> None:
    assert Gaussian().right_slope([0.3, 0.0]) == 1
    assert Concave().right_slope([0.3, 1.0]) == 1


def test_closed_form_at_mu_one() -> None:
    gamma, delta = 0.2, 0.05
    expected = (1 - gamma) * GRID / (GRID + delta * (1 - GRID)) + gamma * GRID
    assert_allclose(Concave().value(GRID, [gamma, delta]), expected, atol=1e-14)


@each_model
def test_a_batch_equals_one_curve_at_a_time(model: RocModel) -> None:
    batch = model.starts[::40]
    alpha = np.linspace(0.01, 0.99, 7)
    own_grid = np.tile(alpha, (len(batch), 1))
    for together in (model.value(alpha, batch), model.value(own_grid, batch)):
        assert_allclose(together, [model.value(alpha, row) for row in batch], rtol=1e-13)
    gradient = model.value_and_gradient(alpha, batch)[2]
    assert gradient.shape == (len(model.names), len(batch), 7)


@each_model
def test_starts_lie_inside_the_bounds(model: RocModel) -> None:
    lower, upper = model.bounds
    assert ((model.starts >= lower) & (model.starts <= upper)).all()


def test_names_are_the_papers() -> None:
    assert Concave().named([0.1, 0.2]) == {"gamma": 0.1, "Delta": 0.2, "mu": 1.0}
    assert Concave(mu=None).named([0.1, 0.2, 3]) == {"gamma": 0.1, "Delta": 0.2, "mu": 3.0}
    assert Gaussian().named([0.1, 0.2]) == {"gamma": 0.1, "Delta": 0.2}


@pytest.mark.parametrize("mu", [-1.0, 101, np.nan, "a", [1.0]])
def test_a_bad_mu_is_named(mu) -> None:
    message = f"mu must be None or lie in [0.01, 100.0]; got {mu!r}."
    with pytest.raises(ValueError, match=re.escape(message)):
        Concave(mu=mu)


def test_mu_may_be_any_kind_of_number() -> None:
    for mu in (1, np.float32(1), np.int64(1)):
        assert Concave(mu=mu) == Concave()


@each_model
def test_who_writes_to_an_array_of_a_model_does_not_change_the_model(model: RocModel) -> None:
    for read in (lambda: model.starts, lambda: model.bounds[0], lambda: model.bounds[1]):
        before, given = read().copy(), read()
        if given.flags.writeable:
            given += 1.0
        assert_allclose(read(), before)
