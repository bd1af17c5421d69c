"""explain, audit and promote on tables: the loop from end to end, and sheets that are wrong."""

import csv
import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from unseen.cli import main
from unseen.loop import Sheet
from unseen.study import Inputs
from unseen.study.sheets import read_labels, write_sheet

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
    assert len(lines_of(rest)) == 150
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
    path.write_text("[1, 2]")
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
