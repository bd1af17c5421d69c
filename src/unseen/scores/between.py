"""Distances between groups of rows: how far a row stands from the rows of all other groups.

A row lies near the rows of its own person, site or batch. New rows come from another group, and
have no such neighbours: only distances to other groups compare labelled rows with new ones.
"""

from __future__ import annotations

import numpy as np

from unseen._types import IntArray, Matrix
from unseen.samples import Clusters
from unseen.scores.base import Distances
from unseen.scores.kernel import Standardisation, neighbour_distances

__all__ = ["between_groups"]


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
    (array([0.5]), array([5.5, 4.5, 4.5, 5.5]))
    """
    scales = Standardisation.of(X, np.ones(X.shape[0])).raw_and_standardised
    none = np.full(X_new.shape[0], -1)
    clusters = Clusters(np.arange(X.shape[0]), none, (groups, none))
    return neighbour_distances(X_new, X, scales, rng, clusters)
