from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import f1_score

from reference.closed_form import SHARES, excess_by_size, samples
from unseen.rejection.forest import RejectionForest, bootstrap_counts
from unseen.rejection.sample import OpenSample, cell_masses, cell_probabilities, effective_size
from unseen.rejection.tree import RejectionTree


@pytest.fixture(scope="module")
def sample():
    X, codes, X_new, _ = samples(400, seed=1)
    return OpenSample(X, codes, X_new, SHARES[:2])


def test_probabilities_are_the_mean_of_leaf_posteriors(sample, monkeypatch):
    monkeypatch.setattr("unseen.rejection.forest.GROWN_AT_ONCE", 20 * 800)
    forest = RejectionForest(n_trees=30, random_state=0)
    grown = list(forest._grow(sample, np.random.RandomState(0)))
    rule = forest._fit_rule(sample, np.random.RandomState(0))
    assert len(grown) > 1  # so that more than one batch is looked at
    X, prior = sample.rows, sample.prior
    expected, held_out, n_out = (np.zeros((len(X), 3)) for _ in range(3))
    for batch, counts, _ in grown:
        for tree, count in enumerate(counts):
            leaf = batch.trees.leaves(X)[:, tree]
            masses = cell_masses(leaf, sample.masses * count[:, None], batch.trees.n_cells)
            posterior = cell_probabilities(masses, prior, 1 / effective_size(sample))[leaf]
            expected += posterior / 30
            held_out[count == 0] += posterior[count == 0]
            n_out[count == 0] += 1
    assert_allclose(rule.probabilities(X), expected)
    _, found = forest._fit_both(sample, np.random.RandomState(0))
    both = np.concatenate([found.labelled, found.new])
    seen_by_all = n_out[:, 0] == 0
    assert_allclose(both[~seen_by_all], (held_out / np.maximum(n_out, 1))[~seen_by_all])


def test_trees_hold_every_class_with_its_share(sample):
    counts = bootstrap_counts(sample, 7, np.random.RandomState(0))
    held = counts @ sample.masses
    assert_allclose(held, np.tile(np.append(sample.shares, 1.0), (7, 1)))
    assert 0.6 < (counts > 0).mean() < 0.66  # 1 - 1 / e


def test_draws_are_those_of_a_bootstrap():
    X = np.zeros((40, 1))
    sample = OpenSample(X, np.zeros(40, dtype=int), np.zeros((4, 1)), np.array([0.5]))
    counts = bootstrap_counts(sample, 5000, np.random.RandomState(0))[:, :40]
    assert (counts.sum(axis=1) == 40).all()
    assert_allclose(counts.mean(axis=0), 1, atol=0.06)
    assert_allclose(counts.var(axis=0).mean(), 39 / 40, rtol=0.02)


def test_nothing_new_means_a_row_and_its_copy_are_drawn_together():
    X = np.arange(20.0)[:, None]
    shares = np.array([0.5, 0.5])
    sample = OpenSample(X, np.repeat([0, 1], 10), X, shares, has_new=False)
    counts = bootstrap_counts(sample, 5, np.random.RandomState(0))
    assert_array_equal(counts[:, :20], counts[:, 20:])


def test_out_of_bag_risk_is_that_of_the_hidden_labels():
    X, codes, X_new, hidden = samples(2000, seed=2)
    rule = RejectionForest(n_trees=50, random_state=0).fit(X, codes, X_new, SHARES[:2])
    predicted = rule.predict_new()
    error = np.mean(np.where(predicted == -1, 2, predicted) != hidden)
    assert abs(rule.risk_.risk - error) < 3 * rule.risk_.standard_error
    # The trees have learnt that the rows are new: in their bags they reject more of them.
    assert (rule.predict(X_new) == -1).mean() > (predicted == -1).mean()


def test_a_forest_has_less_excess_risk_than_its_trees():
    rules = [RejectionTree(pruning=0), RejectionForest(50)]
    tree, forest = (excess_by_size(rule, sizes=[1000])[0] for rule in rules)
    assert forest < tree / 2


def test_digits_never_seen_are_found():
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    rng = np.random.RandomState(0)
    known, other = (rng.permutation(np.flatnonzero(part)) for part in (y < 5, y >= 5))
    new = np.append(known[400:750], other[:150])
    truth = np.where(y[new] < 5, y[new], -1)
    shares = np.bincount(truth[truth >= 0]) / len(truth)
    rule = RejectionForest(random_state=0)
    predicted = rule.fit_predict_new(X[known[:400]], y[known[:400]], X[new], shares)
    assert f1_score(truth, predicted, average="macro") > 0.88


def test_same_seed_same_forest_and_nothing_is_left_over(sample):
    def fitted():
        rule = RejectionForest(n_trees=15, random_state=3)
        return rule.fit(sample.X, sample.codes, sample.X_new, sample.shares)

    first, second = fitted(), pickle.loads(pickle.dumps(fitted()))
    assert sum(batch.trees.n_trees for batch in first.rule_.batches) == 15
    assert not [name for name in vars(first) if name.startswith("_")]
    assert_array_equal(first.predict_proba(sample.X_new), second.predict_proba(sample.X_new))
    assert_array_equal(first.out_of_fold_.new, second.out_of_fold_.new)


def test_rows_that_every_tree_has_seen_have_the_shares(sample):
    forest = RejectionForest(n_trees=1)
    counts = bootstrap_counts(sample, 1, np.random.RandomState(0))[0]
    _, held_out = forest._fit_both(sample, np.random.RandomState(0))
    both = np.concatenate([held_out.labelled, held_out.new])
    assert_allclose(both[counts > 0], np.tile(sample.prior, ((counts > 0).sum(), 1)))
    assert not np.allclose(both[counts == 0], sample.prior)


def test_features_tried_are_bounded_by_those_there(sample):
    probabilities = [
        RejectionForest(10, max_features=most)._fit_rule(sample, np.random.RandomState(0))
        for most in (2, 99)
    ]
    one, other = (rule.probabilities(sample.X) for rule in probabilities)
    assert_array_equal(one, other)
