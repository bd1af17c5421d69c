"""Methods that take known classes for unmoved carry what the default finds about drift."""

from __future__ import annotations

import numpy as np
from sklearn.naive_bayes import GaussianNB

import unseen
from unseen import MPEIncomplete, OpenSetEstimator, SaerensEM
from unseen.drift import Drift, Tolerance

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(240, 6)), np.repeat([0, 1], 120)
X[Y == 1] += 4
HERE = np.vstack([RNG.normal(0, 1, (100, 6)), RNG.normal(4, 1, (100, 6))])
MOVED = HERE + np.array([2.0, 0, 0, 0, 0, 0])
QUICK = {"classifier": GaussianNB(), "n_folds": 3, "random_state": 0}


def test_every_method_that_sees_the_unseen_has_the_record_of_the_default() -> None:
    fitted = MPEIncomplete(**QUICK).fit(X, Y)
    found = fitted.estimate(MOVED, confidence=0.95)
    default = OpenSetEstimator(random_state=0).fit(X, Y)
    assert found.unseen > 0.2
    assert found.drift.to_dict() == default.from_scores(default.scores(MOVED)).drift.to_dict()
    assert found.drift.verdict != "still"
    assert found.intervals[-1, 0] == 0.0
    assert found.notices[-1].code in ("moved", "moved_unclear")
    assert "OpenSetEstimator finds" in found.notices[-1].text
    assert fitted.estimate(HERE).drift.verdict == "still"
    assert fitted.from_scores(fitted.scores(MOVED)).drift is None  # the rows are needed


def test_methods_that_are_compared_ask_once() -> None:
    methods = [MPEIncomplete(**QUICK), SaerensEM(**QUICK), MPEIncomplete(**QUICK | {"n_folds": 4})]
    first, closed, second = unseen.compare(X, Y, MOVED, methods).estimates.values()
    assert first.drift is second.drift is not None
    assert closed.drift is None


def test_a_record_that_is_given_wins() -> None:
    given = Drift("still", 0.01, Tolerance(np.zeros(0), np.zeros(0)), 0.9)
    fitted = MPEIncomplete(**QUICK).fit(X, Y)
    assert fitted.estimate(MOVED, drift=given).drift is given


def test_methods_that_ask_or_see_nothing_have_no_second_record() -> None:
    assert SaerensEM(**QUICK).fit(X, Y).estimate(MOVED).drift is None
    assert OpenSetEstimator(prior_moved=0.0, **QUICK).fit(X, Y).estimate(MOVED).drift is None
