"""How C should be chosen on a pair (F, H): by AUC, as the paper does, or by log-loss.

    python benchmarks/pair_choice.py     about 5 minutes on one core

Bias and mean absolute error of ν on problems whose ν is known, the one with F = H (ν = 1) among
them. Writes results/pair_choice.csv. Seeds 2000 on; the choice was made on seeds 1000-1003.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import csv
from pathlib import Path

import numpy as np

from unseen import BestBin, DensityRatio, KernelLogisticRegression, ROCSlope
from unseen.scores.pairs import crossfit_scores

SHIFT = 2 / np.sqrt(20)
PROBLEMS = {
    # name: (features, mean and scale of H, mean and scale of G, shares)
    "F = H": (3, (0, 1), (0, 1), (1.0,)),
    "1-d Gaussians": (1, (0, 1), (2, 1), (0.25, 0.75, 0.95)),
    "twonorm": (20, (SHIFT, 1), (-SHIFT, 1), (0.05, 0.5, 0.95)),
    "ringnorm": (20, (0, 2), (SHIFT, 1), (0.25, 0.75)),
    "far apart": (3, (0, 1), (6, 1), (0.05, 0.5, 0.95)),
}
METHODS = {"ROCSlope": ROCSlope(), "BestBin": BestBin(), "DensityRatio": DensityRatio()}


def draw(problem: str, share: float, n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    d, law_H, law_G, _ = PROBLEMS[problem]
    n_known = round(share * n_rows)
    known = rng.normal(*law_H, (n_known, d))
    F = np.vstack([known, rng.normal(*law_G, (n_rows - n_known, d))])
    return F, rng.normal(*law_H, (n_rows, d))


def errors(problem: str, n_rows: int, scoring: str, seeds: range) -> np.ndarray:
    """Signed errors (runs, methods)."""
    found = []
    for share in PROBLEMS[problem][3]:
        for seed in seeds:
            F, H = draw(problem, share, n_rows, seed)
            model = KernelLogisticRegression(scoring=scoring)
            pair = crossfit_scores(F, H, model, random_state=seed)
            found.append([m.from_scores(*pair).proportion - share for m in METHODS.values()])
    return np.array(found)


def main() -> None:
    rows = []
    for n_rows in (300, 1000):
        for problem in PROBLEMS:
            for scoring in ("roc_auc", "neg_log_loss"):
                found = errors(problem, n_rows, scoring, range(2000, 2006))
                for method, error in zip(METHODS, found.T, strict=True):
                    se = error.std(ddof=1) / np.sqrt(len(error))
                    row = dict(n=n_rows, problem=problem, scoring=scoring, method=method)
                    row |= dict(bias=error.mean(), se=se, mean_abs=np.abs(error).mean())
                    rows.append(
                        {k: f"{v:.4f}" if isinstance(v, float) else v for k, v in row.items()}
                    )
                    print(" ".join(f"{k}={v}" for k, v in rows[-1].items()), flush=True)
    path = Path(__file__).parent / "results" / "pair_choice.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
