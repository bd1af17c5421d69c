"""Tables 1 and 2 of the paper, from cells, with the paper's numbers beside ours.

Where a run has fewer sets than the paper, the paper's number beside an "All" row of ours is
taken over the sets that were run, and a row of its own repeats what the paper printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

import numpy as np

from paper import published
from paper.cell import Cell
from paper.grouping import (
    GROUPS,
    by_dataset,
    by_method,
    data_set_title,
    in_group,
    in_setting,
    sorted_methods,
)
from paper.layout import Entry, Grid, Table, number

__all__ = ["ErrorRecord", "IntervalRecord", "error_table", "interval_table"]

# A share that lies on a limit up to rounding is inside; means that agree up to it are tied.
_ROUNDING = 1e-12

_BRACKETS = "In brackets: the paper, over the same data sets."
_BEST = "Best of the row: marked, among the methods with all its cells."
_ERROR_TITLES = {
    "observed": "Table 1. All classes observed",
    "unobserved": "Class M not observed",
}
_ERROR_NOTES = {"observed": (_BRACKETS, _BEST), "unobserved": (_BEST,)}
_INTERVAL_NOTES = (
    _BRACKETS,
    "The paper's intervals are those of its MPE-Incomplete. Rows over all sets are over all their"
    " true shares, as the paper's are.",
)


@dataclass(frozen=True)
class ErrorRecord:
    """One entry of Table 1: the error of a method on a data set, or on a group of them.

    Parameters
    ----------
    setting, group, dataset, method : str
        Where: `dataset` is empty in a record that is over all sets of its group.
    n_sets, n_cells : int
        Number of data sets and of cells behind the record.
    n_classes : int or None
        Classes of the data set.
    mean, sd : float
        Mean and standard deviation of the l1 error over all cells.
    best : bool
        Whether no method with as many cells has a smaller mean here.
    paper_mean, paper_sd : float or None
        The paper's numbers over the same data sets, where it has them.
    printed_mean, printed_sd : float or None
        The paper's "All" row, over all its sets.
    """

    setting: str
    group: str
    dataset: str
    method: str
    n_sets: int
    n_classes: int | None
    n_cells: int
    mean: float
    sd: float
    best: bool = False
    paper_mean: float | None = None
    paper_sd: float | None = None
    printed_mean: float | None = None
    printed_sd: float | None = None


@dataclass(frozen=True)
class IntervalRecord:
    """One entry of Table 2: the 95% intervals of a method on a data set, or on a group.

    Parameters
    ----------
    group, dataset, method : str
        Where: `dataset` is empty in a record that is over all sets of its group.
    n_sets, n_shares : int
        Number of data sets and of true shares behind the record.
    n_classes : int or None
        Classes of the data set.
    inside : float
        Fraction of the true shares inside their intervals.
    deviation : float
        Root mean square distance of the upper limit from the true share.
    train, test : int or None
        Rows in a training and in a test sample, where they are known.
    paper_inside, paper_deviation : float or None
        The paper's numbers over the same data sets.
    printed_inside, printed_deviation : float or None
        The paper's "All" row, over all its sets.
    """

    group: str
    dataset: str
    method: str
    n_sets: int
    n_classes: int | None
    n_shares: int
    inside: float
    deviation: float
    train: int | None = None
    test: int | None = None
    paper_inside: float | None = None
    paper_deviation: float | None = None
    printed_inside: float | None = None
    printed_deviation: float | None = None


Record = TypeVar("Record", bound=ErrorRecord | IntervalRecord)
Row: TypeAlias = dict[str, Record]


def error_table(cells: Iterable[Cell], setting: str = "observed") -> Table:
    """Table 1: mean and standard deviation of the error over permutations and proportions.

    Parameters
    ----------
    cells : iterable of Cell
    setting : {"observed", "unobserved"}, default="observed"
        The paper has numbers for "observed" only.

    Examples
    --------
    >>> from paper.cell import Cell
    >>> from paper.tables import error_table
    >>> cells = [
    ...     Cell("observed", "banana", 0, 0.5, method, (0.5, 0.5), (0.5 - off, 0.5 + off))
    ...     for method, off in (("L2", 0.125), ("PACC", 0.0625))
    ... ]
    >>> table = error_table(cells)
    >>> table.records[0].mean, table.records[0].paper_mean
    (0.25, 0.128)
    """
    records = error_records(cells, setting)
    return Table(records, (_error_grid(records),))


def error_records(cells: Iterable[Cell], setting: str = "observed") -> tuple[ErrorRecord, ...]:
    """The numbers of :func:`error_table`, without the table.

    Examples
    --------
    >>> from paper.cell import Cell
    >>> from paper.tables import error_records
    >>> cell = Cell("observed", "banana", 0, 0.5, "L2", (0.5, 0.5), (0.25, 0.75))
    >>> [(record.dataset, record.mean) for record in error_records([cell])]
    [('', 0.5), ('banana', 0.5)]
    """
    found = in_setting(cells, setting)
    if not found:
        raise ValueError(f"cells must have some of setting {setting!r}; got none.")
    records: list[ErrorRecord] = []
    for group, dataset, here in _scopes(found):
        row = [_error_record(group, dataset, own) for own in by_method(here).values()]
        # A method that has not finished is not compared: its easier cells may have come first.
        n_cells = max(record.n_cells for record in row)
        least = min(record.mean for record in row if record.n_cells == n_cells)
        records += [
            replace(one, best=one.n_cells == n_cells and one.mean <= least + _ROUNDING)
            for one in row
        ]
    return tuple(records)


def interval_table(
    cells: Iterable[Cell], counts: Mapping[str, tuple[int, int]] | None = None
) -> Table:
    """Table 2: how many true shares lie in their 95% intervals, and how far off the limit is.

    Parameters
    ----------
    cells : iterable of Cell
        Cells without intervals, and cells where class M is not observed, are left out.
    counts : mapping or None, default=None
        Data set to the rows of a training and of a test sample.

    Examples
    --------
    >>> from paper.cell import Cell
    >>> from paper.tables import interval_table
    >>> cell = Cell(
    ...     "observed", "banana", 0, 0.5, "MPE-Incomplete", (0.5, 0.5), (0.5, 0.5),
    ...     lower=(0.4, 0.55), upper=(0.6, 0.6),
    ... )
    >>> record = interval_table([cell]).records[0]
    >>> record.inside, round(record.deviation, 3)
    (0.5, 0.1)
    """
    records = interval_records(cells, counts)
    return Table(records, (_interval_grid(records),))


def interval_records(
    cells: Iterable[Cell], counts: Mapping[str, tuple[int, int]] | None = None
) -> tuple[IntervalRecord, ...]:
    """The numbers of :func:`interval_table`, without the table.

    Examples
    --------
    >>> from paper.cell import Cell
    >>> from paper.tables import interval_records
    >>> cell = Cell(
    ...     "observed", "banana", 0, 0.5, "MPE-Incomplete", (0.5, 0.5), (0.5, 0.5),
    ...     lower=(0.25, 0.25), upper=(0.75, 0.75),
    ... )
    >>> record = interval_records([cell], {"banana": (2677, 1188)})[1]
    >>> record.inside, record.deviation, record.train
    (1.0, 0.25, 2677)
    """
    found = [cell for cell in in_setting(cells, "observed") if cell.upper is not None]
    if not found:
        raise ValueError("cells must have some of setting 'observed' with intervals; got none.")
    return tuple(
        _interval_record(group, dataset, own, (counts or {}).get(dataset, (None, None)))
        for group, dataset, here in _scopes(found)
        for own in by_method(here).values()
    )


def _scopes(cells: list[Cell]) -> Iterator[tuple[str, str, list[Cell]]]:
    """Group, data set and cells of each row: first the groups, then the sets of each."""
    groups = {group: in_group(cells, group) for group in GROUPS}
    for group, here in groups.items():
        if here:
            yield group, "", here
    for group, here in groups.items():
        for dataset, own in by_dataset(here).items():
            yield group, dataset, own


def _error_record(group: str, dataset: str, cells: list[Cell]) -> ErrorRecord:
    errors = np.array([cell.error for cell in cells])
    setting, method, datasets = cells[0].setting, cells[0].method, list(by_dataset(cells))
    paper = printed = None
    if setting == "observed":
        paper = published.errors_over(method, datasets)
        printed = None if dataset else published.ALL_ERRORS[group].get(method)
    return ErrorRecord(
        setting=setting,
        group=group,
        dataset=dataset,
        method=method,
        n_sets=len(datasets),
        n_classes=len(cells[0].truth) if dataset else None,
        n_cells=len(cells),
        mean=float(errors.mean()),
        sd=float(errors.std()),
        paper_mean=paper.mean if paper else None,
        paper_sd=paper.sd if paper else None,
        printed_mean=printed.mean if printed else None,
        printed_sd=printed.sd if printed else None,
    )


def _interval_record(
    group: str, dataset: str, cells: list[Cell], counts: tuple[int | None, int | None]
) -> IntervalRecord:
    truth, lower, upper = (
        np.concatenate([getattr(cell, name) for cell in cells])
        for name in ("truth", "lower", "upper")
    )
    inside = (lower - _ROUNDING <= truth) & (truth <= upper + _ROUNDING)
    paper = published.intervals_over(by_dataset(cells))
    printed = None if dataset else published.ALL_INTERVALS[group]
    return IntervalRecord(
        group=group,
        dataset=dataset,
        method=cells[0].method,
        n_sets=len(by_dataset(cells)),
        n_classes=len(cells[0].truth) if dataset else None,
        n_shares=truth.size,
        inside=float(inside.mean()),
        deviation=float(np.sqrt(np.mean((upper - truth) ** 2))),
        train=counts[0],
        test=counts[1],
        paper_inside=paper.inside if paper else None,
        paper_deviation=paper.deviation if paper else None,
        printed_inside=printed.inside if printed else None,
        printed_deviation=printed.deviation if printed else None,
    )


def _error_grid(records: tuple[ErrorRecord, ...]) -> Grid:
    methods = sorted_methods(record.method for record in records)

    def entries(row: Row[ErrorRecord]) -> tuple[Entry, ...]:
        found = [Entry(str(max(record.n_cells for record in row.values())))]
        for record in map(row.get, methods):
            entry = Entry("n/a")
            if record is not None:
                paper = _spread(record.paper_mean, record.paper_sd)
                entry = Entry(_spread(record.mean, record.sd), paper, record.best)
            found.append(entry)
        return tuple(found)

    def printed(row: Row[ErrorRecord]) -> tuple[Entry, ...]:
        here = [row.get(method) for method in methods]
        asides = [_spread(one.printed_mean, one.printed_sd) if one else "" for one in here]
        return (Entry(), *(Entry(aside=aside) for aside in asides))

    setting = records[0].setting
    return Grid(
        f"{_ERROR_TITLES[setting]}: l1 error, mean ± sd over permutations and proportions",
        ("Data set (M)", "cells", *methods),
        _sections(records, entries, printed),
        (*_ERROR_NOTES[setting], *_unfinished(records)),
    )


def _spread(mean: float | None, sd: float | None) -> str:
    return "" if mean is None else f"{number(mean)}±{number(sd, 2)}"


def _unfinished(records: tuple[ErrorRecord, ...]) -> Iterator[str]:
    """Which methods have fewer cells than others in the same "All" row."""
    for row in _rows(records):
        n_cells = max(record.n_cells for record in row.values())
        for record in row.values():
            if record.n_cells < n_cells and not record.dataset:
                yield (
                    f"{GROUPS[record.group]}: {record.method} has {record.n_cells} of {n_cells} "
                    f"cells, on {_sets(record.n_sets)}."
                )


def _interval_grid(records: tuple[IntervalRecord, ...]) -> Grid:
    methods = sorted_methods(record.method for record in records)
    counted = any(record.train is not None for record in records)

    def entries(row: Row[IntervalRecord]) -> tuple[Entry, ...]:
        found = []
        for record in map(row.get, methods):
            if record is None:
                found += [Entry("n/a"), Entry("n/a")]
            else:
                found.append(Entry(number(record.inside), _aside(record.paper_inside, 3)))
                found.append(Entry(number(record.deviation), _aside(record.paper_deviation, 2)))
        first = next(iter(row.values()))
        paper = published.DATA_SETS.get(first.dataset)
        for ours, name in ((first.train, "train"), (first.test, "test")) if counted else ():
            theirs = str(getattr(paper, name)) if paper else ""
            found.append(Entry() if ours is None else Entry(str(ours), theirs))
        return tuple(found)

    def printed(row: Row[IntervalRecord]) -> tuple[Entry, ...]:
        found = []
        for record in map(row.get, methods):
            inside, deviation = (
                (record.printed_inside, record.printed_deviation) if record else (None, None)
            )
            found += [Entry(aside=_aside(inside, 3)), Entry(aside=_aside(deviation, 2))]
        return (*found, *[Entry()] * (2 * counted))

    names = [f"{method}\n{column}" for method in methods for column in ("inside", "upper limit")]
    return Grid(
        "Table 2. True shares inside their 95% intervals, and deviation of the upper limit",
        ("Data set (M)", *names, *(("train", "test") if counted else ())),
        _sections(records, entries, printed),
        _INTERVAL_NOTES,
    )


def _aside(value: float | None, digits: int) -> str:
    return "" if value is None else number(value, digits)


def _rows(records: Iterable[Record]) -> list[Row[Record]]:
    """The records of each row by their method."""
    rows: dict[tuple[str, str], Row[Record]] = {}
    for record in records:
        rows.setdefault((record.group, record.dataset), {})[record.method] = record
    return list(rows.values())


def _sections(
    records: Iterable[Record],
    entries: Callable[[Row[Record]], tuple[Entry, ...]],
    printed: Callable[[Row[Record]], tuple[Entry, ...]],
) -> tuple[tuple[tuple[Entry, ...], ...], ...]:
    """The "All" rows, what the paper printed there below each, then the sets of each group."""
    sections: dict[str, list[tuple[Entry, ...]]] = {"": [], **{group: [] for group in GROUPS}}
    for row in _rows(records):
        first = next(iter(row.values()))
        if first.n_classes is not None:
            label = Entry(data_set_title(first.dataset, first.n_classes))
            sections[first.group].append((label, *entries(row)))
        else:
            n_sets = max(record.n_sets for record in row.values())
            label = Entry(f"{GROUPS[first.group]}, {_sets(n_sets)}")
            sections[""].append((label, *entries(row)))
            paper = printed(row)
            if any(entry.aside for entry in paper):
                sections[""].append((Entry(f"- paper, {_paper_sets(first.group)}"), *paper))
    return tuple(tuple(section) for section in sections.values() if section)


def _sets(n_sets: int) -> str:
    return f"{n_sets} set" if n_sets == 1 else f"{n_sets} sets"


def _paper_sets(group: str) -> str:
    n_classes = [found.n_classes for found in published.DATA_SETS.values()]
    return _sets(sum((n == 2) == (group == "binary") for n in n_classes))
