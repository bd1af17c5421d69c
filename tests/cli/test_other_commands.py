"""``classify``, ``monitor``, ``compare``, ``diagnose`` and ``methods``."""

import json
import re
from contextlib import chdir
from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result
from numpy.testing import assert_allclose, assert_array_equal

import unseen
from reference.small_tables import cells_of, table, write_csv
from unseen.cli import main
from unseen.tables import Columns

TABLES = ("train.csv", "new.csv", "--label", "kind")


@pytest.fixture(scope="module")
def classified(tables, tmp_path_factory) -> tuple[Result, Path]:
    """What ``classify`` said, and the folder with the labels and the rule that it wrote."""
    folder = tmp_path_factory.mktemp("classified")
    files = ("-o", str(folder / "labelled.parquet"), "--save", str(folder / "rule.skops"))
    with chdir(tables):
        result = CliRunner().invoke(main, ["classify", *TABLES, *files])
    assert result.exit_code == 0, result.output
    return result, folder


def test_classify_labels_every_row_in_place(classified, tables) -> None:
    result, folder = classified
    labelled = pyarrow.parquet.read_table(folder / "labelled.parquet")
    new = pyarrow.csv.read_csv(tables / "new.csv")
    assert labelled["id"].to_pylist() == new["id"].to_pylist()
    extra = labelled.column_names[len(new.column_names) :]
    names = [f"probability_{label}" for label in ("ant", "bee", "unseen")]
    assert extra == ["predicted", "novelty", *names]
    total = sum(labelled[name].to_numpy() for name in names)
    assert_allclose(total, 1.0)
    counts = {row: int(cells_of(result.output, row)[1]) for row in ("ant", "bee", "unseen")}
    assert sum(counts.values()) == new.num_rows
    assert counts["unseen"] == labelled["predicted"].to_pylist().count("unseen")
    assert counts["unseen"] == pytest.approx(60, abs=10)
    # csv has only text, parquet has not.
    assert_allclose(labelled["length"].to_numpy(), new["length"].to_numpy())
    pattern = r"share: ([\d.]+)% \(([\d.]+)% to ([\d.]+)%\)\.\s.*\sof\s([\d.]+)\sor"
    said = re.search(pattern, result.output)
    share, lower, upper, cut = map(float, said.groups())
    assert lower < share < upper
    assert share == pytest.approx(100 * counts["unseen"] / new.num_rows, abs=0.5)
    called = labelled["novelty"].to_numpy() >= cut - 0.005
    assert_array_equal(called, np.array(labelled["predicted"].to_pylist()) == "unseen")
    assert re.search(r"Estimated error rate: 0\.0\d\d, standard error 0\.\d{3}\.", result.output)


def test_classify_holds_groups_out(unseen_command, tmp_path) -> None:
    rng = np.random.default_rng(0)
    person, kind = np.repeat([0, 1], 40), np.tile(["ant", "bee"], 40)
    own = rng.normal(0, 0.6, (3, 2))  # every person measures a little differently
    rows = rng.normal(0, 1, (80, 2)) + 6.0 * (kind == "bee")[:, None] + own[person]
    new = rng.normal(0, 1, (40, 2)) + own[2]
    labelled = [[*row, *rest] for row, *rest in zip(rows, kind, person, strict=True)]
    write_csv(tmp_path / "train.csv", ["x", "y", "kind", "person"], labelled)
    write_csv(tmp_path / "new.csv", ["x", "y", "person"], [[*row, 2] for row in new])
    tables = [str(tmp_path / name) for name in ("train.csv", "new.csv")]
    files = ("-o", str(tmp_path / "out.csv"), "--json", "-", "--save", str(tmp_path / "r.skops"))
    found = json.loads(
        unseen_command("classify", *tables, "--label", "kind", *files, "--group", "person").stdout
    )
    assert found["rows"]["unseen"] <= 4
    assert "few_groups" in {notice["code"] for notice in found["notices"]}
    again = (str(tmp_path / "r.skops"), tables[1], "-o", str(tmp_path / "more.csv"))
    refused = unseen_command("classify", *again, "--group", "person")
    assert refused.exit_code == 1
    assert "TRAIN is a rule" in refused.stderr


def test_classify_tells_programs_what_it_tells_people(unseen_command, tmp_path) -> None:
    command = ("classify", *TABLES, "-o", str(tmp_path / "out.csv"), "--reject-rate", "0.5")
    shown = unseen_command(*command, "--json", str(tmp_path / "out.json")).output
    told = json.loads((tmp_path / "out.json").read_text())
    assert (told["format"], told["kind"]) == (2, "classification")
    labelled = pyarrow.csv.read_csv(tmp_path / "out.csv")
    called = np.array(labelled["predicted"].to_pylist()) == "unseen"
    assert_array_equal(labelled["novelty"].to_numpy() >= told["novelty_cut"], called)
    assert told["rows"] == {
        label: int(cells_of(shown, label)[1]) for label in ("ant", "bee", "unseen")
    }
    assert told["rows"]["unseen"] == pytest.approx(100, abs=2)  # the cut that was asked for
    unseen_share = told["unseen"]
    assert unseen_share["low"] <= unseen_share["share"] <= unseen_share["high"]
    assert f"share: {unseen_share['share']:.1%}" in shown
    assert f"of {told['novelty_cut']:.2f} or more" in shown
    assert f"standard error {told['error_rate']['standard_error']:.3f}" in shown
    assert told["fitted_on_these_rows"]
    for notice in told["notices"]:
        assert f"{notice['severity']}: {notice['text']}" in shown.replace("\n", " ")


def test_classify_states_no_error_rate_where_a_column_moved(unseen_command, tmp_path) -> None:
    rng = np.random.default_rng(0)
    centres = np.repeat([-2.0, 2.0], 100)
    old, new = (rng.normal(centres[:, None], 1, (200, 6)) for _ in range(2))
    new[:, 3] += 1.5
    names = [f"s{place}" for place in range(6)]
    kinds = np.repeat(["left", "right"], 100)[:, None]
    write_csv(tmp_path / "train.csv", [*names, "kind"], np.hstack([old.astype(str), kinds]))
    write_csv(tmp_path / "new.csv", names, new)
    files = (str(tmp_path / "train.csv"), str(tmp_path / "new.csv"), "--label", "kind")
    json_path = tmp_path / "told.json"
    out = ("-o", str(tmp_path / "out.csv"), "--json", str(json_path))
    saved = str(tmp_path / "rule.skops")
    shown = unseen_command("classify", *files, *out, "--save", saved).output.replace("\n", " ")
    assert "the known classes have moved, mostly in column s3;" in shown
    assert "Estimated error rate: not stated, as the known classes have moved." in shown
    told = json.loads(json_path.read_text())
    assert told["drift"]["verdict"] == "moved"
    assert told["error_rate"] == {"estimate": None, "standard_error": None}
    assert {"risk_withheld", "laid_back"} <= {notice["code"] for notice in told["notices"]}
    assert told["rows"]["unseen"] <= 20
    shown = unseen_command("classify", saved, files[1], *out).output.replace("\n", " ")
    assert "fit a rule anew for rows of another batch" in shown
    assert [notice["code"] for notice in json.loads(json_path.read_text())["notices"]] == [
        "laid_back"
    ]


def test_a_class_called_unseen_is_refused(unseen_command, tables, tmp_path) -> None:
    odd = tmp_path / "train.csv"
    odd.write_text((tables / "train.csv").read_text().replace("bee", "unseen"))
    for command in ("estimate", "classify", "compare"):
        options = ("-o", str(tmp_path / "out.csv")) if command == "classify" else ()
        result = unseen_command(command, str(odd), "new.csv", "--label", "kind", *options)
        assert result.exit_code == 1
        assert "must have other names than 'unseen'" in result.stderr
        assert "rename it in column 'kind'" in result.stderr


def test_classify_says_what_the_rule_says_out_of_fold(classified, tables) -> None:
    train, new = (pyarrow.csv.read_csv(tables / name) for name in ("train.csv", "new.csv"))
    columns = Columns(label="kind").fit(train)
    rule = unseen.RejectionClassifier(random_state=0)
    labels = rule.fit_predict_new(
        columns.transform(train), train["kind"].to_pylist(), columns.transform(new)
    )
    written = pyarrow.parquet.read_table(classified[1] / "labelled.parquet")
    assert written["predicted"].to_pylist() == labels.tolist()


def test_a_saved_rule_labels_other_tables_without_a_fit(
    unseen_command, classified, tmp_path
) -> None:
    folder, other = classified[1], tmp_path / "other.csv"
    result = unseen_command("classify", str(folder / "rule.skops"), "new.csv", "-o", str(other))
    assert result.exit_code == 0, result.output
    assert "For the rows that the rule was fitted to:" in result.output
    assert "note: Ignored columns that only NEW has: 'day'." in result.output
    first = pyarrow.parquet.read_table(folder / "labelled.parquet")["predicted"].to_numpy()
    again = pyarrow.csv.read_csv(other)["predicted"].to_numpy()
    assert np.mean(first == again) > 0.95


def test_only_one_aim_moves_the_cut(unseen_command, tmp_path) -> None:
    result = unseen_command(
        "classify", *TABLES, "-o", str(tmp_path / "x.csv"), "--recall", "1", "--fdr", "0.1"
    )
    assert (result.exit_code, (tmp_path / "x.csv").exists()) == (2, False)


def test_columns_of_the_user_are_not_hidden(unseen_command, classified, tables, tmp_path) -> None:
    odd = tmp_path / "new.csv"
    odd.write_text((tables / "new.csv").read_text().replace("day", "novelty", 1))
    out = tmp_path / "out.csv"
    rule = str(classified[1] / "rule.skops")
    assert unseen_command("classify", rule, str(odd), "-o", str(out)).exit_code == 0
    names = pyarrow.csv.read_csv(out).column_names
    assert names[4:7] == ["novelty", "unseen_predicted", "unseen_novelty"]


def test_monitor_tells_the_day_that_differs(unseen_command, tables, tmp_path) -> None:
    rows = pyarrow.csv.read_csv(tables / "new.csv")
    truth = rows["width"].to_numpy() > 3.5  # cats
    days = np.where(np.arange(rows.num_rows) % 2 == 0, "2024-05-01", "2024-05-02")
    days[truth] = "2024-05-02"
    changed = rows.set_column(rows.column_names.index("day"), "day", [days])
    pyarrow.csv.write_csv(changed, tmp_path / "new.csv")
    arguments = ["monitor", "train.csv", str(tmp_path / "new.csv"), "--label", "kind"]
    arguments += ["--by", "day:day", "--fail-if-changed", "--json", str(tmp_path / "out.json")]
    result = unseen_command(*arguments)
    assert result.exit_code == 3, result.output
    assert result.output.startswith("The unseen share rose in 2024-05-02, from 0.0% to ")
    assert cells_of(result.output, "2024-05-01")[4] == "reference"
    assert cells_of(result.output, "2024-05-02")[4] == "changed, unseen too"
    timeline = json.loads((tmp_path / "out.json").read_text())["timeline"]
    assert timeline["changed_unseen"] == [False, True]


def test_compare_shows_who_is_blind(plain) -> None:
    output, _ = plain("compare")
    assert cells_of(output, "SaerensEM")[1:3] == ["no", "-"]
    sees, unseen_share = cells_of(output, "OpenSetEstimator")[1:3]
    assert sees == "yes"
    assert float(unseen_share.rstrip("%")) > 20
    assert output.index("MPEIncomplete") < output.index("AdjustedCount")
    assert "Methods below the line" in output


def test_diagnose_has_a_row_per_class_and_a_bound(plain) -> None:
    output, _ = plain("diagnose")
    verdict, slope = cells_of(output, "ant")[1:3]
    assert verdict == "ok"
    assert float(slope) == pytest.approx(0.4, abs=0.1)
    assert "Bend: 1 where the ROC ends straight" in output
    assert "certified to be unseen" in output  # of 200 rows, none


def test_a_shell_completes_commands_options_and_methods() -> None:
    shell = ShellComplete(main, {}, "unseen", "_UNSEEN_COMPLETE")

    def completed(begun: str, *before: str) -> list[str]:
        return [item.value for item in shell.get_completions([*before], begun)]

    assert completed("es") == ["estimate"]
    assert completed("--conf", "estimate") == ["--confidence"]
    assert completed("mpei", "estimate", "--method") == ["MPEIncomplete"]
    script = CliRunner(env={"_UNSEEN_COMPLETE": "zsh_source"}).invoke(main, [], prog_name="unseen")
    assert "compdef" in script.output


def test_methods_says_who_sees(unseen_command) -> None:
    output = unseen_command("methods").output
    assert cells_of(output, "OpenSetEstimator")[1] == "yes"
    assert cells_of(output, "SaerensEM")[1] == "no"
    exported = [name for name in unseen.__all__ if name in output]
    assert {"MPEIncomplete", "MPEJoint", "L2Distance"} <= set(exported)


def test_training_as_reference_has_the_shares_of_the_whole_table(unseen_command, tmp_path) -> None:
    """900 and 100 rows, of which 200 are used: 100 of each class. Nothing has changed."""
    train = [row[1:] for row in table({"ant": 900, "bee": 100}, 2)]
    new = [
        [*row[1:-1], f"w{place // 150}"]
        for place, row in enumerate(table({"ant": 270, "bee": 30}, 3))
    ]
    write_csv(tmp_path / "train.csv", ["length", "width", "colour", "kind"], train)
    write_csv(tmp_path / "new.csv", ["length", "width", "colour", "week"], new)
    arguments = ["monitor", str(tmp_path / "train.csv"), str(tmp_path / "new.csv")]
    arguments += ["--label", "kind", "--by", "week", "--rows", "400", "--reference", "training"]
    arguments += ["--method", "SaerensEM"]
    result = unseen_command(*arguments, "--json", str(tmp_path / "out.json"))
    assert result.exit_code == 0, result.output
    timeline = json.loads((tmp_path / "out.json").read_text())["timeline"]
    assert timeline["reference_estimate"]["proportions"] == pytest.approx([0.9, 0.1], abs=0.01)
    assert timeline["changed"] == [False, False]
