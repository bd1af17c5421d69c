"""CPU time of ten estimators in one call of ``compare``, against each of them alone.

Two sets of estimators. ``default`` is every one that ``compare`` runs by itself, and an open-set
variant where that makes fewer than ten: one call must cost less than twice the most expensive one
alone. ``two kinds`` leaves out those that share their scores with nobody (BinaryRescaled,
L2Distance, KLDivergence) and fills up with variants. Class scores and posteriors then cost about
the same, and reading them ten times comes on top.

Written to ``benchmarks/results/compare.csv``: one row per problem, set and estimator, and a row
``compare``. ``ratio`` is the time of the row over that of the most expensive estimator alone.

Run ``python benchmarks/compare.py`` (a minute).
"""

from __future__ import annotations

from _common import cpu_seconds, write_csv  # isort: skip

from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import unseen
from unseen.proportions import all_estimators

N_RUNS = 2

Samples = tuple[np.ndarray, np.ndarray, np.ndarray]


def gaussians(n_labelled: int, n_new: int) -> Samples:
    """Two known classes in five columns; new rows are half, a fifth, and three tenths unseen."""
    rng = np.random.default_rng(0)
    centres = 3 * np.eye(5)[:3]
    codes = np.repeat([0, 1], n_labelled)
    of_new = np.repeat([0, 1, 2], [n_new // 2, n_new // 5, n_new - n_new // 2 - n_new // 5])
    X, X_new = (centres[which] + rng.normal(size=(len(which), 5)) for which in (codes, of_new))
    return X, codes, X_new


def digits() -> Samples:
    """Even rows labelled, without the 8s and 9s; odd rows new."""
    X, y = load_digits(return_X_y=True)
    known = y[::2] < 8
    return X[::2][known], y[::2][known], X[1::2]


def two_kinds() -> list[Any]:
    """Ten estimators that read class scores or posteriors."""
    return [
        unseen.MPEIncomplete(),
        unseen.MPEIncomplete(method=unseen.BestBin()),
        unseen.MPEProjected(),
        unseen.MPEJoint(),
        unseen.MPEJoint(closed=False),
        unseen.SaerensEM(),
        unseen.HallECDF(),
        unseen.ClassifyAndCount(),
        unseen.AdjustedCount(),
        unseen.AdjustedCount(soft=False),
    ]


def main() -> None:
    unseen.compare(*gaussians(50, 100), random_state=0)
    problems = {
        "gaussian 2 x 300 + 600": gaussians(300, 600),
        "gaussian 2 x 1500 + 3000": gaussians(1500, 3000),
        "digits 8 classes, 898 new rows": digits(),
    }
    rows = []
    for problem, samples in problems.items():
        everything = all_estimators(len(np.unique(samples[1])))
        if len(everything) < 10:
            everything.append(unseen.MPEJoint(closed=False))
        rows += measure(problem, "default", everything, samples)
        rows += measure(problem, "two kinds", two_kinds(), samples)
    write_csv("compare.csv", rows)


def measure(
    problem: str, chosen: str, estimators: list[Any], samples: Samples
) -> list[dict[str, Any]]:
    """Each alone, and all in one call."""
    X, y, X_new = samples
    seconds = {
        " ".join(repr(estimator).split()): cpu_seconds(
            lambda estimator=estimator: unseen.estimate(
                X, y, X_new, estimator=estimator, random_state=0
            ),
            N_RUNS,
        )
        for estimator in estimators
    }
    highest, total = max(seconds.values()), sum(seconds.values())
    seconds["compare"] = cpu_seconds(
        lambda: unseen.compare(X, y, X_new, estimators, random_state=0), N_RUNS
    )
    print(
        f"{problem}, {chosen}: {len(estimators)} estimators together {seconds['compare']:.2f} s, "
        f"most expensive alone {highest:.2f} s (ratio {seconds['compare'] / highest:.2f}), "
        f"one after another {total:.2f} s"
    )
    return [
        {
            "problem": problem,
            "set": chosen,
            "estimator": name,
            "cpu_seconds": round(value, 3),
            "ratio": round(value / highest, 3),
        }
        for name, value in seconds.items()
    ]


if __name__ == "__main__":
    main()
