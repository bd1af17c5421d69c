"""``unseen compare``: every estimator side by side, on one set of scores."""

from __future__ import annotations

from typing import Any

import click

from unseen.cli.options import Tables, json_option, quiet_option, table_options
from unseen.cli.outputs import Outputs, write_json
from unseen.cli.progress import stages

__all__ = ["compare"]


@click.command()
@table_options
@json_option
@quiet_option
def compare(json_path: str | None, quiet: bool, **given: Any) -> None:
    """Estimate the shares in NEW with every method that applies, side by side.

    Closed-set methods take every new row for one of a known class: where something is unseen they
    are all wrong, and often agree.
    """
    tables, outputs = Tables(**given), Outputs(json_path=json_path)
    outputs.check(tables)
    with stages(quiet) as say:
        say("Loading")
        from unseen.proportions import compare as compare_all
        from unseen.study import quiet_warnings

        training, new = tables.read_both(say)
        say("Estimating with every method")
        with quiet_warnings():
            found = compare_all(training.X, training.y, new.X, random_state=tables.seed)
    if json_path is not None:
        write_json({"format": 1, "estimates": found.to_dict()}, json_path)
    if not quiet and outputs.leaves_screen_free:
        from unseen.cli.screen import console, print_remarks, shares_of_methods

        screen = console()
        screen.print(shares_of_methods(found))
        screen.print("Closed-set methods say 0.0% unseen whatever the data: see `unseen methods`.")
        print_remarks(
            (*training.warnings, *new.warnings), (*training.notices, *new.notices), screen
        )
