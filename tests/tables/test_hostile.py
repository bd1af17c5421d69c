"""Files that somebody damaged, or made to do harm: an error in a line, or the rows; no crash."""

import errno
import io
import os
import re
import sys

import numpy as np
import pyarrow as pa
import pyarrow.feather as pa_feather
import pyarrow.parquet as pa_parquet
import pytest

from unseen.study.rows import read_new
from unseen.tables import Columns, RowWriter, Source, _arrow, read_labelled
from unseen.tables._arrow import readable

LABELS = pa.table({"y": ["ant", "bee", "wasp"] * 40, "x": [float(i) for i in range(120)]})


def read(path) -> pa.Table:
    return pa.Table.from_batches(list(Source.find(path).batches()))


@pytest.mark.parametrize("compression", ["uncompressed", "lz4"])
def test_no_byte_of_a_feather_file_ends_the_process(tmp_path, compression) -> None:
    """Offsets of text that point outside of the file are seen before they are followed."""
    whole, damaged = tmp_path / "whole.feather", tmp_path / "damaged.feather"
    pa_feather.write_feather(LABELS, whole, compression=compression)
    data = whole.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for place in rng.integers(0, len(data), 100):
        changed = bytearray(data)
        changed[place] ^= int(rng.integers(1, 256))
        damaged.write_bytes(changed)
        try:
            read_labelled(Source.find(damaged), "y", 100, seed=0)
        except (ValueError, MemoryError):
            refused += 1
    assert 0 < refused < 100


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("null\n", "a line begins with 'null'"),
        ('{"a": 1}\nnull\n', "a line begins with 'null'"),
        ('{"a": 1}\n  7\n', "a line begins with '7'"),
        ('{"p":' * 20_000 + "1" + "}" * 20_000, "at most 100 deep"),
        ('{"p":' + "[" * 5_000 + "]" * 5_000 + "}", "at most 100 deep"),
    ],
)
def test_json_lines_on_which_the_parser_would_end_the_process(tmp_path, text, reason) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text(text)
    with pytest.raises(ValueError, match=reason):
        read(file)


def test_brackets_within_json_text_are_no_depth(tmp_path) -> None:
    file = tmp_path / "t.jsonl"
    sad = ":[ " * 300 + r"\" {{"
    file.write_text(f'\ufeff{{"a": "{sad}"}}\n{{"a": "b"}}\n')
    assert len(read(file)) == 2


def repeated_text(path, n_rows: int, n_letters: int) -> None:
    """A small file of which one column is as large as a disk when it is spelt out."""
    text = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(n_rows, np.int32)), pa.array(["x" * n_letters])
    )
    table = pa.table({"size": np.arange(n_rows, dtype=float), "note": text.cast(pa.string())})
    pa_parquet.write_table(table, path)


def test_columns_that_no_answer_needs_are_not_read(tmp_path) -> None:
    file = tmp_path / "new.parquet"
    repeated_text(file, 1_000, 20_000)
    columns = Columns().fit(pa.table({"size": [0.0, 1.0, 3.0]}))
    before = pa.total_allocated_bytes()
    new = read_new(Source.find(file), columns, max_rows=500)
    assert new.table.column_names == ["size"]
    assert [notice.code for notice in new.notices] == ["rows_drawn", "columns_only_in_new"]
    assert pa.total_allocated_bytes() - before < 1 << 20
    assert read_new(Source.find(file), columns, max_rows=5, whole=True).table.num_columns == 2


def test_columns_of_feather_that_nobody_asks_for_are_not_looked_at(tmp_path) -> None:
    file = tmp_path / "new.feather"
    pa_feather.write_feather(LABELS, file, compression="uncompressed")
    file.write_bytes(file.read_bytes().replace(b"antbee", b"ant\xffee"))
    with pytest.raises(ValueError, match="Invalid UTF8"):
        read(file)
    assert sum(batch.num_rows for batch in Source.find(file).batches(["x"])) == 120


def test_a_batch_has_fewer_rows_where_rows_are_large(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(_arrow, "_BATCH_BYTES", 1 << 20)
    file = tmp_path / "new.parquet"
    repeated_text(file, 500, 10_000)
    sizes = [batch.nbytes for batch in Source.find(file).batches()]
    assert max(sizes) < 1.1 * (1 << 20)
    assert len(sizes) > 1


def test_labels_that_numpy_would_merge_are_refused(tmp_path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text('{"y": "a"}\n{"y": "a\\u0000"}\n')
    with pytest.raises(ValueError, match=r"label 'y' must not end in the NUL character"):
        read_labelled(Source.find(file), "y", 10, seed=0)


def test_bytes_that_are_no_text_are_refused_with_the_name_of_the_file(
    tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr("unseen.tables.formats._HEAD_BYTES", 64)
    spoilt = {
        "t.csv": b"y,x\n" + b"ant,1\n" * 40 + b"\xff,2\n",
        "t.jsonl": b'{"y": "ant"}\n' * 40 + b'{"y": "\xff"}\n',
        "names.jsonl": b'{"\xff": "ant"}\n',
    }
    for name, data in spoilt.items():
        (tmp_path / name).write_bytes(data)
    text = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xff")]
    )
    pa_parquet.write_table(pa.table({"y": text}), tmp_path / "t.parquet")
    pa_feather.write_feather(pa.table({"y": text}), tmp_path / "t.feather")
    for file in sorted(tmp_path.iterdir()):
        with pytest.raises(ValueError, match=rf"^{re.escape(str(file))} must be "):
            read(file)


def test_an_empty_name_is_not_the_folder_where_one_is() -> None:
    with pytest.raises(FileNotFoundError, match="a file must have a name; got an empty one"):
        Source.find("")


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux alone")
def test_names_that_are_no_text_are_refused_by_name(tmp_path) -> None:
    name = os.fsdecode(os.fsencode(tmp_path) + b"/o\xff.csv")
    with open(name, "w") as file:
        file.write("a\n1\n")
    for use in (Source.find, RowWriter):
        with pytest.raises(ValueError, match=r"o\\udcff\.csv' must have a name in UTF-8"):
            use(name)


@pytest.mark.parametrize(
    "raised", [pa.ArrowMemoryError("realloc failed"), OSError(errno.EAGAIN, "no thread")]
)
def test_too_little_memory_is_no_fault_of_the_file(raised) -> None:
    with (
        pytest.raises(MemoryError, match=r"^big\.parquet needs more memory"),
        readable("big.parquet", ""),
    ):
        raise raised


def flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]


def test_no_byte_of_an_array_file_gives_another_error_than_one_line(tmp_path) -> None:
    """Archives and headers fail in many ways: checksums, unknown methods, half a header."""
    whole = io.BytesIO()
    np.savez_compressed(whole, y=np.array(["ant", "bee"] * 6), size=np.arange(12.0))
    file, errors = tmp_path / "damaged.npz", []
    for place in range(0, len(whole.getvalue()), 5):
        file.write_bytes(flipped(whole.getvalue(), place))
        try:
            read(file)
        except ValueError as error:
            errors.append(str(error))
    assert len(errors) > 20
    assert all("damaged.npz" in error and "\n" not in error for error in errors)


@pytest.mark.parametrize("header", [b"{'descr': '<f8', (", b"{'descr': [", b"\xff" * 8])
def test_a_damaged_header_of_an_array_is_one_error(tmp_path, header) -> None:
    file = tmp_path / "t.npy"
    text = header.ljust(117) + b"\n"
    file.write_bytes(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + b"\0" * 80)
    with pytest.raises(ValueError, match=r"t.npy must be an array that numpy.save wrote; [^\n]*$"):
        read(file)
