"""Groups of unseen rows: as many as known classes suggest.

Known classes show what one class looks like, and their pairs what two do (:mod:`.likeness`). The
number of groups is the smallest k for which no group looks more like two classes than like one.
Groups begin as parts of the graph of neighbours, and k-means moves on from there, both in units
in which neighbours scatter equally in all directions (:mod:`.neighbours`). Clustering without
this yardstick cannot answer "one" (HDBSCAN), or answers "many" (silhouette, BIC):
benchmarks/loop.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin

from unseen._types import FloatArray, IntArray
from unseen.loop.likeness import OneOrTwo, measures, place_of_groups
from unseen.loop.neighbours import Units, leading_vectors, neighbour_graph, parts_of_graph

# Rows of a class that are looked at, and the part of them that are neighbours of a row; the graph
# that groups start from is joined twice as far.
_ROWS, _NEAR = 50, 0.2
_FEWEST = 8
_MOST_CLASSES, _MOST_PAIRS = 30, 15
# Pairs of the known class and unseen rows, where only one class is known.
_DRAWS = 5
# Places between one class and two that give the range of the number of groups.
_FEW, _MANY = 0.75, 0.25


@dataclass(frozen=True, eq=False)
class Grouping:
    """Groups of rows, and how many groups there might be."""

    labels: IntArray  # group of each row, from 0
    centres: FloatArray  # of shape (k, d), in the units
    n_groups: tuple[int, int]  # least and most groups that known classes allow for
    units: Units = field(default_factory=Units)

    def nearest(self, X: FloatArray) -> IntArray:
        """The group whose centre is nearest to each row."""
        return np.asarray(pairwise_distances_argmin(self.units.of(X), self.centres))


@dataclass(frozen=True)
class KnownWidth:
    """k-means, with the smallest k whose groups are about as wide and as whole as known classes.

    Parameters
    ----------
    between : float, default=0.5
        The place at which a group is split, on a scale from one known class (0) to two (1).
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
        of_known = max(_FEWEST, float(np.median(np.bincount(codes))))
        of_new = np.clip(rows_per_class or of_known, len(X) / self.most, len(X))
        n_rows = min(of_known, of_new, _ROWS)
        some = rng.permutation(len(X))[: round(len(X) * n_rows / of_new)]
        parts = _drawn(codes, max(_FEWEST, round(n_rows)), rng)
        n_near = max(3, round(_NEAR * n_rows))
        near = np.vstack([known[np.concatenate(parts)], X[some]])
        units = Units.of_equal_scatter(near, n_near)
        yardstick = _yardstick(known, parts, X[some], units, n_near, rng)
        candidates = _Candidates.begin(units.of(X), weights, some, n_near, self.most)
        fits: list[Any] = []
        places: list[float] = []
        while len(fits) < min(self.most, len(some)) and not (places and places[-1] <= _MANY):
            fits.append(candidates.fit(len(fits) + 1, rng))
            places.append(_place(X[some], fits[-1].labels_[some], yardstick, units, n_near))

        def first(limit: float) -> int:
            reached = [n for n, place in enumerate(places, start=1) if place <= limit]
            return reached[0] if reached else len(places)

        best = fits[first(self.between) - 1]
        labels = best.labels_.astype(np.intp)
        return Grouping(labels, best.cluster_centers_, (first(_FEW), first(_MANY)), units)


@dataclass(frozen=True, eq=False)
class _Candidates:
    """Groups of any number: k-means on all rows, from the parts of the graph of some of them."""

    X: FloatArray  # in units of equal scatter
    weights: FloatArray
    some: IntArray
    vectors: FloatArray  # leading eigenvectors of the graph of these

    @classmethod
    def begin(
        cls, X: FloatArray, weights: FloatArray, some: IntArray, n_near: int, most: int
    ) -> _Candidates:
        graph = neighbour_graph(X[some], 2 * n_near, weights[some])
        return cls(X, weights, some, leading_vectors(graph, most))

    def fit(self, n_groups: int, rng: np.random.RandomState) -> Any:
        """The fitted k-means."""
        rows, mine = self.X[self.some], self.weights[self.some]
        parts = parts_of_graph(self.vectors, n_groups, mine, rng)
        counts = np.eye(n_groups)[parts].T * mine
        totals = np.maximum(counts.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        means = KMeans(n_groups, init=counts @ rows / totals, n_init=1)
        return means.fit(self.X, sample_weight=self.weights)


def _drawn(codes: IntArray, n_rows: int, rng: np.random.RandomState) -> list[IntArray]:
    """Rows of each known class, of at most so many classes."""
    classes = rng.permutation(int(codes.max()) + 1)[:_MOST_CLASSES]
    return [rng.permutation(np.flatnonzero(codes == code))[:n_rows] for code in classes]


def _yardstick(
    known: FloatArray,
    parts: list[IntArray],
    new: FloatArray,
    units: Units,
    n_near: int,
    rng: np.random.RandomState,
) -> OneOrTwo:
    """What tells one class from two: known classes, and pairs of them.

    Where only one is known, it and unseen rows are the two.
    """
    pairs = list(combinations([known[part] for part in parts], 2))
    pairs = [pairs[place] for place in rng.permutation(len(pairs))[:_MOST_PAIRS]]
    if not pairs:
        (only,) = parts
        drawn = [rng.permutation(len(new))[: len(only)] for _ in range(_DRAWS)]
        pairs = [(known[only], new[rows]) for rows in drawn]
    one = [measures(known[part], units, n_near) for part in parts]
    two = [measures(np.vstack(pair), units, n_near) for pair in pairs]
    return OneOrTwo.learn(np.array(one), np.array(two))


def _place(
    X: FloatArray, labels: IntArray, yardstick: OneOrTwo, units: Units, n_near: int
) -> float:
    """Where groups lie from one class each to one of them having two; small ones say nothing."""
    numbers, sizes = np.unique(labels, return_counts=True)
    large = sizes >= _FEWEST
    if not large.any():
        return -np.inf
    found = [measures(X[labels == number], units, n_near) for number in numbers[large]]
    return place_of_groups(yardstick.place(np.array(found)), sizes[large])
