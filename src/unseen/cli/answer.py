"""What all commands on tables share: show progress, check and write files, show the answer."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unseen._files import check_writable, write_then_rename
from unseen._progress import hear_stages, show_progress
from unseen.cli.options import given_inputs, on_cores
from unseen.cli.screen import plain, print_files

if TYPE_CHECKING:
    from unseen.study import Inputs

FAILED = 3  # exit code of a --fail-if that came true
STANDARD_OUTPUT = "-"


@dataclass(frozen=True)
class Outputs:
    """The files that hold the answer, besides the screen."""

    report: Path | None = None
    json_path: str | None = None
    save: Path | None = None
    out: Path | None = None
    sheet: Path | None = None
    rest: Path | None = None

    def check(self, inputs: Inputs, *also_read: Path) -> None:
        """Raise before minutes of work where a file cannot be written or would replace a table."""
        if not self.leaves_screen_free and sys.stdout is None:
            raise OSError("standard output is closed: --json - has nowhere to go.")
        if self.save is not None and self.save.suffix != ".skops":
            raise click.UsageError(f"--save must name a file that ends in .skops; got {self.save}.")
        self._check_formats(inputs)
        taken = inputs.files | {path.resolve() for path in also_read}
        for path in self.files:
            check_writable(path)
            if path.resolve() in taken:
                raise click.UsageError(f"{path} is a table, or is to be written twice.")
            taken.add(path.resolve())
        modules = ("matplotlib", "jinja2") if self.report is not None else ()
        missing = [module for module in modules if find_spec(module) is None]
        if missing:
            raise ImportError(
                f"--report needs {' and '.join(missing)}, not installed here. "
                'Try: pip install "unseen[cli]"'
            )

    def _check_formats(self, inputs: Inputs) -> None:
        """Raise where no format has the suffix of a table that is to be written."""
        from unseen.study.sheets import check_sheet_path
        from unseen.tables import RowWriter

        for rows in (self.out, self.rest):
            if rows is not None and not inputs.writes_cells(rows):
                RowWriter(rows)
        if self.sheet is not None:
            check_sheet_path(self.sheet)

    @property
    def files(self) -> list[Path]:
        """The files, standard output left out."""
        to_file = self.json_path if self.leaves_screen_free else None
        paths = (self.report, to_file, self.save, self.out, self.sheet, self.rest)
        return [Path(path) for path in paths if path is not None]

    @property
    def leaves_screen_free(self) -> bool:
        """Whether standard output is not taken by JSON."""
        return self.json_path != STANDARD_OUTPUT

    def write(self, record: Any, model: Any) -> None:
        """Write what was asked for: a report of a study, JSON, and the model to be saved."""
        if self.report is not None:
            from unseen.report import write_report

            write_report(record, self.report)
        if self.json_path is not None:
            _write_json(record.to_dict(), self.json_path)
        if self.save is not None:
            from unseen.persist import save

            save(model, self.save)


def answer(
    run: str,
    given: dict[str, Any],
    show: Callable[[Any], None],
    *,
    writes: tuple[str, ...] = (),
    also_read: tuple[Path, ...] = (),
    fails: Callable[[Any], bool] | None = None,
) -> None:
    """Check the files, run a function of :mod:`unseen.study`, write and show what it found.

    Options of ``given`` that name neither the tables nor a file written here are arguments of the
    function, which ``writes`` the files of some. It returns a record, perhaps with a model that
    ``--save`` keeps. The exit code is 3 where ``fails`` says so of the record.
    """
    quiet, jobs = given.pop("quiet"), given.pop("jobs")
    own = {name: given.pop(name, None) for name in ("report", "json_path", "save")}
    outputs = Outputs(**own, **{name: given[name] for name in writes})
    inputs, asked = given_inputs(given)
    outputs.check(inputs, *also_read)
    with _shown_progress(quiet), on_cores(jobs):
        from unseen import study

        found = getattr(study, run)(inputs, **asked)
    record, model = found if isinstance(found, tuple) else (found, None)
    # An unusable condition is an error, and then no file is written.
    failed = fails is not None and fails(record)
    outputs.write(record, model)
    if not quiet and outputs.leaves_screen_free:
        show(record)
        print_files(outputs.files)
    if failed:
        raise click.exceptions.Exit(FAILED)


@contextmanager
def _shown_progress(quiet: bool) -> Iterator[None]:
    """Show the stage on standard error if it is a terminal, and a bar where the share is known."""
    from rich import progress as bars
    from rich.console import Console

    console = Console(stderr=True)
    silent = quiet or not console.is_terminal
    console.quiet = silent  # old versions of rich print a line even so
    times = (bars.TimeElapsedColumn(), bars.TimeRemainingColumn())
    columns = (
        bars.SpinnerColumn(),
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        *times,
    )
    with bars.Progress(*columns, console=console, disable=silent, transient=True) as shown:
        task = shown.add_task("Loading", total=None)

        def begin(stage: str) -> None:
            shown.update(task, description=plain(stage), total=None)
            shown.refresh()

        def go_on(done: float) -> None:
            shown.update(task, total=1.0, completed=done)

        with hear_stages(begin), show_progress(go_on):
            yield


def _write_json(record: dict[str, Any], path: str) -> None:
    text = json.dumps(record, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
    # JSON is UTF-8 on any terminal; what has no place there, of a file name, is escaped as in JSON.
    data = text.encode("utf-8", "backslashreplace")
    if path == STANDARD_OUTPUT:
        click.echo(data, nl=False)
        return
    with write_then_rename(path) as draft:
        draft.write_bytes(data)
