"""Steps in some of many columns: the default with boosting among its classifiers, and without.

    python benchmarks/boosting.py    # 4 CPU-minutes

Each class has values of its own column within a narrow band in a part of its rows, and is uniform
otherwise, in 20 columns; ``gaussian`` are classes in two columns that a kernel reads best. As many
new rows as labelled ones, their shares drawn anew, all of known classes. Writes
results/boosting.csv: total-variation errors, whether boosting was chosen, CPU seconds. The seeds
are none of those that the method was developed with.
"""

from __future__ import annotations

from _common import write_csv  # isort: skip

import time
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from unseen import OpenSetEstimator

SEEDS = range(100, 110)
COLUMNS = 20
Rows = NDArray[Any]


def steps(narrow: float) -> Callable[[np.random.Generator, Rows], Rows]:
    """Rows of classes of which so large a part is within the band."""

    def draw(rng: np.random.Generator, y: Rows) -> Rows:
        X = rng.uniform(size=(len(y), COLUMNS))
        inside = rng.random(len(y)) < narrow
        X[inside, y[inside]] = 0.4 + 0.2 * X[inside, y[inside]]
        return X

    return draw


def gaussian(rng: np.random.Generator, y: Rows) -> Rows:
    """Rows of classes on a circle, which overlap."""
    angle = 2 * np.pi * y / (y.max() + 1)
    centres = 1.5 * np.column_stack([np.cos(angle), np.sin(angle)])
    return centres + rng.normal(size=centres.shape)


# How rows are drawn, labelled rows of each class, classes.
PROBLEMS = {
    "steps, 2 classes": (steps(0.8), 400, 2),
    "steps, 3 classes": (steps(0.8), 400, 3),
    "steps, 3 classes, many rows": (steps(0.8), 1500, 3),
    "half steps, 3 classes": (steps(0.5), 400, 3),
    "gaussian, 3 classes": (gaussian, 400, 3),
}


def measured(X: Rows, y: Rows, X_new: Rows, truth: Rows) -> tuple[float, bool, float]:
    """Total-variation error, whether boosting was chosen, CPU seconds."""
    start = time.process_time()
    estimator = OpenSetEstimator(random_state=0).fit(X, y)
    scores = estimator.scores(X_new)
    estimate = estimator.from_scores(scores)
    seconds = time.process_time() - start
    found = np.append(estimate.proportions, estimate.unseen)
    assert scores.posteriors is not None
    return float(np.abs(found - truth).sum() / 2), scores.posteriors.boosted, seconds


def main() -> None:
    rows, without = [], mock.patch("unseen.scores.posteriors.may_boost", return_value=False)
    for name, (draw, size, n_classes) in PROBLEMS.items():
        for seed in SEEDS:
            rng = np.random.default_rng(seed)
            y = np.repeat(np.arange(n_classes), size)
            counts = rng.multinomial(len(y), rng.dirichlet(np.full(n_classes, 4.0)))
            X, X_new = draw(rng, y), draw(rng, np.repeat(np.arange(n_classes), counts))
            sample = X, y, X_new, np.append(counts, 0) / len(y)
            with without:
                before = measured(*sample)
            error, chosen, seconds = measured(*sample)
            row: dict[str, Any] = {"problem": name, "seed": seed, "chosen": int(chosen)}
            row.update(error_before=f"{before[0]:.4f}", error_after=f"{error:.4f}")
            row.update(seconds_before=f"{before[2]:.2f}", seconds_after=f"{seconds:.2f}")
            rows.append(row)
            print(*row.values(), flush=True)
    write_csv("boosting.csv", rows)


if __name__ == "__main__":
    main()
