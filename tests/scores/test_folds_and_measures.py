"""Held-out measures equal scikit-learn's, and folds are what they should be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold

from unseen.scores.base import assign_folds, training_masks
from unseen.scores.held_out import accuracy, neg_log_loss, roc_auc, weighted_auc


def problem(n_classes, seed=0):
    rng = np.random.default_rng(seed)
    n_outputs = 1 if n_classes == 2 else n_classes
    codes = np.arange(60) % n_classes
    values = np.round(rng.normal(size=(60, 4, n_outputs)) + codes[:, None, None] / 3, 1)
    return values, codes, rng.integers(1, 4, 60).astype(float)


def probabilities(values):
    if values.shape[1] == 1:
        values = np.column_stack([np.zeros(len(values)), values])
    powers = np.exp(values)
    return powers / powers.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_measures_equal_scikit_learn(n_classes):
    values, codes, weight = problem(n_classes)
    for cell in range(4):
        P = probabilities(values[:, cell])
        predicted = P.argmax(axis=1)
        assert_allclose(
            accuracy(values, codes, weight)[cell],
            accuracy_score(codes, predicted, sample_weight=weight),
        )
        assert_allclose(
            neg_log_loss(values, codes, weight)[cell], -log_loss(codes, P, sample_weight=weight)
        )


def test_auc_equals_scikit_learn():
    values, codes, weight = problem(2)
    expected = [roc_auc_score(codes, values[:, c, 0], sample_weight=weight) for c in range(4)]
    assert_allclose(roc_auc(values, codes, weight), expected)
    values, codes, weight = problem(3)
    expected = [
        np.mean(
            [roc_auc_score(codes == k, values[:, c, k], sample_weight=weight) for k in range(3)]
        )
        for c in range(4)
    ]
    assert_allclose(roc_auc(values, codes, weight), expected)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=30))
def test_auc_counts_pairs(rows):
    scores, positive = np.array([r[0] for r in rows], float), np.array([r[1] for r in rows])
    if positive.all() or not positive.any():
        return
    wins = np.sign(scores[positive][:, None] - scores[~positive][None]) / 2 + 0.5
    assert_allclose(weighted_auc(scores, positive, np.ones(len(rows))), wins.mean())


def test_auc_of_one_class_is_a_coin_toss():
    assert_allclose(roc_auc(np.zeros((3, 2, 1)), np.zeros(3, int), np.ones(3)), 0.5)


def test_folds_spread_each_class_evenly():
    codes = np.repeat([0, 1], [31, 9])
    folds = assign_folds(codes, 3, 0)
    for label in (0, 1):
        counts = np.bincount(folds[codes == label], minlength=3)
        assert counts.max() - counts.min() <= 1


def test_fewer_rows_than_folds_still_leaves_every_row_out_once():
    masks = training_masks(10, np.array([0, 0, 0, 1]), 0)
    assert_allclose((masks == 0).sum(axis=1), 1)


def test_splitters_and_lists_of_splits_are_taken():
    codes = np.arange(12) % 2
    masks = training_masks(KFold(4), codes, None)
    assert masks.shape == (12, 4)
    assert_allclose(training_masks(list(KFold(4).split(codes)), codes, None), masks)


@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 3), min_size=4, max_size=40), st.integers(2, 10), st.integers(0, 9))
def test_folds_are_those_of_scikit_learn(labels, n_folds, seed):
    codes = np.unique(labels, return_inverse=True)[1]
    n_folds = max(2, min(n_folds, np.bincount(codes).max()))
    if np.bincount(codes).max() < n_folds:
        return
    theirs = StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(codes, codes)
    folds = assign_folds(codes, n_folds, seed)
    for fold, (_, held_out) in enumerate(theirs):
        assert np.flatnonzero(folds == fold).tolist() == held_out.tolist()
