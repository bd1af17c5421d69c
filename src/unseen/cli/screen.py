"""Records as tables on the terminal."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from unseen import _wording as words

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Column, Table

    from unseen.api import Comparison
    from unseen.loop import Explanation
    from unseen.monitoring import Timeline
    from unseen.records import Estimate, Notice
    from unseen.study import Study

_WIDTH_OF_PIPES = 500
_LEAST_TEXT = 16
_CELL_MARGIN = 3  # a blank on each side, and a line
_STYLES = {"warning": "bold yellow", "note": "dim"}


def console() -> Console:
    """The console for results; it knows whether it is a terminal, and NO_COLOR."""
    from rich.console import Console

    if Console().is_terminal:
        return Console(highlight=False)
    # Nobody looks at a pipe: its reader wants every cell, and a sentence on one line.
    width = None if "COLUMNS" in os.environ else _WIDTH_OF_PIPES
    return Console(highlight=False, soft_wrap=True, width=width)


def plain(text: object) -> str:
    """Text from the user or the data, which may hold rich's markup or a terminal's commands."""
    from rich.markup import escape

    return escape(words.verbatim(text))


def table_of(first: str, numbers: Iterable[str], texts: Iterable[str] = ()) -> Table:
    """An empty table: names on the left, numbers on the right, then columns of text."""
    from rich.table import Table

    table = Table()
    table.add_column(plain(first), no_wrap=True)
    for title in numbers:
        table.add_column(plain(title), justify="right")
    for title in texts:
        table.add_column(plain(title), min_width=_LEAST_TEXT)
    return table


def print_table(table: Table, screen: Console) -> None:
    """Print a table; columns for which a narrow screen has no room follow in tables below."""
    unbounded = screen.options.update(width=_WIDTH_OF_PIPES)
    if screen.measure(table, options=unbounded).maximum <= screen.width:
        screen.print(table, soft_wrap=False)
        return
    for columns in _parts(table, screen.width):
        screen.print(_part(table, columns), soft_wrap=False)


def _parts(table: Table, width: int) -> list[list[Column]]:
    """The columns in lines that fit, each with the first column in front; no value is cut."""
    first, *others = (_narrow(column) for column in table.columns)
    parts = [[first]]
    room = free = width - 1 - _needed(first)
    for column in others:
        if _needed(column) > free and len(parts[-1]) > 1:
            parts.append([first])
            free = room
        parts[-1].append(column)
        free -= _needed(column)
    return parts


def _narrow(column: Column) -> Column:
    """A column as wide as its longest value or the longest word of its head; text may wrap."""
    from rich.text import Text

    cells = [*str(column.header).split(), *map(str, column.cells)]
    width = None if column.min_width else max(Text.from_markup(cell).cell_len for cell in cells)
    return replace(column, width=width)


def _needed(column: Column) -> int:
    return (column.width or column.min_width or 0) + _CELL_MARGIN


def _part(table: Table, columns: list[Column]) -> Table:
    """A table of some of the columns, with all rows."""
    from rich.table import Table

    part = Table(*(replace(column, _cells=[]) for column in columns))
    cells = zip(*(column.cells for column in columns), strict=True)
    for row, values in zip(table.rows, cells, strict=True):
        part.add_row(*values, style=row.style, end_section=row.end_section)
    return part


def show_study(study: Study) -> None:
    """The answer in a sentence, the shares then and now, and the notices."""
    screen, now = console(), study.now
    screen.print(f"[bold]{plain(study.sentence())}[/bold]\n")
    if study.timeline is not None and study.over_time:
        _show_windows(study.timeline, screen)
        screen.print("\nThe latest window:")
    _show_shares(now, screen)
    if study.over_time:
        unsure = " whether anything is" if study.estimate.has_moved_far else ""
        screen.print(f"All windows together: {_unseen(study.estimate)}{unsure} unseen.")
    if study.explanation is not None:
        _show_groups(study.explanation, screen)
    if study.timeline is not None and not study.over_time:
        screen.print()
        _show_windows(study.timeline, screen)
    print_notices(study.all_notices, screen)
    if study.explanation is None:
        _show_next(now, screen)


def _show_next(study: Study, screen: Console) -> None:
    """The first thing to do, where something is unseen or may be."""
    from unseen.report.sentences import to_do

    if study.estimate.unseen >= words.NO_SHARE or study.estimate.is_in_doubt:
        first = to_do(study)[0]
        screen.print(f"Next: {plain(first[0].lower() + first[1:])}")


def print_notices(notices: Iterable[Notice], screen: Console) -> None:
    """Print each notice once, warnings first."""
    lines = dict.fromkeys((notice.severity, notice.text) for notice in notices)
    for severity, style in _STYLES.items():
        for _, text in (line for line in lines if line[0] == severity):
            screen.print(f"[{style}]{severity}:[/{style}] {plain(text)}")


def print_files(files: Iterable[Path]) -> None:
    """Print the files that were written, each on a line that can be copied."""
    for file in files:
        console().print(f"Written: {plain(file)}", soft_wrap=True)


def shares_of_methods(comparison: Comparison) -> Table:
    """One row per estimator, one column per class; those that see the unseen come first."""
    from unseen.proportions import OpenSetEstimator

    table = table_of("method", ["sees unseen", "unseen", *map(str, comparison.classes)])
    ordered = sorted(
        comparison.items(),
        key=lambda one: (not one[1].sees_unseen, one[0] != OpenSetEstimator.__name__),
    )
    n_open = sum(estimate.sees_unseen for _, estimate in ordered)
    for place, (name, estimate) in enumerate(ordered, start=1):
        sees = estimate.sees_unseen
        cells = ["yes", _unseen(estimate)] if sees else ["no", "-"]
        cells += [f"{share:.1%}" for share in estimate.proportions]
        style = "bold" if sees else None
        table.add_row(plain(name), *cells, style=style, end_section=place == n_open)
    return table


def unseen_style(estimate: Estimate) -> str:
    """The style of the unseen share: red where something is unseen, yellow where that is open."""
    if estimate.may_be_moved:
        return "bold yellow"
    return "bold red" if estimate.unseen >= words.NO_SHARE else "bold"


def _show_shares(study: Study, screen: Console) -> None:
    """One row per class, unseen last: share in training, share now, interval; then the method."""
    estimate, training = study.estimate, study.training_shares
    table = table_of("class", ["in training", "now", words.interval_name(estimate.confidence)])
    ends = [""] * (len(estimate.classes) + 1)
    if estimate.intervals is not None:
        ends = [words.interval(*limits) for limits in estimate.intervals]
    for place, label in enumerate(estimate.classes):
        shares = map(words.share, (training[label], estimate.proportions[place]))
        table.add_row(plain(label), *shares, ends[place])
    table.add_row("unseen", "", _unseen(estimate), ends[-1], style=unseen_style(estimate))
    print_table(table, screen)
    part = f"{estimate.n_new:,} of " if estimate.n_new < study.n_new_rows else ""
    screen.print(f"{estimate.method}, {part}{words.count(study.n_new_rows, 'new row')}.")
    probability = estimate.diagnostics.get("probability_unseen")
    if probability is not None and not estimate.may_be_moved:
        screen.print(f"Probability that anything is unseen: {words.chance(probability)}.")


def _unseen(estimate: Estimate) -> str:
    return "cannot tell" if estimate.has_moved_far else words.share(estimate.unseen)


def _show_groups(explanation: Explanation, screen: Console) -> None:
    screen.print(f"\n{plain(explanation.sentence())}")
    if not explanation.groups:
        return
    header, *rows = explanation.table()
    table = table_of(header[0], header[1:4], header[4:])
    for row in rows:
        table.add_row(*map(plain, row))
    print_table(table, screen)


def _show_windows(timeline: Timeline, screen: Console) -> None:
    """One row per window: the unseen share, the verdict on change, the share that moved most."""
    from unseen.monitoring.timeline import shown_key

    first, estimates = timeline.estimates[0], timeline.estimates
    in_doubt = any(estimate.is_in_doubt for estimate in estimates)
    ends = [words.interval_name(first.confidence)] * (first.intervals is not None)
    heads = ["rows", "unseen", *ends, "verdict", "p", "largest change"]
    table = table_of("window", [*heads, *["known classes"] * in_doubt])
    for place, window in enumerate(timeline.windows):
        estimate = estimates[place]
        cells = [f"{estimate.n_new:,}", _unseen(estimate)]
        if estimate.intervals is not None:
            cells.append(words.interval(*estimate.intervals[-1]))
        cells += [*timeline.verdict(place), _largest_change(timeline, place)]
        cells += [estimate.drift.verdict if estimate.drift else ""] * in_doubt
        changed = timeline.changed[place] or timeline.changed_unseen[place]
        style = unseen_style(estimate) if changed else None
        table.add_row(plain(shown_key(window)), *map(plain, cells), style=style)
    print_table(table, screen)
    screen.print(
        f"A window has changed since {plain(timeline.reference_name)} where p is at most "
        f"{timeline.alpha:g}; p is adjusted for the number of windows."
    )
    if timeline.skipped:
        windows = words.count(len(timeline.skipped), "window")
        rows = words.count(sum(number for _, number in timeline.skipped))
        screen.print(f"Left out, with too few rows for an estimate: {windows} ({rows}).")


def _largest_change(timeline: Timeline, place: int) -> str:
    if timeline.in_reference[place] or timeline.estimates[place].has_moved_far:
        return ""
    moves = timeline.differences[place]
    largest = int(abs(moves).argmax())
    name = [*map(str, timeline.classes), "unseen"][largest]
    return f"{name}: {100 * moves[largest]:+.1f}"
