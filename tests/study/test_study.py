"""Records of a study are frozen, and flow follows codes and places, never words."""

import ast
import pickle
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import unseen.study
from unseen import Comparison
from unseen._progress import hear_stages, show_progress
from unseen.persist import load, save
from unseen.preparing import in_units, without_constants
from unseen.records import Estimate, Notice
from unseen.samples.oddities import sentinel_notices
from unseen.study import (
    Classification,
    Inputs,
    NewRows,
    Study,
    Training,
    WindowRows,
    run_classification,
    run_study,
)
from unseen.study.after import readable
from unseen.study.rows import column_drift
from unseen.study.run import _apart, _as_in_table, _wide
from unseen.study.sheets import row_checks
from unseen.tables import Columns, Source

RNG = np.random.default_rng(0)


def made_training(table: pa.Table, labels=None, counts=None) -> Training:
    columns = Columns().fit(table)
    labels = np.array(["a", "b"] * (table.num_rows // 2)) if labels is None else labels
    counts = {"a": 500, "b": 500} if counts is None else counts
    return Training(columns.transform(table), labels, columns, counts, "t.csv", "0" * 64)


def made_new(training: Training, table: pa.Table) -> NewRows:
    X, notices = training.columns.transform_new(table)
    positions = np.arange(table.num_rows)
    return NewRows(X, table, positions, table.num_rows, "n.csv", "0" * 64, notices)


def test_study_does_not_import_the_root_package() -> None:
    for file in Path(unseen.study.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            module = node.module if isinstance(node, ast.ImportFrom) else None
            assert "unseen" not in (*names, module), file


def test_rows_that_stand_for_training_have_the_shares_of_the_whole_table() -> None:
    """Of 9,000 and 1,000 rows, 60 and 30 were drawn: 60 and 6 of these are in the shares of all."""
    labels = np.array(["a", "a", "b"] * 30)
    training = made_training(pa.table({"x": RNG.normal(size=90)}), labels, {"a": 9000, "b": 1000})
    for seed in range(3):
        rows = _as_in_table(training, seed)
        assert len(set(rows.tolist())) == len(rows) == 66
        assert (labels[rows] == "b").sum() == 6


def test_rows_are_read_only() -> None:
    table = pa.table({"x": RNG.normal(size=20)})
    training = made_training(table)
    new, windows = made_new(training, table), WindowRows(training.X, training.y)
    for array in (training.X, training.y, new.X, new.positions, windows.X, windows.keys):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]
    with pytest.raises(TypeError):
        training.counts["a"] = 1
    with pytest.raises(FrozenInstanceError):
        training.name = "other"


def test_rows_get_names_without_a_copy() -> None:
    training = made_training(pa.table({"size": RNG.normal(size=20)}))
    named = training.named(training.X)
    assert named.column_names == ["size"]
    assert np.shares_memory(training.X, np.asarray(named))


def test_a_check_is_of_all_values_of_a_row_and_not_of_their_order() -> None:
    one, two = row_checks(pa.table({"a": ["1", "1"], "b": ["x", None]}))
    assert len(one) == 12
    assert one != two
    assert row_checks(pa.table({"b": ["x"], "a": ["1"]})) == [one]


def test_results_are_read_only_and_keep_their_comparison() -> None:
    rows = {"n_labelled": {"cat": 80}, "n_new": 400}
    estimate = Estimate(("cat",), [0.7], 0.3, "m", **rows)
    given = {"cat": 8}
    study = Study(estimate, given, baselines=Comparison({"m": estimate}))
    given["cat"] = 9
    assert study.training_rows == {"cat": 8}
    with pytest.raises(TypeError):
        study.training["cat"] = 9
    assert isinstance(study.baselines, Comparison)
    again = pickle.loads(pickle.dumps(study))
    assert isinstance(again.baselines, Comparison)
    assert again.training_rows == {"cat": 8}
    found = Classification({"cat": 3}, True, 0.1, (0.0, 0.2), 0.5, 0.1, 0.01)
    with pytest.raises(TypeError):
        found.rows["cat"] = 4


def test_constant_columns_are_known_by_their_code() -> None:
    sentence = "1 of 2 features are constant over X and X_new and carry no information: feature 1."
    kept = (Notice("few_rows", f"class {sentence!r}: few."), Notice("misfit", sentence))
    assert without_constants((kept[0], Notice("constant_columns", "?"), kept[1])) == kept


def test_a_column_called_missing_is_no_flag_of_gaps() -> None:
    """0/1 columns are found by their place: names may look the same."""
    gaps = [None if place % 2 else 1.0 for place in range(40)]
    train = pa.table({"x=missing": RNG.normal(size=40), "x": gaps, "size": RNG.normal(size=40)})
    training = made_training(train)
    names = training.columns.get_feature_names_out().tolist()
    assert names.count("x=missing") == 2
    new = {"x=missing": RNG.normal(size=40) + 99, "x": [1.0] * 39 + [None], "size": [0.0] * 40}
    notices = column_drift(training, made_new(training, pa.table(new)))
    assert [(one.code, one.about) for one in notices] == [
        ("column_out_of_range", "x=missing"),
        ("gaps_changed", "x"),
        ("column_drift", None),
    ]
    assert column_drift(training, made_new(training, train)) == ()


def test_columns_read_as_people_know_them() -> None:
    table = pa.table({"size": [1.0, 2.0, 4.0] * 4, "colour": ["red", "red", "blue"] * 4})
    said = [column.clause(1.0, above=True) for column in readable(Columns().fit(table))]
    assert said[:2] == ["size > 3.58", "colour is 'red'"]


def test_rows_out_of_range_are_counted_on_both_sides() -> None:
    training = made_training(pa.table({"x": np.linspace(0, 1, 40), "y": RNG.normal(size=40)}))
    new = pa.table({"x": [0.5, 2.0, -1.0, 3.0] * 10, "y": RNG.uniform(-0.1, 0.1, size=40)})
    notice, _ = column_drift(training, made_new(training, new))
    assert notice.text == "Outside the range that TRAIN shows: 'x' (75% of the new rows)."


def test_a_code_for_missing_stands_in_the_units_of_the_file() -> None:
    made = {"colour": ["red", "blue"] * 20, "x": RNG.normal(500, 20, size=40)}
    training = made_training(pa.table(made))
    new = made_new(training, pa.table({**made, "x": np.append(made["x"][:30], [-999.0] * 10)}))
    found = sentinel_notices(training.X, new.X)
    other = Notice("few_rows", "few.")
    rows = training.columns, training.X, new.X, "give --missing {value}"
    kept, said = in_units((*found, other), *rows)
    assert kept == other
    assert "column 'x' is -999 in 25% of the new rows" in said.text
    assert said.text.endswith("give --missing -999.")
    assert in_units((other,), *rows) == (other,)


def test_a_category_called_missing_is_no_flag_of_gaps() -> None:
    colours = ["red", "missing", None, "red"] * 10
    training = made_training(pa.table({"colour": colours, "x": RNG.normal(size=40)}))
    new = pa.table({"colour": ["missing", "missing", None, "red"] * 10, "x": RNG.normal(size=40)})
    assert column_drift(training, made_new(training, new)) == ()


def test_training_is_saved_and_loaded_with_its_notices(tmp_path) -> None:
    table = pa.table({"x": RNG.normal(size=20), "id": np.arange(20), "c": ["u", "v"] * 10})
    training = made_training(table)
    save(training, tmp_path / "t.skops")
    again = load(tmp_path / "t.skops")
    assert again.columns.notices_ == training.columns.notices_
    assert again.columns.encodings_ == training.columns.encodings_
    assert dict(again.counts) == dict(training.counts)
    assert not again.X.flags.writeable
    assert np.array_equal(again.X, training.X)


@pytest.fixture
def inputs(tmp_path, monkeypatch) -> Inputs:
    monkeypatch.chdir(tmp_path)
    for name, n_rows in (("train", 60), ("new", 40)):
        shift = np.where(np.arange(n_rows) % 2, 4.0, 0.0)
        kinds = ["ant", "bee"] * (n_rows // 2)
        lines = [
            f"{value:.4f},{kind}"
            for value, kind in zip(RNG.normal(size=n_rows) + shift, kinds, strict=True)
        ]
        Path(f"{name}.csv").write_text("\n".join(["x,kind", *lines]) + "\n")
    return Inputs("train.csv", "new.csv", "kind")


def test_headers_are_read_once_and_progress_is_heard(inputs, monkeypatch) -> None:
    read = []
    names = type(inputs.new_source.parts[0]).names
    monkeypatch.setattr(
        "unseen.tables.formats.Part.names", lambda part: [read.append(part.name), names(part)][1]
    )
    stages: list[str] = []
    with hear_stages(stages.append):
        study, training = run_study(inputs)
    assert read == ["train.csv", "new.csv"]
    assert stages == [
        "Reading train.csv", "Reading new.csv", "Estimating with OpenSetEstimator",
    ]  # fmt: skip
    assert study.n_new_rows == len(study.estimate.classes) * 20
    assert training.counts == {"ant": 30, "bee": 30}
    assert [one.code for one in study.notices] == ["label_in_new"]


def test_columns_are_parsed_once_for_the_estimate(inputs, monkeypatch) -> None:
    parsed = []
    encoding = "unseen.tables.encodings.NumberEncoding.read"
    from unseen.tables.encodings import NumberEncoding

    read = NumberEncoding.read
    monkeypatch.setattr(encoding, lambda one, column: [parsed.append(one), read(one, column)][1])
    run_study(inputs)
    assert len(parsed) == 2  # one column of two tables


def test_rows_that_were_labelled_are_counted_from_the_labels(inputs) -> None:
    stages: list[str] = []
    shares: list[float] = []
    with hear_stages(stages.append), show_progress(shares.append):
        found, rule = run_classification(inputs, Path("out.csv"), {"reject_rate": 0.1})
    assert sum(found.rows.values()) == 40
    assert shares[-1] == 1.0
    assert "Labelling" in stages
    (batch,) = Source.find("out.csv").batches()
    assert {
        label: batch["predicted"].to_pylist().count(label) for label in found.rows
    } == found.rows
    assert rule.rule.classes_.tolist() == list(found.rows)


def made(method: str, unseen: float, ends: tuple[float, float] | None = None) -> Estimate:
    limits = None if ends is None else [[0.0, 1.0], ends]
    level = None if ends is None else 0.95
    return Estimate(("a",), [1 - unseen], unseen, method, {"a": 9}, 9, limits, level)


def test_a_wide_interval_is_told_beside_the_checks() -> None:
    assert _wide(made("OpenSetEstimator", 0.3, (0.0, 0.5))) == ()
    (notice,) = _wide(made("OpenSetEstimator", 0.3, (0.0, 0.58)))
    assert notice.code == "uncertain_share"
    assert "95% interval of the unseen share by OpenSetEstimator is 0.0% to 58.0%." in notice.text


@pytest.mark.parametrize(
    ("other", "said"),
    [(0.28, None), (0.0, "differ, within the 95% interval"), (0.7, "MPEIncomplete says 70.0%")],
)
def test_methods_that_differ_are_told_by_the_interval_of_the_default(
    other, said, monkeypatch
) -> None:
    answer = made("OpenSetEstimator", 0.3, (0.0, 0.58))
    monkeypatch.setattr("unseen.study.run._default_answer", lambda *given: answer)
    found = Comparison({one.method: one for one in (answer, made("MPEIncomplete", other))})
    notices = _apart(found, None, None, 0)
    assert [said in one.text for one in notices] == ([] if said is None else [True])
