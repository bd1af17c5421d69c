"""One class among several moves, or a known class is gone: with and without "one class moved".

    python benchmarks/one_class.py      to results/one_class.csv; 25 CPU-minutes; JOBS=16 shares it

``python tools/figures.py --write`` writes the results into docs/drift.md. Sets are wine, iris and
the twenty made families of drift.py, two seeds each; none of them chose a constant of the
hypothesis, which was fitted on families of other numbers, digits, satimage, segment and waveform.
Where nothing moved, all known classes are there, or one of them is gone. Both answers are read off
the same scores.
"""

from __future__ import annotations

from _common import each, write_csv  # isort: skip

import warnings
from collections.abc import Callable, Iterator
from unittest import mock

import numpy as np

import drift
from drift import FAMILIES, Rows
from unseen import OpenSetEstimator
from unseen.drift import hypotheses

SETS, SEEDS = ("wine", "iris", *FAMILIES), (10, 11)
GONE = "none, one class gone"


def some_classes(number: int, move: Callable[..., Rows]) -> Callable[..., Rows]:
    """So many of the classes, at random, are moved."""

    def moved(X: Rows, sd: Rows, rng: np.random.Generator, y: Rows) -> Rows:
        chosen = rng.permutation(np.unique(y))[:number]
        return np.where(np.isin(y, chosen)[:, None], move(X, sd, rng, y), X)

    return moved


KINDS = {
    "none": drift.DRIFTS["none"],
    GONE: drift.DRIFTS["none"],
    "one class, offset .2": some_classes(1, drift.offset(0.2)),
    "one class, offset .4": some_classes(1, drift.offset(0.4)),
    "one class, offset .8": some_classes(1, drift.offset(0.8)),
    "one class, gain 30%": some_classes(1, drift.gain(0.3)),
    "one class, one column": some_classes(1, drift.one_column),
    "two classes, offset .4": some_classes(2, drift.offset(0.4)),
}
SHARES = {"none": (0.05, 0.2, 0.5), GONE: (0.05, 0.2, 0.5), "one class, offset .4": (0.0, 0.2)}


def todo() -> Iterator[tuple[str, str, float, int]]:
    for name in SETS:
        for kind in KINDS:
            for share in SHARES.get(kind, (0.0,)):
                yield from ((name, kind, share, seed) for seed in SEEDS)


def solved(name: str, kind: str, share: float, seed: int) -> dict[str, object]:
    warnings.simplefilter("ignore")
    X, y, X_new, y_new = drift.drawn(name, kind, share, seed)
    known = np.unique(y)
    if kind == GONE:
        there = y_new != np.random.default_rng(seed).choice(known)
        X_new, y_new = X_new[there], y_new[there]
    truth = np.array([np.mean(y_new == label) for label in known])
    truth = np.append(truth, 1 - truth.sum())
    estimator = OpenSetEstimator(random_state=seed).fit(X, y)
    scores = estimator.scores(X_new)
    row: dict[str, object] = {"set": name, "kind": kind, "share": share, "seed": seed}
    row |= {"known": len(known), "true_unseen": round(float(truth[-1]), 4)}
    for by, prior in (("", hypotheses.PROBABILITY_ONE_CLASS), ("_without", 0.0)):
        with mock.patch.object(hypotheses, "PROBABILITY_ONE_CLASS", prior):
            found = estimator.from_scores(scores, confidence=0.95)
        low, high = found.intervals[-1].tolist()
        shares = np.append(found.proportions, found.unseen)
        holds = low - 1e-3 <= truth[-1] <= high + 1e-3
        row |= {
            f"unseen{by}": round(found.unseen, 4),
            f"l1{by}": round(float(np.abs(shares - truth).sum()), 4),
            f"low{by}": round(low, 4),
            f"high{by}": round(high, 4),
            f"verdict{by}": found.drift.verdict,
            f"sure_and_wrong{by}": int(found.drift.verdict == "still" and not holds),
        }
    return row


if __name__ == "__main__":
    drift.DRIFTS |= KINDS
    write_csv("one_class.csv", each(solved, todo()))
