"""What neighbours tell of rows: units of equal scatter, and a graph whose parts are clumps.

Rows near each other are mostly of one class, whether anybody knows the class or not. So their
differences show how rows scatter within classes, known and new alike, without labels (Art,
Gnanadesikan and Kettenring 1982). Rows joined to their neighbours make a graph, and its
eigenvectors part the rows where few are joined (Ng, Jordan and Weiss 2001), whatever shape the
parts have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from sklearn.cluster import KMeans
from sklearn.metrics import euclidean_distances

from unseen._types import FloatArray, IntArray

# Part of the scatter that is taken to be the same in all directions: few rows tell no more.
_ALIKE = 0.3
# A matrix of more columns than this costs more than it tells.
_MOST_COLUMNS = 1000
_STARTS = 4
_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Units:
    """Units in which groups are looked for: a matrix that rows are multiplied by, or None."""

    matrix: FloatArray | None = None

    def of(self, X: FloatArray) -> FloatArray:
        """The rows in these units."""
        return X if self.matrix is None else np.asarray(X @ self.matrix)

    @classmethod
    def of_equal_scatter(cls, X: FloatArray, n_near: int) -> Units:
        """Units in which rows scatter equally in all directions around their neighbours."""
        n_columns = X.shape[1]
        if n_columns > _MOST_COLUMNS:
            return cls()
        rows, graph = X - X.mean(axis=0), joined(X, n_near)
        # Half the sum of (x - y)' (x - y) over all joined x and y.
        apart = (rows.T * graph.sum(axis=1)) @ rows - rows.T @ graph @ rows
        scatter = apart / max(graph.sum() - graph.trace(), 1.0)
        mean = scatter.trace() / n_columns
        if mean <= _TINY * rows.var():  # neighbours are copies
            return cls()
        sizes, directions = np.linalg.eigh(scatter / mean)
        spread = _ALIKE + (1 - _ALIKE) * np.maximum(sizes, 0.0)
        return cls(np.asarray(directions / np.sqrt(mean * spread)))


def joined(X: FloatArray, n_near: int) -> FloatArray:
    """How strongly rows are joined: 1 where one is a neighbour of the other, 2 where both are.

    A row is one of its own neighbours, besides ``n_near`` others.
    """
    distances = euclidean_distances(X)
    n_near = min(n_near, len(X) - 1)
    near = np.argpartition(distances, n_near, axis=1)[:, : n_near + 1]
    found = np.zeros_like(distances)
    np.put_along_axis(found, near, 1.0, axis=1)
    return np.asarray(found + found.T)


def neighbour_graph(X: FloatArray, n_near: int, weights: FloatArray | None = None) -> FloatArray:
    """How strongly rows are joined, over the roots of their degrees: no eigenvalue is above 1.

    Rows with weights are joined by the product of these.
    """
    graph = joined(X, n_near)
    if weights is not None:
        graph *= np.outer(weights, weights)
    degrees = np.sqrt(np.maximum(graph.sum(axis=1), _TINY))
    return np.asarray(graph / np.outer(degrees, degrees))


def parting(graph: FloatArray) -> float:
    """The second eigenvalue: 1 where rows fall into two parts, less the more the parts join."""
    return float(np.linalg.eigvalsh(graph)[-2]) if len(graph) > 1 else 0.0


def leading_vectors(graph: FloatArray, most: int) -> FloatArray:
    """Eigenvectors of the largest eigenvalues, the largest first: shape (n, most)."""
    n = len(graph)
    _, vectors = eigh(graph, subset_by_index=[max(0, n - most), n - 1])
    return np.asarray(vectors[:, ::-1])


def parts_of_graph(
    vectors: FloatArray, n_groups: int, weights: FloatArray, rng: np.random.RandomState
) -> IntArray:
    """Group of each row, from 0: k-means on the directions of the first eigenvectors."""
    first = vectors[:, :n_groups]
    first = first / np.maximum(np.linalg.norm(first, axis=1, keepdims=True), _TINY)
    means = KMeans(n_groups, n_init=_STARTS, random_state=rng)
    return np.asarray(means.fit(first, sample_weight=weights).labels_, dtype=np.intp)
