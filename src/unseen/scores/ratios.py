"""Density ratios and distances: two ways to see how new rows differ from labelled ones.

A discriminator has to learn what is unseen from the unseen rows themselves, and where these are few
it learns little. Distances need to learn nothing: rows that stand apart from all labelled rows
stand out from the first one on. But distances depend on the units of the columns, so there are two
sets of them: in the units given, and with all columns of equal spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.neighbors import NearestNeighbors

from unseen._frozen import Frozen
from unseen._types import FloatArray, Matrix
from unseen.scores.kernel import Standardisation, row_blocks

__all__ = ["Distances", "RatioScores", "neighbour_distances"]

_NEIGHBOURS = 3
# With so many rows to compare with, more of them would only take longer.
_MOST_REFERENCES = 1000


@dataclass(frozen=True, eq=False)
class Distances(Frozen):
    """Distances to the nearest rows of H, one column for every scale of the features.

    Parameters
    ----------
    new, labelled : ndarray of shape (n_F, S) and (n_H, S)
        Distances of the rows of F and of H; high where a row stands apart from H.
    """

    new: FloatArray
    labelled: FloatArray


def neighbour_distances(
    F: Matrix, H: Matrix, scales: Sequence[Standardisation], rng: np.random.RandomState
) -> Distances:
    """Mean distance of each row to the three nearest rows of H, itself left out.

    Parameters
    ----------
    F, H : ndarray or sparse matrix of shape (n, d)
        New and labelled rows, at least 2 of H.
    scales : sequence of Standardisation
        Scales of the features, one column of distances each.
    rng : RandomState
        Draws the rows of H to which distances are taken, where it has more than 1,000.

    Returns
    -------
    Distances

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.scores.kernel import Standardisation
    >>> from unseen.scores.ratios import neighbour_distances
    >>> F, H = np.array([[0.0], [9.0]]), np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> as_given = Standardisation(np.zeros(1), np.ones(1))
    >>> found = neighbour_distances(F, H, [as_given], np.random.RandomState(0))
    >>> found.new[:, 0], found.labelled[:, 0].round(2)
    (array([1., 7.]), array([2.  , 1.33, 1.33, 2.  ]))
    """
    chosen = np.arange(H.shape[0])
    if len(chosen) > _MOST_REFERENCES:
        chosen = np.sort(rng.choice(chosen, _MOST_REFERENCES, replace=False))
    n_nearest = min(_NEIGHBOURS, len(chosen) - 1)
    new = np.empty((F.shape[0], len(scales)))
    labelled = np.empty((H.shape[0], len(scales)))
    for column, scale in enumerate(scales):
        model = NearestNeighbors(n_neighbors=n_nearest, algorithm="brute").fit(scale(H[chosen]))
        new[:, column] = _mean_distance(model, F, scale)
        labelled[:, column] = _mean_distance(model, H, scale)
        # Without an argument no row counts as its own neighbour.
        labelled[chosen, column] = model.kneighbors()[0].mean(axis=1)
    return Distances(new, labelled)


def _mean_distance(model: NearestNeighbors, rows: Matrix, scale: Standardisation) -> FloatArray:
    parts = [
        model.kneighbors(scale(rows[block]))[0].mean(axis=1) for block in row_blocks(rows.shape[0])
    ]
    return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class RatioScores(Frozen):
    """Out-of-fold scores of F against H, one column for every candidate discriminator.

    Parameters
    ----------
    new, labelled : ndarray of shape (n_F, C) and (n_H, C)
        Log density ratios of F against H, up to a constant; high where a row looks like F.
    log_loss : ndarray of shape (C,)
        Held-out log-loss of each candidate, per unit of weight.
    distances : Distances or None, default=None
        How far the rows stand from those of H; None where the classifier is the user's own, who
        may know better than to compare rows by distance.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.scores.ratios import RatioScores
    >>> RatioScores(np.zeros((5, 2)), np.zeros((3, 2)), np.array([0.6, 0.5])).best
    1
    """

    new: FloatArray
    labelled: FloatArray
    log_loss: FloatArray
    distances: Distances | None = None

    @property
    def best(self) -> int:
        """The candidate of the least log-loss."""
        return int(np.argmin(self.log_loss))
