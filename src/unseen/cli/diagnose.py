"""``unseen diagnose``: checks of what an estimate takes for granted on these tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from unseen.cli.options import given_inputs, json_option, quiet_option, table_options
from unseen.cli.outputs import Outputs
from unseen.cli.progress import shown_progress

if TYPE_CHECKING:
    from unseen.study import Checks

__all__ = ["diagnose"]

_CHECKS = {
    "effective_rows": "effective rows",
    "right_end_bend": "straight at the end? (1)",
    "misfit": "misfit (0)",
    "class_drift": "drift (0)",
    "hidden_share": "hidden in others (0)",
}


@click.command()
@table_options
@click.option(
    "--delta",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Probability with which the certified bound may fail.",
)
@json_option
@quiet_option
def diagnose(delta: float, json_path: str | None, quiet: bool, **given: Any) -> None:
    """Check what an estimate takes for granted, class by class, and certify a bound.

    The checks read the ROC of every class (MPEIncomplete). The certified bound of the unseen share
    holds whatever the distributions, if known classes did not change, and is often far below the
    estimate.
    """
    inputs, outputs = given_inputs(given), Outputs(json_path=json_path)
    outputs.check(inputs)
    with shown_progress(quiet) as progress:
        from unseen.study import run_checks

        checks = run_checks(inputs, delta, progress)
    outputs.write(checks)
    if not quiet and outputs.leaves_screen_free:
        _show(checks)


def _show(checks: Checks) -> None:
    from unseen.cli.screen import console, plain, print_notices, table_of

    found = checks.estimate
    screen = console()
    made = {name: title for name, title in _CHECKS.items() if name in found.diagnostics}
    table = table_of("class", ["slope", *made.values()])
    for label in found.classes:
        numbers = (found.diagnostics[name].get(label) for name in made)
        slope = f"{found.roc[label].right_slope:.3f}"
        table.add_row(plain(label), slope, *map(_number, numbers))
    screen.print(table)
    screen.print("In brackets: the value if nothing is wrong.")
    screen.print(
        f"Sum of the slopes: {found.diagnostics['slope_total']:.3f}, at most 1 if all is well."
    )
    screen.print(
        f"At least {found.unseen_certified:.1%} of the new rows are unseen, whatever the "
        "distributions, if no known class has changed "
        f"(fails with probability {checks.delta:g} at most)."
    )
    if found.is_in_doubt:
        screen.print(f"[bold]{plain(found.sentence())}[/bold]")
    if not found.notices:
        screen.print("No check complains.")
    print_notices((*found.notices, *checks.notices), screen)


def _number(value: Any) -> str:
    if value is None:
        return "-"
    middle = value[0] if isinstance(value, list | tuple) else value  # then come its limits
    return f"{middle:.0f}" if middle > 10 else f"{middle:.3f}"
