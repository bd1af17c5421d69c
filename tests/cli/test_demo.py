"""The command line, run as a person runs it."""

import re
import time
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

import unseen
from reference.small_tables import cells_of
from unseen.cli import main
from unseen.demo import Demo, digit_samples, total_variation

CALL = "from unseen.cli import main; main()"


def test_version() -> None:
    result = CliRunner().invoke(main, ["--version"])
    assert result.output == f"unseen, version {unseen.__version__}\n"


def test_help_names_the_demo_and_is_quick(child_cpu_seconds) -> None:
    assert "demo" in CliRunner().invoke(main, ["--help"]).output
    assert child_cpu_seconds("-c", CALL, "--help") < 0.5


@pytest.mark.parametrize("command", ["nonsense", "reproduce"])
def test_unknown_command_is_an_error(command) -> None:
    result = CliRunner().invoke(main, [command])
    assert result.exit_code == 2
    assert f"No such command '{command}'" in result.output


@pytest.fixture(scope="module")
def demo() -> tuple[str, float]:
    """What the demo prints, and the seconds of CPU time that it takes."""
    start = time.process_time()
    result = CliRunner().invoke(main, ["demo"], env={"COLUMNS": "100"})
    assert result.exit_code == 0, result.output
    return result.output, time.process_time() - start


@pytest.fixture(scope="module")
def printed(demo: tuple[str, float]) -> str:
    return demo[0]


def column(printed: str, place: int) -> np.ndarray:
    """The shares in a column of the table: of the digits 0 to 6, then of unseen."""
    rows = [cells_of(printed, name) for name in (*"0123456", "unseen")]
    return np.array([float(cells[place].rstrip("%")) / 100 for cells in rows])


def test_demo_prints_the_table_without_colour_when_piped(printed: str) -> None:
    assert "\x1b" not in printed
    label, share, interval, truth, closed_set = cells_of(printed, "unseen")
    assert (label, truth, closed_set) == ("unseen", "30.0%", "0.0%")
    first, second, *_ = printed.splitlines()
    assert share.replace(".0%", "%") in first
    lower, upper = (float(end.rstrip("%")) for end in interval.split(" to "))
    lies = "inside" if lower <= 30 <= upper else "outside"
    assert second == f"The truth, 30%, lies {lies} the 95% interval."


def test_demo_finds_the_hidden_digits(printed: str) -> None:
    estimated, truth, closed_set = (column(printed, place) for place in (1, 3, 4))
    assert abs(estimated[-1] - 0.3) < 0.1
    assert closed_set[-1] == 0
    ours, closed = (total_variation(shares, truth) for shares in (estimated, closed_set))
    assert closed >= 0.3
    assert ours < closed / 2
    told = cells_of(printed, "total error")
    assert [float(told[place].rstrip("%")) for place in (1, 4)] == pytest.approx(
        [100 * ours, 100 * closed], abs=0.5
    )


def test_the_demo_judges_what_it_prints() -> None:
    shares = np.array([0.3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.2])
    record = Demo.run(0)
    for truth in (0.3 - 1e-16, 0.3 + 1e-16):
        ends = replace(
            record.estimate, intervals=[*record.estimate.intervals[:-1], [0.30033, 0.45]]
        )
        assert replace(record, estimate=ends, truth=np.append(shares * 0.7, truth)).holds


def test_demo_takes_a_few_seconds(demo: tuple[str, float]) -> None:
    text, seconds = demo
    assert re.search(r"Took \S+ s\.", text)
    assert seconds < 10


def test_demo_hides_digits_from_training_and_shares_no_row() -> None:
    X, y, X_new, y_new = digit_samples(3)
    assert set(y) == set(range(7))
    assert set(y_new) == set(range(10))
    assert not {row.tobytes() for row in X} & {row.tobytes() for row in X_new}


def test_total_variation_is_the_mass_that_moves() -> None:
    p, q = np.array([1.0, 0.0, 0.0]), np.array([0.2, 0.3, 0.5])
    assert total_variation(p, q) == pytest.approx(0.8)
    assert total_variation(q, q) == 0


def test_unseen_alone_is_a_tour_of_all_commands_whose_examples_can_be_parsed() -> None:
    result = CliRunner().invoke(main, [])
    assert (result.exit_code, result.output) == (0, CliRunner().invoke(main, ["--help"]).output)
    lines = [line.split() for line in result.output.splitlines() if line.startswith("    unseen ")]
    assert sorted(name for _, name, *_ in lines) == sorted(main.commands)
    for _, name, *arguments in lines:
        assert not main.commands[name].make_context(name, arguments).args
    assert max(map(len, result.output.splitlines())) <= 80
