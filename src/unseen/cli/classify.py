"""``unseen classify``: label every row of a new table, ``unseen`` among the labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unseen.cli.options import Tables, output_path, quiet_option, table_options
from unseen.cli.outputs import Outputs
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
@quiet_option
def classify(
    out: Path,
    reject_rate: str | None,
    recall: float | None,
    fdr: float | None,
    cost: float | None,
    save: Path | None,
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
    tables = Tables(**given)
    _check(out, save, tables)
    with stages(quiet) as say:
        say("Loading")
        ready = _rule(tables, threshold, say)
    counts = _label_all(ready, tables, out, quiet)
    if save is not None:
        from unseen.persist import save as save_object

        save_object(ready.rule, save)
    if not quiet:
        _show(ready, counts, [out, *([save] if save else [])])


def _rate(text: str | None) -> float | str | None:
    if text is None or text == "estimated":
        return text
    try:
        return float(text)
    except ValueError:
        raise click.UsageError(
            f'--reject-rate must be "estimated" or a share in [0, 1]; got {text!r}.'
        ) from None


def _check(out: Path, save: Path | None, tables: Tables) -> None:
    from unseen.tables import RowWriter

    RowWriter(out)  # knows the suffixes that can be written
    Outputs(rows=out, save=save).check(tables)


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
            saved.rule.set_threshold(**threshold)
        new = tables.read_new(saved.columns)
        return _Ready(saved, None, new.warnings, new.notices)
    training, new = tables.read_both(say)
    say("Fitting a rule")
    fitted = fit_rule(training, new, threshold, tables.seed)
    told = (*training.warnings, *new.warnings, *without_constants(fitted.rule.warnings_))
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


def _account(rule: Any) -> list[str]:
    """What the rule believes, where it cuts, and how often it errs."""
    shares, error = rule.shares_, max(rule.risk_.risk, 0.0)
    # The share is a mean over "something is unseen" and "nothing is", the interval is not.
    lower, *_, upper = sorted([shares.unseen, *shares.limits[-1]])
    called = f"novelty from {rule.threshold_:.2f} on" if rule.threshold_ <= 1 else "nothing"
    return [
        f"Estimated unseen share: {shares.unseen:.1%} ({lower:.1%} to {upper:.1%}). "
        f"Called unseen: {called}.",
        f"Estimated error rate: {error:.3f}, standard error {rule.risk_.standard_error:.3f}.",
    ]


def _show(ready: _Ready, counts: dict[str, int], files: list[Path]) -> None:
    from unseen.cli.screen import console, plain, print_remarks, table_of

    screen, total = console(), sum(counts.values())
    table = table_of("label", ["rows", "share"])
    for label, count in counts.items():
        table.add_row(plain(label), f"{count:,}", f"{count / total:.1%}")
    screen.print(table)
    if ready.fitted_on is None:
        screen.print("Of the rows that the rule was fitted to:")
    for line in _account(ready.rule.rule):
        screen.print(line)
    print_remarks(ready.warnings, ready.notices, screen)
    for file in files:
        screen.print(f"Written: {plain(file)}")
