"""Text, LaTeX and csv say the same, and each is well formed."""

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from paper.layout import Entry, Grid, Table, number


@dataclass(frozen=True)
class Place:
    name: str
    height: float | None


HEADER = ("Set", *(f"method {i}" for i in range(12)))
ROWS = tuple(
    (Entry(f"row {i}"), *(Entry(f".{i}{j:02}", aside="", best=j == i) for j in range(12)))
    for i in range(3)
)
GRID = Grid("All of it", HEADER, (ROWS[:1], ROWS[1:]), ("A note, 5% & more.",))


@pytest.mark.parametrize("width", [30, 60, 120])
def test_text_keeps_to_its_width_and_loses_nothing(width: int) -> None:
    text = GRID.to_text(width)
    assert max(map(len, text.splitlines())) <= width
    for row in ROWS:
        for entry in row[1:]:
            assert entry.text in text


def test_a_column_wider_than_the_page_stands_alone() -> None:
    grid = Grid("Wide", ("Set", "x" * 50, "y" * 50), ((tuple(map(Entry, "abc")),),))
    assert grid.to_text(20).count("Set") == 2


def test_every_block_repeats_the_names_of_its_rows() -> None:
    text = GRID.to_text(60)
    assert text.count("row 1") == text.count("Set") > 1


def test_the_best_is_marked() -> None:
    assert Entry(".1", best=True).to_text() == "*.1"
    assert Entry(".1", aside=".2", best=True).to_text() == "*.1 [.2]"
    assert Entry(".1", aside=".2", best=True).to_latex() == r"{\bf .1} [.2]"
    assert Entry(aside=".2").to_text() == "[.2]"
    assert [line for line in GRID.to_text().splitlines() if "*.101" in line]


def test_latex_is_balanced_and_plain() -> None:
    latex = GRID.to_latex()
    assert latex.isascii()
    for name in ("table", "tabular"):
        assert latex.count(rf"\begin{{{name}}}") == latex.count(rf"\end{{{name}}}") > 1
    assert latex.count("{") == latex.count("}")
    assert r"5\% \& more" in latex


def test_latex_rows_have_as_many_entries_as_columns() -> None:
    for block in GRID.to_latex().split(r"\end{tabular}")[:-1]:
        columns = re.search(r"begin\{tabular\}\{l\|(r+)\}", block)
        assert columns is not None
        rows = [line for line in block.splitlines() if line.endswith(r"\\")]
        assert len(rows) == 1 + len(ROWS)
        assert {row.count("&") for row in rows} == {len(columns[1])}


def test_signs_that_latex_reserves() -> None:
    assert Entry("50% <a_b> #1 & $2±3 {x} ~^").to_latex() == (
        r"50\% $<$a\_b$>$ \#1 \& \$2 $\pm$ 3 \{x\} \~{}\^{}"
    )


def test_a_header_may_have_two_lines() -> None:
    grid = Grid("T", ("Set", "MPE\ninside"), (((Entry("a"), Entry("1")),),))
    assert grid.to_text().splitlines()[2:4] == ["Set     MPE", "     inside"]
    assert "Set & MPE \\\\\n & inside \\\\" in grid.to_latex()


def test_a_row_with_nothing_to_say_is_left_out_of_a_block() -> None:
    rows = ((Entry("full"), Entry("1"), Entry("2")), (Entry("half"), Entry("3"), Entry()))
    text = Grid("T", ("Set", "a" * 10, "b" * 10), (rows,)).to_text(20)
    assert (text.count("full"), text.count("half")) == (2, 1)


def test_csv_reads_back() -> None:
    records = (Place('a "b", c', 1 / 3), Place("d", None))
    text = Table(records, (GRID,)).to_csv()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert rows[0]["name"] == records[0].name
    assert float(rows[0]["height"]) == 1 / 3
    assert rows[1] == {"name": "d", "height": ""}


def test_saved_files_hold_the_three_forms(tmp_path: Path) -> None:
    table = Table((Place("a", 0.5),), (GRID,))
    paths = table.save(tmp_path / "table")
    assert [path.name for path in paths] == ["table.txt", "table.csv", "table.tex"]
    assert [path.read_text(encoding="utf-8") for path in paths] == [
        table.to_text(),
        table.to_csv(),
        table.to_latex(),
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.9996, "1.000"), (0.0, ".000"), (-0.0004, ".000"), (-1.25, "-1.250"), (float("nan"), "n/a")],
)
def test_numbers_as_the_paper_prints_them(value: float, text: str) -> None:
    assert number(value) == text
