"""EM: the maximum of its likelihood, other libraries' answers, and calibration."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import softmax

from reference.closed_twins import PEERS, em, gaussian_record, on_simplex, peer_problem
from unseen import SaerensEM
from unseen.scores import Posteriors
from unseen.scores.calibration import BiasCorrectedTemperature, Temperature
from unseen.simplex import mixture_shares

CENTRES = [[-1.0, 0.0], [1.0, 0.0], [0.0, 1.5]]


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("peer", ["quapy EMQ", "mlquantify EMQ"])
def test_it_agrees_with_other_libraries(name, peer) -> None:
    record, answers = peer_problem(name)
    assert_allclose(SaerensEM().from_scores(record).proportions, answers[peer], atol=1e-7)


@pytest.mark.parametrize("name", PEERS)
def test_it_agrees_with_the_code_of_published_demonstrations(name) -> None:
    """EMImbalanceAdapter of Alexandari, Kundaje and Shrikumar (2020), run to its end."""
    adapters = pytest.importorskip("abstention.label_shift")
    record, _ = peer_problem(name)
    adapter = adapters.EMImbalanceAdapter(tolerance=1e-13, max_iterations=10**6)
    prior = record.labelled.mean(axis=0)
    shares = adapter(record.new, record.labelled).multipliers * prior
    found = SaerensEM().from_scores(
        Posteriors(record.classes, record.codes, None, record.new, prior=prior)
    )
    assert_allclose(found.proportions, shares, atol=1e-6)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10**6), st.integers(2, 5), st.sampled_from([0.3, 1.0, 3.0]))
def test_it_ends_where_plain_em_ends(seed, n_classes, sharpness) -> None:
    rng = np.random.default_rng(seed)
    posteriors = softmax(sharpness * rng.normal(size=(40, n_classes)), axis=1)
    prior = rng.dirichlet(np.full(n_classes, 5.0))
    found = mixture_shares(posteriors / prior, start=prior)
    twin = em(posteriors, prior, n_steps=3000)
    heights = [np.log((posteriors / prior) @ shares).mean() for shares in (found, twin)]
    # EM crawls towards a share of 0, so it may not be there yet: the height decides.
    assert heights[0] >= heights[1] - 1e-12
    assert heights[0] - heights[1] < 1e-4
    # Optimality: no class would gain from more, those with a share would not from less.
    slope = ((posteriors / prior) / ((posteriors / prior) @ found)[:, None]).mean(axis=0)
    assert slope.max() < 1 + 1e-7
    assert_allclose(slope[found > 1e-6], 1, atol=1e-6)


def test_it_is_the_maximum_that_a_general_solver_finds() -> None:
    record = gaussian_record(CENTRES, [0.7, 0.3, 0.0], 300, 400, seed=0)
    twin = on_simplex(lambda shares: -np.log(record.ratios @ shares).mean(), 3)
    assert_allclose(SaerensEM().from_scores(record).proportions, twin, atol=1e-5)


def test_many_problems_at_once_are_the_same_as_one_by_one() -> None:
    record = gaussian_record(CENTRES, [0.5, 0.4, 0.1], 30, 100, seed=1)
    weights = np.random.default_rng(0).dirichlet(np.ones(100), size=6)
    noise = np.random.default_rng(1).normal(0, 0.05, (6, 3))
    together = mixture_shares(record.ratios, weights, noise)
    for w, c, shares in zip(weights, noise, together, strict=True):
        alone = mixture_shares(record.ratios, w[None], c[None])[0]
        twin = on_simplex(lambda pi, w=w, c=c: c @ pi - w @ np.log(record.ratios @ pi), 3)
        assert_allclose(shares, alone, atol=1e-8)
        assert_allclose(shares, twin, atol=1e-5)


def test_posteriors_of_0_and_1_are_counted() -> None:
    votes = np.eye(3)[[0] * 5 + [1] * 3 + [2] * 2]
    record = Posteriors(("a", "b", "c"), [0, 1, 2, 0], np.eye(3)[[0, 1, 2, 0]], votes)
    assert_allclose(SaerensEM().from_scores(record).proportions, [0.5, 0.3, 0.2], atol=1e-8)


def test_the_prior_of_the_classifier_is_corrected_for() -> None:
    """The same rows seen by classifiers trained on other shares give the same answer."""
    even = gaussian_record(CENTRES, [0.6, 0.3, 0.1], 30, 500, seed=2)
    prior = np.array([0.1, 0.3, 0.6])
    tilted = [rows * prior / (rows @ prior)[:, None] for rows in (even.labelled, even.new)]
    skewed = Posteriors(even.classes, even.codes, *tilted, prior=prior)
    answers = [SaerensEM().from_scores(record).proportions for record in (even, skewed)]
    assert_allclose(answers[0], answers[1], atol=1e-7)


@pytest.mark.slow
def test_error_falls_as_one_over_the_root_of_the_rows() -> None:
    truth = [0.6, 0.3, 0.1]
    errors = [
        np.mean(
            [
                np.abs(SaerensEM().from_scores(r).proportions - truth).sum()
                for r in (gaussian_record(CENTRES, truth, 100, n, seed) for seed in range(20))
            ]
        )
        for n in (100, 1000, 10_000)
    ]
    ratios = np.array(errors[:-1]) / errors[1:]
    assert (ratios > 2.2).all()
    assert (ratios < 4.5).all()


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.5])
def test_calibrators_recover_a_known_temperature(temperature) -> None:
    record = gaussian_record(CENTRES, [0.4, 0.3, 0.3], 6000, 10, seed=3)
    skewed = softmax(np.log(record.labelled) * temperature, axis=1)
    for calibrator in (Temperature(), BiasCorrectedTemperature()):
        rescaling = calibrator.fit(skewed, record.codes)
        assert rescaling.temperature == pytest.approx(temperature, rel=0.06)
        assert_allclose(rescaling.bias, 0, atol=0.1)
        assert np.abs(rescaling(skewed) - record.labelled).mean() < 0.01


def test_the_bias_makes_mean_posteriors_equal_the_shares() -> None:
    record = gaussian_record(CENTRES, [0.4, 0.3, 0.3], 500, 10, seed=4)
    skewed = softmax(2 * np.log(record.labelled) + [1.0, 0.0, -1.0], axis=1)
    rescaled = BiasCorrectedTemperature().fit(skewed, record.codes)(skewed)
    assert_allclose(rescaled.mean(axis=0), record.training_shares, atol=1e-6)


def test_temperature_alone_leaves_the_most_probable_class() -> None:
    record = gaussian_record(CENTRES, [0.4, 0.3, 0.3], 200, 10, seed=5)
    rescaled = Temperature().fit(record.labelled, record.codes)(record.labelled)
    assert (rescaled.argmax(axis=1) == record.labelled.argmax(axis=1)).all()


def test_calibration_mends_posteriors_that_are_too_sure() -> None:
    truth = np.array([0.8, 0.15, 0.05])
    errors = {None: [], Temperature(): [], BiasCorrectedTemperature(): []}
    for seed in range(5):
        record = gaussian_record(CENTRES, truth, 2000, 2000, seed)
        sure = [softmax(3 * np.log(rows), axis=1) for rows in (record.labelled, record.new)]
        skewed = Posteriors(record.classes, record.codes, *sure)
        for calibration, found in errors.items():
            estimate = SaerensEM(calibration).from_scores(skewed)
            found.append(np.abs(estimate.proportions - truth).sum())
    means = {calibration: np.mean(found) for calibration, found in errors.items()}
    assert means[Temperature()] < means[None] / 2
    assert means[BiasCorrectedTemperature()] < means[None] / 2


@pytest.mark.slow
def test_replicates_spread_as_estimates_do_over_new_samples() -> None:
    """True densities are known here, so with endless labelled rows only new rows scatter."""
    truth = [0.6, 0.3, 0.1]
    record = gaussian_record(CENTRES, truth, 400, 400, seed=6)
    found = SaerensEM().read(record).replicates(500, 0)[:, :-1]
    endless = gaussian_record(CENTRES, truth, 400_000, 400, seed=6)
    one_sided = SaerensEM().read(endless).replicates(500, 0)[:, :-1]
    over_samples = np.std(
        [
            SaerensEM().from_scores(gaussian_record(CENTRES, truth, 60, 400, seed)).proportions
            for seed in range(100, 300)
        ],
        axis=0,
    )
    assert_allclose(one_sided.std(axis=0), over_samples, rtol=0.25)
    # As many labelled as new rows, and both resampled: more spread, but not twice as much.
    ratio = found.std(axis=0) / one_sided.std(axis=0)
    assert (ratio > 1.1).all()
    assert (ratio < 2).all()


@pytest.mark.slow
def test_many_rows_take_one_step_and_give_the_same_spread(monkeypatch) -> None:
    record = gaussian_record(CENTRES, [0.5, 0.4, 0.1], 2000, 3000, seed=7)
    exact = SaerensEM().read(record).replicates(2000, 0)
    monkeypatch.setattr("unseen.proportions.bootstrap.EXACT_ROWS", 1000)
    step = SaerensEM().read(record).replicates(2000, 1)
    assert_allclose(step.mean(axis=0), exact.mean(axis=0), atol=0.004)
    assert_allclose(step.std(axis=0)[:-1], exact.std(axis=0)[:-1], rtol=0.08)


def test_500_replicates_take_less_than_two_seconds() -> None:
    rng = np.random.default_rng(0)
    centres, truth = 1.5 * rng.normal(size=(5, 3)), [0.4, 0.3, 0.1, 0.1, 0.1]
    record = gaussian_record(centres, truth, 2000, 2000, seed=8)
    start = time.process_time()
    SaerensEM().read(record).replicates(500, 0)
    assert time.process_time() - start < 2
