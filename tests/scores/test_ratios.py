import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from unseen import KernelLogisticRegression
from unseen.scores.base import (
    StackedRows,
    fold_offsets,
    stack_samples,
    training_masks,
)
from unseen.scores.crossfit import WHOLE_SEARCH, cross_fitter
from unseen.scores.pairs import crossfit_scores


def ratio_scores(F, H, classifier=None, *, n_folds=10, random_state=None, n_jobs=None):
    """Ratios against labelled rows that all count alike."""
    return cross_fitter(classifier, n_jobs).ratios(F, H, None, None, n_folds, random_state)


def weighted_ratios(F, H, weight, codes=None, classifier=None, seed=0):
    """Ratios against labelled rows that count by their weights, ten folds."""
    return cross_fitter(classifier).ratios(F, H, weight, codes, 10, seed)


def areas(scores) -> np.ndarray:
    truth = np.repeat([1, 0], [len(scores.new), len(scores.labelled)])
    both = np.vstack([scores.new, scores.labelled])
    return np.array([roc_auc_score(truth, column) for column in both.T])


@pytest.mark.slow
def test_no_candidate_tells_samples_of_one_law_apart() -> None:
    rng = np.random.default_rng(0)
    by_draw = []
    for seed in range(4):
        rows = rng.normal(size=(109, 5))
        scores = ratio_scores(rows[:33], rows[33:], random_state=seed)
        by_draw.append(areas(scores))
        null = -np.mean(np.log(np.where(np.arange(109) < 33, 33 / 109, 76 / 109)))
        assert scores.log_loss.min() > null - 0.03
    assert np.mean(by_draw, axis=0).max() < 0.6


def test_labels_of_held_out_rows_leave_no_trace() -> None:
    # The held-out rows are alone in the kernel's eyes, so that nothing can be known of them.
    rows = 100.0 * np.arange(60)[:, None]
    classifier = KernelLogisticRegression(bandwidth=0.01, C=1000.0, standardize=False)
    scores = ratio_scores(rows[::3], np.delete(rows, np.s_[::3], 0), classifier, n_folds=10)
    spread = np.ptp(np.vstack([scores.new, scores.labelled]))
    assert spread < 0.01


@pytest.mark.parametrize("seed", [1, 5, 7])
def test_weights_leave_no_trace_where_columns_are_many(seed) -> None:
    """At narrow bandwidths nothing reaches a held-out row, and weights tell the classes apart."""
    rng = np.random.default_rng([7, seed])
    centres = rng.normal(size=(3, 60)) / 2
    codes = np.repeat([0, 1, 2], 80)
    H = rng.normal(centres[codes], 1)
    F = rng.normal(centres[np.repeat([0, 1, 2], [40, 120, 240])], 1)
    weight = np.array([0.3, 0.9, 1.8])[codes]
    scores = weighted_ratios(F, H, weight, codes, seed=seed)
    truth, weights = np.repeat([1, 0], [400, 240]), np.append(np.ones(400), weight)
    for column in np.vstack([scores.new, scores.labelled]).T:
        assert 0.42 < roc_auc_score(truth, column, sample_weight=weights) < 0.55


def test_scores_that_say_nothing_are_ties_where_folds_cannot_be_alike() -> None:
    rng = np.random.default_rng(9)
    codes = np.repeat([0, 1, 2], [77, 83, 15])
    weight = np.array([0.3, 0.9, 4.0])[codes]
    F, H = rng.normal(size=(200, 60)), rng.normal(size=(175, 60))
    narrow = KernelLogisticRegression(bandwidth=0.2)
    scores = weighted_ratios(F, H, weight, codes, narrow)
    assert_array_equal(scores.new, 0.0)
    assert_array_equal(scores.labelled, 0.0)


def test_folds_hold_all_classes_alike(monkeypatch) -> None:
    taken_off = []

    def spy(*sample):
        taken_off.append(fold_offsets(*sample))
        return taken_off[-1]

    monkeypatch.setattr("unseen.scores.crossfit.fold_offsets", spy)
    rng = np.random.default_rng(8)
    codes = rng.permutation(np.repeat([0, 1], [10, 50]))
    F, H, weight = rng.normal(size=(40, 2)), rng.normal(size=(60, 2)), np.array([5.0, 0.2])[codes]
    weighted_ratios(F, H, weight, codes)
    assert np.ptp(taken_off[0]) < 1e-9


def test_scores_are_log_density_ratios() -> None:
    rng = np.random.default_rng(1)
    F, H = rng.normal(1, 1, (900, 1)), rng.normal(0, 1, (300, 1))
    scores = ratio_scores(F, H, random_state=0)
    found = scores.new[:, scores.best]
    middle = np.abs(F[:, 0] - 1) < 2
    assert_allclose(found[middle], F[middle, 0] - 0.5, atol=0.5)
    assert abs(np.mean(found - (F[:, 0] - 0.5))) < 0.15


def test_offsets_are_the_log_odds_of_the_training_rows() -> None:
    new = np.repeat([1, 0], [7, 12])
    weights = np.arange(1.0, 20)
    masks = training_masks(3, new, 0)
    for row, offset in enumerate(fold_offsets(masks, new, weights)):
        trained = masks[:, masks[row].argmin()] == 1
        share = np.average(new[trained], weights=weights[trained])
        assert_allclose(expit(offset), share)


def test_weights_make_another_labelled_sample() -> None:
    rng = np.random.default_rng(2)
    H = np.vstack([rng.normal(-2, 1, (300, 1)), rng.normal(2, 1, (300, 1))])
    F = np.vstack([rng.normal(-2, 1, (270, 1)), rng.normal(2, 1, (30, 1))])
    weight = np.repeat([1.8, 0.2], 300)
    plain, weighted = (weighted_ratios(F, H, w) for w in (None, weight))
    assert areas(plain)[plain.best] > 0.6
    assert np.std(weighted.new[:, weighted.best]) < 0.3 < np.std(plain.new[:, plain.best])


def test_every_bandwidth_and_C_is_a_candidate() -> None:
    rows = np.random.default_rng(3).normal(size=(60, 2))
    some = KernelLogisticRegression(bandwidth=[0.5, 2.0], C=[0.1, 1.0, 10.0])
    assert ratio_scores(rows[:30], rows[30:], some, n_folds=3).new.shape == (30, 6)
    every = ratio_scores(rows[:30], rows[30:], n_folds=3)
    assert every.labelled.shape == (30, 6 * len(WHOLE_SEARCH.C_values))
    assert every.log_loss.shape == (30,)


def test_any_other_classifier_is_the_one_candidate() -> None:
    rows = np.random.default_rng(4).normal(size=(60, 2))
    scores = ratio_scores(rows[:25], rows[25:], LogisticRegression(), random_state=0)
    pair = crossfit_scores(rows[:25], rows[25:], LogisticRegression(), random_state=0)
    assert_array_equal(scores.new[:, 0], pair[0])
    assert_array_equal(scores.labelled[:, 0], pair[1])
    assert scores.best == 0


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_jobs_and_storage_make_no_difference(n_jobs) -> None:
    rows = np.random.default_rng(5).normal(size=(80, 3))
    first = ratio_scores(rows[:30], rows[30:], n_folds=4, random_state=0)
    stored = (sparse.csr_matrix(part) for part in (rows[:30], rows[30:]))
    again = ratio_scores(*stored, n_folds=4, random_state=0, n_jobs=n_jobs)
    assert_allclose(again.new, first.new, atol=1e-6)
    assert_allclose(again.log_loss, first.log_loss, atol=1e-8)


def test_rows_of_two_samples_are_stacked_without_a_copy() -> None:
    rng = np.random.default_rng(0)
    F, H = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))
    (lazy, is_new), (whole, expected) = stack_samples(F, H, copy=False), stack_samples(F, H)
    assert isinstance(lazy, StackedRows)
    assert lazy.shape == whole.shape
    assert_array_equal(is_new, expected)
    for places in (slice(0, 7), slice(7, 12), slice(5, 9), slice(10, 40), np.array([11, 0, 6, 7])):
        assert_array_equal(lazy[places], whole[places])
    assert np.shares_memory(lazy[2:6], F)
    assert np.shares_memory(lazy[8:], H)
    assert sparse.issparse(stack_samples(sparse.csr_array(F), sparse.csr_array(H), copy=False)[0])
