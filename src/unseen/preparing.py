"""Tables that hold text, dates or gaps: made numbers, and named in notices as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen._types import FloatArray, IntArray
from unseen._wording import check_named_once
from unseen.full import row_pieces
from unseen.records import Notice
from unseen.samples.checks import check_rows, column_names
from unseen.samples.oddities import sentinel_notices
from unseen.tables.columns import Columns
from unseen.tables.values import BadCell

_OPTIONS = (
    "Text, dates or gaps are prepared by unseen.tables.Columns; an option such as --text is its "
    "parameter of that name."
)


class NamedRows:
    """Numbers whose columns have names: a table to estimators, and no copy of the numbers."""

    def __init__(self, X: FloatArray, column_names: list[str]) -> None:
        self.X, self.column_names, self.shape = X, column_names, X.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        return np.array(self.X, dtype=dtype, copy=True) if copy else np.asarray(self.X, dtype)

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, places: Any) -> FloatArray:
        return self.X[places]


@dataclass(frozen=True)
class Prepared:
    """Samples as estimators want them, with notices on their tables.

    ``columns`` made numbers of tables; it is None where the samples are as they were given.
    """

    X: Any
    X_new: Any
    control: Any = None
    columns: Columns | None = None
    notices: tuple[Notice, ...] = ()

    def told(self, notices: tuple[Notice, ...]) -> tuple[Notice, ...]:
        """Notices on the tables, then those of an estimate, in the units of the tables."""
        if self.columns is None:
            return notices
        return (*self.notices, *in_units(notices, self.columns, self.X, self.X_new))


def prepare(
    X: Any,
    X_new: Any,
    control: Any = None,
    *,
    every: Any = None,
    places: Mapping[str, IntArray] | None = None,
) -> Prepared:
    """The samples, as numbers where any holds text, dates or gaps; ``every`` new row has a say.

    ``places`` are those of rows that were drawn of a sample, by its name, for errors.
    """
    whole = X_new if every is None else every
    samples = {"X": X, "X_new": whole, "control": control}
    if not _need_columns(samples):
        return Prepared(X, X_new, control)
    columns = Columns()
    try:
        name = "X"
        rows = columns.fit_transform(X)
        name = "X_new"
        new, notices = columns.transform_new(X_new)
        name = "control"
        beside = None if control is None else _named(columns, columns.transform(control))
    except BadCell as error:
        drawn = (places or {}).get(name)
        raise error.of(name, error.place if drawn is None else int(drawn[error.place])) from None
    said = [*columns.notices_, *notices]
    said += [Notice("prepared", _OPTIONS, "note")] if said else []
    both = _named(columns, rows), _named(columns, new)
    return Prepared(*both, beside, columns, tuple(said))


def _named(columns: Columns, X: FloatArray) -> NamedRows:
    return NamedRows(X, columns.get_feature_names_out().tolist())


def _need_columns(samples: dict[str, Any]) -> bool:
    """Whether any sample holds text, dates or gaps; then all must be tables with names."""
    for name, sample in samples.items():
        check_named_once(name, column_names(sample) or ())
    asking = [name for name, sample in samples.items() if _needs_columns(sample)]
    for name, sample in samples.items():
        if asking and sample is not None and column_names(sample) is None:
            raise TypeError(
                f"{name} must be a table with named columns, as {asking[0]} holds text, dates or "
                f"gaps; got {type(sample).__name__}."
            )
    return bool(asking)


def _needs_columns(X: Any) -> bool:
    """Whether a sample is a table with names that holds more than finite numbers."""
    if X is None or column_names(X) is None:
        return False
    try:
        for rows in row_pieces(X):
            check_rows(rows, "X")
    except (TypeError, ValueError):
        return True
    return False


def without_constants(notices: Iterable[Notice]) -> tuple[Notice, ...]:
    """The notices, but for the one on constant columns: notices on the tables name these."""
    return tuple(notice for notice in notices if notice.code != "constant_columns")


def in_units(
    notices: Iterable[Notice], columns: Columns, X: Any, X_new: Any, advice: str | None = None
) -> tuple[Notice, ...]:
    """Notices of an estimate, where numbers for missing values stand as in the table."""
    found = without_constants(notices)
    others = tuple(one for one in found if one.code != "sentinel_values")
    if len(others) == len(found):
        return found
    names, known = columns.in_units(np.asarray(X))
    _, new = columns.in_units(np.asarray(X_new))
    spoken = {} if advice is None else {"advice": advice}
    return (*others, *sentinel_notices(known, new, names, **spoken)) if names else others
