"""What a rule for anomaly rejection learns from: labelled rows, new rows, and shares.

For a set A of rows put ``a_i = pi_i P_i(A)``, the mass of known class i in it, and ``u = P_0(A)``,
the mass of the new rows. Then ``e = u - sum_i a_i`` is the mass of unseen classes. To label
all of A with class k costs ``u - a_k``, to call it unseen costs ``sum_i a_i``, and so the least
risk over a partition into cells is

    1 - sum over cells of max(max_k a_k, e),

which is the risk of Sec. "Anomaly Rejection" rearranged, cell by cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen._types import BoolArray, FloatArray, IntArray, Matrix

__all__ = ["OpenSample", "cell_costs"]


@dataclass(frozen=True, eq=False)
class OpenSample:
    """Rows of K known classes, new rows, and the shares of the classes among the latter.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Labelled rows.
    codes : ndarray of shape (n,)
        Their classes, 0 to K - 1, each at least once.
    X_new : array or CSR matrix of shape (m, d)
        New rows.
    shares : ndarray of shape (K,)
        Shares pi of the known classes among the new rows; what they leave is unseen.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.learning.sample import OpenSample
    >>> X, X_new = np.zeros((3, 1)), np.zeros((4, 1))
    >>> sample = OpenSample(X, np.array([0, 0, 1]), X_new, np.array([0.5, 0.25]))
    >>> sample.masses
    array([[0.25, 0.  , 0.  ],
           [0.25, 0.  , 0.  ],
           [0.  , 0.25, 0.  ],
           [0.  , 0.  , 0.25],
           [0.  , 0.  , 0.25],
           [0.  , 0.  , 0.25],
           [0.  , 0.  , 0.25]])
    """

    X: Matrix
    codes: IntArray
    X_new: Matrix
    shares: FloatArray

    @property
    def n_classes(self) -> int:
        """Known classes, K."""
        return len(self.shares)

    @property
    def unseen(self) -> float:
        """Share of unseen classes; never below 0, though known shares may sum to more than 1."""
        return max(0.0, 1.0 - float(self.shares.sum()))

    @property
    def masses(self) -> FloatArray:
        """Mass of each row, labelled ones first: a_1 ... a_K and u, shape (n + m, K + 1)."""
        counts = np.bincount(self.codes, minlength=self.n_classes)
        masses = np.zeros((len(self.codes) + self.X_new.shape[0], self.n_classes + 1))
        rows = np.arange(len(self.codes))
        masses[rows, self.codes] = (self.shares / counts)[self.codes]
        masses[len(rows) :, -1] = 1 / self.X_new.shape[0]
        return masses

    def subset(self, labelled: BoolArray, new: BoolArray) -> OpenSample:
        """The same shares, with some of the rows; rows and their copies stay so."""
        X = self.X[labelled]
        copied = self.X_new is self.X and bool((labelled == new).all())
        X_new = X if copied else self.X_new[new]
        return OpenSample(X, self.codes[labelled], X_new, self.shares)


def cell_costs(masses: Any) -> FloatArray:
    """Cost of each label in each cell: ``u - a_k`` for class k, ``sum_i a_i`` for unseen.

    Parameters
    ----------
    masses : array-like of shape (..., K + 1)
        Columns a_1 ... a_K and u of each cell.

    Returns
    -------
    ndarray of shape (..., K + 1)
        Unseen last. The label of least cost is the empirical risk minimiser in the cell.

    Examples
    --------
    >>> from unseen.rejection.learning.sample import cell_costs
    >>> cell_costs([0.25, 0.125, 0.75])
    array([0.5  , 0.625, 0.375])
    """
    masses = np.asarray(masses, dtype=np.float64)
    known, total = masses[..., :-1], masses[..., -1:]
    return np.concatenate([total - known, known.sum(axis=-1, keepdims=True)], axis=-1)
