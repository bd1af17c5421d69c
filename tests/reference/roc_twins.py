"""Slow but obvious twins of what src/unseen/roc does fast."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize
from scipy.special import betainc

from unseen.roc.models import RocModel

Array = NDArray[np.float64]


def roc_by_thresholds(scores_F: Array, scores_H: Array) -> tuple[Array, Array]:
    """Vertices of the ROC: the share above each threshold, one threshold at a time."""
    thresholds = np.unique(np.concatenate([scores_F, scores_H]))[::-1]
    pairs = [(np.mean(scores_H >= t), np.mean(scores_F >= t)) for t in thresholds]
    false_alarm, detection = np.array([(0.0, 0.0), *pairs]).T
    return false_alarm, detection


def majorant_at_vertices(x: Array, y: Array) -> Array:
    """Least concave majorant at each vertex: the highest chord over it."""
    highest = y.copy()
    for middle in range(x.size):
        for left in range(middle + 1):
            for right in range(middle, x.size):
                if x[left] < x[right]:
                    t = (x[middle] - x[left]) / (x[right] - x[left])
                    highest[middle] = max(highest[middle], (1 - t) * y[left] + t * y[right])
                elif x[left] == x[middle]:
                    highest[middle] = max(highest[middle], y[right])
    return highest


def dirichlet_rocs(
    scores_F: Array, scores_H: Array, grid: Array, n_replicates: int, rng: np.random.Generator
) -> Array:
    """Bayesian bootstrap row by row, as Gu, Ghosal & Roy write it; scores without ties."""
    above = scores_H[:, np.newaxis] > scores_F
    curves = np.empty((n_replicates, grid.size))
    for replicate in curves:
        weights_H = rng.dirichlet(np.ones(scores_H.size))
        weights_F = rng.dirichlet(np.ones(scores_F.size))
        placement = weights_H @ above
        replicate[:] = [(weights_F * (placement <= alpha)).sum() for alpha in grid]
    return curves


def expected_bootstrap_roc(scores_F: Array, scores_H: Array, grid: Array) -> Array:
    """Mean of all replicates: a row of F under j rows of H is placed at Beta(j, m - j)."""
    m = scores_H.size
    above = (scores_H[:, np.newaxis] > scores_F).sum(axis=0)
    curve = np.zeros(grid.size)
    for j in above:
        curve += 1.0 if j == 0 else 0.0 if j == m else betainc(j, m - j, grid)
    return curve / scores_F.size


def minimise_deviance(
    model: RocModel, false_alarm: Array, detection: Array, starts: Array
) -> OptimizeResult:
    """B_f by L-BFGS-B from every start in turn; the best end."""

    def deviance(parameters: Array) -> tuple[float, Array]:
        value, complement, gradient = model.value_and_gradient(false_alarm, parameters)
        total = detection @ np.log(value) + (1 - detection) @ np.log(complement)
        return -2 * total, gradient @ (2 * ((1 - detection) / complement - detection / value))

    return _from_every_start(deviance, model, starts)


def _from_every_start(function, model: RocModel, starts: Array) -> OptimizeResult:
    lower, upper = model.bounds
    ends = [
        minimize(
            function,
            np.clip(start, lower, upper),
            jac=True,
            method="L-BFGS-B",
            bounds=list(zip(lower, upper, strict=True)),
            options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000, "maxfun": 20000},
        )
        for start in starts
    ]
    return min(ends, key=lambda end: end.fun)
