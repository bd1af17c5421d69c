"""Reads the committed results that the figures of the pages come from; see figures.py."""

from __future__ import annotations

import csv
import json
from functools import cache
from pathlib import Path
from statistics import mean, stdev
from typing import Any

ROOT = Path(__file__).parents[1]
Row = dict[str, str]


@cache
def table(name: str) -> list[Row]:
    """A csv file of results; lines that begin with # are remarks."""
    path = ROOT / (name if "/" in name else f"benchmarks/results/{name}.csv")
    lines = [line for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


@cache
def table_by(name: str, columns: tuple[str, ...]) -> dict[tuple[str, ...], list[Row]]:
    """The rows of a table by their values in some columns."""
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in table(name):
        found.setdefault(tuple(row[column] for column in columns), []).append(row)
    return found


def rows(name: str, /, **where: object) -> list[Row]:
    """The rows of a table with these values; there must be one at least."""
    return table_by(name, tuple(where))[tuple(map(str, where.values()))]


def cell(name: str, column: str, /, **where: object) -> float:
    """The one value of a column with these values in others."""
    (row,) = rows(name, **where)
    return float(row[column])


def average(name: str, column: str, /, **where: object) -> tuple[float, float]:
    """Mean and standard error of a column."""
    values = numbers(rows(name, **where), column)
    error = stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return mean(values), error


def record(name: str) -> Any:
    """A json file of results."""
    return json.loads((ROOT / f"benchmarks/results/{name}.json").read_text("utf-8"))


def numbers(part: list[Row], column: str) -> list[float]:
    """A column of some rows."""
    return [float(row[column]) for row in part]


def count(part: list[Row], column: str, value: str) -> int:
    """How many rows have this value in a column."""
    return sum(row[column] == value for row in part)
