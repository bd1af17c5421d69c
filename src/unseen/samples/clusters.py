"""Rows that must share a fold, such as copies: one would give the other away.

A model that has seen the copy of a row has seen the row. Oversampling and drawing with replacement
make copies within one sample and hardly any across, so that rows scored by models of their own
copies look like their own sample, and nothing else. The same holds for rows of one person, site or
batch; but these are rows of their own, where copies count as one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from secrets import randbits
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen._arrays import chosen_arrays
from unseen._frozen import Frozen
from unseen._types import BoolArray, FloatArray, IntArray, Matrix
from unseen.samples.checks import LabelledRows

# A row of which so large a part of all rows are copies is a value that rows often take (of coarse
# features), and its copies are rows of their own.
_COMMON, _FEWEST_COMMON = 0.05, 5
_BLOCK_ROWS = 4096
# Together so many columns are mostly fine enough to tell all rows apart.
_FIRST_COLUMNS = 2
_SALT, _MIXER = randbits(128), np.uint64(0xFF51AFD7ED558CCD)


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
        sizes = np.bincount(self.new), np.bincount(self.labelled)
        return sum(float(size.sum() ** 2 / np.square(size).sum()) for size in sizes)


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


def are_distinct(*samples: Matrix) -> bool:
    """Whether the first few columns alone tell all rows of the samples apart.

    Sparse rows hold too little there to tell.
    """
    if any(hasattr(rows, "toarray") for rows in samples):
        return False
    arrays = chosen_arrays()
    first = [arrays.put_rows(rows)[:, :_FIRST_COLUMNS] for rows in samples]
    if arrays.is_host:
        keys = np.sort(row_keys(*first))
        return bool((keys[1:] != keys[:-1]).all())
    # A card is quick at sorting, and needs no keys.
    rows, place = arrays.joined([arrays.put(one, np.float64) for one in first]), 0
    for column in rows.T:
        values, step = arrays.xp.unique(column, return_inverse=True)
        distinct, place = arrays.xp.unique(place * len(values) + step, return_inverse=True)
    return len(distinct) == len(rows)


def row_keys(*samples: Matrix) -> IntArray:
    """A number for each row of the samples, one after the other; equal for equal rows."""
    dtype = np.result_type(*(rows.dtype for rows in samples))
    keys: list[IntArray] = []
    for rows in samples:
        rows = rows.astype(dtype, copy=False)
        # Block by block, to copy little at a time.
        for start in range(0, rows.shape[0], _BLOCK_ROWS):
            block = rows[start : start + _BLOCK_ROWS]
            if not hasattr(block, "toarray"):
                keys.append(row_hashes(block, _SALT).view(np.int64))
                continue
            block = block.copy()
            block.sum_duplicates()
            block.eliminate_zeros()
            # Widths of indices differ between matrices; of hashed integers they must not.
            places, values = block.indices.astype(np.int64), block.data
            parts = [slice(*ends) for ends in pairwise(block.indptr)]
            hashes = [hash((places[one].tobytes(), values[one].tobytes())) for one in parts]
            keys.append(np.array(hashes, dtype=np.int64))
    return np.concatenate(keys)


def row_hashes(rows: FloatArray, seed: int) -> NDArray[np.uint64]:
    """A number for each row, equal for equal rows: a sum of mixed bits times drawn odd numbers."""
    # Adding 0.0 turns -0.0 into 0.0, which equals it but has other bits.
    bits = (rows + 0.0).view(f"u{rows.itemsize}").astype(np.uint64)
    # Round numbers differ in few bits, and the high ones alone.
    bits ^= bits >> np.uint64(33)
    bits *= _MIXER
    bits ^= bits >> np.uint64(29)
    factors = np.random.default_rng(seed).integers(2**63, size=rows.shape[1], dtype=np.uint64)
    return np.asarray(bits @ (2 * factors + 1))
