"""The bound must hold with probability 1 - delta, whatever the distributions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq
from scipy.stats import betabinom, binom

from unseen.mixture import CertifiedBound
from unseen.mixture.bound import clopper_pearson_bound, least_ratio
from unseen.roc.sketch import RocSketch

N_DRAWS = 200
DELTA = 0.1


def draw(rng: np.random.Generator, n_F: int, n_H: int, share: float, shift: float):
    from_H = rng.random(n_F) < share
    F = np.where(from_H, 0.0, shift) + rng.normal(size=n_F)
    return F, rng.normal(size=n_H)


CASES = {
    "nothing to find": (150, 300, 1.0, 2.0),
    "tiny share": (600, 400, 0.02, 6.0),
    "overlapping": (400, 400, 0.5, 1.0),
    "far apart": (300, 300, 0.3, 20.0),
}


@pytest.mark.parametrize("n_decimals", [None, 0], ids=["continuous", "tied"])
@pytest.mark.parametrize("form", ["clopper-pearson", "dkw", "vc"])
@pytest.mark.parametrize("case", CASES)
def test_bound_fails_no_more_often_than_delta(case, form, n_decimals) -> None:
    rng = np.random.default_rng(0)
    share = CASES[case][2]
    failures = 0
    for _ in range(N_DRAWS):
        F, H = draw(rng, *CASES[case])
        if n_decimals is not None:
            F, H = F.round(n_decimals), H.round(n_decimals)
        sketch = RocSketch.from_scores(F, H)
        failures += CertifiedBound(DELTA, form).from_sketch(sketch).upper < share
    assert failures / N_DRAWS <= DELTA


def test_without_its_margins_the_bound_would_fail_this_test() -> None:
    rng = np.random.default_rng(0)
    failures = 0
    for _ in range(N_DRAWS):
        F, H = draw(rng, *CASES["overlapping"])
        labelled, new = (c[::-1] for c in RocSketch.from_scores(F, H).increments())
        shares = np.cumsum(new) / F.size, np.cumsum(labelled) / H.size
        failures += least_ratio(*shares) < CASES["overlapping"][2]
    assert failures / N_DRAWS > 3 * DELTA


def chance_that_one_rank_fails(m: int, n: int, rank: int, delta: float) -> float:
    """F = H: upper_F < lower_H, where the rows of F under the k-th of H are beta-binomial."""
    level = delta / 2
    lower_H = brentq(lambda share: binom.sf(rank - 1, m, share) - level, 0, 1)
    n_below = np.arange(n + 1)
    fails = binom.cdf(n_below, n, lower_H) < level
    return float(betabinom.pmf(n_below, n, rank, m - rank + 1)[fails].sum())


@pytest.mark.parametrize(
    ("m", "n", "about"),
    [(40, 2000, 0.17), (2000, 40, 0.14), (40, 40, 0.08)],
    ids=["limit of H", "limit of F", "both"],
)
def test_each_exact_limit_alone_is_not_wasteful(m, n, about) -> None:
    """With nearly all of F, or of H, known one limit is left, and fails in nearly delta / 2 = 0.2.

    Both together fail less often: the gap is the sum of two margins, the noise their root mean
    square. Counts move in steps, so that no limit spends all that it may.
    """
    rng = np.random.default_rng(0)
    delta, rank, n_draws, below = 0.4, m // 2, 1000, 0
    for _ in range(n_draws):
        H, F = rng.random(m), rng.random(n)
        labelled, new = (c[::-1] for c in RocSketch.from_scores(F, H).increments())
        below += clopper_pearson_bound(labelled, new, np.array([rank]), delta) < 1.0
    chance = chance_that_one_rank_fails(m, n, rank, delta)
    assert abs(below / n_draws - chance) < 3 * np.sqrt(chance * (1 - chance) / n_draws)
    assert_allclose(chance, about, atol=0.01)
