"""The labelled sample, checked once, and the checks of its labels.

Every later step takes the record and checks nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from unseen._types import IntArray, Matrix


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
