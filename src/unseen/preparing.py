"""What a user has, made into numbers: tables with text, dates or gaps, and given scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unseen._types import BoolArray, FloatArray, IntArray
from unseen._wording import check_named_once, quoted
from unseen.full import row_pieces
from unseen.records import Notice
from unseen.samples.checks import check_rows, column_names
from unseen.samples.oddities import sentinel_notices
from unseen.simplex import check_one_kind, part_of_probabilities, score_features
from unseen.tables.columns import Columns
from unseen.tables.gaps import Gaps
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
    random_state: Any = None,
    windows: Sequence[IntArray] | None = None,
) -> Prepared:
    """The samples, as numbers where any holds text, dates or gaps; ``every`` new row has a say.

    ``places`` are those of rows that were drawn of a sample, by its name, for errors. Gaps that one
    sample has more often are taken over by the others (:mod:`unseen.tables.gaps`), and by every one
    of the ``windows`` of new rows.
    """
    samples = {"X": X, "X_new": X_new if every is None else every, "control": control}
    names = {name: column_names(sample) for name, sample in samples.items()}
    for name, found in names.items():
        check_named_once(name, found or ())
    asking = []
    for name in [name for name, found in names.items() if found is not None]:
        try:
            for rows in row_pieces(samples[name]):
                check_rows(rows, "X")
        except (TypeError, ValueError):
            asking.append(name)
    if not asking:
        return Prepared(X, X_new, control)
    for name, sample in samples.items():
        if sample is not None and names[name] is None:
            raise TypeError(
                f"{name} must be a table with named columns, as {asking[0]} holds text, dates or "
                f"gaps; got {type(sample).__name__}."
            )
    prepared, gaps = _encoded(X, X_new, control, places or {})
    # Where every row counts, new rows stay as they are.
    return _with_shared_gaps(prepared, *gaps, random_state, windows, both=every is None)


def _with_shared_gaps(
    prepared: Prepared,
    gaps_new: BoolArray,
    gaps_of_control: BoolArray | None,
    random_state: Any,
    windows: Sequence[IntArray] | None,
    both: bool,
) -> Prepared:
    """The samples, where each takes over gaps that another has more often."""
    columns, numbers = prepared.columns, prepared.X_new.X
    assert columns is not None
    sharing = Gaps(columns, prepared.X.X, random_state)
    if windows is None:
        numbers = sharing.shared_with(numbers, gaps_new, both)
    else:
        numbers = sharing.shared_with_windows(numbers, gaps_new, windows)
    if not sharing.taken:
        return prepared
    names, beside = prepared.X.column_names, None
    if gaps_of_control is not None:
        beside = sharing.taken_over_by(prepared.control.X, gaps_of_control)
    return replace(
        prepared,
        X=NamedRows(sharing.X, names),
        X_new=NamedRows(numbers, names),
        control=None if beside is None else NamedRows(beside, names),
        notices=(*prepared.notices, *sharing.notices),
    )


def _encoded(
    X: Any, X_new: Any, control: Any, places: Mapping[str, IntArray]
) -> tuple[Prepared, tuple[BoolArray, BoolArray | None]]:
    """Tables as numbers, by the columns of the labelled one, and gaps of new rows and control."""
    columns = Columns()
    try:
        name = "X"
        rows = columns.fit_transform(X)
        name = "X_new"
        new, notices, gaps = columns.transform_and_look(X_new)
        name = "control"
        beside, _, gaps_beside = (
            (None, (), None) if control is None else columns.transform_and_look(control)
        )
    except BadCell as error:
        drawn = places.get(name)
        raise error.of(name, error.place if drawn is None else int(drawn[error.place])) from None
    said = [*columns.notices_, *notices]
    said += [Notice("prepared", _OPTIONS, "note")] if said else []
    names = columns.get_feature_names_out().tolist()
    named = None if beside is None else NamedRows(beside, names)
    both = NamedRows(rows, names), NamedRows(new, names)
    return Prepared(*both, named, columns, tuple(said)), (gaps, gaps_beside)


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


def scores_as_features(
    scores: ArrayLike,
    scores_new: ArrayLike,
    novelty: ArrayLike | None = None,
    novelty_new: ArrayLike | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Features of labelled and of new rows; novelty is scaled to the spread of the scores."""
    rows, rows_new = check_rows(scores, "scores"), check_rows(scores_new, "scores_new")
    if rows.shape[1] != rows_new.shape[1] or rows.shape[1] < 2:
        raise ValueError(
            "scores and scores_new must have as many columns, at least two; "
            f"got {rows.shape[1]} and {rows_new.shape[1]}."
        )
    names, new_names = column_names(scores), column_names(scores_new)
    if names and new_names and names != new_names:
        raise ValueError(
            "scores_new must have the columns of scores in the same order; "
            f"got {quoted(new_names)} where scores has {quoted(names)}."
        )
    if (novelty is None) != (novelty_new is None):
        raise ValueError("novelty and novelty_new must be given both, or neither.")
    part, part_new = part_of_probabilities(rows), part_of_probabilities(rows_new)
    check_one_kind(part, part_new, "scores", "scores_new")
    # A few odd rows among the new ones must not be read otherwise than the labelled rows are.
    X, X_new = (score_features(one, are_probabilities=part == 1) for one in (rows, rows_new))
    if novelty is None:
        return X, X_new
    own = _one_each(novelty, "novelty", len(X))
    new = _one_each(novelty_new, "novelty_new", len(X_new))
    unit = np.sqrt(X.var(axis=0).mean()) / (own.std() or 1.0)
    return np.column_stack([X, own * unit]), np.column_stack([X_new, new * unit])


def _one_each(values: Any, name: str, n_rows: int) -> FloatArray:
    found = np.asarray(values, dtype=np.float64)
    if found.shape != (n_rows,):
        raise ValueError(f"{name} must be one number for each of {n_rows} rows; got {found.shape}.")
    if not np.isfinite(found).all():
        raise ValueError(f"{name} must be finite; {np.sum(~np.isfinite(found))} values are not.")
    return found
