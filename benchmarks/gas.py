"""Drift of real sensors: six gases, whose sensors changed from batch to batch.

    python benchmarks/gas.py gas_drift.npz

The file holds X (rows x 128 columns), y (the gas) and batch, of the gas sensor array drift set of
the UCI repository (Vergara et al. 2012, CC BY 4.0); the project does not ship it. Batches 1 and 2
were looked at when the constants of ``unseen/drift`` were chosen; 3 to 5 were not.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import unseen

RESULTS = Path(__file__).parent / "results" / "gas.json"
MOST_ROWS, FOLDS = 600, 10
HIDDEN = "Ethylene"


def drawn(places: Any, rng: np.random.Generator) -> Any:
    """At most 600 rows, drawn at random."""
    return rng.permutation(places)[:MOST_ROWS]


def case(name: str, X: Any, y: Any, old: Any, new: Any, hidden: str | None) -> dict[str, Any]:
    """The answer of the default and of closed-set EM, and the truth.

    A gas of fewer rows than folds cannot be learnt, and counts as unseen.
    """
    gases, counts = np.unique(y[old], return_counts=True)
    known = [gas for gas in gases[counts >= FOLDS].tolist() if gas != hidden]
    old = old[np.isin(y[old], known)]
    truth = np.array([np.mean(y[new] == gas) for gas in known])
    unseen_truth = 1 - truth.sum()
    found = unseen.estimate(X[old], y[old], X[new], confidence=0.95, random_state=0)
    em = unseen.SaerensEM(random_state=0).fit(X[old], y[old]).estimate(X[new])
    low, high = found.intervals[-1]
    return {
        "case": name,
        "hidden": hidden,
        "labelled_rows": len(old),
        "new_rows": len(new),
        "verdict": found.drift.verdict,
        "probability_moved": round(found.drift.probability_moved, 3),
        "far": found.drift.far,
        "must_at_3": round(found.drift.must(3.0), 3),
        "unseen": round(found.unseen, 3),
        "interval": [round(float(low), 3), round(float(high), 3)],
        "truth": round(float(unseen_truth), 3),
        "l1": round(l1(found, truth, unseen_truth), 3),
        "l1_em": round(l1(em, truth, unseen_truth), 3),
    }


def l1(found: unseen.Estimate, truth: Any, unseen_truth: float) -> float:
    """Sum of the absolute errors of all shares."""
    return float(np.abs(found.proportions - truth).sum() + abs(found.unseen - unseen_truth))


def run(path: str) -> list[dict[str, Any]]:
    """All cases, each printed when done."""
    data, rng = np.load(path), np.random.default_rng(0)
    X, y, batch = data["X"].astype(float), data["y"], data["batch"]
    places = {number: drawn(np.flatnonzero(batch == number), rng) for number in range(1, 6)}
    first, second = np.array_split(rng.permutation(np.flatnonzero(batch == 2)), 2)
    before = drawn(np.flatnonzero(batch <= 2), rng)
    todo = [
        ("batch 1 to 2", places[1], places[2], None),
        ("within batch 2", drawn(first, rng), drawn(second, rng), None),
        ("within batch 2", drawn(first, rng), drawn(second, rng), HIDDEN),
        *((f"batches 1 and 2 to {number}", before, places[number], None) for number in (3, 4, 5)),
        *((f"batches 1 and 2 to {number}", before, places[number], HIDDEN) for number in (3, 4, 5)),
    ]
    found = []
    for name, old, new, hidden in todo:
        found.append(case(name, X, y, old, new, hidden))
        print(json.dumps(found[-1]), flush=True)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("path", help="gas_drift.npz")
    results = run(parser.parse_args().path)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
