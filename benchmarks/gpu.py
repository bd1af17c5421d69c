"""One graphics card: the solver, whole estimates, predictions, and the share of what it could do.

    PYTHONPATH=src python benchmarks/gpu.py                       all parts, about five minutes
    PYTHONPATH=src python benchmarks/gpu.py machine grid --out D  some parts, results in folder D

Needs torch with CUDA. Times are wall seconds of each run after a warm-up, with the card's queue
empty before and after; of stages, seconds by the card's own clock, the mean of ten. A stage's share
of the peak is the time that its bytes, or its operations if these take longer, would take at the
rate of a plain copy or of a large product on this card, over the time it took. Hosts of the same
card differ: ``host_loop_s`` is what a plain loop of three million squares takes there.
"""

from __future__ import annotations

from _common import RESULTS  # isort: skip

import argparse
import json
import platform
import time
import traceback
import warnings
from pathlib import Path

import numpy as np
import torch

import unseen
from unseen.scores import kernel, logistic
from unseen.scores.base import training_masks
from unseen.scores.held_out import Grid, one_hot, weighted_auc

N_RUNS = 3


def seconds(task, n_runs=N_RUNS):
    """Wall seconds of each run, after one to warm up; and what the last run found."""
    found = task()
    times = []
    for _ in range(n_runs):
        torch.cuda.synchronize()
        start = time.perf_counter()
        found = task()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return times, found


def median(task, n_runs=N_RUNS):
    return float(np.median(seconds(task, n_runs)[0]))


def on_card(task, n_runs=10):
    """Seconds that the card takes for a task, among several of the same, by its own clock."""
    task()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(n_runs):
        task()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / 1000 / n_runs


def machine():
    """Rates that nothing on this card can beat by much."""
    big = torch.randn(2**30, device="cuda")
    other = torch.empty_like(big)
    copy = 2 * big.nbytes / median(lambda: other.copy_(big))
    rates = {}
    for name, dtype in (("float32", torch.float32), ("float64", torch.float64)):
        left, right = (torch.randn(8192, 8192, device="cuda", dtype=dtype) for _ in range(2))
        rates[name] = 2 * 8192**3 / median(lambda left=left, right=right: left @ right)
    host = torch.randn(2**28)
    start = time.perf_counter()
    sum(number * number for number in range(3_000_000))
    loop = time.perf_counter() - start
    return {
        "card": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "host_loop_s": loop,
        "copy_TB_per_s": copy / 1e12,
        "float32_TFLOP_per_s": rates["float32"] / 1e12,
        "float64_TFLOP_per_s": rates["float64"] / 1e12,
        "host_to_card_GB_per_s": host.nbytes / median(lambda: host.to("cuda")) / 1e9,
        "card_to_host_GB_per_s": big[: 2**28].nbytes / median(lambda: big[: 2**28].cpu()) / 1e9,
    }


def two_classes(n_rows, n_columns, seed=0):
    """Rows of two classes that overlap, on the host; the classes differ by a bent line."""
    make = torch.Generator(device="cuda").manual_seed(seed)
    X = torch.randn(n_rows, n_columns, generator=make, device="cuda", dtype=torch.float64)
    bent = X[:, 0] + X[:, 1] * X[:, 2] + torch.sin(2 * X[:, 3])
    noise = torch.randn(n_rows, generator=make, device="cuda", dtype=torch.float64)
    return X.cpu().numpy(), (bent + noise > 0).long().cpu().numpy()


def grid_fit(rows, codes, masks, C_values, bandwidth):
    """All fits behind the choice of C, and the fit of the chosen one to all rows."""
    found = Grid(rows, codes, C_values, masks).held_out(bandwidth)
    best = C_values[[found.scores.argmax()]]
    factor, arrays = rows.factor(bandwidth), rows.arrays
    whole = logistic.Problems(
        best,
        np.zeros(1, dtype=np.int64),
        arrays.put(rows.weight[:, None], factor.dtype),
        arrays.put(one_hot(codes, 2)[:, None], factor.dtype),
    )
    return factor, logistic.solve(factor, whole, tol=1e-3, max_iter=100), found


def auc(factor, solution, rows, X, y):
    coefficients = solution.coefficients[:-1, 0].astype(factor.dtype)
    scores = factor.kernel.functions(X, rows.standardise, coefficients)[:, 0]
    return weighted_auc(scores, y == 1, np.ones(len(y)))


def grid(n_rows, rank, n_columns=50):
    """8 values of C x 3 folds and the refit, at one bandwidth, of rows that are on the card."""
    X, y = two_classes(n_rows, n_columns)
    X_test, y_test = two_classes(200_000, n_columns, seed=1)
    C_values = 10.0 ** np.arange(-3, 5) / np.sqrt(n_rows / 1000)
    model = unseen.KernelLogisticRegression(rank=rank)
    start = time.perf_counter()
    rows = model.prepare(X, np.ones(n_rows), np.random.RandomState(0))
    prepared = time.perf_counter() - start
    codes, masks = map(rows.arrays.put, (y, training_masks(3, y, 0)))
    cells = rows, codes, masks, C_values, rows.median / 2
    steps, step = [], logistic._Iteration.step

    def counted(state):
        steps.append(state.active.size)
        step(state)

    logistic._Iteration.step = counted
    times, (factor, solution, found) = seconds(lambda: grid_fit(*cells))
    logistic._Iteration.step = step
    n_steps = len(steps) // (N_RUNS + 1)
    record = {
        "rows": n_rows, "columns": n_columns, "rank": factor.design.shape[1] - 1,
        "seconds": times, "prepare_seconds_first_run": prepared, "steps": n_steps,
        "columns_at_each_step": steps[-n_steps:],
        "chosen_C": float(C_values[found.scores.argmax()]),
        "log_loss": (-found.scores).tolist(), "auc": auc(factor, solution, rows, X_test, y_test),
        "stages": stages(rows, factor, rows.median / 2),
    }  # fmt: skip
    del factor, solution, found
    torch.cuda.empty_cache()
    before, kernel.EXACT_CELLS = kernel.EXACT_CELLS, 1e99
    factor, solution, found = grid_fit(*cells)
    kernel.EXACT_CELLS = before
    record["auc_float64"] = auc(factor, solution, rows, X_test, y_test)
    record["log_loss_float64"] = (-found.scores).tolist()
    return record


def stages(rows, factor, bandwidth):
    """Seconds of each stage, and its share of the peak of this card."""
    peak = PARTS["machine"]
    copy, flops = 1e12 * peak["copy_TB_per_s"], 1e12 * peak["float32_TFLOP_per_s"]
    arrays, design = rows.arrays, factor.design
    n_rows, width = design.shape
    found = {}

    def note(name, task, n_bytes, n_operations):
        took = on_card(task)
        least = max(n_bytes / copy, n_operations / flops)
        bound = "bytes" if n_bytes / copy > n_operations / flops else "operations"
        found[name] = {"seconds": took, "share_of_peak": least / took, "bound": bound}

    design_bytes = 4 * n_rows * width
    rows_on_scale = rows.standardise(rows.X)
    n_operations = 2 * n_rows * width * (rows.X.shape[1] + 2)
    fill = factor.kernel.fill
    note("fill", lambda: fill(rows_on_scale, design[:, :-1]), design_bytes, n_operations)
    note("factor", lambda: rows.factor(bandwidth), design_bytes, n_operations)
    for columns in (24, 12, 3, 1):
        right = torch.randn(width, columns, device="cuda")
        out = torch.randn(n_rows, columns, device="cuda")
        both = design_bytes + out.nbytes, 2 * n_rows * width * columns
        note(f"product, {columns}", lambda r=right, o=out: arrays.product(design, r, o), *both)
        note(f"transposed, {columns}", lambda o=out: arrays.transposed_product(o, design), *both)
    values, weights = (torch.rand(n_rows, 24, device="cuda") for _ in range(2))
    note("sigmoid", lambda: arrays.shares(values[..., None]), 2 * values.nbytes, 0)
    note("contract", lambda: arrays.contract("nc,nc->c", values, weights), 2 * values.nbytes, 0)
    gram = torch.randn(width, width, device="cuda")
    gram = gram @ gram.T + width * torch.eye(width, device="cuda")
    note("cholesky", lambda: arrays.cholesky(gram), 0, width**3)
    note("solve", lambda: arrays.solve(gram, values[:width, :3].double()), 2 * gram.nbytes, 0)
    return found


def against_cpu(n_rows=100_000, rank=1024, n_columns=50):
    """The same fits by NumPy, one thread, and on the card; seconds, and the held-out losses."""
    X, y = two_classes(n_rows, n_columns)
    C_values, masks = 10.0 ** np.arange(-4, 4), training_masks(3, y, 0)
    found = {"rows": n_rows, "rank": rank}
    for device in ("cpu", "cuda"):
        with unseen.on_device(device):
            model = unseen.KernelLogisticRegression(rank=rank)
            rows = model.prepare(X, np.ones(n_rows), np.random.RandomState(0))
            codes = rows.arrays.put(y)
            cells = rows, codes, rows.arrays.put(masks), C_values, rows.median / 2
            if device == "cuda":
                grid_fit(*cells)
            start = time.perf_counter()
            losses = -grid_fit(*cells)[2].scores
            found[device] = {"seconds": time.perf_counter() - start, "log_loss": losses.tolist()}
    return found


def blobs(n_rows, n_columns, shares, seed):
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(len(shares), n_columns)) * 4.5 / np.sqrt(n_columns)
    make = np.random.default_rng(seed)
    codes = make.choice(len(shares), n_rows, p=shares)
    X = make.standard_normal((n_rows, n_columns), dtype=np.float32).astype(np.float64)
    return centres[codes] + X, codes


def estimate(n_rows=1_000_000, n_columns=20, max_rows=None):
    """A whole estimate with intervals: four known classes, an unseen one of 15%; three runs."""
    X, y = blobs(n_rows, n_columns, [0.25, 0.25, 0.25, 0.25, 0.0], 1)
    X_new, _ = blobs(n_rows, n_columns, [0.3, 0.2, 0.2, 0.15, 0.15], 2)
    few = slice(0, 6000)
    unseen.estimate(X[few], y[few], X_new[few], random_state=0)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        found = unseen.estimate(X, y, X_new, max_rows=max_rows, random_state=0)
        times.append(time.perf_counter() - start)
    return {
        "rows": [n_rows, n_rows], "columns": n_columns, "max_rows": max_rows, "seconds": times,
        "shares": [*found.proportions.tolist(), found.unseen],
        "truth": [0.3, 0.2, 0.2, 0.15, 0.15], "intervals": np.asarray(found.intervals).tolist(),
    }  # fmt: skip


def predict(n_rows=10_000_000, n_columns=50):
    """Labels of rows that come from the host, by the classifier and by the kernel rule."""
    X, y = two_classes(n_rows, n_columns)
    model = unseen.KernelLogisticRegression(rank=1024, bandwidth=7.0, C=1.0, random_state=0)
    model.fit(X[:200_000], y[:200_000])
    found = {"rows": n_rows, "columns": n_columns, "rank": len(model.landmarks_)}
    found["classifier"] = seconds(lambda: model.predict(X), 2)[0]
    single = X.astype(np.float32)
    found["classifier, single precision rows"] = seconds(lambda: model.predict(single), 2)[0]
    some, half = slice(0, 20_000), slice(20_000, 40_000)
    rule = unseen.RejectionKernel(random_state=0).fit(X[some], y[some], X[half], [0.5, 0.4])
    found["RejectionKernel"] = seconds(lambda: rule.predict(X), 1)[0]
    part = X[:100_000]
    whole = unseen.RejectionClassifier(random_state=0).fit(
        X[:5000], y[:5000], X[half][:5000], [0.5, 0.4]
    )
    found["RejectionClassifier, 100,000 rows"] = seconds(lambda: whole.predict(part), 1)[0]
    return found


PARTS = {}
ALL = {
    "machine": machine,
    "grid": lambda: grid(1_000_000, 1024),
    "large grid": lambda: grid(4_000_000, 2048),
    "against the CPU": against_cpu,
    "estimate of drawn rows": lambda: estimate(max_rows=20_000),
    "estimate of all rows": lambda: estimate(max_rows=None),
    "predict": predict,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", help=", ".join(ALL))
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if not torch.cuda.is_available():
        raise SystemExit("gpu.py needs a CUDA GPU that torch sees; got none.")
    for name in ("machine", *(part for part in options.parts or ALL if part != "machine")):
        torch.cuda.empty_cache()
        try:
            with unseen.on_device("cuda"):
                PARTS[name] = ALL[name]()
        except Exception:  # the other parts are worth having
            PARTS[name] = {"failed": traceback.format_exc()}
        print(name, json.dumps(PARTS[name], indent=1), flush=True)
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "gpu.json").write_text(json.dumps(PARTS, indent=1) + "\n")
    for name, part in PARTS.items():
        for stage, one in part.get("stages", {}).items():
            share, took = one["share_of_peak"], 1000 * one["seconds"]
            print(f"{name}: {stage}: {took:.2f} ms, {share:.0%} of what {one['bound']} allow")


if __name__ == "__main__":
    main()
