"""Ranks of skewed columns and axes of codes: what they look like, when they are used, what for."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist
from scipy.stats import norm, rankdata
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.metrics import log_loss

from unseen import KernelLogisticRegression, OpenSetEstimator, load, save
from unseen.scores.crossfit import cross_fitter
from unseen.scores.scales import Reshaping, Standardisation, fitting_scales


def coded_sample(rng, law, counts):
    """Classes with other laws of six codes in each of eight columns."""
    parts = [
        np.column_stack([rng.choice(6, count, p=one) for one in law[k]])
        for k, count in enumerate(counts)
    ]
    return np.vstack(parts).astype(float), np.repeat(np.arange(len(counts)), counts)


@pytest.fixture(scope="module")
def coded():
    """Labelled rows of two classes, and new rows, 30% of which are of a third."""
    rng = np.random.default_rng(5)
    law = rng.dirichlet(np.full(6, 1.5), size=(3, 8))
    return *coded_sample(rng, law, [150, 150]), *coded_sample(rng, law, [105, 105, 90])


def kinds(X):
    return fitting_scales(X, np.ones(len(X)))


def test_a_skewed_column_has_the_normal_scores_of_its_ranks():
    X = np.random.default_rng(0).lognormal(sigma=2, size=(150, 1))
    scores = norm.ppf((rankdata(X) - 0.5) / 150)
    assert kinds(X) == (Standardisation, Reshaping)
    assert_allclose(Reshaping.of(X, np.ones(150))(X)[:, 0], scores / scores.std(), atol=1e-9)


def test_many_rows_keep_the_order_and_nearly_the_scores():
    X = np.random.default_rng(0).lognormal(sigma=2, size=(6000, 1))
    scale = Reshaping.of(X, np.ones(6000))
    found = scale(np.sort(X, axis=0))[:, 0]
    assert len(scale.knots[0]) <= 200
    assert (np.diff(found) >= 0).all()
    exact = norm.ppf((np.arange(6000) + 0.5) / 6000)
    assert np.abs(found - exact)[300:-300].max() < 0.06


def test_codes_stand_equally_far_apart_with_the_spread_of_one_column():
    rng = np.random.default_rng(0)
    X = rng.choice([0.0, 3.0, 4.0, 9.0], size=(400, 1))
    rows = Reshaping.of(X, np.ones(400))(X)
    distances = pdist(np.unique(rows, axis=0))
    assert rows.shape == (400, 4)
    assert_allclose(distances, distances[0])
    assert_allclose(rows.var(axis=0).sum(), 1.0)


def test_weights_are_copies():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.lognormal(sigma=2, size=200), rng.integers(0, 5, 200)])
    weight = rng.integers(0, 3, 200)
    copies = np.repeat(X, weight, axis=0)
    ours = Reshaping.of(X, weight.astype(float))
    twin = Reshaping.of(copies, np.ones(len(copies)))
    assert_allclose(ours(X), twin(X))


def test_other_columns_are_standardised_and_go_on_beyond_the_rows():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=300), rng.lognormal(sigma=2, size=300)])
    far = np.array([[50.0, 1e9]])
    scale = Reshaping.of(X, np.ones(300))
    assert_allclose(scale(far)[0, 0], Standardisation.of(X, np.ones(300))(far)[0, 0])
    assert_allclose(scale(far)[0, 1], scale(X)[:, 1].max())


@pytest.mark.parametrize("load_set", [load_digits, load_wine, load_breast_cancer, load_iris])
def test_ordinary_sets_keep_the_equal_spread_alone(load_set):
    assert kinds(load_set().data) == (Standardisation,)


def test_counts_and_indicators_are_no_codes():
    rng = np.random.default_rng(0)
    assert kinds(rng.poisson(3.0, (800, 5))) == (Standardisation,)
    assert kinds((rng.random((800, 5)) < 0.02).astype(float)) == (Standardisation,)
    assert kinds(rng.integers(0, 4, (800, 5))) == (Standardisation, Reshaping)


def test_bandwidths_of_the_user_are_for_equal_spread():
    X = np.random.default_rng(0).lognormal(sigma=2, size=(100, 2))
    weight = np.ones(100)
    for model in (KernelLogisticRegression(1.0), KernelLogisticRegression(standardize=False)):
        assert [type(scale) for scale in model.scales(X, weight)] == [Standardisation]


def test_codes_are_learnt_and_the_fitted_model_survives(coded, tmp_path):
    X, y, X_new, y_new = coded
    known = y_new < 2
    model = KernelLogisticRegression(random_state=0).fit(X, y)
    plain = KernelLogisticRegression(
        np.median(pdist(X / X.std(axis=0))) * 2.0 ** np.arange(-3, 3), random_state=0
    ).fit(X, y)
    ours, theirs = (
        log_loss(y_new[known], one.predict_proba(X_new[known])) for one in (model, plain)
    )
    assert ours < 0.8 * theirs
    save(model, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    assert_array_equal(again.predict_proba(X_new), model.predict_proba(X_new))


def test_candidates_and_distances_of_both_scales_stand_side_by_side(coded):
    X, y, X_new, _ = coded
    scores = cross_fitter().ratios(X_new, X, None, y, 5, 0)
    # Of the 30 candidates of each scale, a few have no weight, and are left out.
    assert 30 < scores.new.shape[1] <= 60
    assert scores.distances.new.shape == (300, 3)
    assert scores.log_loss[-30:].min() < scores.log_loss[:-30].min()


def test_unseen_codes_are_found(coded):
    X, y, X_new, _ = coded
    estimate = OpenSetEstimator(n_folds=3, random_state=0).fit(X, y).estimate(X_new)
    assert abs(estimate.unseen - 0.3) <= 0.12  # codes hardly tell a third class from a move
