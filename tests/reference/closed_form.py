"""A problem whose Bayes risk is known: normal classes in a row, the unseen one in the middle."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from unseen.rejection.sample import OpenSample

CENTRES = np.array([-2.0, 2.0, 0.0])
SHARES = np.array([0.3, 0.3, 0.4])  # of two known classes, then of the unseen one
# Known and unseen are equally probable where .3 phi(x - 2) = .4 phi(x).
CUT = 1 + np.log(SHARES[2] / SHARES[1]) / 2
BAYES_RISK = 1 - 2 * SHARES[0] * norm.cdf(2 - CUT) - SHARES[2] * (2 * norm.cdf(CUT) - 1)


def samples(n, seed):
    """n labelled rows with their codes, and n new rows; the second feature is noise."""
    rng = np.random.RandomState(seed)
    codes, hidden = rng.randint(2, size=n), rng.choice(3, p=SHARES, size=n)
    X, X_new = rng.normal(size=(2, n, 2))
    X[:, 0] += CENTRES[codes]
    X_new[:, 0] += CENTRES[hidden]
    return X, codes, X_new, hidden


def _lattice():
    first, second = np.linspace(-7, 7, 701), np.linspace(-4, 4, 81)
    rows = np.stack(np.meshgrid(first, second, indexing="ij"), axis=-1).reshape(-1, 2)
    weights = SHARES * norm.pdf(rows[:, :1] - CENTRES) * norm.pdf(rows[:, 1:])
    return rows, weights / weights.sum()


LATTICE, WEIGHTS = _lattice()


def excess_risk(fitted):
    """Risk of a fitted rule less the Bayes risk, by summation over a fine lattice."""
    label = fitted.probabilities(LATTICE).argmax(axis=1)
    return 1 - WEIGHTS[np.arange(len(label)), label].sum() - BAYES_RISK


def excess_by_size(rule, sizes=(1_000, 10_000, 100_000), n_draws=3):
    """Mean excess risk of the rule for growing samples, the true shares given."""
    found = np.zeros(len(sizes))
    for place, n in enumerate(sizes):
        for seed in range(n_draws):
            X, codes, X_new, _ = samples(n, seed)
            sample = OpenSample(X, codes, X_new, SHARES[:2])
            found[place] += excess_risk(rule._fit_rule(sample, np.random.RandomState(seed)))
    return found / n_draws
