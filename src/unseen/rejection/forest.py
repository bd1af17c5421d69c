"""Bagged trees with the label "unseen", and their out-of-bag probabilities.

Each tree is grown, without pruning, from a bootstrap of every class and of the new rows, and tries
a few features at each node. About 37% of the trees have not seen a given row; the mean of their
probabilities is the row's probability out of fold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState

from unseen._sklearn import Interval, StrOptions
from unseen._team import row_blocks
from unseen._types import FloatArray, IntArray, Matrix
from unseen.rejection.base import RejectionRule
from unseen.rejection.sample import (
    OpenSample,
    OutOfFold,
    cell_masses,
    cell_probabilities,
    effective_size,
    smallest_leaf,
)
from unseen.rejection.tree import Growth, RankedRows, Trees, grow

GROWN_AT_ONCE = 2**18  # rows times trees, which share some hundred calls of NumPy for each level
LEAVES = 4.0  # for each cell of a histogram: twice those of a tree, as averages are less noisy


@dataclass(frozen=True, eq=False)
class Batch:
    """Trees that were grown together, and the probabilities in their leaves."""

    trees: Trees
    table: FloatArray  # probabilities of the labels at each node, unseen last


@dataclass(frozen=True, eq=False)
class ForestRule:
    """The average of many trees, kept in the batches they were grown in."""

    batches: tuple[Batch, ...]

    def probabilities(self, X: Matrix) -> FloatArray:
        """Probability of each known class and, last, of unseen ones: shape (n, K + 1)."""
        total = np.zeros((len(X), self.batches[0].table.shape[1]))
        for rows in row_blocks(len(X)):  # in pieces, which take less memory
            for batch in self.batches:
                for leaves in batch.trees.leaves(X[rows]).T:
                    total[rows] += batch.table.take(leaves, axis=0)
        return total / total.sum(axis=1, keepdims=True)


@dataclass(eq=False, repr=False)
class RejectionForest(RejectionRule):
    """A random forest with the label "unseen".

    Parameters
    ----------
    n_trees : int, default=100
        Number of trees.
    min_leaf : int or "auto", default="auto"
        Smallest number of different rows in a leaf; "auto" is half of that in a single tree
        (:class:`~unseen.rejection.tree.RejectionTree`).
    max_features : int or "sqrt", default="sqrt"
        Features tried at each node; those that are constant there do not count.
    negative_cost : float, default=0.75
        Cost of negative unseen mass in a split, from 0 to 1: the larger, the fewer splits inside
        known classes (:func:`~unseen.rejection.tree.cell_worth`).
    unseen_label, random_state
        Parameters of every rule. A forest needs no folds.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import RejectionForest
    >>> rng = np.random.RandomState(0)
    >>> y = np.repeat(["left", "right"], 200)
    >>> X = rng.normal(size=(400, 1)) + np.where(y == "left", -4, 4)[:, None]
    >>> X_new = rng.normal(size=(600, 1)) + np.repeat([-4, 4, 0], 200)[:, None]
    >>> rule = RejectionForest(random_state=0).fit(X, y, X_new, [1 / 3, 1 / 3])
    >>> rule.predict([[-4.0], [0.0], [4.0]])
    array(['left', 'unseen', 'right'], dtype='<U6')
    """

    n_trees: int = 100
    min_leaf: int | str = "auto"
    max_features: int | str = "sqrt"
    negative_cost: float = 0.75
    n_folds: int = field(default=0, init=False)  # no parameter: bags need no folds

    _accepts_sparse: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_trees": [Interval(Integral, 1, None, closed="left")],
        "min_leaf": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "max_features": [Interval(Integral, 1, None, closed="left"), StrOptions({"sqrt"})],
        "negative_cost": [Interval(Real, 0, 1, closed="both")],
        "unseen_label": RejectionRule._parameter_constraints["unseen_label"],
        "random_state": RejectionRule._parameter_constraints["random_state"],
    }

    def _fit_rule(self, sample: OpenSample, rng: RandomState) -> ForestRule:
        return ForestRule(tuple(batch for batch, *_ in self._grow(sample, rng)))

    def _fit_both(self, sample: OpenSample, rng: RandomState) -> tuple[ForestRule, OutOfFold]:
        """All trees are the rule; the trees that have not seen a row give its probabilities."""
        total, batches = np.zeros_like(sample.masses), []
        for batch, counts, leaves in self._grow(sample, rng):
            for count, of_tree in zip(counts, leaves.T, strict=True):
                total += (count == 0)[:, None] * batch.table[of_tree]
            batches.append(batch)
        # A row that every tree has seen has no probabilities out of bag but the shares.
        total[total.sum(axis=1) == 0] = sample.prior
        total /= total.sum(axis=1, keepdims=True)
        labelled, new = np.split(total, [len(sample.codes)])
        return ForestRule(tuple(batches)), OutOfFold(labelled, sample.codes, new)

    def _grow(
        self, sample: OpenSample, rng: RandomState
    ) -> Iterator[tuple[Batch, IntArray, IntArray]]:
        """Batches of trees, how often each tree holds each row, and the leaf of the row there."""
        X, masses, n_features = sample.rows, sample.masses, sample.X.shape[1]
        wanted = int(np.sqrt(n_features)) if self.max_features == "sqrt" else int(self.max_features)
        min_leaf = smallest_leaf(self.min_leaf, sample, LEAVES)
        growth = Growth(min_leaf, min(wanted, n_features), self.negative_cost)
        rows, pseudo_mass = RankedRows.from_rows(X), 1 / effective_size(sample)
        step = max(1, GROWN_AT_ONCE // len(X))
        for start in range(0, self.n_trees, step):
            counts = bootstrap_counts(sample, min(step, self.n_trees - start), rng)
            trees = grow(rows, masses, counts, growth, rng)
            leaves, (tree, row) = trees.leaves(X), np.nonzero(counts)
            held = masses[row] * counts[tree, row, None]
            filled = cell_masses(leaves[row, tree], held, len(trees.feature))
            table = cell_probabilities(filled, sample.prior, pseudo_mass)
            yield Batch(trees, table), counts, leaves


def bootstrap_counts(sample: OpenSample, n_trees: int, rng: RandomState) -> IntArray:
    """How often each tree holds each row: a bootstrap of each class and of the new rows."""
    n_labelled, n_new = len(sample.codes), sample.X_new.shape[0]
    counts = np.zeros((n_trees, n_labelled + n_new), dtype=np.int64)
    for rows in sample.groups:
        n = len(rows)
        place = rng.randint(n, size=(n_trees, n)) + n * np.arange(n_trees)[:, None]
        counts[:, rows] = np.bincount(place.ravel(), minlength=n * n_trees).reshape(n_trees, n)
    if not sample.has_new:  # a row and its copy are drawn together
        counts[:, n_labelled:] = counts[:, :n_labelled]
    return counts
