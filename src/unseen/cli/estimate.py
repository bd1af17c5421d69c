"""``unseen estimate`` and ``monitor``: shares in a new table, with intervals, and over time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from unseen.cli.answer import answer
from unseen.cli.failif import Condition, any_holds, fail_if_option
from unseen.cli.group import OnceCommand
from unseen.cli.look import method_option
from unseen.cli.options import (
    command_line,
    confidence_option,
    file_name,
    group_option,
    json_option,
    output_path,
    quiet_option,
    report_option,
    share_option,
    table_options,
)
from unseen.cli.screen import show_study

if TYPE_CHECKING:
    from unseen.study import Study


@click.command(cls=OnceCommand)
@table_options
@method_option
@confidence_option
@click.option(
    "--by",
    metavar="COLUMN",
    help="Also estimate for each value of this column of NEW; COLUMN:day cuts dates.",
)
@click.option(
    "--full",
    is_flag=True,
    help="Score and count every row of NEW; with --by, count the rows of each value too.",
)
@group_option
@click.option(
    "--control",
    type=file_name,
    help="Table of rows like those of NEW (same instrument, same site) without anything new.",
)
@report_option
@json_option
@fail_if_option
@click.option(
    "--show-rows",
    "n_suspects",
    type=click.IntRange(1, 100),
    help="Put this many of the rows that look most unseen into the report.",
)
@click.option(
    "--save",
    type=output_path,
    help="Save the labelled rows and their preprocessing, as a TRAIN for later.",
)
@quiet_option
def estimate(by: str | None, conditions: tuple[Condition, ...], **given: Any) -> None:
    """Estimate the share of each known class in NEW, and of classes that TRAIN lacks.

    TRAIN holds rows with a label, NEW rows without: csv, tsv, parquet, feather or json lines, also
    with .gz or .zst, a quoted pattern such as "new-*.csv", or - for standard input.

    \b
    Examples:
      unseen estimate train.csv new.csv --label species
      unseen estimate train.parquet "new/*.parquet" --label y --report new.html
      unseen estimate tickets.csv new.csv --label topic --text message
      unseen estimate embeddings.npy new.npy --labels y.npy
      unseen estimate train.csv new.csv --label y --group person
      unseen estimate train.csv new.csv --label y --control last_week.csv
      unseen estimate train.parquet "new/*.parquet" --label y --full --method MPEIncomplete
      unseen estimate train.csv new.csv --label y -q --fail-if "unseen.low > 0.05"
    """
    if given["n_suspects"] is not None and given["report"] is None:
        raise click.UsageError("--show-rows needs --report, where the rows are shown.")
    windows = None if by is None else {"by": by}
    _answer(given, windows, lambda one: any_holds(conditions, one.estimate))


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
@share_option(
    "--alpha",
    0.05,
    "Probability of a false alarm that each of the two tests may have, over all windows together.",
)
@click.option(
    "--fail-if-changed", is_flag=True, help="Exit with 3 when either test finds a change."
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
    conditions: tuple[Condition, ...],
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

    windows = {"by": by, "reference": reference, "alpha": alpha, "over_time": True}
    _answer(given, windows, fails)


def _answer(
    given: dict[str, Any], windows: dict[str, Any] | None, fails: Callable[[Study], bool]
) -> None:
    """Run a study of all rows, and of windows where these are named; write and show it."""
    from unseen.study import Windowing

    given |= {
        "baselines": given["report"] is not None,
        "windowing": None if windows is None else Windowing(**windows),
        "command": command_line(),
    }
    answer("run_study", given, show_study, fails=fails)
