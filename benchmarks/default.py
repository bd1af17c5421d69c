"""The default estimator beside all others, and what each of its ingredients brings.

    python -m paper --out FOLDER                 the paper's protocol, every method
    python benchmarks/default.py paper FOLDER    tables from those cells
    python benchmarks/default.py ablation        what each ingredient brings
    python benchmarks/default.py shift           label shift on scikit-learn's bundled sets
    python benchmarks/default.py folds           five folds against ten where rows are many
    python benchmarks/default.py time            against the plain grid fit

Each writes results/default_<part>.csv; ``ablation`` takes 15 minutes, the others some. The seven
mixture problems are in ``benchmarks/mixture.py``, and whether probabilities and intervals mean what
they say in ``benchmarks/calibration.py``.

The method was developed on the sets named below and on synthetic problems, with five splits of each
set. What is reported is on other splits: permutations 5 to 9, of all sets and of those sets alone
that were never looked at (ablation: permutation 5 alone).
"""

from __future__ import annotations

from _common import each, write_csv  # isort: skip

import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_blobs

from paper import Cell, CellStore
from paper.published import DATA_SETS
from paper.trial import OURS, PROPORTIONS, SETTINGS, Block, Trial
from unseen import (
    KernelLogisticRegression,
    MPEIncomplete,
    OpenSetEstimator,
    SaerensEM,
    UnseenWarning,
)
from unseen.datasets import available_datasets, draw_with_proportions, load_dataset
from unseen.proportions.open_set import PRIOR_CLOSED_MORE, PRIOR_CLOSED_ONE, open_set_fit
from unseen.samples import LabelledRows
from unseen.scores import OpenScorer, OpenScores
from unseen.scores.base import RatioScores

DEVELOPED_ON = (
    "thyroid", "saheart", "australian", "german", "image", "ringnorm", "splice", "segment",
)  # fmt: skip
REPORTED_PERMUTATIONS = range(5, 10)


def write(part: str, rows: list[dict[str, object]]) -> None:
    for row in rows:
        print("  ".join(f"{key}={value}" for key, value in row.items()))
    write_csv(f"default_{part}.csv", rows)


# The paper's protocol


def group_of(cell: Cell) -> str:
    return "binary" if DATA_SETS[cell.dataset].n_classes == 2 else "multiclass"


def paper(folder: str) -> None:
    cells = [
        cell
        for cell in CellStore(Path(folder) / "cells").read().values()
        if cell.permutation in REPORTED_PERMUTATIONS
    ]
    groups: dict[tuple[str, str], list[Cell]] = defaultdict(list)
    for cell in cells:
        groups[cell.setting, group_of(cell)].append(cell)
    rows: list[dict[str, object]] = []
    for (setting, group), here in groups.items():
        rows += [dict(setting=setting, group=group, **row) for row in compared(setting, here)]
    write("paper", rows)


def compared(setting: str, cells: list[Cell]) -> Iterable[dict[str, object]]:
    """Every method, over all sets and by set, and its paired difference from the default."""
    names = sorted({cell.dataset for cell in cells})
    fresh = [name for name in names if name not in DEVELOPED_ON]
    errors = {(c.dataset, c.permutation, c.proportion, c.method): c.error for c in cells}
    for scope, sets in (("all", names), ("not developed on", fresh), *((n, [n]) for n in names)):
        for method in dict.fromkeys(cell.method for cell in cells):
            own = {k[:3]: v for k, v in errors.items() if k[3] == method and k[0] in sets}
            if not own:
                continue
            ours = {k[:3]: v for k, v in errors.items() if k[3] == "OpenSet" and k[0] in sets}
            yield dict(
                scope=scope,
                method=method,
                error=f"{np.mean(list(own.values())):.4f}",
                **paired(ours, own),
                **(along(own) if scope == "all" else {}),
                **covered([c for c in cells if c.method == method and c.dataset in sets]),
            )


def paired(ours: dict, other: dict) -> dict[str, str]:
    """Mean difference, default minus other, and its standard error: over sets, or permutations."""
    gaps: dict[tuple, list[float]] = defaultdict(list)
    several = len({key[0] for key in ours}) > 1
    for key in ours.keys() & other.keys():
        gaps[key[:1] if several else key[:2]].append(ours[key] - other[key])
    means = np.array([np.mean(gap) for gap in gaps.values()])
    se = means.std(ddof=1) / np.sqrt(len(means)) if len(means) > 1 else np.nan
    return dict(default_minus=f"{means.mean():.4f}", se=f"{se:.4f}")


def along(errors: dict) -> dict[str, str]:
    """Error at each share of class M, and the largest over the mean."""
    by_share: dict[float, list[float]] = defaultdict(list)
    for (_, _, share), error in errors.items():
        by_share[share].append(error)
    line = np.array([np.mean(by_share[share]) for share in sorted(by_share)])
    return dict(
        peak_over_mean=f"{line.max() / line.mean():.2f}", curve=" ".join(f"{e:.3f}" for e in line)
    )


def covered(cells: list[Cell]) -> dict[str, str]:
    inside = [
        low - 1e-12 <= true <= high + 1e-12
        for cell in cells
        if cell.lower is not None and cell.upper is not None
        for low, true, high in zip(cell.lower, cell.truth, cell.upper, strict=True)
    ]
    return dict(coverage=f"{np.mean(inside):.3f}") if inside else {}


# What each ingredient brings


def variants(scores: OpenScores) -> dict[str, np.ndarray]:
    """Shares, unseen last, with one ingredient changed at a time."""
    found = {
        "default": OpenSetEstimator(),
        "prior_closed 0.5": OpenSetEstimator(prior_closed=0.5),
        "prior_closed 0: always open": OpenSetEstimator(prior_closed=0.0),
        "prior_closed 1: always closed": OpenSetEstimator(prior_closed=1.0),
        "prior_moved 0: no class has moved": OpenSetEstimator(prior_moved=0.0),
    }
    shares = {name: both(one.from_scores(scores)) for name, one in found.items()}
    ratios, best = scores.ratios, [scores.ratios.best]
    others = {
        "no distances": replace(ratios, distances=None),
        "best discriminator alone": RatioScores(
            ratios.new[:, best], ratios.labelled[:, best], np.zeros(1)
        ),
    }
    for name, other in others.items():
        shares[name] = both(OpenSetEstimator().from_scores(replace(scores, ratios=other)))
    prior_closed = PRIOR_CLOSED_ONE if len(scores.classes) == 1 else PRIOR_CLOSED_MORE
    fit = open_set_fit(scores, prior_closed, n_rounds=0)
    shares["shares of known classes as if closed"] = fit.shares
    shares["uniform prior of the unseen share"] = open_set_fit(
        scores, prior_closed, small_share=np.inf
    ).shares
    return shares


def both(estimate) -> np.ndarray:
    return np.append(estimate.proportions, estimate.unseen)


def ablation() -> None:
    errors: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    at_a_tenth: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    every = product(available_datasets(), SETTINGS, PROPORTIONS[1::2])
    for proportion, found in each(ablated, every):
        for key, error in found.items():
            errors[key].append(error)
            if proportion == PROPORTIONS[1]:
                at_a_tenth[key].append(error)
    rows = []
    for key, found in errors.items():
        row = dict(zip(("setting", "group", "variant"), key, strict=True))
        tenth = f"{np.mean(at_a_tenth[key]):.4f}"
        rows.append(row | dict(error=f"{np.mean(found):.4f}", n=len(found), at_a_tenth=tenth))
    write("ablation", rows)


def ablated(name: str, setting: str, proportion: float):
    """Error of every variant, by setting, group and name of the variant."""
    block = Block(load_dataset(name), REPORTED_PERMUTATIONS[0], setting)
    scores, trial = open_scores(block, proportion)
    group = "binary" if len(trial.truth) == 2 else "multiclass"
    return proportion, {
        (setting, group, variant): float(np.abs(shares[: len(trial.truth)] - trial.truth).sum())
        for variant, shares in variants(scores).items()
    }


def open_scores(block: Block, proportion: float):
    trial = Trial(block, proportion)
    posteriors = trial.posteriors(OURS) if len(trial.known) > 1 else None
    labelled = LabelledRows(block.X, np.array(trial.known), block.codes)
    scorer = OpenScorer(n_folds=10, seed=trial.seed)
    return scorer.beside(labelled, trial.X_new, posteriors), trial


# Label shift on sets that come with scikit-learn


def shift(n_draws: int = 10) -> None:
    # The method was developed on digits, not on the others.
    sets = {"digits *": load_digits, "wdbc": load_breast_cancer, "wine": load_wine}
    problems = {name: load(return_X_y=True) for name, load in sets.items()}
    problems["blobs"] = make_blobs([800] * 4, n_features=5, cluster_std=3.0, random_state=0)
    methods = {"OpenSetEstimator": OpenSetEstimator, "MPEIncomplete": MPEIncomplete}
    rows = []
    for name, (X, y) in problems.items():
        n_classes = len(np.unique(y))
        for hidden in ("nothing unseen", "a class unseen"):
            found: dict[str, list[float]] = defaultdict(list)
            for seed in range(n_draws):
                sample, truth = drawn(X, y, hidden == "a class unseen", seed)
                usable = dict(methods)
                if len(set(sample[1].tolist())) > 1:
                    usable["SaerensEM"] = SaerensEM
                for method, kind in usable.items():
                    estimate = kind(random_state=seed).fit(*sample[:2]).estimate(sample[2])
                    found[method].append(0.5 * np.abs(both(estimate) - truth).sum())
            for method, values in found.items():
                se = np.std(values, ddof=1) / np.sqrt(len(values))
                row = dict(problem=name, classes=n_classes, case=hidden, method=method)
                rows.append(row | dict(total_variation=f"{np.mean(values):.4f}", se=f"{se:.4f}"))
        print(name, flush=True)
    write("shift", rows)


def drawn(X, y, hide: bool, seed: int):
    """Half of the rows for training, without one class perhaps; new rows of random shares."""
    rng = np.random.default_rng(seed)
    classes = np.unique(y)
    order = rng.permutation(len(y))
    training, pool = order[: len(y) // 2], order[len(y) // 2 :]
    hidden = classes[seed % len(classes)] if hide else None
    rarest = min((y[pool] == label).sum() for label in classes)
    shares = rng.dirichlet(np.ones(len(classes)))
    size = int(rarest / shares.max())
    counts = dict(zip(classes.tolist(), shares.tolist(), strict=True))
    new = pool[draw_with_proportions(y[pool], counts, size, random_state=seed)]
    known = [label for label in classes if label != hidden]
    kept = training[np.isin(y[training], known)]
    truth = np.array([(y[new] == label).mean() for label in known])
    return (X[kept], y[kept], X[new]), np.append(truth, 1 - truth.sum())


# Folds and time


def folds(n_draws: int = 10) -> None:
    """Large samples: do half as many folds cost accuracy?"""
    ringnorm = load_dataset("ringnorm")
    problems = {
        "ringnorm *": (ringnorm.X, ringnorm.y),
        "blobs": make_blobs([2500] * 5, n_features=10, cluster_std=3.5, random_state=7),
    }
    rows = []
    for name, (X, y) in problems.items():
        errors = []
        for seed in range(n_draws):
            (X_kept, y_kept, X_new), truth = drawn(X, y, seed % 2 == 1, seed)
            fitted = [
                OpenSetEstimator(n_folds=count, random_state=seed).fit(X_kept, y_kept)
                for count in (10, 5)
            ]
            errors.append([0.5 * np.abs(both(one.estimate(X_new)) - truth).sum() for one in fitted])
        ten, five = np.mean(errors, axis=0)
        se = np.std(np.diff(errors), ddof=1) / np.sqrt(n_draws)
        row = dict(problem=name, draws=n_draws, ten_folds=f"{ten:.4f}", five_folds=f"{five:.4f}")
        rows.append(row | dict(difference=f"{five - ten:+.4f}", se=f"{se:.4f}"))
    write("folds", rows)


def timing() -> None:
    X, y = make_blobs([2800, 1600, 700, 500, 2000], n_features=20, cluster_std=4.0, random_state=1)
    known, new = y < 4, y == 4
    rng = np.random.default_rng(0)
    X_new = np.vstack([X[new][:600], X[known][rng.permutation(known.sum())[:1400]] + 0.01])
    seconds = defaultdict(list)
    for seed in range(3):
        start = time.process_time()
        KernelLogisticRegression(random_state=seed).fit(X[known], y[known])
        middle = time.process_time()
        OpenSetEstimator(random_state=seed).fit(X[known], y[known]).estimate(X_new, confidence=0.95)
        seconds["grid fit"].append(middle - start)
        seconds["estimate"].append(time.process_time() - middle)
    best = {name: min(values) for name, values in seconds.items()}
    row = {name: f"{value:.2f}" for name, value in best.items()}
    write("time", [row | dict(ratio=f"{best['estimate'] / best['grid fit']:.2f}")])


if __name__ == "__main__":
    warnings.simplefilter("ignore", UnseenWarning)
    part, *rest = sys.argv[1:] or [""]
    parts = {"paper": paper, "ablation": ablation, "shift": shift, "folds": folds, "time": timing}
    if part not in parts or len(rest) != (part == "paper"):
        sys.exit(__doc__)
    parts[part](*rest)
