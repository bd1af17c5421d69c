"""``unseen methods``: the estimators that ``--method`` takes."""

from __future__ import annotations

import inspect
import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import click

from unseen.cli.group import OnceCommand
from unseen.cli.screen import console, plain, print_table, table_of

if TYPE_CHECKING:
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
