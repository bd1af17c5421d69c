"""``unseen methods``: the estimators that ``--method`` takes."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from unseen.proportions import ProportionEstimator

__all__ = ["estimators", "methods"]


@click.command()
def methods() -> None:
    """List the estimators, and which of them can see unseen classes."""
    from unseen.cli.screen import console, plain, table_of

    table = table_of("method", [])
    table.add_column("sees unseen classes")
    table.add_column("what it does")
    for kind in estimators():
        words = (inspect.getdoc(kind) or "").split("\n\n")[0]
        sees = "yes" if kind().sees_unseen else "no"
        table.add_row(kind.__name__, sees, plain(" ".join(words.split())))
    console().print(table, soft_wrap=False)


def estimators() -> list[type[ProportionEstimator]]:
    """Every public estimator of class proportions; the default first, then those that see."""
    from unseen.proportions import OpenSetEstimator, all_estimators

    kinds = [type(estimator) for estimator in all_estimators()]
    return sorted(kinds, key=lambda kind: (kind is not OpenSetEstimator, not kind().sees_unseen))
