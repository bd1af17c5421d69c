"""Euclidean projection on the two sets that class proportions live in.

The closed set of classes: ``{p >= 0, sum p = 1}``, the probability simplex. The open set:
``{p >= 0, sum p <= 1}``, where what is missing to one is the share of unseen classes.

On the simplex the projection of x is ``max(x - t, 0)`` with the one t that makes it sum to
one. With the coordinates sorted downwards, t follows from the longest head that stays
positive (Held, Wolfe & Crowder, 1974).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unseen._types import FloatArray

__all__ = ["project", "project_open"]


def project(points: ArrayLike) -> FloatArray:
    """Nearest point of ``{p >= 0, sum p = 1}``, for each row.

    Parameters
    ----------
    points : array-like of shape (..., K)
        One point per row, finite.

    Returns
    -------
    ndarray of shape (..., K)
        The projections.

    Examples
    --------
    >>> from unseen.simplex import project
    >>> project([0.9, 0.5, -0.2])
    array([0.7, 0.3, 0. ])
    """
    raw = _finite_points(points)
    # Shifting a point along (1, ..., 1) leaves its projection alone and spares digits.
    raw = raw - raw.max(axis=-1, keepdims=True)
    falling = -np.sort(-raw, axis=-1)
    head = np.arange(1, raw.shape[-1] + 1)
    excess = (np.cumsum(falling, axis=-1) - 1) / head
    # The head that stays positive is a prefix, so counting it finds its end.
    support = np.count_nonzero(falling > excess, axis=-1, keepdims=True)
    shift = np.take_along_axis(excess, support - 1, axis=-1)
    return np.maximum(raw - shift, 0.0)


def project_open(points: ArrayLike) -> FloatArray:
    """Nearest point of ``{p >= 0, sum p <= 1}``, for each row.

    Parameters
    ----------
    points : array-like of shape (..., K)
        One point per row, finite.

    Returns
    -------
    ndarray of shape (..., K)
        The projections. One minus their sum is the share left to unseen classes.

    Examples
    --------
    >>> from unseen.simplex import project_open
    >>> project_open([[0.4, -0.1], [0.9, 0.5]])
    array([[0.4, 0. ],
           [0.7, 0.3]])
    """
    raw = _finite_points(points)
    clipped = np.maximum(raw, 0.0)
    inside = clipped.sum(axis=-1, keepdims=True) <= 1
    return np.where(inside, clipped, project(raw))


def _finite_points(points: ArrayLike) -> FloatArray:
    values = np.asarray(points, dtype=np.float64)
    if values.ndim == 0 or values.shape[-1] == 0:
        raise ValueError(
            f"points must hold at least one coordinate per row; got shape {values.shape}."
        )
    if not np.isfinite(values).all():
        bad = int((~np.isfinite(values)).sum())
        raise ValueError(f"points must be finite; got {bad} NaN or infinite of {values.size}.")
    return values
