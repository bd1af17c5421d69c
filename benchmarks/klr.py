"""Kernel logistic regression against its peers: time, memory, held-out AUC and log-loss.

    python benchmarks/klr.py            every part; about 25 minutes on one core
    python benchmarks/klr.py --quick    n = 500 only, nothing written; half a minute
    python benchmarks/klr.py --only growth    one part: peers, flops or growth
    python benchmarks/klr.py --only peers --names "unseen KLR" HistGradientBoosting
                                        some contenders; the others keep the rows that they have

Two problems, both from the waveform data (Breiman et al.; 21 features). ``pair`` is what the
classifier is for in this library: new rows F against rows of one class H, where half of F is H
itself, so that no classifier can tell them well apart. ``waveform`` is the easy opposite: class 1
against the rest. Everyone gets the same standardised rows, the same grid of 6 bandwidths x 6 C, 3
folds and a refit, and one BLAS thread. Each contender runs in a process of its own, which gives its
peak memory, after a run on 200 rows that pays for what a process pays once. Times are CPU seconds;
trust their ratios within one run. Where a contender is timed on part of its work and scaled, the
column ``timed`` says which part.
"""

from __future__ import annotations

from _common import RESULTS, cpu_seconds, write_csv  # isort: skip

import argparse
import csv
import multiprocessing
import resource
import sys
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np

STRENGTHS = 10.0 ** np.arange(-2, 4)
FACTORS = 2.0 ** np.arange(2, -4, -1)
N_FOLDS = 3
SEEDS = {500: range(3), 2000: range(3), 5600: range(1)}
HELD_OUT = 5000
SLOW = ("GridSearchCV(SVC, probability=True)", "GridSearchCV(SVC + calibration)")


def waveform(n_rows: int, n_features: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Breiman's waveform problem, padded with pure noise beyond 21 features."""
    rng = np.random.default_rng(seed)
    place = np.arange(1, 22)
    waves = np.array([np.maximum(6 - np.abs(place - peak), 0) for peak in (7, 11, 15)])
    label = rng.integers(3, size=n_rows)
    first, second = np.array([(0, 2), (0, 1), (2, 1)])[label].T
    share = rng.random((n_rows, 1))
    X = rng.normal(size=(n_rows, n_features))
    X[:, :21] += share * waves[first] + (1 - share) * waves[second]
    return X, (label == 1).astype(int)


def pair(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of F (label 1) and of H (label 0); half of F comes from H, half from the rest."""
    X, y = waveform(8 * n_rows, 21, seed)
    known, other = X[y == 1], X[y == 0]
    rng = np.random.default_rng(seed)
    label = rng.integers(2, size=n_rows)
    alien = (label == 1) & (rng.random(n_rows) < 0.5)
    return np.where(alien[:, None], other[:n_rows], known[:n_rows]), label


def problem(name: str, n_rows: int, seed: int) -> tuple[np.ndarray, ...]:
    n_all = n_rows + HELD_OUT
    X, y = pair(n_all, seed) if name == "pair" else waveform(n_all, 21, seed)
    X = (X - X[:n_rows].mean(axis=0)) / X[:n_rows].std(axis=0)
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


def bandwidths(X: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import pdist

    return FACTORS * np.median(pdist(X[:500]))


# Contenders: (X, y) -> (decision function or probabilities, CPU seconds, what was timed)


def ours(X, y, rank="auto"):
    from unseen import KernelLogisticRegression

    model = KernelLogisticRegression(bandwidths(X), STRENGTHS, rank=rank, random_state=0)
    start = time.process_time()
    model.fit(X, y)
    return model, time.process_time() - start, "all"


def grid_search(X, y, make, fraction_of_cells=1, one_fold=False):
    """GridSearchCV of ``make(gamma, C)``; or every k-th cell of one fold, scaled, and a refit."""
    from sklearn.model_selection import GridSearchCV, StratifiedKFold

    cells = list(product(1 / (2 * bandwidths(X) ** 2), STRENGTHS))
    if not one_fold:
        model, grid = make(*cells[0]), parameter_grid(make, cells)
        search = GridSearchCV(model, grid, cv=N_FOLDS, n_jobs=1)
        start = time.process_time()
        search.fit(X, y)
        return search.best_estimator_, time.process_time() - start, "all"
    train, test = next(StratifiedKFold(N_FOLDS).split(X, y))
    timed, best = 0.0, (-np.inf, None)
    for cell in cells[::fraction_of_cells]:
        start = time.process_time()
        score = make(*cell).fit(X[train], y[train]).score(X[test], y[test])
        timed += time.process_time() - start
        best = max(best, (score, cell))
    start = time.process_time()
    model = make(*best[1]).fit(X, y)
    refit = time.process_time() - start
    scaled = timed * N_FOLDS * len(cells) / len(cells[::fraction_of_cells]) + refit
    part = f"1 of {N_FOLDS} folds, 1 in {fraction_of_cells} cells; scaled"
    return model, scaled, part


def parameter_grid(make, cells):
    gammas, strengths = sorted({g for g, _ in cells}), sorted({C for _, C in cells})
    gamma_name, C_name = make.names
    return {gamma_name: gammas, C_name: strengths}


def svc(gamma, C):
    from sklearn.svm import SVC

    return SVC(gamma=gamma, C=C)


svc.names = ("gamma", "C")


def svc_probability(gamma, C):
    from sklearn.svm import SVC

    return SVC(gamma=gamma, C=C, probability=True, random_state=0)


svc_probability.names = ("gamma", "C")


def svc_calibrated(gamma, C):
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.svm import SVC

    return CalibratedClassifierCV(SVC(gamma=gamma, C=C), ensemble=False)


svc_calibrated.names = ("estimator__gamma", "estimator__C")


class nystroem_logistic:
    """The same model from scikit-learn's parts, at the rank that ours takes."""

    names = ("nystroem__gamma", "logisticregression__C")

    def __init__(self, rank):
        self.rank = rank

    def __call__(self, gamma, C):
        from sklearn.kernel_approximation import Nystroem
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        return make_pipeline(
            Nystroem(gamma=gamma, n_components=self.rank, random_state=0),
            LogisticRegression(C=C, max_iter=1000),
        )


def plain_fit(X, y, model):
    start = time.process_time()
    model.fit(X, y)
    return model, time.process_time() - start, "one fit, no grid"


def boosting(X, y):
    """Three folds and a refit without a grid, as a user would run it."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import cross_val_score

    model = HistGradientBoostingClassifier(random_state=0)
    start = time.process_time()
    cross_val_score(model, X, y, cv=N_FOLDS)
    model.fit(X, y)
    return model, time.process_time() - start, f"{N_FOLDS} folds + refit, no grid"


def exact(X, y, bandwidth, C):
    """Our exact twin: Newton's method on the full kernel."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from reference.exact_klr import exact_binary, gaussian_kernel

    class Twin:
        def fit(self, X, y):
            self.X, self.ab = X, exact_binary(X, y == 1, bandwidth, C)
            return self

        def decision_function(self, X_new):
            a, b = self.ab
            blocks = np.array_split(X_new, max(1, len(X_new) // 200))
            return np.concatenate([gaussian_kernel(B, self.X, bandwidth) @ a + b for B in blocks])

    return plain_fit(X, y, Twin())


def gaussian_process(X, y):
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF

    return plain_fit(X, y, GaussianProcessClassifier(RBF(5.0), random_state=0))


def contenders(n_rows):
    large = n_rows > 2000
    from unseen.scores.kernel import automatic_rank

    nystroem = nystroem_logistic(automatic_rank(n_rows))
    return {
        "unseen KLR": (ours, ()),
        "GridSearchCV(SVC)": (grid_search, (svc, 1, large)),
        "GridSearchCV(SVC, probability=True)": (grid_search, (svc_probability, 3, large)),
        "GridSearchCV(SVC + calibration)": (grid_search, (svc_calibrated, 3, large)),
        "GridSearchCV(Nystroem + LogisticRegression)": (grid_search, (nystroem, 1, large)),
        "HistGradientBoosting": (boosting, ()),
        "GaussianProcessClassifier": (gaussian_process, ()),
    }


def judge(model, X, y):
    """Held-out AUC, and log-loss where the model gives probabilities."""
    from sklearn.metrics import log_loss, roc_auc_score

    if hasattr(model, "predict_proba"):
        P = model.predict_proba(X)[:, 1]
        return roc_auc_score(y, P), log_loss(y, P)
    return roc_auc_score(y, model.decision_function(X)), float("nan")


def in_a_process(task, *arguments):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(task, arguments)


def measure(which, name, n_rows, seed):
    warnings.simplefilter("ignore")
    X, y, X_test, y_test = problem(which, n_rows, seed)
    run, arguments = contenders(n_rows)[name]
    run(X[:200], y[:200], *arguments)
    model, seconds, timed = run(X, y, *arguments)
    auc, loss = judge(model, X_test, y_test)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    row = dict(problem=which, n=n_rows, name=name, seed=seed, seconds=seconds)
    return {**row, "auc": auc, "log_loss": loss, "peak_mb": memory, "timed": timed}


def measure_twin(which, n_rows, seed):
    X, y, X_test, y_test = problem(which, n_rows, seed)
    chosen, _, _ = ours(X, y)
    # Ours standardises again; the rows are standardised already, up to rounding.
    model, seconds, _ = exact(X, y, chosen.bandwidth_, chosen.C_)
    auc, loss = judge(model, X_test, y_test)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    row = dict(problem=which, n=n_rows, name="exact twin", seed=seed, seconds=seconds)
    timed = "one fit at the cell that ours chose"
    return {**row, "auc": auc, "log_loss": loss, "peak_mb": memory, "timed": timed}


def measure_growth(n_rows, rank, n_features, n_bandwidths):
    """Ours alone: the whole grid at a fixed rank."""
    from unseen import KernelLogisticRegression

    X, y = waveform(n_rows, n_features, 0)
    factors = FACTORS if n_bandwidths == 6 else FACTORS[3:4]
    model = KernelLogisticRegression(
        factors * 6.0, STRENGTHS, rank=rank, standardize=True, random_state=0
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    row = dict(n=n_rows, features=n_features, rank=rank, bandwidths=n_bandwidths)
    return {**row, "seconds": seconds, "peak_mb": memory, "before_fit_mb": before}


def measure_flops(n_rows):
    """Share of the flop bound: operations counted while they run, over the peak rate measured.

    Counted: products with the design (2 n r per column each way), distances (2 n r (d + 2)),
    the preconditioner's whitening, Gram (r^2 per row of its sample: the product is symmetric)
    and Cholesky factors (r^3 / 3), triangular and whitening products on coefficients (2 r^2 per
    column each), pivoted Cholesky and inverse of K_ZZ (2/3 r^3). Not counted: exponentials, sums,
    line searches, scores. Operations in double precision count twice. A bound is a count
    over the rate of a 2000^3 single-precision product; both times are the best of seven.
    """
    from unseen.scores import kernel, logistic

    X, y, _, _ = problem("pair", n_rows, 0)
    count = FlopCount(kernel, logistic, X.shape[1])
    with count:
        ours(X, y)
    seconds = min(ours(X, y)[1] for _ in range(7))
    A = np.random.default_rng(0).random((2000, 2000), dtype=np.float32)
    peak = 2 * 2000**3 / cpu_seconds(lambda: A @ A, 7)
    bound = count.total / peak
    row = dict(n=n_rows, gflop=count.total / 1e9, peak_gflops=peak / 1e9)
    row |= dict(bound_seconds=bound, seconds=seconds, share=bound / seconds)
    plain = plain_flops(n_rows, kernel.automatic_rank(n_rows), X.shape[1])
    return {**row, "plain_gflop": plain / 1e9, "plain_share": plain / peak / seconds}


def plain_flops(n, rank, n_features):
    """What the textbook way would execute; ours executes less, so this flatters it.

    For each bandwidth distances, whitening of all rows and their Gram matrix (2 n r^2 each), and
    ten steps of conjugate gradients (4 n r each) for 6 C x 3 folds; then the refit.
    """
    factor = 2 * n * rank * n_features + 4 * n * rank**2
    steps = 10 * 4 * n * rank
    return len(FACTORS) * (factor + len(STRENGTHS) * N_FOLDS * steps) + factor + steps


class FlopCount:
    """Counts while the solver runs, by wrapping its products."""

    def __init__(self, kernel, logistic, n_features):
        self.kernel, self.logistic = kernel, logistic
        self.n_features, self.total = n_features, 0.0

    def __enter__(self):
        self.saved = {
            (owner, name): getattr(owner, name)
            for owner, name in [
                (self.kernel.PreparedRows, "factor"),
                (self.logistic._Iteration, "_curvature"),
                (self.logistic._Iteration, "_move"),
                (self.logistic._Preconditioner, "__init__"),
                (self.logistic._Preconditioner, "update"),
                (self.logistic._Preconditioner, "__call__"),
            ]
        }
        for (owner, name), function in self.saved.items():
            setattr(owner, name, self.wrap(function, getattr(self, "count_" + name.strip("_"))))
        return self

    def __exit__(self, *_):
        for (owner, name), function in self.saved.items():
            setattr(owner, name, function)

    def wrap(self, function, counter):
        def counted(*arguments, **named):
            result = function(*arguments, **named)
            self.total += counter(result, *arguments)
            return result

        return counted

    def count_factor(self, factor, rows, _):
        n, rank = factor.design.shape
        return 2 * n * rank * (self.n_features + 2) + 2 * (2 / 3) * len(rows.landmarks) ** 3

    def count_curvature(self, _, state):
        return 2 * state.factor.design.size * state.w[0].size

    def count_move(self, _, state, length):
        return 2 * state.factor.design.size * state.w[0].size

    def count_init(self, _, preconditioner, *__):
        return 2 * preconditioner.sample.size * preconditioner.sample.shape[1]

    def count_update(self, _, preconditioner, C, *__):
        sample, n_factors = preconditioner.sample, len(np.unique(C))
        return sample.size * sample.shape[1] + n_factors * sample.shape[1] ** 3 / 3

    def count_call(self, _, preconditioner, C, gradient):
        # Two triangular solves; whitening of the gradient before and of the direction after.
        return (2 + 2 + 2) * gradient.shape[0] * gradient.size


def write(name, rows):
    def short(value):
        return f"{value:.5g}" if isinstance(value, float) else value

    write_csv(name, [{key: short(value) for key, value in row.items()} for row in rows])


def say(text):
    print(text, flush=True)


def compare(which, sizes, names=()):
    rows = []
    for n_rows in sizes:
        for name in names or contenders(n_rows):
            seeds = SEEDS[n_rows][:1] if name in SLOW else SEEDS[n_rows]
            rows += [in_a_process(measure, which, name, n_rows, seed) for seed in seeds]
            show(rows[-1], rows)
        if not names:
            rows += [in_a_process(measure_twin, which, n_rows, seed) for seed in SEEDS[n_rows]]
            show(rows[-1], rows)
    return rows


def show(row, rows):
    same = [r for r in rows if r["n"] == row["n"]]
    mine = np.mean([r["seconds"] for r in same if r["name"] == "unseen KLR"])
    own = [r for r in same if r["name"] == row["name"]]
    paired = [
        r["auc"]
        - next(m["auc"] for m in same if m["name"] == "unseen KLR" and m["seed"] == r["seed"])
        for r in own
    ]
    seconds = np.mean([r["seconds"] for r in own])
    say(
        f"{row['problem']:<9} n={row['n']:>5}  {row['name']:<44} "
        f"{seconds:9.2f} s  {seconds / mine:7.1f} x ours  "
        f"AUC {np.mean([r['auc'] for r in own]):.4f} ({np.mean(paired):+.4f})  "
        f"log-loss {np.mean([r['log_loss'] for r in own]):.4f}  {row['peak_mb']:6.0f} MB  "
        f"[{row['timed']}]"
    )


def flops():
    row = in_a_process(measure_flops, 5600)
    write("klr_flops.csv", [row])
    say("flop bound at n = 5600: " + ", ".join(f"{k} {v:.3g}" for k, v in row.items()))


def growth():
    rows = [in_a_process(measure_growth, n, 512, 21, 1) for n in (20_000, 100_000, 1_000_000)]
    rows.append(in_a_process(measure_growth, 100_000, 512, 50, 6))
    write("klr_growth.csv", rows)
    for row in rows:
        say(", ".join(f"{k} {v:.5g}" for k, v in row.items()))
    first, last = rows[0], rows[2]
    slope = np.log(last["seconds"] / first["seconds"]) / np.log(last["n"] / first["n"])
    say(f"exponent of the cost in n from {first['n']} to {last['n']} rows: {slope:.3f}")


def peers(names=()):
    found = [row for which in ("pair", "waveform") for row in compare(which, list(SEEDS), names)]
    if names:
        with (RESULTS / "klr.csv").open(encoding="utf-8") as file:
            found = [_measured_again(row, found) for row in csv.DictReader(file)]
    write("klr.csv", found)


def _measured_again(row, found):
    """The new row of the same contender, problem and seed, if there is one."""
    keys = ("problem", "n", "name", "seed")
    return next((new for new in found if all(str(new[k]) == row[k] for k in keys)), row)


def main():
    parts = {"flops": flops, "growth": growth, "peers": peers}
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="n = 500 only, nothing written")
    parser.add_argument("--only", choices=parts, help="one part instead of all")
    parser.add_argument("--names", nargs="+", default=[], help="some of the peers")
    options = parser.parse_args()
    if options.quick:
        compare("pair", [500])
        return
    if options.names:
        peers(["unseen KLR", *(name for name in options.names if name != "unseen KLR")])
        return
    for part in [options.only] if options.only else parts:
        parts[part]()


if __name__ == "__main__":
    main()
