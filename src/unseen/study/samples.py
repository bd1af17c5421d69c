"""Two tables to the arrays that estimators take: a sample of each, and the same columns.

An estimate gains little from more than some ten thousand rows: what the labelled rows leave open
soon outweighs what the new ones add. So a large table is sampled, and the record says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unseen._types import BoolArray, FloatArray
from unseen.persist import load
from unseen.tables import Columns, GroupBy, Sample, Source, read_groups, read_labelled, read_sample

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "MAX_ROWS",
    "NewRows",
    "Training",
    "Windows",
    "load_training",
    "read_new",
    "read_training",
    "read_windows",
]

MAX_ROWS = 20_000
WINDOW_ROWS = 2_000
# Rows that a class must have: one in each fold.
LEAST_ROWS = 10
_LEAST_PART = 0.8
# Departures in so many rows can move the unseen share.
_MANY = 0.05
# Rows of all windows together.
_ALL_WINDOWS = 100_000
_NAMED_AT_MOST = 5


@dataclass(frozen=True, eq=False)
class Training:
    """Labelled rows as numbers, what made numbers of them, and where they come from.

    Parameters
    ----------
    X, y : ndarray of shape (n, d) and (n,)
        Labelled rows, and their labels.
    columns : Columns
        What made numbers of the columns.
    counts : dict
        Rows of each class in the whole table.
    name, sha256 : str
        The file, or files, and the SHA-256 of their bytes.
    notices : tuple of str
        What was noticed about the table.
    warnings : tuple of str
        What was noticed and bears on the answer.
    """

    X: FloatArray
    y: NDArray[Any]
    columns: Columns
    counts: dict[Any, int]
    name: str
    sha256: str
    notices: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class NewRows:
    """New rows as numbers, as they stood in the file, and where they come from.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        The rows.
    table : pyarrow.Table
        The same rows, with all their columns.
    positions : ndarray of shape (m,)
        Their places in the file, from 0.
    n_rows : int
        Rows of the whole table.
    name, sha256 : str
        The file, or files, and the SHA-256 of their bytes.
    notices : tuple of str
        What was noticed about the table.
    warnings : tuple of str
        What was noticed and bears on the answer.
    """

    X: FloatArray
    table: pa.Table
    positions: NDArray[Any]
    n_rows: int
    name: str
    sha256: str
    notices: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Windows:
    """New rows as numbers, with the window of each.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        The rows.
    keys : ndarray of shape (m,)
        The window of each.
    notices : tuple of str
        What was noticed: rows without a window, windows of which a sample was drawn.
    """

    X: FloatArray
    keys: NDArray[Any]
    notices: tuple[str, ...] = ()


def read_training(
    source: Source,
    label: str,
    *,
    max_rows: int = MAX_ROWS,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    seed: int = 0,
) -> Training:
    """Read a labelled table in bounded memory, and learn how to make numbers of its columns.

    Parameters
    ----------
    source : Source
        The table.
    label : str
        Its column with the classes.
    max_rows : int, default=20000
        At most so many rows are used: small classes whole, equally many of the others.
    drop, keep : sequence of str
        Columns to leave out, and columns to use even if they look like ids or constants.
    seed : int, default=0
        Draws the sample.

    Returns
    -------
    Training
    """
    sample = read_labelled(source, label, max_rows, seed)
    assert sample.keys is not None
    kept, warnings = _usable_rows(sample, source.name)
    _check_enough(sample.keys[kept], max_rows)
    if "unseen" in sample.counts:
        raise ValueError(
            f"classes of {source.name} must have other names than 'unseen', which is what rows of "
            f"no class are called here; rename it in column {label!r}."
        )
    table = sample.table.filter(kept)
    columns = Columns(label=label, keep=tuple(keep), drop=tuple(drop)).fit(table)
    counts = {key: count for key, count in sample.counts.items() if key in sample.keys[kept]}
    return Training(
        columns.transform(table),
        sample.keys[kept],
        columns,
        counts,
        source.name,
        sample.sha256,
        notices=(*_sampling_notices(sample, source.name, "labelled rows"), *columns.notices_),
        warnings=(*_missing_labels(sample, source.name), *warnings),
    )


def _usable_rows(sample: Sample, name: str) -> tuple[BoolArray, tuple[str, ...]]:
    """Rows of classes that are large enough to be known, and what is lost."""
    assert sample.keys is not None
    small = [key for key, count in sample.counts.items() if count < LEAST_ROWS]
    kept = ~np.isin(sample.keys, small)
    if not small:
        return kept, ()
    shown = ", ".join(repr(key) for key in small[:_NAMED_AT_MOST])
    more = f" and {len(small) - _NAMED_AT_MOST} more" if len(small) > _NAMED_AT_MOST else ""
    if kept.mean() < _LEAST_PART:
        raise ValueError(
            f"classes of {name} must have at least {LEAST_ROWS} rows each; {shown}{more} have "
            "fewer. Is the label a number or an id rather than a class?"
        )
    return kept, (
        f"Classes of fewer than {LEAST_ROWS} rows cannot be learnt, and are left out of TRAIN: "
        f"{shown}{more}. Their rows in NEW count as unseen.",
    )


def _check_enough(keys: NDArray[Any], max_rows: int) -> None:
    """A draw that is too small must not be mistaken for a class that is."""
    labels, counts = np.unique(keys, return_counts=True)
    if counts.min() < LEAST_ROWS:
        raise ValueError(
            f"max_rows must leave at least {LEAST_ROWS} rows of each of {len(labels)} classes; "
            f"got {max_rows}: raise it (--rows)."
        )


def _missing_labels(sample: Sample, name: str) -> tuple[str, ...]:
    if not sample.n_missing:
        return ()
    return (
        f"{_rows(sample.n_missing)} of {name} left out: no label (empty, NA, NaN or null). If one "
        "of these is the name of a class, give it another.",
    )


def load_training(path: Path) -> Training:
    """Load labelled rows that were saved, with their preprocessing.

    Raises
    ------
    ValueError
        When the file holds something else.
    """
    saved = load(path)
    if not isinstance(saved, Training):
        raise ValueError(
            f"TRAIN must be a table, or a file that --save wrote; {path} holds a "
            f"{type(saved).__name__}."
        )
    return saved


def read_new(
    source: Source,
    columns: Columns,
    *,
    besides: Sequence[str] = (),
    max_rows: int = MAX_ROWS,
    seed: int = 0,
) -> NewRows:
    """Read a new table in bounded memory.

    Parameters
    ----------
    source : Source
        The table.
    columns : Columns
        What made numbers of the labelled rows.
    besides : sequence of str
        Columns that have another use, and are not missed among those used here.
    max_rows : int, default=20000
        At most so many rows are used, drawn at random.
    seed : int, default=0
        Draws the sample.

    Returns
    -------
    NewRows
    """
    sample = read_sample(source, max_rows, seed=seed)
    departures = columns.departures(sample.table)
    return NewRows(
        columns.transform(sample.table),
        sample.table,
        sample.positions,
        sample.n_rows,
        source.name,
        sample.sha256,
        notices=(
            *_sampling_notices(sample, source.name, "rows"),
            *columns.check(sample.table.drop_columns(_present(besides, sample.table))),
            *(one.message for one in departures if one.share < _MANY),
        ),
        warnings=tuple(one.message for one in departures if one.share >= _MANY),
    )


def _present(names: Sequence[str], table: pa.Table) -> list[str]:
    return [name for name in names if name in table.column_names]


def read_windows(
    source: Source, by: GroupBy, columns: Columns, *, max_rows: int = WINDOW_ROWS, seed: int = 0
) -> Windows:
    """Read a new table window by window: up to so many rows of each.

    Parameters
    ----------
    source : Source
        The table.
    by : GroupBy
        What makes a window.
    columns : Columns
        What made numbers of the labelled rows.
    max_rows : int, default=2000
        Rows of each window.
    seed : int, default=0
        Draws them.

    Returns
    -------
    Windows
    """
    sample = read_groups(source, by, max_rows, seed, n_rows=_ALL_WINDOWS)
    assert sample.keys is not None
    columns.departures(sample.table)
    notices = []
    if sample.n_missing:
        notices.append(f"{_rows(sample.n_missing)} of {source.name} left out: no {by.column!r}.")
    drawn = int(np.unique(sample.keys, return_counts=True)[1].max())
    larger = sum(count > drawn for count in sample.counts.values())
    if larger:
        notices.append(
            f"{larger} of {len(sample.counts)} windows have more than {drawn:,} rows: "
            "so many were drawn of each at random."
        )
    return Windows(columns.transform(sample.table), sample.keys, tuple(notices))


def _sampling_notices(sample: Sample, name: str, what: str) -> list[str]:
    notices = []
    n_drawn, n_there = len(sample.positions), sample.n_rows - sample.n_missing
    if n_drawn < n_there:
        notices.append(f"{n_drawn:,} of the {n_there:,} {what} of {name} were drawn at random.")
    return notices


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"
