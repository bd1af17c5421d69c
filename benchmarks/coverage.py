"""Do nominal 95% intervals cover the true shares 95% of the time, and how wide are they?

200 simulated problems of five kinds: 1 to 4 known classes, 200 to 2000 labelled and as many
new rows, 0 to 60% of them unseen. The factor of the default interval was chosen on
400 other draws, half of them of these kinds and half of four others. Open-set intervals are
read off one set of scores; closed-set estimators join in where nothing is unseen and there are
two classes or more.

Run: python benchmarks/coverage.py [n_problems]; writes results/coverage.csv.
"""

from __future__ import annotations

from _common import write_csv  # isort: skip

import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from unseen import AdjustedCount, MPEIncomplete, SaerensEM
from unseen._types import FloatArray, IntArray
from unseen.intervals import Calibrated, IntervalEvidence, Percentile, RocBand

CONFIDENCE = 0.95
UNSEEN_SHARES = (0.0, 0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
LEAST_ROWS = 50
INTERVALS = {
    "Calibrated (default)": Calibrated(),
    "RocBand": RocBand(),
    "Percentile": Percentile(),
}

# (class, rows) -> rows of that class; the class after the last known one is the unseen one.
Draw = Callable[[int, int], FloatArray]


@dataclass(frozen=True)
class Problem:
    """Labelled rows, new rows, and the shares that the latter were drawn with."""

    kind: str
    X: FloatArray
    y: IntArray
    X_new: FloatArray
    shares: FloatArray


def spread_centres(rng: np.random.Generator, n_centres: int, width: int) -> FloatArray:
    """Centres of which the nearest two are 2.5 to 6 apart."""
    centres = rng.normal(size=(n_centres, width))
    gaps = np.linalg.norm(centres[:, None] - centres[None], axis=2)[np.triu_indices(n_centres, 1)]
    return centres * rng.uniform(2.5, 6.0) / gaps.min()


def student(rng: np.random.Generator, n_classes: int) -> Draw:
    """Heavy tails: Student's t with 5 degrees of freedom, in 2 to 6 dimensions."""
    width = int(rng.integers(2, 7))
    centres = spread_centres(rng, n_classes, width)
    return lambda k, n: centres[k] + rng.standard_t(5, size=(n, width)) * np.sqrt(3 / 5)


def ellipses(rng: np.random.Generator, n_classes: int) -> Draw:
    """Gaussians with a covariance of their own, in 3 dimensions."""
    centres = spread_centres(rng, n_classes, 3)
    roots = [np.eye(3) + 0.4 * rng.normal(size=(3, 3)) for _ in range(n_classes)]
    return lambda k, n: centres[k] + rng.normal(size=(n, 3)) @ roots[k]


def wide(rng: np.random.Generator, n_classes: int) -> Draw:
    """Gaussians in 20 dimensions, as in twonorm."""
    centres = spread_centres(rng, n_classes, 20)
    return lambda k, n: centres[k] + rng.normal(size=(n, 20))


def rings(rng: np.random.Generator, n_classes: int) -> Draw:
    """Noisy circles around one centre."""
    radii = rng.permutation(np.arange(n_classes)) * rng.uniform(3.0, 5.0)

    def draw(k: int, n: int) -> FloatArray:
        angle = rng.uniform(0, 2 * np.pi, n)
        circle = radii[k] * np.column_stack([np.cos(angle), np.sin(angle)])
        return circle + rng.normal(size=(n, 2))

    return draw


def digits(rng: np.random.Generator, n_classes: int) -> Draw:
    """Handwritten digits: real rows, no row drawn twice; all other digits are unseen."""
    images, labels = load_digits(return_X_y=True)
    chosen = rng.permutation(10)
    groups = [*chosen[: n_classes - 1, None], chosen[n_classes - 1 :]]
    pools = [list(rng.permutation(np.flatnonzero(np.isin(labels, group)))) for group in groups]
    return lambda k, n: images[[pools[k].pop() for _ in range(n)]] / 16.0


KINDS = {
    "student": student,
    "ellipses": ellipses,
    "wide": wide,
    "rings": rings,
    "digits": digits,
}
# A digit has at least 174 images, which must do for both samples: rows of a class, and
# expected and largest number of new rows of a class.
N_LABELLED_DIGITS, N_EXPECTED_DIGITS, N_LARGEST_DIGITS = 80, 70, 94
# Six digits or more are unseen, with more than a thousand images.
N_EXPECTED_UNSEEN = 900


def make_problem(number: int) -> Problem:
    rng = np.random.default_rng([2026, number])
    kind = list(KINDS)[number % len(KINDS)]
    return draw_problem(rng, kind, int(rng.integers(1, 5)), float(rng.choice(UNSEEN_SHARES)))


def draw_problem(rng: np.random.Generator, kind: str, n_known: int, unseen: float) -> Problem:
    """200 to 2000 labelled and as many new rows; shares of the known classes at random."""
    shares = np.append(rng.dirichlet(np.ones(n_known)) * (1 - unseen), unseen)
    n_labelled, n_new = (int(200 * 10 ** rng.uniform(0, 1)) for _ in range(2))
    per_class = max(LEAST_ROWS, n_labelled // n_known)
    if kind == "digits":
        per_class = min(per_class, N_LABELLED_DIGITS)
        n_new = min(n_new, int(N_EXPECTED_DIGITS / shares[:-1].max()))
        n_new = min(n_new, int(N_EXPECTED_UNSEEN / max(unseen, 1e-9)))
    draw = KINDS[kind](rng, n_known + 1)
    X = np.vstack([draw(k, per_class) for k in range(n_known)])
    counts = rng.multinomial(n_new, shares)
    if kind == "digits":
        counts[:-1] = np.minimum(counts[:-1], N_LARGEST_DIGITS)
    X_new = np.vstack([draw(k, count) for k, count in enumerate(counts)])
    return Problem(kind, X, np.repeat(np.arange(n_known), per_class), X_new, shares)


def open_set_limits(problem: Problem) -> Iterator[tuple[str, FloatArray]]:
    """Every kind of interval, from the same scores and the same replicates."""
    estimator = MPEIncomplete(random_state=0).fit(problem.X, problem.y)
    scores = estimator.scores(problem.X_new)
    estimate = estimator.from_scores(scores)
    evidence = IntervalEvidence(
        np.append(estimate.proportions, estimate.unseen),
        cache(lambda n, seed: estimator.replicates(scores, n, seed)),
        estimate.n_new,
        scores.pairs,
        0,
    )
    for name, interval in INTERVALS.items():
        yield f"MPEIncomplete, {name}", interval.limits(evidence, CONFIDENCE)


def closed_set_limits(problem: Problem) -> Iterator[tuple[str, FloatArray]]:
    """The default interval of two closed-set estimators, from the same posteriors."""
    estimators = [SaerensEM(random_state=0), AdjustedCount(random_state=0)]
    scores = estimators[0].fit(problem.X, problem.y).scores(problem.X_new)
    for estimator in estimators:
        name = type(estimator).__name__
        found = estimator.from_scores(scores, confidence=CONFIDENCE)
        yield f"{name}, Calibrated (default)", found.intervals


def measure(numbers: range) -> dict[tuple[str, str, str], list[tuple[bool, float]]]:
    """Whether each interval covers, and its width, by method, kind of problem and share."""
    found = defaultdict(list)
    for number in numbers:
        problem = make_problem(number)
        methods = list(open_set_limits(problem))
        if problem.shares[-1] == 0 and len(problem.shares) > 2:
            methods += closed_set_limits(problem)
        for method, limits in methods:
            closed = not method.startswith("MPE")
            for k, (lower, upper) in enumerate(limits):
                what = "unseen" if k == len(limits) - 1 else "known class"
                if closed and what == "unseen":
                    continue
                covers = lower - 1e-9 <= problem.shares[k] <= upper + 1e-9
                for kind in (problem.kind, "all"):
                    found[method, kind, what].append((covers, upper - lower))
    return found


def main() -> None:
    n_problems = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    warnings.simplefilter("ignore", ConvergenceWarning)
    start = time.process_time()
    found = measure(range(n_problems))
    rows = []
    for (method, kind, what), cases in sorted(found.items()):
        covers, widths = np.array(cases).T
        rows.append([method, kind, what, len(cases), f"{covers.mean():.3f}",
                     f"{np.median(widths):.3f}"])  # fmt: skip
    for row in rows:
        if row[1] == "all":
            print("{:40s} {:8s} {:12s} {:5d} covers {} median width {}".format(*row))
    print(f"{n_problems} problems, {time.process_time() - start:.0f} CPU seconds")
    if n_problems == 200:
        names = ("method", "problems", "share", "intervals", "coverage", "median_width")
        write_csv("coverage.csv", [dict(zip(names, row, strict=True)) for row in rows])


if __name__ == "__main__":
    main()
