"""Samples that are drawn: of three known laws, or with prescribed shares from any labelled data.

Twonorm and ringnorm (Breiman 1996) have 20 features and a = 2 / sqrt(20): twonorm is N(-a1, I)
against N(+a1, I); ringnorm is N(a1, I) against N(0, 4I). Waveform (Breiman et al. 1984) has 21
features: a random point between two of three triangles of height 6, plus noise N(0, I).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from unseen._types import IntArray

Sample: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int64]]

_SHIFT = 2 / np.sqrt(20)
_TRIANGLES = {p: np.maximum(6.0 - np.abs(np.arange(1, 22) - p), 0.0) for p in (7, 11, 15)}
# The peaks of the two triangles that each class of waveform lies between.
_WAVE_PEAKS = ((7, 15), (7, 11), (15, 11))


def make_twonorm(n_samples: int | Sequence[int] = 7400, *, random_state: Any = None) -> Sample:
    """Two normal clouds of unit variance, four standard deviations apart.

    The best possible classifier errs on a share Φ(-2) = 0.0228 of the rows.

    Parameters
    ----------
    n_samples : int or pair of int, default=7400
        Rows in all, half of each class; or rows of class -1 and of class +1.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    X : ndarray of shape (n_rows, 20)
    y : ndarray of shape (n_rows,)
        -1 around -a, +1 around +a, in random order.

    Examples
    --------
    >>> X, y = make_twonorm(1000, random_state=0)
    >>> X.shape, [float(X[y == label].mean().round(1)) for label in (-1, 1)]
    ((1000, 20), [-0.5, 0.5])
    """

    def draw(rng: np.random.RandomState, place: int, size: int) -> NDArray[np.float64]:
        return rng.normal((-_SHIFT, _SHIFT)[place], 1.0, (size, 20))

    return _drawn(n_samples, (-1, 1), draw, random_state)


def make_ringnorm(n_samples: int | Sequence[int] = 7400, *, random_state: Any = None) -> Sample:
    """One normal cloud inside another of twice its spread.

    The best possible classifier errs on a share of 0.0124 of the rows.

    Parameters
    ----------
    n_samples, random_state
        As in :func:`make_twonorm`.

    Returns
    -------
    X : ndarray of shape (n_rows, 20)
    y : ndarray of shape (n_rows,)
        -1 for N(a1, I), +1 for N(0, 4I), in random order.

    Examples
    --------
    >>> X, y = make_ringnorm((500, 500), random_state=0)
    >>> [float(X[y == label].std().round(1)) for label in (-1, 1)]
    [1.0, 2.0]
    """

    def draw(rng: np.random.RandomState, place: int, size: int) -> NDArray[np.float64]:
        return rng.normal((_SHIFT, 0.0)[place], (1.0, 2.0)[place], (size, 20))

    return _drawn(n_samples, (-1, 1), draw, random_state)


def make_waveform(n_samples: int | Sequence[int] = 5000, *, random_state: Any = None) -> Sample:
    """Three classes of waves, each a random mixture of two triangles plus noise.

    The best possible classifier errs on a share of about 0.14 of the rows.

    Parameters
    ----------
    n_samples : int or three int, default=5000
        Rows in all, a third of each class; or rows of the classes 0, 1 and 2.
    random_state : int, RandomState instance or None, default=None
        As in :func:`make_twonorm`.

    Returns
    -------
    X : ndarray of shape (n_rows, 21)
    y : ndarray of shape (n_rows,)
        0, 1 or 2, in random order. The paper's set is class 1 against the two others.

    Examples
    --------
    >>> X, y = make_waveform(3000, random_state=0)
    >>> X[y == 1].mean(axis=0).round().astype(int)[[0, 6, 10, 20]].tolist()
    [0, 4, 4, 0]
    """

    def draw(rng: np.random.RandomState, place: int, size: int) -> NDArray[np.float64]:
        first, second = (_TRIANGLES[peak] for peak in _WAVE_PEAKS[place])
        weight = rng.uniform(size=(size, 1))
        wave = weight * first + (1 - weight) * second
        return np.asarray(wave + rng.normal(size=wave.shape))

    return _drawn(n_samples, (0, 1, 2), draw, random_state)


def _drawn(
    n_samples: int | Sequence[int],
    labels: Sequence[int],
    draw: Callable[[np.random.RandomState, int, int], NDArray[np.float64]],
    random_state: Any,
) -> Sample:
    """Rows of each class in random order; ``draw`` makes so many rows of the class at a place."""
    n_classes = len(labels)
    if isinstance(n_samples, int | np.integer):
        sizes = [(int(n_samples) + later) // n_classes for later in range(n_classes)]
    else:
        sizes = [int(size) for size in n_samples]
    if len(sizes) != n_classes or min(sizes) < 0 or sum(sizes) < 1:
        raise ValueError(
            f"n_samples must be a number of rows >= 1, or {n_classes} of them, one per class; "
            f"got {n_samples!r}."
        )
    rng = check_random_state(random_state)
    rows = np.vstack([draw(rng, place, size) for place, size in enumerate(sizes)])
    order = rng.permutation(len(rows))
    return rows[order], np.repeat(np.array(labels, dtype=np.int64), sizes)[order]


def draw_with_proportions(
    y: ArrayLike, proportions: Mapping[Any, float], size: int, random_state: Any = None
) -> IntArray:
    """Draw rows with prescribed class proportions, and give their places.

    No row is drawn twice: a repeated row falls into two folds and undoes out-of-fold scores.

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
