"""``unseen demo``: handwritten digits, three of which training never saw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.table import Table

    from unseen.demo import Demo

__all__ = ["demo"]


@click.command()
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
def demo(seed: int) -> None:
    """Handwritten digits, three of which training never saw."""
    from rich.console import Console

    from unseen.demo import Demo

    record = Demo.run(seed)
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"[bold]{headline(record)}[/bold]\n")
    console.print(shares_table(record))
    console.print(footer(record))


def headline(record: Demo) -> str:
    """The answer in one sentence."""
    return (
        f"About {record.estimate.unseen:.0%} of the new rows come from classes that training "
        f"never saw (truth: {record.truth[-1]:.0%})."
    )


def shares_table(record: Demo) -> Table:
    """One row per known class, one for unseen, one for the errors."""
    from rich.markup import escape
    from rich.table import Table

    table = Table()
    table.add_column("digit")
    for title in ("estimated share", "true share", "closed-set method"):
        table.add_column(title, justify="right")
    labels = [*(escape(str(label)) for label in record.estimate.classes), "unseen"]
    shares = zip(labels, record.estimated, record.truth, record.closed_set, strict=True)
    for label, *row in shares:
        is_known = label != "unseen"
        style = None if is_known else "bold"
        table.add_row(label, *(f"{share:.1%}" for share in row), style=style)
    table.add_section()
    ours, closed = record.errors
    table.add_row("total error", f"{ours:.1%}", "", f"{closed:.1%}")
    return table


def footer(record: Demo) -> str:
    """What was compared, on what, and how long it took."""
    estimate = record.estimate
    lines = [
        f"{estimate.method} on {sum(estimate.n_labelled.values())} labelled rows (digits 0 to 6) "
        f"and {estimate.n_new} new rows.",
        "Closed-set method: classify and count with kernel logistic regression.",
        "Total error: total variation, the share of rows that would have to move.",
        f"Took {record.seconds:.1f} s.",
    ]
    return "\n".join([*lines, *(f"warning: {message}" for message in estimate.warnings)])
