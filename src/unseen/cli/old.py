"""The command line: parse, call one function, print.

Everything heavy is imported inside a command, so that ``unseen --help`` answers at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unseen._version import __version__

if TYPE_CHECKING:
    from rich.table import Table

    from unseen.demo import Demo


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", "-V", prog_name="unseen")
def main() -> None:
    """Find the share of each known class in unlabelled data, and the share of unseen ones."""


@main.command()
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


@main.command()
@click.argument("target", type=click.Choice(["table1", "table2", "figure1", "figure2", "all"]))
@click.option(
    "--out",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("unseen-paper"),
    show_default=True,
    help="Folder of the results; a run that was stopped is taken up from there.",
)
@click.option("--quick", is_flag=True, help="Two permutations of small data sets, a minute or two.")
@click.option("--dataset", "datasets", multiple=True, help="Only this data set; may be repeated.")
@click.option(
    "--permutations", type=click.IntRange(1, 10), help="Permutations of each data set [default: 10]"
)
@click.option("--jobs", default=-1, show_default=True, help="Processes; -1 is one per core.")
def reproduce(
    target: str,
    folder: Path,
    quick: bool,
    datasets: tuple[str, ...],
    permutations: int | None,
    jobs: int,
) -> None:
    """Run the paper's experiments: its tables and figures, with its numbers beside ours.

    Without options: all data sets that need no download, 10 permutations, 11 class shares.
    """
    from unseen.experiments import Plan
    from unseen.experiments import reproduce as run

    plan = Plan.quick() if quick else Plan()
    if datasets:
        plan = replace(plan, datasets=datasets)
    if permutations:
        plan = replace(plan, permutations=tuple(range(permutations)))
    try:
        with progress_bar(f"{target}, {len(plan.datasets)} data sets") as advance:
            timing, files = run(target, folder, plan, n_jobs=jobs, progress=advance)
    except (ValueError, OSError, ImportError) as error:
        raise click.ClickException(str(error)) from None
    except KeyboardInterrupt:
        raise click.ClickException(
            f"stopped; the cells so far are in {folder}, and the same command goes on from there."
        ) from None
    for file in files:
        if file.suffix == ".txt":
            click.echo(file.read_text(encoding="utf-8"))
    click.echo(
        f"{timing.n_cells} cells in {timing.wall_seconds:.0f} s "
        f"({timing.cpu_seconds / 3600:.2f} core-hours). Written to {folder}:"
    )
    click.echo("  " + ", ".join(file.name for file in files))


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[float], None]]:
    """A bar with the time left on a terminal, and nothing elsewhere; takes the share done."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeLeft())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task(title, total=1.0)
        yield lambda done: progress.update(task, completed=done)


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
        f"and {estimate.n_unlabelled} new rows.",
        "Closed-set method: classify and count with kernel logistic regression.",
        "Total error: total variation, the share of rows that would have to move.",
        f"Took {record.seconds:.1f} s.",
    ]
    return "\n".join([*lines, *(f"warning: {message}" for message in estimate.warnings)])
