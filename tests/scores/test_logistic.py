"""The batched solver: every column is the problem it says it is."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.datasets import make_moons

from reference.exact_klr import exact_scores
from unseen._arrays import chosen_arrays
from unseen.scores import logistic
from unseen.scores.kernel import RESIDUAL, PreparedRows, ShiftedKernel, median_bandwidth
from unseen.scores.logistic import Problems, solve
from unseen.scores.scales import Standardisation

IDENTITY = Standardisation(np.zeros(2), np.ones(2))


def kernel_factor(X, scale, landmarks, bandwidth):
    typical = median_bandwidth(landmarks)
    rows = PreparedRows(X, np.ones(len(X)), scale, landmarks, typical, chosen_arrays())
    return rows.factor(bandwidth)


@pytest.fixture(scope="module")
def moons():
    return make_moons(90, noise=0.3, random_state=0)


def test_folds_are_the_fits_without_their_rows(moons):
    """By the representer theorem landmarks on left-out rows change nothing."""
    X, y = moons
    folds = np.arange(len(y)) % 3
    weights = (folds[:, None] != np.arange(3)).astype(float)
    strengths = np.array([0.1, 10.0])
    cells = Problems(
        np.repeat(strengths, 3),
        np.tile(np.arange(3), 2),
        weights,
        np.broadcast_to(y[:, None, None].astype(float), (len(y), 3, 1)),
    )
    found = solve(kernel_factor(X, IDENTITY, X, 0.8), cells, tol=1e-9, max_iter=200)
    for cell, (C, fold) in enumerate(zip(cells.C, cells.group, strict=True)):
        train = folds != fold
        exact = exact_scores(X[train], y[train] == 1, X, 0.8, C)
        assert_allclose(found.values[:, cell, 0], exact, atol=1e-5)


def test_rows_that_no_problem_trains_on_have_values_all_the_same(moons):
    """One fold alone leaves its rows idle; beside the other folds they are worked on."""
    X, y = moons
    weights = (np.arange(len(y))[:, None] % 3 != np.arange(3)).astype(float)
    targets, factor = y[:, None, None].astype(float), kernel_factor(X, IDENTITY, X, 0.8)
    seen = []

    def watch(active, values, *_):
        seen.append(values)
        return np.zeros(active.size, dtype=bool)

    alone, beside = (
        solve(
            factor,
            Problems(np.full(n_folds, 10.0), np.arange(n_folds), weights[:, :n_folds], targets),
            tol=1e-9,
            max_iter=200,
            watch=watch if n_folds == 1 else None,
        )
        for n_folds in (1, 3)
    )
    assert_allclose(alone.values[:, 0], beside.values[:, 0], atol=1e-5)
    assert_allclose(alone.coefficients[:, 0], beside.coefficients[:, 0], atol=1e-3)
    assert_allclose(seen[-1], alone.values, atol=0.1)


def test_multinomial_cell_equals_a_general_optimiser(moons):
    X, _ = moons
    X = X[:40]
    codes = np.arange(40) % 3
    T = (codes[:, None] == np.arange(3)).astype(float)
    factor = kernel_factor(X, IDENTITY, X, 1.0)
    found = solve(
        factor,
        Problems(np.array([2.0]), np.array([0]), np.ones((40, 1)), T[:, None]),
        tol=1e-10,
        max_iter=200,
    )
    B = factor.design @ factor.whiten

    def objective(flat):
        w = flat.reshape(-1, 3)
        f = B @ w
        normaliser = np.logaddexp.reduce(f, axis=1)
        P = np.exp(f - normaliser[:, None])
        gradient = 2.0 * B.T @ (P - T)
        gradient[:-1] += w[:-1]
        value = (w[:-1] ** 2).sum() / 2 + 2.0 * (normaliser - (f * T).sum(axis=1)).sum()
        return value, gradient.ravel()

    best = minimize(objective, np.zeros(B.shape[1] * 3), jac=True, options={"gtol": 1e-9})
    f = B @ best.x.reshape(-1, 3)
    centred = f - f.mean(axis=1, keepdims=True)
    ours = found.values[:, 0] - found.values[:, 0].mean(axis=1, keepdims=True)
    assert_allclose(ours, centred, atol=1e-4)


@pytest.mark.parametrize("tol", [1e-1, 1e-2, 1e-3])
def test_values_are_within_the_error_of_the_exact_fit(moons, tol):
    X, y = moons
    C = np.array([0.1, 10.0, 1000.0])
    weights, targets = np.ones((len(y), 1)), y[:, None, None].astype(float)
    cells = Problems(C, np.zeros(3, dtype=int), weights, targets)
    factor = kernel_factor(X, IDENTITY, X, 0.3)
    early, late = (solve(factor, cells, tol=t, max_iter=300) for t in (tol, 1e-10))
    gap = np.abs(early.values - late.values).max(axis=(0, 2))
    assert np.all(gap <= early.error + 1e-5)
    assert np.all(late.error < 1e-6)


def test_single_precision_agrees_with_double(moons, monkeypatch):
    X, y = make_moons(800, noise=0.3, random_state=3)
    monkeypatch.setitem(RESIDUAL, np.float64, RESIDUAL[np.float32])
    cells = {}
    for limit, dtype in ((0, np.float32), (10**9, np.float64)):
        monkeypatch.setattr("unseen.scores.kernel.EXACT_CELLS", limit)
        factor = kernel_factor(X, IDENTITY, X[:200], 0.5)
        assert factor.design.dtype == dtype
        problem = Problems(
            np.array([1.0]),
            np.array([0]),
            np.ones((800, 1), dtype),
            y[:, None, None].astype(dtype),
        )
        cells[dtype] = solve(factor, problem, tol=1e-3, max_iter=100).values
    assert_allclose(cells[np.float32], cells[np.float64], atol=0.02)


def test_rows_without_weight_do_not_count_and_no_signal_is_no_work(moons):
    X, _ = moons
    factor = kernel_factor(X, IDENTITY, X, 1.0)
    cells = Problems(np.array([1.0]), np.array([0]), np.ones((90, 1)), np.full((90, 1, 1), 0.5))
    found = solve(factor, cells, tol=1e-6, max_iter=50)
    assert_allclose(found.values, 0, atol=1e-9)


def test_kernel_is_the_gaussian_and_whitening_whitens():
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(700, 3)), rng.normal(size=(40, 3))
    expected = np.exp(-((X[:, None] - Z[None]) ** 2).sum(axis=2) / (2 * 1.3**2))
    plain = ShiftedKernel(Z, 1.3).fill(X, np.empty((700, 40)))
    assert_allclose(plain, expected, rtol=1e-10)
    shifted = ShiftedKernel(Z, 1.3, -2.0).fill(X, np.empty((700, 40)))
    assert_allclose(shifted, expected - np.exp(-2.0), atol=1e-12)
    factor = kernel_factor(X, Standardisation(np.zeros(3), np.ones(3)), Z, 1.3)
    kept = factor.kernel.landmarks
    K_ZZ = ShiftedKernel(kept, 1.3).fill(kept, np.empty((len(kept),) * 2))
    W = factor.whiten[:-1, :-1]
    assert_allclose(W.T @ K_ZZ @ W, np.eye(len(W)), atol=1e-6)


def test_dependent_landmarks_are_dropped():
    X = np.random.default_rng(0).normal(size=(50, 2))
    factor = kernel_factor(X, IDENTITY, np.vstack([X, X]), 1.0)
    assert factor.design.shape[1] - 1 <= 50


def test_standardisation_is_weighted_and_leaves_constants_alone():
    X = np.array([[1.0, 5.0], [3.0, 5.0], [100.0, 5.0]])
    scaling = Standardisation.of(X, np.array([1.0, 1.0, 0.0]))
    assert_allclose(scaling.centre, [2.0, 5.0])
    assert_allclose(scaling.scale, [1.0, 1.0])


def test_median_bandwidth_of_coinciding_landmarks_is_one():
    assert median_bandwidth(np.ones((1, 2))) == 1.0
    assert_allclose(median_bandwidth(np.array([[0.0], [1.0], [3.0]])), 2.0)


def test_single_precision_stops_where_rounding_stops_it(moons, monkeypatch):
    X, y = moons
    monkeypatch.setattr("unseen.scores.kernel.EXACT_CELLS", 0)
    standardise = Standardisation.of(X, np.ones(len(X)))
    factor = kernel_factor(X, standardise, standardise(X[:80]), 4.0)
    problems = Problems(
        np.array([1e3]), np.zeros(1, int), np.ones((len(X), 1), np.float32), y[:, None, None] * 1.0
    )
    steps = []
    original = logistic._Iteration.step
    monkeypatch.setattr(
        logistic._Iteration, "step", lambda state: (steps.append(1), original(state))[1]
    )
    stopped = solve(factor, problems, tol=1e-12, max_iter=200)
    n_stopped = len(steps)
    monkeypatch.setattr(logistic, "STALLED_TOL", 0.0)
    on = solve(factor, problems, tol=1e-12, max_iter=200)
    assert n_stopped < 100 < len(steps) - n_stopped
    assert_allclose(stopped.values, on.values, atol=0.02)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_share_is_so_small_that_products_with_it_are_slow(dtype):
    powers = np.linspace(0, -2000, 150).astype(dtype)
    found = chosen_arrays().shares(np.tile(powers, (3, 2, 1)))
    assert found.dtype == dtype
    assert found.min() >= np.finfo(dtype).tiny
    exact = np.exp(powers.astype(float)) / np.exp(powers.astype(float)).sum()
    assert_allclose(found[1, 1], exact, rtol=1e-6, atol=1e-34)


@pytest.mark.parametrize("n_columns", [1, 2, 3, 4, 5, 10, 15, 36, 37, 900])
def test_products_with_a_design_are_those_of_numpy(n_columns):
    rng = np.random.default_rng(0)
    left, design = rng.normal(size=(5000, n_columns)), rng.normal(size=(5000, 40))
    found = chosen_arrays().transposed_product(left, design)
    assert_allclose(found, design.T @ left, rtol=0, atol=1e-10)
    right, out = rng.normal(size=(40, n_columns)), np.full((5000, n_columns), np.nan)
    chosen_arrays().product(design, right, out)
    assert_allclose(out, design @ right, rtol=0, atol=1e-11)


def test_hopeless_problems_leave_when_they_are_watched(moons):
    X, y = moons
    factor = kernel_factor(X, IDENTITY, X[::3], 0.5)
    ones = np.ones((len(y), 1))
    problems = Problems(np.array([1.0, 10.0]), np.zeros(2, int), ones, y[:, None, None])
    last = solve(factor, problems, tol=1e-9, max_iter=100)
    for at, watched in ((1, [1, 4]), (4, logistic.WATCHED)):
        watch = {"watch": lambda active, *_: active == 1, "watched": watched}
        found = solve(factor, problems, tol=1e-9, max_iter=100, **watch)
        until = solve(factor, problems, tol=1e-9, max_iter=at)
        assert_allclose(found.values[:, 1], until.values[:, 1], atol=1e-12)
        assert_allclose(found.values[:, 0], last.values[:, 0], atol=1e-6)
        assert np.abs(found.values[:, 1] - last.values[:, 1]).max() > 1e-3
