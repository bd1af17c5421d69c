"""Arguments and options that several commands share, and the objects that they stand for."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from unseen.proportions import ProportionEstimator
    from unseen.study import Inputs

__all__ = [
    "command_line",
    "confidence_option",
    "file_name",
    "find_method",
    "given_inputs",
    "json_option",
    "method_option",
    "output_path",
    "quiet_option",
    "report_option",
    "table_options",
]

Command = TypeVar("Command", bound=Callable[..., Any])


_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


class _FileName(click.Path):
    """The name of a file, a pattern or ``-``: not empty, and not an address of the web."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """The name, as a path where one is wanted."""
        # Of a variable that is not set; as a path it would be the current folder.
        if value == "":
            self.fail("must name a file; got an empty text. Is a variable not set?", param, ctx)
        if _ADDRESS.match(str(value)):
            rule = "must name a file on this machine, and not an address"
            self.fail(f"{rule}; got {value!r}.", param, ctx)
        return super().convert(value, param, ctx)


file_name = _FileName(readable=False)  # reading says more of what may not be read
output_path = _FileName(dir_okay=False, path_type=Path)


def given_inputs(given: dict[str, Any]) -> Inputs:
    """The two tables that :func:`table_options` name, not yet read."""
    from unseen.study import Inputs

    try:
        return Inputs(**given)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _separator(context: Any, option: Any, given: str | None) -> str | None:
    """One letter, or the name of one; a shell makes tabs hard to type."""
    from unseen.tables.dialect import SEPARATORS

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


_COLUMN_OPTIONS = [
    click.option("--label", "-y", metavar="COLUMN", help="Column of TRAIN with the classes."),
    click.option(
        "--features",
        metavar="COLUMN",
        multiple=True,
        help='Use only this column, such as "embedding", or the columns of a pattern "f_*"; '
        "may be repeated.",
    ),
    click.option(
        "--text",
        metavar="COLUMN",
        multiple=True,
        help="Use this column of free text (TF-IDF and SVD); may be repeated.",
    ),
    click.option(
        "--scores",
        metavar="COLUMN",
        multiple=True,
        help='Scores of a classifier, "p_*", as the only columns; may be repeated.',
    ),
    click.option(
        "--novelty", metavar="COLUMN", help="A score of novelty beside --scores, such as an energy."
    ),
    click.option(
        "--unit-rows", is_flag=True, help="Divide each embedding or text by its length (cosine)."
    ),
    click.option(
        "--drop", metavar="COLUMN", multiple=True, help="Leave out this column; may be repeated."
    ),
    click.option(
        "--keep",
        metavar="COLUMN",
        multiple=True,
        help="Use this column even if it looks like an id or a constant; may be repeated.",
    ),
]
_FILE_OPTIONS = [
    click.option(
        "--missing",
        metavar="VALUE",
        multiple=True,
        help="A value that means missing, such as -999; may be repeated.",
    ),
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
        "--encoding",
        help="Encoding of text, such as latin-1 [default: by the first bytes]",
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
    click.option(
        "--seed",
        type=click.IntRange(0, 2**32 - 1),
        default=0,
        show_default=True,
        help="Seed of all random draws.",
    ),
    click.option(
        "--format",
        type=click.Choice(
            ["csv", "tsv", "parquet", "feather", "jsonl", "npy", "npz", "arff", "xlsx", "h5ad"]
        ),
        help="Format of both tables [default: by suffix; standard input is csv]",
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


group_option = click.option(
    "--group",
    metavar="COLUMN",
    help="Column with the person, site or batch of each row. Groups of TRAIN are held out, and "
    "what is called unseen there is subtracted.",
)
confidence_option = click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Level of the intervals.",
)


def _methods_like(ctx: Any, option: Any, begun: str) -> list[str]:
    """Names for a shell that completes words."""
    from unseen.cli.methods import sorted_estimators

    names = [type(one).__name__ for one in sorted_estimators()]
    return [name for name in names if name.lower().startswith(begun.lower())]


method_option = click.option(
    "--method",
    metavar="NAME",
    help="Estimator; `unseen methods` lists them [default: OpenSetEstimator]",
    shell_complete=_methods_like,
)
quiet_option = click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
report_option = click.option(
    "--report", type=output_path, help="Write one self-contained HTML page."
)
json_option = click.option(
    "--json", "json_path", type=file_name, help="Write everything as JSON; - is standard output."
)


def find_method(name: str | None) -> ProportionEstimator | None:
    """The estimator of that name, with its default parameters; upper or lower case."""
    if name is None:
        return None
    from unseen.cli.methods import sorted_estimators

    named = {type(one).__name__.lower(): one for one in sorted_estimators()}
    if name.lower() not in named:
        known = ", ".join(type(one).__name__ for one in named.values())
        close = get_close_matches(name.lower(), named, n=1)
        advice = f" Did you mean {type(named[close[0]]).__name__}?" if close else ""
        raise click.UsageError(f"--method must be one of {known}; got {name!r}.{advice}")
    return named[name.lower()]


def command_line() -> str:
    """The command as the user typed it, ready to be pasted."""
    return shlex.join(["unseen", *sys.argv[1:]])
