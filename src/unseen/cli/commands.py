"""The commands: their options and help, and the function of the library that each of them calls."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unseen._version import __version__
from unseen.cli import screen
from unseen.cli.answer import answer
from unseen.cli.failif import Condition, any_holds, fail_if_option
from unseen.cli.group import CommandGroup
from unseen.cli.options import (
    confidence_option,
    estimators,
    file_name,
    group_option,
    jobs_option,
    json_option,
    method_option,
    output_path,
    quiet_option,
    report_option,
    seed_option,
    share_option,
    table_options,
)

if TYPE_CHECKING:
    from unseen.study import Study

# What --show-rows shows where it has no number: of all new rows, and of each group.
_ROWS_SHOWN, _ROWS_OF_A_GROUP = 20, 8


@click.group(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
)
@click.version_option(__version__, "--version", "-V", prog_name="unseen")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Find the share of each known class in new data, and the share of unseen ones.

    `unseen COMMAND --help` has all options of a command.

    Exit codes: 0 fine, 1 an error, 2 wrong usage, 3 a --fail-if came true.

    Set NO_COLOR for plain text; UNSEEN_TRACEBACK=1 shows where an error arose.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@main.command()
@table_options
@method_option
@confidence_option
@click.option(
    "--by",
    metavar="COLUMN",
    help="Also estimate for each value of this column of NEW; COLUMN:day cuts dates (see monitor).",
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
    is_flag=False,
    flag_value=_ROWS_SHOWN,
    type=click.IntRange(1, 100),
    help=f"Put this many of the rows that look most unseen into the report [bare: {_ROWS_SHOWN}].",
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
    _run_study(given, windows, lambda study: any_holds(conditions, study.estimate))


@main.command()
@table_options
@click.option(
    "--by",
    metavar="COLUMN",
    required=True,
    help="Column of NEW with the window; COLUMN:hour, :day, :week, :month, :quarter or :year cuts "
    "dates such as 2024-01-31.",
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
    _run_study(given, windows, fails)


def _run_study(
    given: dict[str, Any], windows: dict[str, Any] | None, fails: Callable[[Study], bool]
) -> None:
    """Run a study of all rows, and of windows where these are named; write and show it."""
    from unseen.study import Windowing

    given |= {
        "baselines": given["report"] is not None,
        "windowing": None if windows is None else Windowing(**windows),
        "command": _command_line(),
    }
    answer("run_study", given, screen.show_study, fails=fails)


def _command_line() -> str:
    """The command as the user typed it, ready to be pasted."""
    return shlex.join(["unseen", *sys.argv[1:]])


@main.command()
@table_options
@click.option(
    "--out",
    "-o",
    type=output_path,
    required=True,
    help="Where the labelled rows go; the suffix says the format.",
)
@click.option(
    "--reject-rate",
    help="Share of rows to call unseen, among the rows that the rule is fitted to; "
    '"estimated", the default, is the estimated unseen share.',
)
@click.option(
    "--recall", type=click.FloatRange(0, 1, min_open=True), help="Share of unseen rows to find."
)
@share_option("--fdr", None, "Largest share of known rows among the rows called unseen.")
@click.option(
    "--cost",
    type=click.FloatRange(0, min_open=True),
    help="Cost of missing an unseen row; any other error costs 1.",
)
@click.option(
    "--save", type=output_path, help="Save the rule; as TRAIN it labels other tables without a fit."
)
@click.option(
    "--resume",
    is_flag=True,
    help="Keep labelled batches beside --out until all rows are labelled, and go on where a "
    "stopped run ended.",
)
@group_option
@json_option
@quiet_option
def classify(
    reject_rate: str | None,
    recall: float | None,
    fdr: float | None,
    cost: float | None,
    **given: Any,
) -> None:
    """Label every row of NEW with a class of TRAIN or with "unseen".

    All columns of NEW are kept. A label, a novelty score and a probability per label are added.
    At most one of --reject-rate, --recall, --fdr and --cost moves the cut between known and unseen.

    \b
    Examples:
      unseen classify train.csv new.csv --label species -o labelled.parquet
      unseen classify train.csv new.csv --label y -o out.csv --fdr 0.1 --save rule.skops
      unseen classify train.csv new.csv --label y -o out.csv --group person
      unseen classify rule.skops next.csv -o next_labelled.csv
      unseen classify train.parquet "new/*.parquet" --label y -o out.parquet --resume
    """
    rate: float | str | None = reject_rate
    if reject_rate is not None and reject_rate != "estimated":
        try:
            rate = float(reject_rate)
        except ValueError:
            raise click.UsageError(
                f'--reject-rate must be "estimated" or a share in [0, 1]; got {reject_rate!r}.'
            ) from None
    asked = {"reject_rate": rate, "recall": recall, "fdr": fdr, "cost": cost}
    threshold = {name: value for name, value in asked.items() if value is not None}
    if len(threshold) > 1:
        raise click.UsageError("give at most one of --reject-rate, --recall, --fdr and --cost.")
    answer(
        "run_classification", given | {"threshold": threshold}, screen.show_labels, writes=("out",)
    )


labels_option = click.option(
    "--labels",
    "sheet",
    type=output_path,
    required=True,
    help="The filled sheet, or any table with columns row and label.",
)
# The labels of these commands are those of NEW.
audited_tables = partial(table_options, labels="--train-labels")


@main.command()
@table_options
@click.option("--sheet", type=output_path, help="Write rows to label: csv, xlsx or json.")
@click.option(
    "--sheet-rows",
    "n_rows",
    type=click.IntRange(min=1),
    default=60,
    show_default=True,
    help="Rows of the sheet; at least half are drawn uniformly.",
)
@click.option(
    "--text-column",
    help="Column of NEW whose words tell groups apart [default: the first --text]",
)
@click.option(
    "--image-column",
    help="Column of NEW with pictures, or with their files: the report shows small ones.",
)
@click.option(
    "--image-folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of the files of --image-column; by default that of NEW.",
)
@click.option(
    "--show-rows",
    "n_examples",
    is_flag=False,
    flag_value=_ROWS_OF_A_GROUP,
    type=click.IntRange(1, 100),
    help=f"Put this many rows of each group into the report [bare: {_ROWS_OF_A_GROUP}].",
)
@confidence_option
@report_option
@json_option
@quiet_option
def explain(**given: Any) -> None:
    """Say what the unseen rows of NEW are, and draw rows for people to label.

    Groups of unseen rows come with their shares, the known classes beside them, and the columns
    that set them apart. In the sheet, fill the column label with a known class, a new name or "?";
    each line on top names a whole group.

    \b
    Examples:
      unseen explain train.csv new.csv --label kind --report explain.html --sheet sheet.csv
      unseen explain train.csv new.csv --label kind --text message --show-rows --report e.html
      unseen explain train.csv new.csv --label kind --image-column file --report e.html
    """
    for option, name in (("--show-rows", "n_examples"), ("--image-column", "image_column")):
        if given[name] and given["report"] is None:
            raise click.UsageError(f"{option} needs --report, where the rows are shown.")
    answer(
        "run_explanation",
        given | {"command": _command_line()},
        screen.show_study,
        writes=("sheet",),
    )


@main.command()
@audited_tables
@labels_option
@confidence_option
@json_option
@quiet_option
def audit(**given: Any) -> None:
    """Correct the shares in NEW by labels that people gave; right whatever drifted.

    \b
    Examples:
      unseen audit train.csv new.csv --label kind --labels sheet.csv
    """
    answer("run_audit", given, screen.show_audit, also_read=(given["sheet"],))


@main.command()
@audited_tables
@labels_option
@click.option(
    "--out", "-o", type=output_path, required=True, help="Where TRAIN with the named rows goes."
)
@click.option("--spread", is_flag=True, help="Name all rows of a named group that are surely new.")
@click.option(
    "--spread-from",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.9,
    show_default=True,
    help="Least probability of being new for such a row.",
)
@click.option("--rest", type=output_path, help="Also write NEW without the promoted rows.")
@json_option
@quiet_option
def promote(**given: Any) -> None:
    """Add the rows that people named to TRAIN, so that new classes are known from now on.

    Promoted rows are marked in columns that begin with unseen_. A later estimate with the same NEW
    counts them, and estimates the others.

    \b
    Examples:
      unseen promote train.csv new.csv --label kind --labels sheet.csv -o train2.csv --spread
      unseen estimate train2.csv new.csv --label kind
    """
    also_read = (given["sheet"],)
    answer(
        "run_promotion", given, screen.show_promotion, writes=("out", "rest"), also_read=also_read
    )


@main.command()
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
    answer("run_comparison", given, screen.show_comparison)


@main.command()
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
    answer("run_checks", given, screen.show_checks)


@main.command()
def methods() -> None:
    """List the estimators, and which of them can see unseen classes."""
    screen.show_methods(estimators())


@main.command()
@seed_option("Which draw of the digits to show.")
@jobs_option
def demo(seed: int, jobs: int | None) -> None:
    """Estimate shares of handwritten digits, three of which training never saw."""
    import joblib

    from unseen.demo import Demo

    with joblib.parallel_config(n_jobs=jobs or -1):
        record = Demo.run(seed)
    screen.show_demo(record)
