"""A rejection rule for tables: fitted on samples, then applied to every row, batch by batch."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unseen._optional import pa
from unseen._progress import report
from unseen._types import FloatArray
from unseen.records import Estimate
from unseen.rejection import RejectionClassifier
from unseen.rejection.sample import labels_at, novelty
from unseen.study.inputs import Inputs
from unseen.study.rows import NewRows, Training, rows_of_file
from unseen.tables import Columns, KeptBatches, RowWriter
from unseen.tables._arrow import Table
from unseen.tables.cells import CellWriter


@dataclass(frozen=True, eq=False)
class TableRule:
    """A rejection rule, and the columns that turn a table into the numbers that the rule reads."""

    columns: Columns
    rule: Any

    def probabilities(self, table: Any) -> FloatArray:
        """Probability of each label, unseen last, for rows that the rule has not seen."""
        return self.rule.predict_proba(self.columns.transform(table))

    def with_threshold(self, **threshold: Any) -> TableRule:
        """A copy that calls other rows unseen; the argument is one of ``rule.with_threshold``."""
        return TableRule(self.columns, self.rule.with_threshold(**threshold))


def fit_rule(
    training: Training, new: NewRows, seed: int = 0, shares: Estimate | None = None
) -> TableRule:
    """Fit the default rule, with the shares given, or estimated by the default estimator."""
    rule = RejectionClassifier(random_state=seed, unseen_label="unseen")
    return TableRule(training.columns, rule.fit(training.X, training.y, new.X, shares))


def write_labels(
    table_rule: TableRule,
    inputs: Inputs,
    n_rows: int,
    fitted_on: NewRows | None,
    out: Path,
    kept: KeptBatches | None,
) -> dict[str, int]:
    """Write all ``n_rows`` rows of NEW with their labels, and count the rows of each label.

    Added are ``predicted``, ``novelty`` and one probability per label. A row that the rule was
    fitted on gets the answer of a rule that did not learn from it. Batches that an earlier run has
    ``kept`` are not labelled again.
    """
    source, labels = inputs.new_source, table_rule.rule.classes_
    names = ["predicted", "novelty", *(f"probability_{label}" for label in labels)]
    while set(names) & set(source.columns()):  # none hides a column of the table
        names = [f"unseen_{name}" for name in names]
    counts: Counter[str] = Counter()
    first = 0
    cells = CellWriter(source.parts[0].path, out) if inputs.writes_cells(out) else None
    with cells or RowWriter(out) as writer:
        for number, batch in enumerate(source.batches()):
            table = None if kept is None else kept.find(number)
            if table is None:
                with rows_of_file(np.arange(first, first + batch.num_rows), source.name):
                    table = _labelled(table_rule, batch, first, names, fitted_on)
                if kept is not None:
                    kept.keep(number, table)
            first += batch.num_rows
            writer.write(table_rule.columns.typed(table) if writer.keeps_types else table)
            counts.update(map(str, table[names[0]].to_pylist()))
            report(first / n_rows)
    return {str(label): counts[str(label)] for label in labels}


def _labelled(
    table_rule: TableRule, batch: Any, first: int, names: list[str], fitted_on: NewRows | None
) -> Table:
    """A batch with its labels; ``first`` is the place of its first row in the table."""
    rule, table = table_rule.rule, pa.Table.from_batches([batch])
    probabilities = table_rule.probabilities(table)
    if fitted_on is not None:
        places = fitted_on.positions
        begin, end = np.searchsorted(places, [first, first + len(probabilities)])
        probabilities[places[begin:end] - first] = rule.out_of_fold_.new[begin:end]
    # A file has one type for a column: beside the word "unseen", numbers are text.
    labels = rule.classes_.astype(str)[labels_at(probabilities, rule.threshold_)]
    added = [labels, novelty(probabilities), *probabilities.T]
    for name, column in zip(names, added, strict=True):
        table = table.append_column(name, pa.array(column))
    return table
