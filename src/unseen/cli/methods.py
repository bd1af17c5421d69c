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
        table.add_row(kind.__name__, _sight(kind), plain(" ".join(words.split())))
    console().print(table, soft_wrap=False)


def estimators() -> list[type[ProportionEstimator]]:
    """Every exported estimator of class proportions; the default first, then those that see."""
    from unseen import proportions
    from unseen.proportions import OpenSetEstimator, ProportionEstimator

    exported = [getattr(proportions, name) for name in proportions.__all__]
    kinds = [
        kind
        for kind in exported
        if inspect.isclass(kind)
        and issubclass(kind, ProportionEstimator)
        and not inspect.isabstract(kind)
    ]
    return sorted(kinds, key=lambda kind: (kind is not OpenSetEstimator, not _is_open(kind)))


def _is_open(kind: type[ProportionEstimator]) -> bool:
    """Whether it can be fitted to one class: nothing but unseen ones could then be told from it."""
    try:
        kind().fit([[0.0], [1.0]], ["known", "known"])
    except ValueError:
        return False
    return True


def _sight(kind: type[ProportionEstimator]) -> str:
    return "yes" if _is_open(kind) else "no"
