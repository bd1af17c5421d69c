"""``unseen classify``: label every row of a new table, ``unseen`` among the labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unseen.cli.options import Tables, json_option, output_path, quiet_option, table_options
from unseen.cli.outputs import Outputs, write_json
from unseen.cli.progress import progress_bar, stages

if TYPE_CHECKING:
    from unseen.study import NewRows, TableRule

__all__ = ["classify"]


@click.command()
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
    help="Share of rows to call unseen, of those that the rule is fitted to; "
    '"estimated", the default, is the estimated unseen share.',
)
@click.option(
    "--recall", type=click.FloatRange(0, 1, min_open=True), help="Share of unseen rows to find."
)
@click.option(
    "--fdr",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Largest share of known rows among those rejected.",
)
@click.option(
    "--cost", type=click.FloatRange(0, min_open=True), help="Cost of missing an unseen row."
)
@click.option(
    "--save", type=output_path, help="Save the rule; as TRAIN it labels other tables without a fit."
)
@json_option
@quiet_option
def classify(
    out: Path,
    reject_rate: str | None,
    recall: float | None,
    fdr: float | None,
    cost: float | None,
    save: Path | None,
    json_path: str | None,
    quiet: bool,
    **given: Any,
) -> None:
    """Label every row of NEW with a class of TRAIN or with "unseen".

    The columns of NEW are kept; added are the label, a novelty score, and a probability per label.

    \b
    Examples:
      unseen classify train.csv new.csv --label species -o labelled.parquet
      unseen classify train.csv new.csv --label y -o out.csv --fdr 0.1 --save rule.skops
      unseen classify rule.skops next.csv -o next_labelled.csv
    """
    asked = {"reject_rate": _rate(reject_rate), "recall": recall, "fdr": fdr, "cost": cost}
    threshold = {name: value for name, value in asked.items() if value is not None}
    if len(threshold) > 1:
        raise click.UsageError("give at most one of --reject-rate, --recall, --fdr and --cost.")
    tables, outputs = Tables(**given), Outputs(rows=out, save=save, json_path=json_path)
    _check(outputs, tables)
    with stages(quiet) as say:
        say("Loading")
        ready = _rule(tables, threshold, say)
    counts = _label_all(ready, tables, out, quiet)
    if save is not None:
        from unseen.persist import save as save_object

        save_object(ready.rule, save)
    account = _account(ready, counts)
    if json_path is not None:
        write_json(account, json_path)
    if not quiet and outputs.leaves_screen_free:
        _show(account, outputs.files)


def _rate(text: str | None) -> float | str | None:
    if text is None or text == "estimated":
        return text
    try:
        return float(text)
    except ValueError:
        raise click.UsageError(
            f'--reject-rate must be "estimated" or a share in [0, 1]; got {text!r}.'
        ) from None


def _check(outputs: Outputs, tables: Tables) -> None:
    from unseen.tables import RowWriter

    assert outputs.rows is not None
    RowWriter(outputs.rows)  # knows the suffixes that can be written
    outputs.check(tables)


@dataclass(frozen=True)
class _Ready:
    """A rule, the rows of NEW that it was fitted on if it was, and what was noticed."""

    rule: TableRule
    fitted_on: NewRows | None
    warnings: tuple[str, ...]
    notices: tuple[str, ...]


def _rule(tables: Tables, threshold: dict[str, Any], say: Callable[[str], None]) -> _Ready:
    from unseen.study import fit_rule, load_rule, without_constants

    if tables.is_saved and (saved := load_rule(Path(tables.train))) is not None:
        if threshold:
            saved = replace(saved, rule=saved.rule.with_threshold(**threshold))
        new = tables.read_new(saved.columns)
        return _Ready(saved, None, new.warnings, new.notices)
    training, new = tables.read_both(say)
    say("Fitting a rule")
    fitted = fit_rule(training, new, threshold, tables.seed)
    texts = tuple(notice.text for notice in fitted.rule.notices_)
    told = (*training.warnings, *new.warnings, *without_constants(texts))
    return _Ready(fitted, new, told, (*training.notices, *new.notices))


def _label_all(ready: _Ready, tables: Tables, out: Path, quiet: bool) -> dict[str, int]:
    from collections import Counter

    from unseen.study import label_rows
    from unseen.tables import RowWriter

    counts: Counter[str] = Counter()
    labels = ready.rule.rule.classes_
    with progress_bar("Labelling", quiet) as progress, RowWriter(out) as writer:
        for rows in label_rows(ready.rule, tables.new_source, ready.fitted_on, progress):
            writer.write(ready.rule.columns.typed(rows) if writer.keeps_types else rows)
            place = rows.num_columns - len(labels) - 2
            counts.update(map(str, rows.column(place).to_pylist()))
    return {str(label): counts[str(label)] for label in labels}


def _account(ready: _Ready, counts: dict[str, int]) -> dict[str, Any]:
    """What was called what, what the rule believes, where it cuts, and how often it errs."""
    rule = ready.rule.rule
    # The share is a mean over "something is unseen" and "nothing is", the interval is not.
    low, *_, high = sorted([rule.shares_.unseen, *rule.shares_.limits[-1].tolist()])
    return {
        "format": 1,
        "rows": counts,
        "fitted_on_these_rows": ready.fitted_on is not None,
        "unseen": {"share": rule.shares_.unseen, "low": low, "high": high},
        "novelty_cut": rule.threshold_,
        "error_rate": {
            "estimate": float(rule.risk_.risk),
            "standard_error": float(rule.risk_.standard_error),
        },
        "warnings": list(ready.warnings),
        "notices": list(ready.notices),
    }


def _show(account: dict[str, Any], files: list[Path]) -> None:
    from unseen.cli.screen import console, plain, print_remarks, table_of

    screen, total = console(), sum(account["rows"].values())
    table = table_of("label", ["rows", "share"])
    for label, count in account["rows"].items():
        table.add_row(plain(label), f"{count:,}", f"{count / total:.1%}")
    screen.print(table)
    if not account["fitted_on_these_rows"]:
        screen.print("Of the rows that the rule was fitted to:")
    unseen, cut, error = account["unseen"], account["novelty_cut"], account["error_rate"]
    called = f"novelty from {cut:.2f} on" if cut <= 1 else "nothing"
    screen.print(
        f"Estimated unseen share: {unseen['share']:.1%} ({unseen['low']:.1%} to "
        f"{unseen['high']:.1%}). Called unseen: {called}."
    )
    screen.print(
        f"Estimated error rate: {max(error['estimate'], 0.0):.3f}, "
        f"standard error {error['standard_error']:.3f}."
    )
    print_remarks(account["warnings"], account["notices"], screen)
    for file in files:
        screen.print(f"Written: {plain(file)}")
