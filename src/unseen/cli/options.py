"""Arguments and options that several commands share, and the objects that they stand for."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from unseen.proportions import ProportionEstimator
    from unseen.study import Inputs

__all__ = [
    "command_line",
    "confidence_option",
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

output_path = click.Path(dir_okay=False, path_type=Path)


def given_inputs(given: dict[str, Any]) -> Inputs:
    """The two tables that :func:`table_options` name, not yet read."""
    from unseen.study import Inputs

    try:
        return Inputs(**given)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def table_options(command: Command) -> Command:
    """TRAIN and NEW, and how to read them; see :func:`given_inputs`."""
    for option in reversed(
        [
            click.argument("train"),
            click.argument("new"),
            click.option("--label", "-y", help="Column of TRAIN with the classes."),
            click.option("--drop", multiple=True, help="Leave out this column; may be repeated."),
            click.option(
                "--keep",
                multiple=True,
                help="Use this column even if it looks like an id or a constant.",
            ),
            click.option(
                "--rows",
                "max_rows",
                type=click.IntRange(min=20),
                default=20_000,
                show_default=True,
                help="Rows used of each table; a larger one is sampled.",
            ),
            click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True),
            click.option(
                "--format",
                type=click.Choice(["csv", "tsv", "parquet", "feather", "jsonl"]),
                help="Format of both tables [default: by suffix; standard input is csv]",
            ),
        ]
    ):
        command = option(command)
    return command


confidence_option = click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Level of the intervals.",
)
method_option = click.option(
    "--method", help="Estimator; `unseen methods` lists them [default: OpenSetEstimator]"
)
quiet_option = click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
report_option = click.option(
    "--report", type=output_path, help="Write one self-contained HTML page."
)
json_option = click.option(
    "--json", "json_path", help="Write everything as JSON; - is standard output."
)


def find_method(name: str | None) -> ProportionEstimator | None:
    """The estimator of that name, with its default parameters; upper or lower case."""
    if name is None:
        return None
    from unseen.cli.methods import sorted_estimators

    named = {type(one).__name__.lower(): one for one in sorted_estimators()}
    if name.lower() not in named:
        known = ", ".join(type(one).__name__ for one in named.values())
        raise click.UsageError(f"--method must be one of {known}; got {name!r}.")
    return named[name.lower()]


def command_line() -> str:
    """The command as the user typed it, ready to be pasted."""
    return shlex.join(["unseen", *sys.argv[1:]])
