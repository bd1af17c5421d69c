"""What must not change an answer, tried on drawn problems: how far each change moves the shares.

    python benchmarks/properties.py                  # 12 problems, 10 CPU-minutes
    python benchmarks/properties.py --problems 2

The changes are in ``tests/reference/same_answers.py``. They are made before the default alone, with
a control, with groups and from scores, before two other estimators, and before a full pass. Every
answer must lie on the simplex and within its intervals, no lower than what must be new. A change
that leaves only rounding must move no share by more than that; after any other, the interval of the
unseen share must meet that of before. Results: `results/properties.csv`.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit

from _common import ROOT, write_csv

sys.path.insert(0, str(ROOT / "tests"))

import unseen
from reference import same_answers as same

PLAIN = {"classifier": unseen.KernelLogisticRegression(bandwidth=2.0, C=1.0), "random_state": 0}
INCOMPLETE, EM = unseen.MPEIncomplete(**PLAIN), unseen.SaerensEM(**PLAIN)


@dataclass(frozen=True)
class Way:
    """A way to an answer: the problems that it takes, every how many of them, which changes."""

    solve: Callable[[same.Problem], unseen.Estimate]
    every: int = 1
    told: tuple[str, ...] = ()
    leaves_out: tuple[str, ...] = ()
    exact: tuple[same.Change, ...] = same.EXACT

    @property
    def changes(self) -> list[same.Change]:
        """What must not change its answer."""
        return [one for one in same.EXACT + same.NEAR if one.__name__ not in self.leaves_out]


def from_scores(given: same.Problem) -> unseen.Estimate:
    """The columns are probabilities of the classes."""
    return unseen.estimate_from_scores(
        given.X, given.y, given.X_new, confidence=0.95, random_state=0
    )


# With groups one answer takes seven estimates. Probabilities have no units. For MPE-Incomplete each
# half of a class has the whole share. In a full pass the values of a row choose its fold.
WAYS = {
    "default": Way(same.Problem.solved),
    "with a control": Way(same.Problem.solved, 3, ("control",)),
    "with groups": Way(same.Problem.solved, 6, ("groups",)),
    "from scores": Way(from_scores, 3, leaves_out=("constant", "affine", "unit_of_one")),
    "MPE-Incomplete": Way(lambda one: one.solved(estimator=INCOMPLETE), leaves_out=("halves",)),
    "EM": Way(lambda one: one.solved(estimator=EM)),
    "full pass": Way(
        lambda one: one.solved(estimator=INCOMPLETE, full=True),
        leaves_out=("halves",),
        exact=(same.numbers, same.container, same.row_order, same.class_order),
    ),
}


def problem(way: str, seed: int) -> same.Problem:
    """A problem of the kind that the way takes."""
    given = same.drawn(np.random.default_rng(seed), **dict.fromkeys(WAYS[way].told, True))
    if way != "from scores":
        return given
    return given.rows(lambda rows: expit(rows[:, :1] * [-1, 1]))


def moved(
    way: Way, change: same.Change, given: same.Problem, before: unseen.Estimate, seed: int
) -> tuple[float, list[str]]:
    """How far a change moves a share, and what is wrong."""
    after = way.solve(change(given, np.random.default_rng(seed)))
    move = np.abs(same.known_shares(after) - same.known_shares(before)).max()
    wrong = same.unsound(after)
    if change in way.exact and move > same.ROUNDING:
        wrong.append("moved")
    return float(move), wrong + ["intervals apart"] * same.apart(before, after)


def tried(n_problems: int) -> list[dict[str, Any]]:
    """A row for each way and change."""
    rows = []
    for name, way in WAYS.items():
        seeds = range(0, n_problems, way.every)
        problems = [problem(name, seed) for seed in seeds]
        before = [way.solve(one) for one in problems]
        for change in way.changes:
            found = map(partial(moved, way, change), problems, before, seeds)
            moves, wrong = zip(*found, strict=True)
            rows.append(
                {
                    "way": name,
                    "change": change.__name__,
                    "problems": len(moves),
                    "mean move": f"{np.mean(moves):.2g}",
                    "largest move": f"{max(moves):.2g}",
                    "wrong": "; ".join(one for some in wrong for one in some),
                }
            )
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Try every way; the exit code is 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=12)
    given = parser.parse_args()
    warnings.simplefilter("ignore", unseen.UnseenWarning)
    rows = tried(given.problems)
    n_wrong = sum(bool(row["wrong"]) for row in rows)
    said = (
        f"{len(rows)} properties, {sum(row['problems'] for row in rows)} examples, {n_wrong} wrong"
    )
    write_csv("properties.csv", rows, f"--problems {given.problems}: {said}")
    print(said)
    sys.exit(n_wrong > 0)


if __name__ == "__main__":
    main()
