import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.stats import ks_2samp
from sklearn.neighbors import NearestNeighbors

from unseen.scores.crossfit import cross_fitter
from unseen.scores.scales import Standardisation, neighbour_distances


def ratio_scores(F, H, random_state=None):
    """Ratios against labelled rows that all count alike."""
    return cross_fitter().ratios(F, H, None, None, 10, random_state)


def scales(n_columns, *spreads):
    return [Standardisation(np.zeros(n_columns), np.full(n_columns, s)) for s in (1.0, *spreads)]


@pytest.fixture
def samples():
    rng = np.random.default_rng(0)
    return rng.normal(size=(70, 4)), rng.normal(size=(50, 4))


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_matrix])
def test_distances_are_means_over_the_three_nearest_others(samples, as_rows) -> None:
    F, H = samples
    found = neighbour_distances(as_rows(F), as_rows(H), scales(4, 2.0), np.random.RandomState(0))
    for means, table in (
        (found.new, np.sort(cdist(F, H), axis=1)[:, :3]),
        (found.labelled, np.sort(cdist(H, H), axis=1)[:, 1:4]),  # after the row itself
    ):
        twin = table.mean(axis=1)
        assert_allclose(means, np.column_stack([twin, twin / 2]), rtol=1e-7)


def test_rows_in_several_blocks_are_the_same(samples, monkeypatch) -> None:
    F, H = samples
    once = neighbour_distances(F, H, scales(4), np.random.RandomState(0))
    monkeypatch.setattr("unseen._arrays.BLOCK", 7)
    again = neighbour_distances(F, H, scales(4), np.random.RandomState(0))
    assert_allclose(again.labelled, once.labelled)
    assert_allclose(again.new, once.new)


def test_a_part_of_many_rows_is_compared_with(samples, monkeypatch) -> None:
    F, H = samples
    monkeypatch.setattr("unseen.scores.scales._MOST_REFERENCES", 20)
    found = neighbour_distances(F, H, scales(4), np.random.RandomState(3))
    chosen = np.sort(np.random.RandomState(3).choice(50, 20, replace=False))
    model = NearestNeighbors(n_neighbors=3).fit(H[chosen])
    assert_allclose(found.new[:, 0], model.kneighbors(F)[0].mean(axis=1))
    assert_allclose(found.labelled[chosen, 0], model.kneighbors()[0].mean(axis=1))
    others = np.setdiff1d(np.arange(50), chosen)
    assert_allclose(found.labelled[others, 0], model.kneighbors(H[others])[0].mean(axis=1))


def test_two_labelled_rows_are_enough() -> None:
    H = np.array([[0.0], [4.0]])
    found = neighbour_distances(np.array([[1.0]]), H, scales(1), np.random.RandomState(0))
    assert found.new == [[1.0]]
    assert_allclose(found.labelled, [[4.0], [4.0]])


def test_samples_of_one_law_stand_equally_far() -> None:
    rng = np.random.default_rng(1)
    F, H = rng.normal(size=(1500, 3)), rng.normal(size=(1000, 3))
    found = neighbour_distances(F, H, scales(3), np.random.RandomState(0))
    assert ks_2samp(found.new[:, 0], found.labelled[:, 0]).pvalue > 0.01


def test_ratios_bring_distances_in_the_units_given_and_in_equal_spread(samples) -> None:
    F, H = samples
    plain = ratio_scores(F, H, random_state=0).distances
    stretched = ratio_scores(F * [1, 10, 1, 1], H * [1, 10, 1, 1], random_state=0).distances
    model = NearestNeighbors(n_neighbors=3).fit(H)
    assert_allclose(plain.new[:, 0], model.kneighbors(F)[0].mean(axis=1))
    assert_allclose(plain.new[:, 1], stretched.new[:, 1])
    assert np.all(stretched.new[:, 0] > plain.new[:, 0])


@pytest.mark.parametrize("value", [7.0, -1e18, 1e27])
def test_a_constant_column_of_any_size_changes_no_distance(samples, value) -> None:
    wide = [np.column_stack([rows, np.full(len(rows), value)]) for rows in samples]
    found, expected = (
        neighbour_distances(
            F, H, [Standardisation.of(H, np.ones(len(H)))], np.random.RandomState(0)
        )
        for F, H in (wide, samples)
    )
    assert_allclose(found.new, expected.new, rtol=1e-7)


def test_rounding_orders_no_rows() -> None:
    """Rows that are equal but for the last digits of a sum lie 0 apart, in any order of sums."""
    rows = np.random.default_rng(0).normal(50.0, 1.0, size=(40, 6))
    nearly = (rows + 1e3) - 1e3
    assert 0 < np.abs(nearly - rows).max() < 1e-12
    found = neighbour_distances(
        np.repeat(nearly, 4, 0), np.repeat(rows, 4, 0), scales(6), np.random.RandomState(0)
    )
    assert_array_equal(found.new, 0.0)
    assert_array_equal(found.labelled, 0.0)
