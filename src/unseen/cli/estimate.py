"""``unseen estimate``: the shares in a new table, with intervals, on screen and in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from unseen.cli.failif import AnyCondition, any_holds, fail_if_option
from unseen.cli.once import OnceCommand
from unseen.cli.options import (
    confidence_option,
    file_name,
    group_option,
    json_option,
    method_option,
    output_path,
    quiet_option,
    report_option,
    table_options,
)
from unseen.cli.outputs import Outputs
from unseen.cli.study_command import answer

__all__ = ["estimate"]


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
    type=click.IntRange(1, 100),
    help="Put this many of the rows that look most unseen into the report.",
)
@click.option(
    "--save",
    type=output_path,
    help="Save the labelled rows and their preprocessing, as a TRAIN for later.",
)
@quiet_option
def estimate(
    method: str | None,
    confidence: float,
    by: str | None,
    full: bool,
    report: Path | None,
    json_path: str | None,
    conditions: tuple[AnyCondition, ...],
    show_rows: int | None,
    save: Path | None,
    quiet: bool,
    **given: Any,
) -> None:
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
    if show_rows is not None and report is None:
        raise click.UsageError("--show-rows needs --report, where the rows are shown.")
    answer(
        given,
        Outputs(report, json_path, save),
        lambda study: any_holds(conditions, study.estimate),
        method=method,
        confidence=confidence,
        windows=None if by is None else {"by": by},
        n_suspects=show_rows,
        full=full,
        quiet=quiet,
    )
