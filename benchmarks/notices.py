"""Do notices come where they are due, and stay away where they are not? About 2 CPU-minutes.

    python benchmarks/notices.py

Every bundled set is split at random, up to 400 rows a side, and estimated with default settings:
as it is, and spoilt. Spoilt, its column of most values is -999 in 15% of the new rows, and its
largest class is divided at random into 'Same' and 'same', which no column can tell apart. Writes
results/notices.csv, with the codes of all notices.
"""

from __future__ import annotations

from _common import write_csv  # isort: skip

import warnings

import numpy as np

import unseen
from unseen.datasets import available_datasets, load_dataset

LARGEST = 400
DUE = {"sentinel_values", "labels_alike", "confused_classes"}
# Classes that overlap are no fault of the table, but a clean set should hardly have them.
WATCHED = DUE | {"overlapping_classes"}


def spoilt(y, X_new, rng):
    """Labels with one class under two names, and new rows with numbers for missing values."""
    labels = np.array([f"class {label}" for label in y], dtype=object)
    names, counts = np.unique(labels, return_counts=True)
    chosen = np.flatnonzero(labels == names[counts.argmax()])
    labels[chosen] = rng.permutation(np.resize(["Same", "same"], len(chosen)))
    X_new = X_new.copy()
    column = np.argmax([len(np.unique(values)) for values in X_new.T])
    X_new[rng.random(len(X_new)) < 0.15, column] = -999
    return labels.astype(str), X_new


def codes(*samples) -> set[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", unseen.UnseenWarning)
        found = unseen.estimate(*samples, confidence=None, random_state=0)
    return {notice.code for notice in found.notices}


def main() -> None:
    rows = []
    for name in available_datasets():
        data, rng = load_dataset(name), np.random.default_rng(0)
        order = rng.permutation(len(data.y))
        n_rows = min(LARGEST, len(order) // 2)
        known, new = order[:n_rows], order[n_rows : 2 * n_rows]
        X, y, X_new = data.X[known], data.y[known], data.X[new]
        clean = codes(X, y, X_new)
        labels, X_spoilt = spoilt(y, X_new, rng)
        dirty = codes(X, labels, X_spoilt)
        row = {"set": name, "as it is": " ".join(sorted(clean)), "needless": len(clean & WATCHED)}
        row |= {"spoilt": " ".join(sorted(dirty)), "missed": " ".join(sorted(DUE - dirty))}
        rows.append(row)
        print(*row.values(), sep=" | ", flush=True)
    write_csv("notices.csv", rows)


if __name__ == "__main__":
    main()
