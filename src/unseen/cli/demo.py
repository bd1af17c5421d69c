"""``unseen demo``: handwritten digits, three of which training never saw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from unseen._wording import interval, share, short_share
from unseen.cli.group import OnceCommand
from unseen.cli.options import seed_option
from unseen.cli.screen import console, print_notices, print_table, table_of, unseen_style

if TYPE_CHECKING:
    from rich.table import Table

    from unseen.demo import Demo


@click.command(cls=OnceCommand)
@seed_option("Which draw of the digits to show.")
def demo(seed: int) -> None:
    """Estimate shares of handwritten digits, three of which training never saw."""
    from unseen.demo import Demo

    record = Demo.run(seed)
    screen = console()
    lies = "inside" if record.holds else "outside"
    truth = f"The truth, {short_share(record.truth[-1])}, lies {lies} the 95% interval."
    screen.print(f"[bold]{record.estimate.sentence()}[/bold]\n{truth}\n")
    print_table(shares_table(record), screen)
    screen.print(footer(record))
    print_notices(record.estimate.notices, screen)


def shares_table(record: Demo) -> Table:
    """One row per known class, one for unseen, one for the errors."""
    heads = ["estimated share", "95% interval", "true share", "closed-set method"]
    table = table_of("digit", heads)
    parts = (record.estimated, record.truth, record.closed_set)
    estimated, truth, closed_set = ([share(value) for value in part] for part in parts)
    ends = [interval(*limits) for limits in record.estimate.intervals]  # type: ignore[union-attr]
    *known, unseen = zip(estimated, ends, truth, closed_set, strict=True)
    for label, row in zip(record.estimate.classes, known, strict=True):
        table.add_row(str(label), *row)
    table.add_row("unseen", *unseen, style=unseen_style(record.estimate))
    table.add_section()
    ours, closed = map(share, record.errors)
    table.add_row("total error", ours, "", "", closed)
    return table


def footer(record: Demo) -> str:
    """The methods and rows that were compared, and how long it took."""
    estimate = record.estimate
    lines = [
        f"{estimate.method} on {sum(estimate.n_labelled.values())} labelled rows (digits 0 to 6) "
        f"and {estimate.n_new} new rows.",
        "Closed-set method: classify and count with kernel logistic regression.",
        "Total error: total variation, the share of rows that would have to move.",
        f"Took {record.seconds:.1f} s.",
    ]
    return "\n".join(lines)
