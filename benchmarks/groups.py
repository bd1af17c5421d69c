"""New persons, sites or batches: is the lower end of the unseen share right with held-out groups?

    python benchmarks/groups.py must      what must be new by distances: 1,200 problems, a minute
    python benchmarks/groups.py whole     ``estimate(..., groups=)``: 12 problems, two minutes
    python benchmarks/groups.py control   ``estimate(..., control=)``: 32 problems, three minutes

``python tools/figures.py --write`` writes the results into docs/drift.md.

Rows of a set are dealt to G labelled persons and a new one. Every person has an offset and a gain
of its own in every column. The last class is hidden from training, and makes up 0% or 20% of the
new person's rows. No constant of the method was chosen on these sets.

For ``control`` training has 200 rows that nobody moved. The 150 rows of the control and the 150 new
rows are of one other place, which has an offset and a gain of its own. The first class is half as
common in the new rows as in the control.
"""

from __future__ import annotations

from _common import RESULTS, write_csv  # isort: skip

import sys
import time
import zlib
from itertools import product

import numpy as np
from sklearn.datasets import load_digits, make_blobs, make_classification

import unseen
from unseen.datasets import make_waveform
from unseen.drift import group_tolerance
from unseen.scores.distances import between_groups

SETS = ("blobs", "made", "waveform", "digits")
DRIFTS = {"little": (0.15, 0.03), "much": (0.5, 0.1)}  # offset in deviations, gain
PLACES = {"much": (0.5, 0.1), "far": (1.5, 0.3)}
GROUPS, SHARES = (5, 10, 20), (0.0, 0.2)
ROWS_A_PERSON, ROWS_NEW = 40, 100


def rows_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "blobs":
        return make_blobs(4000, 6, centers=5, cluster_std=4.0, random_state=0)
    if name == "made":
        return make_classification(
            4000, 12, n_informative=8, n_redundant=2, n_classes=4, class_sep=1.5, random_state=0
        )
    if name == "waveform":
        return make_waveform(4000, random_state=0)
    X, y = load_digits(return_X_y=True)
    return X[y < 7], y[y < 7]


def problem(
    name: str, drift: str, n_groups: int, share: float, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Labelled rows, labels and persons, and the rows of a new person."""
    rng = np.random.default_rng([zlib.crc32(f"{name} {drift}".encode()), n_groups, seed])
    X, y = rows_of(name)
    spread, (offset, gain) = X.std(axis=0), DRIFTS[drift]
    hidden = y == y.max()
    known, new = (rng.permutation(np.flatnonzero(one)) for one in (~hidden, hidden))
    n_unseen = round(share * ROWS_NEW)
    sizes = [ROWS_A_PERSON] * n_groups + [ROWS_NEW - n_unseen]
    parts = np.split(known[: sum(sizes)], np.cumsum(sizes)[:-1])
    parts[-1] = np.append(parts[-1], new[:n_unseen])

    def as_person(rows: np.ndarray) -> np.ndarray:
        moved = X[rows] * (1 + gain * rng.normal(size=X.shape[1]))
        return moved + offset * spread * rng.normal(size=X.shape[1])

    persons = [as_person(rows) for rows in parts]
    labels = y[np.concatenate(parts[:-1])]
    return (
        np.vstack(persons[:-1]),
        labels,
        np.repeat(np.arange(n_groups), ROWS_A_PERSON),
        persons[-1],
    )


def must(n_seeds: int = 25) -> None:
    rows = []
    for name, drift, n_groups, share, seed in product(SETS, DRIFTS, GROUPS, SHARES, range(n_seeds)):
        X, y, persons, X_new = problem(name, drift, n_groups, share, seed)
        far = between_groups(X_new, X, persons, np.random.RandomState(seed))
        limits, factors = group_tolerance(far.new, far.labelled, y, persons)
        factor = max(1.0, factors.max())
        rows.append(
            {
                "set": name, "drift": drift, "groups": n_groups, "unseen": share, "seed": seed,
                "factor": f"{factor:.3f}", "must": f"{limits.must(factor):.4f}",
                "must_1": f"{limits.must(1.0):.4f}",
            }
        )  # fmt: skip
    write_csv(RESULTS / "groups_must.csv", rows)


def whole() -> None:
    rows = []
    for name, drift, n_groups, share in product(("blobs", "waveform"), ("much",), GROUPS, SHARES):
        X, y, persons, X_new = problem(name, drift, n_groups, share, 0)
        start = time.process_time()
        asked = {"confidence": 0.95, "random_state": 0}
        found = unseen.estimate(X, y, X_new, groups=persons, **asked)
        took = time.process_time() - start
        alone = unseen.estimate(X, y, X_new, **asked)
        rows.append(
            {
                "set": name, "drift": drift, "groups": n_groups, "unseen": share,
                "share": f"{found.unseen:.4f}", "low": f"{found.intervals[-1, 0]:.4f}",
                "high": f"{found.intervals[-1, 1]:.4f}", "worst": f"{found.held_out.worst:.4f}",
                "verdict": found.drift.verdict, "share_alone": f"{alone.unseen:.4f}",
                "low_alone": f"{alone.intervals[-1, 0]:.4f}",
                "high_alone": f"{alone.intervals[-1, 1]:.4f}", "cpu_s": f"{took:.1f}",
            }
        )  # fmt: skip
        print(rows[-1], flush=True)
        write_csv(RESULTS / "groups_whole.csv", rows)


def place_problem(name: str, drift: str, share: float, seed: int) -> list[np.ndarray]:
    """Labelled rows and labels, the control and the new rows; both of one place that moved."""
    rng = np.random.default_rng([zlib.crc32(f"{name} {drift} place".encode()), seed])
    X, y = rows_of(name)
    hidden = y == y.max()
    known, new = (rng.permutation(np.flatnonzero(one)) for one in (~hidden, hidden))
    train, control, rest = np.split(known, [200, 350])
    rest = rest[(y[rest] != y.min()) | (rng.random(len(rest)) < 0.5)]
    n_unseen = round(share * 150)
    here = np.append(rest[: 150 - n_unseen], new[:n_unseen])
    offset, gain = PLACES[drift]
    by = 1 + gain * rng.normal(size=X.shape[1])
    move = offset * X.std(axis=0) * rng.normal(size=X.shape[1])
    return [X[train], y[train], X[control] * by + move, X[here] * by + move]


def control(n_seeds: int = 2) -> None:
    rows = []
    for name, drift, share, seed in product(SETS, PLACES, SHARES, range(n_seeds)):
        X, y, of_place, X_new = place_problem(name, drift, share, seed)
        asked = {"confidence": 0.95, "random_state": seed}
        alone = unseen.estimate(X, y, X_new, **asked)
        found = unseen.estimate(X, y, X_new, control=of_place, **asked)
        rows.append({"set": name, "drift": drift, "unseen": share, "seed": seed})
        for by, one in (("_alone", alone), ("", found)):
            low, high = one.intervals[-1]
            rows[-1] |= {f"share{by}": f"{one.unseen:.4f}", f"low{by}": f"{low:.4f}"}
            rows[-1] |= {f"high{by}": f"{high:.4f}", f"verdict{by}": one.drift.verdict}
        print(rows[-1], flush=True)
        write_csv(RESULTS / "groups_control.csv", rows)


if __name__ == "__main__":
    {"must": must, "whole": whole, "control": control}[sys.argv[1]]()
