"""Time to fit RejectionForest against scikit-learn's random forest, one thread each.

    python benchmarks/forest_speed.py     about 3 minutes on one core

100 trees on the same 20 features. scikit-learn's forest learns all labels of n rows; ours learns
from half of them with labels (those of one class of six left out) and from the other half without,
which is n rows too, less the labelled ones of that class. Three times for ours: ``fit``, with
out-of-bag probabilities and risk; the same with leaves as small as scikit-learn's, one row; and
``grow``, the trees and their leaves alone, which is what scikit-learn does in ``fit``. Best of
three, turn by turn, so that a busy machine troubles all alike. CPU seconds; ``ratio`` is against
scikit-learn at the same n. Writes results/forest_speed.csv.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import csv
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from unseen.rejection.forest import RejectionForest
from unseen.rejection.sample import OpenSample

SIZES = (5_000, 20_000)
REPEATS = 3


def contenders(n_rows: int) -> dict[str, Callable[[], object]]:
    X, y = make_classification(
        n_rows, 20, n_informative=10, n_classes=6, n_clusters_per_class=2, random_state=0
    )
    labelled = (np.arange(n_rows) < n_rows // 2) & (y < 5)
    X_new, hidden = X[n_rows // 2 :], y[n_rows // 2 :]
    shares = np.bincount(hidden, minlength=6)[:5] / len(hidden)
    sample = OpenSample(X[labelled], y[labelled], X_new, shares)

    def ours(**parameters: object) -> Callable[[], object]:
        forest = RejectionForest(100, random_state=0, **parameters)
        return lambda: forest.fit(X[labelled], y[labelled], X_new, shares)

    return {
        "RandomForestClassifier(100).fit": lambda: RandomForestClassifier(
            100, n_jobs=1, random_state=0
        ).fit(X, y),
        "RejectionForest(100).fit": ours(),
        "RejectionForest(100, min_leaf=1).fit": ours(min_leaf=1),
        "RejectionForest(100), grow": lambda: RejectionForest(100)._fit_rule(
            sample, np.random.RandomState(0)
        ),
    }


def seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def main() -> None:
    rows = []
    for n_rows in SIZES:
        runs = contenders(n_rows)
        best = dict.fromkeys(runs, np.inf)
        for _ in range(REPEATS):
            for name, run in runs.items():
                best[name] = min(best[name], seconds(run))
        base = best["RandomForestClassifier(100).fit"]
        for name, value in best.items():
            row = dict(rows=n_rows, forest=name, cpu_seconds=f"{value:.2f}")
            rows.append(row | dict(ratio=f"{value / base:.2f}"))
            print(" ".join(f"{key}={value}" for key, value in rows[-1].items()), flush=True)
    with (Path(__file__).parent / "results" / "forest_speed.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
