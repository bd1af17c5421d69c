"""The plug-in rule: with true posteriors it is the Bayes rule; with good ones it is close."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from reference.closed_form import CENTRES, SHARES, excess_risk, samples
from unseen import KernelLogisticRegression
from unseen.rejection.plugin import OneModel, RejectionPlugIn, TwoModels, posterior


def densities(X):
    """Of two known classes and of the new rows."""
    parts = norm.pdf(np.asarray(X)[:, :1] - CENTRES)
    return np.column_stack([parts[:, :2], parts @ SHARES])


class TruePosteriors(ClassifierMixin, BaseEstimator):
    """Knows the densities, and needs only to count the rows of each task."""

    def fit(self, X, y):
        self.classes_, self.counts_ = np.unique(y, return_counts=True)
        # Of two samples, one holds as many rows of either class only in the task of the classes.
        self.pooled_ = len(self.classes_) == 2 and self.counts_[0] != self.counts_[1]
        return self

    def predict_proba(self, X):
        p = densities(X)
        if len(self.classes_) == 3:
            columns = p
        elif self.pooled_:
            columns = np.column_stack([p[:, :2].mean(axis=1), p[:, 2]])
        else:
            columns = p[:, :2]
        weighted = columns * self.counts_
        return weighted / weighted.sum(axis=1, keepdims=True)


def bayes(X):
    parts = SHARES * norm.pdf(X[:, :1] - CENTRES)
    return parts / parts.sum(axis=1, keepdims=True)


def balanced(n, seed):
    """As many rows of the one known class as of the other, so that their pool is known."""
    X, codes, X_new, hidden = samples(4 * n, seed)
    rows = np.concatenate([np.flatnonzero(codes == k)[:n] for k in (0, 1)])
    return X[rows], codes[rows], X_new, hidden


@pytest.mark.parametrize("form", [OneModel(), TwoModels()])
def test_true_posteriors_give_the_bayes_rule(form):
    X, codes, X_new, _ = balanced(200, seed=0)
    rule = RejectionPlugIn(TruePosteriors(), form, calibrate=False, random_state=0)
    rule.fit(X, codes, X_new, SHARES[:2])
    assert_allclose(rule.predict_proba(X_new), bayes(X_new), atol=1e-9)
    assert abs(excess_risk(rule.rule_)) < 1e-3


@pytest.mark.parametrize("form", [OneModel(), TwoModels()])
def test_fitted_posteriors_come_close_to_the_bayes_risk_and_are_calibrated(form):
    X, codes, X_new, hidden = samples(2000, seed=1)
    smooth = KernelLogisticRegression(1.0, 10.0, rank=60)
    rule = RejectionPlugIn(smooth, form, random_state=0).fit(X, codes, X_new, SHARES[:2])
    assert excess_risk(rule.rule_) < 0.04
    chances = rule.out_of_fold_.new
    for label in range(3):
        for low in (0.1, 0.4, 0.7):
            inside = (chances[:, label] >= low) & (chances[:, label] < low + 0.2)
            truth = (hidden[inside] == label).mean()
            assert abs(truth - chances[inside, label].mean()) < 0.12


def test_chances_above_one_leave_nothing_unseen():
    found = posterior(np.array([[0.2, 0.3], [3.0, 1.0], [0.0, 0.0]]))
    assert_allclose(found, [[0.2, 0.3, 0.5], [0.75, 0.25, 0.0], [0.0, 0.0, 1.0]])


def test_forms_agree_when_one_class_is_known():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 1)), np.zeros(80, dtype=int)
    X_new = np.vstack([rng.normal(size=(60, 1)), rng.normal(5, 1, (60, 1))])
    found = [
        RejectionPlugIn(LogisticRegression(), form, calibrate=False, random_state=0)
        .fit(X, y, X_new, [0.5])
        .predict_proba(X_new)
        for form in (OneModel(), TwoModels())
    ]
    assert_allclose(*found, atol=1e-6)
