"""Groups of unseen rows: as many as known classes suggest.

Known classes show what one class looks like, and their pairs what two do. The number of groups is
the smallest k for which no group looks more like two classes than like one. Groups begin as parts
of the graph of neighbours, and k-means moves on from there, both in units in which neighbours
scatter equally in all directions. Clustering without this yardstick cannot answer "one" (HDBSCAN),
or answers "many" (silhouette, BIC): benchmarks/loop.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.special import logsumexp
from sklearn.cluster import KMeans
from sklearn.metrics import euclidean_distances, pairwise_distances_argmin

from unseen._types import FloatArray, IntArray

# Rows of a class that are looked at, and the part of them that are neighbours of a row; the graph
# that groups start from is joined twice as far.
_ROWS, _NEAR = 50, 0.2
_FEWEST = 8
_MOST_CLASSES, _MOST_PAIRS = 30, 15
# Pairs of the known class and unseen rows, where only one class is known.
_DRAWS = 5
# Places between one class and two that give the range of the number of groups.
_FEW, _MANY = 0.75, 0.25
# Few classes hardly show how much classes differ: as so many more, as of which one class and two
# are so many standard deviations apart.
_MORE, _APART = 2.0, 2.0
# Part of the scatter that is taken to be the same in all directions: few rows tell no more.
_ALIKE = 0.3
# A matrix of more columns than this costs more than it tells.
_MOST_COLUMNS = 1000
_STARTS = 4
_TINY, _TINIEST = 1e-6, 1e-12


@dataclass(frozen=True, eq=False)
class Units:
    """Units in which groups are looked for: a matrix that rows are multiplied by, or None.

    Rows near each other are mostly of one class, whether anybody knows the class or not. So their
    differences show how rows scatter within classes, known and new alike, without labels (Art,
    Gnanadesikan and Kettenring 1982).
    """

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
        if mean <= _TINIEST * rows.var():  # neighbours are copies
            return cls()
        sizes, directions = np.linalg.eigh(scatter / mean)
        spread = _ALIKE + (1 - _ALIKE) * np.maximum(sizes, 0.0)
        return cls(np.asarray(directions / np.sqrt(mean * spread)))


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
        classes = rng.permutation(int(codes.max()) + 1)[:_MOST_CLASSES]
        n_known = max(_FEWEST, round(n_rows))
        parts = [rng.permutation(np.flatnonzero(codes == code))[:n_known] for code in classes]
        n_near = max(3, round(_NEAR * n_rows))
        near = np.vstack([known[np.concatenate(parts)], X[some]])
        units = Units.of_equal_scatter(near, n_near)
        yardstick = _yardstick(known, parts, X[some], units, n_near, rng)
        rows = units.of(X)
        graph = neighbour_graph(rows[some], 2 * n_near, weights[some])
        vectors = leading_vectors(graph, self.most)
        fits: list[Any] = []
        places: list[float] = []
        while len(fits) < min(self.most, len(some)) and not (places and places[-1] <= _MANY):
            fits.append(_from_parts(rows, weights, some, vectors, len(fits) + 1, rng))
            places.append(_place(X[some], fits[-1].labels_[some], yardstick, units, n_near))

        def first(limit: float) -> int:
            reached = [n for n, place in enumerate(places, start=1) if place <= limit]
            return reached[0] if reached else len(places)

        best = fits[first(self.between) - 1]
        labels = best.labels_.astype(np.intp)
        return Grouping(labels, best.cluster_centers_, (first(_FEW), first(_MANY)), units)


def _from_parts(
    X: FloatArray,
    weights: FloatArray,
    some: IntArray,
    vectors: FloatArray,
    n_groups: int,
    rng: np.random.RandomState,
) -> Any:
    """Fitted k-means on all rows, from the parts of the graph of some of them."""
    mine = weights[some]
    parts = parts_of_graph(vectors, n_groups, mine, rng)
    counts = np.eye(n_groups)[parts].T * mine
    totals = np.maximum(counts.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    means = KMeans(n_groups, init=counts @ X[some] / totals, n_init=1)
    return means.fit(X, sample_weight=weights)


# --- one class or two ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class OneOrTwo:
    """Measures of one known class, how much higher those of two are, and what each counts.

    Which measure tells depends on the data: of texts of many kinds it is the width, of digits the
    graph. So each is weighted by how far known classes and their pairs are apart in it, in its
    standard deviations (Fisher's discriminant with independent measures).
    """

    one: FloatArray
    gap: FloatArray
    counts: FloatArray

    @classmethod
    def learn(cls, one: FloatArray, two: FloatArray) -> OneOrTwo:
        """From measures of known classes and of their pairs: a row each."""
        means = one.mean(axis=0), two.mean(axis=0)
        gap = means[1] - means[0]
        squares = ((one - means[0]) ** 2).sum(axis=0) + ((two - means[1]) ** 2).sum(axis=0)
        n_free = len(one) + len(two) - 2 + _MORE
        spread = (squares + _MORE * (gap / _APART) ** 2) / n_free
        # A measure that is no higher for two classes tells nothing.
        counts = np.where(gap > _TINY, gap**2 / np.maximum(spread, _TINY**2), 0.0)
        return cls(means[0], np.where(gap > _TINY, gap, 1.0), counts / max(counts.sum(), _TINY))

    def place(self, measures: FloatArray) -> FloatArray:
        """Where rows lie between one class (0) and two (1)."""
        return np.asarray((measures - self.one) / self.gap @ self.counts)


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


def place_of_groups(places: FloatArray, sizes: IntArray) -> float:
    """Where groups lie between one class each (0) and one of them having two (1).

    Places of one class and of two are 1 apart, those of new classes have a variance of about one
    half. So the likelihood that one of the groups holds two classes, no matter which, is the mean
    of ``exp(2 place - 1)``, where that of no such group is 1. This is its logarithm, halved and
    raised so that it is the place itself where there is one group: at least the mean place, and at
    most the largest.
    """
    return float(logsumexp(2 * places, b=sizes / sizes.sum()) / 2)


def measures(X: FloatArray, units: Units, n_near: int) -> FloatArray:
    """Logarithms of the width as given and in the units, and how nearly the graph parts.

    All are higher for two classes.
    """
    scaled = units.of(X)
    widths = [width(rows) for rows in (X, scaled)]
    return np.append(np.log(np.maximum(widths, _TINY)), parting(neighbour_graph(scaled, n_near)))


def width(X: FloatArray) -> float:
    """Root mean square distance of rows to their mean."""
    return float(np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean()))


# --- the graph of neighbours -----------------------------------------------------------------


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
    degrees = np.sqrt(np.maximum(graph.sum(axis=1), _TINIEST))
    return np.asarray(graph / np.outer(degrees, degrees))


def parting(graph: FloatArray) -> float:
    """The second eigenvalue: 1 where rows fall into two parts, less the more the parts join."""
    return float(np.linalg.eigvalsh(graph)[-2]) if len(graph) > 1 else 0.0


def leading_vectors(graph: FloatArray, most: int) -> FloatArray:
    """Eigenvectors of the largest eigenvalues, the largest first: shape (n, most).

    They part the rows where few are joined, whatever shape the parts have (Ng, Jordan and Weiss
    2001).
    """
    n = len(graph)
    _, vectors = eigh(graph, subset_by_index=[max(0, n - most), n - 1])
    return np.asarray(vectors[:, ::-1])


def parts_of_graph(
    vectors: FloatArray, n_groups: int, weights: FloatArray, rng: np.random.RandomState
) -> IntArray:
    """Group of each row, from 0: k-means on the directions of the first eigenvectors."""
    first = vectors[:, :n_groups]
    first = first / np.maximum(np.linalg.norm(first, axis=1, keepdims=True), _TINIEST)
    means = KMeans(n_groups, n_init=_STARTS, random_state=rng)
    return np.asarray(means.fit(first, sample_weight=weights).labels_, dtype=np.intp)
