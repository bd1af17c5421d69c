"""``python -m paper``, which ``make paper`` runs: the paper's tables and figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress

from paper.reproduce import TARGETS, reproduce
from paper.run import Plan


@click.command()
@click.argument("target", type=click.Choice(TARGETS), default="all")
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
def main(
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
    plan = Plan.quick() if quick else Plan()
    if datasets:
        plan = replace(plan, datasets=datasets)
    if permutations:
        plan = replace(plan, permutations=tuple(range(permutations)))
    console = Console(stderr=True)
    try:
        with Progress(console=console, disable=not console.is_terminal, transient=True) as bar:
            task = bar.add_task(f"{target}, {len(plan.datasets)} data sets", total=1.0)
            timing, files = reproduce(
                target,
                folder,
                plan,
                n_jobs=jobs,
                progress=lambda done: bar.update(task, completed=done),
            )
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


if __name__ == "__main__":
    main(prog_name="python -m paper")
