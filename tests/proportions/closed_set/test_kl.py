"""Kullback-Leibler matching: the minimax it solves, where it must work, and consistency."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from reference.closed_twins import divergence, gaussian_rows, on_simplex
from unseen import KLDivergence
from unseen.proportions.closed_set.kl import fit_density_ratio

CENTRES = [[-1.0, 0.0], [1.0, 0.0], [0.0, 1.5]]


def kernels(shares, seed=0, n_rows=150, n_landmarks=12):
    rng = np.random.default_rng(seed)
    X, codes = gaussian_rows(CENTRES, [0.3, 0.3, 0.4], n_rows, rng)
    X_new, _ = gaussian_rows(CENTRES, shares, n_rows, rng)
    estimator = KLDivergence(n_landmarks=n_landmarks, random_state=0).fit(X, codes)
    return estimator.scores(X_new)


@pytest.mark.parametrize("shares", [[0.6, 0.1, 0.3], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])
def test_it_solves_the_minimax_problem(shares) -> None:
    record = kernels(shares)
    penalty = 0.01
    fit = fit_density_ratio(record.labelled, record.codes, record.new, penalty)

    def bound(theta):
        return divergence(theta, record.labelled, record.codes, record.new, penalty)

    twin = on_simplex(bound, 3, tol=1e-13)
    assert bound(fit.shares) <= bound(twin) + 1e-8
    assert_allclose(fit.shares, twin, atol=2e-3)
    # At the saddle both ways of putting the problem have the same value.
    value = (record.new @ fit.alpha).mean() - fit.heights.max()
    assert value - penalty * fit.alpha @ fit.alpha / 2 == pytest.approx(bound(fit.shares), abs=1e-7)


def test_classes_with_a_share_attain_the_maximum() -> None:
    record = kernels([0.6, 0.4, 0.0], seed=1)
    fit = fit_density_ratio(record.labelled, record.codes, record.new, 0.01)
    held = fit.shares > 1e-6
    assert_allclose(fit.heights[held], fit.heights.max(), atol=1e-7)
    slope = fit.shares @ fit.slopes - record.new.mean(axis=0) + 0.01 * fit.alpha
    assert_allclose(slope, 0, atol=1e-7)


def test_a_narrow_class_inside_a_wide_one() -> None:
    """In 20 dimensions no landmark is near a row of the wide class."""
    rng = np.random.default_rng(2)
    X = np.vstack([rng.normal(0, 2, (500, 20)), rng.normal(0.4, 1, (500, 20))])
    X_new = np.vstack([rng.normal(0, 2, (350, 20)), rng.normal(0.4, 1, (150, 20))])
    estimate = KLDivergence(random_state=0).fit(X, np.repeat(["wide", "narrow"], 500))
    assert estimate.estimate(X_new)["wide"] == pytest.approx(0.7, abs=0.05)


def test_one_far_row_among_the_new_changes_little() -> None:
    rng = np.random.default_rng(3)
    X, codes = gaussian_rows(CENTRES, [0.3, 0.3, 0.4], 300, rng)
    X_new, _ = gaussian_rows(CENTRES, [0.6, 0.1, 0.3], 300, rng)
    estimator = KLDivergence(bandwidth=1.0, random_state=0).fit(X, codes)
    far = np.vstack([X_new, [[6.0, 6.0]]])
    shares = [estimator.estimate(rows).proportions for rows in (X_new, far)]
    assert_allclose(shares[0], shares[1], atol=0.05)


@pytest.mark.slow
def test_error_falls_with_the_rows() -> None:
    truth = [0.6, 0.3, 0.1]
    errors = []
    for n in (100, 400, 1600):
        found = []
        for seed in range(10):
            rng = np.random.default_rng(seed)
            X, codes = gaussian_rows(CENTRES, [0.4, 0.3, 0.3], n, rng)
            X_new, _ = gaussian_rows(CENTRES, truth, n, rng)
            estimate = KLDivergence(random_state=0).fit(X, codes).estimate(X_new)
            found.append(np.abs(estimate.proportions - truth).sum())
        errors.append(np.mean(found))
    ratios = np.array(errors[:-1]) / errors[1:]
    assert (ratios > 1.4).all()
    assert (ratios < 3.5).all()


def test_the_divergence_is_near_zero_without_unseen_classes_and_not_with_one(samples) -> None:
    X, y, X_new = samples
    estimator = KLDivergence(random_state=0).fit(X, y)
    rng = np.random.default_rng(11)
    known = np.vstack([rng.normal(-3, 1, (70, 3)), rng.normal(3, 1, (30, 3))])
    divergences = [estimator.estimate(rows).diagnostics["divergence"] for rows in (known, X_new)]
    assert divergences[0] < 0.1
    assert divergences[1] > 0.3


@pytest.mark.slow
def test_replicates_spread_as_estimates_do_over_new_samples() -> None:
    centres, truth = [[-1.0, 0.0], [1.0, 0.0]], [0.7, 0.3]
    shares, spread = [], []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X, codes = gaussian_rows(centres, [0.5, 0.5], 200, rng)
        X_new, _ = gaussian_rows(centres, truth, 200, rng)
        estimator = KLDivergence(n_landmarks=50, random_state=0).fit(X, codes)
        record = estimator.scores(X_new)
        shares.append(estimator.from_scores(record)[0])
        if seed < 5:
            spread.append(estimator.read(record).replicates(500, 0)[:, 0].std())
    assert np.mean(spread) == pytest.approx(np.std(shares), rel=0.3)
