"""How often do the change tests of `unseen.monitor` raise a false alarm, and what do they find?

Streams of windows against a reference, at 5% per window, before any adjustment for their number.
Gaussian classes in 2 to 10 dimensions, the nearest two 2 to 4 standard deviations apart; 2 to 5
known classes, 60 or 200 labelled rows of each, 100 to 600 rows per window. Each stream holds two
windows in which nothing has changed, and one for each kind of change. The tests do not depend on
the estimator of the shares, so that a cheap one is used.

The seeds are not those on which the tests were chosen.

    python benchmarks/monitor.py [n_streams]    writes results/monitor.csv
    python benchmarks/monitor.py windows        the unseen shares of windows beside those that
                                                `unseen.estimate` finds in the same rows; writes
                                                results/monitor_windows.csv
"""

from __future__ import annotations

from _common import write_csv  # isort: skip

import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from unseen import SaerensEM, estimate
from unseen._types import FloatArray
from unseen.monitoring import Timeline, monitor

SEED = 20_240
LEVEL = 0.05
N_STREAMS = 40
FEWEST, MOST = 100, 600
UNSEEN, WINDOW_ROWS, N_TWICE = (0.0, 0.05, 0.2, 0.5), 200, 4

Shares = FloatArray


def moved(shares: Shares, points: float) -> Shares:
    """Some rows of the largest known class become rows of the smallest one."""
    changed = shares.copy()
    known = shares[:-1]
    changed[known.argmax()] -= points
    changed[known.argmin()] += points
    return changed


def unseen_at(shares: Shares, unseen: float) -> Shares:
    """The same shares among the known, and another unseen share."""
    known = shares[:-1] / shares[:-1].sum()
    return np.append((1 - unseen) * known, unseen)


CHANGES: dict[str, Callable[[Shares], Shares]] = {
    "nothing": lambda shares: shares,
    "nothing (again)": lambda shares: shares,
    "known share, 5 points": lambda shares: moved(shares, 0.05),
    "known share, 10 points": lambda shares: moved(shares, 0.10),
    "unseen share, 5 points": lambda shares: unseen_at(shares, shares[-1] + 0.05),
    "unseen share, 10 points": lambda shares: unseen_at(shares, shares[-1] + 0.10),
}


def centres(rng: np.random.Generator, n_classes: int) -> FloatArray:
    """Of which the nearest two are 2 to 4 apart."""
    points = rng.normal(size=(n_classes, int(rng.choice([2, 5, 10]))))
    gaps = np.linalg.norm(points[:, None] - points[None], axis=2)
    return points * rng.uniform(2, 4) / gaps[np.triu_indices(n_classes, 1)].min()


def stream(rng: np.random.Generator, unseen: float, reference: str | None) -> Timeline:
    """One problem: a window for the reference, and one for each change."""
    n_rows = int(np.exp(rng.uniform(np.log(FEWEST), np.log(MOST))))
    n_classes = int(rng.integers(2, 6))
    middle = centres(rng, n_classes + 1)
    per_class = int(rng.choice([60, 200]))
    y = np.repeat(np.arange(n_classes), per_class)
    shares = np.full(n_classes, 1 / n_classes)
    if reference is None:
        shares = rng.dirichlet(np.full(n_classes, 5.0))
    start = np.append((1 - unseen) * shares, unseen)
    laws = {"reference": start} | {name: change(start) for name, change in CHANGES.items()}
    codes = np.concatenate([rng.choice(n_classes + 1, n_rows, p=law) for law in laws.values()])
    rows = middle[codes] + rng.normal(size=(len(codes), middle.shape[1]))
    X = middle[y] + rng.normal(size=(len(y), middle.shape[1]))
    keys = np.repeat([f"{place} {name}" for place, name in enumerate(laws)], n_rows)
    seed = int(rng.integers(2**31))
    return monitor(X, y, rows, keys, reference=reference, estimator=SaerensEM(), random_state=seed)


def tallied(unseen: float, reference: str | None, n_streams: int) -> list[dict[str, object]]:
    """Share of windows with a p-value at most the level, for each change."""
    found = defaultdict(list)
    for number in range(n_streams):
        key = [SEED, number, int(100 * unseen), int(reference is not None)]
        timeline = stream(np.random.default_rng(key), unseen, reference)
        for place, window in enumerate(timeline.windows):
            change = window.split(" ", 1)[1].removesuffix(" (again)")
            p_values = timeline.raw_p_values[place], timeline.raw_p_values_unseen[place]
            if not np.isnan(p_values[0]):
                found["nothing" if change == "reference" else change].append(p_values)
    return [
        {
            "unseen_before": unseen,
            "reference": reference or "first window",
            "change": change,
            "windows": len(pairs),
            **rates(np.array(pairs)),
        }
        for change, pairs in found.items()
    ]


def rates(p_values: FloatArray) -> dict[str, float]:
    """How often each test fires, with its standard error."""
    low = p_values <= LEVEL
    named = zip(("any_change", "unseen"), low.mean(axis=0), strict=True)
    return {
        column: round(float(value), 4)
        for name, rate in named
        for column, value in (
            (name, rate),
            (f"{name}_error", np.sqrt(rate * (1 - rate) / len(low))),
        )
    }


def shares_twice(rng: np.random.Generator) -> FloatArray:
    """Unseen shares in windows of one stream: true, by monitor, by estimate; (windows, 3)."""
    n_classes = int(rng.integers(2, 6))
    middle = centres(rng, n_classes + 1)
    y = np.repeat(np.arange(n_classes), 1000 // n_classes)
    known = np.append(rng.dirichlet(np.full(n_classes, 5.0)), 0.0)
    laws = [unseen_at(known, share) for share in UNSEEN]
    codes = np.array([rng.choice(n_classes + 1, WINDOW_ROWS, p=law) for law in laws])
    X, rows = (middle[c] + rng.normal(size=(*c.shape, middle.shape[1])) for c in (y, codes))
    keys = np.repeat(UNSEEN, WINDOW_ROWS)
    found = monitor(X, y, np.vstack(rows), keys, random_state=0).estimates
    alone = [estimate(X, y, window, confidence=0.95, random_state=0) for window in rows]
    by_monitor, by_estimate = ([one.unseen for one in every] for every in (found, alone))
    return np.column_stack([(codes == n_classes).mean(axis=1), by_monitor, by_estimate])


def windows() -> None:
    every = np.array([shares_twice(np.random.default_rng([SEED, k])) for k in range(N_TWICE)])
    lines = []
    for share, (truth, ours, theirs) in zip(UNSEEN, every.transpose(1, 2, 0), strict=True):
        gap = ours - theirs
        line = {
            "unseen": share,
            "windows": len(gap),
            "difference": gap.mean(),
            "difference_error": gap.std(ddof=1) / len(gap) ** 0.5,
            "absolute_difference": np.abs(gap).mean(),
            "largest": np.abs(gap).max(),
            "error_monitor": np.abs(ours - truth).mean(),
            "error_estimate": np.abs(theirs - truth).mean(),
        }
        lines.append({name: round(float(value), 4) for name, value in line.items()})
        print(*lines[-1].values(), sep="  ")
    write_csv("monitor_windows.csv", lines)


def main(n_streams: int = N_STREAMS) -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    began = time.process_time()
    lines = []
    for unseen, reference in ((0.0, None), (0.1, None), (0.0, "training")):
        lines += tallied(unseen, reference, n_streams if reference is None else n_streams // 2)
        print(f"{time.process_time() - began:.0f} CPU-seconds", flush=True)
    if n_streams == N_STREAMS:
        write_csv("monitor.csv", lines)
    for line in lines:
        print(*line.values(), sep="  ")


if __name__ == "__main__":
    if sys.argv[1:] == ["windows"]:
        windows()
    else:
        main(*map(int, sys.argv[1:2]))
