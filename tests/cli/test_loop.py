"""explain, audit and promote on tables: the loop from end to end, and sheets that are wrong."""

import csv
import json
import re
from datetime import date
from importlib.resources import files
from pathlib import Path

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from PIL import Image

from unseen.cli import main
from unseen.loop import Sheet, promote
from unseen.rejection import RejectionThreshold
from unseen.study import Inputs
from unseen.study.after import _guesses
from unseen.study.rows import NewRows
from unseen.study.sheets import (
    check_sheet_path,
    read_labels,
    without_promoted,
    write_promoted,
    write_sheet,
)
from unseen.tables import Source

CELLS = ("dot.png", "../secret.png", "no.png")
SCHEMA = json.loads(files("unseen.study").joinpath("schema.json").read_text())


def lines_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write_lines(path: Path, lines: list[dict[str, str]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    return path


@pytest.fixture(scope="module")
def folder(tables, tmp_path_factory) -> Path:
    """The tables, their truth, a sheet, its JSON and a report; cats are one group of 60 rows."""
    home = tmp_path_factory.mktemp("loop")
    for name in ("train.csv", "new.csv"):
        (home / name).write_text((tables / name).read_text())
    lines = lines_of(home / "new.csv")
    named = [{**line, "file": CELLS[place % 3]} for place, line in enumerate(lines)]
    write_lines(home / "new.csv", named)
    for name in ("dot.png", "../secret.png"):
        Image.new("L", (8, 8)).save(home / name)
    arguments = ["explain", *map(str, (home / "train.csv", home / "new.csv")), "--label", "kind"]
    arguments += ["--sheet", str(home / "sheet.csv"), "--sheet-rows", "50", "--show-rows"]
    arguments += ["--text-column", "colour", "--drop", "day", "--image-column", "file"]
    arguments += ["--report", str(home / "page.html"), "--json", str(home / "explain.json")]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    (home / "screen.txt").write_text(result.output)
    lines = lines_of(home / "sheet.csv")
    for line in lines:
        line["label"] = truth(line) if line["row"] else "cat"
    write_lines(home / "filled.csv", lines)
    return home


def truth(line: dict[str, str]) -> str:
    """People look at a row: cats lie apart in width."""
    if float(line["width"]) > 3.5:
        return "cat"
    return "ant" if float(line["length"]) < 0 else "bee"


def command(folder: Path, name: str, *arguments: str):
    tables = [str(folder / "train.csv"), str(folder / "new.csv"), "--label", "kind"]
    return CliRunner().invoke(main, [name, *tables, *arguments])


def test_explain_says_what_the_unseen_rows_are(folder) -> None:
    record = json.loads((folder / "explain.json").read_text())
    jsonschema.validate(record, SCHEMA)
    (group,) = record["explanation"]["groups"]
    assert group["verdict"] == "a clump of its own"
    assert group["share"] == pytest.approx(record["estimate"]["unseen"])
    assert group["sentence"].startswith("width > ")
    assert "form 1 group" in (folder / "screen.txt").read_text()
    page = (folder / "page.html").read_text()
    assert "What the unseen rows are" in page
    assert "a clump of its own" in page
    assert "1, central" in page
    examples = page.partition("The largest group first")[2].partition("</thead>")[0]
    head = re.findall(r"<bdi>([^<]*)</bdi>", examples)
    assert head[:4] == ["Row", "Novelty score", "group", "width"]


@pytest.mark.parametrize("most", [1, 4, 12])
def test_as_many_rows_of_each_group_are_shown_as_asked_for(folder, tmp_path, most) -> None:
    page = tmp_path / "page.html"
    result = command(folder, "explain", "--show-rows", str(most), "--report", str(page))
    assert result.exit_code == 0, result.output
    kinds = re.findall(r"<bdi>1, (central|spread|borderline|other)</bdi>", page.read_text())
    assert len(kinds) == most
    assert (
        kinds[: min(most, 8)]
        == {
            1: ["central"],
            4: ["central", "central", "spread", "borderline"],
            12: ["central"] * 3 + ["spread"] * 3 + ["borderline"] * 2,
        }[most]
    )


def test_pictures_of_the_folder_are_shown_and_no_others(folder) -> None:
    record = json.loads((folder / "explain.json").read_text())
    (group,) = record["explanation"]["groups"]
    rows = [row for kind in ("central", "spread", "borderline") for row in group[kind]]
    there = [row for row in rows if CELLS[(row - 1) % 3] == "dot.png"]
    page = (folder / "page.html").read_text()
    assert page.count("<img") == len(there) > 0
    (notice,) = [one for one in record["notices"] if one["code"] == "pictures_not_shown"]
    assert notice["text"].startswith(f"{len(rows) - len(there)} of {len(rows)} pictures not shown")
    assert "secret" not in page.partition("Example rows of each group")[0]


def test_pictures_need_a_column_and_a_report(folder) -> None:
    result = command(folder, "explain", "--image-column", "file")
    assert "--image-column needs --report" in result.output
    result = command(
        folder, "explain", "--image-column", "fiel", "--report", str(folder / "p.html")
    )
    assert result.exit_code != 0
    assert "Did you mean 'file'" in result.output


def test_a_sheet_has_group_lines_and_rows_with_their_probabilities(folder) -> None:
    lines = lines_of(folder / "sheet.csv")
    assert [line["group"] for line in lines if not line["row"]] == ["1"]
    rows = [line for line in lines if line["row"]]
    assert len({line["row"] for line in rows}) == len(rows) == 50
    assert min(float(line["probability"]) for line in rows) >= 50 / 200 / 2 - 1e-9
    assert {line["label"] for line in lines} == {""}
    table = lines_of(folder / "new.csv")
    for line in rows:
        assert table[int(line["row"]) - 1]["id"] == line["id"]


def test_an_audit_agrees_with_the_truth(folder) -> None:
    result = command(folder, "audit", "--labels", str(folder / "filled.csv"), "--json", "-")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    jsonschema.validate(record, SCHEMA)
    assert record["verdict"] == "agrees"
    (cat,) = record["named"]
    assert cat["low"] <= 0.3 <= cat["high"]


def test_promoted_rows_are_marked_counted_once_and_known_from_then_on(folder) -> None:
    train2, rest = folder / "train2.csv", folder / "rest.csv"
    arguments = ("--labels", str(folder / "filled.csv"), "-o", str(train2), "--rest", str(rest))
    result = command(folder, "promote", *arguments, "--json", str(folder / "p.json"))
    assert result.exit_code == 0, result.output
    assert "note: the names of whole groups (1) are not used" in result.output.replace("\n", " ")
    record = json.loads((folder / "p.json").read_text())
    jsonschema.validate(record, SCHEMA)
    assert record["labelled"] == 50
    lines = lines_of(train2)
    marked = [line for line in lines if line["unseen_row"]]
    assert len(lines) == 160 + len(marked) == 160 + 50
    promoted = {int(line["unseen_row"]) for line in marked}
    stayed = [row for n, row in enumerate(lines_of(folder / "new.csv"), 1) if n not in promoted]
    assert lines_of(rest) == stayed
    assert {line["kind"] for line in marked} == {"ant", "bee", "cat"}
    inputs = Inputs(str(train2), str(folder / "new.csv"), "kind")
    training, new = inputs.read()
    assert (len(new.X), len(new.promoted.rows)) == (150, 50)
    assert not {"unseen_row", "unseen_weight"} & set(training.columns.feature_names_in_)
    # Another NEW has none of these rows, and stays whole.
    other = Inputs(str(train2), str(rest), "kind").read()[1]
    assert (len(other.X), other.promoted) == (150, None)


@pytest.fixture(scope="module")
def new_rows(folder):
    return Inputs(str(folder / "train.csv"), str(folder / "new.csv"), "kind").read(whole=True)[1]


def changed(folder: Path, name: str, value: str, place: int = -1) -> Path:
    lines = lines_of(folder / "filled.csv")
    lines[place][name] = value
    return write_lines(folder / "changed.csv", lines)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("row", "201", "must number rows of .*new.csv, 1 to 200; got 201"),
        ("row", "x", "column 'row' of .* must hold numbers; got 'x'"),
        ("row", "inf", "column 'row' of .* must hold numbers; got 'inf'"),
        ("row", "1.5", "column 'row' of .* must hold whole numbers; got 1.5"),
        ("draw", "nan", "column 'draw' of .* must hold numbers; got 'nan'"),
        ("check", "abc", "has changed since the draw, or TRAIN and NEW are mixed up"),
        ("probability", "much", "column 'probability' of .* must hold numbers"),
    ],
)
def test_a_sheet_that_was_changed_is_refused(folder, new_rows, name, value, words) -> None:
    with pytest.raises(ValueError, match=words):
        read_labels(changed(folder, name, value), new_rows, ["ant", "bee"])


def test_mixed_up_tables_empty_sheets_and_foreign_tables_are_refused(folder, new_rows) -> None:
    swapped = [str(folder / "new.csv"), str(folder / "train.csv"), "--label", "colour"]
    given = ["--labels", str(folder / "filled.csv"), "-o", str(folder / "never.csv")]
    mixed = CliRunner().invoke(
        main, ["promote", *swapped, *given, "--drop", "day", "--drop", "file"]
    )
    assert mixed.exit_code == 1
    assert "mixed up" in mixed.output or "1 to 160" in mixed.output
    assert not (folder / "never.csv").exists()
    with pytest.raises(ValueError, match="must have a label in at least one row"):
        read_labels(folder / "sheet.csv", new_rows, ["ant", "bee"])
    with pytest.raises(ValueError, match="must have the columns 'row' and 'label'; it has 'id'"):
        read_labels(folder / "new.csv", new_rows, ["ant", "bee"])
    twice = lines_of(folder / "filled.csv")
    write_lines(folder / "changed.csv", [*twice, twice[-1]])
    with pytest.raises(ValueError, match="must have each row once"):
        read_labels(folder / "changed.csv", new_rows, ["ant", "bee"])


def test_groups_have_whole_numbers(folder, new_rows) -> None:
    with pytest.raises(ValueError, match=r"column 'group' of .* must hold numbers; got '1e400'"):
        read_labels(changed(folder, "group", "1e400", 0), new_rows, ["ant", "bee"])


def test_a_filled_sheet_is_not_written_over(folder) -> None:
    sheet = folder / "filled.csv"
    before = sheet.read_bytes()
    for name, option in (("promote", "-o"), ("promote", "--rest"), ("audit", "--json")):
        also = () if option == "-o" or name == "audit" else ("-o", str(folder / "never.csv"))
        result = command(folder, name, "--labels", str(sheet), option, str(sheet), *also)
        assert result.exit_code == 2
        assert "is a table, or is to be written twice" in result.output
    result = command(folder, "explain", "--sheet", str(sheet))
    assert result.exit_code == 1
    assert "filled.csv must not be written over: it holds labels" in result.output
    assert sheet.read_bytes() == before


def test_a_file_without_labels_may_become_a_sheet(folder, tmp_path) -> None:
    for name, text in (("a.csv", "x,label\n1,cat\n"), ("b.csv", "\0"), ("c.json", "[1]")):
        (tmp_path / name).write_text(text)
        check_sheet_path(tmp_path / name)
    check_sheet_path(folder / "sheet.csv")
    check_sheet_path(tmp_path / "none.csv")
    chosen = {"result": [{"value": {"choices": ["cat"]}}]}
    tasks = [{"data": {"row": "1"}, "annotations": [chosen]}]
    (tmp_path / "d.json").write_text(json.dumps(tasks))
    with pytest.raises(ValueError, match="must not be written over: it holds labels"):
        check_sheet_path(tmp_path / "d.json")


def test_an_empty_name_is_not_the_current_folder(folder) -> None:
    result = command(folder, "audit", "--labels", "")
    assert result.exit_code == 2
    assert "'--labels': must name a file; got an empty text" in result.output


def test_labels_from_anywhere_need_only_row_and_label(folder, new_rows) -> None:
    lines = [{"row": "3", "label": "ant"}, {"row": "9", "label": " ? "}, {"row": "5", "label": ""}]
    given = read_labels(write_lines(folder / "plain.csv", lines), new_rows, ["ant", "bee"])
    assert given.rows.tolist() == [2, 8, 4]
    assert given.labels == ("ant", "?", None)
    assert given.probabilities is None


def two_rows() -> Sheet:
    numbers = np.array([[4, 7], [1, 0]])
    chances, novelty = np.array([[0.5, 0.25], [0.9, 0.1]])
    return Sheet(numbers[0], chances, numbers[1], np.array(["unseen", "ant"]), novelty, 200)


def test_tasks_of_label_studio_come_back_with_their_labels(folder, new_rows) -> None:
    sheet = two_rows()
    path = folder / "tasks.json"
    write_sheet(sheet, new_rows, path)
    tasks = json.loads(path.read_text())
    assert tasks[0]["predictions"][0]["score"] == 0.9
    chosen = {"result": [{"value": {"choices": ["cat"]}}]}
    tasks[0]["annotations"] = [chosen]
    path.write_text(json.dumps(tasks))
    given = read_labels(path, new_rows, ["ant", "bee"])
    assert (given.rows.tolist(), given.labels) == ([4, 7], ("cat", None))
    for text in ("[1, 2]", "[" * 100_000):
        path.write_text(text)
        with pytest.raises(ValueError, match="must be tasks of Label Studio"):
            read_labels(path, new_rows, ["ant", "bee"])


def test_a_spreadsheet_comes_back_as_it_was_filled(folder, new_rows) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    sheet = two_rows()
    path = folder / "sheet.xlsx"
    write_sheet(sheet, new_rows, path)
    book = openpyxl.load_workbook(path)
    page = book.active
    column = [cell.value for cell in page[1]].index("label") + 1
    page.cell(2, column).value = "cat"
    page.cell(3, column).value = "cat"
    book.save(path)
    given = read_labels(path, new_rows, ["ant", "bee"])
    assert given.groups == {1: "cat"}
    assert given.labels == ("cat", None)


def test_no_letter_of_a_cell_stops_a_spreadsheet(tmp_path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    table = pa.table({"note\x01": ["a\x00\x1b[2J\ufffe", "b"]})
    new = NewRows(np.zeros((2, 1)), table, np.arange(2), 2, "new.csv", "")
    sheet = Sheet(*np.zeros((3, 1), int), np.array(["ant"]), np.ones(1), 2)
    write_sheet(sheet, new, tmp_path / "sheet.xlsx")
    names, cells = openpyxl.load_workbook(tmp_path / "sheet.xlsx").active.values
    assert (names[-1], cells[-1]) == ("note\ufffd", "a\ufffd\ufffd[2J\ufffd")


def test_columns_with_the_names_of_ours_are_all_in_the_sheet(tmp_path) -> None:
    table = pa.table({name: [name] for name in ("row", "new_row", "label")})
    new = NewRows(np.zeros((1, 1)), table, np.arange(1), 1, "new.csv", "")
    sheet = Sheet(*np.zeros((3, 1), int), np.array(["ant"]), np.ones(1), 1)
    write_sheet(sheet, new, tmp_path / "sheet.csv")
    (line,) = lines_of(tmp_path / "sheet.csv")
    own = {name: line[name] for name in ("new_new_row", "new_row", "new_label")}
    assert own == {"new_new_row": "row", "new_row": "new_row", "new_label": "label"}


def promoted(folder: Path, train: pa.Table, labels: list[str]) -> tuple[Source, NewRows]:
    """TRAIN in Parquet with new rows promoted to it, and the new rows."""
    table = pa.table({"size": [1.0, 2.0]})
    new = NewRows(np.zeros((2, 1)), table, np.arange(2), 2, "new.csv", "")
    pq.write_table(train, folder / "train.parquet")
    found = promote([0, 1], labels, 2, known=labels)
    path = folder / "train2.parquet"
    write_promoted(found, Source.find(folder / "train.parquet"), new, "kind", path)
    return Source.find(path), new


@pytest.mark.parametrize(
    ("kinds", "name"), [([date(2024, 1, 31)] * 2, "2024-01-31"), ([3, 4], 3), (["ant", "bee"],) * 2]
)
def test_promoted_rows_are_found_whatever_the_type_of_the_labels(tmp_path, kinds, name) -> None:
    train = pa.table({"size": [0.5, 0.7], "kind": kinds})
    name = name[0] if isinstance(name, list) else name
    source, new = promoted(tmp_path, train, [str(name)] * 2)
    assert without_promoted(new, source, "kind").promoted.labels.tolist() == [name] * 2


def test_promoted_rows_are_found_after_another_program_has_saved_the_table(tmp_path) -> None:
    """An empty cell among whole numbers makes them fractions there: 1 becomes 1.0."""
    source, new = promoted(tmp_path, pa.table({"size": [0.5], "kind": ["ant"]}), ["ant", "ant"])
    table = pa.Table.from_batches(list(source.batches())).to_pandas()
    table["unseen_row"] = table["unseen_row"].astype(float)
    table.to_csv(tmp_path / "train3.csv", index=False)
    found = without_promoted(new, Source.find(tmp_path / "train3.csv"), "kind")
    assert found.promoted.rows.tolist() == [0, 1]
    table["unseen_row"] = "first"
    table.to_csv(tmp_path / "train3.csv", index=False)
    with pytest.raises(ValueError, match=r"'unseen_row' of .*train3.csv must hold numbers"):
        without_promoted(new, Source.find(tmp_path / "train3.csv"), "kind")


def test_a_name_that_the_labels_of_a_table_cannot_hold_is_told(tmp_path) -> None:
    train = pa.table({"size": [0.5, 0.7], "kind": [1, 2]})
    with pytest.raises(ValueError, match=r"column 'kind' of TRAIN must take .* holds int64"):
        promoted(tmp_path, train, ["1", "emu"])


def test_unseen_is_a_word_beside_classes_that_are_numbers() -> None:
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(60, 1)), np.repeat([3, 4], 30)
    X[y == 4] += 8
    X_new = np.concatenate([X + 0.1, rng.normal(-20, 1, size=(60, 1))])
    rule = RejectionThreshold(random_state=0).fit(X, y, X_new, [0.25, 0.25])
    assert rule.classes_.tolist() == [3, 4, -1]
    assert set(_guesses(rule).tolist()) == {3, 4, "unseen"}
