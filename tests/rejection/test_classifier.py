"""Stacked features, calibration, the choice between rules, and the default rule made of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors

from reference.closed_form import BAYES_RISK, CENTRES, SHARES, excess_risk, samples
from unseen import KernelLogisticRegression
from unseen.rejection.classifier import RejectionClassifier
from unseen.rejection.forest import RejectionForest
from unseen.rejection.kernel import RejectionKernel
from unseen.rejection.losses import (
    Calibration,
    RowLosses,
    calibrated,
    fit_calibration,
    row_losses,
    within_one_standard_error,
)
from unseen.rejection.risk import open_risk
from unseen.rejection.sample import OpenSample, OutOfFold, labels_at, smallest_leaf
from unseen.rejection.stack import (
    Neighbours,
    RejectionStack,
    answers_out_of_fold,
    coarse_forest,
    fit_models,
    steady,
)
from unseen.scores.scales import Standardisation

QUICK = KernelLogisticRegression(1.0, 1.0, rank=40)


def posteriors(X):
    """True probabilities of the closed-form problem."""
    weights = SHARES * np.exp(-((X[:, :1] - CENTRES) ** 2) / 2)
    return weights / weights.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def truth():
    """Rows of the closed-form problem with their true probabilities, and the hidden labels."""
    X, codes, X_new, hidden = samples(20_000, seed=0)
    return OutOfFold(posteriors(X), codes, posteriors(X_new)), hidden


def sure(held_out):
    """The same labels, said with certainty."""
    labels = np.eye(held_out.labelled.shape[1])
    return OutOfFold(
        labels[labels_at(held_out.labelled)], held_out.codes, labels[labels_at(held_out.new)]
    )


def test_charges_of_sure_labels_are_the_risk_and_its_standard_error(truth):
    certain = sure(truth[0])
    found = row_losses(certain)
    risk = open_risk(labels_at(certain.labelled), certain.codes, labels_at(certain.new), SHARES[:2])
    assert_allclose(found.total(SHARES[:2]), risk.risk)
    assert_allclose(found.standard_error(SHARES[:2]), risk.standard_error, rtol=1e-3)


def test_charges_estimate_risk_and_brier_score_without_an_unseen_label(truth):
    held_out, hidden = truth
    brier = ((held_out.new - np.eye(3)[hidden]) ** 2).sum(axis=1).mean()
    found = row_losses(held_out)
    assert abs(found.total(SHARES[:2]) - (BAYES_RISK + brier / 2) / 2) < 3 * (
        found.standard_error(SHARES[:2])
    )


def test_the_true_probabilities_cost_least(truth):
    held_out, _ = truth
    best = row_losses(held_out).total(SHARES[:2])
    for wrong in (Calibration(0.3, 0.0), Calibration(1.0, 1.0), Calibration(1.0, -1.0)):
        bent = OutOfFold(wrong(held_out.labelled), held_out.codes, wrong(held_out.new))
        assert row_losses(bent).total(SHARES[:2]) > best


def test_the_favoured_rule_gives_way_only_beyond_one_standard_error():
    rng, codes = np.random.default_rng(0), np.zeros(50, dtype=int)
    base = rng.normal(size=400)

    def rule(gain):
        return RowLosses(np.zeros(50), codes, base - gain + rng.normal(0, 1, 400))

    favoured = RowLosses(np.zeros(50), codes, base)
    assert within_one_standard_error([favoured, rule(0.0)], np.array([0.5])) == 0
    assert within_one_standard_error([favoured, rule(1.0)], np.array([0.5])) == 1
    assert within_one_standard_error([favoured, rule(-1.0), rule(1.0)], np.array([0.5])) == 2


@pytest.mark.parametrize("bent", [Calibration(0.4, 0.0), Calibration(1.0, 0.8)])
def test_calibration_undoes_what_bent_the_probabilities(truth, bent):
    held_out, _ = truth
    spoilt = OutOfFold(bent(held_out.labelled), held_out.codes, bent(held_out.new))
    found = fit_calibration(spoilt, SHARES[:2])
    t = np.array([0.2, 0.5, 0.8])
    mended = expit(found.slope * (bent.slope * logit(t) + bent.constant) + found.constant)
    assert_allclose(mended, t, atol=0.05)
    _, again = calibrated(None, spoilt, SHARES[:2], 5, np.random.RandomState(0))
    assert row_losses(again).total(SHARES[:2]) < row_losses(spoilt).total(SHARES[:2])


def test_calibration_keeps_the_order_and_the_shares_among_known_classes():
    rows = np.array([[0.6, 0.2, 0.2], [0.1, 0.3, 0.6], [0.0, 0.0, 1.0]])
    found = Calibration(0.5, 1.0)(rows)
    assert_allclose(found.sum(axis=1), 1.0)
    assert (np.diff(found[:, -1]) > 0).all()
    assert_allclose(found[:2, 0] / found[:2, 1], rows[:2, 0] / rows[:2, 1])


def test_a_row_is_no_neighbour_of_itself():
    rng = np.random.default_rng(1)
    X, codes = rng.normal(size=(30, 2)), np.repeat([0, 1], [20, 10])
    sample = OpenSample(X, codes, rng.normal(size=(9, 2)), np.array([0.5, 0.3]))
    scale = Standardisation.of(X, np.ones(30))
    # Of the second class five rows are references; its other rows measure to these as well.
    references = [np.arange(20), np.arange(20, 25)]
    neighbours = Neighbours.from_sample(sample, np.array([1, 3]), scale, references)
    found, rows = neighbours.distances(X, labelled=True), scale(X)
    for i in (0, 21, 25):
        for code in (0, 1):
            others = references[code][references[code] != i]
            near, _ = NearestNeighbors(n_neighbors=3).fit(rows[others]).kneighbors(rows[i : i + 1])
            assert_allclose(found[i, 2 * code : 2 * code + 2], near[0, [0, 2]])


def test_units_that_carry_the_signal_are_not_scaled_away(monkeypatch):
    # One large column among a hundred of small noise: of equal spread, these drown what is unseen.
    rng = np.random.default_rng(0)
    spread = np.append(1.0, np.full(100, 0.001))
    X, X_new = (rng.normal(size=(200, 101)) * spread for _ in range(2))
    X_new[:20, 0] += 5
    sample = OpenSample(X, np.repeat([0, 1], 100), X_new, np.array([0.45, 0.45]))
    scales = Standardisation.of(np.vstack([X, X_new]), np.ones(400)).raw_and_standardised
    third, rows = np.array([3]), [np.arange(100), np.arange(100, 200)]
    given, equal = (
        Neighbours.from_sample(sample, third, scale, rows).distances(X_new) for scale in scales
    )
    unseen_rows = np.arange(200) < 20
    assert roc_auc_score(unseen_rows, given.min(axis=1)) > 0.99
    assert roc_auc_score(unseen_rows, equal.min(axis=1)) < 0.95
    told = []
    monkeypatch.setattr(
        RejectionForest, "_fit_both", lambda _, stacked, rng: (None, told.append(stacked))
    )
    stack = RejectionStack(classifier=QUICK, n_neighbors=[3], random_state=0)
    rule, _ = stack._fit_both(sample, np.random.RandomState(0))
    for features in (told[0].X_new, rule.features(X_new)):
        assert_allclose(features[:, -4:], np.hstack([given, equal]), rtol=1e-6)


class Wobbly(LogisticRegression):
    """Probabilities as another processor would round them."""

    def predict_proba(self, X):
        noise = np.random.RandomState(0).normal(size=(len(X), len(self.classes_)))
        return super().predict_proba(X) * (1 + 1e-12 * noise)


def test_labels_of_a_stack_do_not_depend_on_rounding():
    rng = np.random.RandomState(0)
    # Whole numbers: many rows have the same features, and the same answers but for rounding.
    X, codes = rng.poisson(3, size=(300, 2)) + 3.0 * np.repeat([0, 1], 150)[:, None], [0, 1]
    X_new, codes = rng.poisson(4, size=(300, 2)).astype(float), np.repeat(codes, 150)
    first, second = (
        RejectionStack(classifier=kind(), random_state=0).fit(X, codes, X_new, [0.4, 0.4])
        for kind in (LogisticRegression, Wobbly)
    )
    assert_allclose(first.out_of_fold_.new, second.out_of_fold_.new, atol=1e-9)
    values = np.sqrt(np.arange(1000.0)) - 15
    assert_array_equal(steady(values), steady(values * (1 + 1e-12)))
    assert_allclose(steady(values), values, rtol=1e-6)


def test_leaves_of_stacked_features_are_twice_those_of_a_tree():
    rows = np.zeros((2000, 4))
    sample = OpenSample(rows, np.zeros(2000, dtype=int), rows, np.ones(1))
    assert coarse_forest(sample).min_leaf == 2 * smallest_leaf("auto", sample) == 40


def test_answers_come_from_models_that_did_not_see_the_row():
    # Labels are noise: a model that has seen a row knows its label, one that has not does not.
    rng = np.random.RandomState(0)
    X, codes = rng.normal(size=(120, 2)), rng.randint(2, size=120)
    sample = OpenSample(X, codes, rng.normal(size=(100, 2)), np.array([0.4, 0.4]))
    exact = KernelLogisticRegression(0.05, 1e3)
    models = fit_models(sample, [exact, exact], rng)
    answers, _ = answers_out_of_fold(sample, models, 5, rng)
    assert models[1].score(X, codes) == 1.0
    assert abs((answers[:, 1:].argmax(axis=1) == codes).mean() - 0.5) < 0.15


def test_stack_and_default_come_close_to_the_bayes_risk():
    X, codes, X_new, _ = samples(250, seed=3)
    for rule in (RejectionStack(classifier=QUICK), RejectionClassifier()):
        rule.set_params(random_state=0).fit(X, codes, X_new, SHARES[:2])
        risk, excess = rule.risk_, excess_risk(rule.rule_)
        assert excess < 0.05
        assert abs(risk.risk - BAYES_RISK - excess) < 3 * risk.standard_error
        # Out of bag and in the end the rule says much the same: the transductive labels are usable.
        assert (rule.predict_new() == rule.predict(X_new)).mean() > 0.85


def test_the_default_is_the_mean_of_those_it_names():
    X, codes, X_new, _ = samples(200, seed=4)
    members = [RejectionKernel(bandwidth=1.0, ridge=1e-2, rank=40), RejectionForest(10)]
    rule = RejectionClassifier(members, random_state=0).fit(X, codes, X_new, SHARES[:2])
    mixed = rule.rule_
    assert set(mixed.names) <= {
        "RejectionKernel",
        "RejectionForest",
        "calibrated RejectionKernel",
    }
    assert len(mixed.losses) == 5
    by_hand = np.mean([part.probabilities(X_new) for part in mixed.rules], axis=0)
    assert_allclose(rule.predict_proba(X_new), by_hand)


def test_a_useless_mean_gives_way_to_the_good_member():
    X, codes, X_new, _ = samples(400, seed=5)
    blind = RejectionKernel(bandwidth=100.0, ridge=1e3, rank=40)  # a constant
    good = RejectionKernel(bandwidth=1.0, ridge=1e-2, rank=40)
    rule = RejectionClassifier([blind, blind, good], random_state=0)
    rule.fit(X, codes, X_new, SHARES[:2])
    assert len(rule.rule_.losses) == 6
    assert rule.rule_.names == ("RejectionKernel 3",)


def test_same_seed_same_rule():
    X, codes, X_new, _ = samples(120, seed=6)
    rule = RejectionStack(RejectionForest(5), QUICK, random_state=3)
    one, two = (rule.fit(X, codes, X_new, SHARES[:2]).predict_proba(X_new) for _ in range(2))
    assert_array_equal(one, two)


def test_one_known_class_is_enough():
    rng = np.random.default_rng(0)
    X, X_new = (
        rng.normal(size=(80, 2)),
        np.vstack([rng.normal(size=(60, 2)), rng.normal(6, 1, (60, 2))]),
    )
    rule = RejectionClassifier(random_state=0).fit(X, np.full(80, "one"), X_new, [0.5])
    assert (rule.predict(X_new[:60]) == "one").mean() > 0.9
    assert (rule.predict(X_new[60:]) == "unseen").mean() > 0.9


@pytest.mark.parametrize("members", [[], [LogisticRegression()]])
def test_members_must_be_rules(members):
    X, codes, X_new, _ = samples(40, seed=0)
    with pytest.raises(TypeError, match="members must be one or more rejection rules; got"):
        RejectionClassifier(members).fit(X, codes, X_new, SHARES[:2])


@pytest.mark.parametrize("n_neighbors", [[0], [1.5], []])
def test_neighbours_must_be_counted(n_neighbors):
    X, codes, X_new, _ = samples(40, seed=0)
    with pytest.raises(ValueError, match="n_neighbors must be whole numbers >= 1; got"):
        RejectionStack(classifier=QUICK, n_neighbors=n_neighbors).fit(X, codes, X_new, SHARES[:2])


def test_the_default_rule_calls_as_many_rows_unseen_as_are_estimated_to_be() -> None:
    X, codes, X_new, hidden = samples(400, seed=3)
    rule = RejectionClassifier([RejectionForest(20)], random_state=0).fit(
        X, codes, X_new, SHARES[:-1]
    )
    called = rule.predict_new() == -1
    assert_allclose(called.mean(), SHARES[-1], atol=0.03)
    assert np.mean(called == (hidden == len(SHARES) - 1)) > 0.7
    by_argmax = rule.with_threshold(cost=1).predict_new()
    assert_array_equal(by_argmax, rule.classes_[rule.out_of_fold_.new.argmax(axis=1)])
    assert rule.with_threshold(reject_rate="estimated").threshold_ != 0.5
