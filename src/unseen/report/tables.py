"""The tables of the page, as text: then and now, over time, by other methods, row by row.

Every table has a limit, so that the page stays small whatever the data; a note counts the rows and
columns that are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from unseen import _wording as words
from unseen.labelling import LabellingValue
from unseen.loop import Explanation
from unseen.monitoring import Timeline
from unseen.monitoring.timeline import shown_key
from unseen.plots.canvas import largest, ranked
from unseen.records import Estimate
from unseen.study import Study, Suspects

UNSEEN = "Unseen classes"
MOST_CLASSES, MOST_WINDOWS, MOST_METHODS, MOST_SUSPECTS = 80, 60, 12, 100
# Known classes with a column in the table of methods, and in that of windows.
_MOST_SHARES, _MOST_OVER_TIME = 5, 2
_MOST_FIELDS = 10
_LONGEST_VALUE, _LONGEST_HEAD = 30, 24
_FACTORS = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
# Labels per new row. Widths are rough, and where classes lie apart an estimate is worth all rows.
_MOST_WORTH = 1.25
# Bytes of the values as HTML; a cell has some bytes besides its value.
_SUSPECTS_BYTES = 60_000
_CELL_BYTES = 20


class Column(NamedTuple):
    """The name of a column, and whether it holds numbers, which are set to the right."""

    name: str
    numeric: bool = True


class Row(NamedTuple):
    """The cells of a row; the first is its name. A ``marked`` row stands out."""

    cells: tuple[str, ...]
    marked: bool = False


class Table(NamedTuple):
    """A table as text, with a caption above and a note below on the parts left out."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    note: str = ""


def shares_table(study: Study) -> Table:
    """Share of each class in training and now, the largest first; the last row is for unseen ones.

    The last row is marked where there are any, or may be.
    """
    estimate, training = study.estimate, study.training_shares
    before = np.array([training.get(label, 0.0) for label in estimate.classes])
    shares, kept = estimate.proportions, ranked(estimate.proportions, MOST_CLASSES, before)
    known, rows = float(shares.sum()), []
    for place in kept:
        then = float(before[place])
        numbers = _numbers(estimate, place, then, float(shares[place]), known)
        rows.append(Row((words.shown(estimate.classes[place]), words.share(then), *numbers)))
    cells = [words.unseen_share(estimate)]
    if estimate.intervals is not None:
        cells.append(words.unseen_interval(estimate))
    # It is no part of the known rows, of which the last column speaks.
    cells.append("-")
    stands_out = estimate.unseen >= words.NO_SHARE or estimate.is_in_doubt
    rows.append(Row((UNSEEN, "never", *cells), marked=stands_out))
    columns, note = [Column("Class", numeric=False), Column("In training"), Column("Now")], ""
    if estimate.intervals is not None:
        columns.append(Column(words.interval_name(estimate.confidence).capitalize()))
    columns.append(Column("Change among known rows", numeric=False))
    if hidden := len(shares) - len(kept):
        rest = words.share(float(np.delete(shares, kept).sum()))
        note = f"The {hidden} smaller known classes, {rest} together, are not listed. "
    if estimate.intervals is not None and estimate.confidence and not estimate.has_moved_far:
        by_chance = (1 - estimate.confidence) * len(shares)
        classes = words.count(len(shares), "class")
        if by_chance >= 1:
            note += f"If nothing had changed, about {by_chance:.0f} of {classes} would show a "
            note += "change by chance."
    return Table("Share of each class, in training and now", columns, rows, note)


def _numbers(estimate: Estimate, place: int, then: float, now: float, known: float) -> list[str]:
    """Share now, its interval where there is one, and the change among a part of the rows.

    What is new makes every known share smaller: among the rows of known classes, ``known``, a
    class has changed only if it gained or lost against the others.
    """
    part = max(known, words.NO_SHARE)
    if estimate.intervals is None:
        return [words.share(now), words.change(then, now / part)]
    lower, upper = map(float, estimate.intervals[place])
    change = words.change(then, now / part, (lower / part, upper / part))
    change = words.CANNOT_TELL if estimate.has_moved_far else change
    return [words.share(now), words.interval(lower, upper), change]


def history_table(timeline: Timeline) -> Table:
    """Shares in each window, and whether they have changed."""
    first, rows = max(0, len(timeline) - MOST_WINDOWS), []
    classes = largest(np.ptp(timeline.shares[:, :-1], axis=0), _MOST_OVER_TIME)
    with_intervals = all(one.intervals is not None for one in timeline.estimates)
    changed = timeline.changed | timeline.changed_unseen
    for place, estimate in list(enumerate(timeline.estimates))[first:]:
        cells = [words.shown(shown_key(timeline.windows[place]), _LONGEST_HEAD)]
        cells.append(words.unseen_share(estimate))
        if with_intervals:
            cells.append(words.unseen_interval(estimate))
        cells += [*timeline.verdict(place), f"{estimate.n_new:,}"]
        cells += [words.share(float(estimate.proportions[one])) for one in classes]
        rows.append(Row(tuple(cells), bool(changed[place])))
    columns = [Column("Window", numeric=False), Column(UNSEEN)]
    if with_intervals:
        level = timeline.estimates[0].confidence
        columns.append(Column(words.interval_name(level).capitalize()))
    reference = words.shown(timeline.reference_name, _LONGEST_HEAD)
    columns.append(Column(f"Since {reference}", numeric=False))
    columns += [Column("p"), Column("Rows")]
    columns += [Column(words.named(timeline.classes[one], _LONGEST_HEAD)) for one in classes]
    note = _left_out(len(rows), len(timeline), "latest", "windows")
    if len(classes) < len(timeline.classes):
        note += f" Only the {len(classes)} known classes that changed most have a column."
    return Table("Shares in each window", columns, rows, note.strip())


def tolerance_table(study: Study) -> Table | None:
    """The share that must be new if known rows of a kind became at most so much more common.

    None where nothing is certain even if nothing changed, where classes moved too far to tell, and
    where known classes were not asked about.
    """
    drift = study.estimate.drift
    if drift is None or drift.far or drift.must(1.0) < words.NO_SHARE:
        return None
    rows = [
        Row((f"{factor:g} times", f"at least {words.share(drift.must(factor))}"))
        for factor in _FACTORS
    ]
    columns = (Column("At most so much more common", numeric=False), Column("New, 95% sure"))
    return Table("How much must be new even if known classes changed", columns, rows)


def shown_labelling(study: Study) -> LabellingValue | None:
    """The value of labels; None where the value is not known.

    The value needs an interval of the unseen share with a level and a width. An interval that is
    far narrower than labels of all new rows could make it owes its width to the prior.
    """
    value = study.labelling if study.estimate.sees_unseen else None
    return value if value is not None and value.worth <= _MOST_WORTH * study.n_new_rows else None


def labelling_table(value: LabellingValue) -> Table:
    """Half-widths of the interval with k labelled rows, alone and with the estimate."""
    rows = [
        Row((f"{size:,.0f}", f"± {words.points(alone)}", f"± {words.points(together)}"))
        for size, alone, together in zip(
            value.sizes, value.labels_alone, value.together, strict=True
        )
    ]
    columns = (Column("Rows you label"), Column("Labels alone"), Column("With this estimate"))
    return Table("How well the unseen share would be known", columns, rows)


def side_by_side(study: Study) -> dict[str, Estimate]:
    """The answer and then the baselines, at most 12 methods; nothing without baselines."""
    if study.baselines is None:
        return {}
    answer = {study.estimate.method: study.estimate}
    others = [(name, one) for name, one in study.baselines.items() if name not in answer]
    return answer | dict(others[: MOST_METHODS - 1])


def baselines_table(found: Mapping[str, Estimate], n_methods: int) -> Table:
    """One row per estimator, the answer first, of ``n_methods``: unseen and the largest classes."""
    answer, *_ = found.values()
    classes = largest(np.mean([one.proportions for one in found.values()], axis=0), _MOST_SHARES)
    columns = [
        Column("Method", numeric=False),
        Column("Can see unseen", numeric=False),
        Column(UNSEEN),
        *(Column(words.named(answer.classes[place], _LONGEST_HEAD)) for place in classes),
    ]
    rows = []
    for name, one in found.items():
        sees = "yes" if one.sees_unseen else "no"
        shares = map(words.share, one.proportions[classes])
        rows.append(Row((words.shown(name), sees, words.unseen_share(one), *shares)))
    note = f"{words.shown(answer.method)} is the method of this page."
    if answer.is_in_doubt:
        note += " A method that assumes that no class moved calls moved rows unseen."
    note += _left_out(len(classes), len(answer.classes), "largest", "known classes")
    note += _left_out(len(found), n_methods, "first", "methods")
    return Table("Shares of the same rows by each method", columns, rows, note)


def groups_table(explanation: Explanation) -> Table:
    """One row per group of unseen rows."""
    header, *cells = explanation.table()
    numeric = {"group", "share", "rows", "95% interval"}
    columns = [Column(name.capitalize(), name in numeric) for name in header]
    rows = [
        Row(tuple(words.shown(cell, words.LONGEST_SENTENCE) for cell in row))
        for row in cells[:MOST_CLASSES]
    ]
    return Table("Groups of the unseen rows", columns, rows)


def suspects_table(suspects: Suspects, are_grouped: bool) -> Table:
    """The rows that look most unseen, or examples of each group, with their values."""
    fields = suspects.columns[:_MOST_FIELDS]
    columns = [Column("Row"), Column("Novelty score")]
    columns += [Column(words.shown(name, _LONGEST_VALUE), numeric=False) for name in fields]
    shown = list(zip(suspects.numbers, suspects.scores, suspects.rows, strict=True))
    rows: list[Row] = []
    size = 0
    for number, score, values in shown[:MOST_SUSPECTS]:
        cells = [words.shown(value, _LONGEST_VALUE) for value in values[:_MOST_FIELDS]]
        row = Row((f"{number:,}", f"{score:.3f}", *cells))
        size += sum(len(escape(cell).encode()) + _CELL_BYTES for cell in row.cells)
        if size > _SUSPECTS_BYTES:
            break
        rows.append(row)
    note = _left_out(len(rows), len(shown), "first", "rows")
    note += _left_out(len(fields), len(suspects.columns), "first", "columns")
    title = "The largest group first" if are_grouped else "Highest novelty scores first"
    return Table(title, columns, rows, note.strip())


def _left_out(kept: int, total: int, which: str, what: str) -> str:
    return f" Only the {which} {kept} of {total:,} {what} are listed." if kept < total else ""
