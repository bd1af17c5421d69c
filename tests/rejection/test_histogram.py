from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.base import clone

from reference.closed_form import BAYES_RISK, LATTICE, WEIGHTS, excess_by_size
from unseen.rejection.histogram import (
    EqualWidthCells,
    QuantileCells,
    RejectionHistogram,
    VoronoiCells,
    cell_rule,
)
from unseen.rejection.risk import open_risk
from unseen.rejection.sample import (
    OpenSample,
    cell_labels,
    cell_masses,
    cell_probabilities,
    effective_size,
    growing_cells,
    smallest_leaf,
)

PARTITIONS = [EqualWidthCells(), QuantileCells(), VoronoiCells()]


def small_sample(seed, n_classes=2, n_features=2, n=40):
    rng = np.random.RandomState(seed)
    codes = np.append(np.arange(n_classes), rng.randint(n_classes, size=n - n_classes))
    X = rng.normal(size=(n, n_features)) + codes[:, None]
    X_new = rng.normal(size=(n, n_features)) + rng.randint(n_classes + 1, size=n)[:, None]
    return OpenSample(X, codes, X_new, rng.dirichlet(np.ones(n_classes + 1))[:-1])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("partition", PARTITIONS, ids=lambda partition: type(partition).__name__)
def test_no_labelling_of_the_cells_has_less_estimated_risk(partition, seed):
    sample = small_sample(seed)
    cells = partition.fit(sample.X_new, 6, np.random.RandomState(0))
    cell, cell_new = cells.cell(sample.X), cells.cell(sample.X_new)

    def risk(label):
        return open_risk(label[cell], sample.codes, label[cell_new], sample.shares).risk

    every = [risk(np.array(labels)) for labels in product(range(3), repeat=cells.n_cells)]
    chosen = cell_rule(cells, sample).table.argmax(axis=1)
    assert len(every) >= 3**4
    assert_allclose(risk(chosen), min(every), atol=1e-12)


def test_the_least_risk_is_one_less_the_largest_masses():
    sample = small_sample(5, n_classes=3)
    cells = QuantileCells().fit(sample.X_new, 9, np.random.RandomState(0))
    cell, cell_new = cells.cell(sample.X), cells.cell(sample.X_new)
    masses = cell_masses(np.append(cell, cell_new), sample.masses, cells.n_cells)
    label = cell_labels(masses)
    unseen = masses[:, -1] - masses[:, :-1].sum(axis=1)
    best = np.maximum(masses[:, :-1].max(axis=1), unseen)
    risk = open_risk(label[cell], sample.codes, label[cell_new], sample.shares).risk
    assert_allclose(risk, 1 - best.sum())


def test_excess_risk_over_bayes_falls_with_n():
    # The sum over the lattice is the closed form, so that differences from it mean something.
    assert_allclose(1 - WEIGHTS.max(axis=1).sum(), BAYES_RISK, atol=2e-5)
    assert len(LATTICE) == len(WEIGHTS)
    for partition in (EqualWidthCells(low=-8, high=8), QuantileCells()):
        rule = RejectionHistogram(partition)
        excess = excess_by_size(rule)
        assert excess[0] > 1.5 * excess[1] > 2.25 * excess[2] > 0, partition
        assert excess[2] < 0.01


def test_excess_risk_over_bayes_falls_with_n_on_voronoi_cells():
    rule = RejectionHistogram(VoronoiCells())
    excess = excess_by_size(rule, sizes=(500, 5_000, 50_000))
    assert excess[0] > 1.5 * excess[1] > 2.25 * excess[2] > 0


def test_cells_grow_but_slower_than_the_theorem_allows():
    sizes = 10.0 ** np.arange(2, 40, 4)
    for n_features in (1, 2, 3, 4, 50):
        cells = np.array([growing_cells(size, n_features) for size in sizes])
        capacity = cells * np.log(sizes) ** 2 / sizes  # V log n / n with V = m log n
        assert (np.diff(cells) > 0).all()
        assert (np.diff(capacity) < 0).all()
        assert capacity[-1] < 1e-6


def test_the_theorem_in_numbers():
    assert_allclose([growing_cells(size, 2) for size in (100, 10_000, 1_000_000)], [10, 100, 1000])
    codes, shares = np.repeat([0, 1], 25), np.array([0.5, 0.5])
    rows = np.zeros((50, 1))
    assert_allclose(effective_size(OpenSample(rows, codes, rows, shares)), 25)
    rows = np.zeros((2000, 4))
    one_class = OpenSample(rows, np.zeros(2000, dtype=int), rows, np.ones(1))
    assert smallest_leaf("auto", one_class) == 20
    assert smallest_leaf(7, one_class) == 7


def test_effective_size_exceeds_no_sample():
    sample = small_sample(1, n_classes=3)
    counts = np.bincount(sample.codes)
    size = effective_size(sample)
    assert size <= len(sample.X_new)
    assert (size <= counts / sample.shares**2).all()
    # It vanishes with any sample that matters, however large the others.
    rare = OpenSample(sample.X[:3], np.arange(3), np.zeros((10**6, 2)), sample.shares)
    assert size > effective_size(rare)


def test_equal_width_cells_on_a_box_do_not_look_at_rows():
    rng = np.random.RandomState(0)
    grids = [EqualWidthCells(0, [1, 2]).fit(rng.normal(size=(9, 2)), 16, rng) for _ in range(2)]
    for cuts, expected in zip(grids[0].cuts, ([0.25, 0.5, 0.75], [0.5, 1, 1.5]), strict=True):
        assert_allclose(cuts, expected)
    X = rng.uniform(-1, 3, size=(100, 2))
    assert_array_equal(grids[0].cell(X), grids[1].cell(X))
    inside = np.clip(np.floor(4 * X / [1, 2]), 0, 3).astype(int)
    assert_array_equal(grids[0].cell(X), 4 * inside[:, 0] + inside[:, 1])


def test_quantile_cells_hold_equally_many_rows():
    X = np.random.RandomState(0).standard_cauchy(size=(1000, 1))
    cells = QuantileCells().fit(X, 10, np.random.RandomState(0))
    assert_allclose(np.bincount(cells.cell(X)), np.full(10, 100), atol=1)


def test_quantile_cells_of_ties_are_fewer_and_not_empty():
    X = np.array([[0.0]] * 90 + [[1.0]] * 10)
    cells = QuantileCells().fit(X, 20, np.random.RandomState(0))
    assert cells.n_cells <= 3
    assert len(np.unique(cells.cell(X))) == 2


def test_voronoi_cells_are_those_of_the_nearest_centre():
    X = np.random.RandomState(0).normal(size=(200, 6)) * [1, 10, 100, 1, 1, 0]
    cells = VoronoiCells().fit(X, 12, np.random.RandomState(0))
    distance = ((X[:, None] / cells.scale - cells.centres) ** 2).sum(axis=2)
    assert cells.n_cells == 12
    assert_array_equal(cells.cell(X), distance.argmin(axis=1))


def test_voronoi_cells_are_no_more_than_the_distinct_rows():
    X = np.repeat(np.eye(3), 5, axis=0)
    assert VoronoiCells().fit(X, 10, np.random.RandomState(0)).n_cells == 3


@pytest.mark.parametrize("partition", [EqualWidthCells(), QuantileCells()])
def test_a_grid_over_many_features_cuts_principal_axes(partition):
    rng = np.random.RandomState(0)
    hidden = rng.normal(size=(500, 3)) * [3, 2, 1]
    X = hidden @ np.linalg.qr(rng.normal(size=(8, 3)))[0].T
    grid = partition.fit(X, 64, rng)
    places = X @ grid.axes
    assert grid.n_cells == 64
    assert_allclose(np.corrcoef(places, rowvar=False), np.eye(3), atol=1e-8)


def test_corners_need_features_and_say_so():
    sample = small_sample(0, n_features=5)
    rule = RejectionHistogram(EqualWidthCells(low=0.0))
    with pytest.raises(ValueError, match=r"low and high must be None .* got 5 features"):
        rule.fit(sample.X, sample.codes, sample.X_new, sample.shares)


def test_unseen_has_what_known_classes_leave_and_an_empty_cell_has_the_prior():
    masses, prior = np.array([[0.25, 0.75], [0.5, 0.25], [0, 0]]), np.array([0.75, 0.25])
    assert_allclose(cell_probabilities(masses, prior, 0.0), [[1 / 3, 2 / 3], [1, 0], prior])


def test_smoothing_keeps_the_label_of_least_cost():
    rng = np.random.RandomState(0)
    masses = rng.exponential(size=(500, 4)) * [1, 1, 1, 4]
    for pseudo_mass in (0.0, 1e-3, 10.0):
        table = cell_probabilities(masses, np.full(4, 0.25), pseudo_mass)
        assert_array_equal(table.argmax(axis=1), cell_labels(masses))
        assert_allclose(table.sum(axis=1), 1)
        assert (table >= 0).all()


def test_a_cell_without_rows_has_the_shares():
    sample = small_sample(0)
    cells = EqualWidthCells(-90, 90).fit(sample.X_new, 10**4, np.random.RandomState(0))
    rule = cell_rule(cells, sample)
    assert_allclose(rule.probabilities(np.array([[80.0, 80.0]])), [sample.prior])


def test_a_partition_is_an_object_that_clones():
    rule = RejectionHistogram(EqualWidthCells(max_axes=2), n_cells=7)
    assert clone(rule).get_params() == rule.get_params()


def test_sparse_rows_give_the_labels_of_dense_ones():
    rng = np.random.default_rng(0)
    X, X_new = rng.normal(size=(60, 2)).round(), rng.normal(size=(50, 2)).round()
    y, shares = np.repeat([0, 1], 30), [0.5, 0.3]
    dense = RejectionHistogram(random_state=0).fit(X, y, X_new, shares)
    sparse = RejectionHistogram(random_state=0).fit(csr_matrix(X), y, csr_matrix(X_new), shares)
    assert_array_equal(sparse.predict(csr_matrix(X_new)), dense.predict(X_new))
