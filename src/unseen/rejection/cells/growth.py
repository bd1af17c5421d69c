"""Growing trees for anomaly rejection, many at once.

A split should make cells in which one label is clearly best. The estimated risk itself cannot say
so: ``max(max_k a_k, e)`` adds up to the same where both halves keep the label of the whole, like
misclassification error. So splits maximise a strictly convex stand-in for it: with e clipped at 0
and ``W = a_1 + ... + a_K + e`` a cell is worth

    (a_1^2 + ... + a_K^2 + e^2) / W - cost max(a_1 + ... + a_K - u, 0).

The first part is the mass W less mass x Gini. The second charges for negative unseen mass, which is
always noise: W adds up to more over two cells than over their union just where the one has unseen
mass and the other has negative. At cost 1 that gain is taken back, and splits minimise mass x Gini;
at cost 0 they are paid for noise, and trees go on splitting regions of known classes; but a little
pay finds unseen rows that hide where the whole seems to have none. The default lies between
(``benchmarks/forest_structure.py``, where it was chosen: macro-F1 of a forest on three problems).
Trees of scikit-learn, which take no negative weights, can be grown to tell new rows and
classes apart, and their leaves be filled as here: on these problems their best macro-F1 was .884
against .911, and it hung on the size of the leaves.

All nodes of a level, of all trees, are split together: rows are kept grouped by node, a sort of
(node, rank of the value) orders each group along a feature of its own, and cumulative sums of the
masses give the impurity on both sides of every cut. One sort for each level and feature tried: n
rows and d features take O(n d log n) a level, whatever the number of classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unseen._types import BoolArray, FloatArray, IntArray

__all__ = ["Growth", "RankedRows", "Trees", "cell_worth", "grow"]

LEAF = -1
# A gain below this share of the mass of a node is rounding.
LEAST_GAIN = 1e-10


@dataclass(frozen=True, eq=False)
class Trees:
    """Binary trees in one list of nodes; rows go left where the feature is at most the threshold.

    Parameters
    ----------
    feature : ndarray of shape (n_nodes,)
        Feature that a node splits, -1 in a leaf.
    threshold : ndarray of shape (n_nodes,)
        Where it splits it.
    left : ndarray of shape (n_nodes,)
        The left child; the right one stands next to it. Children come after their parents.
    n_trees : int
        The first ``n_trees`` nodes are the roots.
    """

    feature: IntArray
    threshold: FloatArray
    left: IntArray
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
        X = np.ascontiguousarray(X)
        node: IntArray = np.tile(np.arange(self.n_trees), len(X))
        flat, offset = X.ravel(), np.repeat(np.arange(len(X)) * X.shape[1], self.n_trees)
        walking = np.flatnonzero(self.feature[node] != LEAF)
        while len(walking):
            here = node[walking]
            right = flat[offset[walking] + self.feature[here]] > self.threshold[here]
            here = self.left[here] + right
            node[walking] = here
            walking = walking[self.feature[here] != LEAF]
        return node.reshape(len(X), self.n_trees)

    def cell(self, X: FloatArray) -> IntArray:
        """Leaf of each row in the first tree."""
        return self.leaves(X)[:, 0]


@dataclass(frozen=True, eq=False)
class RankedRows:
    """Rows with each feature replaced by ranks, and what the ranks stand for.

    Parameters
    ----------
    ranks : ndarray of shape (n, d)
        Place of each value among the distinct values of its feature.
    values : tuple of d ndarrays
        The distinct values, in order.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.cells.growth import RankedRows
    >>> rows = RankedRows.of(np.array([[0.5, 7.0], [2.5, 7.0], [0.5, 8.0]]))
    >>> rows.ranks
    array([[0, 0],
           [1, 0],
           [0, 1]])
    >>> rows.midpoints(np.array([0]), np.array([0]), np.array([1]))
    array([1.5])
    """

    ranks: IntArray
    values: tuple[FloatArray, ...]

    @classmethod
    def of(cls, X: FloatArray) -> RankedRows:
        """Rank every feature: one sort each."""
        pairs = [np.unique(column, return_inverse=True) for column in X.T]
        ranks = np.stack([inverse.reshape(-1) for _, inverse in pairs], axis=1)
        return cls(np.ascontiguousarray(ranks), tuple(values for values, _ in pairs))

    def midpoints(self, feature: IntArray, below: IntArray, above: IntArray) -> FloatArray:
        """Halfway between two ranks of a feature, and never at the upper one by rounding."""
        places = zip(feature, below, above, strict=True)
        pairs = np.array([(self.values[j][lo], self.values[j][hi]) for j, lo, hi in places])
        low, high = pairs.reshape(-1, 2).T
        middle = low / 2 + high / 2
        return np.where(middle < high, np.maximum(middle, low), low)


@dataclass(frozen=True, eq=False)
class Frontier:
    """Nodes that are still to be split, and their rows, grouped by node.

    Parameters
    ----------
    row : ndarray of shape (r,)
        Rows; one that several trees hold stands here once for each.
    column : ndarray of shape (r,)
        Column of its mass: its class, or K for a new row.
    mass : ndarray of shape (r,)
        Its mass.
    size : ndarray of shape (n_nodes,)
        Rows of each node.
    """

    row: IntArray
    column: IntArray
    mass: FloatArray
    size: IntArray

    @property
    def start(self) -> IntArray:
        """First row of each node."""
        return np.cumsum(self.size) - self.size

    @property
    def node(self) -> IntArray:
        """Node of each row."""
        return np.repeat(np.arange(len(self.size)), self.size)

    def regrouped(self, node: IntArray, n_nodes: int) -> Frontier:
        """The rows grouped by other nodes; those at a negative one are left out."""
        order = np.argsort(node, kind="stable")[np.count_nonzero(node < 0) :]
        sizes = np.bincount(node[order], minlength=n_nodes)
        return Frontier(self.row[order], self.column[order], self.mass[order], sizes)

    def only(self, kept: BoolArray) -> Frontier:
        """Some of the nodes."""
        rows = np.repeat(kept, self.size)
        return Frontier(self.row[rows], self.column[rows], self.mass[rows], self.size[kept])


@dataclass(frozen=True, eq=False)
class Splits:
    """The best split of each node: its gain, feature, and the ranks on both sides of the cut."""

    gain: FloatArray
    feature: IntArray
    below: IntArray
    above: IntArray

    def take(self, nodes: IntArray, other: Splits) -> None:
        """Take over the splits of some nodes where they gain more."""
        better = other.gain > self.gain[nodes]
        for mine, theirs in zip(vars(self).values(), vars(other).values(), strict=True):
            mine[nodes[better]] = theirs[better]


@dataclass(frozen=True)
class Growth:
    """What trees are grown by.

    Parameters
    ----------
    min_leaf : int
        Different rows that a leaf holds at least.
    n_candidates : int
        Features tried at each node, drawn anew for each; those that are constant there not counted.
    negative_cost : float, default=0.75
        What negative unseen mass costs a split.
    """

    min_leaf: int
    n_candidates: int
    negative_cost: float = 0.75


def cell_worth(
    squares: FloatArray, known: FloatArray, new: FloatArray, negative_cost: float
) -> FloatArray:
    """``(sum_k a_k^2 + e^2) / W``, less the cost of negative unseen mass.

    Parameters
    ----------
    squares, known : ndarray
        Sums over the known classes of a_k^2, and of a_k.
    new : ndarray
        Mass u of the new rows.
    negative_cost : float
        Cost of a unit of negative mass.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.cells.growth import cell_worth
    >>> a = np.array([[0.25, 0.25], [0.5, 0.0]])
    >>> cell_worth((a**2).sum(axis=1), a.sum(axis=1), np.array([1.0, 0.25]), 0.5)
    array([0.375, 0.375])
    """
    unseen = new - known
    negative = np.minimum(unseen, 0.0)
    unseen = unseen - negative
    purity = (squares + unseen**2) / np.maximum(known + unseen, np.finfo(np.float64).tiny)
    return purity + negative_cost * negative


def grow(
    rows: RankedRows,
    masses: FloatArray,
    counts: IntArray,
    growth: Growth,
    rng: np.random.RandomState,
) -> Trees:
    """Grow trees by the splits of largest worth, level by level.

    Parameters
    ----------
    rows : RankedRows
        Of n rows, labelled and new.
    masses : ndarray of shape (n, K + 1)
        Mass of each row, in the column of its class or, new, in the last.
    counts : ndarray of shape (n_trees, n)
        How often each tree holds each row.
    growth : Growth
        How.
    rng : RandomState
        Draws the features to try.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.cells.growth import Growth, RankedRows, grow
    >>> X = np.array([[1.0], [2.0], [1.0], [2.0], [8.0], [9.0]])
    >>> masses = np.array([[0.25, 0]] * 2 + [[0, 0.25]] * 4)
    >>> counts = np.ones((1, 6), dtype=np.int64)
    >>> trees = grow(RankedRows.of(X), masses, counts, Growth(1, 1), np.random.RandomState(0))
    >>> trees.n_leaves, trees.threshold[0]
    (2, np.float64(5.0))
    """
    frontier = root_frontier(masses, counts)
    n_trees = len(counts)
    levels: list[tuple[IntArray, FloatArray, IntArray]] = []
    end = n_trees  # of the nodes so far
    while len(frontier.size):
        found = best_splits(rows, frontier, masses.shape[1], growth, rng)
        split = found.feature != LEAF
        left = np.where(split, end + 2 * (np.cumsum(split) - 1), LEAF)
        middle = np.zeros(len(split))
        middle[split] = rows.midpoints(found.feature[split], found.below[split], found.above[split])
        levels.append((found.feature, middle, left))
        frontier = children(rows, frontier, found, split)
        end += len(frontier.size)
    feature, threshold, left = (np.concatenate(parts) for parts in zip(*levels, strict=True))
    return Trees(feature, threshold, left, n_trees)


def root_frontier(masses: FloatArray, counts: IntArray) -> Frontier:
    """All rows with a mass in the root of each tree that holds them."""
    tree, row = np.nonzero(counts * masses.any(axis=1))
    column = masses.argmax(axis=1)
    mass = masses.max(axis=1)[row] * counts[tree, row]
    return Frontier(row, column[row], mass, np.bincount(tree, minlength=len(counts)))


def children(rows: RankedRows, frontier: Frontier, found: Splits, split: BoolArray) -> Frontier:
    """The two halves of every node that is split, side by side."""
    inner = frontier.only(split)
    node = inner.node
    feature, below = found.feature[split], found.below[split]
    right = rows.ranks[inner.row, feature[node]] > below[node]
    return inner.regrouped(2 * node + right, 2 * len(feature))


def best_splits(
    rows: RankedRows,
    frontier: Frontier,
    n_columns: int,
    growth: Growth,
    rng: np.random.RandomState,
) -> Splits:
    """The best split of each node over candidate features; feature -1 where no split gains."""
    n_nodes, n_features = len(frontier.size), rows.ranks.shape[1]
    found = Splits(np.zeros(n_nodes), *(np.full(n_nodes, LEAF) for _ in range(3)))
    order = rng.random_sample((n_nodes, n_features)).argsort(axis=1)
    tried = np.zeros(n_nodes, dtype=np.int64)
    alive = np.arange(n_nodes)
    for place in range(n_features):
        open_ = (tried[alive] < growth.n_candidates) & (frontier.size >= 2 * growth.min_leaf)
        alive, frontier = alive[open_], frontier.only(open_)
        if not len(alive):
            break
        feature = order[alive, place]
        ranks = rows.ranks[frontier.row, feature[frontier.node]]
        varied = spread(ranks, frontier.start) > 0
        tried[alive[varied]] += 1
        part = frontier.only(varied)
        if len(part.size):
            cut = best_cuts(part, ranks[np.repeat(varied, frontier.size)], n_columns, growth)
            found.take(alive[varied], Splits(cut.gain, feature[varied], cut.below, cut.above))
    return found


def spread(values: IntArray, start: IntArray) -> IntArray:
    """Largest less smallest value in each group."""
    return np.maximum.reduceat(values, start) - np.minimum.reduceat(values, start)


def best_cuts(frontier: Frontier, ranks: IntArray, n_columns: int, growth: Growth) -> Splits:
    """The cut of largest gain along one feature of each node."""
    node, start, size = frontier.node, frontier.start, frontier.size
    order = order_within(node, ranks)
    ranks = ranks[order]
    # In units of the mass of the node, so that rounding is the same in small nodes and large.
    mass = frontier.mass[order] / np.add.reduceat(frontier.mass, start)[node]
    column, cost = frontier.column[order], growth.negative_cost
    gain = gain_in_worth(node, start, column, mass, n_columns, cost) - LEAST_GAIN
    n_left = np.arange(1, len(node) + 1) - start[node]
    following = np.append(ranks[1:], 0)
    barred = (np.minimum(n_left, size[node] - n_left) < growth.min_leaf) | (ranks == following)
    gain[barred] = 0.0
    place = first_of_maximum(gain, node, start)
    return Splits(gain[place], node[place], ranks[place], following[place])


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
    known = np.where(column < n_columns - 1, mass, 0.0)
    whole = np.bincount(group, mass, n_columns * len(start))[group]
    steps = [known * (mass + 2 * earlier_in(group, mass)), known * whole, known, mass - known]
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


def earlier_in(group: IntArray, mass: FloatArray) -> FloatArray:
    """Mass of the earlier rows of the same group."""
    # Numbers of 16 bits are sorted in linear time.
    order = np.argsort(group.astype(np.min_scalar_type(int(group.max()))), kind="stable")
    sums = np.cumsum(mass[order]) - mass[order]
    sorted_group = group[order]
    first = np.append(True, sorted_group[1:] != sorted_group[:-1])
    earlier = np.empty_like(sums)
    earlier[order] = sums - sums[first][np.cumsum(first) - 1]
    return earlier


def order_within(node: IntArray, ranks: IntArray) -> IntArray:
    """Order rows by node, then by rank, then as they stand.

    One number holds node, rank and place, so that a plain sort does it: several times as fast as
    sorting indices. Where 63 bits are too few, indices are sorted.
    """
    bits_rank, bits_place = int(ranks.max()).bit_length(), len(node).bit_length()
    if int(node.max()).bit_length() + bits_rank + bits_place > 63:
        return np.lexsort((ranks, node))
    keys = (node << (bits_rank + bits_place)) | (ranks << bits_place) | np.arange(len(node))
    keys.sort()
    return keys & ((1 << bits_place) - 1)


def first_of_maximum(values: FloatArray, group: IntArray, start: IntArray) -> IntArray:
    """Place of the first largest value in each group."""
    places = np.flatnonzero(values == np.maximum.reduceat(values, start)[group])
    first = np.empty(len(start), dtype=np.int64)
    first[group[places[::-1]]] = places[::-1]
    return first
