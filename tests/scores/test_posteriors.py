"""The record of posteriors: made out of fold, checked, and shared by all who read it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from reference.closed_twins import gaussian_posteriors, gaussian_rows
from unseen import (
    AdjustedCount,
    ClassifyAndCount,
    HallECDF,
    KernelLogisticRegression,
    KLDivergence,
    L2Distance,
    SaerensEM,
)
from unseen.scores import Posteriors, RowScores
from unseen.scores.crossfit import cross_fitter

ALL = [SaerensEM, ClassifyAndCount, AdjustedCount, L2Distance, KLDivergence, HallECDF]
BY_POSTERIORS = [SaerensEM, ClassifyAndCount, AdjustedCount, HallECDF]
each = pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
CENTRES = [[-1.0, 0.0], [1.0, 0.0], [0.0, 2.0]]


def problem(n_rows, seed, shares=(0.6, 0.1, 0.3)):
    rng = np.random.default_rng(seed)
    X, codes = gaussian_rows(CENTRES, [0.3, 0.3, 0.4], n_rows, rng)
    X_new, new_codes = gaussian_rows(CENTRES, shares, n_rows, rng)
    return X, codes, X_new, np.bincount(new_codes, minlength=3) / n_rows


def test_labelled_posteriors_come_from_models_that_did_not_see_the_row() -> None:
    """A tree grown to the end is always right on rows it has seen, even with random labels."""
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
    labelled, _ = cross_fitter(DecisionTreeClassifier()).posteriors(X, codes, X[:5], 10, 0)
    assert 0.4 < (labelled.argmax(axis=1) == codes).mean() < 0.6


def test_any_classifier_is_fitted_on_each_complement() -> None:
    X, codes, X_new, _ = problem(120, 0)
    model = LogisticRegression()
    labelled, new = cross_fitter(model).posteriors(X, codes, X_new, 4, 3)
    assert_allclose(new, model.fit(X, codes).predict_proba(X_new), atol=1e-12)
    fold_seed = np.random.RandomState(3).randint(2**31 - 1, size=6)[1]
    splits = StratifiedKFold(4, shuffle=True, random_state=fold_seed).split(X, codes)
    for train, out in splits:
        twin = model.fit(X[train], codes[train]).predict_proba(X[out])
        assert_allclose(labelled[out], twin, atol=1e-12)


def test_kernel_folds_agree_with_refitting_the_classifier() -> None:
    X, codes, X_new, _ = problem(240, 1)
    model = KernelLogisticRegression(bandwidth=2.0, C=1.0)
    labelled, new = cross_fitter(model).posteriors(X, codes, X_new, 4, 0)
    assert_allclose(new, model.fit(X, codes).predict_proba(X_new), atol=1e-6)
    seeds = np.random.RandomState(0).randint(2**31 - 1, size=6)
    splits = StratifiedKFold(4, shuffle=True, random_state=seeds[1]).split(X, codes)
    for train, out in splits:
        twin = model.fit(X[train], codes[train]).predict_proba(X[out])
        # The folds share one standardisation and one set of landmarks: close, not equal.
        assert np.abs(labelled[out] - twin).max() < 0.05


@pytest.mark.slow
def test_kernel_posteriors_come_near_the_true_ones() -> None:
    X, codes, X_new, _ = problem(2000, 2)
    labelled, new = cross_fitter().posteriors(X, codes, X_new, 10, 0)
    for rows, found in ((X, labelled), (X_new, new)):
        truth = gaussian_posteriors(rows, CENTRES, [0.3, 0.3, 0.4])
        assert np.abs(found - truth).mean() < 0.03


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [kind for kind in ALL if kind is not ClassifyAndCount],  # wrong under a shift: test_count.py
    ids=lambda kind: kind.__name__,
)
def test_shares_come_out_under_a_shift(kind) -> None:
    X, codes, X_new, truth = problem(1500, 3)
    labels = np.array(["a", "b", "c"])[codes]
    estimate = kind().set_params(random_state=0).fit(X, labels).estimate(X_new)
    assert estimate.classes == ("a", "b", "c")
    assert_allclose(estimate.proportions, truth, atol=0.06)


@each
def test_nothing_is_unseen_and_the_record_says_that_this_was_assumed(kind, samples) -> None:
    X, y, X_new = samples
    estimate = kind().set_params(random_state=0).fit(X, y).estimate(X_new)
    assert estimate.unseen == 0
    assert estimate.proportions.sum() == pytest.approx(1)
    assert not estimate.sees_unseen
    assert estimate.notices[-1].code == "closed_set"


@each
def test_one_class_is_an_error(kind) -> None:
    with pytest.raises(ValueError, match=r"at least 2 classes .* got only 'cat'.* MPEIncomplete"):
        kind().fit(np.arange(20.0)[:, None], ["cat"] * 20)


@each
def test_replicates_scatter_around_the_estimate(kind) -> None:
    X, codes, X_new, _ = problem(600, 4)
    estimator = kind().set_params(random_state=0).fit(X, codes)
    record = estimator.scores(X_new)
    found = estimator.read(record).replicates(200, 1)
    assert found.shape == (200, 4)
    assert_allclose(found.sum(axis=1), 1, atol=1e-9)
    assert (found >= 0).all()
    assert (found[:, -1] == 0).all()
    centre = estimator.from_scores(record).proportions
    spread = found[:, :-1].std(axis=0)
    assert (np.abs(found[:, :-1].mean(axis=0) - centre) < 0.5 * spread).all()
    assert_array_equal(found, estimator.read(record).replicates(200, 1))


@each
def test_intervals_hold_the_estimate(kind) -> None:
    X, codes, X_new, _ = problem(600, 5)
    estimate = kind().set_params(random_state=0).fit(X, codes).estimate(X_new, confidence=0.9)
    lower, upper = estimate.intervals[:-1].T
    assert (lower <= estimate.proportions).all()
    assert (estimate.proportions <= upper).all()
    assert (upper - lower > 0.005).all()


@pytest.mark.slow
def test_one_record_serves_every_reader() -> None:
    X, codes, X_new, _ = problem(300, 6)
    record = SaerensEM(random_state=0).fit(X, codes).scores(X_new)
    for kind in BY_POSTERIORS:
        own = kind(random_state=0).fit(X, codes).estimate(X_new)
        assert_array_equal(own.proportions, kind().from_scores(record).proportions)


def test_a_forest_may_vote_0_and_1(samples) -> None:
    X, y, X_new = samples
    forest = RandomForestClassifier(n_estimators=5)
    for kind in BY_POSTERIORS:
        estimate = kind(classifier=forest, random_state=0).fit(X, y).estimate(X_new)
        assert np.isfinite(estimate.proportions).all()


def test_fewer_new_rows_than_folds_are_enough() -> None:
    X, codes, X_new, _ = problem(100, 7)
    assert SaerensEM(random_state=0).fit(X, codes).estimate(X_new[:1]).n_new == 1


def test_a_classifier_without_posteriors_is_named(samples) -> None:
    X, y, X_new = samples
    with pytest.raises(TypeError, match="must have predict_proba; got LinearSVC"):
        SaerensEM(classifier=LinearSVC()).fit(X, y).estimate(X_new)


GOOD = [[0.8, 0.2], [0.4, 0.6]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"codes": [0]}, "one row per code"),
        ({"codes": [0, 0]}, "each of the 2 classes at least once"),
        ({"labelled": [[0.8, 0.1], [0.4, 0.6]]}, "labelled must hold posteriors"),
        ({"new": [[1.2, -0.2]]}, "new must hold posteriors"),
        ({"new": [[np.nan, 0.2]]}, "new must be finite"),
        ({"new": [[0.2, 0.3, 0.5]]}, "the columns of new"),
        ({"new": [0.2, 0.8]}, r"new must be 2-d and not empty; got shape \(2,\)"),
        ({"prior": [0.5, 0.0]}, "prior must hold 2 shares > 0"),
        ({"classes": ("a",)}, "at least 2 classes"),
    ],
)
def test_a_bad_record_is_refused(change, message) -> None:
    parts = {"classes": ("a", "b"), "codes": [0, 1], "labelled": GOOD, "new": GOOD}
    assert Posteriors(**parts).n_new == 2
    with pytest.raises(ValueError, match=message):
        Posteriors(**{**parts, **change})


def test_posteriors_need_a_column_per_class() -> None:
    wide = [[0.2, 0.3, 0.5]] * 2
    RowScores(("a", "b"), [0, 1], wide, wide)
    with pytest.raises(ValueError, match="one column per class; got 3 for 2"):
        Posteriors(("a", "b"), [0, 1], wide, wide)
