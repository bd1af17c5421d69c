"""Under the verdict "moved" a rule reads rows where the labelled rows of their classes lie."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

import unseen
from unseen import Estimate, RejectionClassifier, RejectionKernel, RejectionTree
from unseen.drift import Drift, Tolerance
from unseen.rejection.moved import LayBack
from unseen.samples import LabelledRows

pytestmark = pytest.mark.filterwarnings("ignore::unseen.UnseenWarning")

CENTRES = np.rint(20 * np.random.default_rng(1).normal(size=(4, 6)))
GAIN, OFFSET = np.array([1.2, 1, 1.1, 1, 0.9, 1]), np.array([5, -8, 4, 8, 0, -6])
RULES = sorted(name for name in unseen.__all__ if name.startswith("Rejection"))


def rows_of(counts: list[int], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Whole numbers of three known classes and of a new one, and the codes of their classes."""
    codes = np.repeat(np.arange(len(counts)), counts)
    rows = CENTRES[codes] + np.random.default_rng(seed).normal(0, 8, size=(len(codes), 6))
    return np.rint(rows), codes


X, y = rows_of([80, 80, 80], 0)
STAYED, TRUTH = rows_of([60, 60, 60, 40], 1)
X_NEW = STAYED * GAIN + OFFSET
FURTHER, FURTHER_TRUTH = rows_of([50, 50, 50, 50], 2)
LABELLED = LabelledRows(X, np.arange(3), y)


def estimate(verdict: str, known: int = 3) -> Estimate:
    """An answer with the true shares and a verdict."""
    shares = [60 / 220] * known
    drift = Drift(verdict, 0.9, Tolerance(np.zeros(0), np.zeros(0)), 0.5)
    counts = dict.fromkeys(range(known), 80)
    classes = tuple(range(known))
    unseen_share = 1 - sum(shares)
    return Estimate(
        classes, shares, unseen_share, "made", n_labelled=counts, n_new=220, drift=drift
    )


def wrong(labels: np.ndarray, truth: np.ndarray) -> float:
    return float(np.mean(labels != np.where(truth == 3, -1, truth)))


@pytest.fixture(scope="module")
def rule() -> RejectionKernel:
    return RejectionKernel(random_state=0).fit(X, y, X_NEW, estimate("moved"))


@pytest.mark.parametrize("name", RULES)
def test_moved_rows_get_their_labels(name) -> None:
    laid = getattr(unseen, name)(random_state=0).fit(X, y, X_NEW, estimate("moved"))
    assert laid.risk_.is_withheld
    # Plain shares have no verdict.
    lying, stayed = (clone(laid).fit(X, y, new, [60 / 220] * 3) for new in (X_NEW, STAYED))
    before, after, at_best = (wrong(one.predict_new(), TRUTH) for one in (lying, laid, stayed))
    assert after < before - 0.15
    assert after < at_best + 0.05
    further = FURTHER * GAIN + OFFSET
    assert (
        wrong(laid.predict(further), FURTHER_TRUTH)
        < wrong(lying.predict(further), FURTHER_TRUTH) - 0.15
    )


def test_the_default_rule_finds_the_move_itself() -> None:
    laid = RejectionClassifier(random_state=0).fit(X, y, X_NEW)
    assert laid.shares_.verdict == "moved"
    assert wrong(laid.predict_new(), TRUTH) < 0.1
    assert {"laid_back", "risk_withheld"} <= {notice.code for notice in laid.notices_}


@pytest.mark.parametrize("verdict", ["still", "unclear"])
def test_rows_that_are_not_said_to_have_moved_are_read_as_they_lie(verdict) -> None:
    one = RejectionTree(random_state=0).fit(X, y, X_NEW, estimate(verdict))
    other = RejectionTree(random_state=0).fit(X, y, X_NEW, [60 / 220] * 3)
    assert one.lay_back_ is None
    assert "laid_back" not in {notice.code for notice in one.notices_}
    assert_array_equal(one.predict_proba(FURTHER), other.predict_proba(FURTHER))
    assert_array_equal(one.out_of_fold_.new, other.out_of_fold_.new)


def test_further_rows_are_read_as_rows_of_the_batch(rule) -> None:
    further = FURTHER * GAIN + OFFSET
    as_before = RejectionKernel(random_state=0).fit(X, y, rule.lay_back_(X_NEW), [60 / 220] * 3)
    assert_array_equal(
        rule.predict_proba(further), as_before.predict_proba(rule.lay_back_(further))
    )
    # Rows that lie as in training are of another batch: the move is taken off them all the same.
    laid = as_before.predict_proba(rule.lay_back_(FURTHER))
    assert_array_equal(rule.predict_proba(FURTHER), laid)
    assert np.abs(laid - as_before.predict_proba(FURTHER)).max() > 0.2


def test_files_pickles_and_clones(rule, tmp_path) -> None:
    pytest.importorskip("skops")
    unseen.save(rule, tmp_path / "rule.skops")
    further = FURTHER * GAIN + OFFSET
    for again in (unseen.load(tmp_path / "rule.skops"), pickle.loads(pickle.dumps(rule))):
        assert_array_equal(again.predict_proba(further), rule.predict_proba(further))
    assert not hasattr(clone(rule), "lay_back_")
    assert clone(rule).fit(X, y, STAYED, [60 / 220] * 3).lay_back_ is None
    assert rule.with_threshold(cost=2.0).lay_back_ is rule.lay_back_


def test_sparse_rows_are_read_as_dense_ones(rule) -> None:
    rows = sparse.csr_array(X), y, sparse.csr_array(X_NEW)
    found = RejectionKernel(random_state=0).fit(*rows, estimate("moved"))
    assert_allclose(found.out_of_fold_.new, rule.out_of_fold_.new)
    further = sparse.csr_array(FURTHER * GAIN + OFFSET)
    assert_allclose(found.predict_proba(further), rule.predict_proba(further))


def test_values_between_those_of_a_column_become_the_nearest() -> None:
    lay_back = LayBack.of(LABELLED, X_NEW)
    found, plain = lay_back(X_NEW), lay_back.movement.taken_off(X_NEW)
    near = [np.abs(X[:, place] - plain[:, [place]]).min(axis=1) for place in range(6)]
    is_near = np.column_stack(near) < X.std(axis=0) / 2
    assert 0.8 < is_near.mean() < 1  # the new class lies beyond all values of a column
    assert_allclose(found[~is_near], plain[~is_near])
    assert_allclose(np.abs(found - plain)[is_near], np.column_stack(near)[is_near], atol=1e-12)
    assert np.mean(np.abs(found - STAYED)[is_near]) < 0.5 * np.mean(np.abs(X_NEW - STAYED)[is_near])


def test_nothing_is_taken_off_one_class_or_rows_that_stayed() -> None:
    one = replace(LABELLED, rows=X[y == 0], classes=np.arange(1), codes=y[y == 0])
    assert LayBack.of(one, X_NEW[TRUTH == 0]) is None
    assert LayBack.of(LABELLED, X) is None
    alone = RejectionTree(random_state=0).fit(X[y == 0], y[y == 0], X_NEW, estimate("moved", 1))
    assert alone.lay_back_ is None


def test_a_rule_asks_again_by_its_own_seed() -> None:
    """A rule asks what an estimate of the same seed asks, and the same again where rows moved."""
    first, second = (RejectionKernel(random_state=3).fit(X, y, X_NEW).shares_ for _ in range(2))
    assert first.verdict == "moved"
    assert first.estimate.drift.laid_back is not None
    assert_array_equal(first.known, second.known)
    own = unseen.OpenSetEstimator(prior_closed=0.5, random_state=3).fit(X, y)
    assert_array_equal(first.known, own.estimate(X_NEW, confidence=0.95).proportions)
