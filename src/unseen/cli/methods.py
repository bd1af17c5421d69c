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
    from unseen.study._bridge import sees_unseen

    table = table_of("method", [])
    table.add_column("sees unseen classes")
    table.add_column("what it does")
    for kind in estimators():
        first = (inspect.getdoc(kind) or "").split("\n\n")[0]
        sees = "yes" if sees_unseen(kind) else "no"
        table.add_row(kind.__name__, sees, plain(" ".join(first.split())))
    console().print(table, soft_wrap=False)


def estimators() -> list[type[ProportionEstimator]]:
    """Every exported estimator of class proportions; the default first, closed-set methods last."""
    from unseen import proportions
    from unseen.proportions import OpenSetEstimator, ProportionEstimator
    from unseen.study._bridge import sees_unseen

    exported = [getattr(proportions, name) for name in proportions.__all__]
    kinds = [
        kind
        for kind in exported
        if inspect.isclass(kind)
        and issubclass(kind, ProportionEstimator)
        and not inspect.isabstract(kind)
    ]
    return sorted(kinds, key=lambda kind: (kind is not OpenSetEstimator, not sees_unseen(kind)))
