"""``unseen demo`` and ``methods``: look around; and the option ``--method``."""

from __future__ import annotations

import inspect
import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import click

from unseen._wording import interval, share, short_share
from unseen.cli.group import OnceCommand
from unseen.cli.options import jobs_option, on_cores, seed_option
from unseen.cli.screen import console, plain, print_notices, print_table, table_of, unseen_style

if TYPE_CHECKING:
    from rich.table import Table

    from unseen.demo import Demo
    from unseen.proportions import ProportionEstimator

# ", Eq. (4)" means nothing without the paper.
_OF_THE_PAPER = re.compile(r",? \(?(?:Eq|Prop)\. [^)]*\)+")


@click.command(cls=OnceCommand)
def methods() -> None:
    """List the estimators, and which of them can see unseen classes."""
    table = table_of("method", ["sees unseen"], ["what it does"])
    for name, one in _estimators().items():
        first = _OF_THE_PAPER.sub("", (inspect.getdoc(one) or "").split("\n\n")[0])
        table.add_row(name, "yes" if one.sees_unseen else "no", plain(" ".join(first.split())))
    print_table(table, console())


def _estimators() -> dict[str, ProportionEstimator]:
    """Every public estimator of class proportions; the default first, closed-set methods last."""
    from unseen.proportions import OpenSetEstimator, all_estimators

    ordered = sorted(
        all_estimators(), key=lambda one: (type(one) is not OpenSetEstimator, not one.sees_unseen)
    )
    return {type(one).__name__: one for one in ordered}


def _names_like(ctx: Any, option: Any, begun: str) -> list[str]:
    """Names for a shell that completes words."""
    return [name for name in _estimators() if name.lower().startswith(begun.lower())]


def _find_method(ctx: Any, option: Any, name: str | None) -> ProportionEstimator | None:
    """The estimator of that name, with its default parameters; upper or lower case."""
    if name is None:
        return None
    named = _estimators()
    lowered = {one.lower(): one for one in named}
    if name.lower() not in lowered:
        close = get_close_matches(name.lower(), lowered, n=1)
        advice = f" Did you mean {lowered[close[0]]}?" if close else ""
        raise click.UsageError(f"--method must be one of {', '.join(named)}; got {name!r}.{advice}")
    return named[lowered[name.lower()]]


method_option = click.option(
    "--method",
    "estimator",
    metavar="NAME",
    callback=_find_method,
    help="Estimator; `unseen methods` lists them [default: OpenSetEstimator]",
    shell_complete=_names_like,
)


@click.command(cls=OnceCommand)
@seed_option("Which draw of the digits to show.")
@jobs_option
def demo(seed: int, jobs: int | None) -> None:
    """Estimate shares of handwritten digits, three of which training never saw."""
    from unseen.demo import Demo

    with on_cores(jobs):
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
