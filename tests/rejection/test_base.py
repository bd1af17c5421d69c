"""What every rule inherits, shown on two small ones: a density-ratio plug-in, and a memoriser."""

import pickle
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from unseen import MPEIncomplete, OpenSetEstimator
from unseen.diagnostics import overfull
from unseen.drift import Drift, Tolerance
from unseen.records import Estimate, Notice, UnseenWarning
from unseen.rejection import known_accuracy, open_macro_f1, open_set_risk
from unseen.rejection.base import RejectionRule
from unseen.rejection.risk import open_risk
from unseen.rejection.sample import OpenSample, OutOfFold, labels_at
from unseen.rejection.shares import (
    Shares,
    covariance_of_limits,
    default_estimator,
    doubtful_shares,
    estimate_shares,
    negative_mass,
)
from unseen.rejection.views import reshared, risk_curve, share_sensitivity
from unseen.scores import OpenScores


@dataclass(frozen=True, eq=False)
class Ratio:
    """eta_i = pi_i (m / n_i) P(i | x) / P(new | x), from one classifier of K + 1 samples."""

    model: Any
    factor: np.ndarray

    def probabilities(self, X: Any) -> np.ndarray:
        p = self.model.predict_proba(X)
        known = p[:, :-1] / p[:, -1:] * self.factor
        known = known / np.maximum(1.0, known.sum(axis=1, keepdims=True))
        return np.column_stack([known, np.maximum(0.0, 1.0 - known.sum(axis=1))])


class RatioRule(RejectionRule):
    def _fit_rule(self, sample: OpenSample, rng: np.random.RandomState) -> Ratio:
        stack = sparse.vstack if sparse.issparse(sample.X) else np.vstack
        n_new = sample.X_new.shape[0]
        labels = np.append(sample.codes, np.full(n_new, len(sample.shares)))
        model = LogisticRegression(max_iter=1000).fit(stack([sample.X, sample.X_new]), labels)
        counts = np.bincount(sample.codes, minlength=len(sample.shares))
        return Ratio(model, sample.shares * n_new / counts)


@dataclass(frozen=True, eq=False)
class Memory:
    """Calls exactly the new rows it has seen unseen: least risk in-sample, and useless."""

    rows: frozenset[float]

    def probabilities(self, X: Any) -> np.ndarray:
        unseen = np.isin(X[:, 0], list(self.rows)).astype(float)
        return np.column_stack([1 - unseen, unseen])


class Memoriser(RejectionRule):
    _accepts_sparse = False

    def _fit_rule(self, sample: OpenSample, rng: np.random.RandomState) -> Memory:
        return Memory(frozenset(sample.X_new[:, 0].tolist()))


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two known classes and, as 30% of the new rows, one between and above them."""
    rng = np.random.default_rng(0)
    y = np.repeat(["left", "right"], [200, 150])
    X = rng.normal(np.where(y == "left", -3, 3)[:, None] * [1, 0], 1)
    centres = np.array([[-3, 0], [3, 0], [0, 6]])[rng.choice(3, 400, p=[0.5, 0.2, 0.3])]
    return X, y, rng.normal(centres, 1)


SHARES = [0.5, 0.2]
CLASSES = np.array(["left", "right", "unseen"])


def test_labels_follow_the_probabilities_and_the_threshold(rows) -> None:
    X, y, X_new = rows
    rule = RatioRule(random_state=0).fit(X, y, X_new, SHARES)
    probabilities = rule.predict_proba(X_new)
    assert rule.classes_.tolist() == ["left", "right", "unseen"]
    assert probabilities.shape == (400, 3)
    assert_allclose(probabilities.sum(axis=1), 1)
    assert_array_equal(rule.predict(X_new), rule.classes_[probabilities.argmax(axis=1)])
    lower = rule.with_threshold(cost=4)
    assert lower.threshold_ == 0.2
    assert_array_equal(lower.predict(X_new) == "unseen", rule.novelty_score(X_new) >= 0.2)
    assert_array_equal(
        rule.novelty_score(X_new),
        probabilities[:, 2] / (probabilities[:, 2] + probabilities[:, :2].max(axis=1)),
    )


def test_held_out_rows_are_held_out(rows) -> None:
    X, y, X_new = rows
    one = X[y == "left"]
    rule = Memoriser(random_state=0).fit(one, ["left"] * len(one), X_new, [0.5])
    assert (rule.predict(X_new) == "unseen").all()
    assert (rule.predict_new() == "left").all()
    # In-sample the memoriser has risk -0.5 + 0.5; held out it misses everything unseen.
    assert_allclose(rule.risk_.risk, 0.5)
    assert_allclose(rule.risk_.unseen_error, 1.0)


def test_without_new_rows_a_row_and_its_copy_leave_together(rows) -> None:
    X = rows[0]
    rule = Memoriser(random_state=0).fit(X[:, :1], ["all"] * len(X))
    assert_array_equal(rule.out_of_fold_.new[:, 1], 0.0)
    assert_array_equal(rule.predict(X[:, :1]), "all")
    assert rule.classes_.tolist() == ["all"]
    assert_array_equal(rule.novelty_score(X[:, :1]), 0.0)
    with pytest.raises(ValueError, match="with_threshold needs a fit with X_new"):
        rule.with_threshold(cost=2)


def test_without_new_rows_the_risk_is_the_held_out_error(rows) -> None:
    X, y, _ = rows
    rule = RatioRule(random_state=0).fit(X, y)
    labels = rule.classes_[rule.out_of_fold_.labelled[:, :2].argmax(axis=1)]
    assert_allclose(rule.risk_.risk, np.mean(labels != y), atol=1e-12)
    assert_allclose(rule.risk_.unseen_part, 0.0, atol=1e-12)


def test_risk_is_that_of_the_held_out_labels(rows) -> None:
    X, y, X_new = rows
    rule = RatioRule(random_state=0).fit(X, y, X_new, SHARES)
    for aim in ({"cost": 1.0}, {"reject_rate": "estimated"}, {"recall": 0.9}, {"fdr": 0.1}):
        moved = rule.with_threshold(**aim)
        held_out = moved.out_of_fold_
        expected = open_risk(
            labels_at(held_out.labelled, moved.threshold_),
            held_out.codes,
            labels_at(held_out.new, moved.threshold_),
            SHARES,
        )
        assert moved.risk_.risk == expected.risk
    as_estimated = rule.with_threshold(reject_rate="estimated")
    assert_allclose(np.mean(as_estimated.predict_new() == "unseen"), 0.3)


def test_nothing_changes_after_fit(rows) -> None:
    X, y, X_new = rows
    rule = RatioRule(random_state=0).fit(X, y, X_new, SHARES)
    state, labels = dict(vars(rule)), rule.predict(X_new)
    moved = rule.with_threshold(cost=9)
    assert moved.predict(X_new).tolist() != labels.tolist()
    assert all(vars(rule)[name] is value for name, value in state.items())
    assert_array_equal(rule.predict(X_new), labels)
    assert moved.get_params() == rule.get_params()
    again = moved.with_threshold(cost=1)
    assert (again.threshold_, again.risk_.risk) == (rule.threshold_, rule.risk_.risk)


def test_transductive_labels_are_those_of_the_held_out_rows(rows) -> None:
    X, y, X_new = rows
    rule = RatioRule(random_state=0)
    labels = rule.fit_predict_new(X, y, X_new, SHARES)
    assert_array_equal(labels, rule.classes_[rule.out_of_fold_.new.argmax(axis=1)])


def test_every_way_to_give_shares_is_the_same(rows) -> None:
    X, y, X_new = rows
    estimate = Estimate(("left", "right"), SHARES, 0.3, "m", {"left": 200, "right": 150}, 400)
    ways = [SHARES, [*SHARES, 0.3], {"right": 0.2, "left": 0.5}, estimate]
    found = [RatioRule(random_state=0).fit(X, y, X_new, way).predict_proba(X_new) for way in ways]
    for other in found[1:]:
        assert_array_equal(other, found[0])


def test_estimated_shares_are_the_estimators_with_its_intervals(rows) -> None:
    X, y, X_new = rows
    rule = RatioRule(random_state=0).fit(X, y, X_new, MPEIncomplete(random_state=3))
    expected = MPEIncomplete(random_state=3).fit(X, y).estimate(X_new, confidence=0.95)
    assert_array_equal(rule.shares_.known, expected.proportions)
    assert_array_equal(rule.shares_.limits, expected.intervals)
    width = np.ptp(expected.intervals, axis=1)[:2] / (2 * norm.isf(0.025))
    assert_allclose(np.sqrt(np.diag(rule.shares_.covariance)), width)
    exact = RatioRule(random_state=0).fit(X, y, X_new, expected.proportions)
    assert rule.risk_.standard_error > exact.risk_.standard_error
    changed = share_sensitivity(rule)
    assert 0 < changed.changed_together.max() < 0.3
    low, now, high = changed.rejected
    assert high <= now <= low


def test_shares_are_estimated_by_the_default_estimator_and_err_as_its_replicates_do(rows) -> None:
    X, y, X_new = rows
    rule = RatioRule(random_state=0).fit(X, y, X_new)
    estimate = rule.shares_.estimate
    estimator = OpenSetEstimator(prior_closed=0.5, random_state=estimate.seed).fit(X, y)
    scores = estimator.scores(X_new)
    expected, reading = estimator.from_scores(scores, confidence=0.95), estimator.read(scores)
    assert estimate.method == "OpenSetEstimator"
    assert_array_equal(rule.shares_.limits, expected.intervals)
    assert_allclose([*rule.shares_.known, rule.shares_.unseen], [0.5, 0.2, 0.3], atol=0.06)
    # The risk is linear in the shares, so that expected shares are what a rule is to believe.
    assert_allclose(rule.shares_.known, reading.expected[:2])
    draws = reading.replicates(200, estimate.seed)
    covariance = rule.shares_.covariance
    width = np.ptp(expected.intervals, axis=1)[:2] / (2 * norm.isf(0.025))
    assert_allclose(np.sqrt(np.diag(covariance)), width)
    # Intervals are quantiles of such draws, but no narrower than the noise of counting rows.
    assert (draws[:, :2].std(axis=0) < 1.15 * width).all()
    assert_allclose(
        covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]),
        np.corrcoef(draws[:, 0], draws[:, 1])[0, 1],
    )


def test_a_rule_takes_even_odds_where_several_classes_are_known() -> None:
    # Nothing is unseen, and a few rows leave it in doubt: the prior shows.
    rng = np.random.default_rng(0)
    X, X_new = (rng.normal(size=(80, 2)) + np.repeat([[0], [2]], 40, axis=0) for _ in range(2))
    y, one = ("a",) * 40 + ("b",) * 40, ("a",) * 80

    def expected(labels: tuple[str, ...], prior_closed: float | None) -> np.ndarray:
        estimator = OpenSetEstimator(prior_closed=prior_closed, random_state=0)
        return estimator.read(scores(labels)).expected[:-1]

    @cache
    def scores(labels: tuple[str, ...]) -> OpenScores:
        return OpenSetEstimator(random_state=0).fit(X, labels).scores(X_new)

    even, usual = expected(y, 0.5), expected(y, None)
    assert even.sum() < usual.sum() < 1
    labelled = OpenSetEstimator().fit(X, y).labelled_
    assert_allclose(estimate_shares(None, labelled, X_new, 0).known, even)
    assert_allclose(estimate_shares(OpenSetEstimator(), labelled, X_new, 0).known, usual)
    labelled = OpenSetEstimator().fit(X, one).labelled_
    assert_allclose(estimate_shares(None, labelled, X_new, 0).known, expected(one, None))


def test_folds_of_the_default_estimator_are_those_that_rows_can_fill() -> None:
    folds = [default_estimator(np.array([90, few]), 400).n_folds for few in (90, 8, 1)]
    assert folds == [None, 8, 2]


def test_a_rule_is_fitted_together_with_its_held_out_rows(rows) -> None:
    X, _, X_new = rows

    class Together(Memoriser):
        """Learns both at once, and says so."""

        def _fit_both(self, sample: OpenSample, rng: np.random.RandomState) -> Any:
            rule = self._fit_rule(sample, rng)
            ones = np.ones((len(sample.codes), 1)), np.ones((len(sample.X_new), 1))
            labelled, new = (np.column_stack([0.25 * one, 0.75 * one]) for one in ones)
            return rule, OutOfFold(labelled, sample.codes, new)

    rule = Together(random_state=0).fit(X, ["all"] * len(X), X_new, [0.75])
    assert_array_equal(rule.out_of_fold_.novelty[1], 0.75)
    assert (rule.predict_new() == "unseen").all()
    assert (rule.predict(X) == "all").all()


@pytest.mark.parametrize("correlation", [-0.4, 0.0, 0.7])
def test_widths_of_two_shares_and_their_sum_give_the_correlation(correlation) -> None:
    covariance = np.array([[0.01, 0.02 * correlation], [0.02 * correlation, 0.04]])
    sd = np.sqrt(np.append(np.diag(covariance), covariance.sum()))
    half = sd * norm.isf(0.025)
    assert_allclose(covariance_of_limits(np.column_stack([-half, half])), covariance, atol=1e-12)


@pytest.mark.parametrize(
    ("labels", "unseen"), [([3, 7], -1), ([False, True], -1), (["a", "b"], "unseen")]
)
def test_kinds_of_labels(rows, labels, unseen) -> None:
    X, y, X_new = rows
    renamed = np.array(labels)[(y == "right").astype(int)]
    expected = RatioRule(random_state=0).fit(X, y, X_new, SHARES).predict(X_new)
    found = RatioRule(random_state=0).fit(X, renamed, X_new, SHARES)
    assert found.classes_.tolist() == [*labels, unseen]
    names = dict(zip(["left", "right", "unseen"], [*labels, unseen], strict=True))
    assert found.predict(X_new).tolist() == [names[label] for label in expected]


def test_containers_and_pickles_agree(rows) -> None:
    X, y, X_new = rows
    fitted = RatioRule(random_state=0).fit(X, y, X_new, SHARES)
    expected = fitted.predict_proba(X_new)
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict_proba(X_new), expected)
    for container in (pd.DataFrame, sparse.csr_array):
        table = {"x": X, "new": X_new}
        table = {
            name: container(rows, columns=["p", "q"])
            if container is pd.DataFrame
            else container(rows)
            for name, rows in table.items()
        }
        found = RatioRule(random_state=0).fit(table["x"], y, table["new"], SHARES)
        assert_allclose(found.predict_proba(table["new"]), expected, atol=1e-4)


def test_a_class_with_a_single_row_is_unknown_to_the_rule_that_holds_it_out(rows) -> None:
    X, y, X_new = rows
    rare = np.vstack([X, [[0.0, -9.0]]])
    labels = np.append(y, "rare")
    rule = RatioRule(random_state=0).fit(rare, labels, X_new, [0.5, 0.0, 0.2])
    assert rule.out_of_fold_.labelled.shape == (351, 4)
    assert rule.out_of_fold_.labelled[-1, 1] == 0.0
    assert_allclose(rule.out_of_fold_.labelled.sum(axis=1), 1)
    assert rule.risk_.class_errors[1] == 1.0
    (notice,) = rule.notices_
    assert (notice.code, notice.about) == ("few_rows", "rare")
    assert notice.text.startswith("class 'rare' has 1 labelled rows, fewer than 5")


def test_a_clash_of_the_unseen_label_is_an_error_only_where_it_is_used(rows) -> None:
    X, y, X_new = rows
    clash = np.where(y == "left", "unseen", "right")
    with pytest.raises(ValueError, match="must differ from every known label; got 'unseen'"):
        RatioRule().fit(X, clash, X_new, SHARES)
    assert RatioRule(unseen_label="?").fit(X, clash, X_new, SHARES[::-1]).classes_[-1] == "?"
    assert RatioRule().fit(X, clash).classes_.tolist() == ["right", "unseen"]
    with pytest.raises(TypeError, match="unseen_label must be text"):
        RatioRule(unseen_label=-1).fit(X, y, X_new, SHARES)


@pytest.mark.parametrize("kind", [int, float, bool, str])
def test_the_unseen_label_can_be_one_word_for_all_kinds_of_labels(rows, kind) -> None:
    X, y, X_new = rows
    labels = (y != "left").astype(kind)
    usual = RatioRule(random_state=0).fit(X, labels, X_new, SHARES)
    rule = RatioRule(random_state=0, unseen_label="unseen").fit(X, labels, X_new, SHARES)
    assert rule.classes_.tolist() == [*np.unique(labels).tolist(), "unseen"]
    found = rule.predict_new()
    assert_array_equal(found == "unseen", usual.predict_new() == usual.classes_[-1])
    assert set(found.tolist()) <= set(rule.classes_.tolist())
    assert_array_equal(rule.predict_proba(X_new), usual.predict_proba(X_new))
    truth = np.where(found == "unseen", "unseen", found)
    assert known_accuracy(truth, found, unseen_label="unseen") == 1
    assert open_macro_f1(truth, found, known=rule.classes_[:-1], unseen_label="unseen") == 1
    by_risk = open_set_risk(rule, X, labels, X_new, SHARES, unseen_label="unseen")
    assert by_risk.risk == open_set_risk(usual, X, labels, X_new, SHARES).risk


@pytest.mark.parametrize(
    ("proportions", "error", "message"),
    [
        ([0.5], ValueError, "must hold 2 shares, one per known class, or 3"),
        ([0.5, -0.1], ValueError, "proportions must be >= 0"),
        ([0.5, 0.2, 0.2], ValueError, "must sum to 1 when the unseen share is given"),
        ({"left": 0.5}, ValueError, "must name the known classes"),
        ("half", TypeError, "proportions must be None, shares"),
    ],
)
def test_bad_shares_are_named(rows, proportions, error, message) -> None:
    with pytest.raises(error, match=message):
        RatioRule().fit(*rows, proportions)


def test_bad_calls_are_named(rows) -> None:
    X, y, X_new = rows
    with pytest.raises(TypeError, match="X must be dense for Memoriser, or have at most"):
        Memoriser().fit(sparse.csr_array((len(y), 10_000_000)), y)
    with pytest.raises(ValueError, match="X_new must hold at least 2 rows"):
        RatioRule().fit(X, y, X_new[:1], SHARES)
    with pytest.raises(ValueError, match="proportions must come with X_new"):
        RatioRule().fit(X, y, proportions=SHARES)
    rule = RatioRule(random_state=0).fit(X, y, X_new, SHARES)
    with pytest.raises(ValueError, match="exactly one of cost, reject_rate, recall, fdr; got none"):
        rule.with_threshold()
    with pytest.raises(ValueError, match=r"got \['cost', 'recall'\]"):
        rule.with_threshold(cost=1, recall=0.5)
    with pytest.raises(ValueError, match='must be "estimated" or in'):
        rule.with_threshold(reject_rate="some")
    with pytest.raises(ValueError, match="limits must be given"):
        share_sensitivity(rule)


def test_shares_that_sum_to_more_than_one_are_warned_about(rows) -> None:
    with pytest.warns(UnseenWarning) as caught:
        rule = RatioRule(random_state=0).fit(*rows, [0.9, 0.6])
    assert any("sum to 1.500, more than 1" in str(warning.message) for warning in caught)
    assert [notice.code for notice in rule.notices_] == ["overfull", "negative_mass"]


def test_an_estimate_that_was_overfull_is_warned_about() -> None:
    finding = overfull(np.array([0.7, 0.6]), 0.02)
    counts = {"a": 9, "b": 9}
    estimate = Estimate(
        ("a", "b"),
        [0.55, 0.45],
        0.0,
        "m",
        counts,
        9,
        diagnostics={"slope_total": 1.3},
        notices=(finding.notice,),
    )
    (notice,) = doubtful_shares(Shares(estimate.proportions, estimate=estimate), CLASSES)
    assert notice.code == "overfull"
    assert "sum to 1.300" in notice.text
    assert doubtful_shares(Shares(np.array([0.7, 0.3])), CLASSES) == ()


def test_a_share_that_may_be_anything_is_named() -> None:
    limits = np.array([[0.3, 0.5], [0.0, 0.7], [0.1, 0.3]])
    (notice,) = doubtful_shares(Shares(np.array([0.5, 0.25]), limits=limits), CLASSES)
    assert (notice.code, notice.about) == ("uncertain_share", "right")
    assert notice.text.startswith("the share of 'right' may be anything from 0% to 70%")


def test_a_class_may_have_the_name_of_a_warning(rows) -> None:
    label = "more than 1"
    odd = Notice("effective_rows", f"class {label!r}: 9 rows are few.", about=label)
    estimate = Estimate((label,), [0.5], 0.5, "m", {label: 9}, 9, notices=(odd,))
    assert doubtful_shares(Shares(estimate.proportions, estimate=estimate), CLASSES) == ()
    X, y, X_new = rows
    rule = RatioRule(random_state=0).fit(X, np.where(y == "left", label, "X_new"), X_new)
    assert "overfull" not in [notice.code for notice in rule.notices_]


@pytest.mark.parametrize("proportions", [SHARES, None])
def test_copied_rows_are_warned_about_once(rows, proportions) -> None:
    X, y, X_new = rows
    with pytest.warns(UnseenWarning) as caught:
        rule = RatioRule(random_state=0).fit(X, y, np.vstack([X_new, X[:100]]), proportions)
    assert len([one for one in caught if "also among the labelled rows" in str(one.message)]) == 1
    assert [notice.code for notice in rule.notices_].count("rows_in_both") == 1


def exact(X: np.ndarray, shares: np.ndarray, unseen: float) -> np.ndarray:
    """Posteriors of N(-2, 1), N(2, 1) and unseen N(6, 1)."""
    density = norm.pdf(X[:, None] - [-2, 2, 6]) * [*shares, unseen]
    return density / density.sum(axis=1, keepdims=True)


def drawn(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    codes = np.repeat([0, 1], 150)
    centres = rng.choice([-2.0, 2.0, 6.0], 500, p=[0.5, 0.2, 0.3])
    return rng.normal(np.array([-2.0, 2.0])[codes]), codes, rng.normal(centres)


def test_negative_mass_is_found_where_a_share_is_too_large_and_seldom_where_it_is_right() -> None:
    rng = np.random.default_rng(0)
    alarms = {0.2: 0, 0.45: 0}
    for _ in range(200):
        X, codes, X_new = drawn(rng)
        for share, count in alarms.items():
            shares = np.array([0.5, share])
            labelled, new = (exact(rows, shares, 0.3) for rows in (X, X_new))
            found = negative_mass(OutOfFold(labelled, codes, new), Shares(shares))
            alarms[share] = count + len(found)
    # One in a hundred by chance: more than six of 200 would be one chance in 200.
    assert alarms[0.2] <= 6
    assert alarms[0.45] >= 180


def test_other_shares_give_the_posteriors_of_other_shares() -> None:
    X = np.linspace(-4, 8, 50)
    shares = np.array([0.5, 0.2])
    density = norm.pdf(X[:, None] - [-2, 2, 6]) @ [0.5, 0.2, 0.3]
    found = reshared(exact(X, shares, 0.3), shares, np.array([0.4, 0.2]))
    assert_allclose(found[:, 0], 0.4 * norm.pdf(X + 2) / density, atol=1e-12)
    assert_allclose(found.sum(axis=1), 1)
    assert_allclose(
        reshared(found, np.array([0.4, 0.2]), shares), exact(X, shares, 0.3), atol=1e-12
    )


def drifted(verdict: str, width: float = 0.2) -> Estimate:
    drift = Drift(verdict, 0.5, Tolerance(np.zeros(0), np.zeros(0)), 0.5)
    rows = {"n_labelled": {"a": 100}, "n_new": 200}
    limits = [[0.5 - width / 2, 0.5 + width / 2]] * 2
    return Estimate(("a",), [0.5], 0.5, "made", intervals=limits, drift=drift, **rows)


@pytest.mark.filterwarnings("ignore:the share of:unseen.UnseenWarning")
@pytest.mark.parametrize(
    ("verdict", "width", "withheld"),
    [("moved", 0.2, True), ("unclear", 0.2, True), ("still", 0.2, False), ("still", 0.6, True)],
)
def test_no_risk_is_stated_where_classes_may_have_moved_or_shares_are_unknown(
    verdict, width, withheld
) -> None:
    rng = np.random.default_rng(0)
    X, X_new = rng.normal(size=(100, 1)), rng.normal([0.0, 4.0], 1, (100, 2)).reshape(-1, 1)
    rule = RatioRule(random_state=0).fit(X, ["a"] * 100, X_new, drifted(verdict, width))
    other = rule.with_threshold(cost=3.0)
    for risk in (rule.risk_, other.risk_):
        assert risk.is_withheld == withheld == np.isnan(risk.standard_error)
        assert np.isnan(risk.unseen_part) == withheld
        assert np.isfinite(risk.class_errors).all()
        assert ("withheld" in str(risk)) == withheld
    assert np.isnan(risk_curve(rule, 3).risks).all() == withheld
    assert ("risk_withheld" in {notice.code for notice in rule.notices_}) == withheld
