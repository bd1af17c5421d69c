"""What all commands on tables share: check and write files, show progress, show the answer."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unseen._files import check_writable, write_then_rename
from unseen._progress import hear_stages, show_progress
from unseen.cli.screen import console, plain

if TYPE_CHECKING:
    from unseen.study import Inputs

FAILED = 3  # exit code of a --fail-if that came true
STANDARD_OUTPUT = "-"


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
    import joblib

    from unseen import study

    quiet, jobs = given.pop("quiet"), given.pop("jobs")
    outputs = {name: given.pop(name, None) for name in ("report", "json_path", "save")}
    named = {field.name for field in fields(study.Inputs)} & set(given)
    try:
        inputs = study.Inputs(**{name: given.pop(name) for name in named})
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    files = _checked_files(outputs | {name: given[name] for name in writes}, inputs, also_read)
    with _shown_progress(quiet), joblib.parallel_config(n_jobs=jobs or -1):
        found = getattr(study, run)(inputs, **given)
    record, model = found if isinstance(found, tuple) else (found, None)
    # An unusable condition is an error, and then no file is written.
    failed = fails is not None and fails(record)
    if outputs["report"] is not None:
        from unseen.report import write_report

        write_report(record, outputs["report"])
    if outputs["json_path"] is not None:
        write_json(record.to_dict(), outputs["json_path"])
    if outputs["save"] is not None:
        from unseen.persist import save

        save(model, outputs["save"])
    if not quiet and outputs["json_path"] != STANDARD_OUTPUT:
        show(record)
        for file in files:  # each on a line that can be copied
            console().print(f"Written: {plain(file)}", soft_wrap=True)
    if failed:
        raise click.exceptions.Exit(FAILED)


def _checked_files(
    outputs: dict[str, Any], inputs: Inputs, also_read: tuple[Path, ...]
) -> list[Path]:
    """The files to be written, standard output left out.

    Raise before minutes of work where a file cannot be written or would replace a table.
    """
    from unseen.study.sheets import check_sheet_path
    from unseen.tables import RowWriter

    if outputs["json_path"] == STANDARD_OUTPUT and sys.stdout is None:
        raise OSError("standard output is closed: --json - has nowhere to go.")
    saved, sheet = outputs["save"], outputs.get("sheet")
    if saved is not None and saved.suffix != ".skops":
        raise click.UsageError(f"--save must name a file that ends in .skops; got {saved}.")
    tables = filter(None, (outputs.get("out"), outputs.get("rest")))
    for table in [one for one in tables if not inputs.writes_cells(one)]:
        RowWriter(table)
    if sheet is not None:
        check_sheet_path(sheet)
    named = [one for one in outputs.values() if one not in (None, STANDARD_OUTPUT)]
    files, taken = list(map(Path, named)), inputs.files | {path.resolve() for path in also_read}
    for path in files:
        check_writable(path)
        if path.resolve() in taken:
            raise click.UsageError(f"{path} is a table, or is to be written twice.")
        taken.add(path.resolve())
    modules = ("matplotlib", "jinja2") if outputs["report"] is not None else ()
    if missing := [module for module in modules if find_spec(module) is None]:
        raise ImportError(
            f"--report needs {' and '.join(missing)}, not installed here. "
            'Try: pip install "unseen[cli]"'
        )
    return files


@contextmanager
def _shown_progress(quiet: bool) -> Iterator[None]:
    """Show the stage on standard error if it is a terminal, and a bar where the share is known."""
    from rich import progress as bars
    from rich.console import Console

    shell = Console(stderr=True)
    silent = quiet or not shell.is_terminal
    shell.quiet = silent  # old versions of rich print a line even so
    columns = (
        bars.SpinnerColumn(),
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.TimeElapsedColumn(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=shell, disable=silent, transient=True) as shown:
        task, begin = shown.add_task("Loading", total=None), partial(shown.update, refresh=True)
        with (
            hear_stages(lambda stage: begin(task, description=plain(stage), total=None)),
            show_progress(lambda done: shown.update(task, total=1.0, completed=done)),
        ):
            yield


def write_json(record: dict[str, Any], path: str) -> None:
    """Write a record as JSON to a file or to standard output."""
    text = json.dumps(record, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
    # JSON is UTF-8 on any terminal; what has no place there, of a file name, is escaped as in JSON.
    data = text.encode("utf-8", "backslashreplace")
    if path == STANDARD_OUTPUT:
        click.echo(data, nl=False)
        return
    with write_then_rename(path) as draft:
        draft.write_bytes(data)
