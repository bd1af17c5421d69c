"""Distances to the nearest labelled rows."""

import numpy as np
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.spatial.distance import cdist

from unseen.scores import distance
from unseen.scores.distance import neighbour_distances


def slow_distances(X: np.ndarray, X_new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    among = cdist(X, X) + np.diag(np.full(len(X), np.inf))
    return tuple(np.sort(table, axis=1)[:, :3].mean(axis=1) for table in (cdist(X_new, X), among))


def test_the_three_nearest_other_rows() -> None:
    rng = np.random.default_rng(0)
    X, X_new = rng.normal(size=(80, 4)), rng.normal(size=(50, 4))
    for found, slow in zip(neighbour_distances(X, X_new), slow_distances(X, X_new), strict=True):
        assert_allclose(found, slow)
    for found, slow in zip(
        neighbour_distances(sparse.csr_matrix(X), sparse.csr_matrix(X_new)),
        slow_distances(X, X_new),
        strict=True,
    ):
        assert_allclose(found, slow, atol=1e-6)


def test_two_rows_are_enough() -> None:
    new, labelled = neighbour_distances(np.array([[0.0], [2.0]]), np.array([[5.0]]))
    assert_allclose((*new, *labelled), (3.0, 2.0, 2.0))


def test_of_many_labelled_rows_some_are_asked(monkeypatch) -> None:
    rng = np.random.default_rng(1)
    X, X_new = rng.normal(size=(300, 2)), rng.normal(size=(40, 2))
    monkeypatch.setattr(distance, "_MOST_ROWS", 100)
    drawn = np.sort(np.random.default_rng(7).permutation(300)[:100])
    new, labelled = neighbour_distances(X, X_new, random_state=7)
    expected, within = slow_distances(X[drawn], X_new)
    assert_allclose(new, expected)
    assert_allclose(labelled[drawn], within)
    others = np.setdiff1d(np.arange(300), drawn)
    assert_allclose(labelled[others], slow_distances(X[drawn], X[others])[0])
