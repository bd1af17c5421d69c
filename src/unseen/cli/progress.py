"""Signs of life on a terminal, on standard error, and none elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress_bar", "stages"]


@contextmanager
def progress_bar(title: str, quiet: bool = False) -> Iterator[Callable[[float], None]]:
    """A bar with the time left; takes the share done."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeLeft())
    silent = quiet or not console.is_terminal
    with Progress(*columns, console=console, disable=silent, transient=True) as progress:
        task = progress.add_task(title, total=1.0)
        yield lambda done: progress.update(task, completed=done)


@contextmanager
def stages(quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """What is being done now, and for how long; takes the name of a stage."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    silent = quiet or not console.is_terminal
    with Progress(*columns, console=console, disable=silent, transient=True) as progress:
        task = progress.add_task("Starting", total=None)

        def say(stage: str) -> None:
            # The name comes from the user's files, and may hold what rich takes for markup.
            progress.update(task, description=stage.replace("[", r"\["))
            progress.refresh()

        yield say
