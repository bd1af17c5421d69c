"""What the user must know before trusting a rule: shares that do not fit the rows.

The mass of unseen classes in any set of rows is ``e = u - sum_i pi_i P_i``, and a mass is never
below zero. Where it is estimated as such, beyond noise, some share is too large, or the labelled
rows are no sample of what the new ones hold. We look cell by cell: rows with the same best
known class and about the same novelty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from unseen._types import FloatArray, IntArray
from unseen.rejection.learning.shares import Shares
from unseen.rejection.learning.threshold import novelty

__all__ = ["NegativeMass", "negative_mass", "overfull_shares", "rare_classes", "uncertain_shares"]

_BINS = 5
# With as many cells as there are, all at once, one fit in a hundred is warned about by chance, and
# more where rows are few.
_FALSE_ALARMS = 0.01
# Below a tenth of the known mass the labels hardly feel it: there the rows are called known anyway.
_MUCH = 0.1
_ROUNDING = 1e-6
_WIDE = 0.5


@dataclass(frozen=True)
class NegativeMass:
    """Where more known rows were expected than there are rows.

    Parameters
    ----------
    share : float
        Part of the known classes' mass that lies in cells of clearly negative unseen mass.
    total : float
        Sum of the unseen mass over those cells, at most 0.
    n_cells, n_negative : int
        Cells, and those that are clearly negative.
    """

    share: float
    total: float
    n_cells: int
    n_negative: int

    @property
    def message(self) -> str | None:
        """A sentence where more than a tenth of the known mass is concerned."""
        if self.share <= _MUCH:
            return None
        return (
            "the estimated mass of unseen classes is negative, beyond noise, in cells that hold "
            f"{self.share:.0%} of the known classes (sum {self.total:.3f}): the known shares are "
            "too large there, or the labelled rows differ from those of the same class among the "
            "new ones. Check proportions, and whether the classes drifted."
        )


def rare_classes(classes: NDArray[Any], codes: IntArray, n_folds: int) -> list[str]:
    """A sentence for each class with fewer rows than folds.

    Examples
    --------
    >>> import numpy as np
    >>> rare_classes(np.array(["a", "b"]), np.array([0, 0, 0, 1]), 3)
    ["class 'b' has 1 labelled rows, fewer than the 3 folds: its error is hardly known."]
    """
    counts = np.bincount(codes, minlength=len(classes))
    return [
        f"class {label!r} has {count} labelled rows, fewer than the {n_folds} folds: its error is "
        "hardly known."
        for label, count in zip(classes.tolist(), counts.tolist(), strict=True)
        if count < n_folds
    ]


def overfull_shares(shares: Shares) -> str | None:
    """A sentence where the known shares sum to more than 1: beyond noise, if they are estimates.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.learning.shares import Shares
    >>> overfull_shares(Shares(np.array([0.75, 0.5])))[:44]
    'the known shares sum to 1.250, more than 1: '
    """
    estimate = shares.estimate
    noted = estimate is not None and any("more than 1" in text for text in estimate.warnings)
    if not noted and shares.known.sum() <= 1 + _ROUNDING:
        return None
    return (
        f"the known shares sum to {shares.total:.3f}, more than 1: nothing is left for unseen "
        "classes, and some share is too large. Check proportions."
    )


def uncertain_shares(shares: Shares, classes: NDArray[Any]) -> str | None:
    """A sentence where the interval of some share is wider than one half.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.learning.shares import Shares
    >>> limits = np.array([[0.3, 0.5], [0.0, 0.7], [0.1, 0.3]])
    >>> shares = Shares(np.array([0.4, 0.4]), limits=limits)
    >>> uncertain_shares(shares, np.array(["a", "b", "unseen"]))[:47]
    "the share of 'b' may be anything from 0% to 70%"
    """
    if shares.limits is None or np.ptp(shares.limits, axis=1).max() <= _WIDE:
        return None
    widest = int(np.ptp(shares.limits, axis=1).argmax())
    lower, upper = shares.limits[widest]
    return (
        f"the share of {classes.tolist()[widest]!r} may be anything from {lower:.0%} to "
        f"{upper:.0%}, and labels are no better than the shares: add new rows, or give "
        "proportions that you know."
    )


def negative_mass(
    labelled: FloatArray, codes: IntArray, new: FloatArray, shares: Shares
) -> NegativeMass:
    """Unseen mass by cells of held-out rows, and how much of it is clearly negative.

    A cell is a known class (the best for its rows) and a fifth of their novelty. The noise of a
    cell is that of its counts, and of the shares where their covariance is known. A cell counts
    where e is below zero by more than the normal quantile at 1% divided by the number of cells.

    Parameters
    ----------
    labelled : ndarray of shape (n, K + 1)
        Held-out probabilities of the labelled rows.
    codes : ndarray of shape (n,)
        Their classes.
    new : ndarray of shape (m, K + 1)
        Held-out probabilities of the new rows.
    shares : Shares

    Returns
    -------
    NegativeMass

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.learning.shares import Shares
    >>> rows = np.tile([0.5, 0.5], (400, 1))
    >>> negative_mass(rows, np.zeros(400, dtype=int), rows, Shares(np.array([1.5]))).total
    -0.5
    """
    cells = _cells(np.vstack([labelled, new]))
    n_cells = int(cells.max()) + 1
    known = np.zeros((len(shares.known), n_cells))
    np.add.at(known, (codes, cells[: len(codes)]), 1.0)
    n_in_cell = np.bincount(cells[len(codes) :], minlength=n_cells).astype(np.float64)
    counts = known.sum(axis=1, keepdims=True)
    expected = shares.known @ (known / counts)
    mass = n_in_cell / n_in_cell.sum() - expected
    limit = norm.isf(_FALSE_ALARMS / n_cells) * _noise(known, n_in_cell, shares)
    negative = mass < -limit
    return NegativeMass(
        share=float(expected[negative].sum() / max(expected.sum(), np.finfo(float).tiny)),
        total=float(mass[negative].sum()),
        n_cells=n_cells,
        n_negative=int(negative.sum()),
    )


def _cells(probabilities: FloatArray) -> IntArray:
    """Cell of each row: its best known class, and the fifth of that class's novelty it is in."""
    best, score = probabilities[:, :-1].argmax(axis=1), novelty(probabilities)
    cells = np.zeros(len(best), dtype=np.intp)
    for label in np.unique(best):
        mine = best == label
        ends = np.quantile(score[mine], np.arange(1, _BINS) / _BINS)
        cells[mine] = label * _BINS + np.searchsorted(ends, score[mine], side="right")
    return np.unique(cells, return_inverse=True)[1]


def _noise(known: FloatArray, new: FloatArray, shares: Shares) -> FloatArray:
    """Standard deviation of the mass of each cell; half a row more keeps empty ones uncertain."""
    variance = _binomial_variance(new, new.sum())
    counts = known.sum(axis=1, keepdims=True)
    variance = variance + shares.known**2 @ _binomial_variance(known, counts)
    if shares.covariance is not None:
        rates = known / counts
        variance = variance + np.einsum("ic,ij,jc->c", rates, shares.covariance, rates)
    return np.sqrt(variance)


def _binomial_variance(counts: FloatArray, n_rows: FloatArray) -> FloatArray:
    rate = (counts + 0.5) / (n_rows + 1)
    return np.asarray(rate * (1 - rate) / n_rows)
