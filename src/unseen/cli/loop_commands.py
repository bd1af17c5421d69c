"""``unseen explain``, ``audit`` and ``promote``: what to do after the number."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unseen import _wording as words
from unseen.cli.answer import answer
from unseen.cli.group import OnceCommand
from unseen.cli.options import (
    command_line,
    confidence_option,
    json_option,
    output_path,
    quiet_option,
    report_option,
    table_options,
)
from unseen.cli.screen import (
    console,
    plain,
    print_notices,
    print_table,
    show_study,
    table_of,
)

if TYPE_CHECKING:
    from unseen.study import AfterResult

labels_option = click.option(
    "--labels",
    "sheet",
    type=output_path,
    required=True,
    help="The filled sheet, or any table with columns row and label.",
)
# The labels of these commands are those of NEW.
audited_tables = partial(table_options, labels="--train-labels")


@click.command(cls=OnceCommand)
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
    "with_examples",
    is_flag=True,
    help="Put example rows of each group into the report.",
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
    for option, name in (("--show-rows", "with_examples"), ("--image-column", "image_column")):
        if given[name] and given["report"] is None:
            raise click.UsageError(f"{option} needs --report, where the rows are shown.")
    given |= {"command": command_line()}
    answer("run_explanation", given, show_study, writes=("sheet",))


@click.command(cls=OnceCommand)
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
    answer("run_audit", given, _show_audit, also_read=(given["sheet"],))


@click.command(cls=OnceCommand)
@audited_tables
@labels_option
@click.option(
    "--out", "-o", type=output_path, required=True, help="Where TRAIN with the named rows goes."
)
@click.option("--spread", is_flag=True, help="Name all rows of a named group that are surely new.")
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
    answer("run_promotion", given, _show_promotion, writes=("out", "rest"), also_read=also_read)


def _show_audit(result: AfterResult) -> None:
    screen, found = console(), result.record
    corrected = found.corrected
    screen.print(f"[bold]{plain(found.sentence())}[/bold]\n")
    table = table_of("class", ["estimated", "by labels", words.interval_name(corrected.confidence)])
    assert found.compared is not None
    assert corrected.intervals is not None
    shares = [*corrected.proportions, corrected.unseen]
    estimated = [*found.compared.proportions, found.compared.unseen]
    names = [*corrected.classes, "unseen"]
    for name, before, now, ends in zip(names, estimated, shares, corrected.intervals, strict=True):
        table.add_row(plain(name), words.share(before), words.share(now), words.interval(*ends))
    for name, (share, *limits) in found.named.items():
        table.add_row(f"  {plain(name)}", "", words.share(share), words.interval(*limits))
    print_table(table, screen)
    for called, (rows, right) in (("unseen", found.called_unseen), ("known", found.called_known)):
        if rows:
            screen.print(f"People agree with {right} of {words.count(rows)} called {called}.")
    screen.print(found.worth_of_more())
    print_notices((*found.notices, *result.notices), screen)


def _show_promotion(result: AfterResult) -> None:
    screen, found = console(), result.record
    table = table_of("class", ["labelled by people", "by group"])
    for name in found.counts:
        mine = found.labels == name
        counts = [int((mine & (found.sources == one)).sum()) for one in ("labelled", "spread")]
        table.add_row(plain(name), *map(str, counts))
    print_table(table, screen)
    screen.print(f"{len(found.rows)} of {found.n_new:,} new rows are now labelled rows.")
    print_notices((*found.notices, *result.notices), screen)
