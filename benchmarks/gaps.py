"""Gaps that NEW has and TRAIN has not: what is claimed, without and with gaps that both share.

    python benchmarks/gaps.py      to results/gaps.csv; three CPU-minutes; JOBS=2 shares them out

The column that tells the classes apart best, or the best three together, are empty in a part of the
new rows: at random, as is assumed, or mostly in one known class, which is against the assumption.
Labelled rows are complete. "Without" leaves out the step of ``unseen/tables/gaps.py``. Neither the
sets nor these draws chose one of its constants.
"""

from __future__ import annotations

from _common import each, write_csv  # isort: skip

import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import product
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.feature_selection import f_classif

import unseen
from unseen.datasets import load_dataset
from unseen.tables.gaps import Gaps

SETS = ("wine", "iris", "breast_cancer", "segment", "satimage", "thyroid")
GAPS, SHARES = (0.1, 0.25, 0.5, 0.9), (0.0, 0.2)
ROWS = 80  # labelled rows of a class, at most


def rows_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    bundled = {"wine": load_wine, "iris": load_iris, "breast_cancer": load_breast_cancer}
    if name in bundled:
        return bundled[name](return_X_y=True)
    data = load_dataset(name)
    return np.asarray(data.X, dtype=float), data.y.astype(str)


def problem(name: str, kind: str, n_columns: int, part: float, share: float):
    """Labelled rows and classes as a table, new rows with gaps, and the true shares."""
    X, y = rows_of(name)
    rng = np.random.default_rng([len(name), n_columns, int(100 * part), int(100 * share)])
    classes = rng.permutation(np.unique(y))
    several = len(classes) > 2
    known, hidden = (classes[:-1], classes[-1:]) if several else (classes, classes[:0])
    old, new = [], []
    for label in known:
        mine = rng.permutation(np.flatnonzero(y == label))
        half = min(ROWS, len(mine) // 2)
        old += [*mine[:half]]
        new += [*mine[half : 2 * half]]
    n_hidden = round(share / (1 - share) * len(new))
    new += [*rng.permutation(np.flatnonzero(np.isin(y, hidden)))[:n_hidden]]
    table = pd.DataFrame(X).add_prefix("c")
    labelled, fresh = table.iloc[old].reset_index(drop=True), table.iloc[new].reset_index(drop=True)
    told = np.nan_to_num(f_classif(X[old], y[old])[0])
    best = table.columns[np.argsort(-told)[:n_columns]]
    likely = np.where((y[new] == known[0]) & (kind == "one class"), 9.0, 1.0)
    empty = rng.choice(len(new), round(part * len(new)), replace=False, p=likely / likely.sum())
    fresh.loc[empty, best] = np.nan
    truth = np.array([np.mean(y[new] == label) for label in np.unique(y[old])])
    return labelled, y[old], fresh, np.append(truth, 1 - truth.sum())


def solved(name: str, kind: str, n_columns: int, part: float, share: float) -> dict[str, object]:
    """One problem, without and with gaps that both tables share."""
    warnings.simplefilter("ignore")
    X, y, X_new, truth = problem(name, kind, n_columns, part, share)
    line: dict[str, object] = {
        "set": name, "kind": kind, "columns": n_columns, "gaps": part, "true_unseen": truth[-1],
    }  # fmt: skip
    for way in ("without", "with"):
        apart = patch.object(Gaps, "shared_with", lambda self, X_new, *rest: X_new)
        with apart if way == "without" else nullcontext():
            found = unseen.estimate(X, y, X_new, confidence=0.95, random_state=0)
        low, high = found.intervals[-1]
        shares = np.append(found.proportions, found.unseen)
        line |= {
            f"l1_{way}": round(float(abs(shares - truth).sum()), 4),
            f"unseen_{way}": round(found.unseen, 4),
            f"holds_{way}": int(low - 1e-9 <= truth[-1] <= high + 1e-9),
            f"width_{way}": round(float(high - low), 4),
            f"verdict_{way}": found.drift.verdict,
        }
    return line


def todo() -> Iterator[tuple[str, str, int, float, float]]:
    """Every set; two classes and no third leave nothing to hide."""
    for name, kind, n_columns, part, share in product(
        SETS, ("at random", "one class"), (1, 3), GAPS, SHARES
    ):
        if share == 0 or len(np.unique(rows_of(name)[1])) > 2:
            yield name, kind, n_columns, part, share


def main() -> None:
    """Solve every problem; write all, and print the means by kind, share and part of gaps."""
    rows = [*each(solved, todo())]
    write_csv("gaps.csv", rows, "gaps of new rows alone; without and with gaps that both share")
    for kind, share, part in product(("at random", "one class"), SHARES, GAPS):
        mine = [r for r in rows if (r["kind"], r["gaps"]) == (kind, part)]
        mine = [r for r in mine if (r["true_unseen"] > 0) == (share > 0)]
        means = [
            f"{np.mean([r[f'{what}_{way}'] for r in mine]):.3f}"
            for what in ("l1", "unseen", "holds", "width")
            for way in ("without", "with")
        ]
        print(kind, share, part, len(mine), *means, sep="\t")


if __name__ == "__main__":
    main()
