"""Methods that take known classes for unmoved: distances confirm their claim, or not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.naive_bayes import GaussianNB

from unseen import MPEIncomplete, OpenSetEstimator, SaerensEM
from unseen.drift import Drift, Tolerance, drift_by_distances
from unseen.samples import LabelledRows

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(240, 6)), np.repeat([0, 1], 120)
X[Y == 1] += 4
HERE = np.vstack([RNG.normal(0, 1, (100, 6)), RNG.normal(4, 1, (100, 6))])
MOVED = HERE + np.array([2.0, 0, 0, 0, 0, 0])
APART = np.vstack([HERE, RNG.normal([9, -9, 9, -9, 9, -9], 1, (100, 6))])
SAMPLE = LabelledRows(X, np.array([0, 1]), Y)


def record(rows, unseen: float) -> Drift:
    return drift_by_distances(SAMPLE, rows, np.array([0.5, 0.5]), unseen, 0)


def test_a_claim_that_distances_see_stands() -> None:
    found = record(APART, 1 / 3)
    assert found.verdict == "still"
    assert 0.15 < found.must(1.0) < 1 / 3
    assert found.probability_moved is None


@pytest.mark.parametrize("unseen", [0.3, 0.95])
def test_a_claim_that_distances_do_not_see_is_in_doubt(unseen) -> None:
    found = record(MOVED, unseen)
    assert found.verdict == "unclear"
    assert found.columns[0][0] == 0
    assert min(found.displacement.values()) > 0


def test_a_claim_of_nothing_is_in_no_doubt() -> None:
    assert record(MOVED, 0.04).verdict == "still"
    assert record(HERE, 0.0).displacement.keys() == {0, 1}


def test_sparse_rows_have_the_same_record() -> None:
    sparse = LabelledRows(csr_matrix(X), np.array([0, 1]), Y)
    found = drift_by_distances(sparse, csr_matrix(MOVED), np.array([0.5, 0.5]), 0.9, 0)
    assert found.verdict == "unclear"
    assert found.must(1.0) == record(MOVED, 0.9).must(1.0)


def test_every_method_that_sees_the_unseen_has_a_record_alone() -> None:
    fitted = MPEIncomplete(classifier=GaussianNB(), n_folds=3, random_state=0).fit(X, Y)
    found = fitted.estimate(MOVED, confidence=0.95)
    assert found.unseen > 0.2
    assert found.drift.verdict == "unclear"
    assert found.intervals[-1, 0] == 0.0
    assert "moved_unclear" in {notice.code for notice in found.notices}
    assert "distances do not confirm" in found.notices[-1].text
    assert found.to_dict()["drift"]["probability_moved"] is None
    assert fitted.from_scores(fitted.scores(MOVED)).drift is None


def test_a_record_that_is_given_wins() -> None:
    given = Drift("still", 0.01, Tolerance(np.zeros(0), np.zeros(0)), 0.9)
    fitted = MPEIncomplete(classifier=GaussianNB(), n_folds=3, random_state=0).fit(X, Y)
    assert fitted.estimate(MOVED, drift=given).drift is given


def test_methods_that_ask_or_see_nothing_have_no_second_record() -> None:
    quick = {"classifier": GaussianNB(), "n_folds": 3, "random_state": 0}
    assert SaerensEM(**quick).fit(X, Y).estimate(MOVED).drift is None
    assert OpenSetEstimator(prior_moved=0.0, **quick).fit(X, Y).estimate(MOVED).drift is None


def test_codes_in_the_place_of_values_are_named_and_no_new_class() -> None:
    rows = HERE.copy()
    rows[::3, 2] = -999.0
    found = record(rows, 0.3)
    assert (found.stray, found.stray_columns) == (pytest.approx(0.335), (2,))
    assert found.verdict == "unclear"
    assert found.notices[0].code == "stray_values"
    assert "in column 2:" in found.notices[0].text
    assert found.named(list("abcdef")).stray_columns == ("c",)
    assert record(APART, 0.3).stray == 0.0
