"""Every check of what a user hands in, and the sentence they get when it fails.

An error names the argument, the rule and the value. What is odd but may be meant becomes a
plain sentence in the record; only a likely leak also raises a Python warning.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.sparsefuncs import min_max_axis
from sklearn.utils.validation import validate_data

from unseen.base import BoolArray, IntArray, UnseenWarning

__all__ = [
    "LabelledRows",
    "check_closed_set",
    "check_folds",
    "check_labelled",
    "check_unlabelled",
    "remarks",
]

# A dense array or a CSR matrix; scipy's sparse types differ too much to be named here.
Rows: TypeAlias = Any

_ROW_CHECKS: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32],
    "ensure_all_finite": False,
    "ensure_min_samples": 0,
}
_NAMED_AT_MOST = 5
_BLOCK_ROWS = 4096


class LabelledRows(NamedTuple):
    """The labelled sample, checked: rows, distinct labels, and each row's place among them."""

    rows: Rows
    classes: NDArray[Any]
    codes: IntArray


def check_labelled(estimator: Any, X: Any, y: Any) -> LabelledRows:
    """Check X and y as given to ``fit``; notes the columns on the estimator.

    Raises
    ------
    ValueError
        When X is empty, has NaN or infinite values or text, or when y is missing, has
        another length, has missing labels, or holds measurements instead of labels.
    TypeError
        When the labels are of kinds that cannot be sorted together.
    """
    rows = _numeric_rows(
        lambda data: validate_data(estimator, data, **_ROW_CHECKS), _on_host(X), "X"
    )
    if rows.shape[0] < 2:
        raise ValueError(f"X must hold at least 2 rows; got n_samples={rows.shape[0]}.")
    _check_finite(rows, "X", getattr(estimator, "feature_names_in_", None))
    if y is None:
        name = type(estimator).__name__
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    classes, codes = _check_labels(y, rows.shape[0])
    return LabelledRows(rows, classes, codes)


def check_unlabelled(estimator: Any, X_new: Any) -> Rows:
    """Check X_new against the columns and labels that a fitted estimator has noted.

    Raises
    ------
    ValueError
        When X_new holds labels, lacks or adds columns, is empty, or is not finite numbers.
    """
    X_new = _on_host(X_new)
    names = getattr(estimator, "feature_names_in_", None)
    new_names = column_names(X_new)
    if names is not None and new_names is not None:
        _check_same_names(list(names), new_names, X_new, estimator.classes_)
    _check_not_labels(X_new, estimator)
    rows = _numeric_rows(
        lambda data: check_array(data, input_name="X_new", **_ROW_CHECKS), X_new, "X_new"
    )
    if rows.shape[0] == 0:
        raise ValueError("X_new must hold at least one row; got none.")
    _check_width(rows, estimator)
    _check_finite(rows, "X_new", names)
    return _stored_like(rows, estimator.labelled_.rows)


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
            f"{_quoted(classes)}. With one known class use an open-set method "
            "such as MPEIncomplete."
        )


def check_folds(sample: LabelledRows, n_unlabelled: int, n_folds: int) -> None:
    """Every fold must hold a row of each class, and an unlabelled one."""
    counts = np.bincount(sample.codes, minlength=len(sample.classes))
    few = np.flatnonzero(counts < n_folds)
    if few.size:
        short = ", ".join(f"{_quoted([sample.classes[i]])} has {counts[i]}" for i in few)
        raise ValueError(
            f"each class must have at least n_folds={n_folds} rows, so that every fold holds "
            f"one; {short}. Lower n_folds, add rows, or leave the class out of X and y."
        )
    if n_unlabelled < n_folds:
        raise ValueError(
            f"X_new must have at least n_folds={n_folds} rows, so that every fold holds one; "
            f"got {n_unlabelled}. Lower n_folds or add rows."
        )


def remarks(estimator: Any, X: Rows, X_new: Rows, given: Any = None) -> tuple[str, ...]:
    """What is odd about two samples that passed every check, in plain sentences.

    Parameters
    ----------
    estimator : fitted estimator
        Knows the columns of X.
    X, X_new : array or CSR matrix
        The checked samples.
    given : object
        X_new as the user gave it, to see whether it had column names.

    Raises
    ------
    ValueError
        When every feature is constant, so that nothing tells the classes apart.

    Warns
    -----
    UnseenWarning
        When rows of X are found again in X_new.
    """
    names = getattr(estimator, "feature_names_in_", None)
    found = [
        _remark_on_names(names, given),
        _remark_on_constants(X, X_new, names),
        _remark_on_leak(X, X_new),
    ]
    return tuple(remark for remark in found if remark)


def column_names(X: Any) -> list[str] | None:
    """Column names of a pandas, polars or pyarrow table; None where there are none."""
    columns = getattr(X, "column_names", None)
    if columns is None:
        columns = getattr(X, "columns", None)
    if columns is None or not all(isinstance(column, str) for column in columns):
        return None
    return list(columns)


def _on_host(X: Any) -> Any:
    """A tensor on a graphics card, or with a gradient, must be asked for its numbers."""
    if hasattr(X, "detach") and hasattr(X, "cpu"):
        return np.asarray(X.detach().cpu())
    return X


def _is_sparse(X: Any) -> bool:
    return bool(sparse.issparse(X))


def _numeric_rows(validate: Callable[[Any], Rows], X: Any, name: str) -> Rows:
    try:
        return validate(X)
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        raise ValueError(
            f"{name} must hold numbers; {error}. Encode text columns first, "
            "for example with OneHotEncoder."
        ) from error


def _stored_like(rows: Rows, other: Rows) -> Rows:
    """Both samples dense or both sparse, so that they can be stacked and compared."""
    if _is_sparse(rows) == _is_sparse(other):
        return rows
    return sparse.csr_array(rows) if _is_sparse(other) else rows.toarray()


def _check_finite(rows: Rows, name: str, names: Iterable[str] | None) -> None:
    values = rows.data if _is_sparse(rows) else rows
    finite = np.isfinite(values)
    if finite.all():
        return
    row, column = _first_bad(rows, finite)
    raise ValueError(
        f"{name} must be finite; got {int((~finite).sum())} NaN or infinite values, the first in "
        f"row {row}, {_column_label(column, names)}. Fill them in or drop those rows."
    )


def _first_bad(rows: Rows, finite: BoolArray) -> tuple[int, int]:
    if not _is_sparse(rows):
        row, column = np.argwhere(~finite)[0]
        return int(row), int(column)
    place = int(np.flatnonzero(~finite)[0])
    return int(np.searchsorted(rows.indptr, place, side="right") - 1), int(rows.indices[place])


def _check_labels(y: Any, n_rows: int) -> tuple[NDArray[Any], IntArray]:
    labels = column_or_1d(_on_host(y), warn=True)
    if len(labels) != n_rows:
        raise ValueError(
            f"y must have one label per row of X; got {len(labels)} labels for {n_rows} rows."
        )
    missing = sum(map(_is_missing, labels)) if labels.dtype.kind in "fO" else 0
    if missing:
        raise ValueError(
            f"y must have no missing labels (NaN or None); got {missing} of {n_rows}. "
            "Rows without a label belong in X_new."
        )
    _check_not_measurements(labels)
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        kinds = ", ".join(sorted({type(label).__name__ for label in labels}))
        raise TypeError(f"y must hold labels of one kind; got {kinds}.") from error
    return classes, codes.astype(np.intp)


def _is_missing(label: Any) -> bool:
    if label is None:
        return True
    try:
        return bool(label != label)
    except TypeError:  # pandas.NA refuses to say whether it equals itself
        return True


def _check_not_measurements(labels: NDArray[Any]) -> None:
    if labels.dtype.kind != "f":
        return
    fractions = labels[~np.isfinite(labels) | (labels != np.floor(labels))]
    if fractions.size:
        raise ValueError(
            "y must hold class labels (text, whole numbers or booleans); got continuous values "
            f"such as {fractions[0]:g}."
        )


def _check_same_names(names: list[str], new: list[str], X_new: Any, classes: NDArray[Any]) -> None:
    lacks = [name for name in names if name not in new]
    extra = [name for name in new if name not in names]
    labels = [name for name in extra if _holds_labels(X_new[name], classes)]
    if labels and not lacks:
        raise ValueError(
            f"X_new must hold features only; its extra column {_quoted(labels)} holds class "
            "labels. Drop it."
        )
    if lacks or extra:
        found = [f"it lacks {_quoted(lacks)}"] if lacks else []
        found += [f"it adds {_quoted(extra)}"] if extra else []
        raise ValueError(f"X_new must have the columns of X; {' and '.join(found)}.")
    if names != new:
        raise ValueError(
            "X_new must have the columns of X in the same order; "
            f"got {_quoted(new)} where X has {_quoted(names)}."
        )


def _check_not_labels(X_new: Any, estimator: Any) -> None:
    if _is_sparse(X_new) or len(np.shape(X_new)) != 1:
        return
    width = estimator.n_features_in_
    rule = f"X_new must be 2-d with the {width} columns of X; got {len(X_new)} values in 1-d"
    if len(X_new) and _holds_labels(X_new, estimator.classes_):
        raise ValueError(f"{rule}, all of them class labels. X_new takes features, not labels.")
    raise ValueError(f"{rule}.")


def _check_width(rows: Rows, estimator: Any) -> None:
    width, new_width = estimator.n_features_in_, rows.shape[1]
    if new_width == width:
        return
    message = f"X_new must have the {width} columns of X; got {new_width}."
    if new_width == width + 1 and not _is_sparse(rows):
        ends = {"last": rows[:, -1], "first": rows[:, 0]}
        labels = [end for end, column in ends.items() if _holds_labels(column, estimator.classes_)]
        if labels:
            message += f" Its {labels[0]} column holds class labels: drop it."
    raise ValueError(message)


def _holds_labels(column: Any, classes: NDArray[Any]) -> bool:
    """Whether every value of a column is the label of a known class."""
    known = set(classes.tolist())
    return all(value in known for value in np.asarray(column).tolist())


def _remark_on_names(names: Any, given: Any) -> str | None:
    if names is None or given is None or column_names(given) is not None:
        return None
    return "X has column names and X_new has none: columns were matched by their order."


def _remark_on_constants(X: Rows, X_new: Rows, names: Any) -> str | None:
    lowest, highest = _range(X)
    new_lowest, new_highest = _range(X_new)
    # A feature may be constant in X and still give away an unseen class in X_new.
    constant = np.flatnonzero(np.minimum(lowest, new_lowest) == np.maximum(highest, new_highest))
    if constant.size == lowest.size:
        raise ValueError(
            "X and X_new must vary in at least one feature; "
            f"got {lowest.size} that are all constant, so nothing tells the classes apart."
        )
    if not constant.size:
        return None
    listed = _listed([_column_label(int(column), names) for column in constant])
    return (
        f"{constant.size} of {lowest.size} features are constant over X and X_new and carry "
        f"nothing: {listed}."
    )


def _range(rows: Rows) -> tuple[NDArray[Any], NDArray[Any]]:
    if _is_sparse(rows):
        lowest, highest = min_max_axis(rows, axis=0)
        return lowest, highest
    return rows.min(axis=0), rows.max(axis=0)


def _remark_on_leak(X: Rows, X_new: Rows) -> str | None:
    copies, expected = _repeats(X, X_new)
    # Coarse features repeat by themselves: more than X repeats within itself is a leak.
    if copies <= expected + 3 * np.sqrt(expected):
        return None
    n_new = X_new.shape[0]
    message = (
        f"{copies} of {n_new} rows of X_new are also in X, value for value. If they come from "
        "the training data, take them out: they pull the shares towards their classes."
    )
    warnings.warn(message, UnseenWarning, stacklevel=2)
    return message


def _repeats(X: Rows, X_new: Rows) -> tuple[int, float]:
    """Rows of X_new found in X, and how many to expect from the repeats within X."""
    dtype = np.result_type(X.dtype, X_new.dtype)
    known = Counter(_row_hashes(X.astype(dtype, copy=False)))
    copies = sum(row in known for row in _row_hashes(X_new.astype(dtype, copy=False)))
    repeated = sum(count for count in known.values() if count > 1)
    return copies, repeated / X.shape[0] * X_new.shape[0]


def _row_hashes(rows: Rows) -> Iterator[int]:
    """A hash of each row, equal for equal rows; block by block, to copy little at a time."""
    for start in range(0, rows.shape[0], _BLOCK_ROWS):
        block = rows[start : start + _BLOCK_ROWS]
        if _is_sparse(block):
            yield from _sparse_row_hashes(block.copy())
        else:
            # Adding 0.0 turns -0.0 into 0.0, which equals it but has other bytes.
            yield from (hash(row.tobytes()) for row in block + 0.0)


def _sparse_row_hashes(rows: Rows) -> Iterator[int]:
    rows.sum_duplicates()
    rows.eliminate_zeros()
    for start, end in pairwise(rows.indptr):
        # Widths of indices differ between matrices; of hashed integers they must not.
        places = rows.indices[start:end].astype(np.int64)
        yield hash((places.tobytes(), rows.data[start:end].tobytes()))


def _column_label(column: int, names: Iterable[str] | None) -> str:
    return f"column {column}" if names is None else f"column {list(names)[column]!r}"


def _quoted(values: Iterable[Any]) -> str:
    return _listed(
        [repr(value.item() if isinstance(value, np.generic) else value) for value in values]
    )


def _listed(words: list[str]) -> str:
    rest = len(words) - _NAMED_AT_MOST
    more = f" and {rest} more" if rest > 0 else ""
    return ", ".join(words[:_NAMED_AT_MOST]) + more
