"""Windows, the change tests, the record, and all of it together."""

from __future__ import annotations

import json
from datetime import date, datetime
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import unseen
from unseen.drift import Drift, Tolerance
from unseen.monitoring import Timeline, monitor
from unseen.monitoring.change import (
    ClassProbabilities,
    _novelty_beyond_classes,
    _p_value,
    _permuted_means,
    change_p_values,
)
from unseen.monitoring.run import _notices, find_windows, windows_of
from unseen.monitoring.timeline import holm
from unseen.records import Estimate, Notice

CENTRES = np.array([[-3.0, 0.0], [3.0, 0.0], [0.0, 5.0]])


def drawn(rng: np.random.Generator, counts: tuple[int, ...]) -> np.ndarray:
    """Rows of two known classes, and of an unseen one where a third count is given."""
    return np.vstack(
        [rng.normal(CENTRES[place], 1, (count, 2)) for place, count in enumerate(counts)]
    )


def labelled(rng: np.random.Generator, count: int = 80) -> tuple[np.ndarray, list[str]]:
    return drawn(rng, (count, count)), ["left"] * count + ["right"] * count


def probabilities(rng: np.random.Generator, codes: np.ndarray, labelled_codes: np.ndarray):
    """Noisy probabilities of rows of two known classes (0 and 1) and of an unseen one (2).

    Rows of class 1 look newer than rows of class 0.
    """

    def rows(classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        first = np.clip(
            np.array([0.85, 0.2, 0.5])[classes] + rng.normal(0, 0.1, len(classes)), 0, 1
        )
        novelty = np.array([0.05, 0.25, 0.7])[classes] + rng.normal(0, 0.05, len(classes))
        return np.column_stack([first, 1 - first]), np.clip(novelty, 0, 1)

    known, novelty = rows(codes)
    known_labelled, novelty_labelled = rows(labelled_codes)
    return ClassProbabilities(known, known_labelled, novelty, novelty_labelled, labelled_codes)


class TestHolm:
    @pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
    def test_rejects_what_the_step_down_procedure_rejects(self, alpha):
        rng = np.random.default_rng(0)
        for _ in range(50):
            p_values = rng.beta(0.3, 1.0, rng.integers(1, 12))
            rejected = np.zeros(len(p_values), dtype=bool)
            for step, place in enumerate(np.argsort(p_values)):
                if p_values[place] > alpha / (len(p_values) - step):
                    break
                rejected[place] = True
            np.testing.assert_array_equal(holm(p_values) <= alpha, rejected)

    def test_windows_that_are_not_tested_do_not_count(self):
        np.testing.assert_array_equal(holm([np.nan, 0.03]), [np.nan, 0.03])
        found = holm([0.01, np.nan, 0.04, 0.03])
        np.testing.assert_allclose(found, [0.03, np.nan, 0.06, 0.06])


class TestWindows:
    @pytest.mark.parametrize(
        ("by", "keys"),
        [
            (["b2", "b10", "a", "b2"], ("a", "b2", "b10")),
            (["10", "-1", "0", "-2"], ("-2", "-1", "0", "10")),
            (["1.5", "1.25", "-3", "1e1"], ("-3", "1.25", "1.5", "1e1")),
            ([10, -1, 0, -2], (-2, -1, 0, 10)),
            ([2, 10, 1, 2], (1, 2, 10)),
            ([date(2024, 5, 2), date(2023, 6, 1)] * 2, (date(2023, 6, 1), date(2024, 5, 2))),
            (np.array([True, False, True, True]), (False, True)),
            ([np.int64(2), np.int64(1)] * 2, (1, 2)),
            (pd.Series([(2, 1), (1, 2)] * 2), ((1, 2), (2, 1))),
            (pl.Series(["x", "y", "x", "x"]), ("x", "y")),
        ],
    )
    def test_keys_in_order(self, by, keys):
        assert tuple(windows_of(by, 4)) == keys

    def test_windows_part_the_rows_that_have_a_key(self):
        by = pd.to_datetime(pd.Series(["2024-01-02", None, "2024-01-01", "2024-01-02"]))
        windows = windows_of(by, 4)
        assert [rows.tolist() for rows in windows.values()] == [[2], [0, 3]]

    @pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
    def test_rows_without_a_key_are_in_no_window(self, missing):
        (rows,) = windows_of(np.array(["a", missing], dtype=object), 2).values()
        assert rows.tolist() == [0]

    def test_a_date_may_be_named_by_its_text(self):
        by = pd.to_datetime(pd.Series(["2024-01-01", "2024-01-02"]))
        assert find_windows([*windows_of(by, 2)], "2024-01-02") == [1]
        assert find_windows([*windows_of(by, 2)], datetime(2024, 1, 2)) == [1]
        with pytest.raises(ValueError, match="leave a window to compare with it; got all, '2024-"):
            find_windows([*windows_of(by, 2)], ["2024-01-02", "2024-01-01"])
        assert find_windows([*windows_of(list("cab"), 3)], ["b", "a", "b"]) == [0, 1]
        assert find_windows([*windows_of(list("cab"), 3)], None) == [0]

    @pytest.mark.parametrize(
        ("by", "kind", "message"),
        [
            (["a"], ValueError, r"one key per row of X_new, 2; got shape \(1,\)"),
            ([["a", "b"], ["a", "b"]], ValueError, r"got shape \(2, 2\)"),
            (["a", 1], TypeError, "keys of one kind that can be sorted; got int, str"),
            ([None, None], ValueError, "at least one row; got 2 missing keys"),
        ],
    )
    def test_errors(self, by, kind, message):
        with pytest.raises(kind, match=message):
            windows_of(by, 2)


class TestChangeTests:
    def test_permuted_means_are_means(self):
        values = np.random.default_rng(0).normal(size=(7, 2))
        window, reference = _permuted_means(values, 3, 50, np.random.default_rng(1))
        np.testing.assert_allclose(window[0], values[:3].mean(axis=0))
        np.testing.assert_allclose(reference[0], values[3:].mean(axis=0))
        np.testing.assert_allclose(3 * window + 4 * reference, np.tile(values.sum(axis=0), (51, 1)))

    def test_p_values_are_those_of_all_permutations(self):
        """Slow twin: every way to choose the window, textbook statistics."""
        rng = np.random.default_rng(3)
        rows = probabilities(rng, rng.choice(3, 10, p=[0.5, 0.3, 0.2]), np.repeat([0, 1], 30))
        psi, shares = beyond_classes_slowly(rows)
        noise = [np.var(psi[1][rows.codes == k]) / 30 for k in (0, 1)]
        covariance = np.linalg.pinv(np.cov(rows.new.T))
        found = []
        for chosen in combinations(range(10), 4):
            window = np.isin(np.arange(10), chosen)
            d = rows.new[window].mean(axis=0) - rows.new[~window].mean(axis=0)
            new = psi[0]
            variance = new[window].var() / 4 + new[~window].var() / 6
            variance += (
                np.square(shares[window].mean(axis=0) - shares[~window].mean(axis=0)) @ noise
            )
            t = (new[window].mean() - new[~window].mean()) / np.sqrt(variance)
            found.append([d @ covariance @ d, abs(t)])
        exact = (np.array(found) >= found[0] * (1 - 1e-9 * np.ones(2))).mean(axis=0)
        got = change_p_values(rows, 4, 20_000, random_state=0)
        # They end after a hundred that are as extreme: an error of p / 10, at most.
        assert (np.abs(got - exact) < 4 * exact * np.sqrt((1 - exact) / 100)).all()

    def test_p_values_that_end_early_are_exact(self):
        """Where all orders are equally likely, P(p <= x) <= x; 4,000 trials, 3 standard errors."""
        rng = np.random.default_rng(0)
        ranks = rng.random(4000)
        found = np.array([_p_value(rng.random(1999) < rank) for rank in ranks])
        for x in (0.01, 0.05, 0.3, 0.8):
            assert (found <= x).mean() < x + 3 * np.sqrt(x * (1 - x) / 4000)
        assert np.corrcoef(found, ranks)[0, 1] > 0.99
        assert _p_value(np.array([False, True, False, False])) == 0.4
        assert _p_value(np.ones(500, dtype=bool)) == 1.0

    def test_a_small_p_value_counts_all_permutations(self):
        rng = np.random.default_rng(1)
        sample = np.repeat([0, 1], 30)
        rows = probabilities(rng, np.repeat([0, 2], [40, 40]), sample)
        assert change_p_values(rows, 40, 777, random_state=0) == (1 / 778, 1 / 778)

    def test_novelty_beyond_classes_has_one_mean_in_all_known_classes(self):
        rng = np.random.default_rng(0)
        rows = probabilities(rng, rng.integers(3, size=50), rng.integers(2, size=200))
        (_, labelled_psi), _ = beyond_classes_slowly(rows)
        means = [labelled_psi[rows.codes == k].mean() for k in (0, 1)]
        np.testing.assert_allclose(means, 0, atol=1e-12)
        np.testing.assert_allclose(
            _novelty_beyond_classes(rows)[0][:, 0], beyond_classes_slowly(rows)[0][0]
        )

    @pytest.mark.slow
    def test_known_classes_may_change_without_a_false_alarm_for_the_unseen(self):
        """Half of class 0 becomes class 1, which looks newer; 200 trials, 3 standard errors."""
        rng = np.random.default_rng(0)
        alarms, found = np.zeros(2), 0
        for _ in range(200):
            window = rng.choice(3, 150, p=[0.2, 0.6, 0.2])
            reference = rng.choice(3, 150, p=[0.6, 0.2, 0.2])
            more = rng.choice(3, 150, p=[0.1, 0.5, 0.4])
            sample = np.repeat([0, 1], 60)
            rows = probabilities(rng, np.append(window, reference), sample)
            alarms += np.array(change_p_values(rows, 150, 199, rng)) <= 0.05
            rows = probabilities(rng, np.append(more, reference), sample)
            found += change_p_values(rows, 150, 199, rng)[1] <= 0.05
        assert alarms[0] == 200
        assert alarms[1] / 200 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)
        assert found / 200 > 0.9

    def test_no_change_at_all_is_p_value_one(self):
        rows = ClassProbabilities(
            np.ones((20, 1)), np.ones((5, 1)), np.full(20, 0.3), np.full(5, 0.3), np.zeros(5, int)
        )
        assert change_p_values(rows, 10, 99, 0) == (1.0, 1.0)


def beyond_classes_slowly(rows: ClassProbabilities):
    """Psi of new and labelled rows, and the shares a row stands for, by solving equations."""
    classes = range(int(rows.codes.max()) + 1)
    confusion = np.array([rows.among_known_labelled[rows.codes == k].mean(axis=0) for k in classes])
    means = np.array([rows.novelty_labelled[rows.codes == k].mean() for k in classes])
    weights = np.linalg.solve(confusion, means)
    psi = rows.novelty - rows.among_known @ weights
    labelled_psi = rows.novelty_labelled - rows.among_known_labelled @ weights
    return (psi, labelled_psi), np.linalg.solve(confusion.T, rows.among_known.T).T


@pytest.fixture(scope="module")
def stream():
    """Four days: like the first, other known shares, and a fifth of the rows unseen."""
    rng = np.random.default_rng(0)
    X, y = labelled(rng)
    days = [(100, 50), (100, 50), (40, 110), (80, 40, 30)]
    by = np.repeat(["day 1", "day 2", "day 9", "day 10"], 150)
    return X, y, np.vstack([drawn(rng, day) for day in days]), by


@pytest.fixture(scope="module")
def timeline(stream):
    return monitor(*stream, random_state=0)


class TestMonitor:
    def test_finds_what_changed_and_nothing_else(self, timeline):
        assert timeline.windows == ("day 1", "day 2", "day 9", "day 10")
        assert timeline.reference == 0
        np.testing.assert_array_equal(timeline.changed, [False, False, True, True])
        np.testing.assert_array_equal(timeline.changed_unseen, [False, False, False, True])
        truth = np.array([[2 / 3, 1 / 3, 0], [2 / 3, 1 / 3, 0], [4 / 15, 11 / 15, 0]])
        np.testing.assert_allclose(timeline.shares[:3], truth, atol=0.05)
        np.testing.assert_allclose(timeline.differences[3, 2], 0.2, atol=0.06)

    @pytest.mark.parametrize(
        "estimator",
        [
            unseen.SaerensEM(),
            unseen.L2Distance(),
            unseen.MPEIncomplete(classifier=LogisticRegression(), n_folds=5),
        ],
        ids=repr,
    )
    def test_each_estimate_is_that_of_the_window_alone(self, stream, estimator):
        X, y, X_new, by = stream
        few = np.isin(by, ["day 1", "day 10"])
        record = monitor(X, y, X_new[few], by[few], estimator=estimator, random_state=3)
        alone = unseen.estimate(
            X, y, X_new[by == "day 10"], estimator=estimator, confidence=0.95, random_state=3
        )
        np.testing.assert_allclose(record["day 10"].proportions, alone.proportions, atol=1e-6)
        np.testing.assert_allclose(record["day 10"].intervals, alone.intervals, atol=1e-6)

    def test_each_estimate_with_a_classifier_is_near_that_of_the_window_alone(self, stream):
        X, y, X_new, by = stream
        few = np.isin(by, ["day 1", "day 10"])
        estimator = unseen.OpenSetEstimator(classifier=GaussianNB())
        record = monitor(X, y, X_new[few], by[few], estimator=estimator, random_state=3)
        one = {"estimator": estimator, "confidence": 0.95, "random_state": 3}
        alone = unseen.estimate(X, y, X_new[by == "day 10"], **one)
        np.testing.assert_allclose(record["day 10"].proportions, alone.proportions, atol=0.01)
        np.testing.assert_allclose(record["day 10"].intervals, alone.intervals, atol=0.03)

    def test_each_estimate_of_the_default_is_near_that_of_the_window_alone(self, stream, timeline):
        X, y, X_new, by = stream
        for day in ("day 9", "day 10"):
            alone = unseen.estimate(X, y, X_new[by == day], confidence=0.95, random_state=0)
            np.testing.assert_allclose(timeline[day].proportions, alone.proportions, atol=0.03)
            np.testing.assert_allclose(timeline[day].intervals, alone.intervals, atol=0.1)
            assert timeline[day].drift.verdict == alone.drift.verdict

    def test_the_tests_do_not_need_an_estimator_that_sees_the_unseen(self, stream, timeline):
        closed = monitor(*stream, estimator=unseen.SaerensEM(), random_state=0)
        np.testing.assert_array_equal(closed.raw_p_values, timeline.raw_p_values)
        assert closed["day 10"].unseen == 0
        assert closed.changed_unseen[3]
        assert [notice.code for notice in closed.notices] == ["closed_set"]

    @pytest.mark.slow
    def test_a_classifier_without_posteriors_serves_the_estimates_only(self, stream):
        X, y, X_new, by = stream
        few = np.isin(by, ["day 1", "day 10"])
        estimator = unseen.MPEIncomplete(classifier=LinearSVC(), n_folds=5, random_state=0)
        assert monitor(X, y, X_new[few], by[few], estimator=estimator).changed_unseen[1]

    def test_one_known_class_is_enough(self, stream):
        X, _, X_new, by = stream
        days = np.isin(by, ["day 1", "day 2", "day 9"])
        record = monitor(X[:80], ["left"] * 80, X_new[days], by[days], random_state=0)
        assert record.shares.shape == (3, 2)
        np.testing.assert_array_equal(record.changed_unseen, [False, False, True])

    def test_training_as_reference(self, stream):
        X, y, X_new, by = stream
        balanced = drawn(np.random.default_rng(6), (75, 75))
        X_new, by = np.vstack([balanced, X_new]), np.append(["day 0"] * 150, by)
        options = {"estimator": unseen.SaerensEM(classifier=GaussianNB()), "random_state": 0}
        record = monitor(X, y, X_new, by, reference="training", **options)
        assert record.reference is None
        assert not record.in_reference.any()
        np.testing.assert_array_equal(record.differences, record.shares - [0.5, 0.5, 0])
        np.testing.assert_array_equal(record.changed[[0, 3, 4]], [False, True, True])
        assert "changed since training" in str(record)
        assert json.loads(json.dumps(record.to_dict()))["reference_estimate"]["unseen"] == 0
        called = monitor(X, y, X_new, np.where(by == "day 2", "training", by),
                         reference="training", **options)  # fmt: skip
        assert called.windows[called.reference] == "training"

    @pytest.mark.parametrize(("n_rows", "is_enough"), [(13, False), (14, True)])
    def test_training_as_reference_says_how_many_rows_a_class_needs(self, n_rows, is_enough):
        """Of 13 rows 4 are set aside and 9 are left, for 10 folds."""
        rng = np.random.default_rng(0)
        X = drawn(rng, (30, n_rows))
        y = ["left"] * 30 + ["right"] * n_rows
        call = partial(
            monitor, X, y, drawn(rng, (40, 20)), ["day 1"] * 60, reference="training",
            estimator=unseen.SaerensEM(classifier=GaussianNB()), random_state=0,
        )  # fmt: skip
        if is_enough:
            assert call().windows == ("day 1",)
        else:
            told = r"at least 14 rows in X: a third is set aside .*n_folds=10.*; 'right' has 13\."
            with pytest.raises(ValueError, match=told):
                call()

    def test_several_windows_as_reference(self, stream):
        options = {"estimator": unseen.SaerensEM(classifier=GaussianNB()), "random_state": 0}
        record = monitor(*stream, reference=["day 2", "day 1"], **options)
        assert record.reference is None
        np.testing.assert_array_equal(record.in_reference, [True, True, False, False])
        assert record.reference_estimate.n_new == 300
        np.testing.assert_array_equal(np.isnan(record.p_values), [True, True, False, False])
        np.testing.assert_array_equal(record.changed, [False, False, True, True])

    def test_tables_with_few_rows_in_a_window_and_keys_missing(self, stream):
        X, y, X_new, _ = stream
        days = pd.Series(pd.to_datetime("2024-01-01") + pd.to_timedelta(np.arange(600) // 250, "D"))
        days[::100] = pd.NaT
        columns = ["height", "width"]
        record = monitor(
            pd.DataFrame(X, columns=columns),
            pd.Series(y),
            pd.DataFrame(X_new, columns=columns),
            days,
            reference="2024-01-01",
            estimator=unseen.SaerensEM(classifier=GaussianNB()),
            least_rows=100,
            random_state=0,
        )
        assert record.n_missing == 6
        assert [rows for _, rows in record.skipped] == [99]
        assert "names_on_one_side" not in {notice.code for notice in record.notices}
        text = str(record)
        assert "2024-01-02" in text
        assert "skipped, too few rows: 2024-01-03 (99 rows)" in text
        assert "6 rows without a key" in text
        assert json.loads(json.dumps(record.to_dict()))["windows"] == ["2024-01-01", "2024-01-02"]

    def test_same_seed_same_record_dense_or_sparse(self, stream):
        X, y, X_new, by = stream
        few = np.isin(by, ["day 1", "day 10"])
        options = {"estimator": unseen.SaerensEM(n_folds=5), "random_state": 1}
        dense = monitor(X, y, X_new[few], by[few], **options)
        again = monitor(X, y, X_new[few], by[few], **options)
        thin = monitor(sparse.csr_array(X), y, sparse.csr_array(X_new[few]), by[few], **options)
        assert dense.to_dict() == again.to_dict()
        np.testing.assert_allclose(thin.shares, dense.shares, atol=1e-3)

    def test_progress_rises_to_1(self, stream):
        X, y, X_new, by = stream
        told: list[float] = []
        monitor(
            X, y, X_new, by, estimator=unseen.SaerensEM(classifier=GaussianNB()),
            random_state=0, progress=told.append,
        )  # fmt: skip
        assert 0 < told[0] < 0.5
        assert told[-1] == 1
        assert told == sorted(told)

    def test_rows_in_both_samples_are_warned_of_once(self, stream):
        X, y, X_new, by = stream
        leak = np.vstack([X[:60], X_new[60:]])
        with pytest.warns(unseen.UnseenWarning) as caught:
            record = monitor(X, y, leak, by, estimator=unseen.SaerensEM(), random_state=0)
        assert len(caught) == 1
        told = [notice.text for notice in record.notices if notice.code == "rows_in_both"]
        assert told == [str(caught[0].message)]

    @pytest.mark.parametrize(
        ("options", "kind", "message"),
        [
            ({"alpha": 5}, ValueError, "alpha must lie strictly between 0 and 1"),
            ({"confidence": 95}, ValueError, "confidence must lie strictly between 0 and 1"),
            ({"least_rows": 3}, ValueError, "least_rows must be at least 10.*got 3"),
            (
                {"least_rows": 1000},
                ValueError,
                "at least 2 windows of 1000 rows or more \\(least_rows.*got 0",
            ),
            ({"reference": "day 7"}, ValueError, "got 'day 7', and there are 'day 1', 'day 2'"),
            ({"reference": []}, ValueError, "reference must name at least one window"),
            ({"estimator": GaussianNB()}, TypeError, "must be a proportion estimator"),
        ],
    )
    def test_errors(self, stream, options, kind, message):
        with pytest.raises(kind, match=message):
            monitor(*stream, **options)

    @pytest.mark.slow
    def test_false_alarms_where_nothing_changes(self):
        """15 windows in 5 streams; at 20%, no more than 3 standard errors above."""
        rng = np.random.default_rng(7)
        alarms = np.zeros(2)
        for _ in range(5):
            X, y = labelled(rng, 40)
            counts = rng.multinomial(60, [0.5, 0.4, 0.1], size=4)
            X_new = np.vstack([drawn(rng, tuple(day)) for day in counts])
            record = monitor(
                X, y, X_new, np.repeat(np.arange(4), 60),
                estimator=unseen.SaerensEM(classifier=GaussianNB(), n_folds=5), random_state=0,
            )  # fmt: skip
            p_values = np.array([record.raw_p_values, record.raw_p_values_unseen])
            alarms += (p_values <= 0.2).sum(axis=1)
        assert (alarms / 15 < 0.2 + 3 * np.sqrt(0.2 * 0.8 / 15)).all()
        assert alarms.sum() > 0


class TestTimeline:
    @pytest.mark.parametrize(
        ("shares", "words"),
        [
            ((0.7, 0.3, 0.0), "The new rows look different in May, their shares alike; 1 of 1"),
            ((0.6, 0.39, 0.01), "The unseen share rose in May, from 0.0% to 1.0%; 1 of 1 window"),
            ((0.6, 0.3, 0.1), "The unseen share rose in May, from 0.0% to 10.0%; 1 of 1 window"),
        ],
    )
    def test_no_share_is_said_to_rise_or_fall_that_stayed(self, shares, words):
        """The tests look at rows, where an estimator may see nothing that is unseen."""
        rows = {"n_labelled": {"cat": 80, "dog": 90}, "n_new": 400}
        april, may = (
            unseen.Estimate(("cat", "dog"), one[:2], one[2], "m", **rows)
            for one in ((0.7, 0.3, 0.0), shares)
        )
        p_values = [np.nan, 0.001]
        found = Timeline(("April", "May"), (april, may), [True, False], april, p_values, p_values)
        assert found.sentence().startswith(words)

    def test_prints_every_window(self, timeline):
        lines = str(timeline).splitlines()
        assert lines[0].split("  ")[0] == "window"
        assert [line.split("  ")[0] for line in lines[1:5]] == list(timeline.windows)
        assert "reference" in lines[1]
        assert "*" not in lines[2]
        assert "*" in lines[4]
        assert "adjusted for 3 windows" in lines[5]

    def test_dict_is_plain_and_whole(self, timeline):
        plain = json.loads(json.dumps(timeline.to_dict(), allow_nan=False))
        assert plain["format"] == 2
        assert plain["p_values"][0] is None
        assert plain["changed"] == timeline.changed.tolist()
        assert plain["estimates"][3] == json.loads(json.dumps(timeline["day 10"].to_dict()))
        np.testing.assert_allclose(plain["differences"], timeline.differences)

    def test_frame_has_a_row_for_each_window_and_class(self, timeline):
        frame = timeline.to_frame()
        assert len(frame) == 4 * 3
        shares = frame.pivot(index="window", columns="class", values="share")
        shares = shares.loc[list(timeline.windows), ["left", "right", "unseen"]]
        np.testing.assert_array_equal(shares, timeline.shares)
        last = frame[frame["window"] == "day 10"]
        assert (last["p_value"] == timeline.p_values[3]).all()
        assert not last["reference"].any()

    def test_plot_draws_the_timeline(self, timeline):
        figure = pytest.importorskip("matplotlib.figure")
        ax = figure.Figure().subplots()
        timeline.plot(ax=ax)
        assert ax.has_data()

    def test_what_changed_is_decided_after_the_adjustment(self, timeline):
        """Two windows with p = .03 and .04: Holm makes .06 of both."""
        one = timeline.estimates[0]
        p_values = [np.nan, 0.03, 0.04]
        record = Timeline((1, 2, 3), (one,) * 3, [True, False, False], one, p_values, p_values)
        np.testing.assert_allclose(record.p_values[1:], 0.06)
        assert not record.changed.any()
        assert not record.changed_unseen.any()

    def test_html_is_escaped(self, timeline):
        named = Timeline(
            ("<b>", "&"),
            timeline.estimates[:2],
            [True, False],
            timeline.estimates[0],
            [np.nan, 0.2],
            [np.nan, 0.3],
            notices=(Notice("few_rows", "<script>"),),
        )
        html = named._repr_html_()
        assert "&lt;b&gt;" in html
        assert "<b>" not in html
        assert "<script>" not in html

    def test_stays_what_it_was(self, timeline):
        for name in ("shares", "differences", "raw_p_values", "p_values", "in_reference"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(timeline, name)[0] = 1

    def test_an_unknown_window_is_named(self, timeline):
        with pytest.raises(KeyError, match="no window 'day 3'"):
            timeline["day 3"]

    def test_parts_must_agree(self, timeline):
        one = timeline.estimates[0]
        other = Estimate(("a",), [1.0], 0.0, "m", n_labelled={"a": 5}, n_new=5)
        with pytest.raises(ValueError, match="one value per window, 2; got 1"):
            Timeline((1, 2), (one, one), [True, False], one, [0.1], [0.1, 0.1])
        with pytest.raises(ValueError, match="share their classes"):
            Timeline((1, 2), (one, other), [True, False], one, [0.1, 0.1], [0.1, 0.1])


@pytest.mark.parametrize("verdict", ["still", "moved", "unclear"])
def test_a_reference_that_moved_is_named_as_a_control(verdict) -> None:
    drift = Drift(verdict, 0.5, Tolerance(np.zeros(0), np.zeros(0)), 0.3)
    rows = {"n_labelled": {"a": 90}, "n_new": 90}
    moved, still = (Estimate(("a",), [1.0], 0.0, "m", drift=one, **rows) for one in (drift, None))
    noted = _notices(moved, ("May",), [still])
    codes = [one.code for one in noted]
    assert codes == ([] if verdict == "still" else ["reference_as_control"])
    assert _notices(still, ("May",), [still]) == ()
