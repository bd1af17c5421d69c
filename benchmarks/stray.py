"""Codes, faults and units in a few columns: no class is new, or one is.

    python benchmarks/stray.py      to results/stray.csv; 4 CPU-minutes

``python tools/figures.py --write`` writes the results into docs/drift.md. Sets are wine, iris, the
twenty made families of drift.py and ten made sets of small counts, whose columns are mostly 0. None
of them chose a constant of ``unseen/scores/part.py``. With nothing unseen and with 20% by turns.
"""

from __future__ import annotations

from _common import each, write_csv  # isort: skip

import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial

import numpy as np

import drift
from drift import BUNDLED, FAMILIES, Rows, solved

COUNTS = tuple(f"counts {number}" for number in range(10))
SETS = ("wine", "iris", *FAMILIES, *COUNTS)


def column(X: Rows, rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(X.std(axis=0) > 0)))


def unit(X: Rows, sd: Rows, rng: np.random.Generator, y: Rows) -> Rows:
    """A column is written in thousandths."""
    return X * np.where(np.arange(X.shape[1]) == column(X, rng), 1000.0, 1.0)


def unit_of_some(X: Rows, sd: Rows, rng: np.random.Generator, y: Rows) -> Rows:
    """A fifth of the rows has a column in tenths."""
    some, chosen = rng.random((len(X), 1)) < 0.2, np.arange(X.shape[1]) == column(X, rng)
    return np.where(some & chosen, 10 * X, X)


def cells(X: Rows, sd: Rows, rng: np.random.Generator, y: Rows) -> Rows:
    """One cell of a hundred is off by ten deviations."""
    return np.where(rng.random(X.shape) < 0.01, X + 10 * sd * rng.choice([-1, 1], X.shape), X)


def filled(part: float, value: Callable[[Rows], Rows]) -> Callable[..., Rows]:
    """A part of the cells is filled with one value of the column."""

    def spoil(X: Rows, sd: Rows, rng: np.random.Generator, y: Rows) -> Rows:
        return np.where(rng.random(X.shape) < part, value(X), X)

    return spoil


def dead(X: Rows, sd: Rows, rng: np.random.Generator, y: Rows) -> Rows:
    """A sensor gives 0 in three rows of ten."""
    some, chosen = rng.random((len(X), 1)) < 0.3, np.arange(X.shape[1]) == column(X, rng)
    return np.where(some & chosen, 0.0, X)


SPOILS: dict[str, Callable[..., Rows]] = {
    "none": drift.DRIFTS["none"],
    "a column times 1,000": unit,
    "a column times 10, a fifth of the rows": unit_of_some,
    "1% of the cells off by 10 deviations": cells,
    "3% of the cells 0": filled(0.03, lambda X: np.zeros(X.shape[1])),
    "10% of the cells the mean": filled(0.1, lambda X: X.mean(axis=0)),
    "a column 0 in 30% of the rows": dead,
}


@cache
def counts(number: int) -> tuple[Rows, Rows]:
    """Small counts: 4 classes, 10 to 20 columns, each class with rates of its own."""
    rng = np.random.default_rng([number, 21])
    rates = np.exp(rng.normal(-0.7, 1.2, (4, int(rng.integers(10, 21)))))
    y = np.repeat(np.arange(4), 400)
    return rng.poisson(rates[y]).astype(float), y


def source(name: str) -> tuple[Rows, Rows]:
    if name in BUNDLED or name in FAMILIES:
        return drift.rows_of(name)
    return counts(COUNTS.index(name))


def todo() -> Iterator[tuple[str, str, float, int]]:
    for place, name in enumerate(SETS):
        for turn, spoil in enumerate(SPOILS):
            yield name, spoil, (0.0, 0.2)[(place + turn) % 2], 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    drift.DRIFTS |= SPOILS
    write_csv("stray.csv", each(partial(solved, source=source), todo()))
