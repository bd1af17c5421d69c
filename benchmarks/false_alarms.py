"""How often does each diagnostic fire on clean data, and how often on data that break its rule?

Clean: 200 draws of the problems of ``coverage.py`` (other seeds), where the classes keep apart
and the new rows of a known class look like its labelled rows. Each check should fire in fewer
than 1 of 20. Broken: 30 draws for each check, made to violate what it watches.

Run: python benchmarks/false_alarms.py [n_clean]; writes results/false_alarms.csv.
"""

from __future__ import annotations

from _common import write_csv  # isort: skip

import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from coverage import FloatArray, IntArray, make_problem
from unseen import MPEIncomplete
from unseen.records import Estimate

FIRST_CLEAN = 30_000  # problems on which nothing was tuned
N_BROKEN = 30
# A check is known by its words in the warnings.
WORDS = {
    "hidden_share": "looks like it",
    "right_end_bend": "bends at the right end",
    "misfit": "strays from the ROC",
    "overfull": "more than 1 beyond noise",
    "effective_rows": "are few",
    "class_drift": "may have drifted",
}
Samples = tuple[FloatArray, IntArray, FloatArray]


def normal(rng: np.random.Generator, centre: float, n_rows: int, width: int = 2) -> FloatArray:
    return rng.normal(centre, 1, (n_rows, width))


def hidden_class(rng: np.random.Generator) -> Samples:
    """Four tenths of class 1 look like class 0."""
    X = np.vstack([normal(rng, 0, 500), normal(rng, 0, 200), normal(rng, 5, 300)])
    new = np.vstack([normal(rng, 0, 400), normal(rng, 5, 200)])
    return X, np.repeat([0, 1], 500), new


def overlap(rng: np.random.Generator) -> Samples:
    """The new rows are one standard deviation away: nothing in them is the class alone."""
    return normal(rng, 0, 2000, 1), np.zeros(2000, dtype=int), normal(rng, 1, 2000, 1)


def two_steps(rng: np.random.Generator) -> Samples:
    """A ROC with a corner in its middle: no curve of the model has one."""
    X = np.concatenate([normal(rng, 0, 500, 1), normal(rng, 12, 500, 1)])
    new = np.concatenate([normal(rng, 0, 50, 1), normal(rng, 12, 950, 1)])
    return X, np.zeros(1000, dtype=int), new


def twins(rng: np.random.Generator) -> Samples:
    """Two known classes with the same distribution: both claim the same rows."""
    return normal(rng, 0, 1000), np.repeat([0, 1], 500), normal(rng, 0, 800)


def few_rows(rng: np.random.Generator) -> Samples:
    return normal(rng, 0, 40), np.zeros(40, dtype=int), normal(rng, 0, 60)


def drifted(rng: np.random.Generator) -> Samples:
    """The new rows of class 0 have moved by one and a half standard deviations."""
    X = np.vstack([normal(rng, 0, 600), normal(rng, 8, 600)])
    new = np.vstack([normal(rng, 0, 600) + np.array([0, 1.5]), normal(rng, 8, 400)])
    return X, np.repeat([0, 1], 600), new


BROKEN: dict[str, Callable[[np.random.Generator], Samples]] = {
    "hidden_share": hidden_class,
    "right_end_bend": overlap,
    "misfit": two_steps,
    "overfull": twins,
    "effective_rows": few_rows,
    "class_drift": drifted,
}


def diagnosed(X: FloatArray, y: IntArray, X_new: FloatArray) -> Estimate:
    return MPEIncomplete(random_state=0).fit(X, y).estimate(X_new, diagnose=True)


def fired(estimate: Estimate) -> set[str]:
    return {
        name
        for name, words in WORDS.items()
        if any(words in notice.text for notice in estimate.notices)
    }


def false_alarms(n_draws: int) -> Counter[str]:
    """Clean draws in which each check fired."""
    found: Counter[str] = Counter()
    for number in range(FIRST_CLEAN, FIRST_CLEAN + n_draws):
        problem = make_problem(number)
        found.update(fired(diagnosed(problem.X, problem.y, problem.X_new)))
    return found


def true_alarms(name: str, n_draws: int) -> int:
    """Broken draws in which the check fired."""
    draws = (BROKEN[name](np.random.default_rng([3, seed])) for seed in range(n_draws))
    return sum(name in fired(diagnosed(*draw)) for draw in draws)


def main() -> None:
    n_clean = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    warnings.simplefilter("ignore", ConvergenceWarning)
    start = time.process_time()
    clean = false_alarms(n_clean)
    rows = [
        [name, n_clean, f"{clean[name] / n_clean:.3f}", N_BROKEN,
         f"{true_alarms(name, N_BROKEN) / N_BROKEN:.3f}"]
        for name in WORDS
    ]  # fmt: skip
    for row in rows:
        print("{:16s} {} clean draws, fires in {}; {} broken draws, fires in {}".format(*row))
    print(f"{time.process_time() - start:.0f} CPU seconds")
    if n_clean == 200:
        names = ("diagnostic", "clean_draws", "fires_on_clean", "broken_draws", "fires")
        write_csv("false_alarms.csv", [dict(zip(names, row, strict=True)) for row in rows])


if __name__ == "__main__":
    main()
