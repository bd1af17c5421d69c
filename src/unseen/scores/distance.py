"""How far a row lies from the labelled rows: a score of novelty that needs no learning.

A discriminator of new rows must be learnt, and from few labelled rows it learns little. The
distance to the nearest labelled rows is known at once. It is the weaker score where rows are many.
"""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors

from unseen.base import FloatArray, Matrix

__all__ = ["neighbour_distances"]

_NEIGHBOURS = 3
# Distances to so many labelled rows tell as much as those to all, and their cost is bounded.
_MOST_ROWS = 5_000


def neighbour_distances(
    X: Matrix, X_new: Matrix, random_state: int | None = None
) -> tuple[FloatArray, FloatArray]:
    """Mean distance of every row to its three nearest labelled rows, itself left out.

    Parameters
    ----------
    X, X_new : array-like or sparse matrix of shape (n, d) and (m, d)
        Labelled and new rows; at least 2 labelled ones.
    random_state : int or None
        Draws labelled rows where they are very many.

    Returns
    -------
    new, labelled : ndarray of shape (m,) and (n,)

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> new, labelled = neighbour_distances(X, [[1.0]])
    >>> new, labelled
    (array([0.5]), array([2. , 1.5, 2.5]))
    """
    n_rows = X.shape[0]
    rng = np.random.default_rng(random_state)
    drawn = np.sort(rng.permutation(n_rows)[:_MOST_ROWS])
    n_neighbours = min(_NEIGHBOURS, len(drawn) - 1)
    search = NearestNeighbors(n_neighbors=n_neighbours).fit(X[drawn])
    labelled = np.empty(n_rows)
    labelled[drawn] = search.kneighbors()[0].mean(axis=1)
    others = np.setdiff1d(np.arange(n_rows), drawn)
    if len(others):
        labelled[others] = search.kneighbors(X[others])[0].mean(axis=1)
    return search.kneighbors(X_new)[0].mean(axis=1), labelled
