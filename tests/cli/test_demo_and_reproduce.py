"""The command line, run as a person runs it."""

import os
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import unseen
from unseen.cli import main
from unseen.demo import Demo, digit_samples, total_variation

CALL = "from unseen.cli import main; main()"


@pytest.fixture(scope="module")
def record() -> Demo:
    return Demo.run(0)


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", CALL, *arguments],
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | environment,
    )


def test_version() -> None:
    result = CliRunner().invoke(main, ["--version"])
    assert result.output == f"unseen, version {unseen.__version__}\n"


def test_help_names_the_demo_and_is_quick(child_cpu_seconds) -> None:
    assert "demo" in CliRunner().invoke(main, ["--help"]).output
    assert child_cpu_seconds("-c", CALL, "--help") < 0.5


def test_unknown_command_is_an_error() -> None:
    result = run("nonsense")
    assert result.returncode == 2
    assert "No such command 'nonsense'" in result.stderr


def test_demo_prints_the_table_without_colour_when_piped(record: Demo) -> None:
    result = run("demo", COLUMNS="100")
    assert result.returncode == 0, result.stderr
    assert "\x1b" not in result.stdout
    first, *rest = result.stdout.splitlines()
    assert first == (
        f"About {record.estimate.unseen:.0%} of the new rows come from classes that training "
        "never saw (truth: 30%)."
    )
    (unseen_row,) = [line for line in rest if "unseen" in line]
    cells = [cell.strip() for cell in unseen_row.strip("│┃ ").split("│")]
    assert cells == ["unseen", f"{record.estimate.unseen:.1%}", "30.0%", "0.0%"]
    assert "Took " in result.stdout


def test_demo_finds_the_hidden_digits(record: Demo) -> None:
    ours, closed = record.errors
    assert record.truth[-1] == pytest.approx(0.3)
    assert abs(record.estimate.unseen - 0.3) < 0.1
    assert closed >= 0.3
    assert ours < closed / 2


def test_demo_takes_a_few_seconds(record: Demo) -> None:
    assert record.seconds < 20


def test_demo_hides_digits_from_training_and_shares_no_row() -> None:
    X, y, X_new, y_new = digit_samples(3)
    assert set(y) == set(range(7))
    assert set(y_new) == set(range(10))
    assert not {row.tobytes() for row in X} & {row.tobytes() for row in X_new}


def test_total_variation_is_the_mass_that_moves() -> None:
    p, q = np.array([1.0, 0.0, 0.0]), np.array([0.2, 0.3, 0.5])
    assert total_variation(p, q) == pytest.approx(0.8)
    assert total_variation(q, q) == 0


def test_reproduce_writes_the_table_and_says_where(tmp_path) -> None:
    options = ["--dataset", "thyroid", "--permutations", "1", "--jobs", "1"]
    result = CliRunner().invoke(
        main, ["reproduce", "figure2", *options, "--out", str(tmp_path / "out")]
    )
    assert result.exit_code == 0, result.output
    assert "Class M not observed" in result.output
    assert "core-hours" in result.output
    written = {file.name for file in (tmp_path / "out").iterdir() if file.is_file()}
    assert {"figure2.png", "figure2.svg", "figure2_slopes.csv", "errors.csv"} <= written
    assert {f"figure2_errors{ending}" for ending in (".txt", ".csv", ".tex")} <= written


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["table1", "--dataset", "iris"], "name must be one of australian, banana"),
        (["table9"], "'table9' is not one of"),
        (["table1", "--permutations", "11"], "11 is not in the range 1<=x<=10"),
    ],
)
def test_reproduce_names_what_is_wrong_in_one_line(options, message, tmp_path) -> None:
    result = CliRunner().invoke(main, ["reproduce", *options, "--out", str(tmp_path / "out")])
    assert result.exit_code in (1, 2)
    assert message in result.output
    assert "Traceback" not in result.output
    assert not (tmp_path / "out").exists()


def test_reproduce_says_when_it_is_offline(tmp_path) -> None:
    """A set that must be downloaded, behind a proxy that is not there."""
    environment = {"UNSEEN_DATA": str(tmp_path), "https_proxy": "http://127.0.0.1:9"}
    result = run("reproduce", "table1", "--dataset", "australian", **environment)
    assert result.returncode == 1
    assert result.stderr.startswith("Error: ")
    assert "UNSEEN_DATA" in result.stderr
    assert "Traceback" not in result.stderr
