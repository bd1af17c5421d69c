"""A rejection rule for tables: fitted on samples, then applied to every row, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unseen._types import FloatArray
from unseen.records import Estimate
from unseen.rejection import RejectionClassifier
from unseen.rejection.learning.sample import labels_at, novelty
from unseen.study.rows import NewRows, Training, rows_of_file
from unseen.tables import Columns, KeptBatches, Source

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["TableRule", "fit_rule", "label_rows"]


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
    rule = RejectionClassifier(random_state=seed).fit(training.X, training.y, new.X, shares)
    return TableRule(training.columns, rule)


def label_rows(
    table_rule: TableRule,
    source: Source,
    fitted_on: NewRows | None = None,
    progress: Callable[[int], object] | None = None,
    kept: KeptBatches | None = None,
) -> Iterator[tuple[pa.Table, list[Any]]]:
    """Label all rows of a table: yields rows with added columns, and the labels, batch by batch.

    Added are ``predicted``, ``novelty`` and one probability per label. A row that the rule was
    fitted on gets the answer of a rule that did not learn from it. ``progress`` hears the number of
    rows done. Batches that an earlier run has ``kept`` are not labelled again.
    """
    first, names = 0, _free_names(table_rule.rule.classes_, source.columns())
    for number, batch in enumerate(source.batches()):
        table = None if kept is None else kept.find(number)
        if table is None:
            table = _labelled(table_rule, batch, first, names, fitted_on)
            if kept is not None:
                kept.keep(number, table)
        first += batch.num_rows
        yield table, table[names[0]].to_pylist()
        if progress is not None:
            progress(first)


def _labelled(
    table_rule: TableRule, batch: Any, first: int, names: list[str], fitted_on: NewRows | None
) -> pa.Table:
    """A batch with its labels; ``first`` is the place of its first row in the table."""
    import pyarrow as pa

    rule, table = table_rule.rule, pa.Table.from_batches([batch])
    with rows_of_file(np.arange(first, first + batch.num_rows)):
        probabilities = table_rule.probabilities(table)
    if fitted_on is not None:
        places = fitted_on.positions
        begin, end = np.searchsorted(places, [first, first + len(probabilities)])
        probabilities[places[begin:end] - first] = rule.out_of_fold_.new[begin:end]
    labels = rule.classes_[labels_at(probabilities, rule.threshold_)]
    added = [labels, novelty(probabilities), *probabilities.T]
    for name, column in zip(names, added, strict=True):
        table = table.append_column(name, pa.array(column))
    return table


def _free_names(labels: NDArray[Any], taken: list[str]) -> list[str]:
    """Names of the added columns; none hides a column of the table."""
    names = ["predicted", "novelty", *(f"probability_{label}" for label in labels)]
    while set(names) & set(taken):
        names = [f"unseen_{name}" for name in names]
    return names
