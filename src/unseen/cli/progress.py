"""Progress on a terminal, on standard error; nothing where standard error is no terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from unseen._progress import show_progress

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["TerminalProgress", "shown_progress"]


class TerminalProgress:
    """Shows the current stage, and a bar where the share done is known."""

    def __init__(self, shown: Progress, task: TaskID) -> None:
        self._shown, self._task = shown, task

    def stage(self, name: str) -> None:
        """A stage begins."""
        from unseen.cli.screen import plain

        self._shown.update(self._task, description=plain(name), total=None)
        self._shown.refresh()

    def share(self, done: float) -> None:
        """A share of the stage is done."""
        self._shown.update(self._task, total=1.0, completed=done)


@contextmanager
def shown_progress(quiet: bool = False) -> Iterator[TerminalProgress]:
    """Show progress while a command runs, on as many cores as the user allows."""
    import joblib
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    silent = console.quiet = (
        quiet or not console.is_terminal
    )  # old versions of rich print a line even so
    with Progress(*columns, console=console, disable=silent, transient=True) as shown:
        progress = TerminalProgress(shown, shown.add_task("Loading", total=None))
        jobs = click.get_current_context().find_root().params.get("jobs")
        with show_progress(progress.share), joblib.parallel_config(n_jobs=jobs or -1):
            yield progress
