"""MPE-Incomplete: Eq. (4), the unseen rest, and one set of scores for many estimators."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB

import unseen
from reference.pair_scores import ODD, gaussian_pairs
from unseen import BestBin, CertifiedBound, KernelMean, MPEIncomplete, ROCSlope, UnseenWarning
from unseen.proportions.per_class.incomplete import incomplete_shares
from unseen.scores import PairScores

gaussian_scores = partial(gaussian_pairs, n=2000)
slopes = st.lists(st.floats(0, 1), min_size=1, max_size=6)


@settings(deadline=None, max_examples=50)
@given(slopes)
def test_shares_are_the_slopes_and_the_rest_is_unseen(raw: list[float]) -> None:
    *proportions, rest = incomplete_shares(raw)
    assert min(proportions) >= 0
    assert 0 <= rest <= 1
    assert_allclose(sum(proportions) + rest, 1, atol=1e-12)
    if sum(raw) <= 1:
        assert_array_equal(proportions, raw)
    else:
        assert rest == pytest.approx(0, abs=1e-12)


def test_each_share_is_the_mixture_proportion_of_its_class() -> None:
    scores = gaussian_scores([0.5, 0.2])
    estimate = MPEIncomplete().from_scores(scores)
    for label, pair in zip("ab", scores.pairs, strict=True):
        mixture = ROCSlope().from_scores(*pair)
        assert estimate[label] == mixture.proportion
        assert estimate.roc[label].right_slope == mixture.roc.right_slope
    assert_allclose(estimate.proportions, [0.5, 0.2], atol=0.04)
    assert estimate.unseen == pytest.approx(1 - estimate.proportions.sum())
    assert estimate.diagnostics["slope_total"] == pytest.approx(estimate.proportions.sum())
    assert (estimate.seed, estimate.notices) == (5, (ODD,))
    assert estimate.n_labelled == {"a": 2000, "b": 2000}


def test_slopes_above_one_in_sum_are_projected_and_it_says_so() -> None:
    estimate = MPEIncomplete().from_scores(gaussian_scores([0.9, 0.6]))
    raw = np.array([estimate.roc[label].right_slope for label in "ab"])
    assert raw.sum() > 1.2
    assert_allclose(estimate.proportions, raw - (raw.sum() - 1) / 2, atol=1e-12)
    assert estimate.unseen == pytest.approx(0, abs=1e-12)
    assert estimate.notices[-1].code == "overfull"
    assert estimate.notices[-1].text == (
        f"the slopes of the known classes sum to {raw.sum():.3f}, more than 1 beyond noise; the "
        "nearest shares that sum to 1 are given, so the unseen share is 0."
    )


def test_any_mixture_method_can_read_the_scores() -> None:
    scores = gaussian_scores([0.4])
    estimate = MPEIncomplete(method=BestBin()).from_scores(scores)
    assert estimate["a"] == BestBin().from_scores(*scores.pairs[0]).proportion


def test_a_method_that_draws_is_seeded_too(samples) -> None:
    X, y, X_new = samples
    estimator = MPEIncomplete(method=KernelMean(max_rows=20), random_state=0).fit(X, y)
    assert estimator.estimate(X_new).to_dict() == estimator.estimate(X_new).to_dict()
    assert estimator.method.random_state is None


def test_a_bound_is_not_an_estimate(samples) -> None:
    X, y, _ = samples
    with pytest.raises(ValueError, match="The 'method' parameter of MPEIncomplete must be"):
        MPEIncomplete(method=CertifiedBound()).fit(X, y)


def test_scores_are_made_once_and_read_by_many(samples) -> None:
    X, y, X_new = samples
    scores = MPEIncomplete(random_state=0).fit(X, y).scores(X_new)
    for method in (None, BestBin()):
        estimator = MPEIncomplete(method=method, random_state=0).fit(X, y)
        read, asked = estimator.from_scores(scores), estimator.estimate(X_new)
        assert read.drift is None  # which takes the rows themselves
        assert replace(asked, drift=None, notices=read.notices).to_dict() == read.to_dict()


def mean_error(errors: list[float]) -> float:
    return float(np.mean(np.abs(errors)))


@pytest.mark.slow
def test_the_default_finds_the_shares(draws) -> None:
    """Mean errors over 20 draws or more of nearly twice the rows: .022, .016 and .007."""
    estimates = [unseen.estimate(*draw, random_state=0, confidence=None) for draw in draws[:2]]
    assert mean_error([estimate.unseen - 0.3 for estimate in estimates]) < 0.045
    assert mean_error([estimate["left"] - 0.5 for estimate in estimates]) < 0.035
    assert mean_error([estimate["right"] - 0.2 for estimate in estimates]) < 0.02


@pytest.mark.slow
def test_one_known_class_is_the_positive_unlabelled_problem(draws) -> None:
    """Mean error over 20 draws of nearly twice the rows was .031."""
    estimates = [
        unseen.estimate(X[y == "left"], y[y == "left"], X_new, random_state=0, confidence=None)
        for X, y, X_new in draws[:2]
    ]
    assert estimates[0].classes == ("left",)
    assert mean_error([estimate.unseen - 0.5 for estimate in estimates]) < 0.06


@pytest.mark.slow
def test_a_known_class_may_be_missing_from_the_new_rows(draws) -> None:
    """Mean error over 20 draws of nearly twice the rows was .020."""
    estimates = [
        unseen.estimate(
            X, y, np.delete(X_new, np.s_[300:420], axis=0), random_state=0, confidence=None
        )
        for X, y, X_new in draws[:2]
    ]
    assert max(estimate["right"] for estimate in estimates) < 0.01
    assert mean_error([estimate.unseen - 180 / 480 for estimate in estimates]) < 0.045


@pytest.mark.slow
def test_any_classifier_can_score(draws) -> None:
    """Mean error over 20 draws of nearly twice the rows was .013."""
    by_bayes = MPEIncomplete(classifier=GaussianNB())
    estimates = [
        unseen.estimate(*draw, estimator=by_bayes, random_state=0, confidence=None)
        for draw in draws
    ]
    assert mean_error([estimate.unseen - 0.3 for estimate in estimates]) < 0.03


def test_counts_of_rows_are_kept(samples) -> None:
    estimate = unseen.estimate(*samples, random_state=0, confidence=None)
    assert estimate.n_labelled == {"left": 60, "right": 50}
    assert estimate.n_new == 100


def test_the_recorded_seed_repeats_the_estimate(samples) -> None:
    X, y, X_new = samples
    quick = {"estimator": MPEIncomplete(classifier=GaussianNB(), n_folds=5), "confidence": None}
    first = unseen.estimate(X, y, X_new, **quick)
    again = unseen.estimate(X, y, X_new, **quick, random_state=first.seed)
    assert again.to_dict() == first.to_dict()
    generator = np.random.RandomState(3)
    drawn = unseen.estimate(X, y, X_new, **quick, random_state=generator)
    assert drawn.seed == np.random.RandomState(3).randint(np.iinfo(np.int32).max)


def test_one_call_copies_the_estimator_and_seeds_it(samples) -> None:
    X, y, X_new = samples
    estimator = MPEIncomplete(method=BestBin(), n_folds=3, random_state=1)
    given = {"estimator": estimator, "confidence": None, "random_state": 4}
    estimate = unseen.estimate(X, y, X_new, **given)
    assert estimator.random_state == 1
    assert not hasattr(estimator, "classes_")
    assert estimate.seed == 4
    direct = estimator.set_params(random_state=4).fit(X, y).estimate(X_new)
    assert estimate.to_dict() == direct.to_dict()


def test_notices_of_a_class_name_it() -> None:
    tiny = PairScores(("a",), ((np.zeros(4), np.zeros(4)),))
    mixture = ROCSlope().from_scores(*tiny.pairs[0])
    expected = {(notice.code, f"class 'a': {notice.text}") for notice in mixture.notices}
    found = MPEIncomplete().from_scores(tiny).notices
    assert found
    assert expected <= {(notice.code, notice.text) for notice in found}
    assert {notice.about for notice in found} == {"a"}
    assert all(notice.text.startswith("class 'a': ") for notice in found)


def test_oddities_of_the_rows_reach_the_record(samples) -> None:
    X, y, X_new = samples
    flat = np.column_stack([X, np.ones(len(X))])
    flat_new = np.column_stack([X_new, np.ones(len(X_new))])
    flat_new[:2] = flat[:2]
    frame = pd.DataFrame(flat, columns=list("abcd"))
    with pytest.warns(UnseenWarning, match="2 of 100 new rows are also among the labelled rows"):
        estimate = unseen.estimate(frame, y, flat_new, random_state=0)
    first = estimate.notices[:3]
    codes = ["names_on_one_side", "constant_columns", "rows_in_both"]
    assert [notice.code for notice in first] == codes
    assert tuple(notice.text for notice in first) == (
        "X has column names and X_new has none: columns were matched by their order.",
        "1 of 4 features are constant over X and X_new and carry no information: column 'd'.",
        "2 of 100 new rows are also among the labelled rows, value for value. If they come from "
        "the training data, take them out: they pull the shares towards their classes.",
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_folds": 1}, "The 'n_folds' parameter of MPEIncomplete must be an int"),
        ({"n_repeats": 0}, "The 'n_repeats' parameter of MPEIncomplete must be an int"),
        ({"method": "slope"}, "The 'method' parameter of MPEIncomplete must be"),
        ({"classifier": "svm"}, "The 'classifier' parameter of MPEIncomplete must"),
    ],
)
def test_bad_parameters_are_named(parameters, message, samples) -> None:
    X, y, _ = samples
    with pytest.raises(ValueError, match=message):
        MPEIncomplete(**parameters).fit(X, y)


def test_estimate_before_fit(samples) -> None:
    with pytest.raises(NotFittedError, match="This MPEIncomplete instance is not fitted yet"):
        MPEIncomplete().estimate(samples[2])


def test_too_few_rows_for_the_folds(samples) -> None:
    X, y, X_new = samples
    with pytest.raises(ValueError, match=r"each class must have at least n_folds=51 rows.*'right'"):
        MPEIncomplete(n_folds=51).fit(X, y).estimate(X_new)


def test_scores_must_match_the_classes() -> None:
    pair = (np.zeros(3), np.zeros(3))
    message = r"pairs must hold one pair of scores per class; got 1 for 2 classes\."
    with pytest.raises(ValueError, match=message):
        PairScores(("a", "b"), (pair,))
