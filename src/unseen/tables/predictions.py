"""Predictions as the only columns: the scores of a classifier, and perhaps a score of novelty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unseen._optional import pa
from unseen._types import FloatArray
from unseen._wording import quoted, shown
from unseen.records import Notice
from unseen.simplex import check_one_kind, part_of_probabilities, score_features
from unseen.tables._arrow import Table, as_table, decoded, is_text
from unseen.tables.columns import Columns, check_columns_of_train
from unseen.tables.embeddings import holds_lists, vectors
from unseen.tables.source import matching_names
from unseen.tables.values import BadCell, NotANumber, decimals_of, numbers

_SCORES = "scores"


class ScoreColumns(Columns):
    """Turn the scores of a classifier into numbers that can be compared by distance.

    Probabilities become logarithms, centred in each row, and the largest of them
    (:func:`unseen.simplex.score_features`); logits stay as they are.

    Parameters
    ----------
    scores : sequence of str
        The columns with the scores of the known classes, by name or pattern such as ``"p_*"``; or
        one column of lists.
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

    _tells_of_columns = False

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
        if self.novelty is not None:
            matching_names("novelty", [self.novelty], names)
        given = self._without_missing(table, self.score_names_)
        self.decimal_ = self.decimal or decimals_of(given, self.score_names_)[0]
        scores = self._scores(given)
        if scores.shape[1] < 2:
            raise ValueError(
                f"scores must name the columns of at least two classes; got "
                f"{quoted(self.score_names_)}."
            )
        self.part_of_probabilities_ = part_of_probabilities(scores)
        super().fit(self._with_scores(table, scores, self.label), rows=rows)
        beside = f" and {self.novelty!r}" if self.novelty else ""
        text = (
            f"Only {scores.shape[1]} scores{beside} are used. A new class whose rows get "
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
            if is_text(decoded(table[name]).type):
                place = table.column_names.index(name)
                found = pa.array(self._numbers(name, table), from_pandas=True)
                table = table.set_column(place, name, found)
        return table

    def in_units(self, X: FloatArray) -> tuple[tuple[str, ...], FloatArray]:
        """The novelty, as it stands in the table; scores are encoded as other numbers."""
        names, values = super().in_units(X)
        own = [place for place, name in enumerate(names) if name == self.novelty]
        return tuple(names[place] for place in own), values[:, own]

    def _asked_for(self, names: Sequence[str], table: Table) -> set[str]:
        return {_SCORES, *([] if self.novelty is None else [self.novelty])}

    def _checked(self, X: Any) -> Table:
        table = as_table(X)
        check_columns_of_train(self.looked_at([*self.score_names_, self.novelty or ""]), table)
        scores = self._scores(self._without_missing(table, self.score_names_))
        part = part_of_probabilities(scores)
        check_one_kind(self.part_of_probabilities_, part, "scores of TRAIN", "scores of NEW")
        return super()._checked(self._with_scores(table, scores))

    def _scores(self, table: Table) -> FloatArray:
        """The scores of all rows, of several columns or of one that holds lists."""
        first, *others = self.score_names_
        if not others and holds_lists(table[first]):
            return np.asarray(vectors(first, table[first]), dtype=np.float64)
        values = np.column_stack([self._numbers(name, table) for name in self.score_names_])
        wrong = np.isnan(values)
        if wrong.any():
            place, column = np.argwhere(wrong)[0]
            name = self.score_names_[column]
            raise BadCell(f"scores must not be missing or infinite; {name!r} is", int(place))
        return values

    def _numbers(self, name: str, table: Table) -> FloatArray:
        try:
            return numbers(table[name], self.decimal_)
        except NotANumber as error:
            text = f"column {name!r} must hold scores; got {shown(repr(error.value))}"
            raise BadCell(text, error.place or 0) from None

    def _with_scores(self, table: Table, scores: FloatArray, label: str | None = None) -> Table:
        """The columns beside the scores, and one more, a list for each row."""
        found = score_features(scores, are_probabilities=self.part_of_probabilities_ == 1)
        lists = pa.FixedSizeListArray.from_arrays(pa.array(found.ravel()), found.shape[1])
        beside = [name for name in (label, self.novelty) if name is not None]
        return table.select(beside).append_column(_SCORES, pa.chunked_array([lists]))
