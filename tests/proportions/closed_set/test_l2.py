"""L2 distance: the integral it stands for, a grid search, and consistency."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from reference.closed_twins import gaussian_rows, grid, l2_distance, on_simplex
from unseen import L2Distance
from unseen.proportions.closed_set import l2
from unseen.proportions.closed_set.l2 import density_products
from unseen.proportions.closed_set.matching import matching
from unseen.scores.scales import Standardisation
from unseen.simplex import minimise_on_simplex


def one_dimension(seed, n=60):
    rng = np.random.default_rng(seed)
    centres = [[-2.0], [0.0], [2.0]]
    X, codes = gaussian_rows(centres, [0.3, 0.3, 0.4], n, rng)
    X_new, _ = gaussian_rows(centres, [0.6, 0.3, 0.1], n, rng)
    return X, codes, X_new


def test_the_program_is_the_integral() -> None:
    X, codes, X_new = one_dimension(0)
    bandwidth = 0.7
    labelled, new = density_products(X, codes, X_new, bandwidth)
    gram, linear = matching(labelled, codes, new)
    factor = (4 * np.pi * bandwidth**2) ** -0.5
    differences = []
    for shares in np.random.default_rng(1).dirichlet(np.ones(3), size=5):
        quadratic = factor * (shares @ gram @ shares - 2 * linear @ shares)
        integral = l2_distance(shares, X[:, 0], codes, X_new[:, 0], bandwidth)
        differences.append(integral - quadratic)
    # They differ by the integral of the squared density of the new rows, whatever the shares.
    assert_allclose(differences, differences[0], atol=1e-9)


@pytest.mark.slow
def test_it_is_the_best_point_of_a_grid() -> None:
    X, codes, X_new = one_dimension(0)
    estimator = L2Distance(bandwidth=0.5, leave_one_out=False).fit(X, codes)
    shares = estimator.estimate(X_new).proportions
    both = np.concatenate([X, X_new])
    both = Standardisation.of(both, np.ones(len(both)))(both)[:, 0]
    x, x_new = both[: len(X)], both[len(X) :]

    def distance(pi):
        return l2_distance(pi, x, codes, x_new, 0.5, n_points=801)

    points = grid(3, 20)
    best = points[np.argmin([distance(pi) for pi in points])]
    assert np.abs(shares - best).max() <= 1 / 20
    assert distance(shares) <= distance(best) + 1e-12
    assert_allclose(shares, on_simplex(distance, 3), atol=1e-4)


def test_leaving_one_out_leaves_one_out() -> None:
    X, codes, X_new = one_dimension(2, n=12)
    found = density_products(X, codes, X_new, 0.8, leave_one_out=True)[0]
    for row in range(12):
        others = np.arange(12) != row
        for k in range(3):
            mates = X[others & (codes == k), 0]
            kernel = np.exp(-((X[row, 0] - mates) ** 2) / (4 * 0.8**2))
            assert found[row, k] == pytest.approx(kernel.mean() if len(mates) else 0)


def test_unconstrained_shares_solve_the_normal_equations() -> None:
    X, codes, X_new = one_dimension(3)
    estimator = L2Distance(constrained=False, bandwidth=0.5, random_state=0).fit(X, codes)
    record = estimator.scores(X_new)
    gram, linear = matching(record.labelled, record.codes, record.new)
    free = np.array(estimator.from_scores(record).diagnostics["unconstrained"])
    assert_allclose(gram @ free, linear, atol=1e-10)


def test_well_separated_classes_are_counted() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(0, 0.1, (90, 2)) + np.repeat([[0, 0], [5, 5], [5, -5]], 30, axis=0)
    X_new = rng.normal(0, 0.1, (100, 2)) + np.repeat(
        [[0, 0], [5, 5], [5, -5]], [70, 10, 20], axis=0
    )
    for constrained in (True, False):
        estimator = L2Distance(constrained).fit(X, np.repeat(["a", "b", "c"], 30))
        assert_allclose(estimator.estimate(X_new).proportions, [0.7, 0.1, 0.2], atol=0.02)


@pytest.mark.slow
def test_leaving_one_out_mends_the_bias_against_small_classes() -> None:
    """In 20 dimensions, with 40 rows of one class and 400 of the other; new rows are halves."""
    errors = {True: [], False: []}
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(0, 1, (440, 20)) + np.repeat([0.0, 0.6], [40, 400])[:, None]
        X_new = rng.normal(0, 1, (400, 20)) + np.repeat([0.0, 0.6], 200)[:, None]
        y = np.repeat([0, 1], [40, 400])
        for way, found in errors.items():
            estimate = L2Distance(leave_one_out=way, random_state=0).fit(X, y).estimate(X_new)
            found.append(estimate[0] - 0.5)
    assert np.mean(errors[False]) < -0.04
    assert abs(np.mean(errors[True])) < 0.02


@pytest.mark.slow
def test_error_falls_with_the_rows() -> None:
    centres, truth = [[-1.0, 0.0], [1.0, 0.0], [0.0, 1.5]], [0.6, 0.3, 0.1]
    errors = []
    for n in (100, 400):
        found = []
        for seed in range(10):
            rng = np.random.default_rng(seed)
            X, codes = gaussian_rows(centres, [0.4, 0.3, 0.3], n, rng)
            X_new, _ = gaussian_rows(centres, truth, n, rng)
            estimate = L2Distance(random_state=0).fit(X, codes).estimate(X_new)
            found.append(np.abs(estimate.proportions - truth).sum())
        errors.append(np.mean(found))
    assert 1.4 < errors[0] / errors[1] < 3


def test_single_precision_changes_nothing_that_shows(monkeypatch) -> None:
    X, codes, X_new = one_dimension(5, n=300)
    programs = []
    for limit in (10**6, 0):
        monkeypatch.setattr(l2, "_EXACT_ROWS", limit)
        labelled, new = density_products(X, codes, X_new, 0.5)
        programs.append(minimise_on_simplex(*matching(labelled, codes, new)))
    assert_allclose(programs[0], programs[1], atol=1e-5)


def test_above_the_limit_a_random_part_is_used_and_it_says_so(monkeypatch) -> None:
    X, codes, X_new = one_dimension(6, n=2000)
    full = L2Distance(random_state=0).fit(X, codes).estimate(X_new)
    assert "part_of_rows" not in {notice.code for notice in full.notices}
    monkeypatch.setattr(l2, "MAX_ROWS", 1500)
    estimator = L2Distance(random_state=0).fit(X, codes)
    part = estimator.estimate(X_new)
    notice = part.notices[0]
    assert (notice.code, notice.severity) == ("part_of_rows", "note")
    assert notice.text.startswith("a random part of the rows was used: 150")
    assert notice.text.endswith(" of 4000.")
    assert part.n_new == 750
    assert_allclose(part.proportions, full.proportions, atol=0.1)
    assert estimator.estimate(X_new).to_dict() == part.to_dict()


@pytest.mark.slow
def test_replicates_spread_as_estimates_do_over_new_samples() -> None:
    centres, truth = [[-1.0, 0.0], [1.0, 0.0]], [0.7, 0.3]
    shares, spread = [], None
    for seed in range(120):
        rng = np.random.default_rng(seed)
        X, codes = gaussian_rows(centres, [0.5, 0.5], 200, rng)
        X_new, _ = gaussian_rows(centres, truth, 200, rng)
        estimator = L2Distance(bandwidth=0.5, random_state=0).fit(X, codes)
        record = estimator.scores(X_new)
        shares.append(estimator.from_scores(record)[0])
        if spread is None:
            spread = estimator.read(record).replicates(1000, 0)[:, 0].std()
    assert spread == pytest.approx(np.std(shares), rel=0.3)


def test_bandwidth_must_be_above_zero() -> None:
    with pytest.raises(ValueError, match=r"'bandwidth' parameter .* Got -1.0"):
        L2Distance(bandwidth=-1.0).fit([[0.0], [1.0]], [0, 1])
