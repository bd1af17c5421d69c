"""``unseen methods``: the estimators that ``--method`` takes."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

import click

from unseen.cli.once import OnceCommand

if TYPE_CHECKING:
    from unseen.proportions import ProportionEstimator

__all__ = ["methods", "sorted_estimators"]

# ", Eq. (4)" means nothing without the paper.
_OF_THE_PAPER = re.compile(r",? \(?(?:Eq|Prop)\. [^)]*\)+")


@click.command(cls=OnceCommand)
def methods() -> None:
    """List the estimators, and which of them can see unseen classes."""
    from unseen.cli.screen import console, plain, print_table, table_of

    table = table_of("method", ["sees unseen"], ["what it does"])
    for one in sorted_estimators():
        first = _OF_THE_PAPER.sub("", (inspect.getdoc(one) or "").split("\n\n")[0])
        sees = "yes" if one.sees_unseen else "no"
        table.add_row(type(one).__name__, sees, plain(" ".join(first.split())))
    print_table(table, console())


def sorted_estimators() -> list[ProportionEstimator]:
    """Every public estimator of class proportions; the default first, closed-set methods last."""
    from unseen.proportions import OpenSetEstimator, all_estimators

    return sorted(
        all_estimators(), key=lambda one: (type(one) is not OpenSetEstimator, not one.sees_unseen)
    )
