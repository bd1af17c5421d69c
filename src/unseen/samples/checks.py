"""Every check of what a user hands in, and the sentence they get when it fails.

An error names the argument, the rule and the value. Oddities that may be meant become plain
sentences in the record; only likely copies of rows also raise a Python warning.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Hashable, Iterable
from datetime import date, timedelta
from pathlib import Path
from traceback import walk_stack
from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.sparsefuncs import min_max_axis
from sklearn.utils.validation import validate_data

from unseen._types import BoolArray, FloatArray
from unseen._wording import check_named_once, listed, quoted
from unseen.records import Notice, UnseenWarning
from unseen.samples.copies import copy_notices
from unseen.samples.draws import enough_places
from unseen.samples.labelled import LabelledRows, check_labels, on_host
from unseen.samples.oddities import label_notices, sentinel_notices

__all__ = [
    "check_again",
    "check_closed_set",
    "check_fold_rows",
    "check_folds",
    "check_labelled",
    "check_n_classes",
    "check_new",
    "check_rows",
    "check_sample",
    "sample_notices",
    "warn",
]

# A dense array or a CSR matrix; scipy's sparse types differ too much to be named here.
Rows: TypeAlias = Any

_ROW_CHECKS: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32],
    # Sums run in the order of memory: columns first, as in a pandas table, would round otherwise.
    "order": "C",
    "ensure_all_finite": False,
}
_NAMED_AT_MOST = 5
# Squares of larger numbers overflow, and squares of smaller differences vanish.
_LARGEST, _SMALLEST = 1e100, 1e-100
_PACKAGE = str(Path(__file__).parents[1])


class _Called(NamedTuple):
    """What the user calls the two samples: X and X_new, or H and F."""

    known: str
    new: str


def check_rows(X: Any, name: str, columns: Iterable[str] | None = None) -> Rows:
    """One sample as a 2-d array of finite numbers (or CSR), or what is wrong with it.

    Examples
    --------
    >>> check_rows([[0.0], [float("nan")]], "F")
    Traceback (most recent call last):
        ...
    ValueError: F must be finite; got 1 NaN or infinite values, the first in row 1, column 0. ...
    """
    check_named_once(name, _columns(X))
    try:
        shape = np.shape(X)
    except ValueError as error:
        raise ValueError(f"{name} must have rows of one length; {error}") from error
    if len(shape) != 2:
        kind = type(X).__name__
        # The last words are what scikit-learn's own checks of a classifier look for.
        raise ValueError(
            f"{name} must be 2-d (rows, columns); got {kind} of shape {shape}. Reshape your data."
        )
    if shape[0] == 0:
        raise ValueError(f"{name} must hold at least one row; got n_samples=0.")
    if shape[1] == 0:
        # The second half is what scikit-learn's own checks of an estimator look for.
        raise ValueError(
            f"{name} has 0 feature(s) (shape={shape}) while a minimum of 1 is required."
        )
    try:
        if sparse.issparse(X):
            _check_indices(X)
        elif _holds_dates(X):
            raise TypeError("got dates or times")
        rows = check_array(X, input_name=name, **_ROW_CHECKS)
    except (TypeError, ValueError, OverflowError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise (TypeError if isinstance(error, TypeError) else ValueError)(
            f"{name} must hold numbers; {reason}. Encode text and dates first, for example with "
            "unseen.tables.Columns or OneHotEncoder."
        ) from error
    _check_sizes(rows, name, columns)
    return rows


def check_again(estimator: Any, X: Any) -> Rows:
    """Rows for a fitted estimator, with the columns that it was fitted to."""
    X = on_host(X, "X")
    rows = check_rows(X, "X", column_names(X))
    validate_data(estimator, X, reset=False, skip_check_array=True)
    return rows


def check_sample(estimator: Any, X: Any, name: str = "X") -> LabelledRows:
    """Check a sample without labels as given to ``fit``; notes the columns on the estimator."""
    X = on_host(X, name)
    names = column_names(X)
    rows = check_rows(X, name, names)
    if rows.shape[0] < 2:
        raise ValueError(f"{name} must hold at least 2 rows; got n_samples={rows.shape[0]}.")
    validate_data(estimator, X, skip_check_array=True)
    codes = np.zeros(rows.shape[0], dtype=np.intp)
    return LabelledRows(rows, np.array([]), codes, None if names is None else tuple(names))


def check_labelled(estimator: Any, X: Any, y: Any) -> LabelledRows:
    """Check X and y as given to ``fit``; notes the columns on the estimator.

    Raises
    ------
    ValueError
        When X is empty, has NaN or infinite values or text, or when y is missing, has
        another length, has missing labels, or holds measurements instead of labels.
    TypeError
        When X holds dates, or the labels are of kinds that cannot be sorted together.
    """
    sample = check_sample(estimator, X)
    if y is None:
        name = type(estimator).__name__
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    classes, codes = check_labels(y, sample.rows.shape[0])
    return LabelledRows(sample.rows, classes, codes, sample.names)


def check_new(labelled: LabelledRows, X_new: Any, name: str = "X_new", known: str = "X") -> Rows:
    """Check new rows against the columns and labels of the labelled ones.

    Parameters
    ----------
    labelled : LabelledRows
        The labelled sample.
    X_new : array-like of shape (m, d)
        The sample to check.
    name, known : str
        The user's names of this sample and of the labelled one.

    Raises
    ------
    ValueError
        When X_new holds labels, lacks or adds columns, is empty, or is not finite numbers.
    """
    X_new = on_host(X_new, name)
    called, width = _Called(known, name), labelled.rows.shape[1]
    names = column_names(X_new)
    if labelled.names is not None and names is not None and names != list(labelled.names):
        _raise_other_names(list(labelled.names), names, X_new, labelled.classes, called)
    if getattr(X_new, "ndim", 2) == 1 or (isinstance(X_new, list) and np.ndim(X_new[:1]) == 1):
        _raise_one_dimension(X_new, width, labelled.classes, called)
    rows = check_rows(X_new, name, labelled.names)
    if rows.shape[1] != width:
        _raise_other_width(rows, width, labelled.classes, called)
    if sparse.issparse(rows) == sparse.issparse(labelled.rows):
        return rows
    return sparse.csr_array(rows) if sparse.issparse(labelled.rows) else rows.toarray()


def check_closed_set(classes: NDArray[Any]) -> None:
    """A closed-set method shares everything out, so one class would always get it all.

    Examples
    --------
    >>> check_closed_set(np.array(["cat"]))
    Traceback (most recent call last):
        ...
    ValueError: y must hold at least 2 classes for a closed-set method; got only 'cat'. ...
    """
    if len(classes) < 2:
        raise ValueError(
            "y must hold at least 2 classes for a closed-set method; got only "
            f"{quoted(classes)}. With one known class use an open-set method "
            "such as MPEIncomplete."
        )


def check_n_classes(method: str, classes: Any, limits: tuple[int, int | None]) -> None:
    """Raise where a method cannot work with so few, or so many, known classes."""
    fewest, most = limits
    if most is not None and not fewest <= len(classes) <= most:
        raise ValueError(
            f"y must hold exactly {most} classes for {method}; got {len(classes)}. "
            "With more classes use MPEJoint or MPEIncomplete."
        )
    if len(classes) < fewest:
        check_closed_set(np.asarray(classes))


def check_folds(sample: LabelledRows, n_folds: int) -> None:
    """Every fold must hold a row of each class."""
    counts = np.bincount(sample.codes, minlength=len(sample.classes))
    few = np.flatnonzero(counts < n_folds)
    if few.size:
        named = few[:_NAMED_AT_MOST]
        short = ", ".join(f"{quoted([sample.classes[i]])} has {counts[i]}" for i in named)
        short += f" and {few.size - named.size} more have too few" * (few.size > named.size)
        raise ValueError(
            f"each class must have at least n_folds={n_folds} rows, so that every fold holds "
            f"one; {short}. Lower n_folds of the estimator, add rows, or leave the class out of "
            "X and y."
        )


def check_fold_rows(n_rows: int, name: str, n_folds: int) -> None:
    """Every fold must hold a row of the sample."""
    if n_rows < n_folds:
        raise ValueError(
            f"{name} must have at least n_folds={n_folds} rows, so that every fold holds one; "
            f"got {n_rows}. Lower n_folds of the estimator or add rows."
        )


def sample_notices(
    labelled: LabelledRows, rows: Rows, given: Any = None, name: str = "X_new", known: str = "X"
) -> tuple[Notice, ...]:
    """Facts that a person should know about two samples that passed every check.

    Parameters
    ----------
    labelled : LabelledRows
        The labelled sample.
    rows : array or CSR matrix
        The checked new rows.
    given : object
        The new rows as the user gave them, to see whether they had column names.
    name, known : str
        The user's names of the new rows and of the labelled ones.

    Raises
    ------
    ValueError
        When every feature is constant, so that nothing tells the classes apart.

    Warns
    -----
    UnseenWarning
        When rows of one sample are found again in the other, or a sample looks oversampled.
    """
    found = []
    if labelled.names is not None and given is not None and column_names(given) is None:
        text = f"{known} has column names and {name} has none: columns were matched by their order."
        found.append(Notice("names_on_one_side", text))
    copies = copy_notices(labelled.rows, rows, known, name)
    for notice in copies:
        warn(notice.text)
    n_columns = rows.shape[1]
    spread = _spread(*(one[enough_places(one.shape[0])] for one in (labelled.rows, rows)))
    if (spread < _SMALLEST).any():
        spread = _spread(labelled.rows, rows)
    constant = np.flatnonzero(spread < _SMALLEST)
    if constant.size == n_columns:
        tiny = f" or vary by less than {_SMALLEST:g}" if spread.any() else ""
        raise ValueError(
            f"{known} and {name} must vary in at least one feature; "
            f"got {n_columns} that are all constant{tiny}, so nothing tells the classes apart."
        )
    if constant.size:
        columns = listed([_column_label(int(column), labelled.names) for column in constant])
        text = (
            f"{constant.size} of {n_columns} features are constant over {known} and {name} and "
            f"carry nothing: {columns}."
        )
        found.append(Notice("constant_columns", text))
    found += label_notices(labelled.classes)
    found += sentinel_notices(labelled.rows, rows, labelled.names)
    return (*found, *copies)


def _spread(X: Rows, X_new: Rows) -> FloatArray:
    """Width of each feature over both samples.

    A feature may be constant in X and still give away an unseen class in X_new.
    """
    (low, high), (new_low, new_high) = (
        min_max_axis(one, axis=0) if sparse.issparse(one) else (one.min(axis=0), one.max(axis=0))
        for one in (X, X_new)
    )
    return np.asarray(np.maximum(high, new_high) - np.minimum(low, new_low))


def column_names(X: Any) -> list[str] | None:
    """Column names of a pandas, polars or pyarrow table; None where there are none."""
    columns = _columns(X)
    return columns if columns and all(isinstance(column, str) for column in columns) else None


def _columns(X: Any) -> list[Any]:
    """What a table calls its columns: names, or other keys of pandas."""
    if hasattr(X, "collect"):  # a table that is not in memory would be asked to make one
        return []
    columns = getattr(X, "column_names", None)
    columns = getattr(X, "columns", None) if columns is None else columns
    return [] if columns is None else list(columns)


def _holds_dates(X: Any) -> bool:
    """NumPy would turn dates into huge numbers without a word; the first row tells.

    Of polars the types tell: its first row comes as numbers already.
    """
    if any(getattr(kind, "is_temporal", bool)() for kind in getattr(X, "dtypes", ())):
        return True
    first = X[:1] if hasattr(X, "__getitem__") else X
    values = np.asarray(first)
    if values.dtype.kind == "O":
        return any(isinstance(value, date | timedelta) for value in values.flat)
    return values.dtype.kind in "mM"


def _check_indices(X: Any) -> None:
    """Compiled code follows the indices of a sparse matrix wherever they point."""
    if X.format == "coo":
        X = sparse.coo_array((X.data, (X.row, X.col)), shape=X.shape)
    if X.format in ("lil", "dok"):
        X = X.tocoo()
    if hasattr(X, "check_format"):
        X.check_format(full_check=True)


def _check_sizes(rows: Rows, name: str, names: Iterable[str] | None = None) -> None:
    """Raise where a value is NaN, infinite, or too large for its square."""
    is_sparse = sparse.issparse(rows)
    values = rows.data if is_sparse else rows
    # Where all is well one pass over the values is enough, or two where numbers are large.
    with np.errstate(all="ignore"):
        # In single precision the limit itself would be infinite.
        if float(values.ravel() @ values.ravel()) <= _LARGEST:
            return
    if max(float(values.max(initial=0.0)), -float(values.min(initial=0.0))) <= _LARGEST:
        return
    finite = np.isfinite(values)
    if not finite.all():
        raise ValueError(
            f"{name} must be finite; got {int((~finite).sum())} NaN or infinite values, the first "
            f"in {_first_place(rows, ~finite, names)}. Fill them in or drop those rows."
        )
    huge = np.abs(values) > _LARGEST
    raise ValueError(
        f"{name} must hold numbers of at most {_LARGEST:g}, so that squares stay finite; got "
        f"{values[huge][0]:g} in {_first_place(rows, huge, names)}."
    )


def _first_place(rows: Rows, wrong: BoolArray, names: Iterable[str] | None) -> str:
    is_sparse = sparse.issparse(rows)
    if is_sparse:
        place = int(np.flatnonzero(wrong)[0])
        row, column = np.searchsorted(rows.indptr, place, side="right") - 1, rows.indices[place]
    else:
        row, column = np.argwhere(wrong)[0]
    return f"row {row}, {_column_label(int(column), names)}"


def _raise_other_names(
    names: list[str], new: list[str], X_new: Any, classes: NDArray[Any], called: _Called
) -> NoReturn:
    lacks = [name for name in names if name not in new]
    extra = [name for name in new if name not in names]
    labels = [name for name in extra if _holds_labels(X_new[name], classes)]
    if labels and not lacks:
        raise ValueError(
            f"{called.new} must hold features only; its extra column {quoted(labels)} holds class "
            "labels. Drop it."
        )
    rule = f"{called.new} must have the columns of {called.known}"
    if lacks or extra:
        found = [f"it lacks {quoted(lacks)}"] if lacks else []
        found += [f"it adds {quoted(extra)}"] if extra else []
        raise ValueError(f"{rule}; {' and '.join(found)}.")
    raise ValueError(
        f"{rule} in the same order; got {quoted(new)} where {called.known} has {quoted(names)}."
    )


def _raise_one_dimension(
    X_new: Any, width: int, classes: NDArray[Any], called: _Called
) -> NoReturn:
    new, n_values = called.new, len(X_new)
    rule = f"{new} must be 2-d with the {width} columns of {called.known}; got {n_values} values"
    if n_values and _holds_labels(X_new, classes):
        raise ValueError(
            f"{rule} in 1-d, all of them class labels. {new} takes features, not labels."
        )
    raise ValueError(f"{rule} in 1-d.")


def _raise_other_width(rows: Rows, width: int, classes: NDArray[Any], called: _Called) -> NoReturn:
    new_width = rows.shape[1]
    message = f"{called.new} must have the {width} columns of {called.known}; got {new_width}."
    if new_width == width + 1 and not sparse.issparse(rows):
        ends = {"last": rows[:, -1], "first": rows[:, 0]}
        labels = [end for end, column in ends.items() if _holds_labels(column, classes)]
        if labels:
            message += f" Its {labels[0]} column holds class labels: drop it."
    raise ValueError(message)


def _holds_labels(column: Any, classes: NDArray[Any]) -> bool:
    """Whether every value of a column is the label of a known class."""
    known = set(classes.tolist())
    values = np.asarray(column).tolist()
    return all(isinstance(value, Hashable) and value in known for value in values)


def warn(message: str) -> None:
    """Warn at the line that called this library."""
    levels = enumerate(walk_stack(sys._getframe()), start=1)
    level = next(
        (n for n, (frame, _) in levels if not frame.f_code.co_filename.startswith(_PACKAGE)), 1
    )
    warnings.warn(message, UnseenWarning, stacklevel=level)


def _column_label(column: int, names: Iterable[str] | None) -> str:
    return f"column {column}" if names is None else f"column {list(names)[column]!r}"
