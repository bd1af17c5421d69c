"""The tables of the page, as text: then and now, over time, by other methods, row by row.

Every table has a limit, so that the page stays small whatever the data; a note says what is left
out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from unseen._types import FloatArray
from unseen.labelling import LabellingValue
from unseen.monitoring import Timeline
from unseen.monitoring.windows import shown_key
from unseen.plots.timeline import reference_name
from unseen.proportions import Comparison
from unseen.records import Estimate
from unseen.report import words
from unseen.study import Study, Suspects

__all__ = [
    "Column",
    "Row",
    "Table",
    "baselines_table",
    "history_table",
    "is_blind",
    "labelling_table",
    "labelling_value",
    "largest",
    "shares_table",
    "side_by_side",
    "suspects_table",
]

UNSEEN = "Unseen classes"
_NOT_ESTIMATED = "not estimated"
_NOTHING = "-"
MOST_CLASSES = 80
MOST_WINDOWS = 60
MOST_METHODS = 12
MOST_SUSPECTS = 100
_MOST_SHARES = 5
_MOST_OVER_TIME = 3
_MOST_FIELDS = 10
_LONGEST_VALUE = 30
_LONGEST_HEAD = 24
# Of all new rows; widths are rough, and where classes lie apart an estimate is worth all of them.
_MOST_WORTH = 1.25
# Of values as HTML; a cell has some bytes besides its value.
_SUSPECTS_BYTES = 60_000
_CELL_BYTES = 20


@dataclass(frozen=True)
class Column:
    """Name of a column, and whether it holds numbers, which stand right."""

    name: str
    numeric: bool = True


@dataclass(frozen=True)
class Row:
    """Cells of a row; the first is its name. ``marked`` rows stand out."""

    cells: tuple[str, ...]
    marked: bool = False


@dataclass(frozen=True)
class Table:
    """A table as text.

    Parameters
    ----------
    caption : str
        What it shows.
    columns : tuple of Column
    rows : tuple of Row
    note : str, default=""
        What was left out.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""


def largest(shares: FloatArray, most: int) -> list[int]:
    """Places of the largest shares, in the order of the classes.

    Examples
    --------
    >>> import numpy as np
    >>> largest(np.array([0.1, 0.5, 0.4]), 2)
    [1, 2]
    """
    order = np.argsort(-np.asarray(shares), kind="stable")[:most]
    return sorted(int(place) for place in order)


def shares_table(study: Study) -> Table:
    """Share of each class in training and now.

    Parameters
    ----------
    study : Study

    Returns
    -------
    Table
        One row per known class, the marked last one for unseen classes.

    Examples
    --------
    >>> from unseen.records import Estimate
    >>> from unseen.report.tables import shares_table
    >>> from unseen.study import Study
    >>> estimate = Estimate(("cat",), [0.7], 0.3, "made", n_labelled={"cat": 9}, n_new=9)
    >>> for row in shares_table(Study(estimate)).rows:
    ...     print(*row.cells, sep=" | ")
    cat | 100.0% | 70.0% | ↓ −30.0 points
    Unseen classes | never | 30.0% | ↑ +30.0 points
    """
    estimate, training = study.estimate, study.training_shares
    kept = largest(estimate.proportions, MOST_CLASSES)
    rows = [
        _share_row(estimate, place, words.shown(estimate.classes[place]), training)
        for place in kept
    ]
    rows.append(_unseen_row(estimate, training))
    columns = [Column("Class", numeric=False), Column("In training"), Column("Now")]
    if estimate.intervals is not None:
        columns.append(Column(_interval_name(estimate)))
    columns.append(Column("Change", numeric=False))
    note = ""
    if hidden := set(range(len(estimate.classes))) - set(kept):
        rest = words.share(float(estimate.proportions[list(hidden)].sum()))
        note = f"The {len(hidden)} smaller known classes, {rest} together, are not listed."
    return Table("Share of each class, in training and now", tuple(columns), tuple(rows), note)


def _unseen_row(estimate: Estimate, training: dict[Any, float]) -> Row:
    if not is_blind(estimate):
        return _share_row(estimate, len(estimate.classes), UNSEEN, training)
    interval = () if estimate.intervals is None else (_NOTHING,)
    return Row((UNSEEN, "never", _NOT_ESTIMATED, *interval, _NOTHING), marked=True)


def _share_row(estimate: Estimate, place: int, name: str, training: dict[Any, float]) -> Row:
    is_unseen = place == len(estimate.classes)
    now = float(estimate.unseen if is_unseen else estimate.proportions[place])
    then = 0.0 if is_unseen else training.get(estimate.classes[place], 0.0)
    cells = [name, "never" if is_unseen else words.share(then), words.share(now)]
    ends = None
    if estimate.intervals is not None:
        ends = (float(estimate.intervals[place, 0]), float(estimate.intervals[place, 1]))
        cells.append(words.interval(*ends))
    return Row((*cells, words.change(then, now, ends)), is_unseen)


def _interval_name(estimate: Estimate) -> str:
    return "Interval" if estimate.confidence is None else f"{100 * estimate.confidence:g}% interval"


def history_table(study: Study) -> Table | None:
    """Shares in each window, and whether they have changed since the reference.

    Parameters
    ----------
    study : Study

    Returns
    -------
    Table or None
        None without a timeline.
    """
    timeline = study.timeline
    if timeline is None:
        return None
    classes = largest(timeline.shares[:, :-1].mean(axis=0), _MOST_OVER_TIME)
    with_intervals = all(one.intervals is not None for one in timeline.estimates)
    columns = [Column("Window", numeric=False), Column(UNSEEN)]
    if with_intervals:
        columns.append(Column(_interval_name(timeline.estimates[0])))
    since = f"Since {reference_name(timeline.in_reference)}"
    columns += [Column(since, numeric=False), Column("p"), Column("Rows")]
    columns += [Column(words.named(timeline.classes[place], _LONGEST_HEAD)) for place in classes]
    first = max(0, len(timeline) - MOST_WINDOWS)
    rows = [
        _window_row(timeline, place, classes, with_intervals)
        for place in range(first, len(timeline))
    ]
    note = _left_out(len(rows), len(timeline), "latest", "windows")
    note += _left_out(len(classes), len(timeline.classes), "largest", "known classes")
    return Table("Shares in each window", tuple(columns), tuple(rows), note.strip())


def _window_row(timeline: Timeline, place: int, classes: list[int], with_intervals: bool) -> Row:
    estimate = timeline.estimates[place]
    blind = is_blind(estimate)
    cells = [
        words.shown(shown_key(timeline.windows[place]), _LONGEST_HEAD),
        _NOT_ESTIMATED if blind else words.share(estimate.unseen),
    ]
    if with_intervals and estimate.intervals is not None:
        cells.append(_NOTHING if blind else words.interval(*estimate.intervals[-1]))
    cells += [*_verdict(timeline, place), f"{estimate.n_new:,}"]
    cells += [words.share(float(estimate.proportions[one])) for one in classes]
    return Row(tuple(cells), bool(timeline.changed[place] or timeline.changed_unseen[place]))


def _verdict(timeline: Timeline, place: int) -> tuple[str, str]:
    """What changed, and how often chance would look so."""
    if timeline.in_reference[place]:
        return "reference", _NOTHING
    anything, unseen = timeline.changed[place], timeline.changed_unseen[place]
    value = (timeline.p_values if anything or not unseen else timeline.p_values_unseen)[place]
    if not anything:
        return "unseen changed" if unseen else "no clear change", words.p_value(value)
    return "changed, unseen too" if unseen else "changed", words.p_value(value)


def labelling_value(study: Study) -> LabellingValue | None:
    """What labels would buy; None where that cannot be said.

    It needs an interval of the unseen share that has a level and a width. One that is far narrower
    than labels of all new rows could make it owes that to what was assumed beforehand.
    """
    value = None if is_blind(study.estimate) else study.labelling
    return value if value is not None and value.worth <= _MOST_WORTH * study.n_new_rows else None


def labelling_table(study: Study) -> Table | None:
    """Half-widths of the interval with k labelled rows, alone and with the estimate."""
    value = labelling_value(study)
    if value is None:
        return None
    rows = tuple(
        Row((f"{size:,.0f}", f"± {words.points(alone)}", f"± {words.points(together)}"))
        for size, alone, together in zip(
            value.sizes, value.labels_alone, value.together, strict=True
        )
    )
    columns = (Column("Rows you label"), Column("Labels alone"), Column("With this estimate"))
    return Table("How well the unseen share would be known", columns, rows)


def side_by_side(study: Study) -> Comparison | None:
    """The answer and the baselines, the answer first; None without baselines.

    Parameters
    ----------
    study : Study

    Returns
    -------
    Comparison or None
        Of at most 12 methods.
    """
    if study.baselines is None:
        return None
    found = {study.estimate.method: study.estimate}
    for name, estimate in study.baselines.estimates.items():
        found.setdefault(name, estimate)
    return Comparison(dict(list(found.items())[:MOST_METHODS]))


def baselines_table(study: Study) -> Table | None:
    """One row per estimator: its unseen share and those of the largest classes.

    Parameters
    ----------
    study : Study

    Returns
    -------
    Table or None
        None without baselines.
    """
    found = side_by_side(study)
    if found is None or study.baselines is None:
        return None
    classes = largest(np.mean([one.proportions for one in found.values()], axis=0), _MOST_SHARES)
    columns = [Column("Method", numeric=False), Column("Can see unseen", numeric=False)]
    columns.append(Column(UNSEEN))
    columns += [Column(words.named(found.classes[place], _LONGEST_HEAD)) for place in classes]
    rows = tuple(
        Row(
            (
                words.shown(name),
                "no" if is_blind(one) else "yes",
                words.share(one.unseen),
                *(words.share(float(one.proportions[place])) for place in classes),
            )
        )
        for name, one in found.items()
    )
    n_methods = len({study.estimate.method, *study.baselines})
    note = f"{words.shown(study.estimate.method)} is the method of this page."
    note += _left_out(len(classes), len(found.classes), "largest", "known classes")
    note += _left_out(len(found), n_methods, "first", "methods")
    return Table("Shares of the same rows by each method", tuple(columns), rows, note)


def is_blind(estimate: Estimate) -> bool:
    """Whether the method could not have said anything but 0% unseen; its warnings say so.

    Examples
    --------
    >>> from unseen.records import Estimate
    >>> is_blind(Estimate((1,), [1.0], 0.0, "made", n_labelled={1: 9}, n_new=9,
    ...                   warnings=(f"This method {BLIND}.",)))
    True
    """
    return not estimate.sees_unseen


def suspects_table(suspects: Suspects) -> Table:
    """The rows that look most unseen, with their values.

    Parameters
    ----------
    suspects : Suspects

    Returns
    -------
    Table
    """
    fields = suspects.columns[:_MOST_FIELDS]
    columns = [Column("Row"), Column("Novelty score")]
    columns += [Column(words.shown(name, _LONGEST_VALUE), numeric=False) for name in fields]
    ranked = list(zip(suspects.numbers, suspects.scores, suspects.rows, strict=True))
    listed = [
        (f"{number:,}", f"{score:.3f}", *_values(values[:_MOST_FIELDS]))
        for number, score, values in ranked[:MOST_SUSPECTS]
    ]
    sizes = np.cumsum([_size(cells) for cells in listed])
    rows = tuple(Row(cells) for cells in listed[: int((sizes <= _SUSPECTS_BYTES).sum())])
    note = _left_out(len(rows), len(ranked), "first", "rows")
    note += _left_out(len(fields), len(suspects.columns), "first", "columns")
    return Table("Highest novelty scores first", tuple(columns), rows, note.strip())


def _values(values: Iterable[str]) -> list[str]:
    return [words.shown(value, _LONGEST_VALUE) for value in values]


def _size(cells: Iterable[str]) -> int:
    return sum(len(escape(cell).encode()) + _CELL_BYTES for cell in cells)


def _left_out(kept: int, total: int, which: str, what: str) -> str:
    return f" Only the {which} {kept} of {total:,} {what} are listed." if kept < total else ""
