"""MPE-Projected: the nearest point of the simplex to the slopes of MPE-Incomplete."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

import unseen
from reference.pair_scores import gaussian_pairs
from unseen import BestBin, MPEIncomplete, MPEProjected, ROCSlope

gaussian_scores = partial(gaussian_pairs, n=800)


def nearest_by_quadratic_programme(point: np.ndarray) -> np.ndarray:
    return minimize(
        lambda x: 0.5 * ((x - point) ** 2).sum(),
        np.full(point.size, 1 / point.size),
        jac=lambda x: x - point,
        method="SLSQP",
        bounds=[(0, 1)] * point.size,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
        options={"ftol": 1e-14, "maxiter": 500},
    ).x


@pytest.mark.parametrize("shares", [[0.5, 0.2], [0.9, 0.6], [0.4, 0.05, 0.1], [1.0, 0.02, 0.7]])
def test_the_shares_are_the_nearest_that_sum_to_one(shares) -> None:
    scores = gaussian_scores(shares)
    slopes = np.array([ROCSlope(random_state=5).from_scores(*p).proportion for p in scores.pairs])
    estimate = MPEProjected().from_scores(scores)
    assert_allclose(estimate.proportions, nearest_by_quadratic_programme(slopes), atol=1e-6)
    assert_allclose(estimate.proportions.sum(), 1, atol=1e-12)
    assert estimate.unseen == 0
    assert estimate.method == "MPEProjected"


def test_everything_else_is_that_of_incomplete() -> None:
    scores = gaussian_scores([0.5, 0.2])
    ours, other = (kind().from_scores(scores) for kind in (MPEProjected, MPEIncomplete))
    assert ours.diagnostics == other.diagnostics
    assert ours.roc["a"].right_slope == other.roc["a"].right_slope
    *same, closed = ours.notices
    assert tuple(same) == other.notices
    assert (closed.code, closed.severity) == ("closed_set", "warning")
    assert closed.text == (
        "MPEProjected assumes that every new row belongs to a known class: it cannot see unseen "
        "classes."
    )


def test_replicates_are_projected_one_by_one() -> None:
    scores = gaussian_scores([0.6, 0.3], n=300)
    draws = MPEProjected().read(scores).replicates(40, 1)
    opened = MPEIncomplete().read(scores).replicates(40, 1)
    assert draws.shape == (40, 3)
    assert_array_equal(draws[:, 2], 0)
    for ours, raw in zip(draws, opened, strict=True):
        assert_allclose(ours[:2], nearest_by_quadratic_programme(raw[:2]), atol=1e-6)
    centre = MPEProjected().from_scores(scores)["a"]
    assert abs(draws[:, 0].mean() - centre) < 2 * draws[:, 0].std()


def test_any_mixture_method_can_read_the_scores() -> None:
    scores = gaussian_scores([0.4, 0.3])
    raw = np.array([BestBin().from_scores(*pair).proportion for pair in scores.pairs])
    estimate = MPEProjected(method=BestBin()).from_scores(scores)
    assert_allclose(estimate.proportions, raw + (1 - raw.sum()) / 2, atol=1e-12)


def test_one_class_is_refused(samples) -> None:
    X, y, _ = samples
    with pytest.raises(ValueError, match="at least 2 classes for a closed-set method"):
        MPEProjected().fit(X[y == "left"], y[y == "left"])
    with pytest.raises(ValueError, match="at least 2 classes for a closed-set method"):
        MPEProjected().from_scores(gaussian_scores([0.5]))


@pytest.mark.slow
def test_finds_the_shares_when_nothing_is_unseen(draws) -> None:
    """New rows without the third class; a projection cannot move away from the truth."""
    truth, errors = np.array([5 / 7, 2 / 7]), []
    for X, y, X_new in draws[:3]:
        estimate = unseen.estimate(
            X, y, X_new[:420], estimator=MPEProjected(), random_state=0, confidence=None
        )
        slopes = np.array([estimate.roc[label].right_slope for label in estimate.classes])
        moved = np.linalg.norm(estimate.proportions - truth)
        assert moved <= np.linalg.norm(np.clip(slopes, 0, 1) - truth) + 1e-12
        errors.append(moved)
    assert np.mean(errors) < 0.07
