"""The store of cells: nothing finished is lost, nothing half-written is read."""

import json

import pytest

from paper.cell import Cell
from paper.store import CellStore, key_of, write_text


def cell(permutation: int, method: str = "L2", share: float = 1 / 3) -> Cell:
    return Cell("observed", "banana", permutation, 0.1, method, (0.9, 0.1), (1 - share, share))


def test_cells_come_back_as_they_were_to_the_last_bit(tmp_path):
    store = CellStore(tmp_path / "new" / "folder")
    cells = [cell(1, share=0.1 + 0.2), cell(0), cell(0, "EM*")]
    with store.writer() as write:
        for one in cells:
            write(one)
    assert store.read() == {key_of(one): one for one in cells}
    assert list(store.read()) == sorted(map(key_of, cells))


def test_a_cell_can_be_read_before_its_writer_ends(tmp_path):
    store = CellStore(tmp_path)
    with store.writer() as write:
        write(cell(0))
        assert len(store.read()) == 1


def test_a_line_cut_short_is_passed_over_and_the_others_are_kept(tmp_path):
    store = CellStore(tmp_path)
    with store.writer() as write:
        write(cell(0))
        write(cell(1))
    (file,) = tmp_path.glob("cells-*.jsonl")
    whole = file.read_bytes()
    first = whole.index(b"\n") + 1
    for cut in range(len(whole)):
        file.write_bytes(whole[:cut])
        assert len(store.read()) == (0 if cut < first else 1)


def test_writers_never_share_a_file(tmp_path):
    store = CellStore(tmp_path)
    with store.writer() as one, store.writer() as two:
        one(cell(0))
        two(cell(0))
        two(cell(1))
    assert len(list(tmp_path.glob("cells-*.jsonl"))) == 2
    assert len(store.read()) == 2


def test_other_terms_are_refused_and_new_ones_are_added(tmp_path):
    store = CellStore(tmp_path)
    store.agree({"protocol": 1, "banana": "abc"})
    store.agree({"protocol": 1, "thyroid": "def"})
    assert json.loads((tmp_path / "terms.json").read_text())["thyroid"] == "def"
    with pytest.raises(ValueError, match=r"begun with another banana: abc instead of xyz"):
        store.agree({"banana": "xyz"})


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    file = tmp_path / "table.txt"
    write_text(file, "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(file, "new \ud800")
    assert file.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["table.txt"]


def test_two_writers_of_one_cell_do_not_spoil_the_folder(tmp_path):
    store = CellStore(tmp_path)
    for share in (0.25, 0.5):
        with store.writer() as write:
            write(cell(0, share=share))
    assert len(store.read()) == 1


def test_a_line_that_is_no_cell_is_named(tmp_path):
    (tmp_path / "cells-1.jsonl").write_bytes(b"rubbish\n")
    with pytest.raises(
        ValueError, match=r"cells-1.jsonl must hold one cell a line; line 1 is none"
    ):
        CellStore(tmp_path).read()
