"""The projections against a general solver, closed forms and what any projection must obey."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import LinearConstraint, minimize

from unseen import simplex

points = arrays(np.float64, st.integers(1, 8), elements=st.floats(-5, 5, width=32))
rows = arrays(
    np.float64,
    st.tuples(st.integers(1, 5), st.integers(1, 6)),
    elements=st.floats(-5, 5, width=32),
)
both = pytest.mark.parametrize("projection", [simplex.project, simplex.project_open])


def nearest_by_slsqp(point: np.ndarray, smallest_sum: float) -> np.ndarray:
    """Slow twin: the quadratic programme, solved as such."""
    size = point.size
    solution = minimize(
        lambda p: 0.5 * np.sum((p - point) ** 2),
        np.full(size, 1 / (size + 1)),
        jac=lambda p: p - point,
        bounds=[(0, 1)] * size,
        constraints=LinearConstraint(np.ones(size), smallest_sum, 1),
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return solution.x


@settings(deadline=None, max_examples=40)
@given(points)
def test_solves_the_quadratic_programme(point: np.ndarray) -> None:
    assert_allclose(simplex.project(point), nearest_by_slsqp(point, 1), atol=1e-6)
    assert_allclose(simplex.project_open(point), nearest_by_slsqp(point, 0), atol=1e-6)


@settings(deadline=None, max_examples=50)
@given(points)
def test_lands_in_the_set(point: np.ndarray) -> None:
    closed, opened = simplex.project(point), simplex.project_open(point)
    assert (closed >= 0).all()
    assert (opened >= 0).all()
    assert_allclose(closed.sum(), 1, atol=1e-12)
    assert opened.sum() <= 1 + 1e-12


@both
@settings(deadline=None, max_examples=50)
@given(point=points)
def test_projecting_twice_changes_nothing(projection, point: np.ndarray) -> None:
    once = projection(point)
    assert_allclose(projection(once), once, atol=1e-12)


@both
@settings(deadline=None, max_examples=50)
@given(point=points, seed=st.integers(0, 100))
def test_obtuse_angle_characterises_the_projection(projection, point, seed) -> None:
    """p is the projection of x exactly when (x - p).(q - p) <= 0 for every q of the set."""
    nearest = projection(point)
    others = np.random.default_rng(seed).dirichlet(np.ones(point.size), size=30)
    if projection is simplex.project_open:
        others = np.vstack([others, 0.3 * others, np.zeros(point.size)])
    assert ((others - nearest) @ (point - nearest)).max() <= 1e-9


@both
@settings(deadline=None, max_examples=50)
@given(points=rows)
def test_rows_are_projected_one_by_one(projection, points: np.ndarray) -> None:
    assert_array_equal(projection(points), np.array([projection(row) for row in points]))


@both
@settings(deadline=None, max_examples=50)
@given(point=points, seed=st.integers(0, 100))
def test_order_of_the_classes_does_not_matter(projection, point, seed) -> None:
    order = np.random.default_rng(seed).permutation(point.size)
    assert_allclose(projection(point[order]), projection(point)[order], atol=1e-12)


def test_closed_forms() -> None:
    assert_allclose(simplex.project([5.0]), [1.0])
    assert_allclose(simplex.project([0.0, 0.0, 0.0, 0.0]), np.full(4, 0.25))
    assert_allclose(simplex.project([1e9, 0.0]), [1.0, 0.0])
    assert_allclose(simplex.project_open([-3.0, -1.0]), [0.0, 0.0])
    assert_allclose(simplex.project_open([0.2, 0.3]), [0.2, 0.3])


def test_far_points_keep_their_digits() -> None:
    assert_allclose(simplex.project([1e12 + 0.5, 1e12]), [0.75, 0.25], atol=1e-4)


@both
def test_input_is_left_alone(projection) -> None:
    point = np.array([0.9, 0.9])
    projection(point)
    assert_array_equal(point, [0.9, 0.9])


@both
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([np.nan, 0.5], r"points must be finite; got 1 NaN or infinite of 2\."),
        ([[np.inf, np.inf]], r"points must be finite; got 2 NaN or infinite of 2\."),
        ([], r"points must hold at least one coordinate per row; got shape \(0,\)\."),
        (0.5, r"points must hold at least one coordinate per row; got shape \(\)\."),
    ],
)
def test_bad_points_are_named(projection, bad, message) -> None:
    with pytest.raises(ValueError, match=message):
        projection(bad)
