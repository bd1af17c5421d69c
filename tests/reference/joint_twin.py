"""Slow but obvious twins of the joint fit in src/unseen/roc/joint.py."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import LinearConstraint, OptimizeResult, minimize, minimize_scalar

from unseen.roc.models import Concave, RocModel

Array = NDArray[np.float64]


def deviance(model: RocModel, alpha: Array, curve: Array, parameters: Array) -> float:
    """Binomial deviance B_f of one curve."""
    value, complement, _ = model.value_and_gradient(alpha, parameters)
    return float(-2 * (curve @ np.log(value) + (1 - curve) @ np.log(complement)))


def with_slope(model: RocModel, slope: float, delta: float) -> Array:
    """Parameters (γ, Δ) of the curve that has this slope and this Δ."""
    if isinstance(model, Concave):
        return np.array([(slope - delta) / (1 - delta), delta])
    return np.array([slope, delta])


def profile_deviance(model: RocModel, alpha: Array, curve: Array, slope: float) -> float:
    """Least deviance over Δ: a fine scan, then Brent's method round its best point."""
    if isinstance(model, Concave):
        slope = max(slope, 1e-6)
        deltas = slope * np.exp(np.linspace(np.log(1e-6), np.log(0.999), 60))
    else:
        deltas = np.linspace(0, 10, 120)
    scan = [deviance(model, alpha, curve, with_slope(model, slope, delta)) for delta in deltas]
    best = int(np.argmin(scan))
    bracket = deltas[max(best - 1, 0)], deltas[min(best + 1, deltas.size - 1)]
    end = minimize_scalar(
        lambda delta: deviance(model, alpha, curve, with_slope(model, slope, delta)),
        bounds=bracket,
        method="bounded",
        options={"xatol": 1e-9},
    )
    return min(end.fun, min(scan))


def best_on_grid(
    model: RocModel, alpha: Array, curves: Array, n_steps: int, closed: bool = True
) -> float:
    """Least total deviance over slopes that are multiples of 1 / n_steps: every one is tried."""
    slopes = np.arange(n_steps + 1) / n_steps
    best = {0: 0.0}
    for curve in curves:
        own = [profile_deviance(model, alpha, curve, slope) for slope in slopes]
        totals: dict[int, float] = {}
        for before, cost in best.items():
            for step in range(n_steps + 1 - before):
                total = before + step
                totals[total] = min(totals.get(total, np.inf), cost + own[step])
        best = totals
    return best[n_steps] if closed else min(best.values())


def by_general_solver(
    model: RocModel,
    alpha: Array,
    curves: Array,
    start: Array,
    method: str = "trust-constr",
    closed: bool = True,
) -> OptimizeResult:
    """The same problem for Gaussian curves as the paper states it, over all γ and Δ at once."""
    n_classes = len(curves)

    def total(flat: Array) -> tuple[float, Array]:
        value, complement, gradient = model.value_and_gradient(alpha, flat.reshape(-1, 2))
        fit = -2 * (curves * np.log(value) + (1 - curves) * np.log(complement)).sum()
        score = 2 * ((1 - curves) / complement - curves / value)
        return fit, np.einsum("pkj,kj->kp", gradient, score).ravel()

    lower, upper = (np.tile(bound, n_classes) for bound in model.bounds)
    only_gamma = np.tile([1.0, 0.0], n_classes)
    options = {
        "trust-constr": {"gtol": 1e-9, "xtol": 1e-10, "maxiter": 5000},
        "SLSQP": {"ftol": 1e-12, "maxiter": 1000},
    }
    return minimize(
        total,
        start.ravel(),
        jac=True,
        method=method,
        bounds=list(zip(lower, upper, strict=True)),
        constraints=LinearConstraint(only_gamma, 1.0 if closed else 0.0, 1.0),
        options=options[method],
    )
