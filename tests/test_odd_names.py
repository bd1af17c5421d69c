"""Names of classes and columns are only names, even where they read like a sentence of ours."""

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

import unseen
from unseen.monitoring import monitor

# All come before "right", so that the classes keep their order.
ODD = [
    "more than 1",
    "cannot see unseen classes",
    "constant_columns",
    "closed_set",
    "X has column names and X_new has none",
]
ESTIMATORS = [
    unseen.OpenSetEstimator(classifier=GaussianNB()),
    unseen.MPEIncomplete(classifier=GaussianNB(), n_folds=5),
    unseen.MPEProjected(classifier=GaussianNB(), n_folds=5),
    unseen.SaerensEM(classifier=GaussianNB(), n_folds=5),
]
each = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
each_name = pytest.mark.parametrize("name", ODD)


def shown(estimate: unseen.Estimate) -> str:
    """Everything that a reader or a program sees."""
    return str([str(estimate), estimate.sentence(), estimate.to_dict()])


@each
@each_name
def test_the_name_of_a_class_changes_nothing(estimator, name, samples) -> None:
    X, y, X_new = samples
    plain, odd = (
        unseen.estimate(
            X, np.where(y == "left", label, y), X_new, estimator=estimator, random_state=0
        )
        for label in ("known", name)
    )
    assert odd[name] == plain["known"]
    assert odd["right"] == plain["right"]
    assert odd.unseen == plain.unseen
    assert odd.sentence() == plain.sentence()
    assert odd.sees_unseen == plain.sees_unseen
    assert [one.code for one in odd.notices] == [one.code for one in plain.notices]


@each
@each_name
def test_the_name_of_a_constant_column_changes_nothing(estimator, name, samples) -> None:
    X, y, X_new = samples

    def table(rows, last: str) -> pd.DataFrame:
        return pd.DataFrame(np.column_stack([rows, np.ones(len(rows))]), columns=[*"abc", last])

    plain, odd = (
        unseen.estimate(
            table(X, last),
            y,
            table(X_new, last),
            estimator=estimator,
            random_state=0,
            confidence=None,
        )
        for last in ("flat", name)
    )
    assert shown(odd).replace(f"column '{name}'", "column 'flat'") == shown(plain)
    codes = [notice.code for notice in odd.notices]
    assert codes.count("constant_columns") == 1
    assert codes.count("closed_set") == (not estimator.sees_unseen)


@each_name
def test_the_name_of_a_class_changes_no_timeline(name, samples) -> None:
    X, y, X_new = samples
    by = np.arange(len(X_new)) % 2
    timelines = [
        monitor(
            X, np.where(y == "left", label, y), X_new, by, estimator=ESTIMATORS[3], random_state=0
        )
        for label in ("known", name)
    ]
    codes = [[notice.code for notice in timeline.notices] for timeline in timelines]
    assert codes[0] == codes[1] == ["closed_set"]
    plain, odd = ([one.unseen for one in timeline.estimates] for timeline in timelines)
    assert plain == odd


@each_name
def test_the_name_of_a_class_changes_no_comparison(name, samples) -> None:
    X, y, X_new = samples
    chosen = ESTIMATORS[1:]
    plain, odd = (
        unseen.compare(X, np.where(y == "left", label, y), X_new, chosen, random_state=0)
        for label in ("known", name)
    )
    for method in plain:
        assert odd[method][name] == plain[method]["known"]
        assert odd[method].unseen == plain[method].unseen
