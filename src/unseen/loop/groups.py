"""Groups of unseen rows: as many as known classes suggest.

Known classes tell how one class looks, and their pairs how two do: two are wider, and the halves
into which k-means cuts them mix less. The number of groups is the smallest k for which the groups
of k-means are, on average, more like one known class than like two. Clustering without this
yardstick cannot answer "one" (HDBSCAN), or answers "many" (silhouette, BIC): benchmarks/loop.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.neighbors import NearestNeighbors

from unseen._types import FloatArray, IntArray

# Rows of a class that are looked at, and the part of them that are neighbours.
_ROWS, _NEAR = 50, 0.2
_FEWEST = 8
_MOST_CLASSES, _MOST_PAIRS = 30, 15
# Difference of the scores of one and of two classes, where only one is known: about the median of
# the differences in sets with more classes.
_GAP = 0.7
# Places between one class and two that give the range of the number of groups.
_FEW, _MANY = 0.75, 0.25
_TINY = 1e-6


@dataclass(frozen=True, eq=False)
class Grouping:
    """Groups of rows, and how many groups there might be."""

    labels: IntArray  # group of each row, from 0
    centres: FloatArray  # of shape (k, d)
    n_groups: tuple[int, int]  # least and most groups that known classes allow for


@dataclass(frozen=True)
class KnownWidth:
    """k-means, with the smallest k whose groups are about as wide and as whole as known classes.

    Parameters
    ----------
    between : float, default=0.5
        The width at which a group is split, on a scale from one known class (0) to two (1).
    most : int, default=8
        Largest number of groups.

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

    between: float = 0.5
    most: int = 8

    def group(
        self,
        X: FloatArray,
        weights: FloatArray,
        known: FloatArray,
        codes: IntArray,
        rng: np.random.RandomState,
        rows_per_class: float | None = None,
    ) -> Grouping:
        """Group the rows of ``X`` (n, d), each with a weight such as its probability of unseen.

        ``known`` (m, d) are rows of known classes and ``codes`` (m,) their classes, from 0; ``rng``
        starts k-means. ``rows_per_class`` is the number of rows that a class is expected to have
        among ``X``; None is the median of the known classes.
        """
        of_known = float(np.median(np.bincount(codes)))
        of_new = np.clip(rows_per_class or of_known, len(X) / self.most, len(X))
        n_rows = min(of_known, of_new, _ROWS)
        one, two = _known_scores(known, codes, n_rows, rng)
        some = rng.permutation(len(X))[: round(len(X) * n_rows / of_new)]
        fits: list[Any] = []
        places: list[float] = []
        while len(fits) < min(self.most, len(X)) and not (places and places[-1] <= _MANY):
            n_groups = len(fits) + 1
            start = KMeans(n_groups, n_init=4, random_state=rng)
            fits.append(start.fit(X, sample_weight=weights))
            found = _mean_score(X[some], fits[-1].labels_[some], n_rows, rng)
            places.append(_place(found, one, two, n_groups))

        def first(limit: float) -> int:
            reached = [n for n, place in enumerate(places, start=1) if place <= limit]
            return reached[0] if reached else len(places)

        best = fits[first(self.between) - 1]
        labels = best.labels_.astype(np.intp)
        return Grouping(labels, best.cluster_centers_, (first(_FEW), first(_MANY)))


def _place(found: float, one: float, two: float, n_groups: int) -> float:
    """Where groups lie between one class each (0) and one of them having two classes (1).

    One group too few holds two classes and the others one each: two of ``k + 1`` parts are like two
    classes, and the mean is that much nearer to one class.
    """
    return (found - one) / max(two - one, _TINY) * (n_groups + 1) / 2


def _known_scores(
    known: FloatArray, codes: IntArray, n_rows: float, rng: np.random.RandomState
) -> tuple[float, float]:
    """Mean score of one known class, and of two together, with ``n_rows`` rows of each."""
    size = max(_FEWEST, round(n_rows))
    classes = rng.permutation(int(codes.max()) + 1)[:_MOST_CLASSES]
    parts = [rng.permutation(np.flatnonzero(codes == code))[:size] for code in classes]
    pairs = list(combinations(range(len(parts)), 2))
    drawn = [pairs[place] for place in rng.permutation(len(pairs))[:_MOST_PAIRS]]
    one = float(np.mean([two_classes_score(known[rows], n_rows, rng) for rows in parts]))
    both = [
        two_classes_score(known[np.concatenate([parts[a], parts[b]])], n_rows, rng)
        for a, b in drawn
    ]
    return one, float(np.mean(both)) if both else one + _GAP


def _mean_score(
    X: FloatArray, labels: IntArray, n_rows: float, rng: np.random.RandomState
) -> float:
    """Score of the groups, each counting by its rows."""
    groups = [X[labels == label] for label in np.unique(labels)]
    scores = [two_classes_score(rows, n_rows, rng) for rows in groups]
    return float(np.average(scores, weights=[len(rows) for rows in groups]))


def two_classes_score(X: FloatArray, n_rows: float, rng: np.random.RandomState) -> float:
    """How much rows look like two classes of ``n_rows`` rows: wide, and their halves hardly mix.

    The logarithm of the width, less twice the part of the neighbours that lie in the other of two
    halves, where 1 is as many as by chance.
    """
    (width,) = class_widths(X, np.zeros(len(X), dtype=np.intp))
    if len(X) < _FEWEST or width == 0:
        return float(np.log(max(width, _TINY))) - 1
    halves = KMeans(2, n_init=3, random_state=rng).fit(X).labels_
    n_near = min(max(3, round(_NEAR * n_rows)), len(X) - 1)
    near = NearestNeighbors(n_neighbors=n_near).fit(X).kneighbors(return_distance=False)
    part = halves.mean()
    crossing = (halves[near] != halves[:, None]).mean()
    return float(np.log(width) - crossing / (part * (1 - part)))


def class_widths(X: FloatArray, codes: IntArray) -> FloatArray:
    """Root mean square distance of each class's rows to their mean."""
    parts = [X[codes == code] for code in range(int(codes.max()) + 1)]
    return np.array([np.sqrt(((one - one.mean(axis=0)) ** 2).sum(axis=1).mean()) for one in parts])
