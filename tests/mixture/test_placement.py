from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import kstest

from unseen.mixture.placement import (
    Candidates,
    Placement,
    PlacementPosterior,
    for_intervals,
    placement_posterior,
)
from unseen.roc.models import Concave, Gaussian
from unseen.roc.pooled import FALSE_ALARMS, N_CELLS, cell_rates, fitted_lattice
from unseen.roc.sketch import RocSketch
from unseen.scores.base import RatioScores


def posterior_of(cells, log_prior, prior_closed):
    return placement_posterior(fitted_lattice(cells, log_prior), prior_closed)


def one_score(F, H, prior_closed=0.0, weight=None):
    scores = RatioScores(np.asarray(F)[:, None], np.asarray(H)[:, None], np.zeros(1))
    candidates = Candidates.from_ratios(scores)
    return posterior_of(candidates.cells(weight), candidates.log_prior, prior_closed)


@pytest.mark.parametrize("share", [0.2, 0.6])
@pytest.mark.parametrize(
    ("model", "theta"),
    [(Gaussian(), [0.4, 1.5]), (Concave(2.0), [0.1, 0.2])],
    ids=["gauss", "conc"],
)
def test_rates_are_the_probability_of_F_at_a_pooled_rank(model, theta, share) -> None:
    rates = cell_rates(model.value(FALSE_ALARMS, theta)[None], share)[0]

    def value(alpha: float) -> float:
        return float(model.value([alpha], theta)[0])

    def probability(rank: float) -> float:
        alpha = brentq(lambda a: share * value(a) + (1 - share) * a - rank, 0, 1)
        step = 1e-6 * min(alpha, 1 - alpha)
        slope = share * (value(alpha + step) - value(alpha - step)) / (2 * step)
        return slope / (slope + 1 - share)

    for cell in (3, 50, 120, 196):
        ends = cell / N_CELLS, (cell + 1) / N_CELLS
        twin = N_CELLS * quad(probability, *ends, epsabs=1e-9)[0]
        assert_allclose(rates[cell], twin, rtol=2e-3)
    assert_allclose(rates.mean(), share, rtol=1e-8)


@pytest.mark.parametrize("step", [0.01, 0.05])
def test_odds_come_in_steps_where_a_few_rows_are_left_out(step: float) -> None:
    weight = np.array([1.0, 1, 4, 0.5])
    scores = RatioScores(np.zeros((3, 1)), np.arange(4.0)[:, None], np.zeros(1))
    whole = Candidates.from_ratios(scores).cells(weight)
    even = Candidates.from_ratios(replace(scores, odds_step=step)).cells(weight)
    steps = np.log(even.new.sum() / even.labelled.sum()) / step
    assert_allclose(steps, np.round(steps), atol=1e-6)
    assert np.exp(-step) < even.labelled.sum() / whole.labelled.sum() < 1
    assert_allclose(even.new.sum(), whole.new.sum())


def test_a_lattice_is_kept_as_long_as_it_holds_the_mass() -> None:
    rng = np.random.default_rng(0)
    H, alike, other = (rng.normal(size=(200, 1)) for _ in range(3))
    apart = np.append(other[:40], other[40:] + 4, axis=0)

    def cells(F):
        return Candidates(F, H, np.zeros(1)).cells()

    first = fitted_lattice(cells(alike), np.zeros(1)).lattice
    again = fitted_lattice(cells(other), np.zeros(1), near=first)
    assert again.lattice is first
    assert_allclose(again.weight, first.weighed(cells(other), np.zeros(1)).weight)
    moved = fitted_lattice(cells(apart), np.zeros(1), near=first).lattice
    assert moved is not first
    assert moved.gamma[0] < 0.2 < first.gamma[0]
    # Another number of new rows is another share of the rows.
    assert fitted_lattice(cells(alike[:150]), np.zeros(1), near=first).lattice is not first


def test_truths_drawn_from_the_prior_have_uniform_posterior_ranks() -> None:
    rng = np.random.default_rng(0)
    ranks = []
    for _ in range(60):
        nu, separation = rng.uniform(), np.exp(rng.uniform(np.log(0.6), np.log(4.5)))
        from_H = rng.binomial(150, nu)
        F = np.append(rng.normal(0, 1, from_H), rng.normal(separation, 1, 150 - from_H))
        posterior = one_score(F, rng.normal(0, 1, 120))
        levels = np.linspace(0, 1, 501)
        ranks.append(np.interp(nu, posterior.quantile(levels), levels))
    assert kstest(ranks, "uniform").pvalue > 0.01


def test_quantiles_of_a_symmetric_law_lie_around_its_middle() -> None:
    share, probability = np.array([0.2, 0.5, 0.8]), np.array([0.25, 0.5, 0.25])
    law = PlacementPosterior(share, probability, 0.0, 0.0, np.zeros(1))
    assert_allclose(law.open_quantile([0.125, 0.5, 0.875]), share)


def test_intervals_are_wider_than_the_posterior_and_take_neither_answer_for_granted() -> None:
    share, law = np.array([0.2, 0.4, 0.6]), np.array([0.25, 0.5, 0.25])
    wide = for_intervals(PlacementPosterior(share, law, 0.0, 0.9, np.zeros(1)))
    assert wide.prior_closed == 0.5
    # The spread grows by a fifth; the upper end of u = 1 - share then by .1 u (1 - u).
    assert_allclose(wide.share, [1 - (0.84 + 0.1 * 0.84 * 0.16), 0.4, 0.64])


def test_samples_of_one_law_rarely_give_a_large_bayes_factor() -> None:
    rng = np.random.default_rng(1)
    factors = [np.exp(one_score(*rng.normal(size=(2, 100))).log_bayes_factor) for _ in range(60)]
    # The mean of a Bayes factor under the hypothesis it speaks against is 1 (Markov).
    assert np.mean(np.array(factors) > 10) <= 0.1
    assert np.mean(factors) < 2
    assert np.median(factors) < 1


def test_error_falls_with_the_number_of_rows() -> None:
    rng = np.random.default_rng(2)
    widths, errors = [], []
    for n in (100, 1000, 10000):
        F = np.append(rng.normal(0, 1, 4 * n), rng.normal(2, 1, 6 * n))
        posterior = one_score(F, rng.normal(0, 1, 10 * n))
        widths.append(np.ptp(posterior.quantile([0.025, 0.975])))
        errors.append(abs(posterior.quantile(0.5) - 0.4))
    assert_allclose(np.divide(widths[:2], widths[1:]), np.sqrt(10), rtol=0.35)
    assert errors[-1] < 0.01


def test_separated_samples_share_nothing() -> None:
    posterior = one_score(np.arange(500) + 1000.0, np.arange(400) * 1.0)
    assert posterior.quantile(0.975) < 0.02
    assert posterior.log_bayes_factor > 300


def test_a_bounded_density_ratio_counts_to_H() -> None:
    rng = np.random.default_rng(3)
    F = np.append(rng.laplace(0, 1, 6000), rng.laplace(2, 1, 14000))
    H = rng.laplace(0, 1, 20000)
    scores = (np.clip(2 * rows, 0, 4) + rng.uniform(0, 1e-6, rows.size) for rows in (F, H))
    largest = 0.3 + 0.7 * np.exp(-2)
    assert abs(one_score(*scores).quantile(0.5) - largest) < 0.04


def test_weights_count_as_the_effective_number_of_rows() -> None:
    weight = np.array([1.0, 1, 4, 0.5])
    scores = RatioScores(np.zeros((3, 1)), np.arange(4.0)[:, None], np.zeros(1))
    cells = Candidates.from_ratios(scores).cells(weight)
    effective = weight.sum() ** 2 / np.square(weight).sum()
    assert_allclose([cells.new.sum(), cells.labelled.sum()], [3, effective])
    scaled = Candidates.from_ratios(scores).cells(7 * weight)
    assert_allclose(scaled.labelled, cells.labelled)


def test_tied_rows_share_their_cells_evenly() -> None:
    scores = RatioScores(np.zeros((6, 1)), np.zeros((4, 1)), np.zeros(1))
    cells = Candidates.from_ratios(scores).cells()
    assert_allclose(cells.new, 6 / N_CELLS)
    assert_allclose(cells.labelled, 4 / N_CELLS)


def test_only_the_order_of_scores_matters() -> None:
    rng = np.random.default_rng(4)
    F, H = rng.normal(1, 1, 200), rng.normal(0, 1, 150)
    plain, bent = one_score(F, H), one_score(np.exp(F), np.exp(H))
    assert_allclose(plain.quantile([0.1, 0.5, 0.9]), bent.quantile([0.1, 0.5, 0.9]))


def test_an_informative_candidate_outweighs_a_random_one() -> None:
    rng = np.random.default_rng(5)
    F = np.append(rng.normal(0, 1, 200), rng.normal(3, 1, 200))
    H = rng.normal(0, 1, 400)
    both = RatioScores(
        np.column_stack([F, rng.normal(size=400)]),
        np.column_stack([H, rng.normal(size=400)]),
        np.array([0.6, 0.6]),
    )
    candidates = Candidates.from_ratios(both)
    mixed = posterior_of(candidates.cells(), candidates.log_prior, 0.0)
    alone = one_score(F, H)
    assert_allclose(mixed.quantile([0.1, 0.5, 0.9]), alone.quantile([0.1, 0.5, 0.9]), atol=1e-6)
    assert_allclose(mixed.log_bayes_factor, alone.log_bayes_factor - np.log(2), rtol=1e-6)


def test_the_known_probabilities_add_up_to_the_share() -> None:
    rng = np.random.default_rng(6)
    F = np.append(rng.normal(0, 1, 1200), rng.normal(2.5, 1, 800))
    scores = RatioScores(F[:, None], rng.normal(0, 1, (2000, 1)), np.zeros(1))
    cells = Candidates.from_ratios(scores).cells()
    posterior = posterior_of(cells, np.zeros(1), 0.0)
    known = np.take_along_axis(posterior.known, cells.place, axis=1)[0]
    assert abs(known.mean() - posterior.quantile(0.5)) < 0.03
    assert known[F > 3].mean() < 0.1 < 0.9 < known[F < 0].mean()


def test_the_spike_is_a_point_mass_at_one() -> None:
    rng = np.random.default_rng(7)
    posterior = one_score(rng.normal(size=100), rng.normal(size=100), prior_closed=0.9)
    mixed = posterior.probability_open
    odds = (1 - 0.9) / 0.9 * np.exp(posterior.log_bayes_factor)
    assert_allclose(mixed, odds / (1 + odds))
    assert posterior.quantile(mixed + 1e-9) == 1.0 > posterior.quantile(mixed / 2)
    draws = posterior.quantile(np.random.default_rng(0).random(4000))
    assert_allclose(np.mean(draws < 1), mixed, atol=0.03)
    assert one_score([0.0, 1.0], [0.0, 1.0], prior_closed=1.0).quantile(0.5) == 1.0


def test_rows_scores_and_counts_lead_to_the_same_kind_of_answer() -> None:
    rng = np.random.default_rng(8)
    H, F = rng.normal(0, 1, (150, 2)), rng.normal(0, 1, (200, 2))
    F[:120] += 3
    estimate = Placement(random_state=0).fit(H).estimate(F)
    assert abs(estimate.proportion - 0.4) < 0.08
    found = estimate.roc.parameters
    assert found["lower"] < estimate.proportion < found["upper"]
    assert found["probability_open"] > 0.999
    assert Placement(random_state=0).fit(H).estimate(F).proportion == estimate.proportion
    scores = F[:, 0] + F[:, 1], H[:, 0] + H[:, 1]
    sketch = RocSketch.from_scores(*scores)
    by_counts = Placement().from_sketch(sketch).proportion
    assert by_counts == Placement().from_scores(*scores).proportion
    draws = Placement(random_state=3).replicates(sketch, 2000)
    assert_allclose(np.median(draws), by_counts, atol=0.01)
    assert_allclose(draws, Placement().replicates(sketch, 2000, random_state=3))


@pytest.mark.parametrize("value", [-0.1, 1.5, "high"])
def test_a_spike_outside_its_range_is_named(value) -> None:
    with pytest.raises(ValueError, match="'prior_closed' parameter of Placement must be"):
        Placement(prior_closed=value).from_scores([0.0, 1.0], [0.0, 1.0])


def test_scores_of_two_values_and_many_rows() -> None:
    """All the evidence is then with the concave curves, and the binormal ones carry no mass."""
    scores_H = np.repeat([0.0, 1.0], [40_000, 10_000])
    scores_F = np.repeat([0.0, 1.0], [20_000, 30_000])
    assert 0.4 < Placement().from_scores(scores_F, scores_H).proportion < 0.65


def test_unseen_rows_far_away_are_counted_without_bias_where_rows_are_many():
    """Nothing overlaps, and the share of 20,000 rows can be told to a tenth of a per cent."""
    rng = np.random.default_rng(0)
    F = np.concatenate([rng.normal(10, 1, 3000), rng.normal(0, 1, 17_000)])
    scores = RatioScores(F[:, None], rng.normal(0, 1, (20_000, 1)), np.zeros(1))
    posterior = posterior_of(Candidates.from_ratios(scores).cells(), np.zeros(1), 0.0)
    assert abs(1 - posterior.open_quantile(0.5) - 0.15) < 0.0015
