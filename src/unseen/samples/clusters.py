"""Rows that must share a fold, such as copies: one would give the other away.

A model that has seen the copy of a row has seen the row. Oversampling and drawing with replacement
make copies within one sample and hardly any across, so that rows scored by models of their own
copies look like their own sample, and nothing else. The same holds for rows of one person, site or
batch; but these are rows of their own, where copies count as one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen._frozen import Frozen
from unseen._types import BoolArray, FloatArray, IntArray, Matrix
from unseen.samples.copies import are_distinct, row_keys
from unseen.samples.labelled import LabelledRows

# A row of which so large a part of all rows are copies is a value that rows often take (of coarse
# features), and its copies are rows of their own.
_COMMON, _FEWEST_COMMON = 0.05, 5


@dataclass(frozen=True, eq=False)
class Clusters(Frozen):
    """A number for each row; rows of one number share a fold, and count as draws of one row.

    ``groups`` are numbers of rows that share a fold without being draws of one row, labelled (n,)
    and new (m,); None where copies alone share a fold.
    """

    labelled: IntArray  # (n,)
    new: IntArray  # (m,)
    groups: tuple[IntArray, IntArray] | None = None
    distinct: bool = False  # no two rows are draws of one row, and nobody need look for them

    @classmethod
    def of_copies(cls, X: Matrix, X_new: Matrix | None = None) -> Clusters:
        """Equal rows together, labelled and new alike; values that rows often take, apart."""
        rows = [X] if X_new is None else [X, X_new]
        if are_distinct(*rows):
            numbers = np.arange(sum(one.shape[0] for one in rows))
            return cls(numbers[: X.shape[0]], numbers[X.shape[0] :], distinct=True)
        keys = row_keys(*rows)
        _, first, numbers, counts = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        # Keys differ between processes; numbers by first appearance do not, nor do sums over them.
        place = np.argsort(np.argsort(first))
        numbers, counts = place[numbers], counts[np.argsort(first)]
        common = counts[numbers] > max(_COMMON * len(keys), _FEWEST_COMMON)
        numbers[common] = len(counts) + np.arange(common.sum())
        return cls(numbers[: X.shape[0]], numbers[X.shape[0] :])

    @property
    def together(self) -> tuple[IntArray, IntArray]:
        """Numbers of the labelled and of the new rows; rows of one number share a fold."""
        return (self.labelled, self.new) if self.groups is None else self.groups

    @property
    def stacked(self) -> IntArray:
        """Numbers of the new rows, then of the labelled ones; rows of one number share a fold."""
        labelled, new = self.together
        return np.append(new, labelled)

    def part(self, own: Any = slice(None), new: Any = slice(None)) -> Clusters:
        """Some of the labelled rows, and some of the new ones."""
        groups = None if self.groups is None else (self.groups[0][own], self.groups[1][new])
        return Clusters(self.labelled[own], self.new[new], groups)

    def between(self, own: BoolArray) -> Clusters:
        """Some of the labelled rows, and the other labelled rows as the new ones."""
        groups = self.together[0]
        return Clusters(self.labelled[own], self.labelled[~own], (groups[own], groups[~own]))

    def as_copies(self, new: NDArray[Any], labelled: NDArray[Any]) -> NDArray[Any]:
        """Values of new rows, where a labelled copy has one the copy's."""
        if not len(self.new) or self.new.min() > self.labelled.max():
            return new
        numbers, first = np.unique(self.labelled, return_index=True)
        place = np.minimum(np.searchsorted(numbers, self.new), len(numbers) - 1)
        copied = numbers[place] == self.new
        found = new.copy()
        found[copied] = labelled[first[place[copied]]]
        return found

    @cached_property
    def n_effective(self) -> float:
        """Rows of both samples, copies as draws of one row."""
        samples = self.new, self.labelled
        return sum(effective_number(np.ones(len(numbers)), numbers) for numbers in samples)


def group_clusters(labelled: LabelledRows, X_new: Matrix) -> Clusters | None:
    """Copies, and the groups that share a fold; None where the rows have no groups.

    Rows of a class that one group alone has share folds with their copies only, or no model could
    know the class. A new row of no group goes with the labelled row that it is a copy of. Copies
    do not join two groups: coarse columns make rows of two persons equal by chance.
    """
    if labelled.groups is None:
        return None
    groups, groups_new = labelled.groups
    copies = Clusters.of_copies(labelled.rows, X_new)
    free = 1 + max(int(groups.max()), int(groups_new.max()))
    alone = in_one_group(labelled.codes, groups)[labelled.codes]
    own = np.where(alone, free + copies.labelled, groups)
    new = np.where(groups_new < 0, copies.as_copies(free + copies.new, own), groups_new)
    return replace(copies, groups=(own, new))


def all_clusters(labelled: LabelledRows, X_new: Matrix) -> Clusters:
    """Copies, and the groups that share a fold where the rows have any."""
    return group_clusters(labelled, X_new) or Clusters.of_copies(labelled.rows, X_new)


def first_rows(numbers: IntArray) -> IntArray:
    """Place of the first row of each cluster, rising."""
    return np.sort(np.unique(numbers, return_index=True)[1])


def in_one_group(codes: IntArray, groups: IntArray) -> BoolArray:
    """Whether one group alone has the class, for each class."""
    n_groups = int(groups.max()) + 1
    return np.asarray(np.bincount(np.unique(codes * n_groups + groups) // n_groups) == 1)


def design_effect(values: NDArray[Any], weight: FloatArray, groups: IntArray) -> float:
    """How much more a mean varies where whole groups are drawn, than where rows are; at least 1.

    With an intraclass correlation r, groups of m rows have the effect ``1 + (m - 1) r``.
    """
    apart = weight * (values - np.average(values, weights=weight))
    alone = np.square(apart).sum()
    together = np.square(np.bincount(groups, apart)).sum()
    return max(1.0, float(together / alone)) if alone > 0 else 1.0


def effective_number(weight: FloatArray, numbers: IntArray | None = None) -> float:
    """Effective number of weighted rows, ``(sum w)^2 / sum w^2``, over clusters of rows."""
    by_cluster = weight if numbers is None else np.bincount(numbers, weight)
    return float(weight.sum() ** 2 / np.square(by_cluster).sum())
