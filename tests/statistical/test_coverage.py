"""Nominal 95% intervals must cover; the large version is benchmarks/coverage.py."""

from functools import cache

import numpy as np
import pytest

from unseen import MPEIncomplete, OpenSetEstimator
from unseen.intervals import Calibrated, IntervalEvidence, Percentile, certified_unseen
from unseen.scores import PairScores

N_DRAWS = 40
SHARES = np.array([0.35, 0.15, 0.5])


def draw(seed: int) -> PairScores:
    """Two known classes and an unseen one in the plane; scores that no classifier has fitted."""
    rng = np.random.default_rng([11, seed])
    centres = np.array([[0.0, 0.0], [3.5, 0.0], [0.0, 3.5]])
    codes = rng.choice(3, size=400, p=SHARES)
    rows = centres[codes] + rng.normal(size=(400, 2))
    pairs = []
    for k in range(2):
        own = centres[k] + rng.normal(size=(200, 2))
        pairs.append((log_odds(rows, centres, k), log_odds(own, centres, k)))
    return PairScores(("a", "b"), tuple(pairs), seed=seed)


def log_odds(rows: np.ndarray, centres: np.ndarray, k: int) -> np.ndarray:
    """The optimal score: log of the density of the mixture over that of class k."""
    log_density = -0.5 * ((rows[:, None] - centres) ** 2).sum(axis=2)
    return np.logaddexp.reduce(log_density + np.log(SHARES), axis=1) - log_density[:, k]


@pytest.fixture(scope="module")
def covered() -> dict[str, np.ndarray]:
    """Per kind of interval: which shares were covered, (draws, 3)."""
    methods = {
        "calibrated": Calibrated(n_replicates=100),
        "percentile": Percentile(n_replicates=100),
        "simultaneous": Calibrated(n_replicates=100, simultaneous=True),
    }
    found: dict[str, list[np.ndarray]] = {name: [] for name in methods}
    estimator = MPEIncomplete()
    for seed in range(N_DRAWS):
        scores = draw(seed)
        reading = estimator.read(scores)
        evidence = IntervalEvidence(
            reading.shares, cache(reading.replicates), scores.n_new, seed=seed
        )
        for name, method in methods.items():
            limits = method.limits(evidence, 0.95)
            found[name].append((limits[:, 0] <= SHARES) & (limits[:, 1] >= SHARES))
    return {name: np.array(rows) for name, rows in found.items()}


def test_default_intervals_cover_every_share(covered) -> None:
    assert (covered["calibrated"].mean(axis=0) >= 0.93).all()


def test_percentiles_cover_less(covered) -> None:
    assert covered["percentile"].mean() < covered["calibrated"].mean()


def test_simultaneous_intervals_cover_all_shares_at_once(covered) -> None:
    at_once = covered["simultaneous"].all(axis=1).mean()
    assert at_once >= 0.93
    assert at_once >= covered["calibrated"].all(axis=1).mean()


def test_intervals_of_the_default_cover_the_unseen_share() -> None:
    # The large version, with several known classes too, is benchmarks/calibration.py.
    hits = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, X_new = rng.normal(size=(100, 2)), rng.normal(size=(120, 2))
        X_new[rng.random(120) < 0.4, 0] += 2.5
        estimator = OpenSetEstimator(random_state=0).fit(X, np.zeros(100, dtype=int))
        lower, upper = estimator.estimate(X_new, confidence=0.95).intervals[-1]
        hits.append(lower <= 0.4 <= upper)
    assert np.mean(hits) >= 0.85


def test_certified_bound_is_below_the_unseen_share() -> None:
    """At delta = 0.2, 10 draws: it may fail in 2; it does not say 0 each time either."""
    bounds = []
    for seed in range(10):
        rng = np.random.default_rng([12, seed])
        known = [rng.normal(centre, 1, (150, 1)) for centre in (0, 6)]
        codes = rng.choice(3, size=300, p=[0.3, 0.2, 0.5])
        X_new = (np.array([0.0, 6.0, 12.0])[codes] + rng.normal(size=300))[:, None]
        bounds.append(certified_unseen(known, X_new, 0.2, random_state=0))
    assert np.mean(np.array(bounds) > 0.5) <= 0.2
    assert np.median(bounds) > 0.1
