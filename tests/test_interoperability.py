"""Tables of other libraries, scikit-learn's pipelines and searches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import unseen

COLUMNS = ["x", "y", "z"]


def torch_tensor(values: np.ndarray) -> Any:
    return pytest.importorskip("torch").as_tensor(values)


def named(rows: np.ndarray) -> dict[str, np.ndarray]:
    return {name: rows[:, column] for column, name in enumerate(COLUMNS)}


TABLES = {
    "pandas": lambda rows: pd.DataFrame(named(rows)),
    "pandas on arrow": lambda rows: pd.DataFrame(named(rows)).convert_dtypes(
        dtype_backend="pyarrow"
    ),
    "polars": lambda rows: pl.DataFrame(named(rows)),
    "pyarrow": lambda rows: pa.table(named(rows)),
    "pyarrow batch": lambda rows: pa.record_batch(named(rows)),
    "torch": torch_tensor,
}
SERIES = {
    "list": np.ndarray.tolist,
    "pandas": pd.Series,
    "pandas categories": lambda y: pd.Series(y).astype("category"),
    "pandas nullable": lambda y: pd.Series(y).convert_dtypes(),
    "polars": pl.Series,
    "pyarrow": pa.array,
    "pyarrow chunks": lambda y: pa.chunked_array([y[:30], y[30:]]),
    "torch": torch_tensor,
}
KINDS = {"str": ["left", "right"], "int": [3, 7], "bool": [False, True]}
# Rows are read before any method sees them.
QUICK = unseen.SaerensEM(n_folds=5, random_state=0)
each_table = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)


def shares(estimate: unseen.Estimate) -> np.ndarray:
    return np.append(estimate.proportions, estimate.unseen)


@pytest.fixture(scope="module")
def sizes() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(-3, 1, (60, 3)), rng.normal(3, 1, (60, 3))])
    X_new = np.vstack([rng.normal(-3, 1, (60, 3)), rng.normal([-3, 3, 9], 1, (40, 3))])
    return X, np.repeat(["left", "right"], 60), X_new


# A table stored by columns sums in another order, which moves the last digits.
CLOSE = {"rtol": 0, "atol": 1e-6}


@pytest.fixture(scope="module")
def expected(sizes) -> unseen.Estimate:
    return unseen.estimate(*sizes, estimator=QUICK, confidence=0.9, random_state=0)


@each_table
def test_a_table_gives_the_shares_of_its_numbers(table, sizes, expected) -> None:
    X, y, X_new = sizes
    asked = {"estimator": QUICK, "confidence": 0.9, "random_state": 0}
    found = unseen.estimate(table(X), y, table(X_new), **asked)
    assert_allclose(shares(found), shares(expected), **CLOSE)
    assert_allclose(found.intervals, expected.intervals, **CLOSE)


@each_table
def test_a_table_gives_the_labels_of_its_numbers(table, sizes) -> None:
    X, y, X_new = sizes
    rule = unseen.RejectionForest(n_trees=10, random_state=0)
    expected = clone(rule).fit(X, y, X_new, [0.6, 0.0])
    found = clone(rule).fit(table(X), y, table(X_new), [0.6, 0.0])
    assert_array_equal(found.predict_new(), expected.predict_new())
    assert_array_equal(found.predict(table(X_new)), expected.predict(X_new))
    assert_allclose(found.predict_proba(table(X_new)), expected.predict_proba(X_new), atol=1e-12)


@each_table
def test_a_table_gives_the_risk_of_its_numbers(table, sizes) -> None:
    X, y, X_new = sizes
    classifier = GaussianNB().fit(table(X), y)
    expected = unseen.open_set_risk(GaussianNB().fit(X, y), X, y, X_new, [0.6, 0.0])
    found = unseen.open_set_risk(classifier, table(X), y, table(X_new), [0.6, 0.0])
    assert_allclose(found.risk, expected.risk, atol=1e-12)


@pytest.mark.parametrize(
    ("series", "kind"),
    [
        (series, kind)
        for series in SERIES
        for kind in KINDS
        if not (series == "torch" and kind == "str")
    ],
)
def test_labels_come_back_as_they_were(series, kind, sizes) -> None:
    X, y, X_new = sizes
    labels = np.array(KINDS[kind])[(y == "right").astype(int)]
    asked = {"estimator": unseen.SaerensEM(classifier=GaussianNB(), n_folds=3), "random_state": 0}
    expected = unseen.estimate(X, labels, X_new, **asked, confidence=None)
    found = unseen.estimate(X, SERIES[series](labels), X_new, **asked, confidence=None)
    assert_array_equal(shares(found), shares(expected))
    assert list(found.classes) == KINDS[kind]
    assert {type(label) for label in found.classes} == {type(KINDS[kind][0])}


def test_columns_are_matched_by_name_across_libraries(sizes) -> None:
    X, y, X_new = sizes
    fitted = unseen.MPEIncomplete(classifier=GaussianNB(), random_state=0)
    fitted.fit(pd.DataFrame(named(X)), y)
    expected = fitted.estimate(pd.DataFrame(named(X_new)))
    for other in (pl.DataFrame(named(X_new)), pa.table(named(X_new))):
        assert_allclose(shares(fitted.estimate(other)), shares(expected), **CLOSE)
    with pytest.raises(ValueError, match="X_new must have the columns of X in the same order"):
        fitted.estimate(pl.DataFrame(named(X_new)).select(COLUMNS[::-1]))


def test_results_go_out_as_tables(expected) -> None:
    estimate, frame = expected, expected.to_frame()
    for table in (pl.from_pandas(frame), pl.from_arrow(pa.Table.from_pandas(frame))):
        assert table["class"].to_list() == ["left", "right", "unseen"]
        assert_array_equal(table["share"], shares(estimate))
        assert_array_equal(table["upper"], estimate.intervals[:, 1])
    plain = pl.DataFrame({"class": [*estimate.classes, "unseen"], "share": shares(estimate)})
    assert_array_equal(plain["share"], frame["share"])


def goods(seed: int = 0) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    """Sizes with gaps and colours; 90 of 240 new rows are large and grey, which no known row is."""
    rng = np.random.default_rng(seed)

    def rows(count: int, centre: float, colours: list[str]) -> pd.DataFrame:
        size = np.where(rng.random(count) < 0.1, np.nan, rng.normal(centre, 1, count))
        weight = rng.normal(centre, 1, count)
        return pd.DataFrame({"size": size, "weight": weight, "colour": rng.choice(colours, count)})

    X = pd.concat([rows(150, -3, ["red", "blue"]), rows(150, 3, ["blue", "green"])])
    X_new = pd.concat([rows(150, -3, ["red", "blue"]), rows(90, 9, ["grey"])])
    return X, np.repeat(["left", "right"], 150), X_new


def columns() -> ColumnTransformer:
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    return ColumnTransformer(
        [
            ("numbers", numbers, ["size", "weight"]),
            ("words", OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["colour"]),
        ]
    )


@pytest.mark.parametrize(
    "table", [lambda t: t, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "arrow"]
)
def test_a_proportion_estimator_ends_a_pipeline(table) -> None:
    X, y, X_new = goods()
    estimator = unseen.MPEIncomplete(classifier=LogisticRegression(), random_state=0)
    pipeline = make_pipeline(columns(), estimator).fit(table(X), y)
    found = pipeline[-1].estimate(pipeline[:-1].transform(table(X_new)))
    prepared = columns().fit(X)
    by_hand = unseen.estimate(
        prepared.transform(X),
        y,
        prepared.transform(X_new),
        estimator=estimator,
        confidence=None,
    )
    assert_allclose(shares(found), shares(by_hand), **CLOSE)
    assert abs(found.unseen - 90 / 240) < 0.05


def test_compare_and_monitor_take_the_tables_that_estimate_takes() -> None:
    """Text and gaps are prepared alike, so that one estimator gives one answer."""
    X, y, X_new = goods()
    quick = unseen.MPEIncomplete(classifier=GaussianNB(), n_folds=3, random_state=0)
    alone = unseen.estimate(X, y, X_new, estimator=quick, confidence=None)
    compared = unseen.compare(X, y, X_new, [quick])["MPEIncomplete"]
    assert_array_equal(shares(compared), shares(alone))
    assert compared.notices == alone.notices
    half = np.repeat(["known", "both"], [75, 165])
    timeline = unseen.monitor(X, y, X_new, half, reference="training", estimator=quick)
    assert timeline["known"].unseen < 0.1 < 0.4 < timeline["both"].unseen
    of_tables = {"new_category", "prepared"}
    assert of_tables <= {notice.code for notice in timeline.notices}
    assert of_tables <= {notice.code for notice in alone.notices}


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_what_set_output_makes_is_read_with_its_names(output) -> None:
    X, y, X_new = goods()
    prepared = columns().set_output(transform=output).fit(X)
    fitted = unseen.MPEIncomplete(classifier=GaussianNB(), random_state=0)
    fitted.fit(prepared.transform(X), y)
    assert list(fitted.feature_names_in_) == list(prepared.get_feature_names_out())
    bare = columns().fit(X)
    expected = clone(fitted).fit(bare.transform(X), y).estimate(bare.transform(X_new))
    assert_allclose(shares(fitted.estimate(prepared.transform(X_new))), shares(expected), **CLOSE)


def open_pipeline(rule: unseen.RejectionForest) -> Pipeline:
    rule.set_fit_request(X_new=True, proportions=True)
    return Pipeline([("columns", columns()), ("rule", rule)], transform_input=["X_new"])


def test_a_rule_ends_a_pipeline_and_gets_prepared_new_rows() -> None:
    X, y, X_new = goods()
    given = {"left": 150 / 240, "right": 0.0}
    prepared = columns().fit(X)
    rule = unseen.RejectionForest(n_trees=20, random_state=0)
    expected = clone(rule).fit(prepared.transform(X), y, prepared.transform(X_new), given)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = open_pipeline(rule).fit(X, y, X_new=X_new, proportions=given)
    assert_array_equal(pipeline[-1].predict_new(), expected.predict_new())
    assert_array_equal(pipeline.predict(X_new), expected.predict(prepared.transform(X_new)))
    assert set(pipeline.predict(X_new)) == {"left", "unseen"}


def test_without_new_rows_a_rule_in_a_pipeline_is_an_ordinary_classifier() -> None:
    X, y, _ = goods()
    pipeline = make_pipeline(columns(), unseen.RejectionForest(n_trees=20, random_state=0))
    assert pipeline.fit(X, y).score(X, y) > 0.95
    assert set(pipeline.classes_) == {"left", "right"}


def test_parameters_reach_through_a_pipeline_and_a_clone() -> None:
    pipeline = make_pipeline(columns(), unseen.OpenSetEstimator(n_folds=7))
    copy = clone(pipeline).set_params(opensetestimator__n_folds=4)
    assert pipeline.get_params()["opensetestimator__n_folds"] == 7
    assert copy[-1].n_folds == 4
    inner = unseen.MPEIncomplete(classifier=LogisticRegression(C=3.0))
    assert clone(inner).set_params(classifier__C=5.0).classifier.C == 5.0
    assert inner.get_params()["classifier__C"] == 3.0


class Wary(KNeighborsClassifier):
    """A user's own: says "unseen" to rows further than ``furthest`` from every labelled row."""

    def __init__(self, furthest: float = 1.0, n_neighbors: int = 3) -> None:
        super().__init__(n_neighbors=n_neighbors)
        self.furthest = furthest

    def predict(self, X: Any) -> np.ndarray:
        distance, _ = self.kneighbors(X, n_neighbors=1)
        return np.where(distance[:, 0] > self.furthest, "unseen", super().predict(X))


@pytest.mark.parametrize("table", [np.asarray, TABLES["pandas"], TABLES["polars"]])
def test_a_search_finds_the_setting_that_the_true_labels_favour(table, sizes) -> None:
    X, y, X_new = sizes
    truth = np.repeat(["left", "unseen"], [60, 40])
    scorer = unseen.open_set_scorer(table(X_new), {"left": 0.6, "right": 0.0})
    grid = {"furthest": [0.1, 4.0, 100.0]}
    search = GridSearchCV(Wary(), grid, scoring=scorer, cv=3).fit(table(X), y)
    errors = {
        furthest: np.mean(Wary(furthest).fit(X, y).predict(X_new) != truth)
        for furthest in grid["furthest"]
    }
    assert search.best_params_["furthest"] == min(errors, key=errors.get) == 4.0
    assert_allclose(-search.best_score_, errors[4.0], atol=0.05)


def test_a_search_over_a_rule_itself_with_rows_held_back_for_the_scorer(sizes) -> None:
    X, y, X_new = sizes
    given = {"left": 0.6, "right": 0.0}
    rule = unseen.RejectionHistogram(random_state=0)
    with sklearn.config_context(enable_metadata_routing=True):
        rule.set_fit_request(X_new=True, proportions=True)
        scorer = unseen.open_set_scorer(X_new[1::2], given)
        search = GridSearchCV(rule, {"n_folds": [2, 5]}, scoring=scorer, cv=3, error_score="raise")
        search.fit(X, y, X_new=X_new[::2], proportions=given)
    assert -search.best_score_ < 0.3


def test_a_table_that_is_not_in_memory_is_named(sizes) -> None:
    X, y, _ = sizes
    message = r"X must be a table in memory; got LazyFrame. Call its collect\(\) first."
    with pytest.raises(TypeError, match=message):
        unseen.MPEIncomplete().fit(pl.DataFrame(named(X)).lazy(), y)


def test_the_order_of_memory_changes_nothing(sizes) -> None:
    X, y, X_new = sizes
    one = unseen.estimate(X, y, X_new, random_state=0, confidence=None)
    other = unseen.estimate(
        np.asfortranarray(X), y, np.asfortranarray(X_new), random_state=0, confidence=None
    )
    assert_array_equal(one.proportions, other.proportions)


@pytest.mark.parametrize("kind", list(KINDS))
def test_frames_of_any_labels_can_be_written(kind, tmp_path) -> None:
    known = tuple(sorted(KINDS[kind]))
    rows = {"n_labelled": dict.fromkeys(known, 5), "n_new": 9}
    frame = unseen.Estimate(known, [0.4, 0.3], 0.3, "m", **rows).to_frame()
    frame.to_parquet(tmp_path / "shares.parquet")
    again = pd.read_parquet(tmp_path / "shares.parquet")
    assert tuple(again["class"][again["known"]]) == known
    assert pl.from_pandas(frame).height == 3


def test_the_risk_of_a_pipeline_that_takes_text() -> None:
    table = pd.DataFrame({"colour": ["red", "blue"] * 20, "y": ["a", "b"] * 20})
    model = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(table[["colour"]], table["y"])
    new = pd.DataFrame({"colour": ["red"] * 30 + ["blue"] * 10})
    found = unseen.open_set_risk(model, table[["colour"]], table["y"], new, {"a": 0.5, "b": 0.25})
    # Nobody says "unseen": all its share is wrong, and nothing else is.
    assert found.risk == pytest.approx(0.25)
