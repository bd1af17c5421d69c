"""Slow and obvious twins of the mixture estimators."""

import numpy as np
from scipy.optimize import minimize
from scipy.stats import norm


def best_bin_over_all_scores(scores_F, scores_H, delta, gamma) -> float:
    """Try every observed score as the threshold."""
    penalty = sum(np.sqrt(np.log(4 / delta) / (2 * len(s))) for s in (scores_F, scores_H))
    best = (np.inf, np.nan)
    for threshold in np.concatenate([scores_F, scores_H]):
        share_F = np.mean(scores_F <= threshold)
        share_H = np.mean(scores_H <= threshold)
        if share_H > 0:
            ratio = share_F / share_H
            best = min(best, (ratio + (1 + gamma) / share_H * penalty, ratio))
    return best[1]


def uniform_bound_over_all_scores(scores_F, scores_H, eps_F, eps_H) -> float:
    """Try every observed score as the threshold."""
    best = 1.0
    for threshold in np.concatenate([scores_F, scores_H]):
        lower_H = np.mean(scores_H <= threshold) - eps_H
        if lower_H > 0:
            best = min(best, (np.mean(scores_F <= threshold) + eps_F) / lower_H)
    return best


def pooled_normal_scores(scores_F, scores_H) -> tuple[np.ndarray, np.ndarray]:
    """Normal quantile of the mid-rank in the pooled sample; each sample weighs a half."""

    def middle(value):
        below = np.mean(scores_F < value) + np.mean(scores_H < value)
        tied = np.mean(scores_F == value) + np.mean(scores_H == value)
        return norm.ppf((below + tied / 2) / 2)

    return (np.array([middle(value) for value in np.sort(s)]) for s in (scores_F, scores_H))


def kernel_density_by_sum(sample, points, bandwidth) -> np.ndarray:
    """One Gaussian per row, added."""
    return norm.pdf(points[:, None], loc=sample[None, :], scale=bandwidth).mean(axis=1)


def prior_by_iteration(ratio, tolerance) -> float:
    """EM from ν = 1 downwards, each step as generous as the tolerance allows."""
    scaled = ratio / ratio.mean()
    nu = 1.0
    for _ in range(200_000):
        step = min(1.0, np.mean(np.minimum(1, nu * scaled)) / (1 - tolerance))
        if abs(step - nu) < 1e-13:
            break
        nu = step
    return nu


def nearest_in_hull_by_slsqp(points, target) -> np.ndarray:
    """The quadratic programme over the simplex, handed to a general solver."""
    n = points.shape[1]
    found = minimize(
        lambda v: np.sum((points @ v - target) ** 2),
        np.full(n, 1 / n),
        jac=lambda v: 2 * points.T @ (points @ v - target),
        bounds=[(0, 1)] * n,
        constraints={"type": "eq", "fun": lambda v: v.sum() - 1, "jac": lambda v: np.ones(n)},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return found.x
