"""``unseen classify``: label every row of a new table, ``unseen`` among the labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from unseen.cli.answer import answer
from unseen.cli.group import OnceCommand
from unseen.cli.options import (
    group_option,
    json_option,
    output_path,
    quiet_option,
    share_option,
    table_options,
)
from unseen.cli.screen import console, plain, print_notices, print_table, table_of

if TYPE_CHECKING:
    from unseen.study import Classification


@click.command(cls=OnceCommand)
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
    asked = {"reject_rate": _rate(reject_rate), "recall": recall, "fdr": fdr, "cost": cost}
    threshold = {name: value for name, value in asked.items() if value is not None}
    if len(threshold) > 1:
        raise click.UsageError("give at most one of --reject-rate, --recall, --fdr and --cost.")
    answer("run_classification", given | {"threshold": threshold}, _show, writes=("out",))


def _error_rate(found: Classification) -> str:
    if found.error_rate is None or found.error_rate_spread is None:
        why = {
            "moved": "the known classes have moved",
            "unclear": "it is unclear whether known classes have moved",
        }.get(found.drift.verdict if found.drift else "", "the unseen share is hardly known")
        return f"Estimated error rate: not stated, as {why}."
    out_of_range = any(one.code == "column_out_of_range" for one in found.notices)
    return (
        f"Estimated error rate{', if no known class has moved' * out_of_range}: "
        f"{max(found.error_rate, 0.0):.3f}, standard error {found.error_rate_spread:.3f}."
    )


def _rate(text: str | None) -> float | str | None:
    if text is None or text == "estimated":
        return text
    try:
        return float(text)
    except ValueError:
        raise click.UsageError(
            f'--reject-rate must be "estimated" or a share in [0, 1]; got {text!r}.'
        ) from None


def _show(found: Classification) -> None:
    import numpy as np

    screen, total = console(), sum(found.rows.values())
    if found.drift is not None and found.drift.verdict != "still":
        said = found.drift.sentence(np.array(found.unseen_interval))
        screen.print(f"[bold]{plain(said)}[/bold]\n")
    table = table_of("label", ["rows", "share"])
    for label, count in found.rows.items():
        table.add_row(plain(label), f"{count:,}", f"{count / total:.1%}")
    print_table(table, screen)
    if not found.fitted_on_these_rows:
        screen.print("For the rows that the rule was fitted to:")
    low, high = found.unseen_interval
    cut = found.novelty_cut
    called = f"rows with a novelty of {cut:.2f} or more" if cut <= 1 else "no row"
    screen.print(
        f"Estimated unseen share: {found.unseen:.1%} ({low:.1%} to {high:.1%}). "
        f"Called unseen: {called}."
    )
    if len(found.rows) > 2:
        screen.print(
            "A rule starts from even odds that anything is unseen. `unseen estimate` starts from "
            "low odds, so its share can be smaller."
        )
    screen.print(_error_rate(found))
    print_notices(found.notices, screen)
