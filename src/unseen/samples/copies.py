"""Rows that were copied: from one sample to the other, or within a sample."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from secrets import randbits
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform

from unseen._arrays import chosen_arrays
from unseen._types import FloatArray, IntArray, Matrix
from unseen.records import Notice

_BLOCK_ROWS = 4096
# Together so many columns are mostly fine enough to tell all rows apart.
_FIRST_COLUMNS = 2
_SALT, _MIXER = randbits(128), np.uint64(0xFF51AFD7ED558CCD)
# Rows whose distances are looked at, and values that these may hold together, squared.
_MOST_ROWS, _MOST_VALUES = 1000, 100_000_000

# Those who read files have no argument of these names.
_SPOKEN = {"X": "labelled rows", "X_new": "new rows", "control": "rows of the control"}
# What to do about rows of the second sample that are in the first, too.
_ADVICE = {
    ("control", "X_new"): "Take them out of the control: whatever is there counts as known.",
    ("X", "control"): "They do not show how known classes look where the new rows come from.",
}
_USUAL_ADVICE = (
    "If they come from the training data, take them out: they pull the shares towards their "
    "classes."
)


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
    """Notices of rows that both samples hold, or that one holds twice, beyond chance.

    Coarse features repeat by themselves, and each sample tells how often. More rows in common
    than either leads one to expect are a leak; fewer, though the features are fine, come from
    oversampling.
    """
    if are_distinct(X, X_new):
        return []
    keys = row_keys(X, X_new)
    known = _Sample(_SPOKEN.get(known_name, f"rows of {known_name}"), X, keys[: X.shape[0]])
    new = _Sample(_SPOKEN.get(new_name, f"rows of {new_name}"), X_new, keys[X.shape[0] :])
    new_in_known, known_in_new = _overlap(new, known), _overlap(known, new)
    found = []
    if new_in_known.too_many() and _is_leak(known, new, new_in_known, known_in_new):
        advice = _ADVICE.get((known_name, new_name), _USUAL_ADVICE)
        text = (
            f"{new_in_known.found} of {len(new.keys)} {new.name} are also among the {known.name}, "
            f"value for value. {advice}"
        )
        found.append(Notice("rows_in_both", text))
    for sample, other, overlap in ((known, new, new_in_known), (new, known, known_in_new)):
        too_few = overlap.expected - overlap.found > 3 * np.sqrt(overlap.variance)
        if too_few and _are_copies(sample):
            n_copies = len(sample.keys) - len(np.unique(sample.keys))
            text = (
                f"{n_copies} of {len(sample.keys)} {sample.name} repeat other ones, value for "
                f"value, but few of them are among the {other.name}. Copies share a fold and "
                "count as one row; drop them if they are there by mistake."
            )
            found.append(Notice("copied_rows", text))
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
    by_chance = min(1.0, _near_ties(known, new, power=8) / 4)
    return new_in_known.too_many(by_chance) and (
        known_in_new.too_many(by_chance) or _are_copies(new)
    )


def _are_copies(sample: _Sample) -> bool:
    """Whether rows repeat more often than they come close: then it is not that they are coarse."""
    counts = np.unique(sample.keys, return_counts=True)[1]
    repeated = counts[counts > 1].sum() / len(sample.keys)
    return bool(repeated > 3 * (_near_ties(sample) + 1) / len(counts))


def _near_ties(*samples: _Sample, power: int = 2) -> float:
    """Distinct rows one step from another, whole rows looked at: about 1 off a grid.

    The step is the smallest distance between distinct rows. Rows further from their nearest count
    by a power of the inverse distance: the higher, the fewer count off a grid, and the two nearest
    rows of all, each other's nearest, count as one.
    """
    _, first = np.unique(np.concatenate([sample.keys for sample in samples]), return_index=True)
    n_looked_at = int(min(_MOST_ROWS, np.sqrt(_MOST_VALUES / samples[0].rows.shape[1])))
    # Keys are other numbers in every process; the rows looked at must not be.
    some = np.sort(np.random.default_rng(0).permutation(np.sort(first))[: max(n_looked_at, 2)])
    ends = np.cumsum([0, *(len(sample.keys) for sample in samples)])
    parts = [
        sample.rows[some[(some >= start) & (some < start + len(sample.keys))] - start]
        for sample, start in zip(samples, ends, strict=False)
    ]
    rows = np.vstack([part.toarray() if hasattr(part, "toarray") else part for part in parts])
    if len(rows) < 2:
        return 1.0
    apart = squareform(pdist(rows))
    np.fill_diagonal(apart, np.inf)
    nearest = apart.min(axis=1)
    ties = (nearest.min() / nearest) ** (power * rows.shape[1])
    return float(ties.sum() - 1) * (len(first) / len(some)) ** 2


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
            if hasattr(block, "toarray"):
                keys.append(np.fromiter(_sparse_row_hashes(block.copy()), np.int64))
            else:
                keys.append(row_hashes(block, _SALT).view(np.int64))
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


def _sparse_row_hashes(rows: Matrix) -> Iterator[int]:
    rows.sum_duplicates()
    rows.eliminate_zeros()
    for start, end in pairwise(rows.indptr):
        # Widths of indices differ between matrices; of hashed integers they must not.
        places = rows.indices[start:end].astype(np.int64)
        yield hash((places.tobytes(), rows.data[start:end].tobytes()))
