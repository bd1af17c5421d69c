"""``unseen explain``, ``audit`` and ``promote``: what to do after the number."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unseen.cli.once import OnceCommand
from unseen.cli.options import (
    command_line,
    confidence_option,
    given_inputs,
    json_option,
    output_path,
    quiet_option,
    report_option,
    table_options,
)
from unseen.cli.outputs import Outputs
from unseen.cli.progress import shown_progress

if TYPE_CHECKING:
    from unseen.loop import Audit, Promotion
    from unseen.records import Notice

__all__ = ["audit", "explain", "promote"]

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
@click.option("--show-rows", is_flag=True, help="Put example rows of each group into the report.")
@confidence_option
@report_option
@json_option
@quiet_option
def explain(
    sheet: Path | None,
    sheet_rows: int,
    text_column: str | None,
    image_column: str | None,
    image_folder: Path | None,
    show_rows: bool,
    confidence: float,
    report: Path | None,
    json_path: str | None,
    quiet: bool,
    **given: Any,
) -> None:
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
    for option, is_given in (("--show-rows", show_rows), ("--image-column", image_column)):
        if is_given and report is None:
            raise click.UsageError(f"{option} needs --report, where the rows are shown.")
    inputs, outputs = given_inputs(given), Outputs(report, json_path, sheet=sheet)
    outputs.check(inputs)
    with shown_progress(quiet) as progress:
        from unseen.study import run_explanation

        study, drawn, new = run_explanation(
            inputs,
            n_rows=sheet_rows,
            text_column=text_column,
            image_column=image_column,
            image_folder=image_folder,
            with_examples=show_rows,
            confidence=confidence,
            command=command_line(),
            progress=progress,
        )
    if sheet is not None:
        from unseen.study.sheets import write_sheet

        write_sheet(drawn, new, sheet)
    outputs.write(study)
    if not quiet and outputs.leaves_screen_free:
        from unseen.cli.screen import show_study

        show_study(study, outputs.files)


@click.command(cls=OnceCommand)
@audited_tables
@labels_option
@confidence_option
@json_option
@quiet_option
def audit(sheet: Path, confidence: float, json_path: str | None, quiet: bool, **given: Any) -> None:
    """Correct the shares in NEW by labels that people gave: right whatever drifted.

    \b
    Examples:
      unseen audit train.csv new.csv --label kind --labels sheet.csv
    """
    inputs, outputs = given_inputs(given), Outputs(json_path=json_path)
    outputs.check(inputs, sheet)
    with shown_progress(quiet) as progress:
        from unseen.study import run_audit

        found = run_audit(inputs, sheet, confidence, progress)
    outputs.write(found)
    if not quiet and outputs.leaves_screen_free:
        _show_audit(found.record, found.notices)


@click.command(cls=OnceCommand)
@audited_tables
@labels_option
@click.option(
    "--out", "-o", type=output_path, required=True, help="Where TRAIN with the named rows goes."
)
@click.option("--spread", is_flag=True, help="Give the name of a whole group to its sure rows.")
@click.option("--rest", type=output_path, help="Also write NEW without the promoted rows.")
@json_option
@quiet_option
def promote(
    sheet: Path,
    out: Path,
    spread: bool,
    rest: Path | None,
    json_path: str | None,
    quiet: bool,
    **given: Any,
) -> None:
    """Add the rows that people named to TRAIN, so that new classes are known from now on.

    Promoted rows are marked in columns that begin with unseen_. A later estimate with the same NEW
    counts them, and estimates the others.

    \b
    Examples:
      unseen promote train.csv new.csv --label kind --labels sheet.csv -o train2.csv --spread
      unseen estimate train2.csv new.csv --label kind
    """
    inputs, outputs = given_inputs(given), Outputs(json_path=json_path, rows=out, rest=rest)
    outputs.check(inputs, sheet)
    with shown_progress(quiet) as progress:
        from unseen.study import run_promotion

        found = run_promotion(inputs, sheet, out, spread=spread, rest=rest, progress=progress)
    outputs.write(found)
    if not quiet and outputs.leaves_screen_free:
        _show_promotion(found.record, found.notices, outputs.files)


def _show_audit(found: Audit, notices: tuple[Notice, ...]) -> None:
    from unseen import _wording as words
    from unseen.cli.screen import console, plain, print_notices, print_table, table_of

    screen, corrected = console(), found.corrected
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
            screen.print(f"Of {words.count(rows)} called {called}, people agree with {right}.")
    screen.print(found.worth_of_more())
    print_notices((*found.notices, *notices), screen)


def _show_promotion(found: Promotion, notices: tuple[Notice, ...], files: list[Path]) -> None:
    from unseen.cli.screen import console, plain, print_files, print_notices, print_table, table_of

    screen = console()
    table = table_of("class", ["labelled by people", "by group"])
    for name in found.counts:
        mine = found.labels == name
        counts = [int((mine & (found.sources == one)).sum()) for one in ("labelled", "spread")]
        table.add_row(plain(name), *map(str, counts))
    print_table(table, screen)
    screen.print(f"{len(found.rows)} of {found.n_new:,} new rows are now labelled rows.")
    print_notices((*found.notices, *notices), screen)
    print_files(files, screen)
