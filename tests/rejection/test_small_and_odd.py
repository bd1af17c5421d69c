"""Samples at the edge: few rows, copies, constants, and what is said of them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_limits

import unseen
from unseen import RejectionClassifier, RejectionForest, RejectionPlugIn, RejectionTree
from unseen.records import UnseenWarning
from unseen.rejection.histogram import QuantileCells, RejectionHistogram
from unseen.rejection.plugin import TwoModels
from unseen.rejection.risk import reject_rate_threshold
from unseen.rejection.sample import OpenSample, hold_out
from unseen.rejection.shares import given_shares
from unseen.rejection.stack import Neighbours, RejectionStack
from unseen.scores.scales import Standardisation

SHARES = np.array([0.35, 0.35])
QUICK = unseen.KernelLogisticRegression(1.0, 1.0, rank=40)


def drawn(seed: int = 0, n_columns: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two known classes of 60 rows; new rows are 70, 70 and 60 of a third."""
    rng = np.random.default_rng(seed)
    X = rng.normal(np.repeat([[-2.0], [2.0]], 60, axis=0), 1, (120, n_columns))
    X_new = rng.normal(np.repeat([[-2.0], [2.0], [0.0]], [70, 70, 60], axis=0), 1, (200, n_columns))
    X_new[140:, 0] += 6
    return X, np.repeat(["a", "b"], 60), X_new


def test_copies_of_labelled_rows_do_not_look_unseen() -> None:
    X, y, _ = drawn()
    rule = RejectionStack(classifier=QUICK, random_state=1)
    with pytest.warns(UnseenWarning, match="also among the labelled rows"):
        rule.fit(X, y, X.copy(), [0.5, 0.5])
    assert (rule.predict_new() != "unseen").all()
    assert rule.risk_.risk > -0.02


def test_rows_that_repeat_by_themselves_are_neighbours() -> None:
    # Whole numbers meet by chance: a new row that equals a labelled one need not be its copy.
    rng = np.random.default_rng(0)
    X, X_new = (rng.integers(0, 300, (200, 1)).astype(float) for _ in range(2))
    sample = OpenSample(X, np.zeros(200, dtype=int), X_new, np.array([0.9]))
    as_given = Standardisation(np.zeros(1), np.ones(1))
    found = Neighbours.from_sample(sample, np.array([1]), as_given, [np.arange(200)]).distances(
        X_new
    )
    assert (found == 0).any()
    assert_array_equal(found, np.abs(X_new - X.T).min(axis=1, keepdims=True))


def test_the_number_of_threads_changes_no_bit() -> None:
    rng = np.random.default_rng(0)
    X, X_new = rng.normal(size=(240, 30)), rng.normal(size=(300, 30))
    X[:120, 0] += 3
    X_new[:90, 1] += 3
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"):
            estimate = unseen.estimate(
                X, np.repeat(["a", "b"], 120), X_new, confidence=0.95, random_state=0
            )
        found.append([*estimate.proportions, *estimate.intervals.ravel()])
    assert_array_equal(*found)


def test_how_often_one_member_draws_does_not_change_the_next() -> None:
    X, y, X_new = drawn()
    second = {
        n_trees: RejectionClassifier([RejectionForest(n_trees), RejectionForest(5)], random_state=0)
        .fit(X, y, X_new, SHARES)
        .rule_.losses[("RejectionForest 2",)]
        for n_trees in (3, 7)
    }
    assert second[3] == second[7]


def test_the_level_of_an_estimate_is_taken_for_what_it_is() -> None:
    X, y, X_new = drawn()
    spread = [
        np.sqrt(np.diag(given_shares(found, np.array(["a", "b"])).covariance))
        for level in (0.5, 0.95)
        for found in [unseen.estimate(X, y, X_new, confidence=level, random_state=0)]
    ]
    assert_allclose(*spread, rtol=0.25)


def test_a_rule_keeps_its_own_shares() -> None:
    X, y, X_new = drawn()
    given = SHARES.copy()
    rule = RejectionForest(5, random_state=0).fit(X, y, X_new, given)
    given[:] = 0
    assert_array_equal(rule.with_threshold(cost=1).shares_.known, SHARES)
    with pytest.raises(ValueError, match="read-only"):
        rule.shares_.known[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        rule.out_of_fold_.new[0] = 1.0


@pytest.mark.parametrize("value", [0.1, 0.3])
def test_a_constant_column_counts_for_nothing_though_its_spread_is_rounding(value) -> None:
    X, y, X_new = drawn(n_columns=5)
    assert np.full(len(X), value).std() > 0
    with_it = [np.column_stack([rows, np.full(len(rows), value)]) for rows in (X, X_new)]
    risks = [
        RejectionHistogram(random_state=0).fit(known, y, new, SHARES).risk_.risk
        for known, new in ((X, X_new), with_it)
    ]
    assert abs(risks[1] - risks[0]) < 0.1


@pytest.mark.parametrize(
    "rule", [RejectionTree(), RejectionHistogram(QuantileCells())], ids=["tree", "histogram"]
)
def test_two_new_rows_are_enough(rule) -> None:
    X, y, X_new = drawn(n_columns=5)
    assert rule.set_params(random_state=0).fit(X, y, X_new[[0, 199]], SHARES).predict(X).size == 120


def test_a_class_of_one_row_can_be_held_out() -> None:
    X, y, X_new = drawn()
    rows = np.append(np.arange(40), 60)
    rule = RejectionPlugIn(QUICK, TwoModels(), random_state=0).fit(X[rows], y[rows], X_new, SHARES)
    assert rule.out_of_fold_.labelled.shape == (41, 3)


def test_one_row_of_each_class_is_refused() -> None:
    X, y, X_new = drawn()
    with pytest.raises(ValueError, match="at least 2 rows of some class"):
        RejectionClassifier().fit(X[[0, 60]], y[[0, 60]], X_new, SHARES)


@pytest.mark.parametrize(
    ("rate", "rejected"), [(0.0, 0), (0.1, 1), (0.24, 1), (0.4, 5), (0.7, 5), (0.9, 10)]
)
def test_a_rate_is_met_as_nearly_as_ties_allow(rate, rejected) -> None:
    novelty = np.repeat([0.0, 0.5, 0.9], [5, 4, 1])
    assert np.sum(novelty >= reject_rate_threshold(novelty, rate)) == rejected


def test_where_nothing_is_unseen_no_later_row_is() -> None:
    X, y, X_new = drawn()
    rule = RejectionClassifier([RejectionForest(20)], random_state=0)
    rule.fit(X, y, X_new[:140], [0.5, 0.5])
    assert (rule.predict(X_new) != "unseen").all()


def test_rows_and_their_copies_stay_so_in_every_part() -> None:
    X = np.arange(20.0)[:, None]
    sample = OpenSample(X, np.zeros(20, dtype=int), X, np.ones(1), has_new=False)
    half = np.arange(20) < 10
    part = sample.subset(half, half)
    assert not part.has_new
    assert sample.subset(half, ~half).has_new
    for each in hold_out(part, 0.3, np.random.RandomState(0)):
        assert not each.has_new
        assert_array_equal(each.X_new, each.X)


def test_labels_of_new_rows_need_some() -> None:
    X, y, _ = drawn()
    with pytest.raises(ValueError, match="predict_new needs a fit with X_new"):
        RejectionForest(5).fit(X, y).predict_new()


def test_a_small_batch_is_labelled_with_a_warning() -> None:
    X, y, X_new = drawn()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)
        rule = RejectionForest(20, random_state=0).fit(X, y, X_new[[0, 80, 81, 199]])
    assert rule.predict_new().shape == (4,)
    assert [notice.code for notice in rule.notices_].count("uncertain_share") == 1
    large = RejectionForest(20, random_state=0).fit(X, y, X_new)
    assert "uncertain_share" not in [notice.code for notice in large.notices_]


def test_columns_are_called_as_the_user_calls_them() -> None:
    X, y, X_new = drawn()
    table = pd.DataFrame(X, columns=["p", "q", "r"]).assign(k=1.0)
    rule = RejectionForest(5, random_state=0).fit(table, y, np.column_stack([X_new, np.ones(200)]))
    assert [notice.code for notice in rule.notices_] == ["names_on_one_side", "constant_columns"]
    assert "X has column names and X_new has none" in rule.notices_[0].text
    assert "constant over X and X_new" in rule.notices_[1].text
    assert "'k'" in rule.notices_[1].text


def test_members_are_checked() -> None:
    X, y, X_new = drawn()
    for rule in (
        RejectionClassifier([RejectionForest(n_trees=0)]),
        RejectionStack(RejectionForest(n_trees=0), QUICK),
    ):
        with pytest.raises(ValueError, match="n_trees"):
            rule.fit(X, y, X_new, SHARES)


@pytest.mark.parametrize(("labels", "unseen_label"), [([3, 7], -1), (["a", "b"], "unseen")])
def test_labels_in_an_array_of_objects_are_what_they_are(labels, unseen_label) -> None:
    X, y, X_new = drawn()
    objects = np.array(labels, dtype=object)[(y == "b").astype(int)]
    rule = RejectionForest(5, random_state=0).fit(X, objects, X_new, SHARES)
    assert rule.classes_.tolist() == [*labels, unseen_label]


def test_booleans_come_back_as_numbers() -> None:
    X, y, X_new = drawn()
    rule = RejectionForest(5, random_state=0).fit(X, y == "b", X_new, SHARES)
    assert rule.classes_.dtype.kind == "i"
    assert rule.classes_.tolist() == [0, 1, -1]


def test_a_fit_that_failed_is_no_fit() -> None:
    X, y, X_new = drawn()
    rule = RejectionForest(5, random_state=0)
    with pytest.raises(ValueError, match="proportions"):
        rule.fit(X, y, X_new, [0.1, 0.2, 0.3, 0.4])
    for not_fitted in (rule, RejectionForest()):
        with pytest.raises(NotFittedError):
            not_fitted.predict(X)
