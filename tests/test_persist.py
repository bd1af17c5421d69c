"""What is loaded answers as what was saved; a file that wants to run something is refused."""

import json
import pickle
import re
import sys
from copy import deepcopy
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import sklearn
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import unseen
from test_contract import ESTIMATORS, answer, default, plain
from unseen.monitoring import Timeline
from unseen.persist import FORMAT, load, save
from unseen.rejection.stack import Neighbours
from unseen.study import TableRule
from unseen.tables import Columns

skops_io = pytest.importorskip("skops.io")


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "saved.skops"


def through_file(obj: Any, path: Path, trusted: Any = ()) -> Any:
    save(obj, path)
    return load(path, trusted)


def fitted(kind: type, samples: Any) -> Any:
    """Fitted as it would be used: a rejection rule learns from the new rows too."""
    X, y, X_new = samples
    if not issubclass(kind, unseen.rejection.base.RejectionRule):
        return default(kind).fit(X, y)
    return default(kind).fit(X, y, X_new, {"left": 0.5, "right": 0.2})


def rewritten(path: Path, member: str, text: str) -> None:
    """The same file with another text in one member."""
    with ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with ZipFile(path, "w") as archive:
        for name, data in {**members, member: text.encode()}.items():
            archive.writestr(name, data)


def test_the_list_of_estimators_is_the_public_one() -> None:
    assert {kind.__name__ for kind in ESTIMATORS} <= set(unseen.__all__)
    assert len(ESTIMATORS) > 20


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_a_fitted_estimator_answers_the_same_bit_for_bit(kind, samples, path) -> None:
    before = fitted(kind, samples)
    after = through_file(before, path)
    assert type(after) is kind
    assert repr(after) == repr(before)
    assert answer(after, samples[2]) == answer(before, samples[2])
    if hasattr(before, "predict_new"):
        assert_array_equal(after.predict(samples[2]), before.predict(samples[2]))
        assert_array_equal(after.predict_new(), before.predict_new())
        assert plain(after.risk_) == plain(before.risk_)
        assert after.with_threshold(cost=3).threshold_ == before.with_threshold(cost=3).threshold_


def test_an_unfitted_estimator_keeps_its_parameters(path) -> None:
    before = unseen.MPEIncomplete(GaussianNB(), n_folds=7, random_state=3)
    assert repr(through_file(before, path)) == repr(before)


def test_what_skops_cannot_save_is_there_again_after_loading(samples, path) -> None:
    """Costs by tuples of names, and search trees."""
    rule = fitted(unseen.RejectionClassifier, samples)
    costs = dict(rule.rule_.losses)
    for one in (through_file(rule, path), rule):
        assert one.rule_.losses == costs
        stack = next(part for part in one.rule_.rules if hasattr(part, "features"))
        assert all(
            type(each) is NearestNeighbors for scale in stack.neighbours for each in scale.by_class
        )


@pytest.mark.parametrize(
    "labels", [["a", "b"], [3, 7], [False, True], [-1.0, 2.0]], ids=["str", "int", "bool", "float"]
)
def test_records_keep_labels_of_every_kind(labels, samples, path) -> None:
    X, y, X_new = samples
    renamed = np.array(labels)[(y == "right").astype(int)]
    estimator = unseen.MPEIncomplete(classifier=GaussianNB(), n_folds=3, random_state=0)
    before = unseen.estimate(X, renamed, X_new, estimator=estimator, confidence=0.9)
    after = through_file(before, path)
    assert after.to_dict() == before.to_dict()
    assert after.n_labelled == dict(zip(labels, [60, 50], strict=True))
    assert [type(label) for label in after.n_labelled] == [type(label) for label in labels]
    assert after.diagnostics == before.diagnostics
    assert list(after.roc) == labels
    assert str(after) == str(before)


def test_a_loaded_record_is_read_only_again(samples, path) -> None:
    X, y, X_new = samples
    quick = unseen.MPEIncomplete(classifier=GaussianNB(), n_folds=3, random_state=0)
    estimate = unseen.estimate(X, y, X_new, estimator=quick, confidence=0.9)
    after = through_file(estimate, path)
    for array in (after.proportions, after.intervals, after.roc["left"].detection):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0.0


def test_a_comparison_survives(samples, path) -> None:
    X, y, X_new = samples
    chosen = [unseen.MPEIncomplete(), unseen.MPEProjected()]
    before = unseen.compare(X, y, X_new, chosen, random_state=0)
    after = through_file(before, path)
    assert after.to_dict() == before.to_dict()
    assert str(after) == str(before)


def test_a_bound_survives(path) -> None:
    bound = unseen.UpperBound(0.3, 0.05, "dkw", False)
    assert through_file(bound, path) == bound


def test_a_pipeline_with_a_rule_at_its_end_survives(samples, path) -> None:
    X, y, X_new = samples
    tables = [pd.DataFrame(rows, columns=["x", "y", "z"]) for rows in (X, X_new)]
    for table in tables:
        table["side"] = np.where(table["x"] > 0, "east", "west")
    columns = ColumnTransformer(
        [("s", StandardScaler(), ["x", "y"]), ("o", OneHotEncoder(), ["side"])]
    )
    before = make_pipeline(columns, unseen.RejectionForest(n_trees=5, random_state=0))
    before.fit(tables[0], y)
    after = through_file(before, path)
    assert_array_equal(after.predict_proba(tables[1]), before.predict_proba(tables[1]))


def test_what_a_rule_asks_of_its_pipeline_survives(samples, path) -> None:
    X, y, X_new = samples
    given = {"left": 0.5, "right": 0.2}
    rule = unseen.RejectionForest(n_trees=5, random_state=0)
    with sklearn.config_context(enable_metadata_routing=True):
        rule.set_fit_request(X_new=True, proportions=True)
        steps = [("scale", StandardScaler()), ("rule", rule)]
        before = Pipeline(steps, transform_input=["X_new"])
        before.fit(X, y, X_new=X_new, proportions=given)
        after = through_file(before, path)
        assert_array_equal(after.predict_proba(X_new), before.predict_proba(X_new))
        again = clone(after).fit(X, y, X_new=X_new, proportions=given)
    assert_array_equal(again.predict_proba(X_new), before.predict_proba(X_new))
    assert before[-1].get_metadata_routing().fit.requests["X_new"] is True


def test_a_rule_for_tables_survives(samples, path) -> None:
    X, y, X_new = samples
    tables = [pa.table({"x": rows[:, 0], "y": rows[:, 1]}) for rows in (X, X_new)]
    columns = Columns().fit(tables[0])
    rule = unseen.RejectionTree(random_state=0)
    rule.fit(columns.transform(tables[0]), y, columns.transform(tables[1]), [0.5, 0.2])
    before = TableRule(columns, rule)
    after = through_file(before, path)
    assert_array_equal(after.probabilities(tables[1]), before.probabilities(tables[1]))


def test_a_timeline_survives_and_is_read_only_again(path) -> None:
    rows = {"n_labelled": {True: 80, False: 90}, "n_new": 400}
    months = [unseen.Estimate((False, True), [0.5, 0.5 - p], p, "m", **rows) for p in (0.0, 0.2)]
    before = Timeline(
        (1, 2), tuple(months), [True, False], months[0], [np.nan, 0.01], [np.nan, 0.5]
    )
    after = through_file(before, path)
    assert after.windows == before.windows
    assert_array_equal(after.raw_p_values, before.raw_p_values)
    assert after.estimates[1].to_dict() == months[1].to_dict()
    assert after.estimates[1].n_labelled == {True: 80, False: 90}
    with pytest.raises(ValueError, match="read-only"):
        after.raw_p_values[0] = 1.0


def test_what_comes_after_the_number_survives(samples, path) -> None:
    X, y, X_new = samples
    rule = unseen.RejectionThreshold(random_state=0).fit(X, y, X_new, {"left": 0.5, "right": 0.2})
    sheet = unseen.draw_sheet(rule, 20, random_state=0)
    named = ["emu"] * 20
    for record in (
        sheet,
        unseen.explain(rule, X, y, X_new, random_state=0),
        unseen.audit(rule.predict_new(), sheet.rows, named, sheet.probabilities),
        unseen.promote(sheet.rows, named, sheet.n_new, known=np.unique(y).tolist()),
    ):
        save(record, path)
        assert str(load(path)) == str(record)


def test_a_classifier_within_an_estimator_survives(samples, path) -> None:
    X, y, X_new = samples
    scaled = make_pipeline(StandardScaler(), GaussianNB())
    before = unseen.MPEIncomplete(classifier=scaled, n_folds=3, random_state=0).fit(X, y)
    after = through_file(before, path)
    assert after.estimate(X_new).to_dict() == before.estimate(X_new).to_dict()
    assert repr(clone(after)) == repr(clone(before))


def test_what_skops_does_not_trust_of_scikit_learn_must_be_asked_for(samples, path) -> None:
    X, y, X_new = samples
    calibrated = CalibratedClassifierCV(GaussianNB(), cv=2)
    before = unseen.RejectionPlugIn(classifier=calibrated, n_folds=2, random_state=0)
    before.fit(X, y, X_new, {"left": 0.5, "right": 0.2})
    save(before, path)
    parts = ("_CalibratedClassifier", "_SigmoidCalibration")
    asked = [f"sklearn.calibration.{part}" for part in parts]
    with pytest.raises(TypeError, match=r"trusted=.*_CalibratedClassifier.*_SigmoidCalibration"):
        load(path)
    after = load(path, trusted=asked)
    assert_array_equal(after.predict_proba(X_new), before.predict_proba(X_new))


class Wary(GaussianNB):
    """Somebody's own class, that this library has never heard of."""


def test_a_class_of_the_user_is_refused_until_it_is_trusted(path) -> None:
    name = f"{Wary.__module__}.Wary"
    save(unseen.MPEIncomplete(classifier=Wary()), path)
    with pytest.raises(TypeError, match=rf"holds {name}\. Nothing was loaded\. .*unseen\.load\("):
        load(path)
    for trusted in ([Wary], [name], (Wary,)):
        assert type(load(path, trusted).classifier) is Wary


@pytest.mark.parametrize("trusted", [True, "sklearn.tree._tree.Tree", Wary])
def test_trusted_must_be_a_list(trusted, path) -> None:
    save(unseen.MPEIncomplete(), path)
    with pytest.raises(TypeError, match="trusted must be a list of types or of their names; got"):
        load(path, trusted)


class Hostile:
    """As a pickle, it makes a file when it is loaded."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> Any:
        return Path.touch, (self.marker,)


def test_a_pickle_by_another_name_is_refused_and_not_run(tmp_path, path) -> None:
    marker = tmp_path / "owned"
    path.write_bytes(pickle.dumps(Hostile(marker)))
    with pytest.raises(ValueError, match=r"path must be a file that unseen\.save wrote"):
        load(path)
    assert not marker.exists()
    pickle.loads(path.read_bytes())
    assert marker.exists()  # it was a real threat


def write_call(path: Path, function: str, *arguments: Any) -> None:
    """A file like those of save, that asks for a call of a function while it is read."""
    module, _, name = function.rpartition(".")
    with ZipFile(BytesIO(skops_io.dumps(arguments))) as archive:
        content = json.loads(archive.read("schema.json"))
    call = {
        "__class__": name,
        "__module__": module,
        "__loader__": "ConstructorFromReduceNode",
        "content": content,
        "protocol": content["protocol"],
    }
    save([], path)
    rewritten(path, "schema.json", json.dumps(call))


@pytest.mark.parametrize(
    "function",
    [
        "os.mkdir",
        "builtins.open",
        "unseen.datasets.catalogue.Path.mkdir",
        "unseen.tables.source.Source",
        "unseen.baseless.Estimate",
        "unseen.persist.Path",
        "unseen.persist.save",
        "unseen._frozen.frozen",
        "unseen.cli.main",
        "unseen.__main__.main",
        "unseen.datasets.download.TemporaryDirectory",
        "unseen.rejection.base.open_risk",
        "unseen.no.such.Thing",
        "unseen.Estimate",
        "unseenly.Estimate",
    ],
)
def test_only_estimators_and_records_are_trusted_by_their_name(function, tmp_path, path) -> None:
    write_call(path, function, str(tmp_path / "owned"))
    with pytest.raises(TypeError, match=rf"path must hold trusted types only; .* holds {function}"):
        load(path)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_trust_is_no_advice_where_a_type_of_ours_is_gone(tmp_path, path) -> None:
    """A rule of an older version names types that were renamed: no trust brings these back."""
    for gone, advice in (
        (
            "unseen.rejection.stack.FeatureMaker",
            "lacks a type of its own there: fit and save again.",
        ),
        ("os.mkdir", 'unseen.load(path, trusted=["os.mkdir"]).'),
    ):
        write_call(path, gone, str(tmp_path / "owned"))
        with pytest.raises(TypeError, match=re.escape(advice) + "$") as caught:
            load(path)
        assert ("trusted=" in str(caught.value)) == (gone == "os.mkdir")


def test_rows_of_a_search_build_a_search_and_nothing_else(path) -> None:
    """Fitting KMeans runs it, even though skops trusts its name."""
    one = KMeans(n_clusters=1, n_init=1)
    assert skops_io.get_untrusted_types(data=skops_io.dumps(one)) == []
    found = Neighbours(StandardScaler(), [SimpleNamespace(_fit_X=one)], [], [], [])
    save(found, path)
    with pytest.raises(ValueError, match="array=KMeans"):
        load(path)


def test_the_call_in_these_files_is_real(tmp_path, path) -> None:
    write_call(path, "os.mkdir", str(tmp_path / "owned"))
    load(path, trusted=["os.mkdir"])
    assert (tmp_path / "owned").is_dir()


def test_a_newer_format_is_refused_by_name(path) -> None:
    save(unseen.MPEIncomplete(), path)
    rewritten(
        path, "unseen.json", json.dumps({"format": FORMAT + 1, "versions": {"unseen": "9.1"}})
    )
    message = rf"path must have format {FORMAT} or older; .* has format {FORMAT + 1} of unseen 9\.1"
    with pytest.raises(ValueError, match=message):
        load(path)


def other_release(bump: int) -> str:
    parts = [int(part) for part in unseen.__version__.split(".")]
    parts[bump] += 1
    return ".".join(map(str, parts))


def test_another_series_warns_and_another_patch_does_not(path) -> None:
    save(unseen.MPEIncomplete(n_folds=7), path)
    for bump, warns in [(0, True), (1, unseen.__version__.startswith("0.")), (2, False)]:
        header = {"format": FORMAT, "versions": {"unseen": other_release(bump)}}
        rewritten(path, "unseen.json", json.dumps(header))
        if warns:
            with pytest.warns(unseen.UnseenWarning, match="was saved by unseen"):
                assert load(path).n_folds == 7
        else:
            assert load(path).n_folds == 7


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"",
        lambda data: b"label,x\na,1\n",
        lambda data: data[: len(data) // 2],
        lambda data: data.replace(b"unseen.json", b"unseem.json"),
        lambda data: data.replace(b"schema.json", b"schemA.json"),
        lambda data: skops_io.dumps([1, 2]),
    ],
    ids=["empty", "csv", "half", "no header", "no schema", "skops of another hand"],
)
def test_a_file_of_another_kind_gives_one_clear_error(spoil, path) -> None:
    save(unseen.MPEIncomplete(), path)
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(ValueError, match=r"path must be a file that unseen\.save wrote; .*saved"):
        load(path)


@pytest.mark.parametrize("header", ["[]", "{}", '{"format": "one"}', '{"format": 1}', "no json"])
def test_a_header_of_another_kind_gives_the_same_error(header, path) -> None:
    save(unseen.MPEIncomplete(), path)
    rewritten(path, "unseen.json", header)
    with pytest.raises(ValueError, match=r"path must be a file that unseen\.save wrote"):
        load(path)


def test_a_failed_save_leaves_the_old_file_and_nothing_else(path) -> None:
    save(unseen.MPEIncomplete(n_folds=7), path)
    with pytest.raises(
        TypeError, match="obj must hold only what skops can save; got MPEIncomplete"
    ):
        save(unseen.MPEIncomplete(classifier=(row for row in [])), path)
    assert load(path).n_folds == 7
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_file_in_the_way_of_the_rename_leaves_nothing_behind(path) -> None:
    path.mkdir()
    with pytest.raises(OSError):
        save(unseen.MPEIncomplete(), path)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_missing_folder_and_a_missing_file_are_named(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match=r"its folder does not exist"):
        save(unseen.MPEIncomplete(), tmp_path / "no" / "model.skops")
    with pytest.raises(FileNotFoundError, match="none"):
        load(tmp_path / "none.skops")


def test_without_skops_the_error_says_what_to_install(path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "skops.io", None)
    for call in (lambda: save([], path), lambda: load(path)):
        with pytest.raises(ImportError, match=r'pip install "unseen\[secure\]"'):
            call()


def test_shared_parts_stay_shared(samples, path) -> None:
    scaler = StandardScaler().fit(samples[0])
    one, other = through_file([scaler, scaler], path)
    assert one is other


@pytest.mark.parametrize("keys", [(True, False), (1, "1"), (None,)])
def test_a_dict_whose_keys_would_change_is_refused(keys, path) -> None:
    with pytest.raises(TypeError, match="keys of a dict must be all text or all numbers; got"):
        save(dict.fromkeys(keys, 0), path)
    assert not path.exists()


@pytest.mark.parametrize("keys", [("a", "1"), (3, -7), (0.1, -1.0)])
def test_a_dict_by_text_or_numbers_survives(keys, path) -> None:
    before = {key: np.array([place]) for place, key in enumerate(keys)}
    assert through_file(before, path) == before


def test_a_record_can_be_pickled_and_copied(samples) -> None:
    X, y, X_new = samples
    before = unseen.estimate(X, y == "left", X_new, estimator=unseen.MPEIncomplete(random_state=0))
    for after in (pickle.loads(pickle.dumps(before)), deepcopy(before)):
        assert after.to_dict() == before.to_dict()
        with pytest.raises(TypeError, match="does not support item assignment"):
            after.n_labelled[True] = 0


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_rows_come_back_and_damaged_ones_do_not(kind, samples, path) -> None:
    X, y, X_new = samples
    before = unseen.MPEIncomplete(random_state=0).fit(kind(X), y)
    after = through_file(before, path)
    assert answer(after, kind(X_new)) == answer(before, kind(X_new))
    before.labelled_.rows.indices[3] = 10_000_000
    for call in (lambda: save(before, path), lambda: _load_damaged(before, path)):
        with pytest.raises(ValueError, match="holds a damaged matrix"):
            call()


def _load_damaged(obj: Any, path: Path) -> Any:
    """Load what save would have refused."""
    save({"a": 1}, path)
    with ZipFile(path) as archive:
        header = archive.read("unseen.json")
    path.write_bytes(skops_io.dumps(obj))
    with ZipFile(path, "a") as archive:
        archive.writestr("unseen.json", header)
    return load(path)


def test_a_file_cannot_choose_a_folder_to_write_to(samples, path, tmp_path) -> None:
    steps = [("scale", StandardScaler()), ("model", GaussianNB())]
    chosen = tmp_path / "chosen"
    model = unseen.MPEIncomplete(classifier=Pipeline(steps, memory=str(chosen)))
    with pytest.raises(ValueError, match="memory of its Pipeline must be None"):
        save(model, path)
    with pytest.raises(ValueError, match="must not be used; memory of its Pipeline must be None"):
        _load_damaged(model, path)
    assert not chosen.exists()


def test_few_bytes_that_stand_for_gigabytes_are_not_unpacked(path) -> None:
    save({"a": 1}, path)
    with ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, data in {**members, "unseen.json": b" " * (2 << 20)}.items():
            archive.writestr(name, data)
    with pytest.raises(ValueError, match=r"unseen\.json must have at most 1048576 bytes"):
        load(path)


def test_too_little_memory_is_no_damage_of_the_file(path, monkeypatch) -> None:
    def full(*_args, **_options):
        raise MemoryError

    save({"a": 1}, path)
    monkeypatch.setattr("skops.io.loads", full)
    with pytest.raises(MemoryError, match="needs more memory than there is"):
        load(path)


@pytest.mark.parametrize("trusted", [None, [3]])
def test_trusted_names_types(trusted, path) -> None:
    save({"a": 1}, path)
    with pytest.raises(TypeError, match="trusted must be a list of types or of their names"):
        load(path, trusted)


def test_a_reason_of_several_lines_is_told_in_one(path) -> None:
    """NumPy has three lines for a header that is too long."""
    unseen.save({"shares": np.ones(3)}, path)
    with ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    (array,) = (name for name in members if name.endswith(".npy"))
    header = members[array][10:].split(b"\n")[0] + b" " * 12_000 + b"\n"
    length = len(header).to_bytes(2, "little")
    members[array] = members[array][:8] + length + header + b"\0" * 24
    with ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(ValueError, match=r"^path must be a file [^\n]* may not be safe [^\n]*$"):
        unseen.load(path)
