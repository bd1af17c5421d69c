"""Coverage of the default intervals of closed-set estimators, on overlapping classes.

    python benchmarks/coverage_closed.py             100 problems, about a minute
    python benchmarks/coverage_closed.py --choose    the 60 problems on which the stretch was chosen

Two to four heavy-tailed classes that overlap, few labelled rows, other shares in the new rows.
Writes results/coverage_closed.csv.
"""

from __future__ import annotations

from _common import write_csv  # isort: skip

import sys
from collections import defaultdict

import numpy as np

from unseen import AdjustedCount, SaerensEM
from unseen.intervals import Calibrated

DEVELOPMENT, REPORTED = range(5000, 5060), range(6000, 6100)
STRETCHES = (1.0, 1.1, 1.2, 1.4)


def problem(seed: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    n_classes, n_features = int(rng.integers(2, 5)), int(rng.integers(2, 8))
    n_labelled, n_new = int(rng.integers(80, 400)), int(rng.integers(200, 1000))
    centres = rng.normal(0, rng.uniform(0.8, 2.0), (n_classes, n_features))
    y = np.repeat(np.arange(n_classes), n_labelled // n_classes)
    X = centres[y] + rng.standard_t(6, (len(y), n_features))
    shares = rng.dirichlet(np.ones(n_classes))
    y_new = rng.choice(n_classes, n_new, p=shares)
    return X, y, centres[y_new] + rng.standard_t(6, (n_new, n_features)), shares


def measure(seeds: range, stretches: tuple[float | None, ...]) -> dict:
    """Covered or not, and width, by estimator and stretch (None: the default interval)."""
    found = defaultdict(list)
    for seed in seeds:
        X, y, X_new, shares = problem(seed)
        scores = SaerensEM(random_state=0).fit(X, y).scores(X_new)
        for estimator in (SaerensEM(random_state=0), AdjustedCount(random_state=0)):
            for stretch in stretches:
                interval = None if stretch is None else Calibrated(stretch=stretch)
                limits = estimator.from_scores(scores, confidence=0.95, interval=interval).intervals
                lower, upper = limits[: len(shares)].T
                covers = (lower <= shares) & (shares <= upper)
                found[type(estimator).__name__, stretch] += zip(covers, upper - lower, strict=True)
    return found


def main() -> None:
    choose = "--choose" in sys.argv
    found = measure(*((DEVELOPMENT, STRETCHES) if choose else (REPORTED, (None,))))
    rows = []
    for (name, stretch), cases in found.items():
        covers, widths = np.array(cases, dtype=float).T
        rows.append([name, stretch or "default", len(cases), f"{covers.mean():.3f}",
                     f"{np.median(widths):.3f}"])  # fmt: skip
        print(*rows[-1])
    if not choose:
        names = ("estimator", "stretch", "intervals", "coverage", "median_width")
        write_csv("coverage_closed.csv", [dict(zip(names, row, strict=True)) for row in rows])


if __name__ == "__main__":
    main()
