"""Records as tables on the terminal."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from unseen import _wording as words

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from unseen.api import Comparison
    from unseen.loop import Explanation
    from unseen.monitoring import Timeline
    from unseen.records import Estimate, Notice
    from unseen.study import Study

__all__ = ["console", "plain", "print_notices", "shares_of_methods", "show_study", "table_of"]

_WIDTH_OF_PIPES = 500
_STYLES = {"warning": "yellow", "note": "dim"}


def console() -> Console:
    """The console for results; it knows whether it is a terminal, and NO_COLOR."""
    from rich.console import Console

    screen = Console(highlight=False, soft_wrap=True)
    if not screen.is_terminal and "COLUMNS" not in os.environ:
        # Nobody looks at a pipe: cells that are cut to fit would be lost to its reader.
        screen.width = _WIDTH_OF_PIPES
    return screen


def plain(text: object) -> str:
    """Text from the user or the data, which may hold rich's markup or a terminal's commands."""
    from rich.markup import escape

    return escape(words.verbatim(text))


def table_of(first: str, others: Iterable[str]) -> Table:
    """An empty table: names on the left, numbers on the right."""
    from rich.table import Table

    table = Table()
    table.add_column(plain(first), no_wrap=True)
    for title in others:
        table.add_column(plain(title), justify="right")
    return table


def show_study(study: Study, files: Iterable[Path]) -> None:
    """The answer in a sentence, the shares then and now, and the notices."""
    screen, estimate = console(), study.estimate
    screen.print(f"[bold]{plain(estimate.sentence())}[/bold]\n")
    screen.print(_then_and_now(study))
    is_sampled = estimate.n_new < study.n_new_rows
    part = f"{estimate.n_new:,} of " if is_sampled else ""
    screen.print(f"{estimate.method}, {part}{words.count(study.n_new_rows, 'new row')}.")
    probability = estimate.diagnostics.get("probability_unseen")
    if probability is not None:
        screen.print(f"Probability that anything is unseen: {words.chance(probability)}.")
    if study.explanation is not None:
        _show_groups(study.explanation, screen)
    if study.timeline is not None:
        _show_windows(study.timeline, screen)
    print_notices(study.all_notices, screen)
    for file in files:
        screen.print(f"Written: {plain(file)}")


def print_notices(notices: Iterable[Notice], screen: Console) -> None:
    """Print each notice once, warnings first."""
    lines = dict.fromkeys((notice.severity, notice.text) for notice in notices)
    for severity, style in _STYLES.items():
        for _, text in (line for line in lines if line[0] == severity):
            screen.print(f"[{style}]{severity}:[/{style}] {plain(text)}")


def shares_of_methods(comparison: Comparison) -> Table:
    """One row per estimator, one column per class, unseen last."""
    table = table_of("estimator", [*map(str, comparison.classes), "unseen"])
    for name, estimate in comparison.items():
        table.add_row(plain(name), *map(words.share, estimate.proportions), _unseen(estimate))
    return table


def _then_and_now(study: Study) -> Table:
    """One row per class, unseen last: share in training, share now, interval."""
    estimate, training = study.estimate, study.training_shares
    table = table_of("class", ["in training", "now", words.interval_name(estimate.confidence)])
    ends = [""] * (len(estimate.classes) + 1)
    if estimate.intervals is not None:
        ends = [words.interval(*limits) for limits in estimate.intervals]
    for place, label in enumerate(estimate.classes):
        shares = map(words.share, (training[label], estimate.proportions[place]))
        table.add_row(plain(label), *shares, ends[place])
    table.add_row("unseen", "", _unseen(estimate), ends[-1], style="bold")
    return table


def _unseen(estimate: Estimate) -> str:
    return "cannot tell" if estimate.has_moved_far else words.share(estimate.unseen)


def _show_groups(explanation: Explanation, screen: Console) -> None:
    screen.print(f"\n{plain(explanation.sentence())}")
    if not explanation.groups:
        return
    (first, *others), *rows = explanation.table()
    table = table_of(first, others)
    for row in rows:
        table.add_row(*map(plain, row))
    screen.print(table)


def _show_windows(timeline: Timeline, screen: Console) -> None:
    screen.print()
    screen.print(_windows(timeline))
    since = "the reference" if timeline.in_reference.any() else "training"
    screen.print(
        f"* changed since {since} (p at most {timeline.alpha:g}, adjusted for the number of "
        "windows)"
    )
    if timeline.skipped:
        windows = words.count(len(timeline.skipped), "window")
        rows = words.count(sum(number for _, number in timeline.skipped))
        screen.print(f"Left out, with too few rows for an estimate: {windows} ({rows}).")


def _windows(timeline: Timeline) -> Table:
    """One row per window: the unseen share, the share that moved most, and their p-values."""
    from unseen.monitoring.windows import shown_key

    in_doubt = any(estimate.is_in_doubt for estimate in timeline.estimates)
    drift = ["known classes"] * in_doubt
    table = table_of("window", ["rows", "unseen", "p", "moved most", "p, any class", *drift])
    names = [*map(str, timeline.classes), "unseen"]
    for place, window in enumerate(timeline.windows):
        estimate = timeline.estimates[place]
        p_unseen, p_any, move = "reference", "reference", ""
        if not timeline.in_reference[place]:
            p_unseen, p_any = (
                words.starred_p_value(values[place], timeline.alpha).rstrip()
                for values in (timeline.p_values_unseen, timeline.p_values)
            )
            moves = timeline.differences[place]
            largest = int(abs(moves).argmax())
            move = f"{names[largest]} {100 * moves[largest]:+.1f}"
        table.add_row(
            plain(shown_key(window)),
            f"{estimate.n_new:,}",
            _unseen(estimate),
            p_unseen,
            plain(move),
            p_any,
            *([estimate.drift.verdict if estimate.drift is not None else ""] * in_doubt),
            style="bold" if timeline.changed[place] or timeline.changed_unseen[place] else None,
        )
    return table
