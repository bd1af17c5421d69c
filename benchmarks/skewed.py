"""Columns in which equal spread is blind: log-normal ones, and categories coded as numbers.

    python benchmarks/skewed.py made    # 2 CPU-minutes
    python benchmarks/skewed.py real    # 1 CPU-minute

800 labelled and 800 new rows of two made families, without unseen rows and with 25% of them:
``log_normal`` has ten columns ``exp(1.75 z)``, and four classes by the signs of two of them;
``codes`` has three classes with other laws of ten codes from 0 to 7, and five columns of noise. The
last class is the unseen one. ``real`` takes the sets of the paper with many such columns, at
most 400 labelled and 400 new rows, their last class unseen. "before" knows the equal spread alone.
Writes results/skewed_made.csv or results/skewed_real.csv: total-variation errors, unseen shares,
CPU seconds.
"""

from __future__ import annotations

from _common import write_csv  # isort: skip

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from unseen import OpenSetEstimator
from unseen.datasets import load_dataset
from unseen.scores.scales import Standardisation

SEEDS = range(100, 108)
SHARES = 0.0, 0.25
REAL = "thyroid", "german", "splice"
SIZE, SIZE_REAL = 800, 400

Rows = NDArray[Any]
Problem = tuple[str, float, int, Rows, Rows, Rows, Rows]


def log_normal(rng: np.random.Generator) -> Callable[[list[int]], Rows]:
    """Four classes by the signs of two columns, a little blurred."""

    def draw(counts: list[int]) -> Rows:
        z = rng.normal(size=(20 * sum(counts), 10))
        high = z[:, :2] + 0.25 * rng.normal(size=(len(z), 2)) > 0
        code = 2 * high[:, 0] + high[:, 1]
        parts = [z[code == k][:count] for k, count in enumerate(counts)]
        return np.exp(1.75 * np.vstack(parts))

    return draw


def codes(rng: np.random.Generator) -> Callable[[list[int]], Rows]:
    """Three classes with other laws of ten codes, and five columns of noise."""
    law = rng.dirichlet(np.full(8, 3.0), size=(3, 10))

    def draw(counts: list[int]) -> Rows:
        coded = [
            np.column_stack([rng.choice(8, count, p=one) for one in law[k]])
            for k, count in enumerate(counts)
        ]
        return np.hstack([np.vstack(coded), rng.normal(size=(sum(counts), 5))])

    return draw


def made() -> Iterator[Problem]:
    """Problems of the two made families."""
    for family, n_known in ((log_normal, 3), (codes, 2)):
        for seed in SEEDS:
            for share in SHARES:
                rng = np.random.default_rng(seed)
                draw = family(rng)
                old = [SIZE // n_known] * n_known + [0]
                n_unseen = round(share * SIZE)
                among = rng.dirichlet(np.full(n_known, 4.0))
                new = [*rng.multinomial(SIZE - n_unseen, among), n_unseen]
                y, y_new = (np.repeat(np.arange(n_known + 1), counts) for counts in (old, new))
                yield family.__name__, share, seed, draw(old), y, draw(new), y_new


def real() -> Iterator[Problem]:
    """Problems from sets of the paper."""
    for name in REAL:
        data = load_dataset(name)
        classes, codes = np.unique(data.y, return_inverse=True)
        for seed in SEEDS:
            for share in SHARES:
                order = np.random.default_rng(seed).permutation(len(codes))
                last = codes[order] == len(classes) - 1
                known, unseen = order[~last], order[last]
                half = min(len(known) // 2, SIZE_REAL)
                n_unseen = min(round(share * half), len(unseen))
                new = np.concatenate([known[half : 2 * half - n_unseen], unseen[:n_unseen]])
                old = known[:half]
                yield name, share, seed, data.X[old], codes[old], data.X[new], codes[new]


def measured(X: Rows, y: Rows, X_new: Rows, y_new: Rows) -> tuple[float, float, float]:
    """Total-variation error, unseen share, CPU seconds."""
    start = time.process_time()
    estimate = OpenSetEstimator(n_folds=5, random_state=0).fit(X, y).estimate(X_new)
    seconds = time.process_time() - start
    counts = np.bincount(y_new, minlength=y.max() + 2)
    truth = np.append(counts[: y.max() + 1], counts[y.max() + 1 :].sum()) / len(y_new)
    found = np.append(estimate.proportions, estimate.unseen)
    return float(np.abs(found - truth).sum() / 2), float(estimate.unseen), seconds


def main() -> None:
    what = sys.argv[1]
    rows = []
    equal_spread = mock.patch("unseen.scores.klr.fitting_scales", return_value=(Standardisation,))
    for name, share, seed, *sample in {"made": made, "real": real}[what]():
        row: dict[str, Any] = {"set": name, "unseen_share": share, "seed": seed}
        with equal_spread:
            before = measured(*sample)
        for when, numbers in (("before", before), ("after", measured(*sample))):
            for column, number in zip(("error", "unseen", "seconds"), numbers, strict=True):
                row[f"{column}_{when}"] = f"{number:.4f}"
        rows.append(row)
        print(*row.values(), flush=True)
    write_csv(f"skewed_{what}.csv", rows)
    for name, share in dict.fromkeys((row["set"], row["unseen_share"]) for row in rows):
        own = [row for row in rows if (row["set"], row["unseen_share"]) == (name, share)]
        for when in ("before", "after"):
            errors = np.array([float(row[f"error_{when}"]) for row in own])
            print(
                name,
                share,
                when,
                f"{errors.mean():.3f} ({errors.std(ddof=1) / len(own) ** 0.5:.3f})",
            )


if __name__ == "__main__":
    main()
