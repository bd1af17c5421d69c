"""Detectors and classifiers as reject rules: the cut has the least estimated risk."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm, spearmanr
from sklearn.covariance import EmpiricalCovariance
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, OneClassSVM

from unseen.rejection.metrics import known_accuracy, open_macro_f1
from unseen.rejection.risk import open_risk
from unseen.rejection.threshold import Cut, RejectionThreshold, risk_by_cut

SHARES = [0.45, 0.25]


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, ...]:
    """Two known classes and one unseen, between them and far enough to stand out."""
    rng = np.random.default_rng(1)
    centres = np.array([[-4.0, 0.0], [4.0, 0.0], [0.0, 7.0]])
    codes = np.repeat([0, 1], 120)
    hidden = rng.choice(3, 300, p=[*SHARES, 0.3])
    names = np.array(["left", "right", "unseen"])
    X, X_new = rng.normal(centres[codes]), rng.normal(centres[hidden])
    return X, names[codes], X_new, names[hidden]


class Distance(EmpiricalCovariance):
    """A detector with PyOD's sign: decision_function is high where a row is odd."""

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        return self.mahalanobis(X)


@pytest.mark.parametrize("seed", range(3))
def test_risk_by_cut_is_the_risk_at_every_cut(seed) -> None:
    rng = np.random.default_rng(seed)
    codes, shares = np.arange(40) % 2, np.array([0.5, 0.3])
    known, new = rng.normal(size=40).round(1), rng.normal(0.5, 1, 50).round(1)
    labels = np.where(rng.random(40) < 0.8, codes, 1 - codes)
    cuts, risks = risk_by_cut(known, codes, labels == codes, new, shares)
    assert (np.diff(cuts) > 0).all()
    for cut, risk in zip(cuts, risks, strict=True):
        # Which known label a new row gets does not enter the risk.
        predicted, new_codes = np.where(known >= cut, 2, labels), np.where(new >= cut, 2, 0)
        assert_allclose(open_risk(predicted, codes, new_codes, shares).risk, risk, atol=1e-12)


def test_the_cut_finds_the_best_one_of_a_closed_form() -> None:
    rng = np.random.default_rng(0)
    # Known N(0, 1), unseen N(4, 1), one half each: unseen is the more probable from 2 on.
    X, X_new = rng.normal(0, 1, 3000), np.append(rng.normal(0, 1, 1500), rng.normal(4, 1, 1500))
    cuts, risks = risk_by_cut(
        X, np.zeros(3000, dtype=int), np.ones(3000, bool), X_new, np.array([0.5])
    )
    assert abs(cuts[risks.argmin()] - 2) < 0.35
    assert_allclose(risks.min(), norm.sf(2), atol=0.015)


@pytest.mark.parametrize(
    "detector",
    [
        IsolationForest(n_estimators=50),
        OneClassSVM(nu=0.1, gamma=0.1),
        LocalOutlierFactor(novelty=True),
        make_pipeline(StandardScaler(), OneClassSVM(nu=0.1)),
    ],
    ids=["forest", "svm", "lof", "pipeline"],
)
def test_detectors_become_rules(rows, detector) -> None:
    X, y, X_new, truth = rows
    rule = RejectionThreshold(detector, GaussianNB(), random_state=0)
    labels = rule.fit_predict_new(X, y, X_new, SHARES)
    assert open_macro_f1(truth, labels) > 0.85
    assert abs(rule.risk_.risk - np.mean(labels != truth)) < 3 * rule.risk_.standard_error
    # The detector of all rows scores on the scale of those of the folds.
    assert np.mean(rule.predict(X_new) == labels) > 0.9
    own = detector.fit(X).score_samples(X_new)
    assert spearmanr(rule.novelty_score(X_new), -own).statistic > 0.9


def test_the_default_labels_with_a_kernel_classifier(rows) -> None:
    X, y, X_new, truth = rows
    rule = RejectionThreshold(IsolationForest(n_estimators=50), n_folds=3, random_state=0)
    labels = rule.fit(X, y, X_new, SHARES).predict(X_new)
    assert known_accuracy(truth, labels) > 0.9
    own = RejectionThreshold(random_state=0).fit(X, y, X_new, SHARES)
    known = truth != "unseen"
    assert np.mean(own.predict(X_new)[known] == truth[known]) > 0.9


def test_a_detector_that_scores_odd_rows_high(rows) -> None:
    X, y, X_new, truth = rows
    left, own = X[y == "left"], (truth == "left") | (truth == "unseen")
    new, names = X_new[own], truth[own]
    rule = RejectionThreshold(Distance(), odd_scores="high", random_state=0)
    share = np.mean(names == "left")
    labels = rule.fit(left, ["left"] * len(left), new, [share]).predict(new)
    assert np.mean(labels == names) > 0.97
    wrong = RejectionThreshold(Distance(), random_state=0)
    wrong.fit(left, ["left"] * len(left), new, [share])
    assert np.mean(wrong.predict(new) == names) < 0.8
    theirs = type("Theirs", (Distance,), {"__module__": "pyod.models.far"})
    by_module = RejectionThreshold(theirs(), random_state=0)
    by_module.fit(left, ["left"] * len(left), new, [share])
    assert np.mean(by_module.predict(new) == labels) == 1


def test_a_classifier_rejects_by_its_largest_probability() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 200)
    X = rng.normal(np.where(y, 4, -4), 1)[:, None]
    hidden = rng.choice(3, 500, p=[*SHARES, 0.3])
    X_new = rng.normal(np.array([-4.0, 4.0, 0.0])[hidden], 1)[:, None]
    truth = np.array([0, 1, -1])[hidden]
    rule = RejectionThreshold(LogisticRegression(C=0.05), random_state=0)
    assert np.mean(rule.fit_predict_new(X, y, X_new, SHARES) == truth) > 0.93
    top = LogisticRegression(C=0.05).fit(X, y).predict_proba(X_new).max(axis=1)
    assert spearmanr(rule.novelty_score(X_new), -top).statistic > 0.999


def test_the_classifier_is_corrected_to_the_shares() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 500)
    X = rng.normal(2.0 * y)[:, None]
    X_new = rng.normal(np.repeat([0.0, 2.0], [900, 100]))[:, None]
    rule = RejectionThreshold(LogisticRegression(), random_state=0).fit(X, y, X_new, [0.9, 0.1])
    kept = rule.predict_proba(X_new)[:, :2].argmax(axis=1)
    # Bayes: class 1 from 1 + log(9) / 2 on.
    border = X_new[kept == 1].min()
    assert abs(border - (1 + np.log(9) / 2)) < 0.25


def test_one_known_class_needs_no_classifier(rows) -> None:
    X, y, X_new, truth = rows
    left = X[y == "left"]
    rule = RejectionThreshold(n_folds=2, random_state=0).fit(
        left, [7] * len(left), X_new, [SHARES[0]]
    )
    assert np.mean((rule.predict(X_new) == 7) == (truth == "left")) > 0.8
    assert_array_equal(rule.classes_, [7, -1])


def test_what_cannot_score_is_named(rows) -> None:
    X, y, X_new, _ = rows
    with pytest.raises(TypeError, match="detector must have score_samples"):
        RejectionThreshold(StandardScaler(), GaussianNB()).fit(X, y, X_new, SHARES)
    with pytest.raises(TypeError, match="detector must have predict_proba"):
        RejectionThreshold(SVC()).fit(X, y, X_new, SHARES)


def test_known_classes_are_weighed_by_their_shares_and_not_by_their_labelled_rows() -> None:
    rng = np.random.default_rng(0)
    X, X_new = rng.normal(np.repeat([[0.0], [1.0]], [90, 30], axis=0), 1), rng.normal(size=(60, 1))
    y = np.repeat(["a", "b"], [90, 30])
    classifier = GaussianNB()
    rule = RejectionThreshold(classifier=classifier, random_state=0).fit(X, y, X_new, [0.3, 0.5])
    raw, found = classifier.fit(X, y).predict_proba(X_new), rule.predict_proba(X_new)
    weight = (0.3 / 90) / (0.5 / 30)
    assert_allclose(found[:, 0] / found[:, 1], weight * raw[:, 0] / raw[:, 1])


def test_at_the_cut_unseen_is_as_probable_as_the_best_known_class() -> None:
    scored = np.array([[0.3, 0.9, 0.1], [0.3, 0.5, 0.5], [0.1, 0.6, 0.4], [0.7, 0.6, 0.4]])
    found = Cut(place=0.3, slope=2.0).probabilities(scored)
    assert_allclose(found.sum(axis=1), 1)
    beyond = found[:, -1] - found[:, :-1].max(axis=1)
    assert_allclose(beyond[:2], 0, atol=1e-12)
    assert beyond[2] < 0 < beyond[3]
