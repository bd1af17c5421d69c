"""Kernel logistic regression on the full kernel by Newton's method: slow and obvious."""

from __future__ import annotations

import numpy as np
from scipy.special import expit


def gaussian_kernel(left, right, bandwidth):
    squared = ((left[:, None, :] - right[None, :, :]) ** 2).sum(axis=2)
    return np.exp(-squared / (2 * bandwidth**2))


def exact_binary(X, positive, bandwidth, C, weight=None, n_steps=100):
    """Minimise a' K a / 2 + C sum_i w_i loss over f = K a + b; returns (a, b).

    At the optimum a_i = -C w_i (p_i - t_i), and so the intercept's condition is sum a_i = 0.
    """
    weight = np.ones(len(X)) if weight is None else weight
    K = gaussian_kernel(X, X, bandwidth)
    n = len(X)
    a, b = np.zeros(n), 0.0
    for _ in range(n_steps):
        f = K @ a + b
        p = expit(f)
        spread = np.maximum(C * weight * p * (1 - p), 1e-12)
        # Newton for (a, b): (K + D^-1) a_new + b_new = z and sum(a_new) = 0.
        z = f - C * weight * (p - positive) / spread
        system = np.zeros((n + 1, n + 1))
        system[:n, :n] = K + np.diag(1 / spread)
        system[:n, n] = 1.0
        system[n, :n] = 1.0
        solution = np.linalg.solve(system, np.append(z, 0.0))
        change = np.abs(K @ (solution[:n] - a) + solution[n] - b).max()
        a, b = _halve_until_better(K, a, b, solution, positive, weight, C)
        if change < 1e-10:
            break
    return a, b


def _halve_until_better(K, a, b, solution, positive, weight, C):
    def objective(a, b):
        f = K @ a + b
        return a @ K @ a / 2 + C * weight @ np.logaddexp(0, np.where(positive, -f, f))

    start, step = objective(a, b), 1.0
    while step > 1e-6:
        a_new = a + step * (solution[:-1] - a)
        b_new = b + step * (solution[-1] - b)
        if objective(a_new, b_new) <= start + 1e-12 * abs(start):
            return a_new, b_new
        step /= 2
    return a, b


def exact_scores(X, positive, X_new, bandwidth, C, weight=None):
    a, b = exact_binary(X, positive, bandwidth, C, weight)
    return gaussian_kernel(X_new, X, bandwidth) @ a + b
