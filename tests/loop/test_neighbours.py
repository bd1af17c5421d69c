"""Units in which neighbours scatter equally, and graphs whose eigenvectors part clumps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from unseen.loop import neighbours
from unseen.loop.neighbours import (
    Units,
    joined,
    leading_vectors,
    neighbour_graph,
    parting,
    parts_of_graph,
)

LINE = np.array([[0.0], [1.0], [3.0], [7.0]])


def clumps(sizes, rng, apart=50.0) -> np.ndarray:
    rows = [rng.normal(size=(n, 3)) + apart * place for place, n in enumerate(sizes)]
    return np.concatenate(rows)


def scatter(X, n_near) -> np.ndarray:
    """Half the mean of (x - y)' (x - y) over rows and neighbours, pair by pair."""
    pairs = []
    for row in X:
        order = np.argsort(((X - row) ** 2).sum(axis=1), kind="stable")
        pairs += [row - X[place] for place in order[1 : n_near + 1]]
    return np.array(pairs).T @ np.array(pairs) / (2 * len(pairs))


def test_a_row_is_joined_to_its_neighbours_and_to_those_whose_neighbour_it_is() -> None:
    """0 and 1 are each other's neighbour, and 1 that of 3, 3 that of 7; all are their own."""
    found = [[2, 2, 0, 0], [2, 2, 1, 0], [0, 1, 2, 1], [0, 0, 1, 2]]
    assert joined(LINE, 1).tolist() == found
    assert (joined(LINE, 10) == 2).all()


def test_units_make_the_scatter_of_neighbours_equal_but_for_what_is_taken_as_alike(
    monkeypatch,
) -> None:
    rng = np.random.RandomState(0)
    X = clumps((40, 40), rng) @ [[1, 0, 0], [3, 2, 0], [0, 1, 9]]
    raw = scatter(X, 5)
    mean = raw.trace() / 3
    matrix = Units.of_equal_scatter(X, 5).matrix
    alike = 0.3 * mean * np.eye(3) + 0.7 * raw
    assert_allclose(matrix.T @ alike @ matrix, np.eye(3), atol=1e-9)
    monkeypatch.setattr(neighbours, "_ALIKE", 0.0)
    matrix = Units.of_equal_scatter(X, 5).matrix
    assert_allclose(matrix.T @ raw @ matrix, np.eye(3), atol=1e-9)


def test_units_are_the_same_wherever_rows_lie_and_however_they_are_scaled() -> None:
    rng = np.random.RandomState(0)
    X = clumps((40, 40), rng, apart=5.0)
    places = [Units.of_equal_scatter(one, 5).of(one) for one in (X, 1e4 * X + 7e5)]
    apart = [np.linalg.norm(one[:, None] - one, axis=2) for one in places]
    assert_allclose(apart[1], apart[0], atol=1e-6)


@pytest.mark.parametrize("X", [np.ones((9, 2)), np.repeat(LINE, 4, axis=0), np.eye(4, 1001)])
def test_copies_and_very_many_columns_keep_their_units(X) -> None:
    assert Units.of_equal_scatter(X, 3).matrix is None
    assert Units().of(X) is X


def test_a_graph_parts_where_no_rows_are_joined() -> None:
    rng = np.random.RandomState(0)
    values = {n: np.linalg.eigvalsh(neighbour_graph(clumps([20] * n, rng), 5)) for n in (1, 2, 3)}
    for n_clumps, found in values.items():
        assert (found > 1 - 1e-9).sum() == n_clumps  # an eigenvalue of 1 for each part
    assert parting(neighbour_graph(clumps((20, 20), rng), 5)) == pytest.approx(1)
    assert parting(neighbour_graph(clumps((20,), rng), 19)) == pytest.approx(0)
    assert parting(neighbour_graph(LINE[:1], 3)) == 0


def test_a_row_joins_as_its_weight_says() -> None:
    """Copies of a row and a row of their weight have the same part in the second eigenvalue."""
    X, weights = np.array([[0.0], [1.0], [2.5]]), np.array([1.0, 1.0, 2.0])
    copies = np.vstack([X, X[2:]])
    found = [parting(neighbour_graph(copies, 3)), parting(neighbour_graph(X, 2, weights))]
    assert_allclose(found[1], found[0], atol=1e-12)
    graph = joined(X, 1) * np.outer(weights, weights)
    degrees = graph.sum(axis=1)
    assert_allclose(neighbour_graph(X, 1, weights), graph / np.sqrt(np.outer(degrees, degrees)))


def test_parts_of_the_graph_are_clumps_of_any_shape() -> None:
    """Two half rings, each in the other's gap: neighbours part them, centres do not."""
    rng = np.random.RandomState(0)
    angles = np.linspace(0, np.pi, 100)
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    X = np.vstack([ring, [1, 0.4] - ring]) + rng.normal(0, 0.05, (200, 2))
    vectors = leading_vectors(neighbour_graph(X, 10), 4)
    assert vectors.shape == (200, 4)
    parts = parts_of_graph(vectors, 2, np.ones(200), rng)
    assert len(set(parts[:100])) == len(set(parts[100:])) == 1
    assert parts[0] != parts[-1]
    assert not parts_of_graph(vectors, 1, np.ones(200), rng).any()
    scaled = parts_of_graph(vectors * rng.uniform(0.01, 1, (200, 1)), 2, np.ones(200), rng)
    assert len({*zip(parts.tolist(), scaled.tolist(), strict=True)}) == 2  # directions alone count
