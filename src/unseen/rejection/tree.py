"""A classification tree with the label "unseen", and the growth of many trees at once.

Splits maximise :func:`cell_worth`, a strictly convex stand-in for the estimated risk. All nodes of
a level, of all trees, are split together: one sort for each level and feature tried, O(n d) a level
for n rows and d features. Each leaf gets the label of least cost, and rows that the tree was not
grown from decide what to prune: by in-sample costs a tree that isolates every new row would be the
best. ``docs/rejection.md`` derives this.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import RandomState

from unseen._sklearn import Interval, StrOptions
from unseen._team import row_blocks
from unseen._types import BoolArray, FloatArray, IntArray
from unseen.rejection.base import RejectionRule
from unseen.rejection.histogram import CellRule, cell_rule
from unseen.rejection.sample import (
    OpenSample,
    cell_costs,
    cell_labels,
    cell_masses,
    hold_out,
    smallest_leaf,
)

LEAF = -1
GAIN_DIGITS = 10  # of gains in units of a node's mass; beyond is rounding, which must not choose
BINS = 64  # of each feature, with equally many distinct values
ROUTED_AT_ONCE = 2**15  # rows times trees: routing is fastest in what a processor's cache holds
STEPS = 4  # that rows take down a tree before those in leaves are left out
LARGE = 512  # rows of a node that is cut between bins, which are fewer than its rows


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
    """Rows by the rank of each value in its feature, and by its bin, with what these stand for."""

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
            ends[0, feature] = np.searchsorted(of_rank, np.arange(BINS))
            ends[1, feature] = np.searchsorted(of_rank, np.arange(BINS), side="right") - 1
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
    n_columns: int

    @cached_property
    def first(self) -> IntArray:
        """Place of the first row of each node."""
        return np.cumsum(self.size) - self.size

    @cached_property
    def node(self) -> IntArray:
        """Node of each row."""
        return np.repeat(np.arange(len(self.size)), self.size)

    @cached_property
    def group(self) -> IntArray:
        """A number for each node and column, in this order, of each row."""
        return self.node * self.n_columns + self.column

    @cached_property
    def rows_of_group(self) -> IntArray:
        """How many rows each of these groups has, those without rows left out."""
        counts = np.bincount(self.group)
        return counts[counts > 0]

    @cached_property
    def is_known(self) -> FloatArray:
        """1 for the labelled rows, 0 for the new ones."""
        return (self.column < self.n_columns - 1).astype(np.float64)

    @cached_property
    def smaller_half(self) -> IntArray:
        """Rows of the smaller half, if a node was cut after each of its rows."""
        n_left = np.arange(1, len(self.row) + 1) - np.repeat(self.first, self.size)
        return np.minimum(n_left, np.repeat(self.size, self.size) - n_left)

    def look_up(self, table: IntArray, feature: IntArray) -> IntArray:
        """What a table (d, n) of all rows holds of these rows, at one feature of each node."""
        return table.take(np.repeat(feature * table.shape[1], self.size) + self.row)

    def only(self, kept: BoolArray) -> OpenNodes:
        """Some of the nodes."""
        if kept.all():
            return self
        rows, size = np.repeat(kept, self.size), self.size[kept]
        return OpenNodes(self.row[rows], self.column[rows], self.mass[rows], size, self.n_columns)


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
    """``(sum_k a_k^2 + e^2) / W``, from sums of a_k^2 and of a_k, less the cost of negative e."""
    unseen = new - known
    negative = np.minimum(unseen, 0.0)
    unseen = unseen - negative
    purity = (squares + unseen**2) / np.maximum(known + unseen, np.finfo(np.float64).tiny)
    return purity + negative_cost * negative


def grow(
    rows: RankedRows, masses: FloatArray, counts: IntArray, growth: Growth, rng: RandomState
) -> Trees:
    """Grow trees by the splits of largest worth, level by level.

    Each row has its mass in the column of its class or, new, in the last: (n, K + 1). ``counts``
    (n_trees, n) says how often each tree holds each row.
    """
    n_trees, n_columns = len(counts), masses.shape[1]
    tree, row = np.nonzero(counts * masses.any(axis=1))
    mass = masses.max(axis=1)[row] * counts[tree, row]
    size = np.bincount(tree, minlength=n_trees)
    nodes = OpenNodes(row, masses.argmax(axis=1)[row], mass, size, n_columns)
    levels: list[tuple[IntArray, FloatArray, IntArray]] = []
    end = n_trees  # of the nodes so far
    while len(nodes.size):
        found = best_splits(rows, nodes, growth, rng)
        split = found.feature != LEAF
        left = np.where(split, end + 2 * (np.cumsum(split) - 1), LEAF)
        middle = np.zeros(len(split))
        middle[split] = rows.midpoints(found.feature[split], found.below[split], found.above[split])
        levels.append((found.feature, middle, left))
        # The two halves of every node that is split, side by side.
        inner, n_halves = nodes.only(split), 2 * int(split.sum())
        ranks = inner.look_up(rows.ranks, found.feature[split])
        half = 2 * inner.node + (ranks > np.repeat(found.below[split], inner.size))
        order, size = stable_order(half), np.bincount(half, minlength=n_halves)
        nodes = OpenNodes(inner.row[order], inner.column[order], inner.mass[order], size, n_columns)
        end += n_halves
    feature, threshold, left = (np.concatenate(parts) for parts in zip(*levels, strict=True))
    return Trees(feature, threshold, left, n_trees)


def best_splits(rows: RankedRows, nodes: OpenNodes, growth: Growth, rng: RandomState) -> Splits:
    """The best split of each node over candidate features; feature -1 where no split gains."""
    n_nodes, n_features = len(nodes.size), len(rows.ranks)
    found = Splits(np.zeros(n_nodes), *(np.full(n_nodes, LEAF) for _ in range(3)))
    order = rng.random_sample((n_nodes, n_features)).argsort(axis=1)
    enough = nodes.size >= 2 * growth.min_leaf
    large = nodes.size >= max(LARGE, BINS * nodes.n_columns)
    for which, cutter in ((enough & ~large, cuts_by_rank), (enough & large, cuts_by_bin)):
        alive, open_nodes = np.flatnonzero(which), nodes.only(which)
        tried = np.zeros(len(alive), dtype=np.int64)
        for place in range(n_features if len(alive) else 0):
            cut, varied = cutter(rows, open_nodes, order[alive, place], growth)
            better = cut.gain > found.gain[alive]
            for best, new in zip(found, cut, strict=True):
                best[alive[better]] = new[better]
            tried += varied
            more = tried < growth.n_candidates
            if not more.any():
                break
            alive, open_nodes, tried = alive[more], open_nodes.only(more), tried[more]
    return found


def cuts_by_rank(
    rows: RankedRows, nodes: OpenNodes, feature: IntArray, growth: Growth
) -> tuple[Splits, BoolArray]:
    """The best cut along one feature of each node between ranks, and whether the feature varies."""
    ranks = nodes.look_up(rows.ranks, feature)
    order = stable_order(ranks, nodes.node)
    place = ranks.take(order)
    following = np.append(place[1:], place[:1])
    cut = np.flatnonzero((nodes.smaller_half >= growth.min_leaf) & (place != following))
    gain = np.zeros(len(order))
    gain[cut] = gain_in_worth(nodes, order, cut, growth.negative_cost).round(GAIN_DIGITS)
    highest_of_node = np.repeat(np.maximum.reduceat(gain, nodes.first), nodes.size)
    highest = np.flatnonzero(gain == highest_of_node)[::-1]
    best = np.empty(len(nodes.size), dtype=np.int64)
    best[nodes.node[highest]] = highest  # of equal cuts the first is written last, and stays
    varied = place[nodes.first] < place[nodes.first + nodes.size - 1]
    return Splits(gain[best], feature, place[best], following[best]), varied


def cuts_by_bin(
    rows: RankedRows, nodes: OpenNodes, feature: IntArray, growth: Growth
) -> tuple[Splits, BoolArray]:
    """The best cut along one feature of each node between bins, and whether rows are in several."""
    shape, every = (len(nodes.size), BINS, nodes.n_columns), np.arange(len(nodes.size))
    cell = nodes.node * BINS + nodes.look_up(rows.bins, feature)
    count = np.bincount(cell, minlength=np.prod(shape[:2])).reshape(shape[:2])
    cell = cell * nodes.n_columns + nodes.column
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
    nodes: OpenNodes, order: IntArray, cut: IntArray, negative_cost: float
) -> FloatArray:
    """Gain in worth by cuts after some places of the rows, which stand in this order in each node.

    A row of class k and mass w adds ``w^2 + 2 w a_k`` to the sum of squares on the left, with a_k
    what went before. On the right, ``(A_k - a_k)^2`` is ``A_k^2 - 2 A_k a_k + a_k^2``. So a few
    cumulative sums do for any number of classes.
    """
    mass, group = nodes.mass.take(order), nodes.group.take(order)
    # In units of the mass of the node, so that rounding is the same in small nodes and large.
    mass /= np.repeat(np.add.reduceat(mass, nodes.first), nodes.size)
    # Mass of the earlier rows of the same group.
    by_group, in_group = stable_order(group), nodes.rows_of_group
    before, earlier = mass.take(by_group), np.empty_like(mass)
    before = np.cumsum(before) - before
    earlier[by_group] = before - np.repeat(before[np.cumsum(in_group) - in_group], in_group)
    known = mass * nodes.is_known.take(order)
    whole, of_node = np.bincount(group, mass).take(group), nodes.node.take(cut)

    def sums(steps: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Sums on the left and the right of each cut, and of the whole of each node."""
        running = np.cumsum(steps)
        until = running[nodes.first + nodes.size - 1]
        before = np.append(0.0, until[:-1])
        left, all_rows = running.take(cut) - before.take(of_node), until - before
        return left, all_rows.take(of_node) - left, all_rows

    squares, _, all_squares = sums(known * (mass + 2 * earlier))
    cross, _, _ = sums(known * whole)
    left_known, right_known, all_known = sums(known)
    left_new, right_new, all_new = sums(mass - known)
    gain = cell_worth(squares, left_known, left_new, negative_cost)
    right = all_squares.take(of_node) - 2 * cross + squares
    gain += cell_worth(right, right_known, right_new, negative_cost)
    return gain - cell_worth(all_squares, all_known, all_new, negative_cost).take(of_node)


def stable_order(*keys: IntArray) -> IntArray:
    """Order by the last key, then by those before it, then as they stand."""
    parts = []  # of 16 bits, which NumPy sorts in linear time
    for key in keys:
        n_bits = int(key.max(initial=0)).bit_length()
        parts += [(key >> shift).astype(np.uint16) for shift in range(0, max(1, n_bits), 16)]
    return np.lexsort(parts)


@dataclass(eq=False, repr=False)
class RejectionTree(RejectionRule):
    """A classification tree with the label "unseen": greedy splits, exact labels, honest pruning.

    Parameters
    ----------
    min_leaf : int or "auto", default="auto"
        Smallest number of rows in a leaf. "auto" allows at most ``2 n^(d / (d + 2))`` leaves, as
        the theorem asks, where n is about the number of rows
        (:func:`~unseen.rejection.sample.effective_size`) and d the number of features, at
        most 4.
    pruning : float, default=0.3
        Share of the rows that is held out from growth to prune the tree by; 0 is no pruning. The
        leaves are filled from all rows in the end.
    negative_cost : float, default=0.75
        Cost of negative unseen mass in a split, from 0 to 1: the larger, the fewer splits inside
        known classes (:func:`~unseen.rejection.tree.cell_worth`).
    unseen_label, n_folds, random_state
        Parameters of every rule.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import RejectionTree
    >>> rng = np.random.RandomState(0)
    >>> y = np.repeat(["left", "right"], 200)
    >>> X = rng.normal(size=(400, 1)) + np.where(y == "left", -4, 4)[:, None]
    >>> X_new = rng.normal(size=(600, 1)) + np.repeat([-4, 4, 0], 200)[:, None]
    >>> rule = RejectionTree(random_state=0).fit(X, y, X_new, [1 / 3, 1 / 3])
    >>> rule.predict([[-4.0], [0.0], [4.0]])
    array(['left', 'unseen', 'right'], dtype='<U6')
    >>> rule.rule_.cells.n_leaves
    3
    """

    min_leaf: int | str = "auto"
    pruning: float = 0.3
    negative_cost: float = 0.75

    _accepts_sparse: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "min_leaf": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "pruning": [Interval(Real, 0, 1, closed="left")],
        "negative_cost": [Interval(Real, 0, 1, closed="both")],
        **RejectionRule._parameter_constraints,
    }

    def _fit_rule(self, sample: OpenSample, rng: RandomState) -> CellRule:
        if self.pruning == 0:
            return cell_rule(self._grow(sample, rng), sample)
        grown_from, held_out = hold_out(sample, self.pruning, rng)
        trees = self._grow(grown_from, rng)
        trees = prune(trees, node_masses(trees, grown_from), node_masses(trees, held_out))
        return cell_rule(trees, sample)

    def _grow(self, sample: OpenSample, rng: RandomState) -> Trees:
        X, masses = sample.rows, sample.masses
        counts = np.ones((1, len(X)), dtype=np.int64)
        growth = Growth(smallest_leaf(self.min_leaf, sample), X.shape[1], self.negative_cost)
        return grow(RankedRows.from_rows(X), masses, counts, growth, rng)


def node_masses(trees: Trees, sample: OpenSample) -> FloatArray:
    """Masses a_1 ... a_K and u of every node of one tree: sums over the leaves below the node."""
    masses = cell_masses(trees.cell(sample.rows), sample.masses, trees.n_cells)
    for node in np.flatnonzero(trees.feature != LEAF)[::-1]:
        masses[node] = masses[trees.left[node]] + masses[trees.left[node] + 1]
    return masses


def prune(trees: Trees, masses: FloatArray, held_out: FloatArray) -> Trees:
    """The smallest of all trees with the least held-out risk that are left when branches are cut.

    Nodes have labels by ``masses`` (n_nodes, K + 1), and the prices of these by ``held_out``.
    """
    labels = cell_labels(masses)
    cost = cell_costs(held_out)[np.arange(len(labels)), labels]
    feature, subtree = trees.feature.copy(), cost.copy()
    for node in np.flatnonzero(feature != LEAF)[::-1]:
        branches = subtree[trees.left[node]] + subtree[trees.left[node] + 1]
        if cost[node] <= branches + np.finfo(np.float64).eps:
            feature[node] = LEAF
        else:
            subtree[node] = branches
    # Nodes that can still be reached from the root are left, and renumbered.
    reached: BoolArray = np.arange(len(feature)) == 0
    for node in np.flatnonzero(feature != LEAF):
        reached[trees.left[node] + np.arange(2)] |= reached[node]
    number = np.cumsum(reached) - 1
    left = np.where(feature == LEAF, LEAF, number[trees.left])
    return Trees(feature[reached], trees.threshold[reached], left[reached], 1)
