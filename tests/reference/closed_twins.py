"""Slow and obvious twins of the closed-set estimators."""

import json
from itertools import product
from pathlib import Path

import numpy as np
from scipy.integrate import trapezoid
from scipy.optimize import minimize
from scipy.stats import norm

from unseen.scores import Posteriors

PEERS = {path.stem: path for path in sorted(Path(__file__).with_name("peers").glob("*.json"))}


def peer_problem(name):
    """Posteriors of a frozen problem, and what other libraries answered."""
    frozen = json.loads(PEERS[name].read_text())
    labelled, new = (np.array(frozen[key]) for key in ("labelled", "new"))
    codes = np.array(frozen["codes"])
    record = Posteriors(tuple(range(labelled.shape[1])), codes, labelled, new)
    return record, {peer: np.array(shares) for peer, shares in frozen["answers"].items()}


def gaussian_rows(centres, shares, n_rows, rng):
    """Rows from unit Gaussians in random shares, and their classes."""
    codes = rng.choice(len(centres), n_rows, p=shares)
    return np.asarray(centres)[codes] + rng.normal(size=(n_rows, np.shape(centres)[1])), codes


def gaussian_posteriors(rows, centres, prior):
    """The true posteriors of rows from unit Gaussians."""
    logits = np.log(prior) - ((rows[:, None] - np.asarray(centres)) ** 2).sum(axis=2) / 2
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def gaussian_record(centres, shares, n_labelled, n_new, seed, prior=None):
    """True posteriors of a label-shift problem."""
    rng = np.random.default_rng(seed)
    n_classes = len(centres)
    prior = np.full(n_classes, 1 / n_classes) if prior is None else np.asarray(prior)
    X, codes = gaussian_rows(centres, prior, n_labelled, rng)
    X_new, _ = gaussian_rows(centres, shares, n_new, rng)
    labelled, new = (gaussian_posteriors(rows, centres, prior) for rows in (X, X_new))
    return Posteriors(tuple(range(n_classes)), codes, labelled, new, prior=prior)


def em(posteriors, prior, n_steps=200_000, tol=1e-14):
    """EM as its authors wrote it: reweigh the posteriors, average, repeat."""
    shares = np.array(prior, dtype=float)
    for _ in range(n_steps):
        weighted = posteriors * (shares / prior)
        weighted /= weighted.sum(axis=1, keepdims=True)
        last, shares = shares, weighted.mean(axis=0)
        if np.abs(shares - last).max() < tol:
            break
    return shares


def on_simplex(objective, n_classes, tol=1e-15):
    """Minimise any smooth function over the simplex with a general solver, from two starts."""
    corner = np.full(n_classes, 0.1 / n_classes) + 0.9 * (np.arange(n_classes) == 0)
    found = [
        minimize(
            objective,
            start,
            method="SLSQP",
            bounds=[(0, 1)] * n_classes,
            constraints={"type": "eq", "fun": lambda shares: shares.sum() - 1},
            options={"ftol": tol, "maxiter": 1000},
        )
        for start in (np.full(n_classes, 1 / n_classes), corner)
    ]
    return min(found, key=lambda result: result.fun).x


def grid(n_classes, n_steps):
    """All shares that are multiples of 1 / n_steps."""
    counts = product(range(n_steps + 1), repeat=n_classes - 1)
    heads = np.array([count for count in counts if sum(count) <= n_steps]) / n_steps
    return np.column_stack([heads, 1 - heads.sum(axis=1)])


def density(rows, at, bandwidth):
    """One-dimensional Gaussian kernel density estimate."""
    return norm.pdf(at[:, None], rows[None, :], bandwidth).mean(axis=1)


def l2_distance(shares, x, codes, x_new, bandwidth, n_points=4001):
    """Integrated squared difference of density estimates, by the trapezoidal rule."""
    edge = 8 * bandwidth
    rows = np.concatenate([x, x_new])
    at = np.linspace(rows.min() - edge, rows.max() + edge, n_points)
    known = np.array([density(x[codes == k], at, bandwidth) for k in range(len(shares))])
    return trapezoid((density(x_new, at, bandwidth) - shares @ known) ** 2, at)


def ecdf_distance(shares, x, codes, x_new):
    """Squared difference of distribution functions, averaged over all rows."""
    at = np.concatenate([x, x_new])
    new = (x_new[None, :] <= at[:, None]).mean(axis=1)
    known = [(x[codes == k][None, :] <= at[:, None]).mean(axis=1) for k in range(len(shares))]
    return np.mean((new - shares @ np.array(known)) ** 2)


def divergence(shares, labelled, codes, new, penalty):
    """Max over alpha of E_0[log r] - log sum_i theta_i E_i[r] - penalty, by a general solver."""
    weight = shares[codes] / np.bincount(codes)[codes]

    def negative(alpha):
        tilted = weight * np.exp(labelled @ alpha)
        total = tilted.sum()
        value = (new @ alpha).mean() - np.log(total) - penalty * alpha @ alpha / 2
        return -value, -(new.mean(axis=0) - tilted @ labelled / total - penalty * alpha)

    options = {"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-10}
    start = np.zeros(labelled.shape[1])
    return -minimize(negative, start, jac=True, method="L-BFGS-B", options=options).fun
