import numpy as np
import pytest
from numpy.testing import assert_allclose

from unseen import OpenSetEstimator
from unseen.mixture.placement import Candidates, placement_posterior
from unseen.roc.pooled import fitted_lattice
from unseen.scores.base import Distances, RatioScores


def test_prior_weights_fall_with_the_log_loss_and_half_is_with_distances() -> None:
    rng = np.random.default_rng(0)
    far = Distances(rng.normal(size=(30, 2)), rng.normal(size=(20, 2)))
    losses = np.array([0.5, 0.6])
    scores = RatioScores(rng.normal(size=(30, 2)), rng.normal(size=(20, 2)), losses, far)
    candidates = Candidates.from_ratios(scores)
    weights = np.exp(candidates.log_prior)
    assert_allclose(weights.sum(), 1.0)
    assert_allclose(weights[2:], 0.25)
    assert_allclose(weights[0] / weights[1], np.exp(50 * 0.1 / 10))
    assert_allclose(candidates.new, np.hstack([scores.new, far.new]))
    assert_allclose(candidates.labelled, np.hstack([scores.labelled, far.labelled]))


def test_a_candidate_of_a_far_larger_loss_has_no_weight() -> None:
    scores = RatioScores(np.zeros((50, 3)), np.zeros((50, 3)), np.array([0.5, 0.5, 9.0]))
    assert_allclose(np.exp(Candidates.from_ratios(scores).log_prior), [0.5, 0.5, 0.0])


def test_distances_find_what_a_blind_discriminator_does_not() -> None:
    rng = np.random.default_rng(1)
    blind = rng.normal(size=(200, 1)), rng.normal(size=(200, 1))
    far = Distances(np.append(rng.normal(size=160), np.full(40, 9.0))[:, None], blind[1])
    scores = RatioScores(*blind, np.zeros(1), far)
    candidates = Candidates.from_ratios(scores)
    posterior = placement_posterior(fitted_lattice(candidates.cells(), candidates.log_prior), 0.5)
    assert posterior.probability_open > 0.99
    assert abs(posterior.quantile(0.5) - 0.8) < 0.1


@pytest.mark.parametrize("units", [1.0, 1000.0])
def test_few_unseen_rows_among_many_columns_are_found(units) -> None:
    """Thirty rows teach a discriminator nothing in 60 columns, but they stand apart."""
    rng = np.random.default_rng(2)
    centres = np.zeros((3, 60))
    centres[0, :2], centres[1, :2], centres[2, 2:12] = 4, -4, 2.5
    X = np.vstack([rng.normal(centres[k], 1, (100, 60)) for k in (0, 1)])
    new = [rng.normal(centres[k], 1, (n, 60)) for k, n in enumerate((150, 120, 30))]
    X_new = np.vstack(new)
    scale = np.ones(60)
    scale[20] = units  # the units of one column spoil distances as given, not those in spreads
    fitted = OpenSetEstimator(random_state=0).fit(X * scale, np.repeat([0, 1], 100))
    estimate = fitted.estimate(X_new * scale)
    assert_allclose(np.append(estimate.proportions, estimate.unseen), [0.5, 0.4, 0.1], atol=0.05)


def test_no_row_counts_as_more_than_two() -> None:
    # Ten rows with most of the weight: by the effective number of rows each would count as six.
    weight = np.repeat([0.9 / 3000, 0.1 / 10], [3000, 10])
    scores = RatioScores(np.zeros((50, 1)), np.arange(3010.0)[:, None], np.zeros(1))
    cells = Candidates.from_ratios(scores).cells(weight)
    assert_allclose(cells.labelled.sum(), 2 / weight.max() * weight.sum())
    even = Candidates.from_ratios(scores).cells(np.ones(3010))
    assert_allclose(even.labelled.sum(), 3010)
