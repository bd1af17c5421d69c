"""``unseen methods``: the estimators that ``--method`` takes."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from unseen.proportions import ProportionEstimator

__all__ = ["methods", "sorted_estimators"]


@click.command()
def methods() -> None:
    """List the estimators, and which of them can see unseen classes."""
    from unseen.cli.screen import console, plain, table_of

    table = table_of("method", [])
    table.add_column("sees unseen classes")
    table.add_column("what it does")
    for one in sorted_estimators():
        first = (inspect.getdoc(one) or "").split("\n\n")[0]
        sees = "yes" if one.sees_unseen else "no"
        table.add_row(type(one).__name__, sees, plain(" ".join(first.split())))
    console().print(table, soft_wrap=False)


def sorted_estimators() -> list[ProportionEstimator]:
    """Every public estimator of class proportions; the default first, closed-set methods last."""
    from unseen.proportions import OpenSetEstimator, all_estimators

    return sorted(
        all_estimators(), key=lambda one: (type(one) is not OpenSetEstimator, not one.sees_unseen)
    )
