"""Growing trees for rejection rules, many at once.

Splits maximise :func:`cell_worth`, a strictly convex stand-in for the estimated risk, which
``docs/rejection.md`` derives. All nodes of a level, of all trees, are split together: one sort for
each level and feature tried, O(n d log n) a level for n rows and d features, whatever the number of
classes. Large nodes are cut between bins of a feature, which are fewer than their rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.random import RandomState

from unseen._team import row_blocks
from unseen._types import BoolArray, FloatArray, IntArray

LEAF = -1
# Of gains in units of the mass of a node: what is beyond is rounding, and must not choose a cut.
GAIN_DIGITS = 10
BINS = 64  # of each feature, with equally many distinct values
ROUTED_AT_ONCE = 2**15  # rows times trees: routing is fastest in what a processor's cache holds
STEPS = 4  # that rows take down a tree before those in leaves are left out
LARGE = 512  # rows of a node from which on bins are fewer than rows


@dataclass(frozen=True, eq=False)
class Trees:
    """Binary trees in one list of nodes; rows go left where the feature is at most the threshold.

    The first ``n_trees`` nodes are the roots, and children come after their parents.
    """

    feature: IntArray  # that a node splits, -1 in a leaf
    threshold: FloatArray
    left: IntArray  # the left child; the right one stands next to it
    n_trees: int

    @property
    def n_cells(self) -> int:
        """Nodes of all trees: leaves are cells, and inner nodes are cells without rows."""
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        """Leaves of all trees."""
        return int((self.feature == LEAF).sum())

    def leaves(self, X: FloatArray) -> IntArray:
        """Leaf of each row in each tree: shape (n, n_trees)."""
        # A leaf leads to itself, so that rows can take several steps before anybody looks.
        inner = self.feature != LEAF
        feature = np.where(inner, self.feature, 0)
        threshold = np.where(inner, self.threshold, np.inf)
        left = np.where(inner, self.left, np.arange(len(inner)))
        found = np.empty((len(X), self.n_trees), dtype=np.int64)
        for rows in row_blocks(len(X), max(1, ROUTED_AT_ONCE // self.n_trees)):
            part = np.ascontiguousarray(X[rows])
            node = np.tile(np.arange(self.n_trees), len(part))
            flat, offset = part.ravel(), np.repeat(np.arange(len(part)), self.n_trees)
            walking = np.flatnonzero(inner[node])
            while len(walking):
                here, start = node.take(walking), offset.take(walking) * part.shape[1]
                for _ in range(STEPS):
                    value = flat.take(start + feature.take(here))
                    here = left.take(here) + (value > threshold.take(here))
                node[walking] = here
                walking = walking[inner.take(here)]
            found[rows] = node.reshape(len(part), self.n_trees)
        return found

    def cell(self, X: FloatArray) -> IntArray:
        """Leaf of each row in the first tree."""
        return self.leaves(X)[:, 0]


@dataclass(frozen=True, eq=False)
class RankedRows:
    """Rows with each feature replaced by ranks, and the values of the ranks."""

    ranks: IntArray  # place of each value among the distinct values of its feature: (d, n)
    values: tuple[FloatArray, ...]  # the distinct values of each feature, in order
    bins: IntArray  # place of each value among at most 64 bins of its feature: (d, n)
    ends: IntArray  # the least and the largest rank in each bin: (2, d, 64)

    @classmethod
    def from_rows(cls, X: FloatArray) -> RankedRows:
        """Rank every feature: one sort each."""
        n_rows, n_features = X.shape
        # Small numbers: growth looks them up all over these tables.
        ranks = np.empty((n_features, n_rows), dtype=np.min_scalar_type(n_rows))
        bins = np.empty((n_features, n_rows), dtype=np.uint8)
        ends, all_values = np.zeros((2, n_features, BINS), dtype=np.int64), []
        for feature, column in enumerate(X.T):
            values, inverse = np.unique(column, return_inverse=True)
            of_rank = np.arange(len(values)) * min(BINS, len(values)) // len(values)
            ranks[feature] = inverse.reshape(-1)
            bins[feature] = of_rank[ranks[feature]]
            place = np.arange(BINS)
            ends[0, feature] = np.searchsorted(of_rank, place)
            ends[1, feature] = np.searchsorted(of_rank, place, side="right") - 1
            all_values.append(values)
        return cls(ranks, tuple(all_values), bins, ends)

    def midpoints(self, feature: IntArray, below: IntArray, above: IntArray) -> FloatArray:
        """The point halfway between two ranks of a feature, never rounded to the upper one."""
        places = zip(feature, below, above, strict=True)
        pairs = np.array([(self.values[j][lo], self.values[j][hi]) for j, lo, hi in places])
        low, high = pairs.reshape(-1, 2).T
        middle = low / 2 + high / 2
        return np.where(middle < high, np.maximum(middle, low), low)


@dataclass(frozen=True, eq=False)
class OpenNodes:
    """Nodes that are still to be split, and their rows, grouped by node."""

    row: IntArray  # a row that several trees hold stands here once for each tree
    column: IntArray  # of the row's mass: its class, or K for a new row
    mass: FloatArray
    size: IntArray  # rows of each node

    @cached_property
    def node(self) -> IntArray:
        """Node of each row."""
        return np.repeat(np.arange(len(self.size)), self.size)

    def look_up(self, table: IntArray, feature: IntArray) -> IntArray:
        """What a table (d, n) of all rows holds of these rows, at one feature of each node."""
        return table.ravel()[np.repeat(feature * table.shape[1], self.size) + self.row]

    def only(self, kept: BoolArray) -> OpenNodes:
        """Some of the nodes."""
        if kept.all():
            return self
        rows = np.repeat(kept, self.size)
        return OpenNodes(self.row[rows], self.column[rows], self.mass[rows], self.size[kept])


class Splits(NamedTuple):
    """The best split of each node: its gain, feature, and the ranks on both sides of the cut."""

    gain: FloatArray
    feature: IntArray
    below: IntArray
    above: IntArray


@dataclass(frozen=True)
class Growth:
    """Settings of the growth of trees."""

    min_leaf: int  # different rows that a leaf must hold
    n_candidates: int  # features tried at each node, drawn anew; constant features do not count
    negative_cost: float = 0.75  # of negative unseen mass in a split


def cell_worth(
    squares: FloatArray, known: FloatArray, new: FloatArray, negative_cost: float
) -> FloatArray:
    """``(sum_k a_k^2 + e^2) / W``, less the cost of negative unseen mass.

    ``squares`` and ``known`` are the sums over known classes of a_k^2 and of a_k, ``new`` is u.
    """
    unseen = new - known
    negative = np.minimum(unseen, 0.0)
    unseen = unseen - negative
    purity = (squares + unseen**2) / np.maximum(known + unseen, np.finfo(np.float64).tiny)
    return purity + negative_cost * negative


def grow(
    rows: RankedRows, masses: FloatArray, counts: IntArray, growth: Growth, rng: RandomState
) -> Trees:
    """Grow trees by the splits of largest worth, level by level.

    Each of n rows has its mass in the column of its class or, new, in the last: (n, K + 1).
    ``counts`` (n_trees, n) says how often each tree holds each row.
    """
    n_trees = len(counts)
    tree, row = np.nonzero(counts * masses.any(axis=1))
    mass = masses.max(axis=1)[row] * counts[tree, row]
    size = np.bincount(tree, minlength=n_trees)
    nodes = OpenNodes(row, masses.argmax(axis=1)[row], mass, size)
    levels: list[tuple[IntArray, FloatArray, IntArray]] = []
    end = n_trees  # of the nodes so far
    while len(nodes.size):
        found = best_splits(rows, nodes, masses.shape[1], growth, rng)
        split = found.feature != LEAF
        left = np.where(split, end + 2 * (np.cumsum(split) - 1), LEAF)
        middle = np.zeros(len(split))
        middle[split] = rows.midpoints(found.feature[split], found.below[split], found.above[split])
        levels.append((found.feature, middle, left))
        # The two halves of every node that is split, side by side.
        inner, n_halves = nodes.only(split), 2 * int(split.sum())
        ranks = inner.look_up(rows.ranks, found.feature[split])
        half = 2 * inner.node + (ranks > np.repeat(found.below[split], inner.size))
        order, size = _sorted_places(half, n_halves), np.bincount(half, minlength=n_halves)
        nodes = OpenNodes(inner.row[order], inner.column[order], inner.mass[order], size)
        end += n_halves
    feature, threshold, left = (np.concatenate(parts) for parts in zip(*levels, strict=True))
    return Trees(feature, threshold, left, n_trees)


def best_splits(
    rows: RankedRows, nodes: OpenNodes, n_columns: int, growth: Growth, rng: RandomState
) -> Splits:
    """The best split of each node over candidate features; feature -1 where no split gains."""
    n_nodes, n_features = len(nodes.size), len(rows.ranks)
    found = Splits(np.zeros(n_nodes), *(np.full(n_nodes, LEAF) for _ in range(3)))
    order = rng.random_sample((n_nodes, n_features)).argsort(axis=1)
    enough, large = nodes.size >= 2 * growth.min_leaf, nodes.size >= max(LARGE, BINS * n_columns)
    for which, cutter in ((enough & ~large, _cuts_by_rank), (enough & large, _cuts_by_bin)):
        alive, open_nodes = np.flatnonzero(which), nodes.only(which)
        tried = np.zeros(len(alive), dtype=np.int64)
        for place in range(n_features if len(alive) else 0):
            cut, varied = cutter(rows, open_nodes, order[alive, place], n_columns, growth)
            better = cut.gain > found.gain[alive]
            for best, new in zip(found, cut, strict=True):
                best[alive[better]] = new[better]
            tried += varied
            more = tried < growth.n_candidates
            if not more.any():
                break
            alive, open_nodes, tried = alive[more], open_nodes.only(more), tried[more]
    return found


def _cuts_by_rank(
    rows: RankedRows, nodes: OpenNodes, feature: IntArray, n_columns: int, growth: Growth
) -> tuple[Splits, BoolArray]:
    """The best cut along one feature of each node between ranks, and whether the feature varies."""
    node, size = nodes.node, nodes.size
    ranks = nodes.look_up(rows.ranks, feature).astype(np.int64)
    order = order_within(node, ranks)
    place, column, mass = ranks[order], nodes.column[order], nodes.mass[order]
    end = np.cumsum(size)
    start = end - size
    # In units of the mass of the node, so that rounding is the same in small nodes and large.
    mass = mass / np.repeat(np.add.reduceat(mass, start), size)
    gain = gain_in_worth(node, start, column, mass, n_columns, growth.negative_cost)
    gain = gain.round(GAIN_DIGITS)
    n_left = np.arange(1, len(node) + 1) - np.repeat(start, size)
    n_right = np.repeat(size, size) - n_left
    following = np.append(place[1:], 0)
    gain[(np.minimum(n_left, n_right) < growth.min_leaf) | (place == following)] = 0.0
    highest = np.flatnonzero(gain == np.repeat(np.maximum.reduceat(gain, start), size))[::-1]
    best = np.empty(len(start), dtype=np.int64)
    best[node[highest]] = highest  # of equal cuts the first is written last, and stays
    return Splits(gain[best], feature, place[best], following[best]), place[start] < place[end - 1]


def _cuts_by_bin(
    rows: RankedRows, nodes: OpenNodes, feature: IntArray, n_columns: int, growth: Growth
) -> tuple[Splits, BoolArray]:
    """The best cut along one feature of each node between bins, and whether rows are in several."""
    shape, every = (len(nodes.size), BINS, n_columns), np.arange(len(nodes.size))
    cell = (nodes.node * BINS + nodes.look_up(rows.bins, feature)) * n_columns + nodes.column
    count = np.bincount(cell, minlength=np.prod(shape)).reshape(shape).sum(axis=2)
    left = np.bincount(cell, nodes.mass, np.prod(shape)).reshape(shape).cumsum(axis=1)
    left /= left[:, -1:].sum(axis=2, keepdims=True)  # in units of the mass of the node
    whole = left[:, -1:]
    parts = [(part[..., :-1], part[..., -1]) for part in (left, whole - left, whole)]
    on_left, on_right, in_node = (
        cell_worth((known**2).sum(axis=2), known.sum(axis=2), new, growth.negative_cost)
        for known, new in parts
    )
    gain = (on_left + on_right - in_node).round(GAIN_DIGITS)
    n_left = count.cumsum(axis=1)
    n_right = nodes.size[:, None] - n_left
    gain[np.minimum(n_left, n_right) < growth.min_leaf] = 0.0
    below = gain.argmax(axis=1)
    above = (n_left > n_left[every, below, None]).argmax(axis=1)  # the next bin with rows
    ends = rows.ends[1, feature, below], rows.ends[0, feature, above]
    return Splits(gain[every, below], feature, *ends), (count > 0).sum(axis=1) > 1


def gain_in_worth(
    node: IntArray,
    start: IntArray,
    column: IntArray,
    mass: FloatArray,
    n_columns: int,
    negative_cost: float,
) -> FloatArray:
    """Gain in worth by a cut after each row, the rows of a node standing in order.

    A row of class k and mass w adds ``w^2 + 2 w a_k`` to the sum of squares on the left, with a_k
    what went before. On the right, ``(A_k - a_k)^2`` is ``A_k^2 - 2 A_k a_k + a_k^2``. So a few
    cumulative sums do, however many classes there are.
    """
    group = node * n_columns + column
    order = _sorted_places(group, n_columns * len(start))
    # Mass of the earlier rows of the same group.
    before_row, in_order = np.cumsum(mass[order]) - mass[order], group[order]
    first = np.append(True, in_order[1:] != in_order[:-1])
    earlier = np.empty_like(before_row)
    earlier[order] = before_row - before_row[first][np.cumsum(first) - 1]
    known = np.where(column < n_columns - 1, mass, 0.0)
    whole = np.bincount(group, mass, n_columns * len(start))[group]
    steps = [known * (mass + 2 * earlier), known * whole, known, mass - known]
    sums = np.cumsum(np.stack(steps), axis=1)
    before = np.where(start > 0, sums[:, start - 1], 0.0)
    total = np.append(sums[:, start[1:] - 1], sums[:, -1:], axis=1) - before
    sizes = np.diff(start, append=len(node))
    sums -= np.repeat(before, sizes, axis=1)
    squares, cross, left_known, left_new = sums
    totals, _, known_total, new_total = np.repeat(total, sizes, axis=1)
    gain = cell_worth(squares, left_known, left_new, negative_cost)
    right = totals - 2 * cross + squares
    gain += cell_worth(right, known_total - left_known, new_total - left_new, negative_cost)
    gain -= cell_worth(total[0], total[2], total[3], negative_cost)[node]
    return gain


def order_within(node: IntArray, ranks: IntArray) -> IntArray:
    """Order rows by node, then by rank, then as they stand.

    One number holds node, rank and place, so that a plain sort does it: several times as fast as
    sorting indices. Where 63 bits are too few, indices are sorted.
    """
    bits_rank, bits_place = int(ranks.max()).bit_length(), len(node).bit_length()
    if int(node.max()).bit_length() + bits_rank + bits_place > 63:
        return np.lexsort((ranks, node))
    # Places are numbers of 32 bits in a browser, where the node would be shifted out of them.
    high, middle = node.astype(np.int64), ranks.astype(np.int64)
    keys = (high << (bits_rank + bits_place)) | (middle << bits_place) | np.arange(len(node))
    keys.sort()
    return keys & ((1 << bits_place) - 1)


def _sorted_places(numbers: IntArray, end: int) -> IntArray:
    """Places of whole numbers below ``end``, by the number and then as they stand."""
    # NumPy sorts numbers of 16 bits in linear time.
    return np.argsort(numbers.astype(np.min_scalar_type(end)), kind="stable")
