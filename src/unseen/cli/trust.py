"""``unseen compare`` and ``diagnose``: how far to trust the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from unseen.cli.answer import answer
from unseen.cli.group import OnceCommand
from unseen.cli.options import json_option, quiet_option, share_option, table_options
from unseen.cli.screen import (
    console,
    plain,
    print_notices,
    print_table,
    shares_of_methods,
    table_of,
)

if TYPE_CHECKING:
    from rich.table import Table

    from unseen.records import Estimate
    from unseen.study import Checks, MethodComparison


class Check(NamedTuple):
    """The head of a column, what fails where the check fires, and how to read the number."""

    head: str
    fault: str
    legend: str


_CHECKS = {
    "effective_rows": Check(
        "rows", "few rows", "the number of rows that the slope is worth; below 30 it is rough."
    ),
    "right_end_bend": Check(
        "bend",
        "bends",
        "1 where the ROC ends straight; well above 1, the true share is below the slope.",
    ),
    "misfit": Check("misfit", "misfit", "0 where the fitted curve follows the ROC."),
    "class_drift": Check(
        "drift",
        "moved",
        "the largest move of a column, in standard deviations; 0 if the class looks as it did.",
    ),
    "hidden_share": Check(
        "hidden", "hidden", "how much of the other known classes looks like this one; 0 at best."
    ),
}
_UNCHECKED = {f"{name}_unchecked": check.fault for name, check in _CHECKS.items()}


@click.command(cls=OnceCommand)
@table_options
@json_option
@quiet_option
def compare(**given: Any) -> None:
    """Estimate the shares in NEW with every method that applies, side by side.

    Closed-set methods assign every new row to a known class: where something is unseen, all of them
    are wrong, and often agree.

    \b
    Examples:
      unseen compare train.csv new.csv --label species
    """
    answer("run_comparison", given, _show_comparison)


@click.command(cls=OnceCommand)
@table_options
@share_option("--delta", 0.05, "Probability with which the certified bound may fail.")
@json_option
@quiet_option
def diagnose(**given: Any) -> None:
    """Check the assumptions of an estimate, class by class, and certify a bound.

    The checks read the ROC of every class (MPEIncomplete). The certified bound of the unseen share
    holds whatever the distributions, if known classes did not change, and is often far below the
    estimate.

    \b
    Examples:
      unseen diagnose train.csv new.csv --label species
    """
    answer("run_checks", given, _show_checks)


def _show_comparison(found: MethodComparison) -> None:
    screen = console()
    print_table(shares_of_methods(found.estimates), screen)
    screen.print(
        "Methods below the line count unseen rows as known ones: compare these methods with "
        "each other, not with those above."
    )
    print_notices(found.notices, screen)


def _show_checks(checks: Checks) -> None:
    found, screen = checks.estimate, console()
    made = {name: check for name, check in _CHECKS.items() if name in found.diagnostics}
    print_table(_table(found, made), screen)
    screen.print(
        "Verdict: ok, or the checks that fail beyond chance; ? where too few new rows look like "
        "the class to check it."
    )
    screen.print("Slope: the share of this class by its own ROC; slopes should sum to at most 1.")
    for check in made.values():
        screen.print(f"{check.head.capitalize()}: {check.legend}")
    screen.print(f"\nSum of the slopes: {found.diagnostics['slope_total']:.3f}.")
    screen.print(_certified(found.unseen_certified or 0.0, checks.delta))
    if found.may_be_moved:
        screen.print(f"[bold]{plain(found.sentence())}[/bold]")
    # The table has them, class by class.
    others = [one for one in found.notices if one.code not in _UNCHECKED]
    if not found.notices:
        screen.print("All checks passed.")
    print_notices((*others, *checks.notices), screen)


def _table(found: Estimate, made: dict[str, Check]) -> Table:
    """One row per class: its verdict, its slope, and the number of each check."""
    table = table_of("class", ["verdict", "slope", *(check.head for check in made.values())])
    for label in found.classes:
        codes = {one.code for one in found.notices if one.about == label}
        faults = [check.fault for name, check in made.items() if name in codes]
        faults += [f"{_UNCHECKED[code]}?" for code in codes if code in _UNCHECKED]
        numbers = (found.diagnostics[name].get(label) for name in made)
        table.add_row(
            plain(label),
            ", ".join(faults) or "ok",
            f"{found.roc[label].right_slope:.3f}",
            *map(_number, numbers),
            style="yellow" if faults else None,
        )
    return table


def _certified(share: float, delta: float) -> str:
    if share == 0:
        return (
            "No part of the new rows is certified to be unseen: the bound holds for any classes, "
            "and so asks for more rows than an estimate does."
        )
    return (
        f"Certified: at least {share:.1%} of the new rows are unseen, whatever the classes look "
        f"like, if no known class has changed (wrong with probability {delta:g} at most)."
    )


def _number(value: Any) -> str:
    if value is None:
        return "-"
    middle = value[0] if isinstance(value, list | tuple) else value  # then come its limits
    return f"{middle:.0f}" if middle > 10 else f"{middle:.2f}"
