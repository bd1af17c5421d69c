"""Rows that must share a fold: copies of one row tell nothing of each other.

A model that has seen the copy of a row has seen the row. Oversampling and drawing with replacement
make copies within one sample and hardly any across, so that rows scored by models of their own
copies look like their own sample, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unseen._frozen import Frozen
from unseen._types import FloatArray, IntArray, Matrix
from unseen.samples.copies import row_keys

__all__ = ["Clusters", "effective_number"]

# A row of which so large a part of all rows are copies is a value that rows often take (of coarse
# features), and its copies are rows of their own.
_COMMON, _FEWEST_COMMON = 0.05, 5


@dataclass(frozen=True, eq=False)
class Clusters(Frozen):
    """A number for each row; rows of one number share a fold, and count as draws of one row.

    Parameters
    ----------
    labelled, new : ndarray of shape (n,) and (m,)
        Numbers of the labelled and of the new rows.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.samples import Clusters
    >>> X, X_new = np.arange(30.0)[:, None], np.array([[7.0], [8.5], [8.5]])
    >>> found = Clusters.of_copies(X, X_new)
    >>> bool(found.new[0] == found.labelled[7]), bool(found.new[1] == found.new[2])
    (True, True)
    >>> effective_number(np.ones(3), found.new)
    1.8
    """

    labelled: IntArray
    new: IntArray

    @classmethod
    def of_copies(cls, X: Matrix, X_new: Matrix | None = None) -> Clusters:
        """Equal rows together, labelled and new alike; values that rows often take, apart."""
        rows = [X] if X_new is None else [X, X_new]
        keys = row_keys(*rows)
        _, numbers, counts = np.unique(keys, return_inverse=True, return_counts=True)
        common = counts[numbers] > max(_COMMON * len(keys), _FEWEST_COMMON)
        numbers[common] = len(counts) + np.arange(common.sum())
        return cls(numbers[: X.shape[0]], numbers[X.shape[0] :])

    @property
    def stacked(self) -> IntArray:
        """Numbers of the new rows, then of the labelled ones."""
        return np.append(self.new, self.labelled)

    @property
    def n_effective(self) -> float:
        """Rows of both samples, copies as draws of one row."""
        samples = self.new, self.labelled
        return sum(effective_number(np.ones(len(numbers)), numbers) for numbers in samples)


def effective_number(weight: FloatArray, numbers: IntArray | None = None) -> float:
    """Effective number of weighted rows, ``(sum w)^2 / sum w^2``, over clusters of rows."""
    by_cluster = weight if numbers is None else np.bincount(numbers, weight)
    return float(weight.sum() ** 2 / np.square(by_cluster).sum())
