"""must(c) is a certificate: closed forms, and simulated drifts of factor at most c."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import beta, binom

from unseen import CertifiedBound
from unseen.drift import Tolerance, certified_tolerance, group_tolerance
from unseen.roc.sketch import RocSketch


def test_must_is_the_best_region_in_closed_form() -> None:
    found = Tolerance(np.array([0.01, 0.1]), np.array([0.2, 0.5]))
    for factor in (1.0, 2.0, 5.0, 9.0):
        regions = [1 - (1 - d) / (1 - factor * a) for a, d in ((0.01, 0.2), (0.1, 0.5))]
        assert_allclose(found.must(factor), max(0.0, *regions))
    assert found.must() == found.must(1.0)


def test_limits_of_classes_and_regions_fail_together_in_delta() -> None:
    """(1 - alpha)^n is the chance that the highest of n rows misses alpha; detection^m likewise."""
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(4), 150)
    found = certified_tolerance(np.full(300, 9.0), rng.normal(size=600), codes, delta=0.1)
    n_regions = len(found.alpha)
    assert 4 * n_regions * (1 - found.alpha[0]) ** 150 == pytest.approx(0.05)
    assert_allclose(n_regions * found.detection**300, 0.05)


def test_limits_of_groups_are_the_exact_ones_of_a_proportion() -> None:
    """So many rows or more above a region have, at the limit, the level of one region of all."""
    rng = np.random.default_rng(0)
    old, new = rng.normal(size=(400, 1)), np.r_[rng.normal(size=90), np.full(30, 9.0)][:, None]
    codes, groups = np.repeat([0, 1], 200), np.repeat(np.arange(8), 50)
    old[200:] *= 2  # the class that reaches farthest says where a region begins
    found, factors = group_tolerance(new, old, codes, groups, delta=0.1)
    cuts = np.quantile(old[200:, 0], 1 - found.alpha)
    counts = (new > cuts).sum(axis=0)
    assert_allclose(binom.sf(counts - 1, 120, found.detection), 0.1 / len(cuts))
    above = [[(old[groups == one] > cut).mean() for cut in cuts] for one in range(8)]
    assert_allclose(factors, (np.array(above) / found.alpha).max(axis=1))


def test_a_region_that_a_factor_fills_says_nothing() -> None:
    assert Tolerance(np.array([0.5]), np.array([0.9])).must(2.0) == 0.0
    assert Tolerance(np.zeros(0), np.zeros(0)).must(1.0) == 0.0


def test_gamma_is_where_must_reaches_zero() -> None:
    found = Tolerance(np.array([0.02, 0.1]), np.array([0.1, 0.4]))
    assert found.gamma == pytest.approx(5.0)
    assert found.must(found.gamma - 1e-6) > 0 == found.must(found.gamma + 1e-6)
    assert Tolerance(np.array([0.2]), np.array([0.1])).gamma == 0.0
    assert Tolerance(np.zeros(0), np.zeros(0)).gamma == 0.0


def test_must_falls_as_the_factor_grows() -> None:
    found = Tolerance(np.array([0.01, 0.05, 0.2]), np.array([0.1, 0.3, 0.6]))
    values = [found.must(factor) for factor in np.linspace(1, 20, 60)]
    assert (np.diff(values) <= 0).all()


@pytest.mark.parametrize("factor", [0.5, np.nan])
def test_a_factor_below_one_is_refused(factor: float) -> None:
    with pytest.raises(ValueError, match="factor must be at least 1"):
        Tolerance(np.array([0.1]), np.array([0.4])).must(factor)


@pytest.mark.parametrize("n_rows", [40, 1000])
def test_thresholds_stand_at_the_largest_rank_whose_limit_is_small_enough(n_rows: int) -> None:
    above = np.arange(n_rows)[::-1]  # of labelled rows above each score
    found = certified_tolerance(
        np.repeat(np.arange(n_rows), 2), np.arange(n_rows), np.zeros(n_rows)
    )
    level = 0.05 / (2 * len(found.alpha))
    for alpha, detection in zip(found.alpha, found.detection, strict=True):
        # Two new rows stand at each labelled one: so many lie above the labelled row of rank r.
        limits = beta.ppf(level, np.maximum(2 * above, 1), 2 * n_rows - 2 * above + 1)
        rank = 1 + int(above[np.isclose(np.where(above > 0, limits, 0.0), detection)][-1])
        upper = [beta.ppf(1 - level, r, n_rows - r + 1) for r in (rank, rank + 1)]
        assert upper[0] <= alpha < upper[1]


def test_too_few_labelled_rows_certify_nothing() -> None:
    found = certified_tolerance(np.ones(100), np.zeros(10), np.zeros(10))
    assert (found.must(1.0), found.gamma) == (0.0, 0.0)


def drifted_part(rng, centre, factor, n_rows, score, kind) -> np.ndarray:
    """Rows of a class whose density grew at most by the factor: the worst region, or a half."""
    rows = rng.normal(centre, 1, (int(8 * factor * n_rows) + 500, len(centre)))
    value = score(rows) if kind == "worst" else rows @ rng.normal(size=len(centre))
    kept = rows[value >= np.quantile(value, 1 - 1 / factor)]
    return kept[rng.permutation(len(kept))[:n_rows]]


@pytest.mark.slow
def test_must_is_above_the_truth_not_more_often_than_its_level() -> None:
    rng = np.random.default_rng(0)
    too_high, n_draws = 0, 200
    for draw in range(n_draws):
        n_classes, width = int(rng.integers(1, 4)), int(rng.integers(1, 5))
        factor, unseen = rng.choice([1.0, 2.0, 3.0, 5.0]), rng.choice([0.0, 0.05, 0.2, 0.5])
        centres = rng.normal(0, 2, (n_classes, width))
        away = rng.normal(size=width)
        away *= rng.uniform(2, 8) / np.linalg.norm(away)

        def score(rows, centres=centres, coarse=draw % 3 == 0) -> np.ndarray:
            near = np.linalg.norm(rows[:, None] - centres, axis=2).min(axis=1)
            return near.round() if coarse else near

        codes = np.repeat(np.arange(n_classes), rng.integers(40, 300, n_classes))
        old = rng.normal(centres[codes], 1)
        m = int(rng.integers(100, 800))
        n_unseen = rng.binomial(m, unseen)
        counts = rng.multinomial(m - n_unseen, rng.dirichlet(np.ones(n_classes)))
        kind = rng.choice(["worst", "half"])
        parts = [
            drifted_part(rng, centre, factor, count, score, kind)
            for centre, count in zip(centres, counts, strict=True)
        ]
        new = np.vstack([*parts, rng.normal(away, 1, (n_unseen, width))])
        too_high += certified_tolerance(score(new), score(old), codes).must(factor) > unseen
    # At the level .05, more than 17 of 200 would have a probability below .02.
    assert too_high <= 17


def test_factor_one_agrees_with_the_certified_bound() -> None:
    rng = np.random.default_rng(1)
    H, codes = rng.normal(0, 1, 1500), np.zeros(1500)
    for unseen, least in ((0.0, 0.0), (0.6, 0.4)):
        n_new = int(1500 * unseen)
        F = np.r_[rng.normal(0, 1, 1500 - n_new), rng.normal(5, 1, n_new)]
        must = certified_tolerance(F, H, codes).must(1.0)
        bound = 1 - CertifiedBound().from_sketch(RocSketch.from_scores(F, H)).upper
        assert least <= must <= unseen
        assert abs(must - bound) < 0.1
