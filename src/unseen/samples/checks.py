"""The labelled sample, and every check of what a user hands in.

An error names the argument, the rule and the value. Samples are checked once: every later step
takes the record and checks nothing.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from traceback import walk_stack
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.validation import validate_data

from unseen._types import IntArray, Matrix
from unseen._wording import check_named_once, quoted
from unseen.records import UnseenWarning

_ROW_CHECKS: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32],
    # Sums run in the order of memory: columns first, as in a pandas table, would round otherwise.
    "order": "C",
    "ensure_all_finite": False,
}
_NAMED_AT_MOST = 5
_LARGEST = 1e100  # squares of larger numbers overflow
_PACKAGE = str(Path(__file__).parents[1])


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Checked rows of the known classes.

    ``groups`` are those of the labelled rows (n,), and of the new rows (m,) that the labelled ones
    are asked about, where -1 is a new row of no group. None where rows have no groups.
    """

    rows: Matrix  # (n, d), dense or CSR
    classes: NDArray[Any]  # (K,), sorted labels; empty where the rows are a sample without labels
    codes: IntArray  # (n,), place of each row's label among the classes
    names: tuple[str, ...] | None = None  # of the columns, where the user's table has them
    groups: tuple[IntArray, IntArray] | None = None

    @property
    def labels(self) -> tuple[Any, ...]:
        """The classes as plain Python values."""
        return tuple(self.classes.tolist())

    @property
    def counts(self) -> IntArray:
        """Rows of each class."""
        return np.bincount(self.codes, minlength=len(self.classes))

    def of_class(self, code: int) -> Matrix:
        """Rows of one class."""
        return self.rows[self.codes == code]

    def part(self, chosen: Any) -> LabelledRows:
        """The chosen rows, with all classes, and without groups."""
        return LabelledRows(self.rows[chosen], self.classes, self.codes[chosen], self.names)


def check_rows(X: Any, name: str, columns: Iterable[str] | None = None) -> Matrix:
    """A sample as a 2-d array of finite numbers (or CSR); raise and name what is wrong."""
    check_named_once(name, column_names(X, only_text=False) or ())
    try:
        shape = np.shape(X)
    except ValueError as error:
        raise ValueError(f"{name} must have rows of one length; {error}") from error
    if len(shape) != 2 or 0 in shape:
        _raise_shape(X, name, shape)
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
    # Where all is well one pass over the values is enough.
    values = rows.data if hasattr(rows, "indptr") else rows
    with np.errstate(all="ignore"):
        # In single precision the limit itself would be infinite.
        sum_of_squares = float(values.ravel() @ values.ravel())
    if not sum_of_squares <= _LARGEST:
        _check_sizes(rows, values, name, columns)
    return rows


def check_again(estimator: Any, X: Any) -> Matrix:
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
    """Check X and y as given to ``fit``; notes the columns on the estimator."""
    sample = check_sample(estimator, X)
    if y is None:
        name = type(estimator).__name__
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    classes, codes = check_labels(y, sample.rows.shape[0])
    return LabelledRows(sample.rows, classes, codes, sample.names)


def check_labels(y: Any, n_rows: int) -> tuple[NDArray[Any], IntArray]:
    """Distinct labels in sorted order, and the place of each row's label among them."""
    y = on_host(y, "y")
    if hasattr(y, "dtype"):
        # What scikit-learn makes of nullable and categorical labels is floats.
        y = np.asarray(y)
    try:
        labels = column_or_1d(y, warn=True)
    except ValueError as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise ValueError(f"y must hold one label per row of X; {reason}.") from error
    if len(labels) != n_rows:
        raise ValueError(
            f"y must have one label per row of X; got {len(labels)} labels for {n_rows} rows."
        )
    # Of a list of text, NumPy makes a missing label the text "nan".
    given = np.asarray(y, dtype=object).ravel() if isinstance(y, list | tuple) else labels
    _check_each(given)
    # Of whole numbers too large for its own, NumPy makes floats, which round them.
    if labels.dtype.kind == "f" and all(isinstance(label, int) for label in given):
        labels = given
    if labels.dtype.kind == "f":
        fractions = labels[~np.isfinite(labels) | (labels != np.floor(labels))]
        if fractions.size:
            raise ValueError(
                # The last words are what scikit-learn's own checks of a classifier look for.
                "y must hold class labels (text, whole numbers or booleans); got continuous "
                f"values such as {fractions[0]:g}. Unknown label type: continuous."
            )
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        kinds = ", ".join(sorted({type(label).__name__ for label in labels}))
        raise TypeError(f"y must hold labels of one kind; got {kinds}.") from error
    return classes, codes.astype(np.intp)


def _check_each(labels: NDArray[Any]) -> None:
    missing = sum(map(is_missing, labels)) if labels.dtype.kind in "fOmM" else 0
    if missing:
        raise ValueError(
            f"y must have no missing labels (NaN or None); got {missing} of {len(labels)}. "
            "Rows without a label belong in X_new."
        )
    if labels.dtype.kind != "O":
        return
    # NumPy would make text of numbers beside text, and cut the character off; True would be 1.
    if len({(isinstance(label, str), isinstance(label, bool | np.bool_)) for label in labels}) > 1:
        kinds = ", ".join(sorted({type(label).__name__ for label in labels}))
        raise TypeError(f"y must hold labels of one kind; got {kinds}.")
    if any(str(label)[-1:] == "\0" for label in labels):
        raise ValueError("y must have no labels that end in the NUL character.")


def is_missing(label: Any) -> bool:
    """Whether a label is None, NaN or another missing value."""
    if label is None:
        return True
    try:
        return bool(label != label)
    except TypeError:  # pandas.NA refuses to say whether it equals itself
        return True


def check_new(labelled: LabelledRows, X_new: Any, name: str = "X_new", known: str = "X") -> Matrix:
    """Check new rows against the columns and labels of the labelled ones.

    ``name`` and ``known`` are the user's names of this sample and of the labelled one.
    """
    X_new = on_host(X_new, name)
    names = column_names(X_new)
    if labelled.names is not None and names is not None and names != list(labelled.names):
        _raise_other_names(labelled, X_new, names, name, known)
    width = labelled.rows.shape[1]
    if getattr(X_new, "ndim", 2) == 1 or (isinstance(X_new, list) and np.ndim(X_new[:1]) == 1):
        taken = f", all of them class labels. {name} takes features, not labels"
        raise ValueError(
            f"{name} must be 2-d with the {width} columns of {known}; got {len(X_new)} values in "
            f"1-d{taken if len(X_new) and _holds_labels(X_new, labelled) else ''}."
        )
    rows = check_rows(X_new, name, labelled.names)
    if rows.shape[1] != width:
        ends, got = (("last", -1), ("first", 0)), rows.shape[1]
        one_more = got == width + 1 and not sparse.issparse(rows)
        labels = [end for end, at in ends if one_more and _holds_labels(rows[:, at], labelled)]
        hint = f" Its {labels[0]} column holds class labels: drop it." if labels else ""
        raise ValueError(f"{name} must have the {width} columns of {known}; got {got}.{hint}")
    if sparse.issparse(rows) == sparse.issparse(labelled.rows):
        return rows
    return sparse.csr_array(rows) if sparse.issparse(labelled.rows) else rows.toarray()


def check_closed_set(classes: NDArray[Any]) -> None:
    """Raise where a closed-set method has one class, which would always get everything."""
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
    """Raise unless every fold can hold a row of each class."""
    counts = sample.counts
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
    """Raise unless every fold can hold a row of the sample."""
    if n_rows < n_folds:
        raise ValueError(
            f"{name} must have at least n_folds={n_folds} rows, so that every fold holds one; "
            f"got {n_rows}. Lower n_folds of the estimator or add rows."
        )


def on_host(X: Any, name: str) -> Any:
    """Rows that NumPy can read: tensors leave their card; masks and lazy tables are errors.

    NumPy would use the values under a mask.
    """
    # Arrays of pandas have a mask too, and say for themselves what is missing.
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise ValueError(
            f"{name} must have no masked values; got {int(X.mask.sum())}. Fill them in or drop "
            "those rows."
        )
    if hasattr(X, "collect"):
        kind = type(X).__name__
        raise TypeError(f"{name} must be a table in memory; got {kind}. Call its collect() first.")
    if hasattr(X, "detach") and hasattr(X, "cpu"):
        return np.asarray(X.detach().cpu())
    return np.asarray(X) if hasattr(X, "__array__") and not hasattr(X, "shape") else X


def column_names(X: Any, *, only_text: bool = True) -> list[Any] | None:
    """Column names of a pandas, polars or pyarrow table; None where there are none, or no text."""
    if hasattr(X, "collect"):  # a table that is not in memory would be asked to make one
        return None
    found = getattr(X, "column_names", None)
    found = getattr(X, "columns", None) if found is None else found
    names = [] if found is None else list(found)
    is_text = all(isinstance(name, str) for name in names)
    return names if names and (is_text or not only_text) else None


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


def _check_sizes(rows: Matrix, values: Any, name: str, names: Iterable[str] | None) -> None:
    """Raise where one of the values of these rows is NaN, infinite, or too large for its square."""
    if max(float(values.max(initial=0.0)), -float(values.min(initial=0.0))) <= _LARGEST:
        return
    is_finite = np.isfinite(values)
    wrong = np.abs(values) > _LARGEST if is_finite.all() else ~is_finite
    if hasattr(rows, "indptr"):
        place = int(wrong.argmax())
        row, column = np.searchsorted(rows.indptr, place, side="right") - 1, rows.indices[place]
    else:
        row, column = np.argwhere(wrong)[0]
    first = f"row {row}, {column_label(int(column), names)}"
    if not is_finite.all():
        raise ValueError(
            f"{name} must be finite; got {int(wrong.sum())} NaN or infinite values, the first "
            f"in {first}. Fill them in or drop those rows."
        )
    raise ValueError(
        f"{name} must hold numbers of at most {_LARGEST:g}, so that squares stay finite; got "
        f"{values[wrong][0]:g} in {first}."
    )


def _raise_shape(X: Any, name: str, shape: tuple[int, ...]) -> NoReturn:
    # The last words of the first and last error are what scikit-learn's own checks look for.
    if len(shape) != 2:
        kind = type(X).__name__
        raise ValueError(
            f"{name} must be 2-d (rows, columns); got {kind} of shape {shape}. Reshape your data."
        )
    if shape[0] == 0:
        raise ValueError(f"{name} must hold at least one row; got n_samples=0.")
    raise ValueError(f"{name} has 0 feature(s) (shape={shape}) while a minimum of 1 is required.")


def _raise_other_names(
    labelled: LabelledRows, X_new: Any, new: list[str], name: str, known: str
) -> NoReturn:
    names = labelled.names or ()
    lacks = [column for column in names if column not in new]
    extra = [column for column in new if column not in names]
    labels = [column for column in extra if _holds_labels(X_new[column], labelled)]
    if labels and not lacks:
        raise ValueError(
            f"{name} must hold features only; its extra column {quoted(labels)} holds class "
            "labels. Drop it."
        )
    rule = f"{name} must have the columns of {known}"
    if lacks or extra:
        found = [f"it lacks {quoted(lacks)}"] if lacks else []
        found += [f"it adds {quoted(extra)}"] if extra else []
        raise ValueError(f"{rule}; {' and '.join(found)}.")
    raise ValueError(
        f"{rule} in the same order; got {quoted(new)} where {known} has {quoted(names)}."
    )


def _holds_labels(column: Any, labelled: LabelledRows) -> bool:
    """Whether every value of a column is the label of a known class."""
    known = set(labelled.labels)
    values = np.asarray(column).tolist()
    return all(isinstance(value, Hashable) and value in known for value in values)


def warn(message: str) -> None:
    """Warn at the line that called this library."""
    levels = enumerate(walk_stack(sys._getframe()), start=1)
    level = next(
        (n for n, (frame, _) in levels if not frame.f_code.co_filename.startswith(_PACKAGE)), 1
    )
    warnings.warn(message, UnseenWarning, stacklevel=level)


def column_label(column: int, names: Iterable[str] | None) -> str:
    """A column as an error names it: by its name, or by its place."""
    return f"column {column}" if names is None else f"column {list(names)[column]!r}"
