"""Adjusted counts: other libraries' answers, Rogan-Gladen, and consistency."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from reference.closed_twins import PEERS, gaussian_record, on_simplex, peer_problem
from unseen import AdjustedCount
from unseen.proportions.bootstrap import class_means
from unseen.proportions.closed_set.counts import adjusted_shares, votes

CENTRES = [[-1.0, 0.0], [1.0, 0.0], [0.0, 1.5]]


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize(("soft", "peer"), [(True, "PACC"), (False, "ACC")])
@pytest.mark.parametrize(("constrained", "solver"), [(True, "minimize"), (False, "exact-raise")])
def test_it_agrees_with_quapy(name, soft, peer, constrained, solver) -> None:
    record, answers = peer_problem(name)
    estimate = AdjustedCount(soft=soft, constrained=constrained).from_scores(record)
    theirs = answers[f"quapy {peer} {solver}"]
    # Their general solver stops some 1e-4 short of the minimum; their matrix inverse does not.
    assert_allclose(estimate.proportions, theirs, atol=2e-4 if constrained else 1e-9)
    if constrained:
        rows = [votes(part, soft) for part in (record.labelled, record.new)]
        rates = class_means(rows[0], record.codes, len(record.classes)).T
        misfit = [
            np.sum((rates @ pi - rows[1].mean(axis=0)) ** 2)
            for pi in (estimate.proportions, theirs)
        ]
        assert misfit[0] <= misfit[1] + 1e-15


@settings(deadline=None, max_examples=50)
@given(st.floats(0, 1), st.floats(0.55, 1), st.floats(0, 0.45), st.booleans())
def test_with_two_classes_it_is_rogan_gladen(apparent, sensitivity, false_positive, way) -> None:
    rates = np.array([[1 - false_positive, 1 - sensitivity], [false_positive, sensitivity]])
    shares = adjusted_shares(rates, np.array([1 - apparent, apparent]), constrained=way)
    rogan_gladen = np.clip((apparent - false_positive) / (sensitivity - false_positive), 0, 1)
    assert_allclose(shares, [1 - rogan_gladen, rogan_gladen], atol=1e-8)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6))
def test_constrained_shares_solve_the_equations_best(seed) -> None:
    rng = np.random.default_rng(seed)
    rates = rng.dirichlet(np.ones(4), size=4).T + 2 * np.eye(4)
    rates /= rates.sum(axis=0)
    counted = rng.dirichlet(np.full(4, 0.5))
    found = adjusted_shares(rates, counted)
    twin = on_simplex(lambda pi: ((rates @ pi - counted) ** 2).sum(), 4)
    loss = [((rates @ pi - counted) ** 2).sum() for pi in (found, twin)]
    assert loss[0] <= loss[1] + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("soft", [True, False])
def test_error_falls_as_one_over_the_root_of_the_rows(soft) -> None:
    truth = [0.6, 0.3, 0.1]
    errors = [
        np.mean(
            [
                np.abs(AdjustedCount(soft).from_scores(r).proportions - truth).sum()
                for r in (gaussian_record(CENTRES, truth, n, n, seed) for seed in range(20))
            ]
        )
        for n in (300, 3000, 30_000)
    ]
    ratios = np.array(errors[:-1]) / errors[1:]
    assert (ratios > 2).all()
    assert (ratios < 5).all()


def test_a_classifier_that_knows_nothing_gives_no_error() -> None:
    rates, counted = np.full((2, 2), 0.5), np.array([0.5, 0.5])
    for constrained in (True, False):
        assert_allclose(adjusted_shares(rates, counted, constrained=constrained), 0.5, atol=1e-6)


@pytest.mark.slow
def test_replicates_spread_as_estimates_do_over_new_samples() -> None:
    truth = [0.6, 0.3, 0.1]
    estimator = AdjustedCount()
    spread = (
        estimator.read(gaussian_record(CENTRES, truth, 600, 600, 0)).replicates(1000, 0).std(axis=0)
    )
    samples = [gaussian_record(CENTRES, truth, 600, 600, seed) for seed in range(1, 201)]
    shares = [estimator.from_scores(record).proportions for record in samples]
    assert_allclose(spread[:-1], np.std(shares, axis=0), rtol=0.25)
