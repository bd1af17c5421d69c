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


@pytest.mark.parametrize("command", ["nonsense", "reproduce"])
def test_unknown_command_is_an_error(command) -> None:
    result = run(command)
    assert result.returncode == 2
    assert f"No such command '{command}'" in result.stderr


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
