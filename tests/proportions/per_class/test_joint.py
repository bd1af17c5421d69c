"""MPE-Joint: the least total deviance over curves whose slopes share out the whole."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import check_grad

from reference.joint_twin import best_on_grid, by_general_solver, deviance
from reference.pair_scores import ODD, gaussian_pairs
from unseen import MPEJoint, simplex
from unseen.roc import GRID, Concave, Gaussian, RocSketch, bootstrap_rocs, fit_roc
from unseen.roc.joint import _derivatives, by_slope_of, cheapest_slopes, fit_jointly, share_out
from unseen.scores import PairScores

scores_of = partial(gaussian_pairs, shift=2.5)
MODELS = [Gaussian(), Concave(), Concave(mu=0.5)]
each_model = pytest.mark.parametrize("model", MODELS, ids=repr)


def rough_curves(seed: int, n_classes: int, n: int = 40) -> np.ndarray:
    """ROCs of few rows, many of which no model fits well, with slopes that need not sum to 1."""
    rng = np.random.default_rng(seed)
    curves = []
    for _ in range(n_classes):
        share, H = rng.integers(n), rng.normal(size=n)
        others = [
            rng.normal(rng.uniform(0, 4), 1, n - share),
            rng.uniform(-1, 6, n - share),
            rng.normal(rng.uniform(-0.3, 0.3), rng.uniform(0.3, 2), n - share),
        ]
        F = np.append(rng.normal(size=share), others[rng.integers(3)])
        curves.append(np.interp(GRID, *RocSketch.from_scores(F, H).roc()))
    return np.array(curves)


@each_model
@pytest.mark.parametrize("closed", [True, False])
def test_recovers_curves_of_the_model(model, closed) -> None:
    places = np.array([[0.5, 0.02], [0.3, 0.1], [0.2, 0.05]])
    if isinstance(model, Gaussian):
        places[:, 1] = [2.0, 1.0, 1.5]
    parameters = places if isinstance(model, Gaussian) else _with_slope(places)
    fitted = fit_jointly(GRID, model.value(GRID, parameters), model, closed)
    assert_allclose(fitted.right_slope[0], places[:, 0], atol=1e-5)
    assert_allclose(fitted.parameters[0], parameters, atol=1e-4)


def _with_slope(places: np.ndarray) -> np.ndarray:
    slope, delta = places.T
    return np.column_stack([(slope - delta) / (1 - delta), delta])


@each_model
def test_open_set_is_each_curve_alone_while_the_slopes_leave_room(model) -> None:
    scores = scores_of([0.4, 0.2])
    curves = _curves(scores)
    alone = fit_roc(GRID, curves, model)
    assert alone.right_slope.sum() < 0.95
    together = fit_jointly(GRID, curves, model, closed=False)
    assert_allclose(together.right_slope[0], alone.right_slope, atol=1e-5)
    assert_allclose(together.deviance[0], alone.deviance.sum(), rtol=1e-9)


def _curves(scores: PairScores) -> np.ndarray:
    return np.array([np.interp(GRID, *RocSketch.from_scores(*p).roc()) for p in scores.pairs])


@each_model
def test_open_and_closed_agree_where_the_slopes_are_too_many(model) -> None:
    curves = _curves(scores_of([0.7, 0.6, 0.3]))
    closed, opened = (fit_jointly(GRID, curves, model, one) for one in (True, False))
    assert_allclose(opened.right_slope, closed.right_slope, atol=1e-5)
    assert_allclose(closed.right_slope.sum(), 1, atol=1e-12)


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_equals_trust_constr_on_the_problem_as_the_paper_states_it(n_classes, closed) -> None:
    shares = np.arange(1, n_classes + 1) / (0.8 * n_classes * (n_classes + 1) / 2)
    curves = _curves(scores_of(shares.tolist(), n=400, seed=n_classes))
    ours = fit_jointly(GRID, curves, Gaussian(), closed)
    start = np.column_stack([np.full(n_classes, 1 / n_classes), np.full(n_classes, 1.5)])
    solved = by_general_solver(Gaussian(), GRID, curves, start, "trust-constr", closed)
    assert_allclose(ours.deviance[0], solved.fun, rtol=1e-6)
    assert_allclose(ours.right_slope[0], solved.x[::2], atol=1e-3)


@pytest.mark.slow
def test_never_above_slsqp_from_several_starts() -> None:
    """SLSQP from one start ends in the wrong valley in about one of six of these problems."""
    worst, one_start = -np.inf, 0
    for seed in range(12):
        n_classes, closed = 2 + seed % 4, bool(seed % 3)
        curves = rough_curves(seed, n_classes)
        ours = fit_jointly(GRID, curves, Gaussian(), closed).deviance[0]
        rng = np.random.default_rng(seed)
        gammas = [np.full(n_classes, 1 / n_classes), *rng.dirichlet(np.ones(n_classes), 3)]
        starts = [np.column_stack([gamma, np.full(n_classes, 1.5)]) for gamma in gammas]
        solved = [
            by_general_solver(Gaussian(), GRID, curves, start, "SLSQP", closed) for start in starts
        ]
        worst = max(worst, ours - min(one.fun for one in solved))
        one_start += solved[0].fun > ours + 1e-3
    assert worst < 1e-3
    assert one_start > 0


@pytest.mark.slow
@pytest.mark.parametrize(("model", "closed"), [(Gaussian(), True), (Concave(), False)])
def test_never_above_the_best_of_a_fine_grid(model, closed) -> None:
    for seed in range(2):
        curves = rough_curves(100 + seed, 2 + seed % 2)
        ours = fit_jointly(GRID, curves, model, closed).deviance[0]
        assert ours <= best_on_grid(model, GRID, curves, 15, closed) + 1e-4


@each_model
def test_deviance_and_slopes_are_those_of_the_parameters(model) -> None:
    curves = rough_curves(7, 3)
    fitted = fit_jointly(GRID, curves, model)
    total = sum(
        deviance(model, GRID, curve, row)
        for curve, row in zip(curves, fitted.parameters[0], strict=True)
    )
    assert_allclose(fitted.deviance[0], total, rtol=1e-10)
    bent = fitted.parameters[0, :, 1] > 0
    assert_allclose(
        fitted.right_slope[0, bent], model.right_slope(fitted.parameters[0])[bent], atol=1e-6
    )


@each_model
def test_a_batch_is_its_problems_one_by_one(model) -> None:
    batch = np.array([rough_curves(seed, 3) for seed in range(5)])
    together = fit_jointly(GRID, batch, model)
    for row, curves in enumerate(batch):
        alone = fit_jointly(GRID, curves, model)
        assert_allclose(together.right_slope[row], alone.right_slope[0], atol=1e-7)


@each_model
@settings(deadline=None, max_examples=30)
@given(slope=st.floats(0.01, 0.99), shape=st.floats(0.05, 0.95))
def test_gradient_in_the_coordinates_of_the_slope(model, slope, shape) -> None:
    by_slope = by_slope_of(model)
    low, high = by_slope.shapes[[0, -1]]
    place = np.array([slope, low + shape * (high - low)])
    curve = np.linspace(0.1, 0.95, GRID.size)[np.newaxis, np.newaxis]

    def value(x: np.ndarray) -> float:
        return float(_derivatives(by_slope, GRID, curve, x[None, None])[0][0])

    def gradient(x: np.ndarray) -> np.ndarray:
        return _derivatives(by_slope, GRID, curve, x[None, None])[1][0, 0]

    size = 1 + np.abs(gradient(place)).max()
    assert check_grad(value, gradient, place) < 1e-4 * size
    assert_allclose(model.right_slope(by_slope.parameters(place)), slope, rtol=1e-9)


profiles = hnp.arrays(
    float, st.tuples(st.just(1), st.integers(1, 3), st.integers(2, 6)), elements=st.floats(-9, 9)
)


@settings(deadline=None, max_examples=50)
@given(profile=profiles, closed=st.booleans())
def test_dynamic_programming_finds_the_cheapest_of_all(profile, closed) -> None:
    _, n_classes, n_steps = profile.shape
    every = np.stack(np.meshgrid(*[range(n_steps)] * n_classes), axis=-1).reshape(-1, n_classes)
    total = every.sum(axis=1)
    allowed = every[total == n_steps - 1 if closed else total <= n_steps - 1]
    costs = np.take_along_axis(profile[0].T, allowed, axis=0).sum(axis=1)
    found = cheapest_slopes(profile, closed)[0]
    assert any((allowed == found).all(axis=1))
    assert_allclose(profile[0][np.arange(n_classes), found].sum(), costs.min(), atol=1e-9)


@settings(deadline=None, max_examples=50)
@given(
    point=hnp.arrays(float, 4, elements=st.floats(-2, 2)),
    closed=st.booleans(),
)
def test_sharing_out_with_equal_curvature_is_a_projection(point, closed) -> None:
    ones = np.ones((1, 4))
    found = share_out(-point[None], ones, 0 * ones, ones, np.ones(1), closed)[0]
    project = simplex.project if closed else simplex.project_open
    assert_allclose(found, project(point), atol=1e-9)


def test_sharing_out_keeps_the_total_beside_a_flat_class() -> None:
    """A class of no curvature takes up the rest, however steep the others are."""
    gradient, curvature = np.array([[30.0, 7.0, 2e-16]]), np.array([[7e3, 1e10, 1e-9]])
    lower, upper = np.array([[-0.03, 0.0, -0.97]]), np.array([[0.97, 1.0, 0.03]])
    moved = share_out(gradient, curvature, lower, upper, np.zeros(1))
    assert_allclose(moved.sum(), 0.0, atol=1e-12)
    # The flat class takes what the first gives up by its own Newton step.
    assert_allclose(moved, [[-30.0 / 7e3, 0.0, 30.0 / 7e3]], atol=1e-9)


def test_a_class_that_looks_like_all_rows_gets_what_the_others_leave() -> None:
    """A ROC under the diagonal says nothing of its slope: it is the sum that fixes it."""
    others = Gaussian().value(GRID, [[0.02, 6.0], [0.0, 5.0], [0.01, 8.0]])
    fitted = fit_jointly(GRID, np.vstack([others, 0.95 * GRID]), Gaussian())
    assert_allclose(fitted.right_slope, [[0.02, 0.0, 0.01, 0.97]], atol=1e-3)


def test_the_record() -> None:
    scores = scores_of([0.5, 0.3])
    estimate = MPEJoint().from_scores(scores)
    assert estimate.proportions.sum() == pytest.approx(1, abs=1e-12)
    assert estimate.unseen == 0
    assert estimate.roc["a"].right_slope == estimate["a"]
    assert set(estimate.roc["a"].parameters) == {"gamma", "Delta"}
    assert estimate.diagnostics["deviance"] > 0
    assert (estimate.seed, estimate.notices[0]) == (5, ODD)
    assert [notice.code for notice in estimate.notices[1:]] == ["closed_set"]
    assert not estimate.sees_unseen
    opened = MPEJoint(closed=False).from_scores(scores)
    assert opened.notices == (ODD,)
    assert opened.sees_unseen
    assert opened.unseen == pytest.approx(1 - opened.proportions.sum())
    assert_allclose([opened["a"], opened["b"], opened.unseen], [0.5, 0.3, 0.2], atol=0.06)


def test_one_class_is_enough_for_the_open_set_only(samples) -> None:
    X, y, X_new = samples
    one = y == "left"
    with pytest.raises(ValueError, match="at least 2 classes for a closed-set method"):
        MPEJoint().fit(X[one], y[one])
    with pytest.raises(ValueError, match="at least 2 classes for a closed-set method"):
        MPEJoint().from_scores(scores_of([0.3]))
    estimate = MPEJoint(closed=False, random_state=0).fit(X[one], y[one]).estimate(X_new)
    assert abs(estimate.unseen - 0.5) < 0.2


def test_replicates_are_the_joint_fits_of_the_replicated_rocs() -> None:
    scores = scores_of([0.5, 0.3], n=300)
    draws = MPEJoint(Gaussian(), closed=False).read(scores).replicates(30, 3)
    curves = bootstrap_rocs(scores.pairs, GRID, 30, 3)
    expected = [fit_jointly(GRID, one, Gaussian(), closed=False).right_slope[0] for one in curves]
    assert_allclose(draws[:, :2], expected, atol=1e-7)
    assert_allclose(draws.sum(axis=1), 1, atol=1e-9)
    assert_array_equal(MPEJoint().read(scores).replicates(5, 3)[:, 2], 0)


def test_smooth_fits_the_mean_of_the_replicated_rocs() -> None:
    rng = np.random.default_rng(5)
    pairs = tuple((rng.normal(1, 1, 80), rng.normal(0, 1, 40)) for _ in range(2))
    scores = PairScores(("a", "b"), pairs, seed=3)
    mean = bootstrap_rocs(pairs, GRID, 500, 3).mean(axis=0)
    expected = fit_jointly(GRID, mean, Gaussian()).right_slope[0]
    assert_allclose(MPEJoint(smooth=True).from_scores(scores).proportions, expected)
    assert not np.allclose(MPEJoint().from_scores(scores).proportions, expected)


def test_a_free_asymmetry_is_refused(samples) -> None:
    X, y, _ = samples
    rule = r"model must be Gaussian\(\) or Concave\(\) with a fixed mu; got Concave\(mu=None\)\."
    with pytest.raises(ValueError, match=rule):
        MPEJoint(model=Concave(mu=None)).fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("model", [Gaussian(), Concave()], ids=repr)
def test_finds_the_shares_when_nothing_is_unseen(model, draws) -> None:
    """New rows without the third class: the shares are 5/7 and 2/7."""
    errors = [
        MPEJoint(model=model, random_state=0).fit(X, y).estimate(X_new[:420])["left"] - 5 / 7
        for X, y, X_new in draws[:2]
    ]
    assert np.abs(errors).mean() < 0.03


@pytest.mark.slow
def test_open_default_sees_that_one_class_makes_up_nearly_all_rows() -> None:
    """The Gaussian slope of a ROC on the diagonal may be anything; the concave one is near 1."""
    rng = np.random.default_rng(0)
    pairs = [
        (rng.normal(0, 1, 500), rng.normal(0, 1, 500)) for _ in range(8)
    ]  # eight problems with one class each
    shares = [MPEJoint(closed=False).from_scores(PairScores(("a",), (p,))) for p in pairs]
    assert min(estimate["a"] for estimate in shares) > 0.7
