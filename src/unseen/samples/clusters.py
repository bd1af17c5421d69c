"""Rows that must share a fold: copies of one row tell nothing of each other.

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

__all__ = [
    "Clusters",
    "all_clusters",
    "design_effect",
    "effective_number",
    "first_rows",
    "group_clusters",
    "in_one_group",
]

# A row of which so large a part of all rows are copies is a value that rows often take (of coarse
# features), and its copies are rows of their own.
_COMMON, _FEWEST_COMMON = 0.05, 5


@dataclass(frozen=True, eq=False)
class Clusters(Frozen):
    """A number for each row; rows of one number share a fold, and count as draws of one row.

    Parameters
    ----------
    labelled, new : ndarray of shape (n,) and (m,)
        Numbers of the labelled and of the new rows.
    groups : tuple of two ndarrays of shape (n,) and (m,), or None, default=None
        Numbers of rows that share a fold without being draws of one row, labelled and new; None
        where copies alone share a fold.
    distinct : bool, default=False
        Whether no two rows are known to be draws of one row, so that nobody need look for them.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.samples import Clusters
    >>> X, X_new = np.arange(30.0)[:, None], np.array([[7.0], [8.5], [8.5]])
    >>> found = Clusters.of_copies(X, X_new)
    >>> bool(found.new[0] == found.labelled[7]), bool(found.new[1] == found.new[2])
    (True, True)
    >>> effective_number(np.ones(3), found.new)
    1.8
    """

    labelled: IntArray
    new: IntArray
    groups: tuple[IntArray, IntArray] | None = None
    distinct: bool = False

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

    def part(self, own: Any) -> Clusters:
        """Some of the labelled rows, and all new ones."""
        groups = None if self.groups is None else (self.groups[0][own], self.groups[1])
        return Clusters(self.labelled[own], self.new, groups)

    def window(self, places: IntArray) -> Clusters:
        """All labelled rows, and some of the new ones."""
        groups = None if self.groups is None else (self.groups[0], self.groups[1][places])
        return Clusters(self.labelled, self.new[places], groups)

    def between(self, own: BoolArray) -> Clusters:
        """Some of the labelled rows, and the other labelled rows as the new ones."""
        groups = self.together[0]
        return Clusters(self.labelled[own], self.labelled[~own], (groups[own], groups[~own]))

    def as_copies(self, new: NDArray[Any], labelled: NDArray[Any]) -> NDArray[Any]:
        """Values of new rows, where a labelled copy has one the copy's.

        Examples
        --------
        >>> clusters = Clusters(np.array([5]), np.array([4, 5]))
        >>> clusters.as_copies(np.array([0.9, 0.8]), np.array([0.6]))
        array([0.9, 0.6])
        """
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

    Examples
    --------
    >>> import numpy as np
    >>> rows, codes = np.arange(6.0)[:, None], np.array([0, 0, 0, 0, 1, 1])
    >>> groups = np.array([0, 1, 0, 1, 1, 1]), np.array([-1, -1])  # group 1 alone has class 1
    >>> sample = LabelledRows(rows, np.array(["a", "b"]), codes, groups=groups)
    >>> found = group_clusters(sample, np.array([[2.0], [9.0]]))
    >>> len(np.unique(found.together[0])), int(found.together[1][0])
    (4, 0)
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
    """Place of the first row of each cluster, rising.

    Examples
    --------
    >>> import numpy as np
    >>> first_rows(np.array([3, 0, 3, 1]))
    array([0, 1, 3])
    """
    places = np.arange(len(numbers))
    first = np.zeros(int(numbers.max(initial=0)) + 1, dtype=np.intp)
    first[numbers[::-1]] = places[::-1]
    return np.flatnonzero(first[numbers] == places)


def in_one_group(codes: IntArray, groups: IntArray) -> BoolArray:
    """Whether one group alone has the class, for each class.

    Examples
    --------
    >>> import numpy as np
    >>> in_one_group(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]))
    array([False,  True])
    """
    n_groups = int(groups.max()) + 1
    return np.asarray(np.bincount(np.unique(codes * n_groups + groups) // n_groups) == 1)


def design_effect(values: NDArray[Any], weight: FloatArray, groups: IntArray) -> float:
    """How much more a mean varies where whole groups are drawn, than where rows are; at least 1.

    With an intraclass correlation r, groups of m rows have the effect ``1 + (m - 1) r``.

    Examples
    --------
    >>> import numpy as np
    >>> design_effect(np.repeat([0.0, 1.0, 5.0], 4), np.ones(12), np.repeat([0, 1, 2], 4))
    4.0
    """
    apart = weight * (values - np.average(values, weights=weight))
    alone = np.square(apart).sum()
    together = np.square(np.bincount(groups, apart)).sum()
    return max(1.0, float(together / alone)) if alone > 0 else 1.0


def effective_number(weight: FloatArray, numbers: IntArray | None = None) -> float:
    """Effective number of weighted rows, ``(sum w)^2 / sum w^2``, over clusters of rows."""
    by_cluster = weight if numbers is None else np.bincount(numbers, weight)
    return float(weight.sum() ** 2 / np.square(by_cluster).sum())
