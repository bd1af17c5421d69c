"""A rejection rule for tables: fitted on samples, then applied to every row, batch by batch."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from unseen._optional import pa
from unseen._progress import report, stage
from unseen._types import FloatArray
from unseen._version import __version__
from unseen.preparing import without_constants
from unseen.records import Notice
from unseen.rejection.sample import labels_at, novelty
from unseen.rejection.shares import default_estimator
from unseen.study.inputs import Inputs
from unseen.study.results import Classification
from unseen.study.rows import NewRows, column_drift, rows_of_file
from unseen.study.run import fitted_rule, quiet_warnings, table_estimate
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


@quiet_warnings()
def run_classification(
    inputs: Inputs,
    out: Path,
    threshold: dict[str, Any] | None = None,
    *,
    resume: bool = False,
) -> tuple[Classification, TableRule]:
    """Label every row of NEW, write the rows with their labels, and return the rule too.

    TRAIN may be a saved :class:`TableRule`. ``threshold`` is one argument of ``with_threshold`` of
    a rejection rule, such as ``{"fdr": 0.1}``. With ``resume`` labelled rows are kept beside
    ``out`` until all are there, and a run goes on after those that a stopped run has kept.
    """
    is_fitted = inputs.is_saved and isinstance(inputs.saved, TableRule)
    if is_fitted:
        if inputs.group is not None:
            raise ValueError("--group holds labelled rows out; TRAIN is a rule, which has none.")
        rule, new = inputs.saved, inputs.read_new(inputs.saved.columns)
        notices = (*new.notices, *(one for one in rule.rule.notices_ if one.code == "laid_back"))
    else:
        rule, new, notices = _learned(inputs)
    if threshold:
        rule = rule.with_threshold(**threshold)
    stage("Labelling")
    kept = None
    if resume:
        # The rule is fitted again: the same seed gives the same rule, or its labels are not kept.
        kept = KeptBatches(out, str(joblib.hash((rule, new.sha256, __version__))))
    fitted_on = None if is_fitted else new
    counts = _write_labels(rule, inputs, new.n_rows, fitted_on, out, kept)
    if kept is not None:
        kept.remove()
    shares, risk, drift = rule.rule.shares_, rule.rule.risk_, rule.rule.shares_.estimate.drift
    names = rule.columns.get_feature_names_out().tolist()
    # The share is a mean over "something is unseen" and "nothing is"; the interval is not.
    low, *_, high = sorted([shares.unseen, *shares.limits[-1].tolist()])
    found = Classification(
        rows=counts,
        fitted_on_these_rows=not is_fitted,
        unseen=shares.unseen,
        unseen_interval=(low, high),
        novelty_cut=rule.rule.threshold_,
        error_rate=None if risk.is_withheld else float(risk.risk),
        error_rate_spread=None if risk.is_withheld else float(risk.standard_error),
        notices=notices,
        drift=None if drift is None else drift.named(names),
    )
    return found, rule


def _learned(inputs: Inputs) -> tuple[TableRule, NewRows, tuple[Notice, ...]]:
    """A rule for both tables, the new rows, and all notices.

    Where groups are named, the rule starts from shares less what is claimed of held-out groups.
    """
    training, new = inputs.read()
    of_tables = (*training.notices, *new.notices, *column_drift(training, new))
    shares, said = None, of_tables
    if inputs.group is not None:
        stage("Holding groups out")
        asked = default_estimator(np.unique(training.y, return_counts=True)[1], new.X.shape[0])
        found, _ = table_estimate(training, new, inputs, asked, 0.95)
        own = tuple(one for one in found.notices if one not in of_tables)
        shares, said = replace(found, notices=own), (*of_tables, *own)
    stage("Fitting a rule")
    rule = fitted_rule(training, new, inputs.seed, shares)
    of_rule = [one for one in without_constants(rule.notices_) if one not in said]
    return TableRule(training.columns, rule), new, (*said, *of_rule)


def _write_labels(
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
