"""Copies share a fold, count as one row, and change no answer."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import unseen
from unseen.mixture.placement import Candidates
from unseen.samples import Clusters, effective_number, first_rows
from unseen.samples.oddities import copy_notices
from unseen.scores.base import RatioScores, assign_folds
from unseen.scores.crossfit import cross_fitter
from unseen.scores.scales import Standardisation, neighbour_distances


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12)), min_size=4, max_size=40),
    st.integers(2, 5),
    st.integers(0, 9),
)
def test_rows_of_one_cluster_share_a_fold(rows, n_folds, seed) -> None:
    codes, clusters = np.array(rows).T
    first = np.unique(clusters, return_index=True)[1]
    assume(np.bincount(codes[first]).max() > 1)
    folds = assign_folds(np.unique(codes, return_inverse=True)[1], n_folds, seed, clusters)
    for number in np.unique(clusters):
        assert len(np.unique(folds[clusters == number])) == 1


def test_without_copies_folds_are_the_same_as_ever() -> None:
    codes = np.arange(50) % 3
    assert np.all(assign_folds(codes, 5, 0, np.arange(50)[::-1]) == assign_folds(codes, 5, 0))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_equal_rows_are_one_cluster_across_samples(kind) -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    found = Clusters.of_copies(kind(X), kind(np.vstack([X[5:8], X[5:6], X[:2] + 1])))
    assert np.all(found.new[:4] == found.labelled[[5, 6, 7, 5]])
    assert len(np.unique(found.stacked)) == 42


def test_a_value_that_rows_often_take_is_no_copy() -> None:
    X = np.repeat([0.0, 1.0, 2.0, 3.0], 25)[:, None]
    assert len(np.unique(Clusters.of_copies(X).labelled)) == 100


@given(st.lists(st.floats(0.1, 5), min_size=1, max_size=20), st.integers(1, 4))
def test_copies_leave_the_effective_number(weights, n_copies) -> None:
    weight = np.array(weights)
    copied = np.tile(weight, n_copies), np.tile(np.arange(len(weight)), n_copies)
    assert effective_number(*copied) == pytest.approx(effective_number(weight))


def test_distances_leave_copies_out() -> None:
    rng = np.random.default_rng(0)
    F, H = rng.normal(size=(20, 3)), rng.normal(size=(30, 3))
    F[:5] = H[:5]
    as_given = [Standardisation(np.zeros(3), np.ones(3))]
    twice = np.vstack([H, H])
    clusters = Clusters.of_copies(twice, F)
    found = neighbour_distances(F, twice, as_given, np.random.RandomState(0), clusters)
    for means, rows in ((found.new, F), (found.labelled, twice)):
        apart = cdist(rows, H)
        nearest = np.sort(np.where(apart == 0, np.inf, apart), axis=1)[:, :3]
        assert_allclose(means[:, 0], nearest.mean(axis=1), rtol=1e-6)


def test_cells_of_doubled_rows_are_those_of_the_rows() -> None:
    rng = np.random.default_rng(0)
    new, old, weight = rng.normal(0.5, 1, (40, 1)), rng.normal(size=(30, 1)), rng.random(30)
    plain = Candidates(new, old, np.zeros(1)).cells(weight)
    clusters = Clusters(np.tile(np.arange(30), 2), np.repeat(np.arange(30, 70), 2))
    twice = Candidates(np.repeat(new, 2, axis=0), np.tile(old, (2, 1)), np.zeros(1), clusters)
    doubled = twice.cells(np.tile(weight, 2))
    assert_allclose(doubled.new, plain.new, atol=1e-12)
    assert_allclose(doubled.labelled, plain.labelled, atol=1e-12)
    losses = RatioScores(twice.new, twice.labelled, np.array([0.0, 1.0]), clusters=clusters)
    assert_allclose(losses.log_weight, [0.0, -0.1 * 70])


@pytest.mark.parametrize("classifier", [None, LogisticRegression()])
def test_a_new_row_has_the_posterior_of_its_labelled_copy(classifier) -> None:
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(60, 2)) + np.repeat([[0], [1]], 30, axis=0), np.repeat([0, 1], 30)
    labelled, new = cross_fitter(classifier).posteriors(X, codes, X[20:40], 5, 0)
    assert_allclose(new, labelled[20:40])


def problem(hidden: float):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(120, 4)), np.repeat([0, 1], 60)
    X[y == 1] += 3
    X_new = rng.normal(size=(100, 4))
    X_new[:40] += 3
    X_new[: round(100 * hidden), :2] -= 6
    return X, y, X_new


@pytest.mark.parametrize(("hidden", "times"), [(0.0, 1), (0.2, 2)])
def test_doubling_any_part_changes_no_share(hidden, times) -> None:
    X, y, X_new = problem(hidden)
    plain = unseen.estimate(X, y, X_new, random_state=0)
    assert plain.unseen == pytest.approx(hidden, abs=0.05)
    rows = np.tile(X, (times, 1)), np.tile(y, times), np.tile(X_new, (2, 1))
    with pytest.warns(unseen.UnseenWarning, match="count as one row"):
        doubled = unseen.estimate(*rows, random_state=0)
    assert doubled.unseen == pytest.approx(plain.unseen, abs=0.02)
    assert_allclose(doubled.proportions, plain.proportions, atol=0.02)


def test_copies_of_whole_numbers_are_pointed_out() -> None:
    X = load_digits().data
    drawn = X[900:][np.random.default_rng(0).integers(0, 800, 400)]
    (notice,) = copy_notices(X[:800], drawn, "X", "X_new")
    assert notice.code == "copied_rows"


def test_numbers_follow_the_rows_and_not_their_hashes() -> None:
    X = np.array([[3.0], [1.0], [3.0], [2.0], [1.0], [9.0]])
    found = Clusters.of_copies(X, np.array([[2.0], [7.0]]))
    assert found.labelled.tolist() == [0, 1, 0, 2, 1, 3]
    assert found.new.tolist() == [2, 4]


@given(st.lists(st.integers(0, 9), max_size=30))
def test_first_rows_are_the_first_of_their_clusters(numbers) -> None:
    found = first_rows(np.array(numbers, dtype=np.int64))
    assert found.tolist() == sorted({numbers.index(number) for number in numbers})
