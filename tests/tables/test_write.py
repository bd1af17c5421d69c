"""A file is there whole or not at all, and holds the rows that were written."""

import json
import os
import signal
import subprocess
import sys
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest

from unseen._files import check_writable, write_then_rename
from unseen.tables import RowWriter, Source

TABLE = pa.table(
    {"label": ["a", "b,c", 'd "e"\nf', "ä"], "score": [0.5, 0.25, 1.0, 0.0], "n": [1, 2, 3, 4]}
)
NAMES = ["o.csv", "o.tsv", "o.jsonl", "o.parquet", "o.feather", "o.csv.gz", "o.jsonl.zst"]


def write(file, *tables, stop=False):
    with RowWriter(file) as writer:
        for table in tables:
            writer.write(table)
        if stop:
            raise RuntimeError("stop")


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_in_batches_is_read_back(tmp_path, name):
    file = tmp_path / name
    with RowWriter(file) as writer:
        writer.write(TABLE.slice(0, 1))
        writer.write(TABLE.slice(1).to_batches()[0])
        assert not file.exists()
    assert writer.n_rows == 4
    assert os.listdir(tmp_path) == [name]
    found = pa.Table.from_batches(list(Source.find(file).batches()))
    assert found["label"].to_pylist() == TABLE["label"].to_pylist()
    assert [float(score) for score in found["score"].to_pylist()] == TABLE["score"].to_pylist()


@pytest.mark.parametrize("name", NAMES)
def test_a_formula_is_written_as_the_text_that_it_is(tmp_path, name):
    """Anything put before it would be another label; SECURITY.md warns of spreadsheets."""
    labels = ["=HYPERLINK(1)", "+1+1", "-1+1", "@SUM(1)"]
    write(tmp_path / name, pa.table({"predicted": labels}))
    found = pa.Table.from_batches(list(Source.find(tmp_path / name).batches()))
    assert found["predicted"].to_pylist() == labels
    warning = (Path(__file__).parents[2] / "SECURITY.md").read_text(encoding="utf-8")
    assert "begins with `=`, `+`, `-` or `@`" in warning


@pytest.mark.parametrize("name", NAMES)
def test_an_error_leaves_what_was_there(tmp_path, name):
    file = tmp_path / name
    file.write_text("before")
    with pytest.raises(RuntimeError, match="stop"):
        write(file, TABLE, stop=True)
    assert file.read_text() == "before"
    assert os.listdir(tmp_path) == [name]


def test_a_killed_process_leaves_no_target(tmp_path):
    code = (
        "import os, signal, sys, pyarrow as pa\n"
        "from unseen.tables import RowWriter\n"
        "with RowWriter(sys.argv[1]) as writer:\n"
        "    writer.write(pa.table({'a': range(100_000)}))\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    file = tmp_path / "o.csv"
    killed = subprocess.run([sys.executable, "-c", code, str(file)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert not file.exists()
    assert all(name.startswith(".") for name in os.listdir(tmp_path))


def test_json_lines_are_json(tmp_path):
    file = tmp_path / "o.jsonl"
    table = pa.table({"x": [float("nan"), 1.5], "t": pa.array([0, None], pa.timestamp("s"))})
    with RowWriter(file) as writer:
        writer.write(table)
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert rows == [{"x": None, "t": "1970-01-01T00:00:00"}, {"x": 1.5, "t": None}]


def test_json_lines_are_json_at_any_depth(tmp_path):
    file = tmp_path / "o.jsonl"
    rows = [
        {"a": [1.5, float("nan")], "b": {"when": date(2024, 1, 31), "how": [float("inf")]}},
        {"a": None, "b": {"when": None, "how": []}},
    ]
    with RowWriter(file) as writer:
        writer.write(pa.Table.from_pylist(rows))
    lines = file.read_text().splitlines()
    found = [json.loads(line, parse_constant=pytest.fail) for line in lines]
    assert found == [
        {"a": [1.5, None], "b": {"when": "2024-01-31", "how": [None]}},
        {"a": None, "b": {"when": None, "how": []}},
    ]


def test_later_batches_take_the_types_of_the_first(tmp_path):
    file = tmp_path / "o.parquet"
    with RowWriter(file) as writer:
        writer.write(pa.table({"a": [0.5], "b": pa.array(["x"]).dictionary_encode()}))
        writer.write(pa.table({"b": ["y"], "a": [1]}))
    found = pa.Table.from_batches(list(Source.find(file).batches()))
    assert found.to_pydict() == {"a": [0.5, 1.0], "b": ["x", "y"]}


@pytest.mark.parametrize("second", [{"a": ["x"]}, {"b": [1]}])
def test_rows_of_another_form_are_an_error(tmp_path, second):
    file = tmp_path / "o.parquet"
    with pytest.raises(ValueError, match=r"o\.parquet must have rows of one form; after row 1: "):
        write(file, pa.table({"a": [1]}), pa.table(second))
    assert os.listdir(tmp_path) == []


def test_no_rows_are_an_error(tmp_path):
    with pytest.raises(ValueError, match=r"must have rows; none were written\."):
        write(tmp_path / "o.csv")
    assert os.listdir(tmp_path) == []


def test_an_unknown_suffix_is_an_error_at_once(tmp_path):
    with pytest.raises(ValueError, match=r"must end in one of \.csv.*; got 'o\.ods'"):
        RowWriter(tmp_path / "o.ods")
    with pytest.raises(ValueError, match=r"o\.xlsx must be csv, tsv, .*; \.xlsx is read only\."):
        RowWriter(tmp_path / "o.xlsx")


def test_a_link_is_followed(tmp_path):
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text("before")
    link.symlink_to(target)
    with write_then_rename(link) as draft:
        draft.write_text("after")
    assert link.is_symlink()
    assert target.read_text() == "after"


def test_where_nothing_can_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    cases = {
        tmp_path / "absent" / "o.csv": (FileNotFoundError, "its folder does not exist."),
        tmp_path / "file" / "o.csv": (NotADirectoryError, "it would lie within a file."),
        tmp_path: (IsADirectoryError, "it is a folder."),
        Path(os.devnull): (OSError, "it is no plain file."),
    }
    for path, (kind, reason) in cases.items():
        with pytest.raises(kind) as caught:
            check_writable(path)
        assert str(caught.value) == f"{path} cannot be written: {reason}"
    assert os.listdir(tmp_path) == ["file"]


def test_a_folder_that_may_not_be_written_to(tmp_path):
    tmp_path.chmod(0o555)
    is_root = os.geteuid() == 0
    code = (
        "import os\n"
        "from unseen._files import check_writable\n"
        f"{'os.setuid(65534)' if is_root else ''}\n"
        "try: check_writable('o.csv')\n"
        "except PermissionError as error: print(error)\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    tmp_path.chmod(0o755)
    assert told.stdout == "o.csv cannot be written: permission denied.\n"


def test_checking_leaves_no_trace(tmp_path):
    file = tmp_path / "o.csv"
    check_writable(file)
    assert os.listdir(tmp_path) == []
    file.write_text("before")
    check_writable(file)
    assert file.read_text() == "before"


def test_the_draft_itself_becomes_the_file(tmp_path):
    """A copy could be cut short; a name cannot."""
    target = tmp_path / "t.txt"
    target.write_text("before")
    with write_then_rename(target) as draft:
        draft.write_text("after")
        number = draft.stat().st_ino
        assert target.read_text() == "before"
    assert (target.stat().st_ino, target.read_text()) == (number, "after")
