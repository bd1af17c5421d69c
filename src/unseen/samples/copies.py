"""Rows that were copied: from one sample to the other, or within a sample."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from unseen._types import IntArray, Matrix
from unseen.records import Notice

__all__ = ["copy_notices"]

_BLOCK_ROWS = 4096
_COLUMNS_LOOKED_AT = 50


class _Sample(NamedTuple):
    """Rows, and a key of each that equal rows share."""

    name: str
    rows: Matrix
    keys: IntArray


class _Overlap(NamedTuple):
    """Rows of one sample found in another, and how many to expect if both are innocent."""

    found: int
    expected: float
    variance: float

    def too_many(self, by_chance: float = 0.0) -> bool:
        return self.found - self.expected > 3 * np.sqrt(self.variance + by_chance)


def copy_notices(X: Matrix, X_new: Matrix, known_name: str, new_name: str) -> list[Notice]:
    """Rows that both samples hold, or one holds twice, where chance does not put them.

    Coarse features repeat by themselves, and each sample tells how often. More rows in common
    than either leads one to expect are a leak; fewer, though the features are fine, come from
    oversampling.
    """
    dtype = np.result_type(X.dtype, X_new.dtype)
    known, new = (
        _Sample(name, rows, np.fromiter(_row_hashes(rows.astype(dtype, copy=False)), np.int64))
        for name, rows in ((known_name, X), (new_name, X_new))
    )
    new_in_known, known_in_new = _overlap(new, known), _overlap(known, new)
    found = []
    if new_in_known.too_many() and _is_leak(known, new, new_in_known, known_in_new):
        found.append(
            Notice(
                "rows_in_both",
                f"{new_in_known.found} of {len(new.keys)} rows of {new.name} are also in "
                f"{known.name}, value for value. If they come from the training data, take them "
                "out: they pull the shares towards their classes.",
            )
        )
    for sample, other, overlap in ((known, new, new_in_known), (new, known, known_in_new)):
        too_few = overlap.expected - overlap.found > 3 * np.sqrt(overlap.variance)
        if too_few and _are_copies(sample):
            n_copies = len(sample.keys) - len(np.unique(sample.keys))
            found.append(
                Notice(
                    "copied_rows",
                    f"{n_copies} of {len(sample.keys)} rows of {sample.name} repeat other rows of "
                    f"{sample.name}, value for value, but few of them are in {other.name}. If "
                    f"{sample.name} was oversampled, drop the copies: a row whose copy the "
                    "classifier has seen is not scored out of fold.",
                )
            )
    return found


def _overlap(sample: _Sample, other: _Sample) -> _Overlap:
    """Expected by Good and Turing: a new row is a known one as often as known rows repeat."""
    counts = np.unique(other.keys, return_counts=True)[1]
    n_rows, n_other = len(sample.keys), len(other.keys)
    once, twice = (int((counts == times).sum()) for times in (1, 2))
    share = 1 - once / n_other
    # Of the rows drawn, and of the share, which is itself an estimate from the other sample.
    variance = n_rows * share * (1 - share) + (n_rows / n_other) ** 2 * (once * share + 2 * twice)
    return _Overlap(int(np.isin(sample.keys, other.keys).sum()), n_rows * share, variance)


def _is_leak(known: _Sample, new: _Sample, new_in_known: _Overlap, known_in_new: _Overlap) -> bool:
    # Half as many pairs coincide as are one step apart, and half of those are across samples;
    # of more than about one, the repeats within the samples tell.
    by_chance = min(1.0, _near_ties(known, new) / 4)
    return new_in_known.too_many(by_chance) and (
        known_in_new.too_many(by_chance) or _are_copies(new)
    )


def _are_copies(sample: _Sample) -> bool:
    """Whether rows repeat more often than they come close: then it is not that they are coarse."""
    counts = np.unique(sample.keys, return_counts=True)[1]
    repeated = counts[counts > 1].sum() / len(sample.keys)
    return bool(repeated > 3 * (_near_ties(sample) + 1) / len(counts))


def _near_ties(*samples: _Sample) -> float:
    """Neighbours one step apart among distinct rows, in the column that has fewest.

    The step is the smallest gap between values of the column. Wider gaps count by the inverse
    square: all together about twice the gaps of one step on a grid, and about 1 off a grid.
    """
    _, first = np.unique(np.concatenate([sample.keys for sample in samples]), return_index=True)
    heads = [sample.rows[:, :_COLUMNS_LOOKED_AT] for sample in samples]
    dense = [head.toarray() if hasattr(head, "toarray") else head for head in heads]
    gaps = np.diff(np.sort(np.concatenate(dense)[first], axis=0), axis=0)
    step = np.min(gaps, axis=0, where=gaps > 0, initial=np.inf)
    with np.errstate(divide="ignore"):
        return float((np.minimum(1.0, step / gaps) ** 2).sum(axis=0).min())


def _row_hashes(rows: Matrix) -> Iterator[int]:
    """A hash of each row, equal for equal rows; block by block, to copy little at a time."""
    for start in range(0, rows.shape[0], _BLOCK_ROWS):
        block = rows[start : start + _BLOCK_ROWS]
        if hasattr(block, "toarray"):
            yield from _sparse_row_hashes(block.copy())
        else:
            # Adding 0.0 turns -0.0 into 0.0, which equals it but has other bytes.
            yield from (hash(row.tobytes()) for row in block + 0.0)


def _sparse_row_hashes(rows: Matrix) -> Iterator[int]:
    rows.sum_duplicates()
    rows.eliminate_zeros()
    for start, end in pairwise(rows.indptr):
        # Widths of indices differ between matrices; of hashed integers they must not.
        places = rows.indices[start:end].astype(np.int64)
        yield hash((places.tobytes(), rows.data[start:end].tobytes()))
