"""Draw few rows of many in one pass, with memory for few.

Each row draws a random key; in each group, the rows with the smallest keys are kept. The keys
follow the rows, not the batches, so the sample does not depend on how the file is cut up.
docs/big_data.md says how classes and windows share a budget of rows, and what stays in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unseen._frozen import Frozen
from unseen._optional import pa
from unseen._random import water_level
from unseen._types import FloatArray, IntArray
from unseen.tables._arrow import Batch, Table, join
from unseen.tables.groups import GroupBy, Key, KeyCodes, natural_order
from unseen.tables.source import Source, check_names
from unseen.tables.values import without_marks

Level: TypeAlias = Callable[[IntArray], int]

_MOST_CLASSES = 1000
_MOST_GROUPS = 500
# A group with fewer rows says too little to be followed over time.
_FEWEST_ROWS_PER_GROUP = 30
# What an array takes beside its values: the values of a few rows may weigh less.
_ARRAY_BYTES = 512


@dataclass(frozen=True, eq=False)
class Sample(Frozen):
    """Rows drawn from a source, in its order.

    Parameters
    ----------
    table : pyarrow.Table
        The rows.
    positions : ndarray of shape (n_sampled,)
        The place of each row in the source, from 0.
    keys : ndarray of shape (n_sampled,) or None
        The class or group of each row: text if any of them is text.
    counts : mapping
        Rows of each class or group in the whole source, in natural order; empty for
        :func:`read_sample`.
    n_rows : int
        Rows of the source, those with a missing key included.
    n_missing : int
        Rows left out since their class or group is missing.
    sha256 : str
        SHA-256 of the bytes of the source.
    """

    table: Table
    positions: IntArray
    keys: NDArray[Any] | None
    counts: Mapping[Key, int]
    n_rows: int
    n_missing: int
    sha256: str


def read_sample(
    source: Source, n_rows: int, *, seed: int, columns: Sequence[str] | None = None
) -> Sample:
    r"""Draw rows, each as likely as any other, without replacement.

    Parameters
    ----------
    source : Source
        The table.
    n_rows : int
        The number of rows to draw; all if the source has fewer.
    seed : int
        The same seed draws the same rows, whatever the size of the batches.
    columns : sequence of str or None, default=None
        Read these columns alone; None reads all.

    Examples
    --------
    >>> from io import BytesIO
    >>> from unseen.tables import Source, read_sample
    >>> table = Source.find("-", stdin=BytesIO(b"number\n" + b"7\n" * 1000))
    >>> sample = read_sample(table, 4, seed=0)
    >>> sample.n_rows, len(sample.positions), sample.table.column_names
    (1000, 4, ['number'])
    """
    _check_positive("n_rows", n_rows)
    reservoir = _Reservoir(lambda counts: n_rows, seed)
    for batch in source.batches(columns):
        reservoir.add(batch, np.zeros(batch.num_rows, dtype=np.int64))
    held = reservoir.in_order()
    return Sample(held.table, held.positions, None, {}, reservoir.n_rows, 0, source.sha256())


def read_labelled(
    source: Source, label: str, n_rows: int, seed: int, missing: Sequence[str] = ()
) -> Sample:
    r"""Draw labelled rows: small classes whole, equally many of the others.

    Parameters
    ----------
    source, seed
        As in :func:`read_sample`.
    label : str
        The column with the classes, which are the ``keys`` of the sample: text, whole numbers or
        booleans. Space around text does not count. Rows with none (empty, NA, NaN, null) are left
        out and counted.
    n_rows : int
        At most so many rows in all.
    missing : sequence of str, default=()
        More labels that mean none, such as ``"?"``.

    Examples
    --------
    >>> from io import BytesIO
    >>> from unseen.tables import Source, read_labelled
    >>> rows = b"y,x\n" + b"a,0\n" * 500 + b"b,1\n" * 20 + b",2\n"
    >>> sample = read_labelled(Source.find("-", stdin=BytesIO(rows)), "y", 100, seed=0)
    >>> dict(sample.counts), [int((sample.keys == label).sum()) for label in ("a", "b")]
    ({'a': 500, 'b': 20}, [80, 20])
    >>> sample.n_missing
    1
    """
    _check_positive("n_rows", n_rows)
    check_names("label", [label], source.columns(), source.name)
    advice = "Is it an id or a number rather than a class?"
    codes = KeyCodes(f"label {label!r}", min(_MOST_CLASSES, n_rows), advice)
    reservoir = _Reservoir(lambda counts: water_level(counts, n_rows), seed)
    sample = _read_strata(source, GroupBy(label), codes, reservoir, missing=missing)
    for key in sample.counts:
        if isinstance(key, float):
            raise ValueError(
                f"label {label!r} must hold classes: text, whole numbers or booleans; got {key}."
            )
    return sample


def read_groups(
    source: Source,
    by: GroupBy,
    n_rows_per_group: int,
    seed: int,
    *,
    n_rows: int | None = None,
    columns: Sequence[str] | None = None,
) -> Sample:
    r"""Draw rows of each group, such as each day, up to equally many.

    Parameters
    ----------
    source, seed
        As in :func:`read_sample`.
    by : GroupBy
        How to group the rows; at most 500 groups, which are the ``keys`` of the sample.
    n_rows_per_group : int
        The number of rows to draw of each group; smaller groups are kept whole.
    n_rows : int or None, default=None
        At most so many rows of all groups together, or 30 of each group where that is more: small
        groups are kept whole, and the large ones share what is left equally. None sets no limit.
    columns : sequence of str or None, default=None
        Read these columns and that of ``by``; None reads all.

    Examples
    --------
    >>> from io import BytesIO
    >>> from unseen.tables import GroupBy, Source, read_groups
    >>> rows = b"ts,x\n" + b"2024-05-01T10:00,0\n" * 30 + b"2024-04-30,1\n" * 5
    >>> table = Source.find("-", stdin=BytesIO(rows))
    >>> sample = read_groups(table, GroupBy("ts", "day"), 10, seed=0)
    >>> dict(sample.counts), len(sample.keys)
    ({'2024-04-30': 5, '2024-05-01': 30}, 15)
    """
    _check_positive("n_rows_per_group", n_rows_per_group)
    if n_rows is not None:
        _check_positive("n_rows", n_rows)
    by.check(source.columns(), source.name)
    advice = 'Cut dates into windows with a unit such as "day".'
    codes = KeyCodes(f"by {by.column!r}", _MOST_GROUPS, advice)
    reservoir = _Reservoir(lambda counts: group_level(counts, n_rows_per_group, n_rows), seed)
    wanted = None if columns is None else list(dict.fromkeys([*columns, by.column]))
    return _read_strata(source, by, codes, reservoir, wanted)


def group_level(counts: IntArray, n_rows_per_group: int, n_rows: int | None) -> int:
    """The most rows that a group may keep, given the rows of each group so far."""
    if n_rows is None:
        return n_rows_per_group
    return min(n_rows_per_group, max(_FEWEST_ROWS_PER_GROUP, water_level(counts, n_rows)))


def _read_strata(
    source: Source,
    by: GroupBy,
    codes: KeyCodes,
    reservoir: _Reservoir,
    columns: list[str] | None = None,
    missing: Sequence[str] = (),
) -> Sample:
    for batch in source.batches(columns):
        keys = by.keys(batch.column(by.column))
        reservoir.add(batch, codes.encode(without_marks(keys, missing) if missing else keys))
    if not len(reservoir.counts):
        raise ValueError(f"{codes.argument} must not be missing in all rows of {source.name}.")
    held = reservoir.in_order()
    names = list(codes.known)
    if any(str(name)[-1:] == "\0" for name in names):
        raise ValueError(f"{codes.argument} must not end in the NUL character.")
    # Files of one pattern may hold 1 here and "1" there: text throughout if any is text.
    if any(isinstance(name, str) for name in names):
        names = [str(name) for name in names]
    counted: Counter[Key] = Counter()
    for name, count in zip(names, reservoir.counts.tolist(), strict=True):
        counted[name] += count
    return Sample(
        table=held.table,
        positions=held.positions,
        keys=np.array(names)[held.strata],
        counts={name: counted[name] for name in natural_order(counted)},
        n_rows=reservoir.n_rows,
        n_missing=reservoir.n_rows - int(reservoir.counts.sum()),
        sha256=source.sha256(),
    )


def _check_positive(argument: str, value: int) -> None:
    if value < 1:
        raise ValueError(f"{argument} must be at least 1; got {value}.")


@dataclass(frozen=True)
class _Held:
    """Rows with what decides on them: random key, group, place in the source."""

    table: Table
    keys: FloatArray
    strata: IntArray
    positions: IntArray

    @property
    def n_bytes(self) -> int:
        beside = self.keys.nbytes + self.strata.nbytes + self.positions.nbytes
        return int(self.table.nbytes) + _ARRAY_BYTES * self.table.num_columns + beside

    def only(self, rows: IntArray) -> _Held:
        table = self.table.take(pa.array(rows))
        return _Held(table, self.keys[rows], self.strata[rows], self.positions[rows])


class _Reservoir:
    """The rows that may still be in the sample, while the source is read.

    ``level`` says of the counts so far how many rows a group may keep. Rows leave memory when
    they weigh twice what was last kept, and ``slack_bytes`` more.
    """

    def __init__(self, level: Level, seed: int, slack_bytes: int = 32 << 20) -> None:
        self.level = level
        self.slack_bytes = slack_bytes
        self.n_rows = 0
        self.counts = np.zeros(0, dtype=np.int64)
        self._random = np.random.default_rng(seed)
        # Where a group is full: the largest key that is still in it.
        self._bounds = np.zeros(0)
        self._held: list[_Held] = []
        self._held_bytes = self._settled_bytes = 0

    def add(self, batch: Batch, strata: IntArray) -> None:
        """Read on; rows of the stratum -1 are left out."""
        keys = self._random.random(batch.num_rows)
        positions = np.arange(self.n_rows, self.n_rows + batch.num_rows)
        self.n_rows += batch.num_rows
        new = np.bincount(strata[strata >= 0], minlength=len(self.counts))
        n_new = len(new) - len(self.counts)
        self.counts = np.pad(self.counts, (0, n_new)) + new
        self._bounds = np.pad(self._bounds, (0, n_new), constant_values=np.inf)
        rows = np.flatnonzero(keys < np.append(self._bounds, -np.inf)[strata])
        if not len(rows):
            return
        table = pa.Table.from_batches([batch])
        self._held.append(_Held(table, keys, strata, positions).only(rows))
        self._held_bytes += self._held[-1].n_bytes
        if self._held_bytes > 2 * self._settled_bytes + self.slack_bytes:
            self._settle()

    def in_order(self) -> _Held:
        """The sample, when all is read, in the order of the source."""
        self._settle()
        (held,) = self._held
        return held.only(np.argsort(held.positions))

    def _settle(self) -> None:
        """Keep only the rows whose key is among the smallest of their group, as many as it may."""
        # Not combined: rows are taken column by column, so that only one is in memory twice.
        table = join([batch for each in self._held for batch in each.table.to_batches()])
        keys, strata, positions = (
            np.concatenate([getattr(each, name) for each in self._held])
            for name in ("keys", "strata", "positions")
        )
        level = self.level(self.counts)
        order = np.lexsort((keys, strata))
        begins = np.searchsorted(strata[order], strata[order])
        smallest = order[np.arange(len(order)) - begins < level]
        held = _Held(table, keys, strata, positions).only(smallest)
        largest = np.full(len(self.counts), -np.inf)
        np.maximum.at(largest, held.strata, held.keys)
        self._bounds = np.where(self.counts >= level, largest, np.inf)
        self._held, self._held_bytes = [held], held.n_bytes
        self._settled_bytes = held.n_bytes
