"""Hall's method: direct integration, invariance to monotone maps, and consistency."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from reference.closed_twins import ecdf_distance, gaussian_record, gaussian_rows, grid, on_simplex
from unseen import HallECDF
from unseen.proportions.closed_set.hall import ecdf_products
from unseen.proportions.closed_set.matching import matching
from unseen.scores import Posteriors

CENTRES = [[-2.0], [0.0], [2.0]]


def one_feature(seed, n=60, decimals=None):
    rng = np.random.default_rng(seed)
    X, codes = gaussian_rows(CENTRES, [0.3, 0.3, 0.4], n, rng)
    X_new, _ = gaussian_rows(CENTRES, [0.6, 0.3, 0.1], n, rng)
    if decimals is not None:
        X, X_new = X.round(decimals), X_new.round(decimals)
    return X, codes, X_new


@pytest.mark.parametrize("decimals", [None, 0], ids=["distinct", "ties"])
def test_the_program_is_the_integral(decimals) -> None:
    X, codes, X_new = one_feature(0, decimals=decimals)
    labelled, new = ecdf_products(X, codes, X_new)
    gram, linear = matching(labelled, codes, new)
    differences = [
        ecdf_distance(shares, X[:, 0], codes, X_new[:, 0])
        - (shares @ gram @ shares - 2 * linear @ shares)
        for shares in np.random.default_rng(1).dirichlet(np.ones(3), size=5)
    ]
    # They differ by the integral of the squared function of the new rows, whatever the shares.
    assert_allclose(differences, differences[0], atol=1e-12)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_it_is_the_best_point_of_a_grid(seed) -> None:
    X, codes, X_new = one_feature(seed)
    shares = HallECDF(raw=True).fit(X, codes).estimate(X_new).proportions

    def distance(pi):
        return ecdf_distance(pi, X[:, 0], codes, X_new[:, 0])

    points = grid(3, 20)
    best = points[np.argmin([distance(pi) for pi in points])]
    assert np.abs(shares - best).max() <= 1.5 / 20
    assert distance(shares) <= distance(best) + 1e-12
    assert_allclose(shares, on_simplex(distance, 3), atol=1e-4)


def test_only_the_order_of_values_matters() -> None:
    X, codes, X_new = one_feature(3)
    estimator = HallECDF(raw=True)
    plain = estimator.fit(X, codes).estimate(X_new).proportions
    mapped = estimator.fit(np.exp(X), codes).estimate(np.exp(X_new)).proportions
    assert_allclose(plain, mapped, atol=1e-12)


def test_two_posteriors_are_one_score() -> None:
    record = gaussian_record([[-1.0], [1.0]], [0.8, 0.2], 100, 100, seed=0)
    estimate = HallECDF().from_scores(record).proportions
    score = record.labelled[:, 1].round(2), record.new[:, 1].round(2)
    twin = on_simplex(lambda pi: ecdf_distance(pi, score[0], record.codes, score[1]), 2)
    assert_allclose(estimate, twin, atol=1e-5)


def test_values_that_only_tell_models_apart_are_taken_as_equal() -> None:
    """Posteriors next to 0 and 1, one model always a little surer than the other."""
    codes = np.repeat([0, 1], 50)
    labelled = np.where(codes == 1, 1 - 1e-4, 1e-4)
    new = np.where(np.arange(100) < 30, 1 - 1e-5, 1e-5)
    rows = [np.column_stack([1 - score, score]) for score in (labelled, new)]
    estimate = HallECDF().from_scores(Posteriors((0, 1), codes, *rows))
    assert_allclose(estimate.proportions, [0.7, 0.3], atol=1e-9)


def test_several_scores_are_summed() -> None:
    record = gaussian_record([[-1.0, 0], [1.0, 0], [0, 2.0]], [0.6, 0.3, 0.1], 100, 100, seed=1)

    def total(pi):
        scores = zip(record.labelled.round(2).T, record.new.round(2).T, strict=True)
        return sum(ecdf_distance(pi, own, record.codes, new) for own, new in scores)

    assert_allclose(HallECDF().from_scores(record).proportions, on_simplex(total, 3), atol=1e-4)


def test_classes_swapped_are_shares_swapped() -> None:
    record = gaussian_record([[-1.0], [1.0]], [0.8, 0.2], 200, 200, seed=2)
    swapped = Posteriors((1, 0), 1 - record.codes, record.labelled[:, ::-1], record.new[:, ::-1])
    shares = HallECDF().from_scores(record).proportions
    assert_allclose(HallECDF().from_scores(swapped).proportions, shares[::-1], atol=0.01)


def test_error_falls_as_one_over_the_root_of_the_rows() -> None:
    truth = [0.6, 0.3, 0.1]
    errors = []
    for n in (300, 3000, 30_000):
        found = []
        for seed in range(15):
            rng = np.random.default_rng(seed)
            X, codes = gaussian_rows(CENTRES, [0.4, 0.3, 0.3], n, rng)
            X_new, _ = gaussian_rows(CENTRES, truth, n, rng)
            estimate = HallECDF(raw=True).fit(X, codes).estimate(X_new)
            found.append(np.abs(estimate.proportions - truth).sum())
        errors.append(np.mean(found))
    ratios = np.array(errors[:-1]) / errors[1:]
    assert (ratios > 2).all()
    assert (ratios < 5).all()


def test_replicates_spread_as_estimates_do_over_new_samples() -> None:
    shares = []
    for seed in range(150):
        X, codes, X_new = one_feature(seed, n=200)
        shares.append(HallECDF(raw=True).fit(X, codes).estimate(X_new).proportions)
    X, codes, X_new = one_feature(500, n=200)
    estimator = HallECDF(raw=True).fit(X, codes)
    found = estimator.replicates(estimator.scores(X_new), 1000, 0)
    assert_allclose(found[:, :-1].std(axis=0), np.std(shares, axis=0), rtol=0.3)
