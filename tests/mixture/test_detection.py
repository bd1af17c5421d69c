"""The detection limit foretells what the placement likelihood finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import unseen
from unseen.mixture.detection import SHARES, detection_limit, detection_power, missed_share
from unseen.mixture.placement import Candidates, placement_posterior
from unseen.roc.pooled import fitted_lattice
from unseen.samples import LabelledRows
from unseen.scores.base import Distances, RatioScores
from unseen.scores.distances import hidden_classes

PRIOR = 0.9, 0.03


def pair(rng, apart: float, n_rows: int = 4000):
    return rng.normal(apart, 1, n_rows), rng.normal(0, 1, n_rows)


def found_rate(apart: float, share: float, n_new: int, n_labelled: int, n_draws: int) -> float:
    """How often one distance of four candidates finds the share, in simulated problems."""
    rng, found = np.random.default_rng(0), []
    for _ in range(n_draws):
        is_new = rng.random(n_new) < share
        scores = np.where(is_new, apart, 0.0) + rng.normal(size=n_new), rng.normal(size=n_labelled)
        far = Distances(*(one[:, None] for one in scores))
        blind = (np.zeros((len(one), 1)) for one in scores)
        candidates = Candidates.from_ratios(RatioScores(*blind, np.zeros(1), far))
        log_prior = candidates.log_prior - [0.0, np.log(2)]
        posterior = placement_posterior(
            fitted_lattice(candidates.cells(), log_prior, PRIOR[1]), PRIOR[0]
        )
        found.append(posterior.probability_open > 0.5)
    return float(np.mean(found))


def test_the_share_at_the_limit_is_found_four_times_in_five() -> None:
    hidden = [[pair(np.random.default_rng(1), 2.5)]]
    limit = detection_limit(detection_power(hidden, 400, 200, *PRIOR))
    assert found_rate(2.5, limit, 400, 200, 30) == pytest.approx(0.8, abs=0.15)


def test_power_rises_with_rows_separation_and_prior() -> None:
    rng = np.random.default_rng(0)
    near, far = [[pair(rng, 1.5)]], [[pair(rng, 3.0)]]
    plain = detection_power(near, 400, 200, *PRIOR)
    assert np.all(detection_power(far, 400, 200, *PRIOR) >= plain - 0.01)
    assert np.all(detection_power(near, 400, 800, *PRIOR) >= plain - 0.01)
    assert np.all(detection_power(near, 400, 200, 0.5, 0.03) >= plain)


def test_a_class_is_as_visible_as_on_its_better_scale() -> None:
    rng = np.random.default_rng(0)
    good, blind = pair(rng, 3.0), pair(rng, 0.0)
    both = detection_power([[good, blind]], 400, 200, *PRIOR)
    assert np.allclose(both, detection_power([[good]], 400, 200, *PRIOR), atol=0.05)
    half = detection_power([[good], [blind]], 400, 200, *PRIOR)
    assert half[-1] < 0.8
    assert detection_limit(half) is None


@given(st.lists(st.floats(0, 1), min_size=24, max_size=24), st.floats(0.1, 0.9))
def test_the_limit_is_where_power_reaches_the_level(power, level) -> None:
    limit = detection_limit(np.array(power), level)
    if limit is None:
        assert max(power) < level
    else:
        first = SHARES[int(np.argmax(np.array(power) >= level))]
        assert SHARES[0] <= limit <= first * (1 + 1e-9)


def test_hidden_rows_are_measured_against_the_other_classes() -> None:
    rng = np.random.default_rng(0)
    rows, codes = rng.normal(size=(60, 2)), np.repeat([0, 1, 2], 20)
    rows[codes == 2] += 20
    found = hidden_classes(LabelledRows(rows, np.arange(3), codes), None, 0)
    assert [len(scales) for scales in found] == [2, 2, 2]
    hidden, others = found[2][0]
    assert (len(hidden), len(others)) == (20, 40)
    assert hidden.min() > others.max()
    apart = np.sort(cdist(rows, rows[codes != 2]), axis=1)  # each of the others finds itself first
    assert np.allclose(hidden, apart[40:, :3].mean(axis=1))
    assert np.allclose(others, apart[:40, 1:4].mean(axis=1))
    one = LabelledRows(rows, np.arange(1), np.zeros(60, dtype=int))
    assert hidden_classes(one, None, 0) == ()


def test_an_estimate_knows_its_limit() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), np.repeat([0, 1], 150)
    X[y == 1] += 5
    X_new = rng.normal(size=(300, 3))
    X_new[:150] += 5
    found = unseen.estimate(X, y, X_new, confidence=0.95, random_state=0)
    assert 0.01 < found.detection_limit < 0.2
    assert found.to_dict()["detection_limit"] == found.detection_limit
    assert found.sentence().startswith("No sign of new classes: at most ")
    assert "would have been found 4 times in 5 from" in found.sentence()
    assert found.intervals[-1, 1] > 0.01  # counting noise alone would be half of that


def test_what_is_found_for_sure_is_not_missed() -> None:
    assert missed_share(np.ones(len(SHARES)), 0.03).quantile(np.array([0.5, 0.999])).max() == 0


@given(st.floats(0.01, 1.0), st.floats(0.55, 0.99))
def test_what_is_never_found_has_its_prior(small_share, level) -> None:
    """Half of the mass is at 0, and log((u + s) / s) / log((1 + s) / s) of the rest is below u."""
    u = float(missed_share(np.zeros(len(SHARES)), small_share).quantile(np.array([level]))[0])
    exact = small_share * (((1 + small_share) / small_share) ** (2 * level - 1) - 1)
    assert u == pytest.approx(exact, rel=0.2, abs=SHARES[0])


def overlapping(apart: float, seed: int) -> tuple[np.ndarray, ...]:
    """Labelled rows of four classes, and new ones of these and a fifth, in equal parts."""
    rng = np.random.default_rng(seed)
    centres = apart * rng.normal(size=(5, 8))
    y, new = (np.repeat(np.arange(n_classes), 80) for n_classes in (4, 5))
    X, X_new = (centres[codes] + rng.normal(size=(len(codes), 8)) for codes in (y, new))
    return X, y, X_new


@pytest.mark.slow
def test_upper_ends_allow_for_classes_that_look_alike() -> None:
    """Where known classes overlap, a new one leaves no trace: "nothing" must not rule out 20%."""
    held = []
    for seed in range(6):
        found = unseen.estimate(*overlapping(0.4, seed), random_state=0)
        held.append(found.intervals[-1, 0] <= 0.2 <= found.intervals[-1, 1])
    assert sum(held) >= 5  # 3 where posteriors and distances are not asked


def test_upper_ends_stay_where_classes_lie_apart() -> None:
    X, y, X_new = overlapping(4.0, 0)
    found = unseen.estimate(X, y, X_new[:320], random_state=0)
    assert found.unseen == 0
    assert found.intervals[-1, 1] < 0.1
