"""The shares that a classifier takes for granted: found from its posteriors, and allowed for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq, minimize
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import unseen
from reference.closed_twins import gaussian_posteriors, gaussian_rows
from unseen import ClassifyAndCount, SaerensEM
from unseen.scores import Posteriors
from unseen.scores.calibration import (
    SPREAD,
    BiasCorrectedTemperature,
    Rescaling,
    assumed_shares,
    needed_rescaling,
    probable_rescaling,
)

CENTRES = [[0.0, 0.0], [2.0, 0.0]]


def rows_of(shares, n_rows, seed):
    return gaussian_rows(CENTRES, shares, n_rows, np.random.default_rng(seed))


@pytest.mark.parametrize("prior", [(0.5, 0.5), (0.2, 0.8), (0.99, 0.01)])
def test_the_prior_of_exact_posteriors_is_found(prior) -> None:
    X, codes = rows_of([0.9, 0.1], 20_000, 0)
    found = assumed_shares(gaussian_posteriors(X, CENTRES, prior), codes)
    # The odds of the prior are told by 2,000 rows of the smaller class.
    assert_allclose(np.log(found[1] / found[0]), np.log(prior[1] / prior[0]), atol=0.1)


def test_corrected_posteriors_have_the_label_shares_as_means() -> None:
    """A slow twin: with two classes the correction is one number, found by bisection."""
    X, codes = rows_of([0.7, 0.3], 300, 1)
    posteriors = gaussian_posteriors(X, CENTRES, [0.3, 0.7])
    labels = np.bincount(codes) / len(codes)

    def excess(odds: float) -> float:
        tilted = posteriors[:, 1] * np.exp(odds)
        return float((tilted / (posteriors[:, 0] + tilted)).mean() - labels[1])

    twin = labels * np.exp([0.0, -brentq(excess, -9, 9)])
    assert_allclose(assumed_shares(posteriors, codes), twin / twin.sum(), atol=1e-5)


def test_posteriors_at_the_label_shares_are_left_alone() -> None:
    X, codes = rows_of([0.9, 0.1], 400, 2)
    scores = (
        SaerensEM(classifier=LogisticRegression(), random_state=0)
        .fit(X, codes)
        .scores(X[:50] + 1e-3)
    )
    assert_allclose(scores.prior, np.bincount(codes) / len(codes), atol=1e-15)
    assert not scores.notices


def test_classes_that_lie_apart_do_not_tell_the_prior() -> None:
    """Their mean posteriors differ from the label shares by a row or two, whatever the prior."""
    codes = np.repeat([0, 1], 50)
    posteriors = np.where(codes[:, None] == [0, 1], 0.999, 0.001)
    posteriors[0] = [0.001, 0.999]
    assert_allclose(assumed_shares(posteriors, codes), [0.5, 0.5])


def test_calibrated_posteriors_are_rescaled_once_in_a_hundred() -> None:
    rescaled = 0
    for seed in range(200):
        X, codes = rows_of([0.6, 0.4], 150, seed)
        rescaled += needed_rescaling(gaussian_posteriors(X, CENTRES, [0.6, 0.4]), codes) is not None
    # 200 draws at 1% exceed 7 in one case of a thousand.
    assert rescaled <= 7


def test_posteriors_that_are_too_sure_are_rescaled_before_shares_are_read() -> None:
    X, codes = rows_of([0.5, 0.5], 400, 5)
    X_new, _ = rows_of([0.8, 0.2], 400, 6)
    calm, calm_new = (gaussian_posteriors(rows, CENTRES, [0.5, 0.5]) for rows in (X, X_new))
    sure, sure_new = (p**4 / (p**4).sum(axis=1, keepdims=True) for p in (calm, calm_new))
    rescaling = needed_rescaling(sure, codes)
    assert rescaling is not None
    assert_allclose(rescaling.temperature, 4, rtol=0.25)
    record = Posteriors((0, 1), codes, sure, sure_new, rescaling=rescaling)
    twin = BiasCorrectedTemperature().fit(calm, codes)
    assert_allclose(record.ratios @ record.training_shares, 1.0)
    assert_allclose(
        SaerensEM().from_scores(record).proportions,
        SaerensEM().from_scores(Posteriors((0, 1), codes, twin(calm), twin(calm_new))).proportions,
        atol=1e-4,
    )


def test_the_probable_rescaling_is_the_peak_of_its_posterior() -> None:
    """A slow twin: the product of likelihood and prior, climbed without derivatives."""
    X, codes = rows_of([0.6, 0.4], 60, 7)
    flat = gaussian_posteriors(X, CENTRES, [0.4, 0.6]) ** 0.5
    flat /= flat.sum(axis=1, keepdims=True)

    def height(parameters) -> float:
        log_temperature, *bias = parameters
        found = Rescaling(float(np.exp(log_temperature)), np.array(bias))(flat)
        prior = np.square(parameters).sum() / (2 * 0.5**2)
        return float(prior - np.log(found[np.arange(60), codes]).sum())

    options = {"xatol": 1e-9, "fatol": 1e-12, "maxiter": 2000}
    twin = minimize(height, np.zeros(3), method="Nelder-Mead", options=options).x
    found = probable_rescaling(flat, codes, spread=SPREAD)
    assert_allclose(np.log(found.temperature), twin[0], atol=1e-3)
    assert_allclose(found.bias, twin[1:], atol=1e-3)


def test_rows_of_classes_that_lie_apart_say_nothing_of_a_bias() -> None:
    codes = np.repeat([0, 1], 20)
    sure = np.where(codes[:, None] == [0, 1], 0.999, 0.001)
    assert_allclose(probable_rescaling(sure, codes, spread=SPREAD).bias, 0.0, atol=0.01)


def test_shares_are_read_off_calibrated_posteriors() -> None:
    """Posteriors that are half as sure, and tilted, give the shares of exact ones."""
    X, codes = rows_of([0.5, 0.5], 4000, 8)
    X_new, _ = rows_of([0.8, 0.2], 4000, 9)
    exact, exact_new = (gaussian_posteriors(rows, CENTRES, [0.5, 0.5]) for rows in (X, X_new))
    flat, flat_new = (p**0.5 * [1.0, 1.5] for p in (exact, exact_new))
    flat, flat_new = (p / p.sum(axis=1, keepdims=True) for p in (flat, flat_new))
    record = Posteriors((0, 1), codes, flat, flat_new)
    off, found, wanted = (
        SaerensEM().from_scores(one).proportions
        for one in (record, record.calibrated, Posteriors((0, 1), codes, exact, exact_new))
    )
    assert_allclose(found, wanted, atol=0.005)
    assert abs(off - wanted).max() > 0.05
    assert record.calibrated.calibrated is record.calibrated


def test_windows_are_calibrated_as_all_rows_are() -> None:
    X, codes = rows_of([0.5, 0.5], 100, 10)
    posteriors = gaussian_posteriors(X, CENTRES, [0.5, 0.5])
    record = Posteriors((0, 1), codes, posteriors, posteriors)
    window = record.window(np.arange(30))
    assert window.calibrated.rescaling is record.calibrated.rescaling
    assert window.rescaling is None
    assert_allclose(window.calibrated.ratios, record.calibrated.ratios[:30])
    without_labelled = Posteriors((0, 1), codes, None, posteriors).window(np.arange(30))
    assert without_labelled.n_new == 30


def test_no_vote_says_half_a_vote() -> None:
    """Shares by votes of 30 balanced trees, against those by the odds that the trees vote with."""
    off = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        (X, codes), (X_new, _) = (
            rows_of([0.9, 0.1], 1000, seed),
            rows_of([0.6, 0.4], 500, seed + 10),
        )
        rare = (gaussian_posteriors(rows, CENTRES, [0.5, 0.5])[:, 1] for rows in (X, X_new))
        rare = (rng.binomial(30, odds) / 30 for odds in rare)
        labelled, new = (np.column_stack([1 - votes, votes]) for votes in rare)
        rescaling = needed_rescaling(labelled, codes)
        assert rescaling.zero == pytest.approx(1 / 60)
        by_votes = Posteriors((0, 1), codes, labelled, new, rescaling=rescaling)
        exact = Posteriors((0, 1), codes, None, gaussian_posteriors(X_new, CENTRES, [0.9, 0.1]))
        found, wanted = (SaerensEM().from_scores(one).proportions for one in (by_votes, exact))
        off.append(abs(found[1] - wanted[1]))
    # With 1e-15 for no vote, the mean is 0.2.
    assert np.mean(off) < 0.1


@pytest.fixture(scope="module")
def shares_by_classifier():
    """Shares of 900:100 Gaussians at 300:200, by three classifiers."""
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(0, 1, (900, 2)), rng.normal([3, 0], 1, (100, 2))])
    y = np.repeat(["common", "rare"], [900, 100])
    X_new = np.vstack([rng.normal(0, 1, (300, 2)), rng.normal([3, 0], 1, (200, 2))])
    kinds = {
        "as it is": LogisticRegression(),
        "balanced": LogisticRegression(class_weight="balanced"),
        "forest": RandomForestClassifier(50, class_weight="balanced"),
    }
    return {
        name: unseen.estimate(
            X,
            y,
            X_new,
            estimator=unseen.OpenSetEstimator(classifier=kind, n_folds=3),
            random_state=0,
            confidence=None,
        )
        for name, kind in kinds.items()
    }


def test_balanced_classes_do_not_change_the_shares(shares_by_classifier) -> None:
    plain = shares_by_classifier["as it is"]
    for name in ("balanced", "forest"):
        found = shares_by_classifier[name]
        assert_allclose(found.proportions, plain.proportions, atol=0.03)
        assert abs(found.unseen - plain.unseen) < 0.03


def test_a_notice_names_the_class_and_both_shares(shares_by_classifier) -> None:
    codes = {name: [n.code for n in one.notices] for name, one in shares_by_classifier.items()}
    assert "other_prior" not in codes["as it is"]
    notices = [n for n in shares_by_classifier["balanced"].notices if n.code == "other_prior"]
    assert [(n.severity, n.about) for n in notices] == [("note", "rare")]
    assert "10% of the labelled rows" in notices[0].text


def test_counts_stay_those_of_the_classifier_itself() -> None:
    X, codes = rows_of([0.9, 0.1], 400, 4)
    model = LogisticRegression(class_weight="balanced")
    record = SaerensEM(classifier=model, random_state=0).fit(X, codes).scores(X + 1e-9)
    counted = ClassifyAndCount().from_scores(record).proportions
    assert_allclose(counted, np.bincount(model.fit(X, codes).predict(X)) / len(X))
