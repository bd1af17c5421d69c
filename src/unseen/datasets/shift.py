"""Samples with prescribed class proportions, from any labelled data.

Rows are never drawn twice: a repeated row falls into two folds and undoes out-of-fold scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from unseen._types import IntArray


def draw_with_proportions(
    y: ArrayLike, proportions: Mapping[Any, float], size: int, random_state: Any = None
) -> IntArray:
    """Draw rows without replacement, with prescribed class proportions, and give their places.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels.
    proportions : dict of label to float
        Share of each class; the shares sum to 1. Classes that are not named get no rows.
    size : int
        Rows to draw. Where the rows of a class would be no whole number, :func:`allot` rounds.
    random_state : int, RandomState or None
        Seed of the draw.

    Returns
    -------
    ndarray of int of shape (size,)

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.datasets import draw_with_proportions
    >>> y = np.repeat(["cat", "dog"], 50)
    >>> places = draw_with_proportions(y, {"cat": 0.9, "dog": 0.1}, 20, random_state=0)
    >>> int((y[places] == "cat").sum())
    18
    """
    labels = np.asarray(y)
    shares = np.array(list(proportions.values()), dtype=np.float64)
    if not (shares >= 0).all() or abs(shares.sum() - 1) > 1e-9:
        raise ValueError(f"proportions must be >= 0 and sum to 1; got {dict(proportions)}.")
    if size < 1:
        raise ValueError(f"size must be >= 1; got {size}.")
    rng = check_random_state(random_state)
    drawn = []
    for label, count in zip(proportions, allot(shares, size), strict=True):
        rows = np.flatnonzero(labels == label)
        if count > len(rows):
            raise ValueError(
                f"size must leave enough rows of each class; {size} rows with these proportions "
                f"need {count} of class {label!r}, and y has {len(rows)}."
            )
        drawn.append(rng.permutation(rows)[:count])
    return rng.permutation(np.concatenate(drawn))


def allot(shares: ArrayLike, size: int) -> IntArray:
    """Whole numbers in proportion to shares, with sum ``size``: largest remainders round up."""
    weights = np.asarray(shares, dtype=np.float64)
    exact = size * weights / weights.sum()
    counts = np.floor(exact + 1e-9).astype(np.int64)
    short = size - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:short]] += 1
    return counts
