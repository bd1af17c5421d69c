"""Groups of unseen rows: as many as known classes suggest.

Known classes tell how wide a class is. The number of groups is the smallest k for which k-means
groups are, over all rows, no wider than a class of the upper quarter of known ones; the k at half
and at nine tenths of the known classes give a range. Clustering without this yardstick cannot
answer "one" (HDBSCAN), or answers "many" (silhouette, BIC): benchmarks/loop.py compares them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from unseen._types import FloatArray, IntArray

__all__ = ["Grouping", "KnownWidth", "class_widths", "width_noise"]

# Standard errors of a width that are no sign of a second group.
_NOISE = 2.0


@dataclass(frozen=True, eq=False)
class Grouping:
    """Groups of rows, and how many groups there might be.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Group of each row, from 0.
    centres : ndarray of shape (k, d)
        Centres of the groups.
    n_groups : (int, int)
        Least and most groups that known classes allow for.
    """

    labels: IntArray
    centres: FloatArray
    n_groups: tuple[int, int]


@dataclass(frozen=True)
class KnownWidth:
    """k-means with the smallest k whose groups are no wider than known classes.

    Parameters
    ----------
    quantile : float, default=0.75
        Quantile of the widths of known classes that groups may reach.
    most : int, default=8
        Most groups.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.RandomState(0)
    >>> rows = np.concatenate([rng.normal(0, 1, (50, 2)), rng.normal(9, 1, (50, 2))])
    >>> known, codes = rng.normal(0, 1, (80, 2)), np.zeros(80, dtype=int)
    >>> found = KnownWidth().group(rows, np.ones(100), known, codes, rng)
    >>> len(found.centres), found.n_groups
    (2, (2, 2))
    """

    quantile: float = 0.75
    most: int = 8

    def group(
        self,
        X: FloatArray,
        weights: FloatArray,
        known: FloatArray,
        codes: IntArray,
        rng: np.random.RandomState,
    ) -> Grouping:
        """Group rows.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Rows.
        weights : ndarray of shape (n,)
            Weight of each row, such as the probability that it is unseen.
        known : ndarray of shape (m, d)
            Rows of known classes.
        codes : ndarray of shape (m,)
            Class of each known row, from 0.
        rng : RandomState
            Starts k-means.
        """
        widths = class_widths(known, codes)
        room = 1 + _NOISE * width_noise(known, codes, len(X))
        wide, middle, narrow = room * np.quantile(widths, [0.9, self.quantile, 0.5])
        fits: list[Any] = []
        found: list[float] = []
        while len(fits) < min(self.most, len(X)) and not (found and found[-1] <= narrow):
            start = KMeans(len(fits) + 1, n_init=4, random_state=rng)
            fits.append(start.fit(X, sample_weight=weights))
            found.append(float(np.sqrt(fits[-1].inertia_ / weights.sum())))

        def first(limit: float) -> int:
            reached = [place for place, width in enumerate(found, start=1) if width <= limit]
            return reached[0] if reached else len(found)

        chosen = fits[first(middle) - 1]
        labels = chosen.labels_.astype(np.intp)
        return Grouping(labels, chosen.cluster_centers_, (first(wide), first(narrow)))


def class_widths(X: FloatArray, codes: IntArray) -> FloatArray:
    """Root mean square distance of each class's rows to their mean.

    Examples
    --------
    >>> import numpy as np
    >>> class_widths(np.array([[0.0], [2.0], [5.0], [5.0]]), np.array([0, 0, 1, 1]))
    array([1., 0.])
    """
    parts: Sequence[Any] = [X[codes == code] for code in range(int(codes.max()) + 1)]
    return np.array([np.sqrt(((one - one.mean(axis=0)) ** 2).sum(axis=1).mean()) for one in parts])


def width_noise(X: FloatArray, codes: IntArray, n_rows: int) -> float:
    """Relative standard error of the width of ``n_rows`` rows beside that of a class.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.RandomState(0).normal(size=(2000, 1))
    >>> round(width_noise(rows, np.zeros(2000, dtype=int), 2000), 3)  # 1 / sqrt(2000)
    0.022
    """
    counts = np.bincount(codes)
    means = np.array([X[codes == code].mean(axis=0) for code in range(len(counts))])
    squares = ((X - means[codes]) ** 2).sum(axis=1)
    # A width is the root of a mean square, so that its relative error is half that of the mean.
    relative = squares.std() / max(squares.mean(), np.finfo(float).tiny) / 2
    return float(relative * np.sqrt(1 / n_rows + 1 / np.median(counts)))
