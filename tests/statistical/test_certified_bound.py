"""The bound must hold with probability 1 - delta, whatever the distributions."""

import numpy as np
import pytest

from unseen.mixture import CertifiedBound
from unseen.mixture.bound import uniform_bound
from unseen.roc.sketch import RocSketch

N_DRAWS = 400
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
        labelled, unlabelled = (c[::-1] for c in RocSketch.from_scores(F, H).increments())
        shares = np.cumsum(unlabelled) / F.size, np.cumsum(labelled) / H.size
        failures += uniform_bound(*shares, 0.0, 0.0) < CASES["overlapping"][2]
    assert failures / N_DRAWS > 3 * DELTA


def test_each_exact_limit_alone_is_not_wasteful() -> None:
    """One rank and F = H: the two limits at delta / 2 each fail together in about delta."""
    from unseen.mixture.bound import clopper_pearson_bound

    rng = np.random.default_rng(0)
    delta, below = 0.4, 0
    for _ in range(2000):
        rank = np.array([20])
        H, F = np.sort(rng.random(40)), rng.random(40)
        labelled, unlabelled = (c[::-1] for c in RocSketch.from_scores(F, H).increments())
        below += clopper_pearson_bound(labelled, unlabelled, rank, delta) < 1.0
    assert 0.02 < below / 2000 <= delta
