"""Gaps that one table has more often are taken over by the other, and set no rows apart."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

import unseen
from unseen.monitoring import monitor
from unseen.persist import load, save
from unseen.study import Inputs, Windowing, run_classification, run_study
from unseen.tables import Columns
from unseen.tables.gaps import Gaps, has_more, labelled_gaps

RNG = np.random.default_rng(0)
N = 400


def ladder(
    share: float, gaps: float = 0.5, seed: int = 1
) -> tuple[pd.DataFrame, list[str], pd.DataFrame]:
    """Four classes on the rungs of x as TRAIN; NEW has a fifth, and gaps in x, the best column."""
    rng = np.random.default_rng(seed)

    def drawn(counts: list[int]) -> tuple[np.ndarray, pd.DataFrame]:
        kinds = np.repeat(np.arange(5), counts)
        centres = np.column_stack([3.0 * kinds, kinds % 2, 4 * (kinds == 4)])
        noise = rng.normal(size=(len(kinds), 3)) * [0.5, 1, 1]
        return kinds, pd.DataFrame(centres + noise, columns=list("xyz"))

    kinds, train = drawn([60] * 4 + [0])
    _, new = drawn([60] * 4 + [round(240 * share / (1 - share))])
    new.loc[rng.random(len(new)) < gaps, "x"] = np.nan
    return train, [f"c{kind}" for kind in kinds], new


def codes(found) -> set[str]:
    return {notice.code for notice in found.notices}


def test_gaps_of_new_rows_alone_are_no_new_class():
    """Filled cells lie between the classes: 57% had been called new, and 82% at 80% of gaps."""
    for gaps in (0.5, 0.8):
        found = unseen.estimate(*ladder(0.0, gaps), random_state=0)
        assert found.intervals[-1, 0] == 0
        assert found.unseen < 0.05
        assert found.drift.verdict == "still"
        assert {"gaps_shared", "newly_missing"} <= codes(found)


def test_beside_gaps_a_new_class_is_found():
    for gaps in (0.5, 0.8):
        found = unseen.estimate(*ladder(0.2, gaps), random_state=0)
        low, high = found.intervals[-1]
        assert 0.1 < low <= 0.2 <= high
        assert found.unseen == pytest.approx(0.2, abs=0.05)


def test_gaps_of_labelled_rows_alone_are_no_drift():
    train, labels, new = ladder(0.0, gaps=0.0)
    train.loc[np.random.default_rng(0).random(len(train)) < 0.6, ["x", "y"]] = np.nan
    found = unseen.estimate(train, labels, new, random_state=0)
    assert found.unseen < 0.05
    assert (found.intervals[-1, 0], found.drift.verdict) == (0, "still")
    assert "gaps_shared" in codes(found)


def test_a_control_takes_gaps_over_too():
    train, labels, new = ladder(0.2)
    control = ladder(0.0, gaps=0.0, seed=2)[2]
    found = unseen.estimate(train, labels, new, control=control, random_state=0)
    low, high = found.intervals[-1]
    assert low <= 0.2 <= high


def made(**columns) -> pa.Table:
    return pa.table({"z": RNG.normal(size=N), **columns})


def shared(train: pa.Table, new: pa.Table, seed: int = 0, **parameters):
    columns = Columns(**parameters)
    rows = columns.fit_transform(train, new=new if parameters else None)
    rows_new, _, gaps = columns.transform_and_look(new)
    sharing = Gaps(columns, rows, seed)
    return columns, rows, rows_new, gaps, sharing, sharing.shared_with(rows_new, gaps)


def test_columns_that_are_missing_together_stay_so():
    a, b = RNG.normal(size=(2, N))
    lacks = RNG.random(N) < 0.4
    words = np.array(["u", "v", "w"])[RNG.integers(0, 3, N)]
    train = made(a=a, b=b, c=words)
    new = made(
        a=pa.array(np.where(lacks, np.nan, a), from_pandas=True),
        b=pa.array(np.where(lacks, np.nan, b), from_pandas=True),
        c=pa.array(np.where(lacks, None, words)),
    )
    columns, rows, rows_new, _, sharing, kept = shared(train, new)
    assert kept is rows_new
    z, *others = sharing.gaps.T
    assert not z.any()
    for one in others:
        assert_array_equal(one, others[0])
    assert others[0].mean() == pytest.approx(lacks.mean(), abs=0.01)
    # An empty cell is encoded as in new rows, and no other cell changes.
    empty = columns.transform(pa.table({"z": [0.0], "a": [None], "b": [None], "c": ["NA"]}))[0, 1:]
    changed = sharing.X[others[0], 1:]
    assert_array_equal(changed, np.tile(empty, (len(changed), 1)))
    assert_array_equal(sharing.X[~others[0]], rows[~others[0]])
    assert_array_equal(sharing.X[:, 0], rows[:, 0])
    assert_array_equal(shared(train, new)[4].X, sharing.X)
    assert not np.array_equal(shared(train, new, seed=1)[4].X, sharing.X)
    (notice,) = sharing.notices
    assert notice.code == "gaps_shared"
    assert "'a' (missing in " in notice.text


def with_gaps(share: float, seed: int = 0) -> pa.Array:
    lacks = np.random.default_rng(seed).random(N) < share
    return pa.array(np.where(lacks, np.nan, RNG.normal(size=N)), from_pandas=True)


@pytest.mark.parametrize(
    ("known", "new", "after", "after_new"),
    [
        (0.2, 0.6, 0.6, 0.6),  # gaps of their own count
        (0.6, 0.1, 0.6, 0.6),
        (0.3, 0.1, 0.3, 0.1),  # little harm
        (0.2, 0.22, 0.2, 0.22),  # as chance has it
        (0.0, 0.02, 0.0, 0.02),  # a few points
    ],
)
def test_shares_of_gaps_agree_where_they_differed_much(known, new, after, after_new):
    train, other = made(a=with_gaps(known)), made(a=with_gaps(new, 1))
    _, rows, rows_new, gaps, sharing, made_new = shared(train, other)
    assert sharing.gaps[:, 1].mean() == pytest.approx(after, abs=0.06)
    lacking = (made_new != rows_new).any(axis=1) | gaps[:, 1]
    assert lacking.mean() == pytest.approx(after_new, abs=0.06)
    if (known, new) == (after, after_new):
        assert sharing.X is rows
        assert sharing.notices == ()


def test_texts_may_be_empty_too():
    texts = np.array(["red ants run", "blue bees hum"])[RNG.integers(0, 2, N)]
    train = made(t=texts)
    new = made(t=np.where(RNG.random(N) < 0.5, "", texts))
    columns, *_, sharing, _ = shared(train, new, text=("t",))
    lacks = sharing.gaps[:, 1]
    assert lacks.mean() == pytest.approx(0.5, abs=0.06)
    empty = columns.transform(pa.table({"z": [0.0], "t": [""]}))[0, 1:]
    assert_array_equal(sharing.X[lacks, 1:], np.tile(empty, (lacks.sum(), 1)))


def test_gaps_of_labelled_rows_are_those_of_their_table():
    table = made(a=with_gaps(0.3), b=pa.array(["x", "y", None, "y"] * (N // 4)), c=with_gaps(0))
    columns = Columns()
    rows = columns.fit_transform(table)
    assert_array_equal(labelled_gaps(columns, rows), columns.transform_and_look(table)[2])
    assert not has_more(labelled_gaps(columns, rows), labelled_gaps(columns, rows)).any()


@pytest.fixture
def files(tmp_path, monkeypatch) -> Path:
    """The ladder with gaps in NEW alone as files, and NEW without gaps as whole.csv."""
    monkeypatch.chdir(tmp_path)
    train, labels, new = ladder(0.2)
    train.assign(y=labels).to_csv("train.csv", index=False)
    new.to_csv("new.csv", index=False)
    ladder(0.2, gaps=0)[2].to_csv("whole.csv", index=False)
    return tmp_path


def test_the_command_line_answers_as_python_and_a_saved_train_as_its_table(files):
    study, training = run_study(Inputs("train.csv", "new.csv", label="y"))
    found = unseen.estimate(*ladder(0.2), random_state=0)
    assert study.estimate.unseen == pytest.approx(found.unseen, abs=0.05)
    assert {"gaps_shared", "newly_missing"} <= {notice.code for notice in study.notices} | codes(
        study.estimate
    )
    save(training, files / "train.skops")
    assert load(files / "train.skops").given is None
    for new in ("new.csv", "whole.csv"):
        again, _ = run_study(Inputs("train.skops", new))
        before, _ = run_study(Inputs("train.csv", new, label="y"))
        assert_array_equal(again.estimate.intervals, before.estimate.intervals)
    assert "gaps_shared" not in codes(again.estimate)


def test_a_rule_that_learnt_from_gaps_labels_other_tables(files):
    """Rows with a value get nearly the same labels where others have one too."""
    first, rule = run_classification(Inputs("train.csv", "new.csv", label="y"), Path("a.csv"))
    save(rule, files / "rule.skops")
    again, _ = run_classification(Inputs("rule.skops", "whole.csv"), Path("b.csv"))
    one, two = (pd.read_csv(name) for name in ("a.csv", "b.csv"))
    given = one["x"].notna()
    assert (one["predicted"] == two["predicted"])[given].mean() > 0.9
    assert set(first.rows) == set(again.rows)
    # Those without one are no more often unseen than others.
    is_new = one["predicted"] == "unseen"
    assert is_new[~given].mean() == pytest.approx(is_new[given].mean(), abs=0.1)


def test_a_window_with_gaps_is_not_a_window_with_a_new_class():
    rng = np.random.default_rng(3)
    labels = np.repeat(["a", "b"], 120)
    centres = np.where(labels == "a", 0, 4)[:, None]
    train = pd.DataFrame(centres + rng.normal(size=(240, 3)), columns=list("xyz"))
    new = pd.DataFrame(np.tile(centres, (2, 1)) + rng.normal(size=(480, 3)), columns=list("xyz"))
    days = np.repeat([1, 2], 240)
    order = rng.permutation(480)
    new, days = new.iloc[order].reset_index(drop=True), days[order]
    new.loc[(days == 2) & (rng.random(480) < 0.6), "x"] = np.nan
    found = monitor(train, labels, new, days, random_state=0)
    assert not found.changed.any()
    assert "gaps_shared" in {notice.code for notice in found.notices}
    assert all(one.unseen < 0.05 for one in found.estimates)


def test_windows_of_the_command_line_share_gaps_too(files):
    """Eight weeks; x is no longer recorded in the last, which says nothing about classes."""
    rng = np.random.default_rng(0)
    new = ladder(0.0, gaps=0.0)[2].iloc[rng.permutation(240)].reset_index(drop=True)
    new["week"] = np.repeat([f"w{number}" for number in range(8)], 30)
    new.loc[(new["week"] == "w7") & (rng.random(240) < 0.9), "x"] = np.nan
    new.to_csv("weeks.csv", index=False)
    inputs = Inputs("train.csv", "weeks.csv", label="y")
    study, training = run_study(inputs, windowing=Windowing("week"))
    assert study.timeline is not None
    assert not study.timeline.changed.any()
    assert study.timeline["w7"].intervals[-1, 0] == 0
    assert study.estimate.unseen < 0.05
    assert training.given is None


def test_gaps_of_labelled_rows_alone_are_no_drift_of_windows():
    train, labels, new = ladder(0.0, gaps=0.0)
    train.loc[np.random.default_rng(0).random(len(train)) < 0.6, "x"] = np.nan
    found = monitor(train, labels, new, np.tile([1, 2], 120), random_state=0)
    assert all(one.unseen < 0.05 for one in found.estimates)
    assert all(one.drift.probability_moved < 0.5 for one in found.estimates)  # .97 had been said
