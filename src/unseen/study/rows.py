"""From two tables to the arrays that estimators take: a sample of each, and the same columns.

A large table is sampled, and a notice says so. docs/big_data.md says why a sample is enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen._frozen import Frozen
from unseen._types import BoolArray, FloatArray
from unseen._wording import count, listed, quoted
from unseen.loop import Promotion
from unseen.preparing import NamedRows
from unseen.records import Notice
from unseen.samples.oddities import label_notices
from unseen.tables import (
    BadCell,
    Columns,
    GroupBy,
    Sample,
    Source,
    read_groups,
    read_labelled,
    read_sample,
)
from unseen.tables._arrow import Table, release_unused

# More new rows than this outside the range of training are rarely all of a new class.
_MANY_OUTSIDE = 0.5
_LARGE_CHANGE = 0.1
# Rows that a class must have: one in each fold.
FEWEST_ROWS = 10
# Where classes of enough rows hold less of the table, the label is probably no class.
_SMALLEST_PART = 0.8
# Rows of one window, and of all windows together.
_WINDOW_ROWS, _ALL_WINDOWS = 2_000, 100_000


@dataclass(frozen=True, eq=False)
class Training(Frozen):
    """Labelled rows as numbers, the encodings of their columns, and their file or files."""

    X: FloatArray  # (n, d)
    y: NDArray[Any]  # (n,)
    columns: Columns
    counts: Mapping[Any, int]  # rows of each class in the whole table
    name: str
    sha256: str
    notices: tuple[Notice, ...] = ()
    groups: NDArray[Any] | None = None  # of each row, where a column of groups was named
    given: FloatArray | None = None  # X before gaps of new rows were taken over, where some were
    gaps: BoolArray | None = None  # where values are missing, those taken over included

    @property
    def as_given(self) -> Training:
        """The labelled rows with no gaps but their own, for other new rows."""
        return self if self.given is None else replace(self, X=self.given, given=None, gaps=None)

    @property
    def names(self) -> list[str]:
        """Names of the encoded columns."""
        return self.columns.get_feature_names_out().tolist()

    def named(self, X: FloatArray) -> NamedRows:
        """Rows with the names of their columns, so that notices can name these."""
        return NamedRows(X, self.names)


@dataclass(frozen=True, eq=False)
class NewRows(Frozen):
    """New rows as numbers and as they stand in the file, and their file or files."""

    X: FloatArray  # (m, d)
    table: Table  # the same rows, with all their columns or with those that were asked for
    positions: NDArray[Any]  # (m,): places of these rows in the file, from 0
    n_rows: int  # of the whole table
    name: str
    sha256: str
    notices: tuple[Notice, ...] = ()
    groups: NDArray[Any] | None = None
    promoted: Promotion | None = None  # rows that are labelled rows of TRAIN, and not among these
    given: FloatArray | None = None  # X before gaps of labelled rows were taken over
    gaps: BoolArray | None = None  # where values are missing in the file, by encoding


@dataclass(frozen=True, eq=False)
class WindowRows(Frozen):
    """New rows as numbers, with the window of each."""

    X: FloatArray  # (m, d)
    keys: NDArray[Any]  # (m,)
    notices: tuple[Notice, ...] = ()  # on rows without a window, and on windows that were sampled
    gaps: BoolArray | None = None  # where values are missing, by encoding


def read_training(
    source: Source,
    columns: Columns,
    max_rows: int,
    seed: int,
    *,
    group: str | None,
    beside: Table | None,
) -> Training:
    """Read a labelled table in bounded memory, and learn how to encode its columns.

    At most ``max_rows`` rows are used: small classes whole, equally many of the others. ``columns``
    names the label; it is fitted, to the new rows ``beside`` too where it reads text. The column
    ``group`` says which rows belong together.
    """
    label = columns.label
    assert label is not None
    sample = read_labelled(source, label, max_rows, seed, columns.missing)
    assert sample.keys is not None
    kept, small = _usable_rows(sample, source.name)
    y, positions = sample.keys[kept], sample.positions[kept]
    classes, n_drawn = np.unique(y, return_counts=True)
    if n_drawn.min() < FEWEST_ROWS:
        raise ValueError(
            f"max_rows must leave at least {FEWEST_ROWS} rows of each of {len(classes)} classes; "
            f"got {max_rows}. Raise it (--rows)."
        )
    if "unseen" in sample.counts:
        raise ValueError(
            f"classes of {source.name} must have other names than 'unseen', which is what rows of "
            f"no class are called here; rename it in column {label!r}."
        )
    table = sample.table if kept.all() else sample.table.filter(kept)
    release_unused()
    with rows_of_file(positions, source.name):
        X = columns.fit_transform(table, rows=positions, new=beside)
    X.flags.writeable = False  # so that the record needs no copy
    counts = {key: number for key, number in sample.counts.items() if key in classes}
    drawn = _drawn(sample, source.name, "labelled rows")
    notices = [*source.notices, *drawn, *columns.notices_]
    if sample.n_missing:
        marks = quoted(columns.missing) or "NaN"
        text = (
            f"{count(sample.n_missing)} of {source.name} left out: no label (empty, NA, null or "
            f"{marks}). If one of these is the name of a class, rename the class."
        )
        notices.append(Notice("rows_without_label", text))
    about_file = source.name, sample.sha256, (*notices, *small)
    return Training(X, y, columns, counts, *about_file, _groups(table, group))


def _usable_rows(sample: Sample, name: str) -> tuple[BoolArray, list[Notice]]:
    """Which rows are of classes that are large enough to be known, and which classes are not."""
    assert sample.keys is not None
    small = [key for key, count in sample.counts.items() if count < FEWEST_ROWS]
    kept = ~np.isin(sample.keys, small)
    if not small:
        return kept, []
    shown = quoted(small)
    if kept.mean() < _SMALLEST_PART:
        raise ValueError(
            f"classes of {name} must have at least {FEWEST_ROWS} rows each; too small: {shown}. "
            "Is the label a number or an id rather than a class?"
        )
    text = (
        f"Classes of fewer than {FEWEST_ROWS} rows cannot be learnt, and are left out of TRAIN: "
        f"{shown}. Their rows in NEW count as unseen."
    )
    large = [key for key in sample.counts if key not in small]
    told, alike = (label_notices(np.array(labels)) for labels in (large, [*sample.counts]))
    return kept, [Notice("small_classes", text), *(one for one in alike if one not in told)]


def read_new(
    source: Source,
    columns: Columns,
    max_rows: int,
    seed: int = 0,
    *,
    besides: Sequence[str] = (),
    group: str | None = None,
    whole: bool = False,
) -> NewRows:
    """Read a new table in bounded memory: at most ``max_rows`` rows, drawn at random.

    Columns that no answer needs are not read, unless the ``whole`` rows are to be shown. No notice
    says that the columns ``besides`` are ignored: they have another use. The column
    ``group`` may be there or not.
    """
    names = source.columns()
    needed = None if whole else columns.looked_at(names) or None
    if needed is not None and group in names:
        needed = [*needed, group]
    sample = read_sample(source, max_rows, seed=seed, columns=needed)
    release_unused()
    with rows_of_file(sample.positions, source.name):
        X, notices, gaps = columns.transform_and_look(sample.table, besides, names)
    notices = (*source.notices, *_drawn(sample, source.name, "rows"), *notices)
    about_file = sample.n_rows, source.name, sample.sha256, notices
    X.flags.writeable = False
    groups = _groups(sample.table, group)
    return NewRows(X, sample.table, sample.positions, *about_file, groups, gaps=gaps)


def _groups(table: Table, column: str | None) -> NDArray[Any] | None:
    """Group of each row, None where it is missing; None where no such column is there."""
    if column is None or column not in table.column_names:
        return None
    values = table[column].to_pylist()
    return np.array([None if value in (None, "") else str(value) for value in values], object)


def read_windows(source: Source, by: GroupBy, columns: Columns, seed: int = 0) -> WindowRows:
    """Read a new table window by window: at most 2,000 rows of each, and 100,000 in all."""
    needed = columns.looked_at(source.columns())
    sample = read_groups(source, by, _WINDOW_ROWS, seed, n_rows=_ALL_WINDOWS, columns=needed)
    assert sample.keys is not None
    notices = []
    if sample.n_missing:
        text = f"{count(sample.n_missing)} of {source.name} left out: no {by.column!r}."
        notices.append(Notice("rows_without_window", text, "note"))
    drawn = int(np.unique(sample.keys, return_counts=True)[1].max())
    larger = sum(count > drawn for count in sample.counts.values())
    if larger:
        text = (
            f"{larger} of {len(sample.counts)} windows have more than {drawn:,} rows: "
            f"{drawn:,} rows of each were drawn at random."
        )
        notices.append(Notice("windows_drawn", text, "note"))
    with rows_of_file(sample.positions, source.name):
        X, _, gaps = columns.transform_and_look(sample.table)
    return WindowRows(X, sample.keys, tuple(notices), gaps)


@contextmanager
def rows_of_file(positions: NDArray[Any], name: str) -> Iterator[None]:
    """Name the file and its row, where an error names a row of a sample."""
    try:
        yield
    except BadCell as error:
        raise error.of(name, int(positions[error.place])) from None


def _drawn(sample: Sample, name: str, what: str) -> list[Notice]:
    n_drawn, n_there = len(sample.positions), sample.n_rows - sample.n_missing
    if n_drawn == n_there:
        return []
    text = f"{n_drawn:,} of the {n_there:,} {what} of {name} were drawn at random."
    return [Notice("rows_drawn", text, "note")]


def column_drift(training: Training, new: NewRows) -> tuple[Notice, ...]:
    """Warn of columns in which most new rows lie out of range, or gaps became more or less common.

    Shares alone cannot tell a new class from a known class whose measurements moved. But where one
    column sets the new rows apart, a person who hears its name often can.
    """
    X = training.as_given.X
    X_new = new.X if new.given is None else new.given
    outside = ((X_new < X.min(axis=0)) | (X_new > X.max(axis=0))).mean(axis=0)
    gaps, gaps_new = ((rows > 0).mean(axis=0) for rows in (X, X_new))
    wandered: list[tuple[str, str]] = []
    gapped: list[tuple[str, str]] = []
    encoded = [(one.name, each) for one in training.columns.encodings_ for each in one.outputs]
    for place, (name, output) in enumerate(encoded):
        if output.marks_gaps:
            if abs(gaps_new[place] - gaps[place]) > _LARGE_CHANGE:
                shares = f"{gaps_new[place]:.0%} of the new rows, {gaps[place]:.0%} in TRAIN"
                gapped.append((name, f"{name!r} ({shares})"))
        elif outside[place] > _MANY_OUTSIDE:
            shares = f"{outside[place]:.0%} of the new rows"
            wandered.append((name, f"{output.name!r} ({shares})"))
    found = []
    if wandered:
        text = f"Outside the range that TRAIN shows: {listed([said for _, said in wandered])}."
        found.append(Notice("column_out_of_range", text, about=_only(wandered)))
    if gapped:
        said = listed([said for _, said in gapped])
        text = f"Missing more often or less often than in TRAIN: {said}."
        found.append(Notice("gaps_changed", text, about=_only(gapped)))
    advice = "If a column drifted and no class is new, drop it: rows that moved can look unseen."
    return (*found, Notice("column_drift", advice)) if found else ()


def _only(found: list[tuple[str, str]]) -> str | None:
    """The column of which all is said, where there is one."""
    names = {name for name, _ in found}
    return names.pop() if len(names) == 1 else None
