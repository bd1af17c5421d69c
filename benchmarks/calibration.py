"""Does the default mean what it says? Its probability of "anything unseen", and its intervals.

Simulated problems of the five kinds of coverage.py, 2 to 4 known classes. In half of them nothing
is unseen; in the others the unseen share is drawn from the prior that the default has for it. The
estimator has that prior too (``prior_closed=0.5``). Of the problems where it says that something is
unseen with probability p, a share p should then be open, and nominal 95% intervals should hold 95%
of the shares that the rows were drawn with.

No problem here was used in developing the default. Run: python benchmarks/calibration.py
[n_problems]; 8 minutes on two cores; writes results/calibration.csv.
"""

from __future__ import annotations

from _common import each, write_csv  # isort: skip

import sys
import warnings
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from coverage import CONFIDENCE, KINDS, draw_problem
from unseen import OpenSetEstimator, UnseenWarning
from unseen.proportions.open_set import SMALL_SHARE

BINS = (0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0)


@dataclass(frozen=True)
class Case:
    """One problem: what was true of it and what was said."""

    kind: str
    unseen: float
    probability: float
    covered: np.ndarray
    width: np.ndarray


def unseen_share(rng: np.random.Generator) -> float:
    """From the density ``~ 1 / (u + SMALL_SHARE)``, by its inverse distribution function."""
    return float(SMALL_SHARE * ((1 + 1 / SMALL_SHARE) ** rng.uniform() - 1))


def measure(number: int) -> Case:
    rng = np.random.default_rng([2027, number])
    kind = list(KINDS)[number % len(KINDS)]
    is_open = number // len(KINDS) % 2 == 1
    n_known, unseen = int(rng.integers(2, 5)), unseen_share(rng)
    problem = draw_problem(rng, kind, n_known, unseen if is_open else 0.0)
    warnings.simplefilter("ignore", UnseenWarning)
    estimator = OpenSetEstimator(prior_closed=0.5, random_state=0).fit(problem.X, problem.y)
    found = estimator.estimate(problem.X_new, confidence=CONFIDENCE)
    lower, upper = found.intervals.T
    covered = (lower - 1e-9 <= problem.shares) & (problem.shares <= upper + 1e-9)
    probability = found.diagnostics["probability_unseen"]
    return Case(kind, float(problem.shares[-1]), probability, covered, upper - lower)


def reliability(cases: list[Case]) -> list[dict[str, object]]:
    said = np.array([case.probability for case in cases])
    is_open = np.array([case.unseen > 0 for case in cases])
    rows = []
    for low, high in pairwise(BINS):
        here = (said >= low) & ((said < high) | (high == 1))
        n, true = int(here.sum()), is_open[here].mean() if here.any() else np.nan
        if n:
            row = dict(what="probability", group=f"{low:g} to {high:g}", n=n)
            se = np.sqrt(max(true * (1 - true), 1 / n) / n)
            means = dict(said=f"{said[here].mean():.3f}", true=f"{true:.3f}", se=f"{se:.3f}")
            rows.append(row | means)
    return rows


def coverage(cases: list[Case]) -> list[dict[str, object]]:
    found = defaultdict(list)
    for case in cases:
        hypothesis = "open" if case.unseen > 0 else "closed"
        for group in (hypothesis, f"{hypothesis}, {case.kind}"):
            # A problem's intervals hang together: the problem is the unit.
            known = case.covered[:-1].mean(), case.width[:-1].mean()
            found["known classes", group].append(known)
            found["unseen", group].append((case.covered[-1], case.width[-1]))
    rows = []
    for (what, group), pairs in sorted(found.items()):
        inside, width = np.array(pairs, dtype=float).T
        se = inside.std(ddof=1) / np.sqrt(len(inside))
        row = dict(what=f"coverage of {what}", group=group, n=len(pairs), said=f"{CONFIDENCE}")
        rows.append(row | dict(true=f"{inside.mean():.3f}", se=f"{se:.3f}"))
        rows[-1]["median width"] = f"{np.median(width):.3f}"
    return rows


def main() -> None:
    n_problems = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    cases = list(each(measure, ((number,) for number in range(n_problems))))
    rows = reliability(cases) + coverage(cases)
    for row in rows:
        print("  ".join(f"{key}={value}" for key, value in row.items()))
    write_csv("calibration.csv", rows)


if __name__ == "__main__":
    main()
