"""Quadratic programs on the simplex, against a general solver and the conditions of optimality."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from reference.closed_twins import on_simplex
from unseen import simplex
from unseen.simplex import (
    approximate_mixture_shares,
    minimise_on_simplex,
    mixture_shares,
    on_support,
)


def programs(seed, n_classes, n_programs=20, rank=None):
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n_programs, rank or n_classes + 1, n_classes))
    target = rng.normal(size=(n_programs, rank or n_classes + 1))
    return factors.swapaxes(1, 2) @ factors, np.einsum("bik,bi->bk", factors, target)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10**6), st.integers(2, 7))
def test_the_minimum_satisfies_the_conditions_of_optimality(seed, n_classes) -> None:
    gram, linear = programs(seed, n_classes)
    shares = minimise_on_simplex(gram, linear)
    slope = np.einsum("bkl,bl->bk", gram, shares) - linear
    level = np.einsum("bk,bk->b", shares, slope)
    assert (shares >= 0).all()
    assert_allclose(shares.sum(axis=1), 1, atol=1e-12)
    # No direction into the simplex goes down; along the support the slope is level.
    scale = np.abs(linear).max(axis=1, keepdims=True) + np.abs(gram).max(axis=(1, 2))[:, None]
    assert ((slope - level[:, None]) / scale > -1e-7).all()


def test_it_agrees_with_a_general_solver() -> None:
    gram, linear = programs(1, 4)
    for G, h, shares in zip(gram, linear, minimise_on_simplex(gram, linear), strict=True):
        twin = on_simplex(lambda pi, G=G, h=h: pi @ G @ pi / 2 - h @ pi, 4)
        assert_allclose(shares, twin, atol=1e-5)


def test_classes_that_cannot_be_told_apart_get_even_shares() -> None:
    factor = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    shares = minimise_on_simplex(factor.T @ factor, factor.T @ np.array([0.6, 0.4]))
    assert_allclose(shares, [0.3, 0.3, 0.4], atol=1e-4)


def test_shares_of_rows_that_only_one_class_can_make_are_their_counts() -> None:
    assert_allclose(mixture_shares(np.eye(3)[[0, 0, 1, 0]]), [0.75, 0.25, 0.0], atol=1e-9)


def test_a_probability_of_zero_is_a_coordinate_like_others() -> None:
    least = np.log(1e-7)
    found = simplex.score_features(np.eye(2)[:1], are_probabilities=True)
    assert_allclose(found, [[-least / 2, least / 2, 0.0]])


def test_on_the_plane_the_slope_is_level_everywhere() -> None:
    gram, linear = programs(2, 5)
    shares, _ = on_support(gram, linear, np.ones(linear.shape, dtype=bool))
    assert_allclose(shares.sum(axis=1), 1, atol=1e-9)
    slope = np.einsum("bkl,bl->bk", gram, shares) - linear
    assert_allclose(slope - slope[:, :1], 0, atol=1e-7 * np.abs(gram).max())


def test_a_wrong_guess_of_the_support_changes_nothing() -> None:
    rng = np.random.default_rng(3)
    half = rng.normal(size=(40, 6, 6))
    gram, linear = half @ half.transpose(0, 2, 1), rng.normal(size=(40, 6))
    guess = rng.random((40, 6)) < 0.5
    assert_allclose(
        minimise_on_simplex(gram, linear, guess), minimise_on_simplex(gram, linear), atol=1e-10
    )


def test_programs_that_go_round_in_circles_are_solved_too(monkeypatch) -> None:
    rng = np.random.default_rng(4)
    half = rng.normal(size=(20, 5, 5))
    gram, linear = half @ half.transpose(0, 2, 1), 3 * rng.normal(size=(20, 5))
    found = minimise_on_simplex(gram, linear)
    monkeypatch.setattr(simplex, "_PIVOTS", 1)
    assert_allclose(minimise_on_simplex(gram, linear), found, atol=1e-9)


@pytest.mark.parametrize("n_replicates", [2, 60])
def test_the_curvature_of_the_likelihood_is_a_weighted_gram(n_replicates) -> None:
    rng = np.random.default_rng(5)
    R, W = rng.random((70, 6)), rng.random((n_replicates, 70))
    slow = np.einsum("bj,jk,jl->bkl", W, R, R)
    assert_allclose(simplex._curvature(R, W), slow, rtol=1e-12)


def test_accelerated_em_finds_the_shares_of_newton_steps() -> None:
    # Within a hundredth of the standard error on average, as its docstring says.
    rng = np.random.default_rng(6)
    centres = rng.normal(size=(30, 5)) * 1.5
    rows = centres[rng.integers(30, size=600)] + rng.normal(size=(600, 5))
    ratios = np.exp(rows @ centres.T - 0.5 * np.square(centres).sum(axis=1))
    weights = rng.exponential(size=(40, 600))
    weights /= weights.sum(axis=1, keepdims=True)
    noise = 0.02 * rng.normal(size=(40, 30))
    start = np.full(30, 1 / 30)
    exact = mixture_shares(ratios, weights, noise, start=start)
    found = approximate_mixture_shares(ratios, weights, noise, start=start)
    assert_allclose(found.sum(axis=1), 1)
    assert found.min() >= 0
    assert np.abs(found - exact).mean() < 0.01 * exact.std(axis=0).mean()


def test_an_em_step_tells_the_height_from_which_it_climbs() -> None:
    rng = np.random.default_rng(0)
    ratios, weights = rng.uniform(0.1, 1.0, (30, 3)), np.full((2, 30), 1 / 30)
    noise, shares = rng.uniform(0, 0.3, (2, 3)), rng.dirichlet(np.ones(3), 2)

    def height(pi: np.ndarray) -> np.ndarray:
        return np.log(pi @ ratios.T).mean(axis=1) - (noise * pi).sum(axis=1)

    climbed, before = simplex._em_step(ratios, weights, noise, shares)
    assert_allclose(before, height(shares))
    assert_allclose(climbed.sum(axis=1), 1)
    assert (height(climbed) >= before).all()
