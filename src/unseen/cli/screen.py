"""Records as tables on the terminal."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from unseen.api import Comparison
    from unseen.monitoring import Timeline
    from unseen.records import Notice
    from unseen.study import Study

__all__ = ["console", "plain", "print_notices", "shares_of_methods", "show_study", "table_of"]


_WIDTH_OF_PIPES = 500


def console() -> Console:
    """Where results go; knows whether it is a terminal, and NO_COLOR."""
    from rich.console import Console

    screen = Console(highlight=False, soft_wrap=True)
    if not screen.is_terminal and "COLUMNS" not in os.environ:
        # Nobody looks at a pipe: cells that are cut to fit would be lost to who reads it.
        screen.width = _WIDTH_OF_PIPES
    return screen


def plain(text: object) -> str:
    """Text of the user's, which may hold what rich takes for markup."""
    from rich.markup import escape

    return escape(str(text))


def table_of(first: str, others: Iterable[str]) -> Table:
    """An empty table: names on the left, numbers on the right."""
    from rich.table import Table

    table = Table()
    table.add_column(plain(first), no_wrap=True)
    for title in others:
        table.add_column(plain(title), justify="right")
    return table


def show_study(study: Study, files: Iterable[Path]) -> None:
    """The answer in a sentence, the shares then and now, and what to know about them."""
    screen, estimate = console(), study.estimate
    screen.print(f"[bold]{plain(estimate.sentence())}[/bold]\n")
    screen.print(_then_and_now(study))
    sampled = estimate.n_new < study.n_new_rows
    drawn = f" of {study.n_new_rows:,}" if sampled else ""
    screen.print(f"{estimate.method}, {estimate.n_new:,}{drawn} new rows.")
    if study.timeline is not None:
        screen.print()
        screen.print(_windows(study.timeline))
        since = "since the reference" if study.timeline.in_reference.any() else "since training"
        screen.print(
            f"* changed {since} (p at most {study.timeline.alpha:g}, adjusted for the number "
            "of windows)"
        )
        if study.timeline.skipped:
            n_rows = sum(count for _, count in study.timeline.skipped)
            screen.print(
                f"{len(study.timeline.skipped)} windows ({n_rows:,} rows) have too few rows for "
                "an estimate and are left out."
            )
    print_notices(study.all_notices, screen)
    for file in files:
        screen.print(f"Written: {plain(file)}")


def print_notices(notices: Iterable[Notice], screen: Console) -> None:
    """Print each notice once, warnings first."""
    styles = {"warning": "yellow", "note": "dim"}
    for notice in sorted(dict.fromkeys(notices), key=lambda one: one.severity == "note"):
        style = styles[notice.severity]
        screen.print(f"[{style}]{notice.severity}:[/{style}] {plain(notice.text)}")


def shares_of_methods(comparison: Comparison) -> Table:
    """One row per estimator, one column per class, unseen last."""
    table = table_of("estimator", [*map(str, comparison.classes), "unseen"])
    for name, estimate in comparison.items():
        shares = [*estimate.proportions, estimate.unseen]
        table.add_row(plain(name), *(f"{share:.1%}" for share in shares))
    return table


def _then_and_now(study: Study) -> Table:
    """One row per class, unseen last: share in training, share now, interval."""
    estimate, training = study.estimate, study.training_shares
    level = "" if estimate.confidence is None else f"{100 * estimate.confidence:g}% "
    table = table_of("class", ["in training", "now", f"{level}interval"])
    for place, label in enumerate(estimate.classes):
        shares = [f"{training[label]:.1%}", f"{estimate.proportions[place]:.1%}"]
        table.add_row(plain(label), *shares, _interval(study, place))
    table.add_row("unseen", "", f"{estimate.unseen:.1%}", _interval(study, -1), style="bold")
    return table


def _windows(timeline: Timeline) -> Table:
    """One row per window: the unseen share, what moved most, and whether that is chance."""
    from unseen.monitoring.windows import shown_key

    table = table_of("window", ["rows", "unseen", "p", "moved most", "p, any class"])
    for place, window in enumerate(timeline.windows):
        estimate = timeline.estimates[place]
        table.add_row(
            plain(shown_key(window)),
            f"{estimate.n_new:,}",
            f"{estimate.unseen:.1%}",
            _p_value(timeline.p_values_unseen[place], timeline.alpha),
            plain(_largest_move(timeline, place)),
            _p_value(timeline.p_values[place], timeline.alpha),
            style="bold" if timeline.changed[place] or timeline.changed_unseen[place] else None,
        )
    return table


def _largest_move(timeline: Timeline, place: int) -> str:
    """The share that is furthest from that of the reference, and by how many points."""
    if timeline.in_reference[place]:
        return ""
    moves = timeline.differences[place]
    largest = int(abs(moves).argmax())
    name = [*map(str, timeline.classes), "unseen"][largest]
    return f"{name} {100 * moves[largest]:+.1f}"


def _interval(study: Study, place: int) -> str:
    intervals = study.estimate.intervals
    return "" if intervals is None else f"{intervals[place, 0]:.1%} to {intervals[place, 1]:.1%}"


def _p_value(p: float, alpha: float) -> str:
    if p != p:  # a window of the reference is not tested against itself
        return "reference"
    text = "< 0.001" if p < 0.001 else f"{p:.3f}"
    return text + ("*" if p <= alpha else "")
