"""A table with columns of any kind to numbers, by encodings that are stated, learned and saved.

docs/command_line.md says what happens to columns of every kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from unseen._optional import pa, pc
from unseen._types import BoolArray, FloatArray
from unseen._wording import quoted
from unseen.records import Notice
from unseen.tables._arrow import Array, Table, as_table, decoded, is_text
from unseen.tables.embeddings import (
    TextEncoding,
    VectorEncoding,
    holds_lists,
    learn_text,
    learn_vectors,
)
from unseen.tables.encodings import (
    CategoryEncoding,
    Departure,
    Encoding,
    NumberEncoding,
    Unusable,
    check_kind,
    learn_categories,
    learn_numbers,
    with_common_scale,
)
from unseen.tables.notices import (
    by_reason,
    departure_notices,
    nearly_numbers,
    notices_on_new,
    notices_on_train,
    treatment,
)
from unseen.tables.source import check_names, matching_names
from unseen.tables.values import (
    DECIMALS,
    NotANumber,
    as_text,
    decimals_of,
    numbers,
    says_numbers,
    without_marks,
)

_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


@dataclass(eq=False, repr=False)
class Columns(TransformerMixin, BaseEstimator):
    """Turn a table with columns of any kind into numbers.

    Fit the object on the labelled rows. Numbers (also as text) are centred, and all are divided by
    one number; missing and infinite numbers become the median, with a 0/1 column that marks them.
    Text becomes one column for each category, with one more for categories that training never saw.
    Lists of numbers, such as embeddings, become as many columns, if they are asked for or stand
    alone. Constants, ids, dates and free text are left out, and ``notices_`` says so.

    Parameters
    ----------
    label : str or None, default=None
        The column with the classes, which is never a feature.
    keep : sequence of str, default=()
        Columns to use even if they look like constants, ids, dates or free text.
    drop : sequence of str, default=()
        Columns to leave out.
    rare_below : int, default=5
        Categories with fewer rows than this share one column.
    most_categories : int, default=100
        Only so many of the most common categories have a column of their own.
    features : sequence of str, default=()
        The only columns to use, by name or by pattern such as ``"f_*"``; none given uses all but
        lists.
    unit_rows : bool, default=False
        Whether each list of numbers, and each text, is divided by its Euclidean length, as cosine
        similarity does.
    missing : sequence of str, default=()
        Values that mean missing, such as ``"-999"``.
    decimal : {".", ","} or None, default=None
        The mark before the decimals of numbers in text. None takes a comma where only a comma makes
        numbers of a column, and a point elsewhere. The other mark may stand between thousands.
    text : sequence of str, default=()
        Columns of free text to use: TF-IDF of their words, reduced to 200 columns. ``fit`` then
        needs the new rows too.

    Attributes
    ----------
    encodings_ : list of NumberEncoding, CategoryEncoding, VectorEncoding or TextEncoding
        How each used column is encoded.
    dropped_ : dict
        The columns left out, and why.
    constants_ : dict
        The columns left out that have one value in all labelled rows, and that value.
    free_texts_ : list of str
        The columns left out as free text.
    notices_ : list of Notice
        Facts that a user should know about the labelled rows.
    feature_names_in_ : ndarray of str
        The columns that new rows must have.
    n_features_in_ : int
        The number of these columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from unseen.tables import Columns
    >>> train = pa.table({
    ...     "y": list("aabb") * 3,
    ...     "size": [1.0, 2.0, 3.0, None] * 3,
    ...     "colour": ["red", "red", "blue", "blue"] * 3,
    ... })
    >>> columns = Columns(label="y").fit(train)
    >>> list(columns.get_feature_names_out())
    ['size', 'size=missing', 'colour=blue', 'colour=red', 'colour=never seen']
    >>> new = pa.table({"size": [2.0, None], "colour": ["red", "green"]})
    >>> columns.transform(new).round(2)
    array([[0.  , 0.  , 0.  , 0.71, 0.  ],
           [0.  , 1.  , 0.  , 0.  , 0.71]])
    """

    label: str | None = None
    keep: Sequence[str] = ()
    drop: Sequence[str] = ()
    rare_below: int = 5
    most_categories: int = 100
    features: Sequence[str] = ()
    unit_rows: bool = False
    missing: Sequence[str] = ()
    decimal: str | None = None
    text: Sequence[str] = ()

    _tells_of_columns: ClassVar = True  # that are not used, or vary in new rows alone

    def fit(self, X: Any, y: Any = None, rows: Any = None, new: Any = None) -> Columns:
        """Learn the encodings from labelled rows; y is ignored.

        Parameters
        ----------
        X : pyarrow, pandas or polars table
            The labelled rows; the label may be among its columns.
        rows : ndarray of int or None, default=None
            Place of each row in its file, from 0, for notices that name a row; None counts them.
        new : pyarrow, pandas or polars table, or None, default=None
            The new rows, where free text is used: its words are learnt from both tables.

        Raises
        ------
        ValueError
            When no column can be used, or a parameter is wrong.
        """
        table = as_table(X)
        self._check_parameters(table)
        self.dropped_: dict[str, str] = {}
        self.constants_: dict[str, float | str] = {}
        self.free_texts_: list[str] = []
        names = [name for name in table.column_names if name != self.label]
        asked = self._asked_for(names, table)
        table = self._without_missing(table, names)
        decimals = (self.decimal,) if self.decimal else decimals_of(table, names)
        prose = set(self.text)
        others = [name for name in names if name not in prose]
        learned = [self._learn(name, table[name], asked, decimals) for name in others]
        self.encodings_ = with_common_scale([one for one in learned if one is not None])
        if prose and new is None:
            raise ValueError("text is learnt from both tables: fit needs the new rows, new=X_new.")
        beside: Table = as_table(new) if prose else None
        for name in dict.fromkeys(self.text):
            check_names("text", [name], table.column_names, "TRAIN")
            check_names("text", [name], beside.column_names, "NEW")
            self.encodings_.append(learn_text(name, table[name], beside[name], self.unit_rows))
        self._check_encodings()
        self.feature_names_in_ = np.array([one.name for one in self.encodings_], dtype=object)
        self.n_features_in_ = len(self.encodings_)
        used = {one.name for one in self.encodings_ if not isinstance(one, CategoryEncoding)}
        others = [name for name in others if name not in used]
        self.notices_ = [
            *notices_on_train(self, table),
            *nearly_numbers(table, others, decimals, rows),
        ]
        return self

    def fit_transform(self, X: Any, y: Any = None, rows: Any = None, new: Any = None) -> FloatArray:
        """Learn the encodings, and encode each labelled row as if learned from the others.

        A category that one labelled row alone shows counts as never seen, in this row as in new
        ones. ``fit(X).transform(X)`` differs in these rows.
        """
        table = self.fit(X, y, rows=rows, new=new)._checked(X)
        return _stacked([one.encode_labelled(one.read(table[one.name])) for one in self.encodings_])

    def transform(self, X: Any) -> FloatArray:
        """Encode new rows; labelled rows are encoded by :meth:`fit_transform`.

        Columns that the labelled rows lack are ignored. A column that is absent, or holds text
        where the labelled rows have numbers, is a ValueError.
        """
        table = self._checked(X)
        return _stacked([one.encode(one.read(table[one.name])) for one in self.encodings_])

    def looked_at(self, names: Sequence[str]) -> list[str]:
        """The columns of new rows at whose values :meth:`transform_new` looks, in their order."""
        check_is_fitted(self, "encodings_")
        known = {*self.feature_names_in_, *self.constants_}
        return [name for name in names if name in known]

    def transform_new(
        self, X: Any, besides: Sequence[str] = (), names: Sequence[str] | None = None
    ) -> tuple[FloatArray, tuple[Notice, ...]]:
        """Encode a sample of all new rows, and compare it with the labelled rows.

        Parameters
        ----------
        X : pyarrow, pandas or polars table
            A sample of all new rows, not one batch of many.
        besides : sequence of str, default=()
            Columns that have another use: no notice says that they are ignored.
        names : sequence of str or None, default=None
            All columns of the new rows, where X has only those :meth:`looked_at`.

        Returns
        -------
        encoded : ndarray of shape (n_rows, n_columns_out)
            As :meth:`transform` gives, with its errors; a column without any value is one too.
        notices : tuple of Notice
            Columns ignored, columns that vary though they are constant in training, gaps and
            categories that no labelled row shows.
        """
        return self.transform_and_look(X, besides, names)[:2]

    def transform_and_look(
        self, X: Any, besides: Sequence[str] = (), names: Sequence[str] | None = None
    ) -> tuple[FloatArray, tuple[Notice, ...], BoolArray]:
        """What :meth:`transform_new` gives, then gaps: a column for each of ``encodings_``."""
        table = self._checked(X)
        present = table.column_names if names is None else names
        there = [name for name in present if name not in besides]
        notices = notices_on_new(self, table, there) if self._tells_of_columns else []
        blocks, gaps = [], []
        found: list[Departure] = []
        for encoding in self.encodings_:
            values = encoding.read(table[encoding.name])
            blocks.append(encoding.encode(values))
            gaps.append(encoding.gaps(values))
            found += encoding.departures(values)
        said = (*notices, *departure_notices(found))
        return _stacked(blocks), said, np.column_stack(gaps)

    def typed(self, X: Any) -> Table:
        """The table with numbers where a number column came as text, as from csv.

        Missing and infinite numbers are null.
        """
        table = self._checked(X)
        for encoding in self.encodings_:
            column = table[encoding.name]
            if isinstance(encoding, NumberEncoding) and is_text(decoded(column).type):
                found = pa.array(encoding.read(column), from_pandas=True)
                place = table.column_names.index(encoding.name)
                table = table.set_column(place, encoding.name, found)
        return table

    def statement(self) -> list[str]:
        """The treatment of the columns in plain sentences."""
        check_is_fitted(self, "encodings_")
        return [*treatment(self), *(notice.text for notice in self.notices_)]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the encoded columns, such as ``size`` and ``colour=red``."""
        check_is_fitted(self, "encodings_")
        names = [one.name for encoding in self.encodings_ for one in encoding.outputs]
        return np.array(names, dtype=object)

    def in_units(self, X: FloatArray) -> tuple[tuple[str, ...], FloatArray]:
        """Encoded columns that hold numbers of the table: names, and values as they stand there."""
        units = [one.unit for encoding in self.encodings_ for one in encoding.outputs]
        given = [place for place, unit in enumerate(units) if unit is not None]
        offsets, scales = np.array([units[place] for place in given]).reshape(-1, 2).T
        names = tuple(self.get_feature_names_out()[given].tolist())
        return names, offsets + scales * X[:, given]

    def _check_parameters(self, table: Table) -> None:
        fewest, argument = min(
            (getattr(self, one), one) for one in ("most_categories", "rare_below")
        )
        if fewest < 1:
            raise ValueError(f"{argument} must be at least 1; got {fewest}.")
        if self.decimal not in (None, *DECIMALS):
            raise ValueError(f"decimal must be one of {quoted(DECIMALS)}; got {self.decimal!r}.")
        there, not_used = set(table.column_names), {*self.drop, self.label}
        for argument in ("drop", "keep", "features", "missing", "text"):
            names = getattr(self, argument)
            if isinstance(names, str):
                raise ValueError(f"{argument} must be a list of names; got {names!r}.")
            absent = [name for name in names if name not in there]
            if absent and argument in ("drop", "keep"):
                named = quoted(absent)
                raise ValueError(f"{argument} must name columns of TRAIN; not there: {named}.")
            barred = quoted([name for name in names if name in not_used])
            if barred and argument in ("keep", "text"):
                rule = "must name neither the label nor columns to drop"
                raise ValueError(f"{argument} {rule}; got {barred}.")
        if not table.num_rows:
            raise ValueError("TRAIN must have rows; got none.")

    def _check_encodings(self) -> None:
        if not self.encodings_:
            reasons = [f"{names} ({why})" for names, why in by_reason(self.dropped_)]
            raise ValueError(
                f"TRAIN must have a column to use; {'; '.join(reasons) or 'got none'}."
            )
        divided = (VectorEncoding, TextEncoding)
        if self.unit_rows and not any(isinstance(one, divided) for one in self.encodings_):
            raise ValueError(
                "unit_rows must have embeddings or texts to divide: lists of numbers, or columns "
                "of --text; no such column is used."
            )

    def _asked_for(self, names: Sequence[str], table: Table) -> set[str]:
        """The columns that ``features`` names; where it is empty, lists that stand alone."""
        if self.features:
            return set(matching_names("features", self.features, names))
        used = [name for name in names if name not in self.drop]
        return set(used) if all(holds_lists(table[name]) for name in used) else set()

    def _without_missing(self, table: Table, names: Iterable[str]) -> Table:
        """The table with null for the values that mean missing."""
        for name in names if self.missing else ():
            place = table.column_names.index(name)
            found = without_marks(table[name], self.missing, self.decimal)
            table = table.set_column(place, name, found)
        return table

    def _learn(
        self, name: str, column: Array, asked: set[str], decimals: Sequence[str]
    ) -> Encoding | None:
        """The encoding of a column; None, and a reason in ``dropped_``, where it is not used."""
        if name in self.drop or (self.features and name not in asked):
            reason = "left out" if name in self.drop else "none of the features asked for"
            self.dropped_[name] = f"is {reason}"
            return None
        try:
            if not holds_lists(column):
                return self._learn_values(name, column, decimals)
            if name not in asked:
                raise Unusable("holds lists of numbers: --features uses them")
            return learn_vectors(name, column, self.unit_rows)
        except Unusable as reason:
            if name in self.keep:
                raise ValueError(f"keep must name columns of use; {name!r} {reason}.") from None
            self.dropped_[name] = str(reason)
            if reason.value is not None:
                self.constants_[name] = reason.value
            if reason.is_free_text:
                self.free_texts_.append(name)
            return None

    def _learn_values(self, name: str, column: Array, decimals: Sequence[str]) -> Encoding:
        """The encoding of numbers or of text, which is numbers where a decimal mark suits it."""
        check_kind(column.type)
        keep = name in self.keep
        if _PANDAS_INDEX.fullmatch(name) and not keep:
            raise Unusable("is the index of a pandas table")
        # A column that is declared to hold categories does, even where they look like numbers.
        for mark in () if pa.types.is_dictionary(column.type) else decimals:
            try:
                found = numbers(column, mark)
            except NotANumber:
                continue
            return learn_numbers(name, found, keep, mark)
        text, settings = as_text(column), (self.rare_below, self.most_categories, keep)
        try:
            return learn_categories(name, text, *settings)
        except Unusable:
            if self.decimal and says_numbers(column, DECIMALS[self.decimal]):
                mark = f"another mark than --decimal {self.decimal!r}"
                raise Unusable(f"holds numbers that have {mark}") from None
            # Lists in another form than JSON, such as that of NumPy.
            if name in self.features and pc.starts_with(text[0], "[").as_py():
                raise Unusable("holds lists that are no JSON: save them as lists") from None
            raise

    def _checked(self, X: Any) -> Table:
        """The rows as a pyarrow table that has every column of training."""
        check_is_fitted(self, "encodings_")
        table = as_table(X)
        check_columns_of_train(self.feature_names_in_, table, " --drop leaves a column out.")
        return self._without_missing(table, self.feature_names_in_)


def _stacked(blocks: list[FloatArray]) -> FloatArray:
    # One block may be large, and needs no copy.
    return blocks[0] if len(blocks) == 1 else np.column_stack(blocks)


def check_columns_of_train(names: Iterable[str], table: Table, advice: str = "") -> None:
    """Raise where new rows lack a column."""
    there = set(table.column_names)
    absent = [name for name in names if name not in there]
    if absent:
        raise ValueError(
            f"columns of NEW must include those of TRAIN; missing: {quoted(absent)}.{advice}"
        )
