"""The convex surrogate: closed forms, gradients, and the Bayes rule where it is known."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import check_grad, minimize
from scipy.special import expit

from reference.closed_form import BAYES_RISK, SHARES, excess_risk, samples
from unseen.rejection.kernel import RejectionKernel, label_probabilities
from unseen.rejection.losses import (
    Logistic,
    Square,
    Surrogate,
    choose_by_other_folds,
    lowest_risk,
    row_losses,
)
from unseen.rejection.sample import OutOfFold

LOSSES = {
    Square: lambda values: (1 + values) ** 2 / 4,  # phi(-f)
    Logistic: lambda values: np.logaddexp(0, values),
}


@pytest.fixture
def problem():
    """Two known classes in four features and a constant."""
    rng = np.random.default_rng(0)
    labelled, new = rng.normal(size=(60, 5)), rng.normal(0.5, 1, size=(80, 5))
    labelled[:, -1] = new[:, -1] = 1.0
    codes = np.repeat([0, 1], [25, 35])
    return labelled, codes, new, np.array([0.3, 0.45])


def surrogate_risk(loss, surrogate, w):
    """``E_0[phi(-f)] - c(f)`` of each label, from its definition."""
    values = surrogate.rows @ w
    return LOSSES[type(loss)](values).mean(axis=0) - np.einsum("rk,rk->k", surrogate.pull, w)


def penalised(loss, surrogate, ridge, w, label):
    """The objective of one label, from its definition."""
    risk = surrogate_risk(loss, surrogate, np.tile(w[:, None], surrogate.pull.shape[1]))[label]
    return risk + ridge / 2 * (w[:-1] ** 2).sum()


def test_losses_turn_the_open_risk_into_expectations_over_samples_at_hand():
    margins = np.linspace(-5, 5, 41)
    for losses in LOSSES.values():
        # phi(z) - phi(-z) = -z.
        assert_allclose(losses(-margins) - losses(margins), -margins, atol=1e-12)


def test_surrogate_is_the_sum_of_one_against_the_rest_losses(problem):
    labelled, codes, new, shares = problem
    surrogate = Surrogate.from_features(*problem)
    w = np.random.default_rng(1).normal(size=(5, 3))
    for loss in (Square(), Logistic()):
        risks = surrogate_risk(loss, surrogate, w)
        for k in range(2):
            own = shares[k] * labelled[codes == k] @ w[:, k] / (codes == k).sum()
            direct = LOSSES[type(loss)](new @ w[:, k]).mean() - own.sum()
            assert_allclose(risks[k], direct)
        known = sum(shares[k] * (labelled[codes == k] @ w[:, 2]).mean() for k in range(2))
        assert_allclose(risks[2], LOSSES[type(loss)](new @ w[:, 2]).mean() - known)


@pytest.mark.parametrize("ridge", [1.0, 1e-3])
def test_square_loss_solves_the_quadratic_problem(problem, ridge):
    surrogate = Surrogate.from_features(*problem)
    (found,) = Square().minimisers(surrogate, [ridge])
    rows, m = surrogate.rows, len(surrogate.rows)
    # The same by least squares on stacked rows: |A w - b|^2 = the objective, up to a constant.
    penalty = np.sqrt(ridge / 2) * np.eye(5)[:-1]
    for label in range(3):
        hessian = rows.T @ rows / (2 * m) + 2 * penalty.T @ penalty
        direct = np.linalg.lstsq(
            hessian, surrogate.pull[:, label] - rows.mean(axis=0) / 2, rcond=None
        )[0]
        assert_allclose(found[:, label], direct, rtol=1e-8)
        numeric = minimize(
            lambda w, label=label: penalised(Square(), surrogate, ridge, w, label), np.zeros(5)
        )
        assert_allclose(found[:, label], numeric.x, atol=1e-4)


def test_square_loss_probabilities_sum_to_one_by_themselves(problem):
    surrogate = Surrogate.from_features(*problem)
    (found,) = Square().minimisers(surrogate, [0.1])
    values = surrogate.rows @ found
    assert_allclose((values[:, :-1] + 1).sum(axis=1) / 2 + (1 - values[:, -1]) / 2, 1.0)


@pytest.mark.parametrize("ridge", [1.0, 1e-2])
def test_logistic_loss_ends_where_the_gradient_is_zero(problem, ridge):
    surrogate = Surrogate.from_features(*problem)
    *_, found = Logistic(tol=1e-16).minimisers(surrogate, [10 * ridge, ridge])
    for label in range(3):

        def value(w, label=label):
            return penalised(Logistic(), surrogate, ridge, w, label)

        def gradient(w, label=label):
            share = expit(surrogate.rows @ w)
            free = np.append(np.full(4, ridge), 0.0)
            return surrogate.rows.T @ share / len(share) - surrogate.pull[:, label] + free * w

        assert check_grad(value, gradient, found[:, label] + 0.3) < 1e-5
        assert_allclose(gradient(found[:, label]), 0.0, atol=1e-8)


def test_logistic_loss_needs_its_ridge():
    # Twice as much known mass at the second point as there is new mass.
    rows = np.array([[-1.0, 1.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, 1.0]])
    surrogate = Surrogate(rows, np.array([[0.5, 0.5], [0.5, 0.5]]))
    sizes = [
        np.abs(next(Logistic().minimisers(surrogate, [ridge]))).max() for ridge in (1e-2, 1e-4)
    ]
    assert sizes[1] > 10 * sizes[0]


def test_probabilities_lie_on_the_simplex_whatever_the_values():
    assert_allclose(Square().probability([-1.5, 0.0, 0.5]), [0.0, 0.5, 0.75])
    assert_allclose(Logistic().probability([0.0, np.log(3)]), [0.5, 0.75])
    values = np.array([[-5.0, -7.0, 9.0], [0.2, 0.1, 3.0], [-2.0, -2.0, -4.0]])
    for loss in (Square(), Logistic()):
        found = label_probabilities(loss, values)
        assert_allclose(found.sum(axis=1), 1.0)
        assert (found >= 0).all()
        assert found[2].argmax() == 2
    # No function above -1: the highest one, here that of unseen at -9 or class 0 at -5.
    assert label_probabilities(Square(), values)[0].argmax() == 0


@pytest.mark.parametrize("loss", [Square(), Logistic()])
def test_rule_comes_close_to_the_bayes_risk(loss):
    X, codes, X_new, _ = samples(1000, seed=0)
    rule = RejectionKernel(loss, rank=60, random_state=0).fit(X, codes, X_new, SHARES[:2])
    assert 0 < excess_risk(rule.rule_) < 0.04
    # The stated risk is that of the rule, within what 1000 rows allow.
    assert (
        abs(rule.risk_.risk - excess_risk(rule.rule_) - BAYES_RISK) < 3 * rule.risk_.standard_error
    )


def test_square_loss_estimates_the_posterior():
    X, codes, X_new, _ = samples(4000, seed=1)
    rule = RejectionKernel(rank=60, random_state=0).fit(X, codes, X_new, SHARES[:2])
    x = np.column_stack([np.linspace(-3, 3, 13), np.zeros(13)])
    weights = SHARES * np.exp(-((x[:, :1] - [-2.0, 2.0, 0.0]) ** 2) / 2)
    truth = weights / weights.sum(axis=1, keepdims=True)
    assert np.abs(rule.predict_proba(x) - truth).mean() < 0.05


def test_where_all_folds_agree_held_out_rows_are_those_of_the_one_candidate():
    rule = RejectionKernel(bandwidth=[0.1, 2.0], ridge=[1e-3], rank=50, random_state=0)
    X, codes, X_new, _ = samples(150, seed=2)
    fitted = rule.fit(X, codes, X_new, SHARES[:2])
    assert fitted.rule_.bandwidth == 2.0
    alone = rule.set_params(bandwidth=2.0).fit(X, codes, X_new, SHARES[:2])
    assert_allclose(fitted.out_of_fold_.new, alone.out_of_fold_.new)


def test_each_fold_gets_the_candidate_that_the_others_like():
    codes, folds = np.zeros(4, dtype=int), (np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]))
    known, unseen = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    # The first candidate is right in fold 0 only, the second in fold 1 only.
    first = OutOfFold(np.array([known, known, unseen, unseen]), codes, np.array([known] * 4))
    second = OutOfFold(np.array([unseen, unseen, known, known]), codes, np.array([known] * 4))
    candidates = [first, second]
    losses = [row_losses(each) for each in candidates]
    chosen = choose_by_other_folds(candidates, losses, folds, np.array([1.0]), lowest_risk)
    assert_allclose(chosen.labelled[:, 0], 0.0)  # each fold got the candidate that fails on it


@pytest.mark.parametrize("name", ["bandwidth", "ridge"])
def test_bad_candidates_are_named(name):
    X, codes, X_new, _ = samples(40, seed=0)
    with pytest.raises(ValueError, match=f"{name} must be > 0; got"):
        RejectionKernel(**{name: [1.0, -1.0]}).fit(X, codes, X_new, SHARES[:2])
