"""A classification tree with the label "unseen".

Splits divide the masses of the labels (:mod:`unseen.rejection.cells.growth`), each leaf gets the
label of least cost, and rows that the tree was not grown from decide what to prune: by in-sample
costs a tree that isolates every new row would be the best. ``docs/rejection.md`` has the theorem
behind the default size of the leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState

from unseen._sklearn import Interval, StrOptions
from unseen._types import BoolArray, FloatArray, IntArray
from unseen.rejection.base import RejectionRule
from unseen.rejection.cells.cells import (
    CellRule,
    cell_costs,
    cell_labels,
    cell_masses,
    cell_rule,
    smallest_leaf,
)
from unseen.rejection.cells.growth import LEAF, Growth, RankedRows, Trees, grow
from unseen.rejection.learning.sample import OpenSample


@dataclass(eq=False, repr=False)
class RejectionTree(RejectionRule):
    """A classification tree with the label "unseen": greedy splits, exact labels, honest pruning.

    Parameters
    ----------
    min_leaf : int or "auto", default="auto"
        Smallest number of rows in a leaf. "auto" allows at most ``2 n^(d / (d + 2))`` leaves, as
        the theorem asks, where n is about the number of rows
        (:func:`~unseen.rejection.cells.cells.effective_size`) and d the number of features, at
        most 4.
    pruning : float, default=0.3
        Share of the rows that is held out from growth to prune the tree by; 0 is no pruning. The
        leaves are filled from all rows in the end.
    negative_cost : float, default=0.75
        Cost of negative unseen mass in a split, from 0 to 1: the larger, the fewer splits inside
        known classes (:mod:`unseen.rejection.cells.growth`).
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


def hold_out(sample: OpenSample, share: float, rng: RandomState) -> tuple[OpenSample, OpenSample]:
    """Divide every class and the new rows into a part to learn from and one held out.

    A class of a single row, or a single new row, is in both parts: either part needs it to price
    labels.
    """

    def drawn(rows: IntArray) -> IntArray:
        """A share of the rows, at least one and, if there are two, not all."""
        wanted = round(share * len(rows))
        return rng.permutation(rows)[: max(1, min(wanted, len(rows) - 1))]

    labelled = np.zeros(len(sample.codes), dtype=bool)
    for code in range(sample.n_classes):
        labelled[drawn(np.flatnonzero(sample.codes == code))] = True
    rest = ~labelled | (np.bincount(sample.codes)[sample.codes] == 1)
    if not sample.has_new:  # a row and its copy stay together
        return sample.subset(rest, rest), sample.subset(labelled, labelled)
    new = np.zeros(sample.X_new.shape[0], dtype=bool)
    new[drawn(np.arange(len(new)))] = True
    rest_new = ~new if len(new) > 1 else new
    return sample.subset(rest, rest_new), sample.subset(labelled, new)


def node_masses(trees: Trees, sample: OpenSample) -> FloatArray:
    """Masses a_1 ... a_K and u of every node of one tree: sums over the leaves below the node."""
    masses = cell_masses(trees.cell(sample.rows), sample.masses, trees.n_cells)
    for node in np.flatnonzero(trees.feature != LEAF)[::-1]:
        masses[node] = masses[trees.left[node]] + masses[trees.left[node] + 1]
    return masses


def prune(trees: Trees, masses: FloatArray, held_out: FloatArray) -> Trees:
    """The smallest of all trees with the least held-out risk that are left when branches are cut.

    ``masses`` (n_nodes, K + 1) gives the nodes their labels; ``held_out``, the masses of rows that
    the tree was not grown from, prices these labels.
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
