"""compare: the answers of each estimator alone, from scores that are made only once."""

from dataclasses import replace
from functools import wraps

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import unseen
from unseen import (
    BestBin,
    BinaryRescaled,
    ClassifyAndCount,
    Comparison,
    HallECDF,
    L2Distance,
    MPEIncomplete,
    MPEJoint,
    MPEProjected,
    SaerensEM,
    compare,
)
from unseen._names import public_names
from unseen.proportions import ProportionEstimator, all_estimators
from unseen.samples.draws import draw_by_class
from unseen.scores import PairScorer, PosteriorScorer, TwoClassScorer


@pytest.fixture
def counted(monkeypatch) -> list[str]:
    """Names of the scorers that scored, in turn."""
    calls = []
    for kind in (PairScorer, TwoClassScorer, PosteriorScorer):
        made = kind.score

        @wraps(made)
        def score(self, labelled, X_new, *rest, made=made, name=kind.__name__):
            if type(self).__name__ == name:  # and not through a scorer that builds on this one
                calls.append(name)
            return made(self, labelled, X_new, *rest)

        monkeypatch.setattr(kind, "score", score)
    return calls


QUICK = {"classifier": GaussianNB(), "n_folds": 3}


def without_drift(found: unseen.Estimate) -> dict:
    """The answer without what it says of drift, which the default has told of the same rows."""
    notices = tuple(one for one in found.notices if one.code not in ("moved", "moved_unclear"))
    return replace(found, drift=None, notices=notices).to_dict()


def test_answers_are_those_of_each_estimator_alone(samples) -> None:
    chosen = all_estimators(2)
    for estimator in chosen:
        estimator.set_params(
            **{name: value for name, value in QUICK.items() if name in estimator.get_params()}
        )
    together = compare(*samples, chosen, random_state=0)
    assert list(together) == [type(estimator).__name__ for estimator in chosen]
    for estimator in chosen:
        alone = unseen.estimate(*samples, estimator=estimator, confidence=None, random_state=0)
        beside = together[type(estimator).__name__]
        assert without_drift(beside) == without_drift(alone)
        if estimator.sees_unseen:
            assert beside.drift == together["OpenSetEstimator"].drift
            assert alone.drift is not None
        assert estimator.get_params()["random_state"] is None


def test_every_exported_estimator_is_there_by_default(samples) -> None:
    X, y, X_new = samples
    two = {type(estimator).__name__ for estimator in all_estimators(2)}
    kinds = [getattr(unseen, name) for name in public_names()]
    exported = {
        kind.__name__
        for kind in kinds
        if isinstance(kind, type)
        and issubclass(kind, ProportionEstimator)
        and kind is not ProportionEstimator
    }
    assert two == exported
    assert len(two) >= 10
    three = {type(estimator).__name__ for estimator in all_estimators(3)}
    assert two - three == {"BinaryRescaled"}
    comparison = compare(X[y == "left"], y[y == "left"], X_new, random_state=0)
    assert "MPEIncomplete" in comparison
    closed_set = {"MPEProjected", "MPEJoint", "SaerensEM", "BinaryRescaled"}
    assert closed_set.isdisjoint(comparison)


def test_closed_set_methods_say_that_they_are(samples) -> None:
    for name, estimate in compare(*samples, random_state=0).items():
        told = [notice for notice in estimate.notices if notice.code == "closed_set"]
        assert bool(told) == (estimate.unseen == 0) == (not estimate.sees_unseen)
        assert [notice.text for notice in told] == [
            f"{name} assumes that every new row belongs to a known class: it cannot see unseen "
            "classes."
        ][: len(told)]


def test_each_kind_of_score_is_made_once(samples, counted) -> None:
    chosen = [
        MPEIncomplete(**QUICK),
        SaerensEM(**QUICK),
        MPEProjected(**QUICK),
        BinaryRescaled(**QUICK),
        MPEJoint(**QUICK),
        ClassifyAndCount(classifier=GaussianNB()),
        HallECDF(**QUICK),
        MPEJoint(closed=False, **QUICK, n_jobs=2),
    ]
    compare(*samples, chosen, random_state=0)
    default = ["PosteriorScorer"]  # which is asked whether classes moved, once
    assert sorted(counted) == [*default, "PosteriorScorer", "TwoClassScorer"]


def test_other_settings_are_scored_anew(samples, counted) -> None:
    chosen = {
        "bayes": MPEIncomplete(**QUICK),
        "linear": MPEIncomplete(classifier=LogisticRegression(), n_folds=3),
        "bayes, 4 folds": MPEIncomplete(classifier=GaussianNB(), n_folds=4),
        "bayes, repeated": MPEIncomplete(**QUICK, n_repeats=2),
        "smoother bayes": MPEIncomplete(classifier=GaussianNB(var_smoothing=0.1), n_folds=3),
        "bayes, best bin": MPEIncomplete(method=BestBin(), **QUICK),
    }
    compare(*samples, chosen, random_state=0)
    assert len(counted) == 5 + 1  # and the default, which is asked whether classes moved


def test_raw_rows_are_not_taken_for_posteriors(samples) -> None:
    X, y, X_new = (value if value.ndim == 1 else value[:, :1] for value in samples)
    chosen = [HallECDF(raw=True, **QUICK), SaerensEM(**QUICK)]
    comparison = compare(X, y, X_new, chosen, random_state=0)
    for estimator in chosen:
        alone = unseen.estimate(X, y, X_new, estimator=estimator, confidence=None, random_state=0)
        assert comparison[type(estimator).__name__].to_dict() == alone.to_dict()


def test_seeds(samples) -> None:
    own = {"own": MPEIncomplete(random_state=3, **QUICK), "none": MPEProjected(**QUICK)}
    drawn = compare(*samples, own)
    assert drawn["own"].seed == 3
    again = compare(*samples, own, random_state=drawn["none"].seed)
    assert again["none"].to_dict() == drawn["none"].to_dict()
    assert again["own"].seed == drawn["none"].seed
    assert own["own"].random_state == 3


def test_a_random_state_of_an_estimator_draws_one_seed(samples) -> None:
    chosen = [SaerensEM(**QUICK), MPEIncomplete(**QUICK)]
    for estimator in chosen:
        estimator.set_params(random_state=np.random.RandomState(3))
    comparison = compare(*samples, chosen)
    for estimator in chosen:
        estimator.set_params(random_state=np.random.RandomState(3))
        alone = unseen.estimate(*samples, estimator=estimator, confidence=None)
        assert comparison[type(estimator).__name__].to_dict() == alone.to_dict()


def test_a_classifier_that_cannot_be_pickled_compares(samples) -> None:
    model = make_pipeline(FunctionTransformer(lambda rows: 2 * rows), GaussianNB())
    chosen = [kind(classifier=model, n_folds=3) for kind in (SaerensEM, MPEIncomplete)]
    comparison = compare(*samples, chosen, random_state=0)
    for estimator in chosen:
        alone = unseen.estimate(*samples, estimator=estimator, confidence=None, random_state=0)
        assert comparison[type(estimator).__name__].to_dict() == alone.to_dict()


def test_names(samples) -> None:
    twice = [MPEJoint(**QUICK), MPEJoint(closed=False, **QUICK), L2Distance()]
    names = list(compare(*samples, twice, random_state=0))
    assert names == [
        "MPEJoint(classifier=GaussianNB(), n_folds=3)",
        "MPEJoint(classifier=GaussianNB(), closed=False, n_folds=3)",
        "L2Distance",
    ]
    with pytest.raises(ValueError, match=r"estimators must differ; got L2Distance\(\) more than"):
        compare(*samples, [L2Distance(), L2Distance()])
    with pytest.raises(ValueError, match="estimates must hold at least one estimate; got none"):
        compare(*samples, [])


@pytest.mark.parametrize("call", [unseen.estimate, compare])
def test_two_new_rows_are_too_few_and_the_error_says_so(samples, call) -> None:
    X, y, X_new = samples
    with pytest.raises(ValueError, match=r"^X_new must have at least n_folds=10 rows, .*; got 2\."):
        call(X, y, X_new[:2], random_state=0)


def test_the_table_and_its_other_forms(samples) -> None:
    comparison = compare(*samples, [MPEIncomplete(**QUICK), MPEProjected(**QUICK)], random_state=0)
    one = comparison["MPEIncomplete"]
    lines = str(comparison).splitlines()
    assert lines[0].split() == ["left", "right", "unseen"]
    expected = [f"{share:.3f}" for share in (*one.proportions, one.unseen)]
    assert lines[1].split() == ["MPEIncomplete", *expected]
    assert lines[2].split()[-1] == "-"  # MPEProjected cannot see the unseen
    assert lines[-1] == "100 new rows"
    assert repr(comparison) == str(comparison)
    assert f"<td>{expected[0]}</td>" in comparison._repr_html_()
    frame = comparison.to_frame()
    assert frame["estimator"].tolist() == ["MPEIncomplete"] * 3 + ["MPEProjected"] * 3
    assert frame["share"][:3].tolist() == [*one.proportions, one.unseen]
    assert comparison.to_dict()["MPEIncomplete"] == one.to_dict()
    assert (len(comparison), comparison.classes) == (2, ("left", "right"))
    assert dict(comparison.items()) == comparison.estimates
    with pytest.raises(KeyError, match="no estimate 'EM'; there are MPEIncomplete, MPEProjected"):
        comparison["EM"]


def test_estimates_of_other_classes_do_not_compare(samples) -> None:
    X, y, X_new = samples
    one = unseen.estimate(X, y, X_new, estimator=MPEIncomplete(**QUICK), random_state=0)
    other = unseen.estimate(
        X, np.where(y == "left", "l", "r"), X_new, estimator=MPEIncomplete(**QUICK), random_state=0
    )
    with pytest.raises(ValueError, match="estimates must share their classes; got"):
        Comparison({"one": one, "other": other})


@pytest.mark.slow
def test_the_defaults_answer_as_they_would_alone(samples) -> None:
    chosen = [unseen.OpenSetEstimator(), MPEIncomplete(), SaerensEM()]
    comparison = compare(*samples, chosen, random_state=0)
    for estimator in chosen:
        alone = unseen.estimate(*samples, estimator=estimator, confidence=None, random_state=0)
        assert without_drift(comparison[type(estimator).__name__]) == without_drift(alone)


def test_intervals_come_by_themselves(samples) -> None:
    estimate = unseen.estimate(*samples, estimator=MPEIncomplete(**QUICK), random_state=0)
    assert estimate.confidence == 0.95
    assert estimate.intervals.shape == (3, 2)


def test_new_rows_of_unequal_length_are_named(samples) -> None:
    X, y, _ = samples
    with pytest.raises(ValueError, match="X_new must have rows of one length"):
        unseen.estimate(X, y, [[1.0, 2.0], [3.0]])


def test_of_very_many_rows_a_part_is_drawn_and_said(samples) -> None:
    X, y, X_new = samples
    quick = MPEIncomplete(**QUICK)
    found = unseen.estimate(X, y, X_new, estimator=quick, max_rows=80, random_state=0)
    assert sum(found.n_labelled.values()) == found.n_new == 80
    assert [notice.about is None for notice in found.notices if notice.code == "rows_drawn"]
    again = unseen.estimate(X, y, X_new, estimator=quick, max_rows=80, random_state=0)
    assert again.to_dict() == found.to_dict()
    every = unseen.estimate(X, y, X_new, estimator=quick, max_rows=None, random_state=0)
    assert every.n_new == len(X_new)
    assert "rows_drawn" not in {notice.code for notice in every.notices}
    with pytest.raises(ValueError, match="max_rows must be at least 10 or None; got 3"):
        unseen.estimate(X, y, X_new, max_rows=3)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=6), st.integers(5, 120))
@settings(deadline=None, max_examples=50)
def test_small_classes_are_drawn_whole_and_of_the_others_equally_many(sizes, most) -> None:
    codes = np.repeat(np.arange(len(sizes)), sizes)
    drawn = draw_by_class(codes, most, np.random.default_rng(0))
    counts = np.bincount(codes[drawn], minlength=len(sizes))
    assert len(np.unique(drawn)) == len(drawn) <= most or len(codes) <= most
    cut = counts < np.array(sizes)
    assert len(set(counts[cut].tolist())) <= 1
    if cut.any():
        assert counts[~cut].max(initial=0) <= counts[cut].max()
        assert most - len(drawn) < cut.sum()


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"drift": "moved"}, TypeError, "drift must be the drift of another estimate.*got 'moved'"),
        ({"confidence": "0.9"}, ValueError, "confidence must lie strictly between.*got '0.9'"),
        ({"progress": "bar"}, TypeError, "progress must be a function of a share.*got 'bar'"),
    ],
)
def test_arguments_of_another_kind_are_named(samples, options, kind, words) -> None:
    with pytest.raises(kind, match=words):
        unseen.estimate(*samples, **{"confidence": None} | options)


@pytest.mark.parametrize("estimators", ["EM", [unseen.SaerensEM], {"em": "EM"}])
def test_only_estimators_are_compared(samples, estimators) -> None:
    with pytest.raises(TypeError, match="estimators must be such as MPEIncomplete"):
        unseen.compare(*samples, estimators)
