"""Bayesian bootstrap of a ROC, with the model fitted to every replicate: time and spread.

Ours: ``bootstrap_roc`` and ``fit_roc``, 1000 replicates. The peer: a loop over
``sklearn.metrics.roc_curve`` with exponential weights and ``scipy.optimize.minimize`` of the same
deviance on the same grid with the same analytic gradient. A few turns of the loop are timed and
scaled to 1000. The spread is compared with that of an exact bootstrap that draws a weight for
every row (sort once, cumulative sums). CPU seconds; run with one BLAS thread.
"""

from __future__ import annotations

from _common import cpu_seconds, write_csv  # isort: skip

import numpy as np
from scipy.optimize import minimize
from sklearn.metrics import roc_curve
from threadpoolctl import threadpool_limits

from unseen._types import FloatArray
from unseen.roc import GRID, Concave, RocModel, RocSketch, bootstrap_roc, fit_roc

N_REPLICATES = 1000
# Rows per sample: turns of the loop that are timed, and replicates of the exact bootstrap.
SIZES = {10_000: (20, 4000), 100_000: (10, 4000), 1_000_000: (3, 1000)}
MODELS = {"concave, mu = 1": Concave(), "concave, mu free": Concave(mu=None)}


def sample(n_rows: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return F, of which 40% is H, and H."""
    rng = np.random.default_rng(seed)
    known = int(0.4 * n_rows)
    F = np.concatenate([rng.normal(size=known), rng.normal(1.5, 1, n_rows - known)])
    return F, rng.normal(size=n_rows)


def ours(F: FloatArray, H: FloatArray, model: RocModel, seed: int) -> tuple[FloatArray, FloatArray]:
    """Replicates of the curve, and the slope of each."""
    curves = bootstrap_roc(RocSketch.from_scores(F, H), GRID, N_REPLICATES, seed)
    return curves, fit_roc(GRID, curves, model).right_slope


def one_turn_of_the_loop(
    F: FloatArray, H: FloatArray, model: RocModel, rng: np.random.Generator
) -> float:
    """What a person would write with scikit-learn and SciPy."""
    is_F = np.repeat([1, 0], [F.size, H.size])
    weights = rng.standard_exponential(is_F.size)
    false_alarm, detection, _ = roc_curve(is_F, np.concatenate([F, H]), sample_weight=weights)
    curve = np.interp(GRID, false_alarm, detection)

    def deviance(parameters: FloatArray) -> tuple[float, FloatArray]:
        value, complement, gradient = model.value_and_gradient(GRID, parameters)
        total = -2 * (curve @ np.log(value) + (1 - curve) @ np.log(complement))
        return total, gradient @ (2 * ((1 - curve) / complement - curve / value))

    lower, upper = model.bounds
    starts = ([0.3, 0.1, 1.0], [0.1, 1e-3, 1.0])
    ends = [
        minimize(
            deviance,
            start[: lower.size],
            jac=True,
            method="L-BFGS-B",
            bounds=list(zip(lower, upper, strict=True)),
            options={"ftol": 1e-12, "gtol": 1e-7},
        )
        for start in starts
    ]
    return float(model.right_slope(min(ends, key=lambda end: end.fun).x))


def exact_curves(F: FloatArray, H: FloatArray, n_replicates: int, seed: int) -> FloatArray:
    """One weight per row: sort once, then cumulative sums."""
    rng = np.random.default_rng(seed)
    order = np.argsort(-np.concatenate([F, H]))
    is_F = order < F.size
    curves = np.empty((n_replicates, GRID.size))
    for row in range(n_replicates):
        weights = rng.standard_exponential(order.size)
        x, y = np.cumsum(weights * ~is_F), np.cumsum(weights * is_F)
        curves[row] = np.interp(GRID, x / x[-1], y / y[-1])
    return curves


def spread_ratios(F: FloatArray, H: FloatArray, model: RocModel, n_exact: int) -> dict[str, float]:
    """Spread of our replicates over that of the exact bootstrap: slope, and curve pointwise."""
    exact = exact_curves(F, H, n_exact, seed=1)
    sketch = RocSketch.from_scores(F, H)
    curves = bootstrap_roc(sketch, GRID, 4 * n_exact, random_state=2)
    pointwise = curves.std(axis=0) / exact.std(axis=0)
    slopes = fit_roc(GRID, curves, model).right_slope, fit_roc(GRID, exact, model).right_slope
    return {
        "sd_slope": slopes[0].std(),
        "sd_slope_ratio": slopes[0].std() / slopes[1].std(),
        "sd_curve_ratio_least": pointwise.min(),
        "sd_curve_ratio_mean": pointwise.mean(),
        "sd_curve_ratio_most": pointwise.max(),
        # Standard error of one ratio, were the replicates normal.
        "sd_ratio_error": np.sqrt(0.5 / n_exact + 0.5 / (4 * n_exact)),
    }


def measure(n_rows: int, name: str) -> dict[str, object]:
    model, (n_turns, n_exact) = MODELS[name], SIZES[n_rows]
    F, H = sample(n_rows, seed=0)
    rng = np.random.default_rng(0)
    ours(F, H, model, 0)
    fast = cpu_seconds(lambda: ours(F, H, model, 0), 3)
    turn = cpu_seconds(lambda: [one_turn_of_the_loop(F, H, model, rng) for _ in range(n_turns)])
    slow = turn / n_turns * N_REPLICATES
    return {
        "rows_per_sample": n_rows,
        "model": name,
        "replicates": N_REPLICATES,
        "ours_cpu_s": fast,
        "loop_cpu_s_scaled": slow,
        "loop_turns_timed": n_turns,
        "times_faster": slow / fast,
        **spread_ratios(F, H, model, n_exact),
    }


def shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def main() -> None:
    """Measure every size and model, print a table and write the results."""
    print(f"{N_REPLICATES} Bayesian-bootstrap replicates of a ROC, a model fitted to each.")
    print("The loop over roc_curve + minimize is timed for a few turns and scaled.\n")
    header = f"{'rows':>9} {'model':<17} {'ours s':>7} {'loop s':>8} {'ratio':>6}"
    print(header + f" {'sd slope':>9} {'of exact':>8} {'sd curve of exact':>20}")
    rows = []
    with threadpool_limits(1):
        for n_rows in SIZES:
            for name in MODELS:
                row = measure(n_rows, name)
                rows.append(row)
                print(
                    f"{n_rows:>9} {name:<17} {row['ours_cpu_s']:7.3f} "
                    f"{row['loop_cpu_s_scaled']:8.1f} {row['times_faster']:5.0f}x "
                    f"{row['sd_slope']:9.5f} {row['sd_slope_ratio']:8.3f} "
                    f"{row['sd_curve_ratio_least']:8.3f} to {row['sd_curve_ratio_most']:.3f}"
                    f" (+- {row['sd_ratio_error']:.3f})",
                    flush=True,
                )
    write_csv(
        "bootstrap.csv",
        [{name: shown(value) for name, value in row.items()} for row in rows],
    )


if __name__ == "__main__":
    main()
