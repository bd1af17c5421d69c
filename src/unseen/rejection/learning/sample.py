"""What a rule learns from: labelled rows, new rows, shares; and the K + 1 labels it gives.

For a set A of rows, ``a_i = pi_i P_i(A)`` is the mass of known class i and ``u = P_0(A)`` the mass
of the new rows; ``e = u - sum_i a_i`` is left for unseen classes. ``docs/rejection.md`` derives the
risk of every rule from these masses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen._types import BoolArray, FloatArray, IntArray, Matrix
from unseen.scores.base import stack_samples

__all__ = ["OpenSample", "codes_of", "row_masses", "with_unseen"]


@dataclass(frozen=True, eq=False)
class OpenSample:
    """Rows of K known classes, new rows, and the shares of the classes among the new rows.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Labelled rows.
    codes : ndarray of shape (n,)
        Class of each labelled row, 0 to K - 1; every class has a row.
    X_new : array or CSR matrix of shape (m, d)
        New rows.
    shares : ndarray of shape (K,)
        Shares pi of the known classes among the new rows; the rest is unseen.
    has_new : bool, default=True
        False where the labelled rows stand for the new rows too, row by row. A row and its copy
        must then be held out together.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection import OpenSample
    >>> X, X_new = np.zeros((3, 1)), np.zeros((2, 1))
    >>> sample = OpenSample(X, np.array([0, 0, 1]), X_new, np.array([0.5, 0.25]))
    >>> sample.masses
    array([[0.25, 0.  , 0.  ],
           [0.25, 0.  , 0.  ],
           [0.  , 0.25, 0.  ],
           [0.  , 0.  , 0.5 ],
           [0.  , 0.  , 0.5 ]])
    """

    X: Matrix
    codes: IntArray
    X_new: Matrix
    shares: FloatArray
    has_new: bool = True

    @classmethod
    def closed(cls, X: Matrix, codes: IntArray, shares: FloatArray) -> OpenSample:
        """A sample without new rows: the labelled rows stand for them."""
        return cls(X, codes, X, shares, has_new=False)

    @property
    def n_classes(self) -> int:
        """Number of known classes, K."""
        return len(self.shares)

    @property
    def unseen(self) -> float:
        """Share of unseen classes; 0 where the known shares sum to more than 1."""
        return max(0.0, 1.0 - float(self.shares.sum()))

    @property
    def rows(self) -> Matrix:
        """All rows, labelled rows first."""
        return stack_samples(self.X, self.X_new)[0]

    @property
    def masses(self) -> FloatArray:
        """Mass of each row, labelled rows first: a_1 ... a_K and u, shape (n + m, K + 1)."""
        n_labelled, n_new = len(self.codes), self.X_new.shape[0]
        masses = np.zeros((n_labelled + n_new, self.n_classes + 1))
        masses[np.arange(n_labelled), self.codes] = row_masses(self.codes, self.shares)
        masses[n_labelled:, -1] = 1 / n_new
        return masses

    def subset(self, labelled: BoolArray, new: BoolArray) -> OpenSample:
        """Some of the rows, with the same shares."""
        X, codes = self.X[labelled], self.codes[labelled]
        if not self.has_new and np.array_equal(labelled, new):
            return OpenSample.closed(X, codes, self.shares)
        return OpenSample(X, codes, self.X_new[new], self.shares)


def row_masses(codes: IntArray, shares: FloatArray) -> FloatArray:
    """Mass ``pi_i / n_i`` of each labelled row.

    Examples
    --------
    >>> import numpy as np
    >>> row_masses(np.array([0, 0, 1]), np.array([0.5, 0.25]))
    array([0.25, 0.25, 0.25])
    """
    counts = np.bincount(codes, minlength=len(shares))
    return np.asarray((shares / np.maximum(counts, 1))[codes])


def with_unseen(classes: NDArray[Any], unseen_label: Any = "auto") -> NDArray[Any]:
    """The known labels, then the label of unseen classes.

    Examples
    --------
    >>> import numpy as np
    >>> with_unseen(np.array([3, 7]))
    array([ 3,  7, -1])
    >>> with_unseen(np.array(["cat", "unseen"]))
    Traceback (most recent call last):
        ...
    ValueError: unseen_label must differ from every known label; got 'unseen'.
    """
    numbers = classes.dtype.kind in "biuf"
    if isinstance(unseen_label, str) and unseen_label == "auto":
        unseen_label = -1 if numbers else "unseen"
    if numbers == isinstance(unseen_label, str):
        rule = "a number" if numbers else "text"
        raise TypeError(f"unseen_label must be {rule}, as the labels are; got {unseen_label!r}.")
    if unseen_label in classes.tolist():
        raise ValueError(f"unseen_label must differ from every known label; got {unseen_label!r}.")
    if classes.dtype.kind == "u":
        classes = classes.astype(np.int64)
    # NumPy widens text to the longer of the two labels, but would turn objects into text.
    kind = object if classes.dtype.kind == "O" else None
    return np.concatenate([classes, np.array([unseen_label], dtype=kind)])


def codes_of(labels: Any, everything: NDArray[Any]) -> IntArray:
    """Code of each label: its place among the K + 1 labels.

    Examples
    --------
    >>> import numpy as np
    >>> codes_of(["dog", "unseen"], np.array(["cat", "dog", "unseen"]))
    array([1, 2])
    """
    places = {label: place for place, label in enumerate(everything.tolist())}
    values = np.asarray(labels).ravel().tolist()
    strange = next((label for label in values if label not in places), None)
    if strange is not None:
        raise ValueError(
            f"classifier must predict labels of y or unseen_label={everything.tolist()[-1]!r}; "
            f"got {strange!r}."
        )
    return np.array([places[label] for label in values], dtype=np.intp)
