"""``python -m paper``, run as a person runs it."""

from functools import partial

import pytest
from click.testing import CliRunner

from paper.__main__ import main
from paper.methods import METHODS, all_observed
from paper.store import CellStore
from reference.made_cells import make_cells


def test_a_run_writes_the_tables_and_says_where(tmp_path) -> None:
    """A run that was stopped: the cells of one proportion are still to be made."""
    methods = [method for method in METHODS if method.applies is not all_observed]
    with CellStore(tmp_path / "out" / "cells").writer() as write:
        for place, method in enumerate(methods, start=1):
            # As in a real run, closed methods err by twice the share, and no others err alike:
            # single ties would make the signed-rank tests slow.
            level, slope = (0.01 * place, 0.01 * place) if method.opens else (0.0, 2.0)
            errors = partial(lambda a, b, *at: a + b * at[-1], level, slope)
            for cell in make_cells(method.name, errors, ("thyroid",), "unobserved", 1):
                if cell.proportion != 0.5:
                    write(cell)
    options = ["--dataset", "thyroid", "--permutations", "1", "--jobs", "1"]
    result = CliRunner().invoke(main, ["figure2", *options, "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert "Class M not observed" in result.output
    assert f"{len(methods)} cells in" in result.output
    assert "core-hours" in result.output
    written = {file.name for file in (tmp_path / "out").iterdir() if file.is_file()}
    assert {"figure2.png", "figure2.svg", "figure2_slopes.csv", "errors.csv"} <= written
    assert {f"figure2_errors{ending}" for ending in (".txt", ".csv", ".tex")} <= written


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["table1", "--dataset", "iris"], "name must be one of australian, banana"),
        (["--dataset", "iris"], "name must be one of australian, banana"),
        (["table9"], "'table9' is not one of"),
        (["table1", "--permutations", "11"], "11 is not in the range 1<=x<=10"),
    ],
)
def test_what_is_wrong_is_named_in_one_line(options, message, tmp_path) -> None:
    result = CliRunner().invoke(main, [*options, "--out", str(tmp_path / "out")])
    assert result.exit_code in (1, 2)
    assert message in result.output
    assert "Traceback" not in result.output
    assert not (tmp_path / "out").exists()


def test_offline_is_said_in_one_line(tmp_path) -> None:
    """A set that must be downloaded, behind a proxy that is not there."""
    environment = {"UNSEEN_DATA": str(tmp_path), "https_proxy": "http://127.0.0.1:9"}
    options = ["--dataset", "australian", "--out", str(tmp_path / "out")]
    result = CliRunner(env=environment).invoke(main, ["table1", *options])
    assert result.exit_code == 1
    assert result.output.startswith("Error: ")
    assert "UNSEEN_DATA" in result.output
    assert "Traceback" not in result.output
