"""Quadratic programs on the simplex, against a general solver and the conditions of optimality."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from reference.closed_twins import on_simplex
from unseen.proportions import quadratic
from unseen.proportions.bootstrap import bootstrap_means
from unseen.proportions.closed_set.matching import matching_replicates
from unseen.simplex import minimise_on_simplex
from unseen.simplex import minimise_on_plane


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


def test_on_the_plane_the_slope_is_level_everywhere() -> None:
    gram, linear = programs(2, 5)
    shares = minimise_on_plane(gram, linear)
    assert_allclose(shares.sum(axis=1), 1, atol=1e-9)
    slope = np.einsum("bkl,bl->bk", gram, shares) - linear
    assert_allclose(slope - slope[:, :1], 0, atol=1e-7 * np.abs(gram).max())


@pytest.mark.parametrize("exact_rows", [10**6, 10])
def test_bootstrap_means_have_the_moments_of_dirichlet_weights(monkeypatch, exact_rows) -> None:
    monkeypatch.setattr(quadratic, "EXACT_ROWS", exact_rows)
    rows = np.random.default_rng(0).normal([1.0, 2.0], [1.0, 3.0], (400, 2))
    means = bootstrap_means(rows, 20_000, np.random.default_rng(1))
    assert_allclose(means.mean(axis=0), rows.mean(axis=0), atol=0.005 * 3)
    # The variance of a mean under Dirichlet(1, ..., 1) weights is that of the rows over n + 1.
    assert_allclose(means.var(axis=0), rows.var(axis=0) / 401, rtol=0.05)


def test_replicates_spread_as_resolving_with_weights_does() -> None:
    """Matching the means of two features: the weighted programs can be solved one by one."""
    rng = np.random.default_rng(3)
    codes = np.repeat([0, 1], 150)
    x = rng.normal(0, 1, (300, 2)) + codes[:, None] * [2.0, 1.0]
    x_new = rng.normal(0, 1, (200, 2)) + (np.arange(200) < 60)[:, None] * [2.0, 1.0]
    samples = [x[codes == 0], x[codes == 1], x_new]
    means = np.array([sample.mean(axis=0) for sample in samples])
    found = matching_replicates(x @ means.T, codes, x_new @ means.T, 2000, 0)
    slow = []
    for _ in range(2000):
        m = np.array([rng.dirichlet(np.ones(len(sample))) @ sample for sample in samples])
        slow.append(minimise_on_simplex(m[:2] @ m[:2].T, m[:2] @ m[2]))
    assert_allclose(found.mean(axis=0), np.mean(slow, axis=0), atol=0.005)
    assert_allclose(found.std(axis=0), np.std(slow, axis=0), rtol=0.1)
