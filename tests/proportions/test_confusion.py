"""Classes that cannot be told apart: found by the worth of a row, with the sums of their shares."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

import unseen
from unseen.proportions.overlap import pair_information


def worth_of_gaussians(distance: float) -> float:
    """E[(2q - 1)^2] for two unit Gaussians in equal shares, by quadrature."""

    def term(x: float) -> float:
        a, b = norm.pdf(x), norm.pdf(x - distance)
        return (a - b) ** 2 / (a + b) / 2

    return quad(term, -10, 10 + distance)[0]


@pytest.mark.parametrize("distance", [0.2, 1.0, 3.0])
def test_the_worth_of_a_row_is_its_fisher_information(distance) -> None:
    rng = np.random.default_rng(0)
    x = np.append(rng.normal(0, 1, 20_000), rng.normal(distance, 1, 20_000))
    densities = np.column_stack([norm.pdf(x), norm.pdf(x - distance)])
    worth, noise = pair_information(densities, np.repeat([0, 1], 20_000))
    assert_allclose(worth[0, 1], worth_of_gaussians(distance), atol=4 * noise[0, 1] + 1e-9)
    assert_allclose(worth, worth.T)


def test_a_factor_for_each_row_changes_nothing() -> None:
    rng = np.random.default_rng(1)
    densities, codes = rng.random((60, 3)), np.arange(60) % 3
    scaled = densities * rng.random((60, 1))
    assert_allclose(pair_information(densities, codes)[0], pair_information(scaled, codes)[0])


def test_classes_that_never_overlap_are_worth_1_and_those_that_always_do_0() -> None:
    codes = np.array([0, 1, 0, 1])
    for densities, worth in ((np.eye(2)[codes], 1.0), (np.ones((4, 2)), 0.0)):
        assert pair_information(densities, codes)[0][0, 1] == worth


def estimate_of(centres, classifier, **options):
    rng = np.random.default_rng(2)
    X = np.vstack([rng.normal(centre, 1, (150, 2)) for centre in centres])
    X_new = np.vstack([rng.normal(centre, 1, (60, 2)) for centre in centres])
    y = np.repeat([f"c{place}" for place in range(len(centres))], 150)
    estimator = unseen.SaerensEM(classifier=classifier, n_folds=5, **options)
    return unseen.estimate(X, y, X_new, estimator=estimator, random_state=0, confidence=None)


def confused(estimate):
    return [notice for notice in estimate.notices if notice.code == "confused_classes"]


def test_a_classifier_that_is_sure_and_knows_nothing_is_worth_nothing() -> None:
    rng = np.random.default_rng(3)
    sure = np.eye(2)[rng.integers(0, 2, 4000)]
    worth, noise = pair_information(sure, np.arange(4000) % 2)
    assert abs(worth[0, 1]) < 4 * noise[0, 1]


def test_confused_classes_are_named_with_the_sum_of_their_shares() -> None:
    model = LogisticRegression(max_iter=1000)
    estimate = estimate_of([[0, 0], [0.1, 0], [6, 0], [0, 9], [0.1, 9]], model)
    (notice,) = confused(estimate)
    sums = [estimate["c0"] + estimate["c1"], estimate["c3"] + estimate["c4"]]
    assert "4 of 5 known classes" in notice.text
    assert f"'c0', 'c1' {sums[0]:.1%}; 'c3', 'c4' {sums[1]:.1%}." in notice.text


def test_classes_that_overlap_as_real_ones_do_are_left_alone() -> None:
    assert not confused(estimate_of([[0, 0], [1.2, 0], [0, 5]], LogisticRegression()))
