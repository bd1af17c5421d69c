"""The labelled sample, checked once: every later step takes this record and checks nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen._types import IntArray, Matrix

__all__ = ["LabelledRows"]


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Checked rows of the known classes.

    Parameters
    ----------
    rows : array or CSR matrix of shape (n, d)
        The rows.
    classes : ndarray of shape (K,)
        Distinct labels, sorted; empty where the rows are one sample without labels.
    codes : ndarray of shape (n,)
        Place of each row's label among ``classes``.
    names : tuple of str or None, default=None
        Column names, where the user's table has them.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.samples import LabelledRows
    >>> sample = LabelledRows(np.zeros((3, 1)), np.array(["a", "b"]), np.array([0, 1, 1]))
    >>> sample.counts
    array([1, 2])
    """

    rows: Matrix
    classes: NDArray[Any]
    codes: IntArray
    names: tuple[str, ...] | None = None

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
        """The chosen rows, with all classes."""
        return LabelledRows(self.rows[chosen], self.classes, self.codes[chosen], self.names)
