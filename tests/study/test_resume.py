"""A run of ``classify`` that was killed is taken up, and gives the file of a run that was not."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from unseen.persist import save
from unseen.rejection import RejectionPlugIn
from unseen.study import Inputs, run_classification
from unseen.study.classify import TableRule
from unseen.study.run import quiet_warnings
from unseen.tables import KeptBatches

N_ROWS = 10_000  # of 1,000 letters each: five batches


@pytest.fixture
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Inputs:
    """A saved rule: a killed run that fits its rule is in benchmarks/scale.py."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name, codes in (("train", np.arange(40) % 2), ("new", rng.integers(3, size=N_ROWS))):
        rows = rng.normal(size=(len(codes), 2)) + 6 * np.column_stack([codes == 1, codes == 2])
        note = pa.array(["word " * 200] * len(codes))
        table = pa.table({"a": rows[:, 0], "b": rows[:, 1], "note": note})
        kinds = pa.array(np.array(["ant", "bee", "?"])[codes])
        table = table.append_column("kind", kinds) if name == "train" else table
        pyarrow.csv.write_csv(table, f"{name}.csv")
    given = Inputs("train.csv", "new.csv", "kind", drop=("note",), max_rows=40)
    training, new = given.read()
    with quiet_warnings():
        rule = RejectionPlugIn(random_state=0).fit(training.X, training.y, new.X)
    save(TableRule(training.columns, rule), "rule.skops")
    return Inputs("rule.skops", "new.csv", max_rows=40)


def kept_files(out: str) -> list[Path]:
    return sorted(Path(f".{out}.kept").glob("0*.feather"))


def kill_after_two_batches(out: str) -> None:
    code = (
        "from unseen.study import Inputs, run_classification\n"
        "from pathlib import Path\n"
        "inputs = Inputs('rule.skops', 'new.csv', max_rows=40)\n"
        f"run_classification(inputs, Path('{out}'), resume=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    while len(kept_files(out)) < 2:
        assert process.poll() is None
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL


def test_a_killed_run_is_taken_up_and_gives_the_same_file(inputs, monkeypatch) -> None:
    whole, _ = run_classification(inputs, Path("whole.csv"))
    kill_after_two_batches("out.csv")
    n_kept = len(kept_files("out.csv"))
    n_batches = len(list(inputs.new_source.batches()))
    assert 2 <= n_kept < n_batches
    assert not Path("out.csv").exists()

    labelled = []
    answer = TableRule.probabilities
    monkeypatch.setattr(
        TableRule, "probabilities", lambda rule, table: [labelled.append(1), answer(rule, table)][1]
    )
    found, _ = run_classification(inputs, Path("out.csv"), resume=True)
    assert len(labelled) == n_batches - n_kept
    assert Path("out.csv").read_bytes() == Path("whole.csv").read_bytes()
    assert found.rows == whole.rows
    assert not Path(".out.csv.kept").exists()


def test_what_another_rule_or_another_table_left_is_thrown_away(tmp_path) -> None:
    table = pa.table({"label": ["a"]})
    KeptBatches(tmp_path / "out.csv", "one").keep(0, table)
    assert KeptBatches(tmp_path / "out.csv", "one").find(0) == table
    assert KeptBatches(tmp_path / "other.csv", "one").find(0) is None
    assert KeptBatches(tmp_path / "out.csv", "two").find(0) is None
    assert KeptBatches(tmp_path / "out.csv", "one").find(0) is None


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_what_is_kept_is_for_its_owner_alone_and_a_foreign_key_is_no_key(tmp_path) -> None:
    kept = KeptBatches(tmp_path / "out.csv", "one")
    assert kept.folder.stat().st_mode & 0o077 == 0
    kept.keep(0, pa.table({"label": ["a"]}))
    (kept.folder / "key.txt").write_bytes(b"\xff\xfe")
    assert KeptBatches(tmp_path / "out.csv", "one").find(0) is None
