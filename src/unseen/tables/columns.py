"""A table with columns of any kind to numbers, by rules that are stated, fitted and saved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from unseen.samples.checks import _quoted
from unseen.tables._arrow import Array, Table, arrow, as_table
from unseen.tables.join import is_text, plain
from unseen.tables.rules import (
    Constant,
    Dropped,
    Rule,
    encode,
    feature_names,
    in_given_units,
    is_named_like_id,
)
from unseen.tables.rules import learn as learn_rule
from unseen.tables.values import LARGEST, NotANumber, numbers, words

__all__ = ["Columns", "Departure"]


class Departure(NamedTuple):
    """What new rows have and labelled ones lack: in which share of rows, and in words."""

    share: float
    message: str


class Columns(TransformerMixin, BaseEstimator):
    """Turn a table with columns of any kind into numbers.

    Fit it on the labelled rows. Numbers (also as text) are centred, and all divided by one number;
    missing and infinite ones become the median, with a 0/1 column that says so. Text becomes one
    column for each category, with one more for categories that training never saw. Constants, ids,
    dates and free text are left out, and ``notices_`` says so.

    Parameters
    ----------
    label : str or None, default=None
        The column with the classes; it never enters.
    keep : sequence of str, default=()
        Columns to use even if they look like constants, ids, dates or free text.
    drop : sequence of str, default=()
        Columns to leave out.
    rare_below : int, default=5
        Categories with fewer rows than this share one column.
    most_categories : int, default=100
        Only so many of the most common categories have a column of their own.

    Attributes
    ----------
    rules_ : list of dict
        How each column is encoded.
    dropped_ : dict
        The columns left out, and why.
    constants_ : dict
        Those of them with the same value in all labelled rows, and that value.
    notices_ : list of str
        What a user should know about the labelled rows.
    feature_names_in_ : ndarray of str
        The columns that new rows must have.
    n_features_in_ : int
        How many.

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

    def __init__(
        self,
        label: str | None = None,
        keep: Sequence[str] = (),
        drop: Sequence[str] = (),
        rare_below: int = 5,
        most_categories: int = 100,
    ) -> None:
        self.label = label
        self.keep = keep
        self.drop = drop
        self.rare_below = rare_below
        self.most_categories = most_categories

    def fit(self, X: Any, y: Any = None) -> Columns:
        """Learn the rules from labelled rows.

        Parameters
        ----------
        X : pyarrow, pandas or polars table
            The labelled rows; the label may be among its columns.
        y : ignored
            For scikit-learn.

        Returns
        -------
        Columns
            Itself.

        Raises
        ------
        ValueError
            When no column can be used, or a parameter is wrong.
        """
        table = as_table(X)
        self._check_parameters(table)
        self.rules_: list[Rule] = []
        self.dropped_: dict[str, str] = {}
        self.constants_: dict[str, float | str] = {}
        for name in table.column_names:
            if name != self.label:
                self._learn(name, table[name])
        if not self.rules_:
            reasons = [f"{name!r} {reason}" for name, reason in self.dropped_.items()]
            raise ValueError(
                f"TRAIN must have a column to use; {'; '.join(reasons) or 'got none'}."
            )
        self.rules_ = in_given_units(self.rules_)
        self.feature_names_in_ = np.array([rule["name"] for rule in self.rules_], dtype=object)
        self.n_features_in_ = len(self.rules_)
        self.notices_ = self._notices_of_train()
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Encode rows by the learned rules.

        Parameters
        ----------
        X : pyarrow, pandas or polars table
            Rows with the columns of the labelled rows; others are ignored.

        Returns
        -------
        ndarray of shape (n_rows, n_columns_out)

        Raises
        ------
        ValueError
            When a column is absent, or holds text where the labelled rows have numbers.
        """
        check_is_fitted(self, "rules_")
        table = as_table(X)
        self._check_present(table)
        return np.column_stack([encode(rule, table[rule["name"]]) for rule in self.rules_])

    def typed(self, X: Any) -> Table:
        """The same table, with numbers where a number column came as text, as from csv.

        Parameters
        ----------
        X : pyarrow, pandas or polars table
            Rows with the columns of the labelled rows.

        Returns
        -------
        pyarrow.Table
            What is missing or infinite there is null.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from unseen.tables import Columns
        >>> columns = Columns().fit(pa.table({"size": ["1", "2", "4"] * 4}))
        >>> columns.typed(pa.table({"id": ["007"], "size": ["3"]})).to_pylist()
        [{'id': '007', 'size': 3.0}]
        """
        check_is_fitted(self, "rules_")
        table = as_table(X)
        for rule in self.rules_:
            column = table[rule["name"]]
            if "median" in rule and is_text(plain(column).type):
                found = arrow().array(numbers(column), from_pandas=True)
                place = table.column_names.index(rule["name"])
                table = table.set_column(place, rule["name"], found)
        return table

    def check(self, X: Any) -> list[str]:
        """Hold new rows against the labelled ones, and say what a user should know.

        Give it a sample of all new rows, not one batch of many.

        Parameters
        ----------
        X : pyarrow, pandas or polars table
            The new rows.

        Returns
        -------
        list of str
            Notices: columns ignored, and columns that were constant in training.

        Raises
        ------
        ValueError
            As :meth:`transform`.
        """
        check_is_fitted(self, "rules_")
        table = as_table(X)
        self._check_present(table)
        return [*self._notices_of_extra(table), *self._notices_of_constants(table)]

    def departures(self, X: Any) -> list[Departure]:
        """Columns in which new rows have what labelled ones lack: gaps, or new categories.

        Parameters
        ----------
        X : pyarrow, pandas or polars table
            A sample of the new rows.

        Returns
        -------
        list of Departure

        Raises
        ------
        ValueError
            As :meth:`transform`; also when a column that training knows is missing throughout.
        """
        check_is_fitted(self, "rules_")
        table = as_table(X)
        self._check_present(table)
        return [one for rule in self.rules_ for one in _departures(rule, table[rule["name"]])]

    def statement(self) -> list[str]:
        """What was done to the columns, in plain sentences.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from unseen.tables import Columns
        >>> for sentence in Columns().fit(pa.table({"size": [1.0, 2.0, 4.0]})).statement():
        ...     print(sentence)
        1 number column: centred, and divided by its standard deviation in the labelled rows.
        Missing, infinite and huge (over 1e+100) numbers are replaced by the median.
        """
        check_is_fitted(self, "rules_")
        n_categories = sum("categories" in rule for rule in self.rules_)
        n_numbers = sum("median" in rule and rule["scale"] > 0 for rule in self.rules_)
        flagged = [rule["name"] for rule in self.rules_ if rule["was_missing"]]
        return [
            *(_statement_of_numbers(n_numbers) if n_numbers else []),
            *(self._statement_of_categories(n_categories) if n_categories else []),
            *(_statement_of_missing(flagged) if flagged else []),
            *self.notices_,
        ]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the encoded columns, such as ``size`` and ``colour=red``."""
        check_is_fitted(self, "rules_")
        names = [name for rule in self.rules_ for name in feature_names(rule)]
        return np.array(names, dtype=object)

    def _check_parameters(self, table: Table) -> None:
        for argument in ("rare_below", "most_categories"):
            if getattr(self, argument) < 1:
                raise ValueError(f"{argument} must be at least 1; got {getattr(self, argument)}.")
        for argument in ("keep", "drop"):
            names = getattr(self, argument)
            if isinstance(names, str):
                raise ValueError(f"{argument} must be a list of names; got {names!r}.")
            absent = _absent(names, table)
            if absent:
                raise ValueError(
                    f"{argument} must name columns of TRAIN; not there: {_quoted(absent)}."
                )
        barred = [name for name in self.keep if name in {*self.drop, self.label}]
        if barred:
            raise ValueError(
                f"keep must name neither the label nor columns to drop; got {_quoted(barred)}."
            )
        if not table.num_rows:
            raise ValueError("TRAIN must have rows; got none.")

    def _learn(self, name: str, column: Array) -> None:
        keep = name in set(self.keep)
        if name in set(self.drop):
            self.dropped_[name] = "is left out as asked"
            return
        try:
            rule = learn_rule(
                name,
                column,
                rare_below=self.rare_below,
                most_categories=self.most_categories,
                keep=keep,
            )
        except Dropped as reason:
            if keep:
                raise ValueError(f"keep must name columns of use; {name!r} {reason}.") from None
            self.dropped_[name] = str(reason)
            if isinstance(reason, Constant):
                self.constants_[name] = reason.value
        else:
            self.rules_.append(rule)

    def _check_present(self, table: Table) -> None:
        absent = _absent(self.feature_names_in_, table)
        if absent:
            raise ValueError(
                f"columns of NEW must include those of TRAIN; missing: {_quoted(absent)}."
            )

    def _notices_of_train(self) -> list[str]:
        by_reason: dict[str, list[str]] = {}
        for name, reason in self.dropped_.items():
            by_reason.setdefault(reason, []).append(name)
        notices = [f"Not used: {_quoted(names)} ({reason})." for reason, names in by_reason.items()]
        like_ids = [name for name in self.feature_names_in_ if is_named_like_id(name)]
        like_ids = [name for name in like_ids if name not in set(self.keep)]
        if like_ids:
            notices.append(
                f"Used, though named like an id: {_quoted(like_ids)}. Drop it if it is one."
            )
        return notices

    def _notices_of_extra(self, table: Table) -> list[str]:
        known = {*self.feature_names_in_, *self.dropped_, self.label}
        extra = [name for name in table.column_names if name not in known]
        notices = [f"Ignored, as only NEW has them: {_quoted(extra)}."] if extra else []
        if self.label is not None and self.label in table.column_names:
            notices.append(f"Ignored: the label {self.label!r}, which NEW has too.")
        return notices

    def _notices_of_constants(self, table: Table) -> list[str]:
        there = set(table.column_names)
        varying = [
            name
            for name, value in self.constants_.items()
            if name in there and _departs(table[name], value)
        ]
        if not varying:
            return []
        return [
            f"Not used, but may matter: {_quoted(varying)} has one value in TRAIN, others in NEW."
        ]

    def _statement_of_categories(self, n_categories: int) -> list[str]:
        plural = "column" if n_categories == 1 else "columns"
        return [
            f"{n_categories} text {plural}: one 0/1 column a category, scaled so that two rows "
            "which differ in it are as far apart as one standard deviation of a middling number. A "
            "scorer that gives each column the same spread, as the default does, weighs a rare "
            "category more.",
            f"Categories with fewer than {self.rare_below} labelled rows, or beyond the "
            f"{self.most_categories} most common, share a column. Those that the labelled rows "
            "never show have one of their own.",
        ]


def _statement_of_numbers(n_numbers: int) -> list[str]:
    one = "1 number column: centred, and divided by its standard deviation in the labelled rows."
    more = (
        f"{n_numbers} number columns: centred, and all divided by one number, the root mean square "
        "of their standard deviations in the labelled rows, so that their units stay as given."
    )
    return [
        one if n_numbers == 1 else more,
        f"Missing, infinite and huge (over {LARGEST:g}) numbers are replaced by the median.",
    ]


def _statement_of_missing(names: list[str]) -> list[str]:
    return [f"Whether a value is missing has a 0/1 column for {_quoted(names)}."]


def _departures(rule: Rule, column: Array) -> list[Departure]:
    encoded = encode(rule, column)
    name = rule["name"]
    is_text = "categories" in rule
    missing = words(column).is_null().to_numpy() if is_text else np.isnan(numbers(column))
    if missing.all():
        raise ValueError(
            f"column {name!r} must have values in NEW as it has in TRAIN; it has none."
        )
    found = []
    if missing.any() and not rule["was_missing"]:
        filler = "the most common category" if is_text else "the median"
        message = (
            f"Column {name!r} is missing in {missing.mean():.1%} of the new rows and in none of "
            f"the labelled ones; they get {filler}."
        )
        found.append(Departure(float(missing.mean()), message))
    if is_text and encoded[:, -1].any():
        never_seen = encoded[:, -1] > 0
        first = words(column)[int(never_seen.argmax())].as_py()
        message = (
            f"Column {name!r} holds a category that the labelled rows never show in "
            f"{never_seen.mean():.1%} of the new rows, such as {first!r}."
        )
        found.append(Departure(float(never_seen.mean()), message))
    return found


def _absent(names: Iterable[str], table: Table) -> list[str]:
    there = set(table.column_names)
    return [name for name in names if name not in there]


def _departs(column: Array, value: float | str) -> bool:
    """Whether a column that was constant has any other value, or none."""
    if isinstance(value, str):
        return words(column).unique().to_pylist() != [value]
    try:
        return bool((numbers(column) != value).any())
    except NotANumber:
        return True
