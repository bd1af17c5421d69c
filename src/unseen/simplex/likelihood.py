"""Shares of a mixture by maximum likelihood, its component densities known up to a factor.

With r_jk proportional to the density of component k at row j, the log-likelihood of the shares,
``mean_j log sum_k pi_k r_jk``, is concave. Whatever climbs it ends at the same height: a few steps
of EM come near, and Newton steps over the simplex do the rest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unseen._types import FloatArray
from unseen.simplex.programs import minimise_on_simplex

__all__ = ["mixture_shares"]

_SHARE_TOL = 1e-9
_MAX_STEPS = 200
_EM_STEPS = 3


def mixture_shares(
    ratios: ArrayLike,
    weights: FloatArray | None = None,
    noise: FloatArray | None = None,
    *,
    start: FloatArray | None = None,
) -> FloatArray:
    """Maximise ``sum_j w_j log sum_k pi_k r_jk - c' pi`` over the simplex, for many w at once.

    Each Newton step maximises the quadratic model over the simplex, and is halved until it
    climbs.

    Parameters
    ----------
    ratios : array-like of shape (m, K)
        Density of each class at each row, up to a factor of the row's own.
    weights : ndarray of shape (B, m), optional
        Weights of the rows, which sum to 1; equal ones when left out.
    noise : ndarray of shape (B, K), optional
        The linear term c; none when left out.
    start : ndarray of shape (K,), optional
        Where to start; even shares when left out. Where the maximum is not unique it decides.

    Returns
    -------
    ndarray of shape (B, K), or (K,) without weights

    Examples
    --------
    >>> mixture_shares([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]).round(6)
    array([0.75, 0.25])
    """
    R = np.asarray(ratios, dtype=np.float64)
    R = R / R.max(axis=1, keepdims=True)
    n_rows, n_classes = R.shape
    W = np.full((1, n_rows), 1 / n_rows) if weights is None else weights
    c = np.zeros((len(W), n_classes)) if noise is None else noise
    first = np.full(n_classes, 1 / n_classes) if start is None else start
    # A share that starts at 0 could never be left by the first EM steps.
    pi = np.tile(0.99 * first + 0.01 / n_classes, (len(W), 1))
    for _ in range(_EM_STEPS):
        pi = pi * ((W / (pi @ R.T)) @ R)
    active = np.arange(len(W))
    for _ in range(_MAX_STEPS):
        stepped = _newton_step(R, W[active], c[active], pi[active])
        moved = np.abs(stepped - pi[active]).max(axis=1)
        pi[active] = stepped
        active = active[moved > _SHARE_TOL]
        if not active.size:
            break
    return pi[0] if weights is None else pi


def _newton_step(R: FloatArray, W: FloatArray, c: FloatArray, pi: FloatArray) -> FloatArray:
    density = pi @ R.T
    pull = W / density
    slope = pull @ R - c
    curvature = _curvature(R, pull / density)
    linear = np.einsum("bkl,bl->bk", curvature, pi) + slope
    step = minimise_on_simplex(curvature, linear) - pi
    gain = np.einsum("bk,bk->b", slope, step)
    height = _height(W, density, c, pi)
    length = np.ones(len(pi))
    open_ = np.arange(len(pi))
    for _ in range(50):
        tried = pi[open_] + length[open_, None] * step[open_]
        rise = _height(W[open_], tried @ R.T, c[open_], tried) - height[open_]
        # Near the top a rise is lost in rounding: there the full step is safe.
        enough = rise >= 1e-4 * length[open_] * gain[open_] - 1e-13
        open_ = open_[~enough]
        if not open_.size:
            break
        length[open_] /= 2
    return pi + length[:, None] * step


def _height(W: FloatArray, density: FloatArray, c: FloatArray, pi: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        height = np.einsum("bj,bj->b", W, np.log(density)) - np.einsum("bk,bk->b", c, pi)
    return np.where(np.isnan(height), -np.inf, height)


def _curvature(R: FloatArray, weights: FloatArray) -> FloatArray:
    """Sums ``sum_j w_j r_jk r_jl`` for each row of weights, (B, K, K): one product."""
    n_classes = R.shape[1]
    upper, lower = np.triu_indices(n_classes)
    sums = weights @ (R[:, upper] * R[:, lower])
    curvature = np.empty((len(weights), n_classes, n_classes))
    curvature[:, upper, lower] = curvature[:, lower, upper] = sums
    return curvature
