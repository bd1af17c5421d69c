"""A rule for tables: fitted on samples, then applied to every row of a table, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unseen._types import FloatArray
from unseen.persist import load
from unseen.rejection import RejectionClassifier
from unseen.rejection.learning.threshold import labels_at, novelty
from unseen.study.run import quiet_warnings
from unseen.study.samples import NewRows, Training
from unseen.tables import Columns, Source

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["TableRule", "fit_rule", "label_rows", "load_rule"]


@dataclass(frozen=True, eq=False)
class TableRule:
    """A rejection rule with the preprocessing of its columns.

    Parameters
    ----------
    columns : Columns
        What makes numbers of the columns.
    rule : rejection rule
        Fitted to such numbers.
    """

    columns: Columns
    rule: Any

    def probabilities(self, table: Any) -> FloatArray:
        """Probability of each label, unseen last, for rows that the rule has not seen."""
        return self.rule.predict_proba(self.columns.transform(table))


def fit_rule(
    training: Training, new: NewRows, threshold: dict[str, Any] | None = None, seed: int = 0
) -> TableRule:
    """Fit the default rule, with shares estimated by the default estimator.

    Parameters
    ----------
    training, new : Training, NewRows
        The rows.
    threshold : dict or None, default=None
        An argument of ``with_threshold``, such as ``{"fdr": 0.1}``.
    seed : int, default=0
        Seed of all randomness.

    Returns
    -------
    TableRule
    """
    with quiet_warnings():
        rule = RejectionClassifier(random_state=seed).fit(training.X, training.y, new.X)
        if threshold:
            rule = rule.with_threshold(**threshold)
    return TableRule(training.columns, rule)


def load_rule(path: Path) -> TableRule | None:
    """A rule that was saved; None where the file holds something else."""
    saved = load(path)
    return saved if isinstance(saved, TableRule) else None


def label_rows(
    table_rule: TableRule,
    source: Source,
    fitted_on: NewRows | None = None,
    progress: Callable[[float], None] | None = None,
) -> Iterator[pa.Table]:
    """All rows of a table with their label, novelty and probabilities, batch by batch.

    A row that the rule was fitted on gets what a rule said that did not learn from it.

    Parameters
    ----------
    table_rule : TableRule
        The rule.
    source : Source
        The table.
    fitted_on : NewRows or None, default=None
        The rows of this table that the rule was fitted on.
    progress : callable or None, default=None
        Told the share of rows that are done, where their number is known.

    Yields
    ------
    pyarrow.Table
        The columns of the table, then ``predicted``, ``novelty`` and one probability per label.
    """
    import pyarrow as pa

    first = 0
    names = _free_names(table_rule.rule.classes_, source.columns())
    for batch in source.batches():
        table = pa.Table.from_batches([batch])
        probabilities = table_rule.probabilities(table)
        if fitted_on is not None:
            _put_out_of_fold(probabilities, first, table_rule.rule, fitted_on.positions)
        first += batch.num_rows
        for name, column in zip(names, _results(table_rule.rule, probabilities), strict=True):
            table = table.append_column(name, pa.array(column))
        yield table
        if progress is not None and fitted_on is not None:
            progress(first / fitted_on.n_rows)


def _put_out_of_fold(
    probabilities: FloatArray, first: int, rule: Any, positions: NDArray[Any]
) -> None:
    begin, end = np.searchsorted(positions, [first, first + len(probabilities)])
    probabilities[positions[begin:end] - first] = rule.out_of_fold_.new[begin:end]


def _results(rule: Any, probabilities: FloatArray) -> list[NDArray[Any]]:
    labels = rule.classes_[labels_at(probabilities, rule.threshold_)]
    return [labels, novelty(probabilities), *probabilities.T]


def _free_names(labels: NDArray[Any], taken: list[str]) -> list[str]:
    """Names of the new columns; none may hide a column of the table."""
    names = ["predicted", "novelty", *(f"probability_{label}" for label in labels)]
    while set(names) & set(taken):
        names = [f"unseen_{name}" for name in names]
    return names
