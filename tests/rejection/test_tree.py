from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from reference.closed_form import excess_by_size
from unseen.rejection import tree as growth
from unseen.rejection.risk import open_risk
from unseen.rejection.sample import OpenSample, cell_costs, cell_labels, hold_out
from unseen.rejection.tree import (
    LEAF,
    Growth,
    RankedRows,
    RejectionTree,
    Trees,
    cell_worth,
    grow,
    node_masses,
    prune,
    stable_order,
)


def blobs(seed, n=60, n_classes=2, n_features=3, decimals=1):
    """Overlapping classes in rounded features, so that there are ties."""
    rng = np.random.RandomState(seed)
    codes = np.append(np.arange(n_classes), rng.randint(n_classes, size=n - n_classes))
    X = rng.normal(size=(n, n_features)) + 2 * codes[:, None]
    X_new = rng.normal(size=(n, n_features)) + 2 * rng.randint(n_classes + 1, size=n)[:, None]
    shares = rng.dirichlet(np.ones(n_classes + 1))[:-1]
    return OpenSample(X.round(decimals), codes, X_new.round(decimals), shares)


def grown(sample, min_leaf=3, counts=None, masses=None):
    X = sample.rows
    masses = sample.masses if masses is None else masses
    counts = np.ones((1, len(X)), dtype=int) if counts is None else counts
    rng = np.random.RandomState(0)
    return grow(RankedRows.from_rows(X), masses, counts, Growth(min_leaf, X.shape[1]), rng)


def gini_mass(masses):
    """Mass times Gini of (a_1 ... a_K, max(e, 0)), by its definition."""
    labels = np.append(masses[:-1], max(masses[-1] - masses[:-1].sum(), 0.0))
    weight = labels.sum()
    return weight * (1 - ((labels / weight) ** 2).sum()) if weight > 0 else 0.0


def worth(masses, negative_cost=0.75):
    known, new = masses[:-1].sum(), masses[-1]
    negative = max(known - new, 0.0)
    return max(known, new) - gini_mass(masses) - negative_cost * negative


def uneven(sample):
    """Masses of the rows, each changed, so that no two partitions are equally good.

    Where known classes outweigh the new rows these make no difference: so they weigh little.
    """
    factor = np.random.RandomState(0).uniform(0.5, 1.5, size=(len(sample.masses), 1))
    factor[: len(sample.codes)] *= 0.1
    return sample.masses * factor


def same_partition(one, other):
    """Whether two ways of numbering cells describe the same cells, and these are not few."""
    pairs = np.unique(np.stack([one, other]), axis=1)
    return pairs.shape[1] == len(np.unique(one)) == len(np.unique(other)) > 9


def slow_leaves(X, masses, rows, min_leaf):
    """Rows of the leaves of the greedy tree, every cut of every feature tried in turn."""
    best, cut = 1e-9, None
    whole = masses[rows].sum(axis=0)
    for feature, threshold in product(range(X.shape[1]), np.unique(X[rows])):
        left = X[rows, feature] <= threshold
        if min(left.sum(), (~left).sum()) < min_leaf:
            continue
        sides = [masses[rows[left]].sum(axis=0), masses[rows[~left]].sum(axis=0)]
        gain = sum(map(worth, sides)) - worth(whole)
        if gain > best:
            best, cut = gain, left
    if cut is None:
        return [sorted(rows)]
    halves = (rows[cut], rows[~cut])
    return [leaf for half in halves for leaf in slow_leaves(X, masses, half, min_leaf)]


def test_worth_is_mass_less_mass_times_gini_less_negative_mass():
    masses = np.random.RandomState(0).exponential(size=(50, 4)) * [1, 1, 1, 4]
    known = masses[:, :-1]
    for cost in (0.0, 0.75, 1.0):
        found = cell_worth((known**2).sum(axis=1), known.sum(axis=1), masses[:, -1], cost)
        assert_allclose(found, [worth(row, cost) for row in masses])
    # At cost 1 a split is worth what it takes off mass x Gini, as new mass adds up.
    assert_allclose(found, [row[-1] - gini_mass(row) for row in masses])


@pytest.mark.parametrize("seed", range(4))
def test_growth_is_that_of_the_slow_twin(seed):
    sample = blobs(seed)
    X, masses = sample.rows, uneven(sample)
    leaf = grown(sample, min_leaf=4, masses=masses).cell(X)
    fast = sorted(sorted(np.flatnonzero(leaf == one)) for one in np.unique(leaf))
    assert fast == sorted(slow_leaves(X, masses, np.arange(len(X)), 4))
    assert len(fast) > 2


def test_trees_grown_together_are_those_grown_alone():
    sample = blobs(0, n=150, decimals=6)
    X = sample.rows
    counts = np.random.RandomState(1).poisson(1.0, size=(4, len(X)))
    masses = uneven(sample)
    together = grown(sample, counts=counts, masses=masses).leaves(X)
    for tree in range(4):
        # Two features may divide the rows of a tree alike, and others not.
        held = counts[tree] > 0
        alone = grown(sample, counts=counts[[tree]], masses=masses).cell(X[held])
        assert same_partition(alone, together[held, tree])


def test_a_row_counted_twice_is_a_row_that_stands_there_twice():
    sample = blobs(3, n=80, decimals=6)
    X, masses = sample.rows, uneven(sample)
    counts = np.random.RandomState(0).randint(1, 4, size=(1, len(X)))
    repeated = np.repeat(np.arange(len(X)), counts[0])
    ones = np.ones((1, len(repeated)), dtype=int)
    rng = np.random.RandomState(0)
    twice = grow(
        RankedRows.from_rows(X[repeated]), masses[repeated], ones, Growth(1, X.shape[1]), rng
    )
    assert same_partition(grown(sample, 1, counts, masses).cell(X), twice.cell(X))


def test_leaves_hold_the_rows_that_they_must():
    sample = blobs(1, n=300)
    for min_leaf in (1, 7, 40):
        sizes = np.bincount(grown(sample, min_leaf).cell(sample.rows))
        assert sizes[sizes > 0].min() >= min_leaf


def test_thresholds_lie_between_values_even_where_rounding_says_otherwise():
    low, high = 1.0, np.nextafter(1.0, 2)
    X = np.array([[low], [low], [high], [high]])
    sample = OpenSample(X[:2], np.array([0, 0]), X, np.array([0.5]))
    trees = grown(sample, 1)
    assert low <= trees.threshold[0] < high
    assert trees.cell(X)[0] != trees.cell(X)[2]


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32, np.uint32, np.int64])
def test_order_is_by_the_last_key_then_by_the_first_then_as_rows_stand(dtype):
    rng = np.random.RandomState(0)
    most = min(int(np.iinfo(dtype).max), 2**40)
    for large in (9, most):
        node, ranks = rng.randint(9, size=500), rng.randint(large, size=500).astype(dtype)
        rows = zip(node.tolist(), ranks.tolist(), range(500), strict=True)
        expected = [place for *_, place in sorted(rows)]
        assert_array_equal(stable_order(ranks, node), expected)
        assert_array_equal(stable_order(ranks, node + 2**20), expected)


def test_rounding_of_masses_chooses_no_cut():
    # Two features order the rows alike, and many cuts are equally good.
    sample = blobs(2, n=200, n_features=2)
    X = np.hstack([sample.rows, 2 * sample.rows])
    noise = 1 + 1e-15 * np.random.RandomState(0).normal(size=(len(X), 1))
    first, second = (
        grow(
            RankedRows.from_rows(X),
            masses,
            np.ones((1, len(X)), dtype=int),
            Growth(3, 4),
            np.random.RandomState(0),
        )
        for masses in (sample.masses, sample.masses * noise)
    )
    assert_array_equal(first.feature, second.feature)
    assert_array_equal(first.threshold, second.threshold)
    assert first.n_leaves > 9


@pytest.mark.parametrize("seed", range(3))
def test_no_labelling_of_the_leaves_has_less_estimated_risk(seed):
    sample = blobs(seed)
    rule = RejectionTree(min_leaf=14, pruning=0)._fit_rule(sample, np.random.RandomState(0))
    leaf, leaf_new = rule.cells.cell(sample.X), rule.cells.cell(sample.X_new)
    leaves = np.flatnonzero(rule.cells.feature == LEAF)

    def risk(label):
        return open_risk(label[leaf], sample.codes, label[leaf_new], sample.shares).risk

    label = np.zeros(rule.cells.n_cells, dtype=int)
    every = []
    for labels in product(range(3), repeat=len(leaves)):
        label[leaves] = labels
        every.append(risk(label))
    assert len(every) >= 9
    assert_allclose(risk(rule.table.argmax(axis=1)), min(every), atol=1e-12)


def held_out_risk(trees, labels_from, sample):
    label = cell_labels(node_masses(trees, labels_from))
    predicted = label[trees.cell(sample.X)], label[trees.cell(sample.X_new)]
    return open_risk(predicted[0], sample.codes, predicted[1], sample.shares).risk


@pytest.mark.parametrize("seed", range(6))
def test_pruning_never_raises_the_held_out_risk(seed):
    learnt, held_out = hold_out(blobs(seed, n=400), 0.3, np.random.RandomState(0))
    trees = grown(learnt, 2)
    pruned = prune(trees, node_masses(trees, learnt), node_masses(trees, held_out))
    assert pruned.n_leaves < trees.n_leaves
    before = held_out_risk(trees, learnt, held_out)
    assert held_out_risk(pruned, learnt, held_out) <= before + 1e-12


def pruned_costs(trees, cost, node=0):
    """Cost of every tree that is left after branches are cut off below a node."""
    if trees.feature[node] == LEAF:
        return [cost[node]]
    left, right = (pruned_costs(trees, cost, trees.left[node] + side) for side in (0, 1))
    return [cost[node], *(one + other for one, other in product(left, right))]


@pytest.mark.parametrize("seed", range(3))
def test_no_pruned_tree_has_less_held_out_risk(seed):
    learnt, held_out = hold_out(blobs(seed), 0.4, np.random.RandomState(0))
    trees = grown(learnt, 5)
    masses, held = node_masses(trees, learnt), node_masses(trees, held_out)
    cost = cell_costs(held)[np.arange(trees.n_cells), cell_labels(masses)]
    every = pruned_costs(trees, cost)
    assert len(every) > 4
    pruned = prune(trees, masses, held)
    # Costs leave out what no label changes: u - a_k and sum a_i add up to R_hat exactly.
    assert_allclose(held_out_risk(pruned, learnt, held_out), min(every), atol=1e-12)


def test_pruned_nodes_are_gone_and_the_rest_routes_as_before():
    trees = Trees(
        np.array([0, 1, -1, -1, -1]),
        np.array([0.5, 0.5, 0, 0, 0]),
        np.array([1, 3, -1, -1, -1]),
        1,
    )
    masses = np.array([[0.5, 1.0], [0.5, 0.5], [0.0, 0.5], [0.25, 0.25], [0.25, 0.25]])
    pruned = prune(trees, masses, masses)
    assert_array_equal(pruned.feature, [0, -1, -1])
    assert_array_equal(pruned.cell(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])), [1, 1, 2])


def test_both_parts_of_a_divided_sample_know_every_class():
    codes = np.array([0] * 10 + [1] * 2 + [2])
    X, X_new = np.arange(13.0)[:, None], np.arange(20.0)[:, None]
    kept, out = hold_out(
        OpenSample(X, codes, X_new, np.full(3, 0.2)), 0.3, np.random.RandomState(0)
    )
    assert_array_equal(np.bincount(kept.codes), [7, 1, 1])
    assert_array_equal(np.bincount(out.codes), [3, 1, 1])
    assert (len(kept.X_new), len(out.X_new)) == (14, 6)
    assert not np.intersect1d(kept.X_new, out.X_new).size


def test_excess_risk_over_bayes_falls_with_n():
    excess = excess_by_size(RejectionTree())
    assert excess[0] > 1.5 * excess[1] > 2.25 * excess[2] > 0
    assert excess[2] < 0.004


def test_a_class_with_share_zero_gets_no_leaf():
    sample = blobs(0, n=200)
    sample = OpenSample(sample.X, sample.codes, sample.X_new, np.array([0.3, 0.0]))
    for rule in (RejectionTree(), RejectionTree(pruning=0)):
        fitted = rule._fit_rule(sample, np.random.RandomState(0))
        assert 1 not in fitted.probabilities(sample.X_new).argmax(axis=1)


def test_large_nodes_cut_between_bins_as_between_ranks_of_binned_values(monkeypatch):
    # With at most 64 distinct values a bin is a value: both ways find the same tree.
    sample = blobs(5, n=900, decimals=1)
    X = np.clip(sample.rows, -2, 2)
    assert max(len(np.unique(column)) for column in X.T) <= growth.BINS
    counts, masses = np.ones((1, len(X)), dtype=int), uneven(sample)

    def tree():
        rng = np.random.RandomState(0)
        return grow(RankedRows.from_rows(X), masses, counts, Growth(5, X.shape[1]), rng)

    by_bin = tree()
    monkeypatch.setattr(growth, "LARGE", 10**9)
    by_rank = tree()
    assert_array_equal(by_bin.feature, by_rank.feature)
    assert_allclose(by_bin.threshold, by_rank.threshold)


def test_a_cut_between_bins_lies_between_their_values():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 1))
    rows = RankedRows.from_rows(X)
    assert rows.bins.max() == growth.BINS - 1
    for place in (0, 20, 63):
        inside = X[rows.bins[0] == place, 0]
        low, high = rows.ends[:, 0, place]
        assert (rows.values[0][low], rows.values[0][high]) == (inside.min(), inside.max())
