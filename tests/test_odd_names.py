"""Names of classes and columns are only names, even where they read like a sentence of ours."""

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

import unseen
from unseen.monitoring import monitor

ODD = sorted(
    [
        "more than 1",
        "cannot see unseen classes",
        "constant_columns",
        "closed_set",
        "X has column names and X_new has none",
    ]
)
PLAIN = ["a", "b", "c", "d", "e"]  # in the same order
RNG = np.random.default_rng(0)
CENTRES = 6 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]])
X = RNG.normal(CENTRES[np.repeat(np.arange(5), 25)], 1)
X_NEW = RNG.normal(CENTRES[np.repeat(np.arange(6), 15)], 1)
ESTIMATORS = [
    unseen.OpenSetEstimator(classifier=GaussianNB()),
    unseen.MPEIncomplete(classifier=GaussianNB(), n_folds=5),
    unseen.MPEProjected(classifier=GaussianNB(), n_folds=5),
    unseen.SaerensEM(classifier=GaussianNB(), n_folds=5),
]
each = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)


def shown(estimate: unseen.Estimate) -> str:
    """Everything that a reader or a program sees."""
    return str([str(estimate), estimate.sentence(), estimate.to_dict()])


@each
def test_names_of_classes_change_nothing(estimator) -> None:
    asked = {"estimator": estimator, "random_state": 0, "confidence": None}
    plain, odd = (
        unseen.estimate(X, np.repeat(names, 25), X_NEW, **asked) for names in (PLAIN, ODD)
    )
    assert odd.classes == tuple(ODD)
    assert odd.proportions.tolist() == plain.proportions.tolist()
    assert odd.unseen == plain.unseen
    told = plain.sentence()
    if plain.drift is not None and plain.drift.moved_class is not None:  # which is named
        names = (f"class {one.drift.moved_class} alone" for one in (plain, odd))
        told = told.replace(*names)
    assert odd.sentence() == told
    assert odd.sees_unseen == plain.sees_unseen
    assert [one.code for one in odd.notices] == [one.code for one in plain.notices]


@each
def test_names_of_constant_columns_change_nothing(estimator) -> None:
    def table(rows, names: list[str]) -> pd.DataFrame:
        return pd.DataFrame(
            np.column_stack([rows, np.ones((len(rows), 5))]), columns=["x", "y", "z", *names]
        )

    plain, odd = (
        unseen.estimate(
            table(X, names),
            np.repeat(PLAIN, 25),
            table(X_NEW, names),
            estimator=estimator,
            random_state=0,
            confidence=None,
        )
        for names in (PLAIN, ODD)
    )
    told = shown(odd)
    for name, harmless in zip(ODD, PLAIN, strict=True):
        told = told.replace(f"column '{name}'", f"column '{harmless}'")
    assert told == shown(plain)
    codes = [notice.code for notice in odd.notices]
    assert codes.count("constant_columns") == 1
    assert codes.count("closed_set") == (not estimator.sees_unseen)


def test_names_of_classes_change_no_timeline() -> None:
    by = np.arange(len(X_NEW)) % 2
    plain, odd = (
        monitor(X, np.repeat(names, 25), X_NEW, by, estimator=ESTIMATORS[3], random_state=0)
        for names in (PLAIN, ODD)
    )
    for timeline in (plain, odd):
        assert [notice.code for notice in timeline.notices] == ["closed_set"]
    assert odd.shares.tolist() == plain.shares.tolist()


def test_names_of_classes_change_no_comparison() -> None:
    plain, odd = (
        unseen.compare(X, np.repeat(names, 25), X_NEW, ESTIMATORS[1:], random_state=0)
        for names in (PLAIN, ODD)
    )
    for method in plain:
        assert odd[method].proportions.tolist() == plain[method].proportions.tolist()
        assert odd[method].unseen == plain[method].unseen
