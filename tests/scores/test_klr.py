"""Kernel logistic regression: optimality conditions, the exact twin, and the fast path."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss, roc_auc_score

from reference.exact_klr import exact_scores, gaussian_kernel
from unseen import KernelLogisticRegression
from unseen.scores.held_out import one_hot


@pytest.fixture(scope="module")
def moons():
    return make_moons(220, noise=0.3, random_state=0)


@pytest.mark.parametrize("bandwidth", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
def test_equals_the_exact_twin_when_every_row_is_a_landmark(moons, bandwidth, C):
    X, y = moons
    train, new = X[:150], X[150:]
    model = KernelLogisticRegression(bandwidth, C, standardize=False).fit(train, y[:150])
    exact = exact_scores(train, y[:150] == 1, new, bandwidth, C)
    assert_allclose(model.decision_function(new), exact, atol=1e-4 * np.abs(exact).max())


def test_weights_equal_the_exact_twin(moons):
    X, y = moons
    weight = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    model = KernelLogisticRegression(0.7, 3.0, standardize=False).fit(X, y, weight)
    exact = exact_scores(X, y == 1, X, 0.7, 3.0, weight)
    assert_allclose(model.decision_function(X), exact, atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_stationary_point_of_the_penalised_likelihood(n_classes):
    """The gradient vanishes where f = -C K (P - T) + b and each column of P - T sums to 0."""
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    C, bandwidth = 2.0, 1.5
    model = KernelLogisticRegression(bandwidth, C, standardize=False).fit(X, y)
    P = model.predict_proba(X)
    T = (y[:, None] == np.arange(n_classes)).astype(float)
    if n_classes == 2:
        P, T = P[:, 1:], T[:, 1:]
    f = -C * gaussian_kernel(X, X, bandwidth) @ (P - T) + model.intercept_
    assert_allclose(model.decision_function(X).reshape(f.shape), f, atol=1e-4)
    assert_allclose((P - T).sum(axis=0), 0, atol=1e-5)


@pytest.mark.slow
def test_low_rank_single_precision_keeps_the_auc_of_the_exact_twin():
    X, y = make_moons(2600, noise=0.35, random_state=1)
    train = slice(0, 1400)
    model = KernelLogisticRegression(random_state=0).fit(X[train], y[train])
    assert model.coef_.shape[0] < 400
    scaled = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
    exact = exact_scores(scaled[train], y[train] == 1, scaled[1400:], model.bandwidth_, model.C_)
    ours = model.decision_function(X[1400:])
    assert abs(roc_auc_score(y[1400:], ours) - roc_auc_score(y[1400:], exact)) < 0.002
    assert np.median(np.abs(ours - exact)) < 0.05


def test_the_smoother_of_equals_is_chosen():
    """Far apart classes: every cell gets every held-out row right."""
    X = np.concatenate([np.linspace(-3, -2, 60), np.linspace(2, 3, 60)])[:, None]
    y = np.repeat([0, 1], 60)
    model = KernelLogisticRegression([0.5, 1.0], [1.0, 10.0], scoring="accuracy", random_state=0)
    model.fit(X, y)
    assert_allclose(model.cv_scores_, 1.0)
    assert (model.bandwidth_, model.C_) == (1.0, 1.0)


def test_choice_takes_the_best_cell(moons):
    X, y = moons
    model = KernelLogisticRegression([0.3, 1.0], [0.1, 1.0, 10.0], random_state=0).fit(X, y)
    assert model.cv_scores_.shape == (2, 3)
    best = np.unravel_index(model.cv_scores_.argmax(), (2, 3))
    assert (model.bandwidth_, model.C_) == ([1.0, 0.3][best[0]], [0.1, 1.0, 10.0][best[1]])


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "neg_log_loss"])
def test_a_useless_bandwidth_is_never_chosen(moons, scoring):
    X, y = moons
    model = KernelLogisticRegression([1e-4, 0.5], 1.0, scoring=scoring, random_state=0).fit(X, y)
    assert model.bandwidth_ == 0.5


def test_held_out_log_loss_is_honest(moons):
    """The score of the chosen cell is what a fresh sample of the same size also gives."""
    X, y = make_moons(4000, noise=0.3, random_state=2)
    model = KernelLogisticRegression(random_state=0).fit(X[:600], y[:600])
    fresh = -log_loss(y[600:], model.predict_proba(X[600:]))
    assert abs(model.cv_scores_.max() - fresh) < 0.03


def test_sparse_rows_give_what_dense_rows_give(moons):
    X, y = moons
    X = np.where(np.abs(X) < 0.3, 0.0, X)
    dense = KernelLogisticRegression(random_state=0).fit(X, y)
    sparse = KernelLogisticRegression(random_state=0).fit(csr_array(X), y)
    assert_allclose(dense.predict_proba(X), sparse.predict_proba(csr_array(X)), atol=1e-9)


def test_constant_feature_changes_nothing(moons):
    X, y = moons
    plain = KernelLogisticRegression(random_state=0).fit(X, y)
    padded = np.column_stack([X, np.full(len(y), 1e6 + 0.1)])
    with_constant = KernelLogisticRegression(random_state=0).fit(padded, y)
    assert_allclose(plain.predict_proba(X), with_constant.predict_proba(padded), atol=1e-5)


def test_all_rows_equal_gives_the_class_shares():
    X, y = np.ones((30, 2)), np.repeat([0, 1], [10, 20])
    model = KernelLogisticRegression(random_state=0).fit(X, y)
    assert_allclose(model.predict_proba(X[:1]), [[1 / 3, 2 / 3]], atol=1e-6)


def test_weak_penalties_stay_finite_in_single_precision():
    X, y = make_moons(3000, noise=0.3, random_state=0)
    for model, weight in (
        (KernelLogisticRegression(1.0, 1e6, random_state=0), None),
        (KernelLogisticRegression([0.5, 1.0], [1.0, 1e3], random_state=0), np.full(3000, 1e3)),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y, weight)
        assert np.isfinite(model.predict_proba(X)).all()
        assert model.score(X, y) > 0.85
        assert model.cv_scores_ is None or np.isfinite(model.cv_scores_).all()


def test_a_fit_that_stops_short_of_its_optimum_says_so():
    X, y = make_moons(300, noise=0.3, random_state=0)
    rule = r"stopped after 100 steps short of its optimum at bandwidth=1, C=1e\+14; a smaller C"
    with pytest.warns(ConvergenceWarning, match=rule) as caught:
        model = KernelLogisticRegression(1.0, 1e14, random_state=0).fit(X, y)
    assert [warning.filename for warning in caught] == [__file__]
    assert np.isfinite(model.predict_proba(X)).all()
    KernelLogisticRegression(1.0, 1e6, random_state=0).fit(X, y)  # warnings are errors


def test_folds_without_weight_do_not_vote(moons):
    X, y = moons
    weight = np.zeros(len(y))
    weight[[np.flatnonzero(y == 0)[0], np.flatnonzero(y == 1)[0]]] = 1.0
    model = KernelLogisticRegression(random_state=0).fit(X, y, weight)
    assert np.isfinite(model.cv_scores_).all()


def test_offset_of_the_features_changes_nothing(moons):
    X, y = make_moons(1500, noise=0.3, random_state=0)
    plain, shifted = (
        KernelLogisticRegression(0.5, 1.0, standardize=False, random_state=0).fit(X + shift, y)
        for shift in (0.0, 1e5)
    )
    assert_allclose(plain.predict_proba(X), shifted.predict_proba(X + 1e5), atol=1e-3)


def test_splits_score_their_test_rows_only():
    """The rows in neither part of the split carry the wrong labels."""
    X, y = make_moons(300, noise=0.1, random_state=0)
    wrong = np.where(np.arange(300) < 200, y, 1 - y)
    split = [(np.arange(0, 150), np.arange(150, 200))]
    model = KernelLogisticRegression(0.5, [1.0, 10.0], scoring="accuracy", cv=split).fit(X, wrong)
    assert model.cv_scores_.max() > 0.9


def test_separable_classes_stay_finite():
    X = np.concatenate([np.linspace(-2, -1, 40), np.linspace(1, 2, 40)])[:, None]
    y = np.repeat(["a", "b"], 40)
    model = KernelLogisticRegression(random_state=0).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, y) == 1.0


def test_string_labels_and_probabilities_on_the_simplex():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = KernelLogisticRegression(random_state=0).fit(X, names)
    P = model.predict_proba(X)
    assert_allclose(P.sum(axis=1), 1)
    assert (model.predict(X) == names).mean() > 0.95


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"bandwidth": [1.0, -1.0]}, r"bandwidth must be > 0; got \[1.0, -1.0\]"),
        ({"C": [0.0]}, r"C must be > 0; got \[0.0\]"),
        ({"bandwidth": -1.0}, "bandwidth"),
        ({"scoring": "f1"}, "scoring"),
        ({"rank": 0}, "rank"),
    ],
)
def test_bad_parameters_are_named(moons, parameters, message):
    with pytest.raises(ValueError, match=message):
        KernelLogisticRegression(**parameters).fit(*moons)


def test_one_class_is_refused_by_name(moons):
    X, _ = moons
    with pytest.raises(ValueError, match="at least two classes; got one class, 'a'"):
        KernelLogisticRegression().fit(X, np.full(len(X), "a"))


def test_one_hot_has_one_column_for_two_classes():
    assert_allclose(one_hot(np.array([0, 1, 1]), 2), [[0], [1], [1]])
    assert_allclose(one_hot(np.array([0, 2]), 3), [[1, 0, 0], [0, 0, 1]])
