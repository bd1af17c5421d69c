"""Our estimators against QuaPy's and mlquantify's: error and time per estimate.

    pip install quapy mlquantify
    python benchmarks/peers.py           about 10 minutes on one core

Two data sets (scikit-learn's digits; a synthetic one of 4 classes), two settings: label shift with
every class known, and 30% of the new rows from classes that training lacked. Everyone gets the
same classifier (our kernel logistic regression) and the same rows. Error is total variation over
the known classes and the unseen rest, to which a closed-set method gives 0. Time is CPU seconds
for fit and estimate together. Writes results/peers.csv.
"""

from __future__ import annotations

from _common import write_csv  # isort: skip

import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.datasets import load_digits, make_classification

from unseen import KernelLogisticRegression
from unseen.proportions import all_estimators

SEEDS = range(5)
UNSEEN_SHARE = 0.3


def data(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "digits":
        return load_digits(return_X_y=True)
    return make_classification(
        8000, 20, n_informative=10, n_redundant=2, n_classes=4, n_clusters_per_class=1,
        class_sep=1.0, random_state=0,
    )  # fmt: skip


def split(name: str, open_set: bool, seed: int) -> tuple[np.ndarray, ...]:
    """Labelled rows, new rows with other shares, and the truth (unseen last)."""
    X, y = data(name)
    rng = np.random.default_rng(seed)
    classes = np.unique(y)
    hidden = classes[-3:] if name == "digits" else classes[-1:]
    known = np.setdiff1d(classes, hidden) if open_set else classes
    order = rng.permutation(len(y))
    train, pool = np.array_split(order, 2)
    train = train[np.isin(y[train], known)]
    weights = rng.dirichlet(np.ones(len(known))) * (1 - UNSEEN_SHARE * open_set)
    parts = [pool[y[pool] == c] for c in known]
    if open_set:
        weights = np.append(weights, UNSEEN_SHARE)
        parts.append(pool[np.isin(y[pool], hidden)])
    # As many rows as the shares allow without drawing one twice: a copy in another fold would
    # undo the out-of-fold scores.
    n_new = min(500, *(len(part) / w for part, w in zip(parts, weights, strict=True)))
    counts = np.floor(n_new * weights + 1e-9).astype(int)
    drawn = [rng.choice(part, n, replace=False) for part, n in zip(parts, counts, strict=True)]
    X_new = X[np.concatenate(drawn)]
    shares = counts / counts.sum()
    truth = shares if open_set else np.append(shares, 0.0)
    return X[train], y[train], X_new, truth


def ours() -> Iterator[tuple[str, Callable]]:
    """Every exported estimator of class proportions."""
    for one in all_estimators():
        cls = type(one)
        yield f"unseen {cls.__name__}", lambda X, y, X_new, cls=cls: our_shares(cls, X, y, X_new)


def our_shares(cls: type, X: np.ndarray, y: np.ndarray, X_new: np.ndarray) -> np.ndarray:
    found = cls(random_state=0).fit(X, y).estimate(X_new)
    return np.append(found.proportions, found.unseen)


def quapy() -> Iterator[tuple[str, Callable]]:
    import quapy.method.aggregative as qp

    for name in ("CC", "PCC", "ACC", "PACC", "EMQ", "KDEyML", "DMy"):
        cls = getattr(qp, name, None)
        if cls is not None:
            yield f"quapy {name}", lambda X, y, X_new, cls=cls: peer_shares(cls, X, y, X_new)


def mlquantify() -> Iterator[tuple[str, Callable]]:
    from mlquantify import counting, likelihood, matching

    homes = {"EMQ": likelihood, "KDEyML": matching}
    for name in ("CC", "PCC", "ACC", "PACC", "EMQ", "KDEyML"):
        cls = getattr(homes.get(name, counting), name, None)
        if cls is not None:
            yield f"mlquantify {name}", lambda X, y, X_new, cls=cls: peer_shares(cls, X, y, X_new)


def peer_shares(cls: type, X: np.ndarray, y: np.ndarray, X_new: np.ndarray) -> np.ndarray:
    shares = cls(KernelLogisticRegression(random_state=0)).fit(X, y).predict(X_new)
    values = list(shares.values()) if isinstance(shares, dict) else shares
    return np.append(np.asarray(values, dtype=float), 0.0)


def measure(task: Callable, name: str, open_set: bool) -> tuple[list[float], list[float]]:
    errors, seconds = [], []
    for seed in SEEDS:
        X, y, X_new, truth = split(name, open_set, seed)
        start = time.process_time()
        shares = task(X, y, X_new)
        seconds.append(time.process_time() - start)
        errors.append(np.abs(shares - truth).sum() / 2)
    return errors, seconds


def run() -> Iterator[dict]:
    contenders = [*ours(), *quapy(), *mlquantify()]
    for name in ("digits", "synthetic"):
        for open_set in (False, True):
            for method, task in contenders:
                row = dict(data=name, setting="30% unseen" if open_set else "all known")
                try:
                    errors, seconds = measure(task, name, open_set)
                except Exception as error:
                    yield {**row, "method": method, "failed": str(error).split("\n")[0][:80]}
                    continue
                se = np.std(errors, ddof=1) / np.sqrt(len(errors))
                row |= dict(method=method, error=f"{np.mean(errors):.4f}", se=f"{se:.4f}")
                yield {**row, "seconds": f"{np.mean(seconds):.2f}", "failed": ""}


def main() -> None:
    warnings.simplefilter("ignore")
    fields = ["data", "setting", "method", "error", "se", "seconds", "failed"]
    rows = []
    for row in run():
        print(" | ".join(str(row.get(field, "")) for field in fields), flush=True)
        rows.append(row)
    write_csv("peers.csv", [{name: row.get(name, "") for name in fields} for row in rows])


if __name__ == "__main__":
    main()
