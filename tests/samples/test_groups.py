"""Rows of one person, site or batch: they share a fold, and count less than rows of their own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB

from unseen.samples import (
    Clusters,
    LabelledRows,
    design_effect,
    group_clusters,
    in_one_group,
)
from unseen.scores import PosteriorScorer
from unseen.scores.base import assign_folds, folds_by_size
from unseen.scores.scales import Standardisation, neighbour_distances

RNG = np.random.default_rng(0)


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=2, max_size=25),
    st.integers(2, 10),
    st.integers(0, 9),
)
def test_folds_are_even_up_to_the_largest_cluster(counts, n_folds, seed) -> None:
    """Dealing from the largest on leaves one class uneven by no more than one cluster."""
    one = np.array(counts, dtype=float)[:, :1] + 1
    folds = folds_by_size(one, n_folds, seed)
    sizes = np.bincount(folds, one[:, 0])
    assert len(sizes) == max(2, min(n_folds, len(one)))
    assert sizes.max() - sizes.min() <= one.max()
    # No fold has all of a class, where classes are in enough clusters.
    three = np.array(counts, dtype=float)
    if (three > 0).all() and len(three) > 2:
        folds = folds_by_size(three, n_folds, seed)
        by_fold = np.stack([three[folds == fold].sum(axis=0) for fold in np.unique(folds)])
        assert (by_fold < three.sum(axis=0)).all()


def test_classes_are_spread_though_every_person_has_several() -> None:
    person, codes = np.repeat(np.arange(30), 20), RNG.integers(0, 3, 600)
    folds = assign_folds(codes, 5, 0, person)
    assert all(len(np.unique(folds[person == one])) == 1 for one in range(30))
    by_fold = np.array([np.bincount(codes[folds == fold]) for fold in range(5)])
    assert abs(by_fold / by_fold.mean(axis=0) - 1).max() < 0.15


def test_folds_do_not_depend_on_the_numbers_of_groups() -> None:
    person, codes = np.repeat(np.arange(8), 10), np.tile([0, 1], 40)
    again = RNG.permutation(8)[person]
    assert np.array_equal(assign_folds(codes, 4, 0, person), assign_folds(codes, 4, 0, again))


def test_two_persons_whose_first_rows_differ_in_class_are_two_folds() -> None:
    codes, person = np.array([0, 1, 0, 1, 1, 0, 1, 0]), np.repeat([0, 1], 4)
    folds = assign_folds(codes, 10, 0, person)
    assert np.array_equal(folds == folds[0], person == 0)


@pytest.mark.parametrize("n_groups_new", [1, 3])
def test_no_model_scores_a_person_it_has_seen(n_groups_new) -> None:
    """A column that names the person tells the classes in training, and nothing out of fold."""
    person = np.repeat(np.arange(20), 10)
    codes = np.repeat(RNG.integers(0, 2, 20), 10)
    codes[::10] = 1 - codes[::10]  # so that no class lives in few persons
    X = np.column_stack([np.eye(20)[person] * 5, RNG.normal(size=200)])
    groups_new = np.full(30, -1) if n_groups_new == 1 else np.repeat([20, 21, 22], 10)
    new = np.column_stack([np.zeros((30, 20)), RNG.normal(size=30)])
    sample = LabelledRows(X, np.array([0, 1]), codes)
    scorer = PosteriorScorer(GaussianNB(var_smoothing=1e-2))
    own = np.arange(200), codes
    seen = scorer.score(sample, new).of_labelled[own]
    grouped = LabelledRows(X, np.array([0, 1]), codes, groups=(person, groups_new))
    apart = scorer.score(grouped, new).of_labelled[own]
    assert seen.mean() > 0.8
    assert apart.mean() < 0.6


def test_a_class_of_one_person_is_known_to_every_model() -> None:
    codes, person = np.repeat([0, 0, 1], 20), np.repeat([0, 1, 1], 20)
    sample = LabelledRows(RNG.normal(size=(60, 2)), np.array([0, 1]), codes)
    sample = LabelledRows(sample.rows, sample.classes, codes, groups=(person, np.full(5, -1)))
    found = group_clusters(sample, RNG.normal(size=(5, 2)))
    folds = assign_folds(codes, 10, 0, found.together[0])
    assert len(np.unique(folds[codes == 1])) > 1
    assert len(np.unique(folds[:20])) == len(np.unique(folds[20:40])) == 1
    assert found.n_effective == 65  # persons are not one row each


def test_a_new_row_of_no_group_goes_with_its_labelled_copy() -> None:
    codes, groups = np.array([0, 0, 0, 0, 1, 1]), np.array([0, 1, 0, 1, 1, 1])
    assert in_one_group(codes, groups).tolist() == [False, True]
    rows, classes = np.arange(6.0)[:, None], np.array(["a", "b"])
    sample = LabelledRows(rows, classes, codes, groups=(groups, np.array([-1, -1])))
    labelled, new = group_clusters(sample, np.array([[2.0], [9.0]])).together
    assert labelled[:4].tolist() == [0, 1, 0, 1]
    assert len(np.unique(labelled)) == 4  # rows of class "b" stand alone
    assert new[0] == 0
    assert new[1] not in labelled


def test_distances_leave_the_own_group_out_and_copies_once() -> None:
    H, groups = np.array([[0.0], [0.1], [5.0], [5.1], [5.1]]), np.array([0, 0, 1, 1, 1])
    clusters = Clusters(np.array([0, 1, 2, 3, 3]), np.array([9]), (groups, np.array([-1])))
    as_given = [Standardisation(np.zeros(1), np.ones(1))]
    found = neighbour_distances(H[:1], H, as_given, np.random.RandomState(0), clusters)
    assert found.labelled[:, 0] == pytest.approx([5.05, 4.95, 4.95, 5.05, 5.05])
    assert found.new[0, 0] == pytest.approx(0.05)


@pytest.mark.parametrize("correlation", [0.0, 0.2, 0.7])
def test_the_design_effect_is_that_of_the_intraclass_correlation(correlation) -> None:
    n_groups, size = 2000, 8
    groups = np.repeat(np.arange(n_groups), size)
    values = np.sqrt(correlation) * RNG.normal(size=n_groups)[groups]
    values = values + np.sqrt(1 - correlation) * RNG.normal(size=n_groups * size)
    effect = 1 + (size - 1) * correlation
    assert design_effect(values, np.ones(len(values)), groups) == pytest.approx(effect, rel=0.08)


def test_two_samples_of_two_groups_each_are_never_lost_from_a_fold():
    # Dealt by size the first two fill a fold each, and the third then takes one sample whole.
    for counts in ([[9, 0], [1, 1], [0, 8]], [[9, 0], [0, 8], [1, 1]], [[5, 5], [3, 0], [0, 4]]):
        counts = np.array(counts)
        folds = folds_by_size(counts, 10, 0)
        for fold in np.unique(folds):
            assert (counts[folds != fold].sum(axis=0) > 0).all()
