"""Predictions as the only columns: the scores of a classifier, and perhaps a score of novelty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unseen.records import Notice
from unseen.simplex import score_features
from unseen.tables._arrow import Table, arrow, as_table
from unseen.tables.columns import Columns, absent_names
from unseen.tables.source import matching_names
from unseen.tables.values import BadCell, NotANumber, numbers

_SCORES = "scores"


class ScoreColumns(Columns):
    """Turn the scores of a classifier into numbers that can be compared by distance.

    Probabilities become logarithms, centred in each row, and the largest of them
    (:func:`unseen.simplex.score_features`); logits stay as they are.

    Parameters
    ----------
    scores : sequence of str
        The columns with the scores of the known classes, by name or pattern such as ``"p_*"``.
    novelty : str or None, default=None
        A column with a score of novelty, such as an energy.
    label, missing, decimal
        As in :class:`Columns`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from unseen.tables import ScoreColumns
    >>> table = pa.table({"p_a": [0.9, 0.2, 0.5], "p_b": [0.1, 0.8, 0.5], "y": ["a", "b", "a"]})
    >>> columns = ScoreColumns(["p_*"], label="y").fit(table)
    >>> list(columns.get_feature_names_out())
    ['scores[0]', 'scores[1]', 'scores[2]']
    """

    def __init__(
        self,
        scores: Sequence[str],
        novelty: str | None = None,
        label: str | None = None,
        missing: Sequence[str] = (),
        decimal: str | None = None,
    ) -> None:
        super().__init__(label=label, missing=missing, decimal=decimal)
        self.scores = scores
        self.novelty = novelty

    def fit(self, X: Any, y: Any = None, rows: Any = None, new: Any = None) -> ScoreColumns:
        """Learn centre and scale from labelled rows that the classifier did not learn from."""
        table = as_table(X)
        names = [name for name in table.column_names if name != self.label]
        self.score_names_ = matching_names("scores", self.scores, names)
        if len(self.score_names_) < 2:
            raise ValueError(
                f"scores must name the columns of at least two classes; got {self.score_names_}."
            )
        if self.novelty is not None:
            matching_names("novelty", [self.novelty], names)
        used = [name for name in (self.label, self.novelty) if name is not None]
        super().fit(self._with_scores(table).select([*used, _SCORES]), rows=rows)
        beside = f" and {self.novelty!r}" if self.novelty else ""
        text = (
            f"Only {len(self.score_names_)} scores{beside} are used. A new class whose rows get "
            "the scores of a known class stays hidden."
        )
        self.notices_.append(Notice("scores_only", text, "note"))
        return self

    def looked_at(self, names: Sequence[str]) -> list[str]:
        """The columns of new rows at whose values :meth:`transform_new` looks, in their order."""
        return [name for name in names if name in {*self.score_names_, self.novelty}]

    def typed(self, X: Any) -> Table:
        """The table with numbers where scores came as text, as from csv."""
        table = as_table(X)
        for name in self.score_names_:
            place = table.column_names.index(name)
            table = table.set_column(place, name, arrow().array(numbers(table[name])))
        return table

    def _asked_for(self, names: Sequence[str], table: Table) -> set[str]:
        return {_SCORES, *([] if self.novelty is None else [self.novelty])}

    def _checked(self, X: Any) -> Table:
        table = as_table(X)
        absent = absent_names(self.score_names_, table)
        if absent:
            raise ValueError(f"columns of NEW must include those of TRAIN; missing: {absent}.")
        return super()._checked(self._with_scores(table))

    def _notices_on_new(self, table: Table, there: Sequence[str]) -> list[Notice]:
        return []

    def _with_scores(self, table: Table) -> Table:
        """The table with one more column, a list for each row."""
        pa = arrow()
        values = np.column_stack([_numbers(name, table) for name in self.score_names_])
        wrong = np.isnan(values).any(axis=1)
        if wrong.any():
            raise BadCell("scores must not be missing", int(wrong.argmax()))
        found = score_features(values)
        lists = pa.FixedSizeListArray.from_arrays(pa.array(found.ravel()), found.shape[1])
        return table.append_column(_SCORES, pa.chunked_array([lists]))


def _numbers(name: str, table: Table) -> Any:
    try:
        return numbers(table[name])
    except NotANumber as error:
        text = f"column {name!r} must hold scores; got {error.value!r}"
        raise BadCell(text, error.place or 0) from None
