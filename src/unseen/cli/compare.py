"""``unseen compare``: every estimator side by side, on one set of scores."""

from __future__ import annotations

from typing import Any

import click

from unseen.cli.once import OnceCommand
from unseen.cli.options import given_inputs, json_option, quiet_option, table_options
from unseen.cli.outputs import Outputs
from unseen.cli.progress import shown_progress

__all__ = ["compare"]


@click.command(cls=OnceCommand)
@table_options
@json_option
@quiet_option
def compare(json_path: str | None, quiet: bool, **given: Any) -> None:
    """Estimate the shares in NEW with every method that applies, side by side.

    Closed-set methods assign every new row to a known class: where something is unseen, all of them
    are wrong, and often agree.

    \b
    Examples:
      unseen compare train.csv new.csv --label species
    """
    inputs, outputs = given_inputs(given), Outputs(json_path=json_path)
    outputs.check(inputs)
    with shown_progress(quiet) as progress:
        from unseen.study import run_comparison

        found = run_comparison(inputs, progress)
    outputs.write(found)
    if not quiet and outputs.leaves_screen_free:
        from unseen.cli.screen import console, print_notices, print_table, shares_of_methods

        screen = console()
        print_table(shares_of_methods(found.estimates), screen)
        screen.print(
            "Methods below the line count unseen rows as known ones: compare these methods with "
            "each other, not with those above."
        )
        print_notices(found.notices, screen)
