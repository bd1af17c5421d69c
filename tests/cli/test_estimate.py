"""``unseen estimate`` as a person or a script runs it."""

import json
import re
import shutil

import joblib
import pyarrow.csv
import pyarrow.parquet
import pytest
from numpy.testing import assert_allclose

import unseen
from reference.small_tables import cells_of, write_csv
from unseen import _team
from unseen.tables import Columns

BASIC = ("estimate", "train.csv", "new.csv", "--label", "kind")
# For what has nothing to do with the method.
QUICK = ("--label", "kind", "--method", "HallECDF")


def test_says_the_answer_and_the_table(plain) -> None:
    output, _ = plain("estimate")
    assert re.match(r"About (2[5-9]|3[0-5])(\.\d)?% of the new rows", output)
    assert "come from classes that training never saw." in output
    ant, unseen_row = cells_of(output, "ant"), cells_of(output, "unseen")
    assert ant[1] == "62.5%"
    assert float(ant[2].rstrip("%")) == pytest.approx(40, abs=5)
    low, high = (float(end.rstrip("%")) for end in unseen_row[3].split(" to "))
    assert low <= 30 <= high
    assert "OpenSetEstimator, 200 new rows." in output
    assert "'id'" in output


def test_json_is_the_record(plain, tables) -> None:
    _, record = plain("estimate")
    train, new = (pyarrow.csv.read_csv(tables / name) for name in ("train.csv", "new.csv"))
    columns = Columns(label="kind").fit(train)
    labels = train["kind"].to_pylist()
    ours = unseen.estimate(
        columns.transform(train), labels, columns.transform(new), confidence=0.95, random_state=0
    )
    assert_allclose(record["estimate"]["unseen"], ours.unseen)
    assert_allclose(record["estimate"]["intervals"], ours.intervals)
    assert record["training_rows"] == [100, 60]
    assert record["origin"]["files"][0]["name"] == "train.csv"


def test_the_same_rows_in_any_format_give_the_same_answer(unseen_command, tables, tmp_path) -> None:
    def answer(train: str, new: str, **options) -> dict:
        result = unseen_command("estimate", train, new, *QUICK, "--json", "-", **options)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)["estimate"]

    expected = answer("train.csv", "new.csv")
    new = pyarrow.csv.read_csv(tables / "new.csv")
    pyarrow.parquet.write_table(new, tmp_path / "new.parquet", row_group_size=30)
    assert answer("train.csv", str(tmp_path / "new.parquet")) == expected
    pieces = tmp_path / "pieces"
    pieces.mkdir()
    pyarrow.csv.write_csv(new.slice(0, 90), pieces / "a.csv")
    pyarrow.csv.write_csv(new.slice(90), pieces / "b.csv")
    assert answer("train.csv", str(pieces / "*.csv")) == expected
    assert answer("train.csv", "-", input=(tables / "new.csv").read_bytes()) == expected


def test_training_that_was_saved_gives_the_same_answer(unseen_command, tmp_path) -> None:
    saved = str(tmp_path / "train.skops")
    first = unseen_command(*BASIC[:3], *QUICK, "--json", "-", "--save", saved)
    again = unseen_command("estimate", saved, "new.csv", *QUICK[2:], "--json", "-")
    assert again.exit_code == 0, again.output
    one, other = (json.loads(result.stdout) for result in (first, again))
    assert one["estimate"] == other["estimate"]
    assert one["origin"]["files"] == other["origin"]["files"]


@pytest.mark.parametrize(
    ("method", "condition", "code"),
    [("OpenSetEstimator", "unseen.low > 0.05", 3), ("HallECDF", "ant < 0.2", 0)],
)
def test_fail_if_speaks_by_the_exit_code(unseen_command, method, condition, code) -> None:
    result = unseen_command(*BASIC, "--method", method, "--quiet", "--fail-if", condition)
    assert (result.exit_code, result.output) == (code, "")


def test_report_holds_the_sentence_and_rows_only_on_request(unseen_command, tmp_path) -> None:
    page = tmp_path / "page.html"
    result = unseen_command(*BASIC[:3], *QUICK, "--report", str(page))
    assert result.exit_code == 0, result.output
    assert f"Written: {page}" in result.output.replace("\n", "")
    sentence = result.output.splitlines()[0]
    assert sentence in page.read_text()
    assert "r1-" not in page.read_text()
    unseen_command(*BASIC[:3], *QUICK, "--report", str(page), "--show-rows", "4")
    assert page.read_text().count("r1-") == 4
    unseen_command(*BASIC[:3], *QUICK, "--report", str(page), "--show-rows")
    assert page.read_text().count("r1-") == 20


def test_by_adds_a_timeline_and_nothing_moves_where_nobody_looks(unseen_command) -> None:
    result = unseen_command(*BASIC[:3], *QUICK, "--by", "day")
    assert result.exit_code == 0, result.output
    assert "'day'" not in result.stdout  # it is used, so nobody need be told that it is not
    assert "reference" in cells_of(result.stdout, "2024-05-01")
    assert cells_of(result.stdout, "2024-05-03")[1] == "60"
    assert result.stderr == ""
    assert "\x1b" not in result.stdout


def test_a_large_table_is_sampled_and_that_is_said(unseen_command) -> None:
    result = unseen_command(*BASIC[:3], *QUICK, "--rows", "100")
    assert "100 of the 200 rows of new.csv were drawn at random." in result.output
    assert "100 of the 160 labelled rows of train.csv were drawn at random." in result.output
    assert cells_of(result.output, "ant")[1] == "62.5%"


def test_one_class_is_enough(unseen_command, tables, tmp_path) -> None:
    lines = (tables / "train.csv").read_text().splitlines()
    only = tmp_path / "ants.csv"
    only.write_text("\n".join([lines[0], *(line for line in lines if line.endswith("ant"))]) + "\n")
    result = unseen_command("estimate", str(only), "new.csv", "--label", "kind")
    assert result.exit_code == 0, result.output
    assert float(cells_of(result.output, "unseen")[2].rstrip("%")) == pytest.approx(60, abs=8)


def test_text_of_the_user_is_no_markup(unseen_command, tables, tmp_path) -> None:
    odd = tmp_path / "[red]train.csv"
    odd.write_text((tables / "train.csv").read_text().replace("ant", "[bold]ant"))
    shutil.copy(tables / "new.csv", tmp_path)
    result = unseen_command("estimate", str(odd), "new.csv", *QUICK)
    assert result.exit_code == 0, result.output
    assert cells_of(result.output, "[bold]ant")[1] == "62.5%"


def test_a_column_that_only_new_has_may_be_dropped(unseen_command) -> None:
    result = unseen_command(*BASIC[:3], *QUICK, "--drop", "day")
    assert result.exit_code == 0, result.output


def test_a_saved_train_does_not_take_windows_for_a_feature(
    unseen_command, tables, tmp_path
) -> None:
    lines = (tables / "train.csv").read_text().splitlines()
    with_day = [f"{lines[0]},day", *(f"{line},{place % 3}" for place, line in enumerate(lines[1:]))]
    (tmp_path / "train.csv").write_text("\n".join(with_day) + "\n")
    saved = str(tmp_path / "train.skops")
    arguments = ("estimate", str(tmp_path / "train.csv"), "new.csv", *QUICK)
    result = unseen_command(*arguments, "--save", saved)
    assert result.exit_code == 1
    assert "'day'" in result.stderr
    (tmp_path / "new.csv").write_text((tables / "new.csv").read_text().replace("2024-05-0", ""))
    new = str(tmp_path / "new.csv")
    assert unseen_command(*arguments[:2], new, *arguments[3:], "--save", saved).exit_code == 0
    result = unseen_command("monitor", saved, new, "--by", "day")
    assert result.exit_code == 1
    assert "the saved TRAIN uses column 'day'" in result.stderr


def test_a_class_of_a_few_rows_is_left_out_with_a_warning(unseen_command, tables, tmp_path) -> None:
    rows = (tables / "train.csv").read_text()
    (tmp_path / "train.csv").write_text(rows + "r,1,1,red,dodo\n" * 3 + "r,1,1,red,NA\n" * 2)
    result = unseen_command("estimate", str(tmp_path / "train.csv"), "new.csv", *QUICK)
    assert result.exit_code == 0, result.output
    assert "warning: Classes of fewer than 10 rows cannot be learnt" in result.output
    assert "'dodo'. Their rows in NEW count as unseen." in result.output
    assert "warning: 2 rows of" in result.output
    assert cells_of(result.output, "ant")[1] == "62.5%"


def test_a_column_that_drifted_is_named(unseen_command, tables, tmp_path) -> None:
    """Ants and bees only, but the ruler changed, and the colour is often missing."""
    header, *rows = (line.split(",") for line in (tables / "train.csv").read_text().splitlines())
    moved = [
        [row[0], str(float(row[1]) + 50), row[2], row[3] if place % 3 else "NA"]
        for place, row in enumerate(rows)
    ]
    train = [[*row[:3], row[3] if place % 40 else "NA", row[4]] for place, row in enumerate(rows)]
    write_csv(tmp_path / "train.csv", header, train)
    write_csv(tmp_path / "new.csv", header[:-1], moved)
    files = (str(tmp_path / "train.csv"), str(tmp_path / "new.csv"))
    output = unseen_command("estimate", *files, "--label", "kind").output
    assert "warning: Outside the range that TRAIN shows: 'length' (100% of the new rows)" in output
    assert "less often than in TRAIN: 'colour' (34% of the new rows, " in output
    assert "If a column drifted and no class is new, drop it" in output
    assert "training never saw" not in output
    for command, *more in (["classify", "-o", str(tmp_path / "o.csv")], ["compare"], ["diagnose"]):
        output = unseen_command(command, *files, "--label", "kind", *more).output
        assert "warning: Outside the range that TRAIN shows: 'length'" in output
        assert "training never saw" not in output


def test_format_offers_every_format_that_can_be_read() -> None:
    from unseen.cli.commands import estimate
    from unseen.tables.formats import FORMATS

    option = next(one for one in estimate.params if one.name == "format")
    assert set(option.type.choices) <= set(FORMATS)
    assert {type(FORMATS[name]) for name in option.type.choices} == set(map(type, FORMATS.values()))


@pytest.mark.parametrize("given", [(), ("--jobs", "3")])
def test_all_cores_share_the_work_or_as_many_as_were_asked_for(
    unseen_command, monkeypatch, given
) -> None:
    asked, of_joblib = [], _team.effective_n_jobs
    monkeypatch.setattr(
        _team, "effective_n_jobs", lambda n_jobs: asked.append(of_joblib(n_jobs)) or asked[-1]
    )
    result = unseen_command("estimate", "train.csv", "new.csv", *QUICK, "--quiet", *given)
    assert result.exit_code == 0, result.output
    assert set(asked) == {3 if given else joblib.cpu_count()}
    assert joblib.effective_n_jobs(None) == 1
