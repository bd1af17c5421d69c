"""What files hold comes out, whatever their format; what is wrong with them is said in a line."""

import csv
import gc
import hashlib
import io
import os
import sys
import threading
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from unseen.tables import Source, check_names

TABLE = pa.table({"name": [f"row {i}" for i in range(23)], "count": list(range(23))})
NAMES = ["t.csv", "t.tsv", "t.jsonl", "t.ndjson", "t.json", "t.parquet", "t.feather", "t.arrow"]
COMPRESSED = [f"t.{kind}.{by}" for kind in ("csv", "tsv", "jsonl") for by in ("gz", "zst", "bz2")]


def read(source):
    return pa.Table.from_batches(list(source.batches()))


def message(error, *arguments, **options):
    with pytest.raises(error) as caught:
        list(Source.find(*arguments, **options).batches())
    text = str(caught.value)
    assert "\n" not in text
    assert text[-1] in ".?"
    return text


@pytest.mark.parametrize("name", NAMES + COMPRESSED)
def test_every_format_gives_the_rows_that_were_written(written, name):
    found = read(Source.find(written(TABLE, name)))
    assert found["name"].to_pylist() == TABLE["name"].to_pylist()
    assert [int(count) for count in found["count"].to_pylist()] == TABLE["count"].to_pylist()


def test_a_suffix_may_be_in_capitals(written):
    file = written(TABLE, "t.csv.gz")
    loud = file.rename(file.with_name("T.CSV.GZ"))
    assert len(read(Source.find(loud))) == 23


def test_delimited_text_stays_text(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("a,b\n007,1\n,x\n")
    assert read(Source.find(file)).to_pydict() == {"a": ["007", None], "b": ["1", "x"]}


def test_a_byte_order_mark_and_quoted_line_ends_are_no_part_of_the_data(tmp_path):
    file = tmp_path / "t.csv"
    file.write_bytes('\ufeff"first\nname",b\r\n"x\ny","say ""no"", then"\r\n'.encode())
    assert read(Source.find(file)).to_pydict() == {
        "first\nname": ["x\ny"],
        "b": ['say "no", then'],
    }


def test_a_file_of_many_blocks_is_read_to_its_end(tmp_path):
    file = tmp_path / "t.csv"
    n_rows = 100_000
    file.write_text("a,b\n" + "".join(f"{i},{'x' * 40}\n" for i in range(n_rows)))
    batches = list(Source.find(file).batches(["a"]))
    assert len(batches) > 1
    assert pa.Table.from_batches(batches)["a"].to_pylist() == [str(i) for i in range(n_rows)]


def test_json_blocks_may_differ_in_type_and_lack_fields(tmp_path):
    file = tmp_path / "t.jsonl"
    file.write_text('{"a": 1, "b": "x"}\n' * 100_000 + '{"a": 0.5}\n' * 300_000)
    batches = list(Source.find(file).batches())
    assert sum(batch.num_rows for batch in batches) == 400_000
    assert batches[-1].column("a")[-1].as_py() == 0.5
    assert batches[-1].column("b")[-1].as_py() is None


def test_files_of_a_pattern_or_a_folder_are_joined_by_name(tmp_path):
    for name in ("b.csv", "a.csv"):
        (tmp_path / name).write_text(f"x,y\n{name},1\n")
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / "c.csv").write_text("y,x\n1,c.csv\n")
    expected = ["a.csv", "b.csv", "c.csv"]
    for argument in (f"{tmp_path}/*.csv", tmp_path, [tmp_path / name for name in expected]):
        assert read(Source.find(argument))["x"].to_pylist() == expected


def test_a_file_whose_name_is_a_pattern_is_that_file(tmp_path):
    file = tmp_path / "data[1].csv"
    file.write_text("a\n1\n")
    assert read(Source.find(str(file)))["a"].to_pylist() == ["1"]


@pytest.mark.parametrize(
    "name", ["t.csv", "t.csv.gz", "t.csv.zst", "t.jsonl", "t.parquet", "t.feather"]
)
def test_standard_input_is_told_by_its_first_bytes(written, name):
    stream = io.BytesIO(written(TABLE, name).read_bytes())
    source = Source.find("-", stdin=stream)
    for _ in range(2):
        assert read(source)["name"].to_pylist() == TABLE["name"].to_pylist()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such pipes")
def test_a_pipe_is_read_once_and_copied(tmp_path, written):
    pipe, data = tmp_path / "pipe.csv", written(TABLE, "t.csv").read_bytes()
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(data,))
    writer.start()
    source = Source.find(pipe)
    writer.join()
    for _ in range(2):
        assert sum(batch.num_rows for batch in source.batches()) == len(TABLE)
    assert (source.name, source.parts[0].path.read_bytes()) == (str(pipe), data)
    with pytest.raises(ValueError, match="must be given alone: it is a pipe"):
        Source.find([pipe, pipe])


def test_the_copy_of_standard_input_goes_with_the_source(written):
    source = Source.find("-", format="tsv", stdin=io.BytesIO(written(TABLE, "t.tsv").read_bytes()))
    assert source.columns() == TABLE.column_names
    copy = source.parts[0].path
    assert copy.exists()
    del source
    gc.collect()
    assert not copy.exists()


def test_the_hash_is_that_of_the_bytes(tmp_path):
    contents = [b"a\n1\n", b"a\n2\n"]
    files = [tmp_path / name for name in ("1.csv", "2.csv")]
    for file, content in zip(files, contents, strict=True):
        file.write_bytes(content)
    assert Source.find(files[0]).sha256() == hashlib.sha256(contents[0]).hexdigest()
    assert Source.find(files).sha256() == hashlib.sha256(b"".join(contents)).hexdigest()


def test_dots_in_names_are_no_paths(written):
    table = pa.table({"petal.length": [1.0], "petal.width": [2.0], "petal": [{"length": 3}]})
    for name in ("t.parquet", "t.feather", "t.jsonl"):
        (batch,) = Source.find(written(table, name)).batches(["petal.width"])
        assert batch.to_pydict() == {"petal.width": [2.0]}


def test_files_of_polars_are_read(tmp_path):
    frame = pl.DataFrame({"text": ["a", None, "a long text beyond any inlining"], "x": [1, 2, 3]})
    frame.write_ipc(tmp_path / "t.feather")
    frame.write_parquet(tmp_path / "t.parquet")
    for name in ("t.feather", "t.parquet"):
        found = read(Source.find(tmp_path / name))
        assert found["text"].cast(pa.string()).to_pylist() == frame["text"].to_list()
        assert str(found["text"].type) in ("string", "large_string")


def test_a_row_group_is_not_read_as_a_whole(tmp_path):
    file = tmp_path / "t.parquet"
    pa_parquet.write_table(pa.table({"a": range(200_000)}), file, row_group_size=200_000)
    sizes = [batch.num_rows for batch in Source.find(file).batches()]
    assert max(sizes) < 200_000
    assert sum(sizes) == 200_000


CONTENTS = {
    "empty.csv": (b"", "must have rows; it is empty."),
    "header.csv": (b"a,b\n", "must have rows; it holds a header and nothing else."),
    "blank.csv": (b"\n\n", "must have columns; found none."),
    "ragged.csv": (b"a,b\n1,2\n3\n", "Row #3: Expected 2 columns, got 1"),
    "twice.csv": (b"a,b,a\n1,2,3\n", "must name each column once; 'a' occurs twice."),
    "binary.csv": (b"a\x00\x01\n\x02", "it looks like a binary file."),
    "open.csv": (b'a,b\n"x,' + b"y,z\n" * 2_000_000, "Is a quotation mark left open?"),
    "header.tsv": (b'"' + b"a" * 200_000, "must have a header; field larger than field limit"),
    "line.jsonl": (b'{"a": "' + b"x" * 40_000_000, "one object a line; one is over 32 MB."),
    "plain.csv.gz": (b"a,b\n1,2\n", "must be comma separated text in utf-8 ("),
    "garbage.parquet": (b"garbage" * 9, "must be a Parquet file; "),
    "garbage.feather": (b"garbage" * 9, "must be a Feather (Arrow IPC) file; "),
    "array.json": (b'[{"a": 1}]', "must be JSON lines, one object a line; "),
    "cut.jsonl": (b'{"a": 1}\n{"a": ', "must be JSON lines, one object a line; "),
    "mixed.jsonl": (b'{"a": 1}\n{"a": "x"}\n', "changed from number to string"),
    "sheet.xlsx": (b"PK", "must be an Excel workbook (--format says otherwise); "),
    "sheet.ods": (b"PK", "must end in one of .csv, .tsv, "),
    "table.parquet.gz": (b"\x1f\x8b", "must not be compressed from outside: only text formats"),
    "garbage.npy": (b"garbage" * 9, "must be an array that numpy.save wrote; "),
    "garbage.npz": (b"garbage" * 9, "must be a file of numpy.savez whose arrays have as many rows"),
    "garbage.arff": (b"garbage" * 9, "must be an ARFF file of numbers and nominal values; "),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_what_is_wrong_with_a_file_is_one_line_with_its_name(tmp_path, name):
    content, expected = CONTENTS[name]
    file = tmp_path / name
    file.write_bytes(content)
    # Some libraries raise the limit for the whole process when they are imported.
    before = csv.field_size_limit(131_072)
    try:
        text = message(ValueError, file)
    finally:
        csv.field_size_limit(before)
    assert text.startswith(str(file))
    assert expected in text


def test_a_fault_far_into_a_file_is_found(tmp_path):
    file = tmp_path / "late.csv"
    file.write_bytes(b"a,b\n" + b"1,2\n" * 1_000_000 + b"\xff,2\n")
    told = message(ValueError, file)
    assert "--encoding" in told
    assert "invalid UTF8 data" in told


def test_files_that_are_not_there(tmp_path):
    absent = tmp_path / "absent.csv"
    assert message(FileNotFoundError, absent) == f"{absent} does not exist."
    pattern = f"{tmp_path}/*.csv"
    expected = f"{pattern} must match at least one file; it matches none."
    assert message(FileNotFoundError, pattern) == expected
    assert "must be a folder with files of one format" in message(FileNotFoundError, tmp_path)
    assert message(ValueError, []) == "argument must name at least one file; got none."


def test_parts_with_other_columns(tmp_path):
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    a.write_text("x,y\n1,2\n")
    b.write_text("x\n1\n")
    assert message(ValueError, [a, b]) == f"{b} must have the columns of {a}; it lacks 'y'."
    assert message(ValueError, [b, a]) == f"{b} must have the columns of {a}; it lacks 'y'."


def test_a_format_that_is_none():
    text = message(ValueError, "-", format="xml", stdin=io.BytesIO(b"a\n1\n"))
    assert text.startswith("format must be one of csv, tsv, ")
    assert text.endswith("got 'xml'.")


def test_a_column_that_is_not_there(written):
    source = Source.find(written(TABLE, "t.csv"))
    with pytest.raises(ValueError, match=r"it has no 'Naem'\. Did you mean 'name'\?"):
        list(source.batches(["Naem"]))
    with pytest.raises(ValueError, match=r"it has no 'colour'\. It has 'name', 'count'\."):
        list(source.batches(["colour"]))


@pytest.fixture
def stranger():
    """Somebody who owns no files: the owner of all reads what is forbidden."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    yield
    if is_root:
        os.seteuid(0)


@pytest.fixture
def shut(tmp_path, monkeypatch):
    """A folder with a file and a folder that nobody may read."""
    (tmp_path / "secret.csv").write_text("a\n1\n")
    (tmp_path / "secret.csv").chmod(0)
    (tmp_path / "shut").mkdir(mode=0)
    tmp_path.chmod(0o755)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", ["secret.csv", "shut/t.csv", "shut"])
@pytest.mark.usefixtures("shut", "stranger")
def test_a_file_that_may_not_be_read(name):
    with pytest.raises(PermissionError) as caught:
        Source.find(name)
    assert str(caught.value) == f"{name} may not be read: permission denied."


def test_without_pyarrow_the_error_says_what_to_install(tmp_path, monkeypatch):
    file = tmp_path / "t.csv"
    file.write_text("a\n1\n")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'pip install "unseen\[cli\]"'):
        Source.find(file).columns()


def test_paths_may_be_text_or_path(written):
    file = written(TABLE, "t.csv")
    assert Source.find(str(file)).columns() == Source.find(Path(file)).columns()


def test_labels_in_a_file_of_their_own_are_pointed_to(tmp_path):
    path = tmp_path / "y.npy"
    path.touch()
    with pytest.raises(ValueError, match=r"Labels in a file of their own: --labels .*y.npy"):
        check_names("--label", [str(path)], ["X"], "X.npy")
