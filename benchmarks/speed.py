"""CPU time, memory and answers of two versions of the library, cell by cell in one run.

    git worktree add ../before COMMIT
    python benchmarks/speed.py ../before/src           all cells, to results/speed.csv
    python benchmarks/speed.py ../before/src k3_5000   some of them
    python benchmarks/speed.py ../before/src rules     rules against a random forest and the rules
                                                       before, to results/speed_rules.json
    python benchmarks/speed.py jobs                    wall seconds with one, two and more jobs, in
                                                       turn in one process, to
                                                       results/speed_jobs.csv; wants an idle machine
    python benchmarks/speed.py table                   results/speed.csv as a table

Data: K Gaussian classes on a sphere of radius 3 in ten columns, as many new rows as labelled ones,
20% of them of one more class. Each cell runs in a process of its own with one BLAS thread, the two
versions in turn, after a run on a few rows that pays for imports; the least CPU time of the runs
counts, as noise only ever adds.
"""

from __future__ import annotations

from _common import RESULTS, ROOT, cpu_seconds, write_csv  # isort: skip

import csv
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

SHARE, COLUMNS, RUNS = 0.2, 10, 2
SPLITS, HIDDEN, RULE_ROWS, MILLION = 10, 2, 400, 1_000_000
# What runs, rows of each sample, known classes.
CELLS = {
    "k1_500": ("estimate", 500, 1),
    "k3_500": ("estimate", 500, 3),
    "k1_2000": ("estimate", 2000, 1),
    "k3_2000": ("estimate", 2000, 3),
    "k10_2000": ("estimate", 2000, 10),
    "k3_5000": ("estimate", 5000, 3),
    "k3_20000": ("estimate", 20_000, 3),
    "k50_2000": ("estimate", 2000, 50),
    "k200_2000": ("estimate", 2000, 200),
    "k1000_5000": ("estimate", 5000, 1000),
    "rule_2000": ("rule", 2000, 3),
    "monitor": ("monitor", 1000, 3),
}
# The same, and runs with each number of jobs.
JOBS = {
    "k3_2000": ("estimate", 2000, 3, 5),
    "k3_5000": ("estimate", 5000, 3, 5),
    "k50_2000": ("estimate", 2000, 50, 3),
    "k3_20000": ("estimate", 20_000, 3, 2),
    "k3_100000": ("estimate", 100_000, 3, 1),
    "rule_5000": ("rule", 5000, 3, 2),
    "monitor": ("monitor", 1000, 3, 1),
}


def rows(n_rows: int, n_classes: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Labelled rows, their classes, new rows, and the true shares, unseen last."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(n_classes + 1, COLUMNS))
    centres *= 3 / np.linalg.norm(centres, axis=1, keepdims=True)
    y = np.arange(n_rows) % n_classes
    new = np.where(rng.random(n_rows) < SHARE, n_classes, rng.integers(n_classes, size=n_rows))
    X, X_new = (centres[codes] + rng.normal(size=(n_rows, COLUMNS)) for codes in (y, new))
    return X, y, X_new, np.bincount(new, minlength=n_classes + 1) / n_rows


def solved(name: str) -> dict[str, object]:
    """Run one cell in this process, with the library on its path."""
    import unseen

    kind, n_rows, n_classes = CELLS[name]
    X, y, X_new, truth = rows(n_rows, n_classes)
    extra: dict[str, object] = {}
    _import_all(unseen)
    start = time.process_time()
    if kind == "rule":
        rule = unseen.RejectionClassifier(random_state=0).fit(X, y, X_new)
        extra["cpu_predict"] = -time.process_time()
        rule.predict(X_new)
        extra["cpu_predict"] += time.process_time()  # type: ignore[operator]
        shares = np.append(rule.shares_.known, 1 - np.sum(rule.shares_.known))
    elif kind == "monitor":
        windows = np.repeat(np.arange(50), 200)
        labelled, y, stream, _ = rows(10_000, n_classes)  # one draw, or classes would be others
        X, y = labelled[:n_rows], y[:n_rows]
        found = unseen.monitor(X, y, stream, windows, random_state=0)
        shares = np.append(np.zeros(n_classes), np.mean([e.unseen for e in found.estimates]))
        truth = shares
    else:
        try:
            found = unseen.estimate(X, y, X_new, confidence=0.95, random_state=0)
        except ValueError:  # commit 36cfbde fails with 200 classes, where none is large
            start, still = time.process_time(), unseen.OpenSetEstimator(prior_moved=0)
            found = unseen.estimate(X, y, X_new, estimator=still, confidence=0.95, random_state=0)
        shares = np.append(found.proportions, found.unseen)
        extra["width"] = float(np.diff(np.asarray(found.intervals)[-1])[0])
    seconds = time.process_time() - start - float(extra.get("cpu_predict", 0.0))  # type: ignore[arg-type]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    error = float(np.abs(shares - truth).sum())
    return {"cpu": seconds, "mb": memory, "l1": error, "shares": shares.tolist(), **extra}


def _import_all(unseen: object) -> None:
    """Ask for a little of everything, so that lazy imports are not timed."""
    X, y, X_new, _ = rows(60, 2)
    unseen.estimate(X, y, X_new, confidence=0.95, random_state=0)  # type: ignore[attr-defined]
    unseen.RejectionClassifier(random_state=0).fit(X, y, X_new).predict(X_new)  # type: ignore[attr-defined]


def in_process(name: str, sources: tuple[Path, ...]) -> list[dict[str, object]]:
    """Run one cell with the library under each of ``sources``, in turn; the least time counts."""
    found: list[list[dict[str, object]]] = [[] for _ in sources]
    for _ in range(RUNS if CELLS[name][1] * CELLS[name][2] < 60_000 else 1):
        for runs, source in zip(found, sources, strict=True):
            command = [sys.executable, __file__, "one", name]
            environment = {**os.environ, "PYTHONPATH": str(source)}
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=True
            )
            runs.append(json.loads(done.stdout))
    return [min(runs, key=lambda one: float(str(one["cpu"]))) for runs in found]


def rule_against_forest(n_rows: int = 5000) -> dict[str, float]:
    """CPU seconds of the default rule and of a random forest on the same rows."""
    from sklearn.ensemble import RandomForestClassifier

    import unseen

    _import_all(unseen)
    X, y, X_new, _ = rows(n_rows, 3)
    rule, forest = unseen.RejectionClassifier(random_state=0), RandomForestClassifier(100)
    origin = np.append(y, np.full(n_rows, 3))
    return {
        "fit": cpu_seconds(lambda: rule.fit(X, y, X_new)),
        "fit_forest": cpu_seconds(lambda: forest.fit(np.vstack([X, X_new]), origin), 2),
        "predict": cpu_seconds(lambda: rule.predict(X_new), 5),
        "predict_forest": cpu_seconds(lambda: forest.predict(X_new), 5),
    }


def rule_on_digits(seed: int) -> float:
    """Macro-F1 of the default rule on fresh rows of the digits, two digits being unseen."""
    from sklearn.datasets import load_digits
    from sklearn.metrics import f1_score

    import unseen

    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    order, hidden = rng.permutation(len(y)), rng.choice(10, HIDDEN, replace=False)
    X, y = X[order], np.where(np.isin(y[order], hidden), "unseen", y[order].astype(str))
    known = np.flatnonzero(y[: 2 * RULE_ROWS] != "unseen")[:RULE_ROWS]
    new, fresh = slice(2 * RULE_ROWS, 3 * RULE_ROWS), slice(3 * RULE_ROWS, None)
    rule = unseen.RejectionClassifier(random_state=0).fit(X[known], y[known], X[new])
    return float(f1_score(y[fresh], rule.predict(X[fresh]), average="macro"))


def rule_on_a_million() -> dict[str, float]:
    """CPU seconds of a rule of 20,000 + 20,000 rows, and of its labels of a million rows."""
    import unseen

    X, y, X_new, _ = rows(20_000, 3)
    rule = unseen.RejectionClassifier(random_state=0)
    fit = cpu_seconds(lambda: rule.fit(X, y, X_new))
    parts = [rows(100_000, 3, 1)[2]] * (MILLION // 100_000)
    return {"fit": fit, "predict": cpu_seconds(lambda: [rule.predict(part) for part in parts])}


PARTS = {"forest": rule_against_forest, "digits": rule_on_digits, "million": rule_on_a_million}


def answer_of(source: Path, *question: str) -> Any:
    """What one of the parts says with the library under ``source``."""
    command = [sys.executable, __file__, "part", *question]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    said = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(said.stdout)


def rules(before: Path) -> None:
    """Rules against a random forest, against the rules before, and on a million rows."""
    sources = {"before": before, "now": ROOT / "src"}
    found: dict[str, Any] = {"command": "python benchmarks/speed.py ../before/src rules"}
    for name, source in sources.items():
        seconds = answer_of(source, "forest")
        ratios = {what: seconds[what] / seconds[f"{what}_forest"] for what in ("fit", "predict")}
        found[f"times_forest_{name}"] = {what: round(ratio, 2) for what, ratio in ratios.items()}
        found[f"cpu_{name}"] = {what: round(value, 3) for what, value in seconds.items()}
    both = sources.values()
    macro = np.array([[answer_of(one, "digits", f"{k}") for one in both] for k in range(SPLITS)])
    change = macro[:, 1] - macro[:, 0]
    found["macro_f1"] = {
        **dict(zip(sources, macro.mean(axis=0).round(4).tolist(), strict=True)),
        "change": round(float(change.mean()), 4),
        "standard_error": round(float(change.std(ddof=1) / SPLITS**0.5), 4),
        "splits": SPLITS,
    }
    found["million_rows"] = answer_of(sources["now"], "million")
    (RESULTS / "speed_rules.json").write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))


def work_of(name: str) -> Callable[[], object]:
    """The call of one cell of ``jobs``."""
    import unseen

    kind, n_rows, n_classes, _ = JOBS[name]
    X, y, X_new, _ = rows(n_rows, n_classes)
    if kind == "rule":
        return lambda: unseen.RejectionClassifier(random_state=0).fit(X, y, X_new)
    if kind == "monitor":
        windows, stream = np.repeat(np.arange(50), 200), rows(10_000, n_classes)
        X, y, X_new = stream[0][:n_rows], stream[1][:n_rows], stream[2]
        return lambda: unseen.monitor(X, y, X_new, windows, random_state=0)
    return lambda: unseen.estimate(X, y, X_new, max_rows=None, random_state=0)


def timed(work: Callable[[], object], n_jobs: int) -> tuple[float, float, float]:
    """Wall and CPU seconds of some work by so many jobs, and the most memory meanwhile, in MB."""
    import joblib

    with suppress(OSError):  # where the system tells no peak of its own for a part of a process
        Path("/proc/self/clear_refs").write_text("5")
    wall, cpu = time.perf_counter(), time.process_time()
    with joblib.parallel_config(n_jobs=n_jobs):
        work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    try:
        status = Path("/proc/self/status").read_text()
        kilobytes = float(status.split("VmHWM:")[1].split()[0])
    except OSError:
        kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return wall, cpu, kilobytes / 1024


def jobs() -> None:
    """Each cell with one job, and with two, four ... while there are cores; the least counts."""
    import unseen

    _import_all(unseen)
    numbers = [n for n in (1, 2, 4, 8, 16) if n <= (os.cpu_count() or 1)]
    table = []
    for name, (*_, n_runs) in JOBS.items():
        work = work_of(name)
        found = np.array([[timed(work, n) for n in numbers] for _ in range(n_runs)]).min(axis=0)
        for n_jobs, (wall, cpu, memory) in zip(numbers, found, strict=True):
            ratio = round(found[0, 0] / wall, 2)
            one = {"cell": name, "jobs": n_jobs, "wall": round(wall, 3), "ratio": ratio}
            table.append({**one, "cpu": round(cpu, 3), "mb": round(memory)})
            print(table[-1], flush=True)
    write_csv("speed_jobs.csv", table)


def run(before: Path, names: list[str]) -> None:
    table: list[dict[str, Any]] = []
    if names != list(CELLS):  # the others keep the rows that they have
        with (RESULTS / "speed.csv").open(encoding="utf-8") as file:
            table = [row for row in csv.DictReader(file) if row["cell"] not in names]
    for name in names:
        old, new = in_process(name, (before, ROOT / "src"))
        gap = np.abs(np.subtract(old.pop("shares"), new.pop("shares"))).max()
        row = {
            "cell": name,
            "ratio": round(old["cpu"] / new["cpu"], 2),
            "largest_gap": f"{gap:.5f}",
        }
        for when, one in (("before", old), ("after", new)):
            row |= {f"{key}_{when}": round(float(value), 3) for key, value in one.items()}
        table.append(row)
        print(row, flush=True)
        write_csv("speed.csv", sorted(table, key=lambda one: list(CELLS).index(one["cell"])))


def table() -> None:
    with (RESULTS / "speed.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            print(
                f"| {row['cell']} | {row['cpu_before']} | {row['cpu_after']} | {row['ratio']} | "
                f"{row['mb_before']} | {row['mb_after']} | {row['largest_gap']} |"
            )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1:2] == ["one"]:
        print(json.dumps(solved(sys.argv[2])))
    elif sys.argv[1:2] == ["part"]:
        print(json.dumps(PARTS[sys.argv[2]](*map(int, sys.argv[3:]))))
    elif sys.argv[1:] == ["jobs"]:
        jobs()
    elif sys.argv[1:] == ["table"]:
        table()
    elif sys.argv[2:] == ["rules"]:
        rules(Path(sys.argv[1]).resolve())
    else:
        run(Path(sys.argv[1]).resolve(), sys.argv[2:] or list(CELLS))
