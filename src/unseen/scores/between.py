"""Distances between groups of rows: how far a row stands from the rows of all other groups.

A row lies near the rows of its own person, site or batch. New rows come from another group, and
have no such neighbours: only distances to other groups compare labelled rows with new ones.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from unseen._types import FloatArray, IntArray, Matrix
from unseen.scores.base import Distances
from unseen.scores.kernel import Standardisation, row_blocks

__all__ = ["between_groups"]

_NEIGHBOURS, _MOST_REFERENCES = 3, 1000


def between_groups(
    X_new: Matrix, X: Matrix, groups: IntArray, rng: np.random.RandomState
) -> Distances:
    """Mean distance of each row to the three nearest labelled rows of other groups.

    Parameters
    ----------
    X_new, X : ndarray or sparse matrix of shape (m, d) and (n, d)
        New and labelled rows.
    groups : ndarray of shape (n,)
        Group of each labelled row; at least two groups.
    rng : RandomState
        Draws the labelled rows to which distances are taken, where there are more than 1,000.

    Returns
    -------
    Distances
        A column in given units, and one with equal spreads.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.scores.between import between_groups
    >>> X, groups = np.array([[0.0], [1.0], [5.0], [6.0]]), np.array([0, 0, 1, 1])
    >>> found = between_groups(np.array([[1.0]]), X, groups, np.random.RandomState(0))
    >>> found.new[:, 0].round(2), found.labelled[:, 0]
    (array([1.67]), array([5.5, 4.5, 4.5, 5.5]))
    """
    chosen = np.arange(X.shape[0])
    if len(chosen) > _MOST_REFERENCES:
        chosen = np.sort(rng.choice(chosen, _MOST_REFERENCES, replace=False))
    scales = Standardisation.of(X, np.ones(X.shape[0])).raw_and_standardised
    none = np.full(X_new.shape[0], -1)
    found = []
    for rows, own in ((X_new, none), (X, groups)):
        far = np.empty((rows.shape[0], len(scales)))
        for block in row_blocks(rows.shape[0]):
            left_out = own[block][:, None] == groups[chosen]
            for column, scale in enumerate(scales):
                distances = euclidean_distances(scale(rows[block]), scale(X[chosen]))
                far[block, column] = _nearest(np.where(left_out, np.inf, distances))
        found.append(far)
    return Distances(*found)


def _nearest(distances: FloatArray) -> FloatArray:
    """Mean of the three smallest finite distances, or of as many as every row has."""
    fewest = int(np.isfinite(distances).sum(axis=1).min())
    n_nearest = max(1, min(_NEIGHBOURS, fewest))
    return np.asarray(np.partition(distances, n_nearest - 1, axis=1)[:, :n_nearest].mean(axis=1))
