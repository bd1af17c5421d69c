"""``unseen monitor``: shares over windows of time, and which differ from the reference."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unseen.cli.failif import AnyCondition, any_holds, fail_if_option
from unseen.cli.once import OnceCommand
from unseen.cli.options import (
    confidence_option,
    json_option,
    method_option,
    quiet_option,
    report_option,
    table_options,
)
from unseen.cli.outputs import Outputs
from unseen.cli.study_command import answer

if TYPE_CHECKING:
    from unseen.study import Study

__all__ = ["monitor"]


@click.command(cls=OnceCommand)
@table_options
@click.option(
    "--by",
    metavar="COLUMN",
    required=True,
    help="Column of NEW with the window; COLUMN:hour, :day, :week or :month cuts dates.",
)
@click.option(
    "--reference",
    multiple=True,
    help='Reference window, or "training"; may be repeated [default: the first window]',
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Probability of a false alarm that each of the two tests may have, over all windows "
    "together.",
)
@click.option(
    "--fail-if-changed", is_flag=True, help="Exit with 3 when either test of any window says so."
)
@method_option
@confidence_option
@report_option
@json_option
@fail_if_option
@quiet_option
def monitor(
    by: str,
    reference: tuple[str, ...],
    alpha: float,
    fail_if_changed: bool,
    method: str | None,
    confidence: float,
    report: Path | None,
    json_path: str | None,
    conditions: tuple[AnyCondition, ...],
    quiet: bool,
    **given: Any,
) -> None:
    """Estimate the shares in each window of NEW, and test for change since a reference window.

    --fail-if tests the last window.

    \b
    Examples:
      unseen monitor train.csv new.csv --label y --by date:week
      unseen monitor train.csv new.csv --label y --by day --report week.html --fail-if-changed
    """

    def fails(study: Study) -> bool:
        timeline = study.timeline
        assert timeline is not None
        changed = bool((timeline.changed | timeline.changed_unseen).any())
        return any_holds(conditions, timeline.estimates[-1]) or (fail_if_changed and changed)

    answer(
        given,
        Outputs(report, json_path),
        fails,
        method=method,
        confidence=confidence,
        windows={"by": by, "reference": reference, "alpha": alpha, "over_time": True},
        quiet=quiet,
    )
