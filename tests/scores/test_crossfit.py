"""Out-of-fold scores are out of fold, whatever scores them."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from unseen import KernelLogisticRegression
from unseen._random import seeded
from unseen.scores.base import assign_folds
from unseen.scores.crossfit import cross_fitter
from unseen.scores.pairs import crossfit_scores


def auc(pair):
    scores_F, scores_H = pair
    labels = np.repeat([1, 0], [len(scores_F), len(scores_H)])
    return roc_auc_score(labels, np.concatenate(pair))


def first_seed(random_state):
    """What the folds of the first repeat of the first class are drawn with."""
    return int(np.random.RandomState(random_state).randint(2**31 - 1, size=1)[0])


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    return rng.normal(1.0, 1.0, (160, 3)), rng.normal(0.0, 1.0, (120, 3))


@pytest.mark.parametrize(
    "classifier",
    [None, RandomForestClassifier(20), KernelLogisticRegression(0.05, 1e3)],
    ids=["default", "forest", "overfitted kernel"],
)
def test_samples_of_one_law_cannot_be_told_apart(classifier):
    """In-sample scores of these models reach an AUC near 1; honest ones stay near one half."""
    rng = np.random.default_rng(1)
    F, H = rng.normal(size=(300, 4)), rng.normal(size=(300, 4))
    area = auc(crossfit_scores(F, H, classifier, n_folds=5, random_state=0))
    # Three standard errors of an AUC from 300 + 300 rows, and the pull of choosing the best C.
    assert 0.43 < area < 0.57


def test_any_classifier_equals_the_plain_loop(samples):
    F, H = samples
    model = LogisticRegression()
    scores_F, scores_H = crossfit_scores(F, H, model, n_folds=4, random_state=0)
    rows, labels = np.vstack([F, H]), np.repeat([1, 0], [len(F), len(H)])
    folds = assign_folds(labels, 4, np.random.RandomState(first_seed(0)))
    expected = np.empty(len(labels))
    for fold in range(4):
        out = folds == fold
        fitted = LogisticRegression().fit(rows[~out], labels[~out])
        moved = np.log(len(F) / len(H)) - np.log(labels[~out].sum() / (1 - labels[~out]).sum())
        expected[out] = fitted.decision_function(rows[out]) + moved
    assert_allclose(np.concatenate([scores_F, scores_H]), expected, rtol=1e-6)


def test_shared_factor_equals_refitting_each_fold(samples):
    """Few rows: every row is a landmark, so the shared factor is exact."""
    F, H = samples
    model = KernelLogisticRegression(1.5, 1.0, standardize=False, cv=3)
    ours = np.concatenate(crossfit_scores(F, H, model, n_folds=3, random_state=0))
    rows, labels = np.vstack([F, H]), np.repeat([1, 0], [len(F), len(H)])
    folds = assign_folds(labels, 3, first_seed(0))
    for fold in range(3):
        out = folds == fold
        fitted = KernelLogisticRegression(1.5, 1.0, standardize=False)
        fitted.fit(rows[~out], labels[~out])
        # Had each fold been trained on the shares of F and H in all rows:
        moved = np.log(len(F) / len(H)) - np.log(labels[~out].sum() / (1 - labels[~out]).sum())
        expected = fitted.decision_function(rows[out]) + moved
        assert_allclose(ours[out], expected, atol=1e-3)


def test_a_class_gets_the_scores_of_its_own_pair(samples):
    F, H = samples
    rng = np.random.default_rng(2)
    other = rng.normal(6.0, 1.0, (80, 3))
    X, codes = np.vstack([H, other]), np.repeat([0, 1], [len(H), len(other)])
    pairs = cross_fitter().pairs(X, codes, F, 5, 1, 0)
    assert [len(own) for _, own in pairs] == [120, 80]
    assert auc(pairs[1]) > 0.99 > auc(pairs[0]) > 0.7


@pytest.mark.slow
def test_same_seed_same_scores_whatever_n_jobs(samples):
    F, H = samples
    X, codes = np.vstack([H, H + 3]), np.repeat([0, 1], len(H))
    for classifier in (None, RandomForestClassifier(10)):
        one, two, other = (
            cross_fitter(classifier, n_jobs).pairs(X, codes, F, 3, 1, seed)
            for seed, n_jobs in ((5, 1), (5, 2), (6, 1))
        )
        assert_allclose(one[1][0], two[1][0])
        assert not np.allclose(one[1][0], other[1][0])


def test_repeats_average_independent_folds(samples):
    F, H = samples
    both = crossfit_scores(F, H, LogisticRegression(), n_folds=3, n_repeats=2, random_state=0)
    rng = np.random.RandomState(0)
    first = crossfit_scores(F, H, LogisticRegression(), n_folds=3, random_state=rng)
    second = crossfit_scores(F, H, LogisticRegression(), n_folds=3, random_state=rng)
    assert_allclose(both[0], (first[0] + second[0]) / 2)


def test_decision_function_is_enough_and_something_is_needed(samples):
    F, H = samples
    assert auc(crossfit_scores(F, H, RidgeClassifier(), n_folds=3, random_state=0)) > 0.8
    with pytest.raises(TypeError, match="predict_proba or decision_function; got Bare"):
        crossfit_scores(F, H, Bare(), n_folds=3, random_state=0)


class Bare(NearestCentroid):
    predict_proba = property()
    decision_function = property()


def test_sparse_rows_give_what_dense_rows_give(samples):
    F, H = (np.where(np.abs(rows) < 0.2, 0.0, rows) for rows in samples)
    dense = crossfit_scores(F, H, n_folds=3, random_state=0)
    sparse = crossfit_scores(csr_array(F), csr_array(H), n_folds=3, random_state=0)
    assert_allclose(dense[0], sparse[0], atol=1e-6)


def test_seeded_reaches_nested_classifiers_and_leaves_the_given_one(samples):
    F, H = samples
    rows, labels = np.vstack([F, H]), np.repeat([1, 0], [len(F), len(H)])
    model = make_pipeline(BaggingClassifier(DecisionTreeClassifier(max_features=1), 3))
    one, two, other = (
        seeded(model, seed).fit(rows, labels).predict_proba(rows) for seed in (1, 1, 2)
    )
    assert_allclose(one, two)
    assert not np.allclose(one, other)
    assert all(
        value is None for name, value in model.get_params().items() if name.endswith("random_state")
    )
    assert seeded(NearestCentroid(), 1).get_params() == NearestCentroid().get_params()


EIGHT = np.arange(8.0)[:, None]


@pytest.mark.parametrize("classifier", [None, LogisticRegression()], ids=["default", "logistic"])
@pytest.mark.parametrize(
    ("F", "H", "settings", "message"),
    [
        (EIGHT, [], {}, "H must have at least 2 rows, so that one can be held out; got 0."),
        (EIGHT[:1], EIGHT, {}, "F must have at least 2 rows, so that one can be held out; got 1."),
        (EIGHT, np.zeros((8, 2)), {}, "F and H must have the same columns; got 1 and 2 of them."),
        (EIGHT, np.zeros((8, 1, 1)), {}, "H must be 2-d (rows, columns); got shape (8, 1, 1)."),
        (EIGHT, EIGHT, {"n_folds": 1}, "n_folds must be a whole number >= 2; got 1."),
        (EIGHT, EIGHT, {"n_folds": 2.5}, "n_folds must be a whole number >= 2; got 2.5."),
        (EIGHT, EIGHT, {"n_repeats": 0}, "n_repeats must be a whole number >= 1; got 0."),
    ],
)
def test_bad_arguments_are_named(F, H, settings, message, classifier):
    with pytest.raises(ValueError, match=re.escape(message)):
        crossfit_scores(F, H, classifier, **settings)


def test_sparse_samples_are_checked_too():
    with pytest.raises(ValueError, match="same columns; got 3 and 2 of them"):
        crossfit_scores(csr_array(np.eye(3)), csr_array(np.eye(2)))


def test_one_known_class_has_its_bandwidth_near_the_median() -> None:
    """Chosen on the pair that is scored: the candidates are few, and a given one is kept."""
    rng = np.random.default_rng(2)
    F, H = rng.normal(0.5, 1, (60, 3)), rng.normal(0, 1, (50, 3))
    rows = KernelLogisticRegression().prepare(
        np.vstack([F, H]), np.ones(110), np.random.RandomState(8)
    )
    near = rows.median * np.array([0.5, 1.0, 2.0])
    default = crossfit_scores(F, H, random_state=8)
    for scores, expected in zip(
        crossfit_scores(F, H, KernelLogisticRegression(near), random_state=8), default, strict=True
    ):
        assert_allclose(scores, expected)
    single = crossfit_scores(F, H, KernelLogisticRegression(near[0] / 4), random_state=8)
    assert not np.allclose(single[0], default[0])


def test_held_out_labels_do_not_show_in_the_scores() -> None:
    """Two samples of one law, narrow kernels, hardly a penalty: where early stopping once leaked.

    A fit that stops early keeps a trace of the held-out labels through what folds share. Out of
    fold, and whatever C is chosen, the AUC must be near 1/2.
    """
    aucs = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        F, H = rng.lognormal(size=(50, 5)), rng.lognormal(size=(100, 5))
        everything = KernelLogisticRegression().prepare(
            np.vstack([F, H]), np.ones(150), np.random.RandomState(seed)
        )
        for strength in (100.0, 1000.0):
            model = KernelLogisticRegression(everything.median / 8, strength)
            aucs.append(auc(crossfit_scores(F, H, model, random_state=seed)))
    assert abs(np.mean(aucs) - 0.5) < 0.06


@pytest.mark.slow
def test_folds_of_unequal_shares_do_not_turn_the_order_round() -> None:
    """At a tiny C a score is the log-odds of its fold: lower where more of F was held out."""
    aucs = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        F, H = rng.normal(size=(33, 3)), rng.normal(size=(47, 3))
        aucs.append(auc(crossfit_scores(F, H, KernelLogisticRegression(2.0, 0.01), random_state=0)))
    assert abs(np.mean(aucs) - 0.5) < 0.05


@pytest.mark.slow
def test_folds_of_unequal_shares_do_not_turn_the_order_round_for_any_classifier() -> None:
    aucs = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        F, H = rng.normal(size=(25, 3)), rng.normal(size=(25, 3))
        aucs.append(auc(crossfit_scores(F, H, LogisticRegression(C=0.01), random_state=seed)))
    assert abs(np.mean(aucs) - 0.5) < 0.06
