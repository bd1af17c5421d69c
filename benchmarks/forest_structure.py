"""What the trees of a rejection forest should be grown by: our impurity, or scikit-learn's trees.

    python benchmarks/forest_structure.py     about 5 minutes on one core

scikit-learn's trees take no negative weights, so that they cannot minimise the impurity of masses.
They can be grown on a task with positive weights, though, and their leaves be filled with masses as
ours are. Two such tasks: ``classes``, new rows as one more class beside the known ones, rows
weighted by their masses; and ``signed targets``, a regression on vectors whose weighted sums are
the masses (a_1 ... a_K, e). Splits are at the best cuts, or, ``random cuts``, at the best of one
random cut for each feature (extra trees). Everything else is equal: bags, features tried, rows in
a leaf, averages, and out-of-bag labels for the new rows. Macro-F1 over known classes and
unseen, true shares given; 3 problems x unseen share .1, .3, .5 x 3 seeds, for several sizes of
leaf, and for ours for several costs of negative unseen mass. The defaults of ``RejectionForest``
were chosen here. Writes results/forest_structure.csv.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import csv
import time
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import f1_score
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

from unseen.rejection.forest import RejectionForest, bootstrap_counts
from unseen.rejection.sample import OpenSample, cell_masses, cell_probabilities, effective_size

N_TREES = 100
PROBLEMS = ("digits", "blobs", "between")
UNSEEN = (0.1, 0.3, 0.5)
SEEDS = range(3)
LEAVES = (5, 10, 20, 40)
COSTS = (0, 0.5, 0.75, 1)
TREES = {
    "classes": DecisionTreeClassifier,
    "classes, random cuts": ExtraTreeClassifier,
    "signed targets": DecisionTreeRegressor,
    "signed targets, random cuts": ExtraTreeRegressor,
}


def rows_of(name: str, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray, int]:
    """Rows, labels, and how many of the labels are known (the first ones)."""
    if name == "digits":
        return *load_digits(return_X_y=True), 5
    if name == "blobs":
        y = rng.randint(5, size=6000)
        return (
            np.array([[0, 0], [4, 0], [0, 4], [4, 4], [2, 7]])[y] + rng.normal(size=(6000, 2)),
            y,
            3,
        )
    # The unseen class hides between the known ones; three features are noise.
    y = rng.randint(3, size=6000)
    X = rng.normal(size=(6000, 5))
    X[:, :2] *= np.array([1, 1, 0.6])[y, None]
    X[:, 0] += np.array([-2.5, 2.5, 0])[y]
    return X, y, 2


def draw(name: str, unseen: float, seed: int) -> tuple[OpenSample, np.ndarray]:
    """A sample, and the hidden labels of its new rows."""
    rng = np.random.RandomState(seed)
    X, y, n_known = rows_of(name, rng)
    n_labelled, n_new = (400, 500) if name == "digits" else (500, 1000)
    code = np.minimum(y, n_known)
    known, other = (
        rng.permutation(np.flatnonzero(part)) for part in (code < n_known, code == n_known)
    )
    n_unseen = round(unseen * n_new)
    labelled, rest = known[:n_labelled], known[n_labelled:]
    new = np.append(rest[: n_new - n_unseen], other[:n_unseen])
    shares = np.bincount(code[new], minlength=n_known + 1)[:n_known] / len(new)
    return OpenSample(X[labelled], code[labelled], X[new], shares), code[new]


def ours(sample: OpenSample, cost: float, min_leaf: int | str, seed: int) -> np.ndarray:
    forest = RejectionForest(N_TREES, min_leaf, negative_cost=cost)
    return forest._fit_both(sample, np.random.RandomState(seed))[1].new.argmax(axis=1)


def theirs(sample: OpenSample, kind: str, min_leaf: int, seed: int) -> np.ndarray:
    rng = np.random.RandomState(seed)
    X, masses, n_known = sample.rows, sample.masses, len(sample.shares)
    code, weight = masses.argmax(axis=1), masses.sum(axis=1)
    target = code
    if "targets" in kind:
        target = np.eye(n_known + 1)[code]
        target[code < n_known, -1] = -1
    prior, pseudo_mass = sample.prior, 1 / effective_size(sample)
    total = np.zeros((len(X), n_known + 1))
    for counts in bootstrap_counts(sample, N_TREES, rng):
        tree = TREES[kind](
            max_features="sqrt", min_samples_leaf=min_leaf, random_state=rng.randint(2**31 - 1)
        )
        leaf = tree.fit(X, target, sample_weight=counts * weight).apply(X)
        filled = cell_masses(leaf, masses * counts[:, None], tree.tree_.node_count)
        total[counts == 0] += cell_probabilities(filled, prior, pseudo_mass)[leaf[counts == 0]]
    return total[len(sample.codes) :].argmax(axis=1)


def main() -> None:
    rows = []
    contenders = [*product(COSTS, ("auto", *LEAVES)), *product(TREES, LEAVES)]
    for kind, min_leaf in contenders:
        scores = {name: [] for name in PROBLEMS}
        grow = theirs if kind in TREES else ours
        start = time.process_time()
        for name, unseen, seed in product(PROBLEMS, UNSEEN, SEEDS):
            sample, truth = draw(name, unseen, seed)
            predicted = grow(sample, kind, min_leaf, seed)
            scores[name].append(f1_score(truth, predicted, average="macro"))
        row = dict(grown_by=kind if kind in TREES else f"ours, cost {kind}", min_leaf=min_leaf)
        row |= {name: f"{np.mean(values):.3f}" for name, values in scores.items()}
        row["mean"] = f"{np.mean(list(scores.values())):.3f}"
        rows.append(row | dict(cpu_seconds=f"{time.process_time() - start:.0f}"))
        print(" ".join(f"{key}={value}" for key, value in rows[-1].items()), flush=True)
    with (Path(__file__).parent / "results" / "forest_structure.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
