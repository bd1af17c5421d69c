"""Half of the new rows are of another instrument: with and without the sign of a part that moved.

    python benchmarks/part.py DIR      to results/part.csv; 5 CPU-minutes

``python tools/figures.py --write`` writes the results into docs/drift.md. DIR is the folder that
keel.py reads. Sets are its six, wine, iris and the twenty made families of drift.py. None of them
chose a constant of ``moved_part`` (``unseen/scores/part.py``). Both answers are read off the same
scores.
"""

from __future__ import annotations

from _common import each, write_csv  # isort: skip

import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

import drift
import keel
from drift import FAMILIES, Rows
from unseen import OpenSetEstimator
from unseen.scores.part import MovedPart

SETS = (*keel.SETS, "wine", "iris", *FAMILIES)


def half(move: Callable[..., Rows]) -> Callable[..., Rows]:
    """Every other row, at random, is moved."""

    def moved(X: Rows, sd: Rows, rng: np.random.Generator, y: Rows) -> Rows:
        return np.where(rng.random((len(X), 1)) < 0.5, move(X, sd, rng, y), X)

    return moved


PARTS = {
    "none": drift.DRIFTS["none"],
    "half, offset .3": half(drift.offset(0.3)),
    "half, offset .6": half(drift.offset(0.6)),
    "half, gain 30%": half(drift.gain(0.3)),
}
SHARES = {"none": (0.2, 0.5)}


def todo() -> Iterator[tuple[str, str, float]]:
    for name in SETS:
        for part in PARTS:
            yield from ((name, part, share) for share in SHARES.get(part, (0.0, 0.2)))


def solved(name: str, part: str, share: float, folder: Path) -> dict[str, object]:
    def source(name: str) -> tuple[Rows, Rows]:
        return keel.rows_of(folder / f"{name}.dat") if name in keel.SETS else drift.rows_of(name)

    X, y, X_new, truth = drift.problem(name, part, share, 0, source)
    scores = OpenSetEstimator(random_state=0).fit(X, y).scores(X_new)
    assert scores.moves is not None
    deaf = replace(scores, moves=replace(scores.moves, part=MovedPart()))
    row: dict[str, object] = {"set": name, "drift": part, "share": share, "known": len(truth) - 1}
    row |= {"true_unseen": round(float(truth[-1]), 4)}
    row |= {"log_odds": round(scores.moves.part.log_odds, 2)}
    for by, read in (("", scores), ("_without", deaf)):
        found = OpenSetEstimator().from_scores(read, confidence=0.95)
        low, high = found.intervals[-1].tolist()
        shares = np.append(found.proportions, found.unseen)
        row |= {
            f"unseen{by}": round(found.unseen, 4),
            f"l1{by}": round(float(np.abs(shares - truth).sum()), 4),
            f"low{by}": round(low, 4),
            f"high{by}": round(high, 4),
            f"verdict{by}": found.drift.verdict,
        }
    return row


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    drift.DRIFTS |= PARTS
    write_csv("part.csv", each(partial(solved, folder=Path(sys.argv[1])), todo()))
