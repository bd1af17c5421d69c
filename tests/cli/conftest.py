"""Two small tables as files, with columns of every kind."""

import inspect
import json
from contextlib import chdir
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from reference.small_tables import N_UNSEEN, table, write_csv
from unseen.cli import main


@pytest.fixture(scope="session")
def tables(tmp_path_factory) -> Path:
    """train.csv (ants and bees), new.csv (also cats: 30%; with a day), control.csv (no cats)."""
    folder = tmp_path_factory.mktemp("tables")
    header = ["id", "length", "width", "colour"]
    train = table({"ant": 100, "bee": 60}, 0)
    write_csv(folder / "train.csv", [*header, "kind"], train)
    persons = [[*row[:-1], f"p{place % 2}", row[-1]] for place, row in enumerate(train)]
    write_csv(folder / "persons.csv", [*header, "person", "kind"], persons)
    new = [
        [*row[:-1], f"2024-05-0{1 + place // 70}"]
        for place, row in enumerate(table({"ant": 80, "bee": 60, "cat": N_UNSEEN}, 1))
    ]
    write_csv(folder / "new.csv", [*header, "day"], new)
    control = [row[:-1] for row in table({"ant": 50, "bee": 40}, 2)]
    write_csv(folder / "control.csv", header, control)
    return folder


@pytest.fixture
def unseen_command(tables, monkeypatch):
    """Run a command in the folder of the tables; standard error apart."""
    monkeypatch.chdir(tables)

    # Until click 8.2 standard error was apart only if one asked for it.
    apart = "mix_stderr" in inspect.signature(CliRunner).parameters

    def run(*arguments: str, **options):
        runner = CliRunner(**({"mix_stderr": False} if apart else {}))
        return runner.invoke(main, list(arguments), **options)

    return run


@pytest.fixture(scope="session")
def plain(tables, tmp_path_factory):
    """What a plain command on both tables shows, and the record that it writes; each runs once."""

    @cache
    def told(command: str) -> tuple[str, dict]:
        file = tmp_path_factory.mktemp(command) / "out.json"
        arguments = [command, "train.csv", "new.csv", "--label", "kind", "--json", str(file)]
        with chdir(tables):
            result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0, result.output
        return result.output, json.loads(file.read_text())

    return told
