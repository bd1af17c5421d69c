"""What a full pass over a large table costs: CPU seconds, memory, on threads and on a Dask cluster.

    python benchmarks/scale.py pass [--rows 1000000]       one pass against the bare read and kernel
    python benchmarks/scale.py memory [--rows 100000000]   memory while 100 million rows pass
    python benchmarks/scale.py costs                       CPU time per row by classes and landmarks
    python benchmarks/scale.py dask [--rows 4000000]       Dask against threads, one worker killed
    python benchmarks/scale.py resume [--rows 10000000]    classify, killed with -9 and taken up
    python benchmarks/scale.py gain                        what a full pass buys: errors, intervals
    python benchmarks/scale.py predict                     time and money for more rows

Tables have 8 columns of single precision, three known classes 3 standard deviations apart, and 30%
of an unseen class; more than ten million rows are links to one file of ten million. Every measured
run is a process of its own with one BLAS thread. The machine is shared: only CPU seconds count.
Each part writes results/scale_PART.csv. Without --rows `pass` and `resume` measure all their sizes;
with it they replace the line of so many rows.
"""

from __future__ import annotations

from _common import RESULTS, ROOT, write_csv  # isort: skip

import argparse
import csv
import hashlib
import itertools
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

N_COLUMNS, NOW, KINDS = 8, (0.45, 0.2, 0.05, 0.3), np.array(["ant", "bee", "cat", "new"])
N_LABELLED, BATCH, MOST_ROWS_OF_FILE = 18_000, 500_000, 10_000_000
DOLLARS = 0.05  # an assumption: what clouds ask for a core and an hour, roughly


def rows_of(codes: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    numbers = rng.normal(size=(len(codes), N_COLUMNS)).astype(np.float32)
    numbers[np.arange(len(codes)), codes] += 3
    return {f"x{place}": numbers[:, place] for place in range(N_COLUMNS)}


def make_tables(folder: Path, n_rows: int) -> None:
    """``train.parquet``, and a folder ``new`` with files that hold so many rows together."""
    rng = np.random.default_rng(0)
    codes = np.arange(N_LABELLED) % 3
    labelled = pa.table({**rows_of(codes, rng), "kind": KINDS[codes]})
    pq.write_table(labelled, folder / "train.parquet")
    (folder / "new").mkdir()
    first, n_file = folder / "new" / "part-00.parquet", min(n_rows, MOST_ROWS_OF_FILE)
    writer = None
    for start in range(0, n_file, BATCH):
        codes = rng.choice(4, size=min(BATCH, n_file - start), p=NOW)
        table = pa.table(rows_of(codes, rng))
        writer = writer or pq.ParquetWriter(first, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()
    for link in range(1, n_rows // n_file):
        os.link(first, folder / "new" / f"part-{link:02d}.parquet")


def child(*arguments: Any) -> dict[str, Any]:
    """What a part of this file, run in a process of its own, prints; and what it needed."""
    command = [sys.executable, __file__, *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    found = json.loads(said.strip().splitlines()[-1])
    return {
        **found,
        "process_cpu_s": round(usage.ru_utime + usage.ru_stime, 1),
        "peak_mb": round(usage.ru_maxrss / 1024),
    }


def read(folder: Path, max_rows: int) -> tuple[Any, Any, Any]:
    from unseen.study import Inputs

    inputs = Inputs(str(folder / "train.parquet"), str(folder / "new"), "kind", max_rows=max_rows)
    return inputs, *inputs.read()


def fit(folder: Path, max_rows: int) -> None:
    """Draw rows, fit the models, and leave them in the folder."""
    from unseen import FullPass, MPEIncomplete

    start = time.process_time()
    inputs, training, new = read(folder, max_rows)
    drawn = time.process_time()
    estimator = MPEIncomplete(random_state=0).fit(training.X, training.y)
    full = FullPass.fit(estimator, new.X)
    needed = training.columns.looked_at(inputs.new_source.columns())
    made = full, training.columns, needed, inputs.new_source.pieces()
    (folder / "full.pickle").write_bytes(pickle.dumps(made))
    rank = full.counter.models[0].coef.shape[0]
    costs = {"draw_cpu_s": drawn - start, "fit_cpu_s": time.process_time() - drawn, "rank": rank}
    print(json.dumps({name: round(cost, 2) for name, cost in costs.items()}))


def fingerprint(counts: Any) -> str:
    digest = hashlib.sha256()
    for sketch in counts.sketches:
        for array in (sketch.edges, sketch.edge_labelled, sketch.edge_new, sketch.gap_new):
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def counted(folder: Path, n_jobs: int = 1) -> Iterator[tuple[Any, float]]:
    """Counts so far and resident memory after each piece of the table."""
    from joblib import Parallel, delayed

    from unseen.study.full import _count_piece

    full, columns, needed, pieces = pickle.loads((folder / "full.pickle").read_bytes())
    counter = full.counter.without_drawn()
    total = None
    jobs = (delayed(_count_piece)(piece, counter, columns, needed, None) for piece in pieces)
    for part in Parallel(n_jobs, prefer="threads", return_as="generator_unordered")(jobs):
        total = part[None] if total is None else total + part[None]
        yield total, resident_mb()


def full_pass(folder: Path) -> None:
    start = time.process_time()
    *_, (total, _) = counted(folder)
    spent = time.process_time() - start
    print(json.dumps({"cpu_s": round(spent, 2), "counts": fingerprint(total), "n": total.n_rows}))


def bare(folder: Path) -> None:
    """Read the columns and multiply the kernel values: the least that any pass must do."""
    full, *_ = pickle.loads((folder / "full.pickle").read_bytes())
    model = full.counter.models[0]
    start, n_rows = time.process_time(), 0
    for file in sorted((folder / "new").iterdir()):
        for batch in pq.ParquetFile(file).iter_batches(65_536, use_threads=False):
            X = np.column_stack([column.to_numpy() for column in batch.columns]).astype(float)
            for first in range(0, len(X), 4096):
                rows = model.standardise(X[first : first + 4096])
                kernel = np.empty((len(rows), len(model.coef)), model.coef.dtype)
                _ = model.kernel.fill(rows, kernel) @ model.coef
            n_rows += len(X)
    print(json.dumps({"cpu_s": round(time.process_time() - start, 2), "n": n_rows}))


def in_memory(folder: Path) -> None:
    """All rows at once, in another order, for the counts."""
    full, columns, needed, _ = pickle.loads((folder / "full.pickle").read_bytes())
    table = pa.concat_tables([pq.read_table(file) for file in sorted((folder / "new").iterdir())])
    X = columns.transform(table.select(needed))
    order = np.random.default_rng(1).permutation(len(X))
    print(json.dumps({"counts": fingerprint(full.count(X[order]))}))


def measure_pass(*sizes: int) -> None:
    found = []
    for rows in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            make_tables(folder, rows)
            fitted = child("fit", folder, 20_000)
            least, passed = child("bare", folder), child("full-pass", folder)
            row = {
                "rows": rows,
                "rank": fitted["rank"],
                "draw_cpu_s": fitted["draw_cpu_s"],
                "fit_cpu_s": fitted["fit_cpu_s"],
                "fit_peak_mb": fitted["peak_mb"],
                "bare_cpu_s": least["cpu_s"],
                "pass_cpu_s": passed["cpu_s"],
                "ratio": round(passed["cpu_s"] / least["cpu_s"], 3),
                "pass_peak_mb": passed["peak_mb"],
            }
            if rows == 1_000_000:
                row["same_counts_in_memory"] = (
                    child("in-memory", folder)["counts"] == passed["counts"]
                )
            found.append(row)
            print(row, flush=True)
    replace_lines("pass", found)


def memory_run(folder: Path) -> None:
    rows = [{"rows": total.n_rows, "resident_mb": round(mb)} for total, mb in counted(folder)]
    print(json.dumps({"curve": rows, "cpu_s": round(time.process_time(), 1)}))


def measure_memory(n_rows: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        make_tables(Path(name), n_rows)
        child("fit", name, 2_000)
        found = child("memory-run", name)
    said = f"CPU seconds {found['cpu_s']}, peak {found['peak_mb']} MB, 2,000 + 2,000 rows drawn"
    curve = found["curve"]
    step = max(1, len(curve) // 50)
    write_csv("scale_memory.csv", curve[::step] + curve[-1:], said)
    draw_memory(curve)
    print(said)


def draw_memory(curve: list[dict[str, int]]) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(6, 3), layout="constrained")
    axis.plot([row["rows"] / 1e6 for row in curve], [row["resident_mb"] for row in curve])
    axis.set(xlabel="million rows counted", ylabel="resident memory, MB", ylim=(0, 500))
    figure.savefig(RESULTS / "scale_memory.svg", metadata={"Date": None})


def measure_costs() -> None:
    """CPU time per row by classes and landmarks; the table stands in memory."""
    from unseen import FullPass, KernelLogisticRegression, MPEIncomplete

    found = []
    for n_classes, rank in ((3, 256), (3, 512), (3, 1024), (1, 512), (10, 512), (30, 512)):
        rng = np.random.default_rng(0)
        centres = rng.normal(0, 3, size=(n_classes + 1, N_COLUMNS))
        y = np.arange(200 * n_classes) % n_classes
        X = rng.normal(centres[y])
        X_new = rng.normal(centres[rng.integers(n_classes + 1, size=200_000)])
        classifier = KernelLogisticRegression(rank=rank, bandwidth=2.0, C=1.0)
        estimator = MPEIncomplete(classifier=classifier, n_folds=5, random_state=0).fit(X, y)
        full = FullPass.fit(estimator, X_new[: 2 * rank])
        times = []
        for _ in range(3):
            start = time.process_time()
            scores = full.counter.score(X_new)
            scored = time.process_time()
            full.counter.count(scores)
            times.append((scored - start, time.process_time() - scored))
        score, count = np.min(times, axis=0) / len(X_new) * 1e6
        used = full.counter.models[0].coef.shape[0]
        row = {"classes": n_classes, "landmarks": used, "score_us": score, "count_us": count}
        found.append({name: round(float(value), 3) for name, value in row.items()})
        print(found[-1], flush=True)
    write_csv("scale_costs.csv", found)


def cluster_run(folder: Path, kill: str) -> None:
    """The pass on two Dask workers, processes of their own; one may be killed on the way."""
    import dask.distributed
    import joblib
    import psutil

    from unseen.study.full import _count_piece

    full, columns, needed, pieces = pickle.loads((folder / "full.pickle").read_bytes())
    with (
        dask.distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        dask.distributed.Client(cluster) as client,
        joblib.parallel_config(backend="dask"),
    ):
        workers = list(client.run(os.getpid).values())
        ready = sum(sum(psutil.Process(one).cpu_times()[:2]) for one in workers)
        own, total, killed = time.process_time(), None, 0.0
        counter = full.counter.without_drawn()
        jobs = (joblib.delayed(_count_piece)(one, counter, columns, needed, None) for one in pieces)
        for part in joblib.Parallel(return_as="generator_unordered")(jobs):
            total = part[None] if total is None else total + part[None]
            if kill == "kill" and not killed:
                killed = sum(psutil.Process(workers[0]).cpu_times()[:2])
                os.kill(workers[0], signal.SIGKILL)
        alive = list(client.run(os.getpid).values())
        spent = sum(sum(psutil.Process(one).cpu_times()[:2]) for one in alive) + killed - ready
        spent += time.process_time() - own
        print(json.dumps({"cpu_s": round(spent, 2), "counts": fingerprint(total)}))


def measure_dask(n_rows: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        make_tables(Path(name), n_rows)
        child("fit", name, 5_000)
        threads = child("full-pass", name)
        found = [{"workers": "threads", "cpu_s": threads["cpu_s"], "same_counts": True}]
        for label, kill in (("dask", "no"), ("dask, one of two killed", "kill")):
            ran = child("cluster-run", name, kill)
            same = ran["counts"] == threads["counts"]
            found.append({"workers": label, "cpu_s": ran["cpu_s"], "same_counts": same})
            print(found[-1], flush=True)
    for row in found:
        row["rows"], row["ratio"] = n_rows, round(row["cpu_s"] / threads["cpu_s"], 3)
    write_csv("scale_dask.csv", found)


def measure_resume(*sizes: int) -> None:
    """``unseen classify --resume``, killed with -9 after half of the rows and started again.

    Ten million rows have a rule of four columns and few rows, which costs less.
    """
    found = []
    for n_rows in sizes:
        few = n_rows > 2_000_000
        options = ["--rows", "60"] if few else ["--rows", "600"]
        for place in range(4, N_COLUMNS) if few else ():
            options += ["--drop", f"x{place}"]
        found.append(
            {"rows": n_rows, "rows_of_rule": options[1], **killed_and_resumed(n_rows, options)}
        )
        print(found[-1], flush=True)
    replace_lines("resume", found)


def killed_and_resumed(n_rows: int, options: list[str]) -> dict[str, Any]:
    """CPU seconds of a run that is not stopped, of a killed one and of the rest; and the files."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_tables(folder, n_rows)
        command = [sys.executable, "-m", "unseen", "--jobs", "1", "classify"]
        command += [str(folder / "train.parquet"), str(folder / "new"), "--label", "kind"]
        command += [*options, "-q", "--resume", "-o"]
        n_batches = sum(
            -(-pq.ParquetFile(file).metadata.row_group(group).num_rows // 65_536)
            for file in (folder / "new").iterdir()
            for group in range(pq.ParquetFile(file).num_row_groups)
        )
        begin = os.times()
        subprocess.run([*command, str(folder / "whole.parquet")], check=True)
        whole = os.times()
        process = subprocess.Popen([*command, str(folder / "out.parquet")])
        kept = folder / ".out.parquet.kept"
        while len(list(kept.glob("0*.feather"))) < n_batches // 2:
            assert process.poll() is None
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        n_kept, killed = len(list(kept.glob("0*.feather"))), os.times()
        subprocess.run([*command, str(folder / "out.parquet")], check=True)
        again = os.times()
        spent = [
            round(b.children_user + b.children_system - a.children_user - a.children_system, 1)
            for a, b in ((begin, whole), (whole, killed), (killed, again))
        ]
        digests = [
            hashlib.sha256((folder / file).read_bytes()).hexdigest()
            for file in ("whole.parquet", "out.parquet")
        ]
    return {
        "batches_kept": n_kept,
        "cpu_s_not_stopped": spent[0],
        "cpu_s_until_killed": spent[1],
        "cpu_s_taken_up": spent[2],
        "same_file": digests[0] == digests[1],
    }


def measure_gain(n_seeds: int = 40) -> None:
    """Errors and coverage of the drawn rows alone and of a full pass: overlapping classes."""
    from unseen import FullPass, MPEIncomplete, SaerensEM

    found: dict[tuple[str, str], list[Any]] = {}
    for seed in range(n_seeds):
        rng = np.random.default_rng(2000 + seed)
        y = np.arange(1500) % 3
        X = rng.normal(2.0 * np.eye(4)[y])
        codes = rng.choice(4, size=100_000, p=NOW)
        for estimator in (MPEIncomplete(random_state=seed), SaerensEM(random_state=seed)):
            # A closed-set method is asked where nothing is unseen.
            own = codes if estimator.sees_unseen else codes[codes < 3]
            X_new, truth = (
                rng.normal(2.0 * np.eye(4)[own]),
                np.bincount(own, minlength=4) / len(own),
            )
            drawn = X_new[rng.choice(len(X_new), size=1500, replace=False)]
            full = FullPass.fit(estimator.fit(X, y), drawn)
            answers = {
                "drawn rows": estimator.estimate(drawn, confidence=0.95),
                "all rows": full.estimate(full.count(X_new), confidence=0.95),
            }
            for rows, answer in answers.items():
                shares = np.append(answer.proportions, answer.unseen)
                low, high = answer.intervals.T
                inside = (low <= truth) & (truth <= high)
                part = slice(None) if estimator.sees_unseen else slice(3)
                figures = np.abs(shares - truth), high - low, inside
                found.setdefault((type(estimator).__name__, rows), []).append(
                    [float(np.mean(one[part])) for one in figures]
                )
    rows = []
    for (method, which), values in found.items():
        mean, error = np.mean(values, axis=0), np.std(values, axis=0) / np.sqrt(len(values) - 1)
        row: dict[str, Any] = {"method": method, "counted": which, "seeds": n_seeds}
        for name, one, spread in zip(("error", "width", "coverage"), mean, error, strict=True):
            row |= {name: round(float(one), 4), f"{name}_se": round(float(spread), 4)}
        rows.append(row)
        print(row)
    write_csv("scale_gain.csv", rows)


def measured(part: str) -> list[dict[str, str]]:
    lines = (RESULTS / f"scale_{part}.csv").read_text().splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def replace_lines(part: str, found: list[dict[str, Any]]) -> None:
    """Put new lines into a file of results, in the place of those of as many rows."""
    sizes = {int(row["rows"]) for row in found}
    kept = [row for row in measured(part) if int(row["rows"]) not in sizes]
    write_csv(f"scale_{part}.csv", sorted([*kept, *found], key=lambda row: int(row["rows"])))


def predict() -> None:
    """Hours and money from CPU seconds per row, and from those of Dask beyond threads."""
    largest = max(measured("pass"), key=lambda row: int(row["rows"]))
    per_row = float(largest["pass_cpu_s"]) / int(largest["rows"])
    reading = float(largest["draw_cpu_s"]) / int(largest["rows"])
    extra = float(measured("dask")[1]["ratio"])
    found = []
    for n_rows, n_workers in itertools.product((10**9, 10**11), (1, 16, 256)):
        factor = extra if n_workers > 1 else 1.0
        # Rows are drawn and models fitted on one core, before the workers begin.
        alone = n_rows * reading + float(largest["fit_cpu_s"])
        work = n_rows * per_row * factor
        hours = (alone + work / n_workers) / 3600
        money = (alone + work) / 3600 * DOLLARS
        found.append(
            {
                "rows": f"{n_rows:.0e}",
                "workers": n_workers,
                "hours": f"{hours:.3g}",
                "of_which_drawing": f"{n_rows * reading / 3600:.3g}",
                "dollars": f"{money:.3g}",
            }
        )
        print(found[-1])
    said = f"{per_row * 1e6:.2f} us a row, x {extra} with Dask, {DOLLARS} dollars a core-hour"
    write_csv("scale_predicted.csv", found, said)
    for row in measured("pass"):
        guess = int(row["rows"]) * per_row
        print(f"{int(row['rows']):,} rows: {row['pass_cpu_s']} s, by the model {guess:.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part")
    parser.add_argument("given", nargs="*")
    parser.add_argument("--rows", type=int)
    asked = parser.parse_args()
    os.environ["PYTHONPATH"] = f"{ROOT / 'src'}:{os.environ.get('PYTHONPATH', '')}"

    def sizes(*default: int) -> tuple[int, ...]:
        return (asked.rows,) if asked.rows else default

    parts = {
        "pass": lambda: measure_pass(*sizes(1_000_000, 10_000_000, 20_000_000)),
        "memory": lambda: measure_memory(asked.rows or 100_000_000),
        "costs": measure_costs,
        "dask": lambda: measure_dask(asked.rows or 4_000_000),
        "resume": lambda: measure_resume(*sizes(2_000_000, 10_000_000)),
        "gain": measure_gain,
        "predict": predict,
        # Processes of their own:
        "fit": lambda: fit(Path(asked.given[0]), int(asked.given[1])),
        "bare": lambda: bare(Path(asked.given[0])),
        "full-pass": lambda: full_pass(Path(asked.given[0])),
        "in-memory": lambda: in_memory(Path(asked.given[0])),
        "memory-run": lambda: memory_run(Path(asked.given[0])),
        "cluster-run": lambda: cluster_run(Path(asked.given[0]), asked.given[1]),
    }
    parts[asked.part]()


if __name__ == "__main__":
    main()
