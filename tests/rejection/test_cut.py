"""Thresholds, against brute force over every cut."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from unseen.rejection.risk import (
    cost_threshold,
    false_discovery_threshold,
    recall_threshold,
    reject_rate_threshold,
)
from unseen.rejection.sample import labels_at, novelty


def scores(seed: int, n: int = 60, m: int = 90) -> tuple[np.ndarray, ...]:
    """Novelty of two known classes, and of new rows of which the last third is unseen."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 2
    known = rng.beta(2, 5 - codes)
    new = np.append(rng.beta(2, 5 - np.arange(2 * m // 3) % 2), rng.beta(6, 2, m // 3))
    return known.round(2), codes, new.round(2), np.array([1 / 3, 1 / 3])


def at_least(values: np.ndarray, cut: float) -> float:
    return float(np.mean(values >= cut))


def test_half_is_the_most_probable_of_all_labels() -> None:
    probabilities = np.random.default_rng(0).dirichlet(np.ones(4), 500)
    assert_array_equal(labels_at(probabilities), probabilities.argmax(axis=1))
    assert_array_equal(novelty(probabilities) >= 0.5, probabilities.argmax(axis=1) == 3)


@pytest.mark.parametrize("cost", [0.2, 1.0, 7.0])
def test_cost_has_the_least_expected_cost(cost) -> None:
    probabilities = np.random.default_rng(1).dirichlet(np.ones(4), 500)
    costs = 1.0 - np.eye(4)
    costs[-1, :-1] = cost
    assert_array_equal(
        labels_at(probabilities, cost_threshold(cost)), (probabilities @ costs).argmin(axis=1)
    )


@pytest.mark.parametrize("rate", [0.0, 0.25, 0.5, 1.0])
def test_reject_rate_is_met(rate) -> None:
    new = np.random.default_rng(2).random(80)
    assert np.mean(new >= reject_rate_threshold(new, rate)) == rate


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("recall", [0.3, 0.8, 1.0])
def test_recall_is_the_largest_cut_that_finds_enough(recall, seed) -> None:
    known, codes, new, shares = scores(seed)

    def found(cut: float) -> float:
        kept = [at_least(known[codes == label], cut) for label in range(2)]
        return (at_least(new, cut) - shares @ kept) / (1 - shares.sum())

    cut = recall_threshold(known, codes, new, shares, recall)
    every = np.unique(np.append(known, new))
    assert cut == max(t for t in every if found(t) >= recall - 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_false_discoveries_take_the_smallest_cut_that_keeps_the_level(seed) -> None:
    known, codes, new, shares = scores(seed)
    n = len(known) // 2

    def discoveries(cut: float) -> float:
        counts = [np.sum(known[codes == label] >= cut) for label in range(2)]
        return shares @ ((1 + np.array(counts)) / (n + 1)) / at_least(new, cut)

    cut = false_discovery_threshold(known, codes, new, shares, 0.2)
    assert cut == min(t for t in np.unique(new) if discoveries(t) <= 0.2)


def test_false_discoveries_keep_the_level_on_average() -> None:
    level, rates = 0.1, []
    for seed in range(100):
        known, codes, new, shares = scores(seed, 400, 300)
        cut = false_discovery_threshold(known, codes, new, shares, level)
        rates.append(np.mean(np.arange(300)[new >= cut] < 200))
    assert 0.05 < np.mean(rates) < level + 2 * np.std(rates) / 10


def test_a_sample_too_small_for_the_level_is_said_with_the_level_in_reach() -> None:
    known, codes, new, shares = scores(0, 20, 90)
    with pytest.raises(ValueError, match="calibration sample is too small") as error:
        false_discovery_threshold(known, codes, new, shares, 0.01)
    reach = float(str(error.value).split("within reach is ")[1].split(". Ask")[0])
    assert 0.01 < reach < 1
    false_discovery_threshold(known, codes, new, shares, reach * 1.01)
    with pytest.raises(ValueError, match="too small"):
        false_discovery_threshold(known, codes, new, shares, reach * 0.99)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda *s: cost_threshold(0.0), "cost must be > 0; got 0.0"),
        (
            lambda known, codes, new, shares: reject_rate_threshold(new, 1.5),
            "in \\[0, 1\\]; got 1.5",
        ),
        (lambda *s: recall_threshold(*s, 0.0), "recall must lie in"),
        (lambda *s: false_discovery_threshold(*s, 1.0), "fdr must lie strictly"),
        (lambda a, b, c, d: recall_threshold(a, b, c, d + 0.5, 0.5), "nothing to find"),
    ],
)
def test_bad_aims_are_named(call, message) -> None:
    with pytest.raises(ValueError, match=message):
        call(*scores(0))
