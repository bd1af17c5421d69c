"""Arguments and options that several commands share, and the objects that they stand for."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from unseen.study import Inputs

Command = TypeVar("Command", bound=Callable[..., Any])

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


class _FileName(click.Path):
    """The name of a file, a pattern or ``-``: not empty, and not an address of the web."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """The name, as a path where one is wanted."""
        # Of a variable that is not set; as a path it would be the current folder.
        if not str(value).strip():
            self.fail("must name a file; got an empty text. Is a variable not set?", param, ctx)
        if _ADDRESS.match(str(value)):
            rule = "must name a file on this machine, and not an address"
            self.fail(f"{rule}; got {value!r}.", param, ctx)
        return super().convert(value, param, ctx)


file_name = _FileName(readable=False)  # reading says more of what may not be read
output_path = _FileName(dir_okay=False, path_type=Path)


def given_inputs(given: dict[str, Any]) -> tuple[Inputs, dict[str, Any]]:
    """The two tables that :func:`table_options` name, not yet read, and all other options."""
    from unseen.study import Inputs

    named = {field.name for field in fields(Inputs)}
    try:
        inputs = Inputs(**{name: value for name, value in given.items() if name in named})
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    return inputs, {name: value for name, value in given.items() if name not in named}


def _separator(context: Any, option: Any, given: str | None) -> str | None:
    """One letter, or the name of one; a shell makes tabs hard to type."""
    from unseen.tables.formats import SEPARATORS

    mark = {**SEPARATORS, "\\t": "\t"}.get(given or "", given)
    if mark is not None and (len(mark) != 1 or ord(mark) > 127 or mark in '"\r\n'):
        names = ", ".join(SEPARATORS)
        raise click.BadParameter(f"must be one letter, or one of {names}; got {given!r}.")
    return mark


def _work_on(context: click.Context, option: Any, device: str | None) -> None:
    """Run the rest of the command on a device; say in one line what is missing."""
    if device is not None:
        from unseen._arrays import on_device

        try:
            context.with_resource(on_device(device))
        except (ImportError, RuntimeError, ValueError) as error:
            raise click.ClickException(str(error).replace("device", "--device", 1)) from None


def _repeated(name: str, metavar: str, help: str) -> Callable[[Command], Command]:
    return click.option(name, metavar=metavar, multiple=True, help=f"{help}; may be repeated.")


def seed_option(help: str) -> Callable[[Command], Command]:
    """The seed of all random draws; ``help`` says what is drawn."""
    seeds = click.IntRange(0, 2**32 - 1)
    return click.option("--seed", type=seeds, default=0, show_default=True, help=help)


def share_option(name: str, default: float | None, help: str) -> Callable[[Command], Command]:
    """A share above 0 and below 1."""
    shares = click.FloatRange(0, 1, min_open=True, max_open=True)
    return click.option(name, type=shares, default=default, show_default=True, help=help)


jobs_option = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="Cores to use [default: all]. The answer is the same for any number.",
)
_COLUMN_OPTIONS = [
    click.option("--label", "-y", metavar="COLUMN", help="Column of TRAIN with the classes."),
    _repeated(
        "--features",
        "COLUMN",
        'Use only this column, such as "embedding", or the columns of a pattern "f_*"',
    ),
    _repeated("--text", "COLUMN", "Use this column of free text (TF-IDF and SVD)"),
    _repeated("--scores", "COLUMN", 'Scores of a classifier, "p_*", as the only columns'),
    click.option(
        "--novelty", metavar="COLUMN", help="A score of novelty beside --scores, such as an energy."
    ),
    click.option(
        "--unit-rows", is_flag=True, help="Divide each embedding or text by its length (cosine)."
    ),
    _repeated("--drop", "COLUMN", "Leave out this column"),
    _repeated("--keep", "COLUMN", "Use this column even if it looks like an id or a constant"),
]
_FORMATS = ("csv", "tsv", "parquet", "feather", "jsonl", "npy", "npz", "arff", "xlsx", "h5ad")
_FILE_OPTIONS = [
    _repeated("--missing", "VALUE", "A value that means missing, such as -999"),
    click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        help="Mark before the decimals [default: what suits a column]",
    ),
    click.option(
        "--sep",
        "separator",
        callback=_separator,
        help="Mark between the fields of text: ; | tab ... [default: by the first lines]",
    ),
    click.option(
        "--encoding", help="Encoding of text, such as latin-1 [default: by the first bytes]"
    ),
    click.option(
        "--rows",
        "max_rows",
        type=click.IntRange(min=20),
        default=20_000,
        show_default=True,
        help="Rows used of each table; a larger table is sampled.",
    ),
    click.option(
        "--device",
        callback=_work_on,
        expose_value=False,
        help='Where the heavy work runs: "cuda" is a graphics card, "cuda:1" the second one '
        "[default: cpu]",
    ),
    jobs_option,
    seed_option("Seed of all random draws."),
    click.option(
        "--format",
        type=click.Choice(_FORMATS),
        metavar="NAME",
        help=f"Format of both tables: {', '.join(_FORMATS)} [default: by suffix; standard input "
        "is csv]",
    ),
]


def table_options(command: Command, *, labels: str = "--labels") -> Command:
    """TRAIN and NEW, and how to read them; see :func:`given_inputs`.

    ``labels`` is the spelling of the option for labels of TRAIN in a file of their own.
    """
    arguments = [click.argument(name, type=file_name) for name in ("train", "new")]
    beside = click.option(
        labels, "labels", type=file_name, help="File with the classes of TRAIN, such as y.npy."
    )
    label, *columns = _COLUMN_OPTIONS
    for option in reversed([*arguments, label, beside, *columns, *_FILE_OPTIONS]):
        command = option(command)
    return command


def on_cores(jobs: int | None) -> Any:
    """Context whose work so many threads share; None takes all cores."""
    import joblib

    return joblib.parallel_config(n_jobs=jobs or -1)


group_option = click.option(
    "--group",
    metavar="COLUMN",
    help="Column with the person, site or batch of each row. Groups of TRAIN are held out, and "
    "what is called unseen there is subtracted.",
)
confidence_option = share_option("--confidence", 0.95, "Level of the intervals.")
quiet_option = click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
report_option = click.option(
    "--report", type=output_path, help="Write one self-contained HTML page."
)
json_option = click.option(
    "--json", "json_path", type=file_name, help="Write everything as JSON; - is standard output."
)


def command_line() -> str:
    """The command as the user typed it, ready to be pasted."""
    return shlex.join(["unseen", *sys.argv[1:]])
