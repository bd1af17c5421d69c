"""Notices that a rule adds: classes with few rows, shares that do not fit the rows.

The mass of unseen classes in any set of rows is ``e = u - sum_i pi_i P_i``, which is never below 0.
An estimate of e that is below 0 beyond noise says that some share is too large, or that the
labelled rows differ from the new rows of their class (``docs/rejection.md``, "What can go wrong").
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from unseen._types import FloatArray, IntArray
from unseen.records import Notice
from unseen.rejection.learning.folds import OutOfFold
from unseen.rejection.learning.shares import Shares
from unseen.rejection.learning.threshold import novelty

__all__ = ["few_rows", "negative_mass", "overfull_shares", "uncertain_shares"]

# Every fold of the default five should hold a row of the class.
_FEW = 5
_BINS = 5
# All cells together raise one false alarm in a hundred fits, and more where rows are few.
_FALSE_ALARMS = 0.01
# Below a tenth of the known mass labels hardly change: there the rows are called known anyway.
_MUCH = 0.1
_ROUNDING = 1e-6
_WIDE = 0.5


def few_rows(classes: NDArray[Any], codes: IntArray) -> tuple[Notice, ...]:
    """A notice for each class with hardly a row.

    Examples
    --------
    >>> import numpy as np
    >>> print(few_rows(np.array(["a", "b"]), np.array([0, 0, 0, 0, 0, 1]))[0])
    warning: class 'b' has 1 labelled rows, fewer than 5: its error is hardly known.
    """
    counts = np.bincount(codes, minlength=len(classes)).tolist()
    return tuple(
        Notice(
            "few_rows",
            f"class {label!r} has {count} labelled rows, fewer than {_FEW}: its error is hardly "
            "known.",
            about=label,
        )
        for label, count in zip(classes.tolist(), counts, strict=True)
        if count < _FEW
    )


def overfull_shares(shares: Shares) -> tuple[Notice, ...]:
    """A notice where the known shares sum to more than 1; beyond noise, if they are estimates.

    Examples
    --------
    >>> import numpy as np
    >>> overfull_shares(Shares(np.array([0.75, 0.5])))[0].text[:44]
    'the known shares sum to 1.250, more than 1: '
    """
    noted = () if shares.estimate is None else shares.estimate.notices
    overfull = any(notice.code == "overfull" for notice in noted)
    if not overfull and shares.known.sum() <= 1 + _ROUNDING:
        return ()
    text = (
        f"the known shares sum to {shares.total:.3f}, more than 1: nothing is left for unseen "
        "classes, and some share is too large. Check proportions."
    )
    return (Notice("overfull", text),)


def uncertain_shares(shares: Shares, classes: NDArray[Any]) -> tuple[Notice, ...]:
    """A notice where the interval of some share is wider than one half.

    Examples
    --------
    >>> import numpy as np
    >>> limits = np.array([[0.3, 0.5], [0.0, 0.7], [0.1, 0.3]])
    >>> shares = Shares(np.array([0.4, 0.4]), limits=limits)
    >>> uncertain_shares(shares, np.array(["a", "b", "unseen"]))[0].text[:47]
    "the share of 'b' may be anything from 0% to 70%"
    """
    if shares.limits is None or np.ptp(shares.limits, axis=1).max() <= _WIDE:
        return ()
    widest = int(np.ptp(shares.limits, axis=1).argmax())
    (lower, upper), label = shares.limits[widest], classes.tolist()[widest]
    text = (
        f"the share of {label!r} may be anything from {lower:.0%} to {upper:.0%}, and labels are "
        "no better than the shares: add new rows, or give proportions that you know."
    )
    return (Notice("uncertain_share", text, about=label),)


def negative_mass(rows: OutOfFold, shares: Shares) -> tuple[Notice, ...]:
    """A notice where cells of clearly negative unseen mass hold over a tenth of the known mass.

    A cell is a known class (the best for its rows) and a fifth of their novelty. A cell is clearly
    negative where e is below 0 by more than the normal quantile at 1% divided by the number of
    cells, times the noise of its counts and of the shares.

    Examples
    --------
    >>> import numpy as np
    >>> half = np.tile([0.5, 0.5], (400, 1))
    >>> rows = OutOfFold(half, np.zeros(400, dtype=int), half)
    >>> negative_mass(rows, Shares(np.array([1.5])))[0].code
    'negative_mass'
    """
    codes = rows.codes
    cells = _cells(np.vstack([rows.labelled, rows.new]))
    n_cells = int(cells.max()) + 1
    known = np.zeros((len(shares.known), n_cells))
    np.add.at(known, (codes, cells[: len(codes)]), 1.0)
    new = np.bincount(cells[len(codes) :], minlength=n_cells).astype(np.float64)
    counts = known.sum(axis=1, keepdims=True)
    rates = known / counts
    expected = shares.known @ rates
    mass = new / new.sum() - expected
    variance = _binomial_variance(new, new.sum())
    variance = variance + shares.known**2 @ _binomial_variance(known, counts)
    if shares.covariance is not None:
        variance = variance + np.einsum("ic,ij,jc->c", rates, shares.covariance, rates)
    negative = mass < -norm.isf(_FALSE_ALARMS / n_cells) * np.sqrt(variance)
    concerned = expected[negative].sum() / max(expected.sum(), np.finfo(float).tiny)
    if concerned <= _MUCH:
        return ()
    text = (
        "the estimated mass of unseen classes is negative, beyond noise, in cells that hold "
        f"{concerned:.0%} of the known classes (sum {mass[negative].sum():.3f}): the known shares "
        "are too large there, or the labelled rows differ from those of the same class among the "
        "new ones. Check proportions, and whether the classes drifted."
    )
    return (Notice("negative_mass", text),)


def _cells(probabilities: FloatArray) -> IntArray:
    """Cell of each row: its best known class, and the fifth of that class's novelty it is in."""
    best, score = probabilities[:, :-1].argmax(axis=1), novelty(probabilities)
    cells = np.zeros(len(best), dtype=np.intp)
    for label in np.unique(best):
        mine = best == label
        ends = np.quantile(score[mine], np.arange(1, _BINS) / _BINS)
        cells[mine] = label * _BINS + np.searchsorted(ends, score[mine], side="right")
    return np.unique(cells, return_inverse=True)[1]


def _binomial_variance(counts: FloatArray, n_rows: FloatArray) -> FloatArray:
    """Variance of each rate; half a row more keeps the rate of an empty cell uncertain."""
    rate = (counts + 0.5) / (n_rows + 1)
    return np.asarray(rate * (1 - rate) / n_rows)
