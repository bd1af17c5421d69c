"""Quadratic programs on the simplex, many at once."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from unseen._types import BoolArray, FloatArray

__all__ = ["minimise_on_plane", "minimise_on_simplex"]

# Relative to the diagonal: shares that the data cannot tell apart are split evenly.
_RIDGE = 1e-12
# Finding the support squares the condition; the shares on it are then found without this one.
_SUPPORT_RIDGE = 1e-9


def minimise_on_plane(gram: FloatArray, linear: FloatArray) -> FloatArray:
    """Minimise ``pi' G pi / 2 - h' pi`` over ``sum pi = 1``, for each program.

    Parameters
    ----------
    gram : ndarray of shape (..., K, K)
        Symmetric, not indefinite.
    linear : ndarray of shape (..., K)
        One per program.

    Returns
    -------
    ndarray of shape (..., K)
        The minimisers; they sum to 1 but may have any sign.

    Examples
    --------
    >>> import numpy as np
    >>> minimise_on_plane(np.eye(2), np.array([1.5, 0.0])).round(3)
    array([ 1.25, -0.25])
    """
    return _on_support(gram, linear, np.ones(linear.shape, dtype=bool))


def minimise_on_simplex(gram: FloatArray, linear: FloatArray) -> FloatArray:
    """Minimise ``pi' G pi / 2 - h' pi`` over ``pi >= 0, sum pi = 1``, for each program.

    Most programs of a bootstrap have their minimum inside, where one linear system finds it.
    The others go one by one to non-negative least squares, which finds the classes of share 0.

    Parameters
    ----------
    gram : ndarray of shape (..., K, K)
        Symmetric, not indefinite.
    linear : ndarray of shape (..., K)
        One per program.

    Returns
    -------
    ndarray of shape (..., K)
        The minimisers.

    Examples
    --------
    >>> import numpy as np
    >>> minimise_on_simplex(np.eye(2), np.array([1.5, 0.0])).round(3)
    array([1., 0.])
    """
    found = np.atleast_2d(minimise_on_plane(gram, linear))
    outside = np.flatnonzero((found < 0).any(axis=-1))
    if outside.size:
        grams = np.broadcast_to(gram, (len(found), *gram.shape[-2:]))[outside]
        linears = np.broadcast_to(linear, found.shape)[outside]
        support = np.array([_support(*program) for program in zip(grams, linears, strict=True)])
        found[outside] = _on_support(grams, linears, support)
    found = np.maximum(found, 0.0)
    found /= found.sum(axis=-1, keepdims=True)
    return found.reshape(linear.shape)


def _on_support(gram: FloatArray, linear: FloatArray, support: BoolArray) -> FloatArray:
    """Minimiser with the shares outside the support held at 0: one linear system each."""
    n_classes = linear.shape[-1]
    scale = np.trace(gram, axis1=-2, axis2=-1)[..., None, None] / n_classes
    scale = np.where(scale > 0, scale, 1.0)
    system = np.zeros((*linear.shape[:-1], n_classes + 1, n_classes + 1))
    pairs = support[..., :, None] & support[..., None, :]
    system[..., :-1, :-1] = np.where(pairs, gram / scale, 0.0) + _RIDGE * np.eye(n_classes)
    held = ~support
    system[..., :-1, :-1] += held[..., None] * np.eye(n_classes)
    system[..., -1, :-1] = system[..., :-1, -1] = support
    right = np.append(
        np.where(support, linear / scale[..., 0], 0.0), np.ones((*linear.shape[:-1], 1)), axis=-1
    )
    return np.linalg.solve(system, right[..., None])[..., :-1, 0]


def _support(gram: FloatArray, linear: FloatArray) -> BoolArray:
    """Classes with a share above 0.

    On the simplex ``pi' G pi / 2 - h' pi`` equals ``|C pi|^2 / 2`` plus a constant, where
    ``C'C = G - h 1' - 1 h' + c 1 1'`` and c is large enough for that to be a square. And the x
    that minimises ``|C x|^2 + (sum x - 1)^2`` over ``x >= 0`` points in the direction of pi.
    """
    scale = max(float(np.trace(gram)) / len(linear), np.finfo(float).tiny)
    G = gram / scale + _SUPPORT_RIDGE * np.eye(len(linear))
    h = (linear - linear.mean()) / scale
    constant = float(h @ np.linalg.solve(G, h))
    square = G - h[:, None] - h[None, :] + constant + 1.0
    values, vectors = np.linalg.eigh(square)
    root = np.sqrt(np.maximum(values, np.finfo(float).eps * values[-1]))
    factor = root[:, None] * vectors.T
    target = (vectors.T @ np.ones(len(h))) / root
    return np.asarray(nnls(factor, target)[0] > 0)
