"""Which bandwidth to take when there is a single known class: MPE-Incomplete on small samples.

    python benchmarks/single_class.py     about 10 minutes on one core

With several known classes the bandwidth comes from telling them apart. With one it can only be
chosen on the pair that is then scored, or not at all. Mean l1 error of ``MPEIncomplete`` with the
class M of the paper's protocol unobserved, on binary sets; the candidates of the library were
chosen on the first five sets, permutations 0 to 4, and are reported on the others, permutations 5
to 9. Writes results/single_class.csv.
"""

from __future__ import annotations

from _common import write_csv  # isort: skip


import numpy as np

from paper.trial import PROPORTIONS, Block, Trial
from unseen import KernelLogisticRegression, ROCSlope
from unseen.datasets import load_dataset
from unseen.scores.crossfit import cross_fitter

CHOSEN_ON = ("thyroid", "saheart", "german", "image", "splice")
REPORTED_ON = ("breast_cancer", "diabetes", "ionosphere", "banana", "waveform")
# Times the median distance between rows.
CANDIDATES = {
    "whole grid": 2.0 ** np.arange(2, -4, -1),
    "near the median": 2.0 ** np.arange(1, -2, -1),
    "the median": np.ones(1),
    "half the median": np.full(1, 0.5),
}


def errors(name: str, permutations: range) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {candidates: [] for candidates in CANDIDATES}
    for permutation in permutations:
        block = Block(load_dataset(name), permutation, "unobserved")
        for proportion in PROPORTIONS[::2]:
            trial = Trial(block, proportion)
            both = np.vstack([trial.X_new, block.X])
            rng = np.random.RandomState(trial.seed)
            median = KernelLogisticRegression().prepare(both, np.ones(len(both)), rng).median
            for candidates, factors in CANDIDATES.items():
                scorer = KernelLogisticRegression(factors * median)
                fitter = cross_fitter(scorer)
                pair = fitter.pairs(block.X, block.codes, trial.X_new, 10, 1, trial.seed)[0]
                share = ROCSlope().from_scores(*pair).proportion
                found[candidates].append(2 * abs(share - trial.truth[0]))
    return found


def main() -> None:
    rows = []
    for part, names, permutations in (
        ("chosen on", CHOSEN_ON, range(5)),
        ("reported on", REPORTED_ON, range(5, 10)),
    ):
        for name in names:
            found = errors(name, permutations)
            grid = np.array(found["whole grid"])
            for candidates, values in found.items():
                gap = np.array(values) - grid
                row = dict(part=part, dataset=name, bandwidths=candidates)
                row |= dict(error=f"{np.mean(values):.4f}", minus_grid=f"{gap.mean():.4f}")
                row |= dict(se=f"{gap.std(ddof=1) / np.sqrt(len(gap)):.4f}", n=len(gap))
                rows.append(row)
                print(" ".join(f"{key}={value}" for key, value in row.items()), flush=True)
    write_csv("single_class.csv", rows)


if __name__ == "__main__":
    main()
