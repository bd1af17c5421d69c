"""Shares of many classes, drawn towards the label shares where the data do not contradict."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import gammaln

from unseen import OpenSetEstimator
from unseen.proportions.bootstrap import _STRENGTHS, EXACT_ROWS, _evidence, shrunk_shares
from unseen.scores import Posteriors
from unseen.simplex import approximate_mixture_shares, mixture_shares

N_CLASSES, N_ROWS = 25, 300


def told_apart(counts) -> np.ndarray:
    return np.eye(len(counts))[np.repeat(np.arange(len(counts)), counts)]


def record_of(new) -> Posteriors:
    n_classes = new.shape[1]
    return Posteriors(tuple(range(n_classes)), np.arange(n_classes), None, new)


def noisy_posteriors(shares, rng) -> np.ndarray:
    """Exact posteriors, at even odds, of classes on a ring that lie close together."""
    angle = 2 * np.pi * np.arange(len(shares)) / len(shares)
    centres = 6 * np.column_stack([np.cos(angle), np.sin(angle)])
    rows = centres[rng.choice(len(shares), N_ROWS, p=shares)] + rng.normal(size=(N_ROWS, 2))
    logs = -np.square(rows[:, None] - centres).sum(axis=2) / 2
    densities = np.exp(logs - logs.max(axis=1, keepdims=True))
    return densities / densities.sum(axis=1, keepdims=True)


def test_a_prior_is_worth_so_many_rows() -> None:
    counts, prior = np.array([40, 0, 10]), np.array([[3.0, 6.0, 9.0], [0.1, 0.2, 0.1]])
    wanted = (counts + prior) / (50 + prior.sum(axis=1, keepdims=True))
    weights = np.hstack([np.ones((2, 50)), prior])
    weights /= weights.sum(axis=1, keepdims=True)
    every = np.vstack([told_apart(counts), np.eye(3)])
    found = approximate_mixture_shares(every, weights, np.zeros((2, 3)), start=counts / 50)
    assert_allclose(found, wanted, atol=1e-5)


def test_the_evidence_is_that_of_counts_where_classes_are_told_apart() -> None:
    """Differences between strengths are those of the Dirichlet-multinomial law."""
    counts = np.random.default_rng(0).multinomial(400, np.arange(1, 13) / 78)
    found, exact = [], []
    for strength in _STRENGTHS[1:]:
        prior = np.full(12, strength)
        shares = (counts + prior) / (counts + prior).sum()
        found.append(_evidence(told_apart(counts), np.ones(400), prior, shares))
        exact.append(gammaln(counts + prior).sum() - gammaln((counts + prior).sum()))
        exact[-1] += gammaln(prior.sum()) - gammaln(prior).sum()
    assert_allclose(np.diff(found), np.diff(exact), atol=0.05)


def averaged_over_strengths(counts) -> np.ndarray:
    """The shares of classes that are told apart, by the exact law of counts: a slow twin.

    Strengths are 1/4, 1, 4, ..., 256 rows a class, and the first leaves the counted shares alone.
    """
    strengths = np.array([0.25, 1, 4, 16, 64, 256])[:, None]
    total, n_classes = counts.sum(), len(counts)
    shares = (counts + strengths) / (total + n_classes * strengths)
    shares[0] = counts / total
    evidence = (gammaln(counts + strengths) - gammaln(strengths)).sum(axis=1)
    evidence += (gammaln(n_classes * strengths) - gammaln(total + n_classes * strengths))[:, 0]
    weight = np.exp(evidence - evidence.max())
    return weight @ shares / weight.sum()


@pytest.mark.parametrize(
    "counts",
    [[29, 31, 30, 28, 32, 30, 33, 27, 30, 30], [0, 24, 8, 1, 72, 16, 32, 8, 1, 48], [2] * 10],
)
def test_shares_of_classes_told_apart_are_the_average_over_strengths(counts) -> None:
    """Even, uneven and few rows, which make strong, weak and all strengths probable."""
    counts = np.array(counts)
    found = shrunk_shares(record_of(told_apart(counts)), counts / counts.sum())
    assert_allclose(found, averaged_over_strengths(counts), atol=0.003)
    assert_allclose(found.sum(), 1)


def test_few_classes_are_left_alone_and_very_many_rows_too() -> None:
    many = EXACT_ROWS // 10 + np.arange(-40, 60, 10)
    for counts in ([5, 3, 2], [11, *[10] * 8], many):
        shares = np.array(counts) / sum(counts)
        assert_array_equal(shrunk_shares(record_of(told_apart(counts)), shares), shares)


def test_shares_that_contradict_the_labels_are_left_alone() -> None:
    shares = np.zeros(N_CLASSES)
    shares[:4] = 0.25
    record = record_of(noisy_posteriors(shares, np.random.default_rng(1)))
    by_em = mixture_shares(record.ratios)
    assert_allclose(shrunk_shares(record, by_em), by_em, atol=0.01)


@pytest.mark.parametrize(("spread", "gain"), [(0.0, 0.4), (0.3, 0.15), (1.0, -0.02)])
def test_errors_fall_where_shares_hardly_changed_and_stay_where_they_did(spread, gain) -> None:
    """Mean l1 errors over ten draws; the classes overlap with their neighbours."""
    rng, errors = np.random.default_rng(2), []
    for _ in range(10):
        shares = np.exp(spread * rng.normal(size=N_CLASSES))
        shares /= shares.sum()
        record = record_of(noisy_posteriors(shares, rng))
        by_em = mixture_shares(record.ratios)
        both = by_em, shrunk_shares(record, by_em)
        errors.append([np.abs(one - shares).sum() for one in both])
    by_em, shrunk = np.mean(errors, axis=0)
    assert shrunk <= (1 - gain) * by_em


def test_rows_count_as_far_as_they_are_known() -> None:
    """Rows of no weight change nothing."""
    rng = np.random.default_rng(3)
    new = noisy_posteriors(np.full(N_CLASSES, 1 / N_CLASSES), rng)
    other = np.tile(np.eye(N_CLASSES)[0], (50, 1))
    shares = mixture_shares(record_of(new).ratios)
    known = np.repeat([1.0, 0.0], [N_ROWS, 50])
    with_others = shrunk_shares(record_of(np.vstack([new, other])), shares, known)
    assert_allclose(with_others, shrunk_shares(record_of(new), shares), atol=1e-6)


def test_the_default_shrinks_and_its_intervals_hold_what_it_says() -> None:
    rng = np.random.default_rng(4)
    centres = 3 * rng.normal(size=(12, 3))
    X, y = np.repeat(centres, 10, axis=0), np.repeat(np.arange(12), 10)
    X_new = np.repeat(centres, 12, axis=0)
    X, X_new = (rows + rng.normal(size=rows.shape) for rows in (X, X_new))
    estimator = OpenSetEstimator(random_state=0, n_folds=3).fit(X, y)
    scores = estimator.scores(X_new)
    found = estimator.from_scores(scores, confidence=0.95)
    shares = found.proportions / found.proportions.sum()
    assert np.abs(shares - 1 / 12).sum() < 0.8 * np.abs(scores.closed - 1 / 12).sum()
    assert (found.intervals[:-1, 0] <= found.proportions).all()
    assert (found.proportions <= found.intervals[:-1, 1]).all()
