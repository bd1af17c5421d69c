"""Rules with the label "unseen" on data where some classes are left out of training.

    python benchmarks/rejection.py                    about 15 minutes on one core
    python benchmarks/rejection.py digits segment     only these sets

Protocol: the first half of the classes (rounded up) is known. 500 labelled rows of them, 1000
new rows and 1000 fresh test rows of all classes at their natural shares, no row twice; where
a set is too small, all three are cut by one factor. On digits the unseen share is set to .1, .3 and
.5. Every rule gets the shares that the default estimates, and in a second column the true ones.
The detectors get the true unseen share of the test rows as their cut, and a closed-set classifier
for the labels. The oracles, a random forest and kernel logistic regression, learn from the true
labels of the new rows too.

Hyper-parameters of the rules were chosen on digits, segment and synthetic problems; the other sets
were run once. "splice" is the Statlog dna set with each base as one number (A 1, G 2, C 3, T 4) and
not as indicators: the bundled splice set does not tell its two junctions apart.
Macro-F1 is over the known classes and unseen. Writes results/rejection.csv.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import csv
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.metrics import f1_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from unseen import KernelLogisticRegression, OpenSetEstimator
from unseen.datasets import load_dataset, make_waveform
from unseen.rejection.classifier import RejectionClassifier
from unseen.rejection.forest import RejectionForest
from unseen.rejection.histogram import RejectionHistogram
from unseen.rejection.kernel import RejectionKernel
from unseen.rejection.losses import Logistic
from unseen.rejection.plugin import OneModel, RejectionPlugIn, TwoModels
from unseen.rejection.shares import estimate_shares
from unseen.rejection.stack import RejectionStack
from unseen.rejection.tree import RejectionTree

SEEDS = range(5)
SIZES = (500, 1000, 1000)
UNSEEN = -1
DIGITS = (0.1, 0.3, 0.5)


@dataclass(frozen=True)
class Problem:
    """One draw: codes of the known classes are 0 ... K - 1, unseen rows have the code -1."""

    X: np.ndarray
    y: np.ndarray
    X_new: np.ndarray
    y_new: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    @property
    def shares(self) -> np.ndarray:
        return np.array([np.mean(self.y_new == k) for k in range(self.y.max() + 1)])


def rows_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "digits":
        return load_digits(return_X_y=True)
    if name == "waveform":
        return make_waveform(5000, random_state=1984)
    data = load_dataset("dna" if name == "splice" else name)
    return (bases(data.X), data.y) if name == "splice" else (data.X, data.y)


def bases(indicators: np.ndarray) -> np.ndarray:
    """A 1, G 2, C 3, T 4 from the three indicators of A, C and G; T has none."""
    bits = indicators.reshape(len(indicators), -1, 3)
    return 4 - bits @ np.array([3.0, 1.0, 2.0])


def draw(name: str, seed: int, unseen_share: float | None = None) -> Problem:
    X, y = rows_of(name)
    classes, codes = np.unique(y, return_inverse=True)
    n_known = (len(classes) + 1) // 2
    natural = np.bincount(codes) / len(codes)
    shares = natural.copy()
    if unseen_share is not None:
        shares[:n_known] *= (1 - unseen_share) / shares[:n_known].sum()
        shares[n_known:] *= unseen_share / shares[n_known:].sum()
    known = np.where(np.arange(len(classes)) < n_known, natural, 0)
    parts = [known / known.sum(), shares, shares]
    need = sum(size * part for size, part in zip(SIZES, parts, strict=True))
    factor = min(1.0, *(np.bincount(codes) / need))
    rng = np.random.default_rng(seed)
    pools = [rng.permutation(np.flatnonzero(codes == k)) for k in range(len(classes))]
    taken = np.zeros(len(classes), dtype=int)
    samples = []
    for size, part in zip(SIZES, parts, strict=True):
        counts = np.floor(factor * size * part + 1e-9).astype(int)
        chosen = [pool[at : at + n] for pool, at, n in zip(pools, taken, counts, strict=True)]
        taken += counts
        rows = rng.permutation(np.concatenate(chosen))
        samples += [X[rows], np.where(codes[rows] < n_known, codes[rows], UNSEEN)]
    return Problem(*samples)


def rules(seed: int) -> Iterator[tuple[str, Any]]:
    yield "default", RejectionClassifier(random_state=seed)
    yield "stack", RejectionStack(random_state=seed)
    yield "forest", RejectionForest(random_state=seed)
    yield "tree", RejectionTree(random_state=seed)
    yield "histogram", RejectionHistogram(random_state=seed)
    yield "kernel, square", RejectionKernel(random_state=seed)
    yield "kernel, logistic", RejectionKernel(Logistic(), random_state=seed)
    yield "plug-in, pooled", RejectionPlugIn(density_ratio=TwoModels(), random_state=seed)
    yield "plug-in, joint", RejectionPlugIn(density_ratio=OneModel(), random_state=seed)


def cut_at_true_share(problem: Problem, odd: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Unseen where a score is highest, as many test rows as truly are."""
    share = np.mean(problem.y_test == UNSEEN)
    return np.where(odd > np.quantile(odd, 1 - share), UNSEEN, labels)


def detectors(problem: Problem, seed: int) -> Iterator[tuple[str, np.ndarray]]:
    """Labels by the closed-set classifier; unseen by a detector given the true share."""
    closed = KernelLogisticRegression(random_state=seed).fit(problem.X, problem.y)
    chances = closed.predict_proba(problem.X_test)
    labels = chances.argmax(axis=1)
    yield "max probability", cut_at_true_share(problem, -chances.max(axis=1), labels)
    scale = StandardScaler().fit(problem.X)
    for name, detector in (
        ("isolation forest", IsolationForest(random_state=seed)),
        ("one-class SVM", OneClassSVM()),
    ):
        fitted = detector.fit(scale.transform(problem.X))
        odd = -fitted.decision_function(scale.transform(problem.X_test))
        yield name, cut_at_true_share(problem, odd, labels)


def oracles(problem: Problem, seed: int) -> Iterator[tuple[str, np.ndarray]]:
    """With the labels of the new rows: what no rule here can have."""
    X, y = np.vstack([problem.X, problem.X_new]), np.append(problem.y, problem.y_new)
    # Weights give the labelled rows the shares of the new ones: label shift.
    factor = np.append(problem.shares / np.bincount(problem.y) * len(problem.y), 0)
    weight = np.append(factor[problem.y], np.ones(len(problem.y_new)))
    for name, model in (
        ("oracle, forest", RandomForestClassifier(200, random_state=seed)),
        ("oracle, kernel", KernelLogisticRegression(random_state=seed)),
    ):
        yield name, model.fit(X, y, sample_weight=weight).predict(problem.X_test)


def measure(name: str, seed: int, unseen_share: float | None) -> Iterator[dict]:
    problem = draw(name, seed, unseen_share)
    data = name if unseen_share is None else f"{name} {unseen_share:g}"

    def row(rule: str, shares: str, labels: np.ndarray, seconds: float) -> dict:
        macro = f1_score(problem.y_test, labels, average="macro")
        accuracy = np.mean(labels == problem.y_test)
        return dict(
            data=data, seed=seed, rule=rule, shares=shares, accuracy=f"{accuracy:.4f}",
            macro_f1=f"{macro:.4f}", seconds=f"{seconds:.2f}",
        )  # fmt: skip

    labelled = OpenSetEstimator().fit(problem.X, problem.y).labelled_
    found = estimate_shares(None, labelled, problem.X_new, seed).known
    error = np.abs(found - problem.shares).sum()
    print(f"{data} seed {seed}: l1 error of the shares {error:.3f}", flush=True)
    for column, shares in (("estimated", found), ("true", problem.shares)):
        for rule, model in rules(seed):
            start = time.process_time()
            model.fit(problem.X, problem.y, problem.X_new, shares)
            yield row(rule, column, model.predict(problem.X_test), time.process_time() - start)
    for make in (detectors, oracles):
        for rule, labels in make(problem, seed):
            yield row(rule, "true", labels, 0.0)


def table(rows: list[dict]) -> None:
    """Mean macro-F1 and accuracy over seeds, with standard errors, for each set and rule."""
    keys = sorted({(row["data"], row["rule"], row["shares"]) for row in rows})
    print("data | rule | shares | macro-F1 (se) | accuracy (se) | seconds")
    for data in dict.fromkeys(row["data"] for row in rows):
        lines = []
        for key in (key for key in keys if key[0] == data):
            mine = [row for row in rows if (row["data"], row["rule"], row["shares"]) == key]
            columns = [
                np.array([float(row[name]) for row in mine])
                for name in ("macro_f1", "accuracy", "seconds")
            ]
            error = [column.std(ddof=1) / np.sqrt(len(column)) for column in columns]
            lines.append(
                (
                    -columns[0].mean(),
                    f"{data} | {key[1]} | {key[2]} | {columns[0].mean():.3f} ({error[0]:.3f}) | "
                    f"{columns[1].mean():.3f} ({error[1]:.3f}) | {columns[2].mean():.1f}",
                )
            )
        print("\n".join(line for _, line in sorted(lines)), flush=True)


def main() -> None:
    """Run what is asked for and not yet in the file; a run that was stopped goes on."""
    warnings.simplefilter("ignore")
    sets = sys.argv[1:] or ["digits", "segment", "satimage", "dna", "splice", "waveform"]
    cells = [(name, share) for name in sets for share in (DIGITS if name == "digits" else [None])]
    path = Path(__file__).parent / "results" / "rejection.csv"
    rows = list(csv.DictReader(path.open(newline=""))) if path.exists() else []
    done = {(row["data"], int(row["seed"])) for row in rows if row["rule"] == "oracle, kernel"}
    for seed in SEEDS:
        for name, share in cells:
            data = name if share is None else f"{name} {share:g}"
            if (data, seed) in done:
                continue
            rows = [row for row in rows if (row["data"], int(row["seed"])) != (data, seed)]
            rows += measure(name, seed, share)
            with path.open("w", newline="") as file:
                writer = csv.DictWriter(file, rows[0], lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
    table(rows)


if __name__ == "__main__":
    main()
