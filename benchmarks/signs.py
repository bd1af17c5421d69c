"""Where the weights of the signs of drift come from: development problems, moved or not.

    python benchmarks/signs.py DIR 3200   problems of DIR, to results/signs.csv; 50 CPU-minutes
    python benchmarks/signs.py            weights and what each sign brings, from results/signs.csv

DIR is the folder that keel.py reads; texture, vehicle, contraceptive and led7digit are development
sets of it, beside digits, satimage, segment, waveform, dna and sixty made families of six kinds.
None of these is reported on by drift.py, keel.py or sure.py. A problem has 2 to 10 known classes,
30 to 300 labelled rows a class and up to 800 new rows, in which known classes come as often as
each other, more or less, or very unevenly, and some not at all. Two of five have no drift and 0% to
99% unseen, the others one of 24 drifts and 0% to 70% unseen.

Weights are those of a logistic regression of "moved" on the signs. Of the problems it takes those
in which rows are no mixture of the known classes, and drift, where there is any, spoils the answer
of open by more than .1; drifts as large as the classes differ (``STRONG``) are left out. Samples
without drift of which more than 85% is unseen are rare in practice, and count a quarter. Log-losses
are of sets that the regression did not see.
"""

from __future__ import annotations

from _common import RESULTS, each, write_csv  # isort: skip

import csv
import sys
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import numpy as np
from scipy.special import logit
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

import drift
import keel
from drift import Rows
from unseen import OpenSetEstimator
from unseen.datasets import load_dataset
from unseen.drift import moved_reading
from unseen.proportions.open_set import PRIOR_CLOSED_MORE, open_set_fit
from unseen.scores.signs import Signs

KEEL = ("texture", "vehicle", "contraceptive", "led7digit")
REAL = ("digits", "satimage", "segment", "waveform", "dna", *KEEL)
N_FAMILIES, ROWS_OF_FAMILY = 60, 700
FEWEST_ROWS, FEWEST_NEW = 30, 40
ROWS_A_CLASS, ROWS_NEW = (30, 60, 100, 150, 300), (150, 350, 350, 800)
SHARES = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
SHARES_MOVED = (0.0, 0.0, 0.0, 0.05, 0.1, 0.2, 0.2, 0.35, 0.5, 0.7)
EVEN = (0.5, 1.0, 4.0, 4.0)  # how evenly known classes come, as a law of Dirichlet
LEAST_PART = 0.02
RARE, ALL_BUT = 0.25, 0.85
SIGNS = "discriminators", "evenness", "departure", "variety", "sureness", "laid"
Made = Callable[[np.random.Generator, Rows, int, int], Rows]


# Made families


def factors(rng: np.random.Generator, y: Rows, n_classes: int, d: int) -> Rows:
    """A few hidden factors, mixed into all columns."""
    rank = int(rng.integers(2, 6))
    centres = rng.uniform(1, 2.5) * rng.normal(size=(n_classes, rank))
    hidden = centres[y] + rng.normal(size=(len(y), rank))
    noise = rng.uniform(0.2, 0.8) * rng.normal(size=(len(y), d))
    return hidden @ rng.normal(size=(rank, d)) + noise


def waves(rng: np.random.Generator, y: Rows, n_classes: int, d: int) -> Rows:
    """A curve for each class, shifted and scaled row by row."""
    place = np.linspace(0, 1, d) + 0.03 * rng.normal(size=(len(y), 1))
    height, phase = rng.normal(size=(n_classes, 4)), rng.uniform(0, 6.28, (n_classes, 4))
    parts = (
        height[y, h, None] * np.sin(2 * np.pi * (h + 1) * place + phase[y, h, None])
        for h in range(4)
    )
    scaled = sum(parts) * np.exp(0.15 * rng.normal(size=(len(y), 1)))
    return scaled + rng.uniform(0.3, 0.9) * rng.normal(size=(len(y), d))


def ellipses(rng: np.random.Generator, y: Rows, n_classes: int, d: int) -> Rows:
    """Normal classes, each of another covariance."""
    centres = rng.uniform(0.8, 1.8) * rng.normal(size=(n_classes, d)) * np.sqrt(6 / (d + 4))
    mixing = np.eye(d) + 0.6 * rng.normal(size=(n_classes, d, d)) / np.sqrt(d)
    return centres[y] + np.einsum("ni,nij->nj", rng.normal(size=(len(y), d)), mixing[y])


def counted(rng: np.random.Generator, y: Rows, n_classes: int, d: int) -> Rows:
    """Counts, by rates of the class and a total of the row."""
    rates = np.exp(rng.normal(0.5, 1, d) + rng.uniform(0.3, 0.9) * rng.normal(size=(n_classes, d)))
    return rng.poisson(rates[y] * np.exp(0.2 * rng.normal(size=(len(y), 1)))).astype(float)


def rings(rng: np.random.Generator, y: Rows, n_classes: int, d: int) -> Rows:
    """Rings about each other, in four of many dimensions."""
    angle, radius = rng.uniform(0, 6.28, len(y)), 1 + rng.uniform(0.5, 1) * y
    around = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    flat = np.hstack([around + 0.25 * rng.normal(size=around.shape), rng.normal(size=(len(y), 2))])
    return flat @ rng.normal(size=(4, d)) + 0.1 * rng.normal(size=(len(y), d))


def pairs(rng: np.random.Generator, y: Rows, n_classes: int, d: int) -> Rows:
    """Two clumps a class, with heavy tails."""
    centres = rng.uniform(1.2, 2.4) * rng.normal(size=(n_classes, 2, d)) * np.sqrt(5 / (d + 3))
    return centres[y, rng.integers(0, 2, len(y))] + rng.standard_t(5, size=(len(y), d))


MADE: tuple[Made, ...] = (factors, waves, ellipses, counted, rings, pairs)


@cache
def rows_of(name: str, folder: Path) -> tuple[Rows, Rows]:
    """Rows and classes of a development set; a family is named by its number."""
    if name.isdigit():
        rng = np.random.default_rng([int(name), 777])
        n_classes, d = int(rng.integers(3, 11)), int(rng.integers(3, 40))
        y = np.repeat(np.arange(n_classes), ROWS_OF_FAMILY)
        return MADE[int(name) % len(MADE)](rng, y, n_classes, d) * np.exp(rng.normal(size=d)), y
    if name == "digits":
        return load_digits(return_X_y=True)
    if name in KEEL:
        return keel.rows_of(folder / f"{name}.dat")
    if name == "waveform":
        rng = np.random.default_rng(777)
        return waveform(rng, np.repeat(np.arange(3), ROWS_OF_FAMILY))
    data = load_dataset(name)
    return np.asarray(data.X, float), np.asarray(data.y)


def waveform(rng: np.random.Generator, y: Rows) -> tuple[Rows, Rows]:
    """The three classes of the paper's waveform set, which is shipped with two."""
    place, peaks = np.arange(1, 22), np.array([[7, 15], [7, 11], [15, 11]])
    first, second = (np.maximum(6 - np.abs(place - peaks[y, side, None]), 0) for side in (0, 1))
    mix = rng.random((len(y), 1))
    return mix * first + (1 - mix) * second + rng.normal(size=(len(y), 21)), y


# Drifts


def normal_offset(size: float) -> Callable[..., Rows]:
    return lambda X, sd, rng, y: X + size * rng.normal(size=X.shape[1]) * sd


def gains(size: float) -> Callable[..., Rows]:
    return lambda X, sd, rng, y: X * (1 + size * rng.normal(size=X.shape[1]))


def column(size: float) -> Callable[..., Rows]:
    def moved(X: Rows, sd: Rows, rng: np.random.Generator, y: Rows) -> Rows:
        return X + size * (drift.one_column(X, sd, rng, y) - X)

    return moved


def warp(size: float) -> Callable[..., Rows]:
    """Every column bent by a power of its own range."""

    def moved(X: Rows, sd: Rows, rng: np.random.Generator, y: Rows) -> Rows:
        low, width = X.min(axis=0), np.where(np.ptp(X, axis=0) > 0, np.ptp(X, axis=0), 1.0)
        return ((X - low) / width) ** (1 + size) * width + low

    return moved


def by_class(size: float) -> Callable[..., Rows]:
    """Every class has an offset of its own."""

    def moved(X: Rows, sd: Rows, rng: np.random.Generator, y: Rows) -> Rows:
        code = np.unique(y, return_inverse=True)[1]
        return X + rng.choice([-size, size], (code.max() + 1, X.shape[1]))[code] * sd

    return moved


DRIFTS: dict[str, Callable[..., Rows]] = {
    **{f"offset {size}": drift.offset(size) for size in (0.05, 0.1, 0.2, 0.3)},
    **{f"normal offset {size}": normal_offset(size) for size in (0.1, 0.3)},
    **{f"gain {size}": drift.gain(size) for size in (-0.1, 0.05, 0.1, 0.3)},
    **{f"gains {size}": gains(size) for size in (0.05, 0.15)},
    **{f"noise {size}": drift.noise(size) for size in (0.1, 0.3)},
    **{f"column {size}": column(size) for size in (0.5, 1, 2)},
    **{f"warp {size}": warp(size) for size in (0.1, 0.3)},
    **{f"by class {size}": by_class(size) for size in (0.1, 0.3)},
    "rotation": drift.rotation, "blur": drift.blur, "units": drift.units,
}  # fmt: skip
STRONG = ("normal offset 0.3", "gain 0.3", "warp 0.3", "by class 0.3", "units")


# Problems


def problem(number: int, folder: Path) -> tuple[dict[str, object], Rows, Rows, Rows, float]:
    """What the problem is, labelled rows and labels, new rows, and the unseen share."""
    rng = np.random.default_rng([number, 991])
    name = str(rng.choice(REAL) if rng.random() < 0.55 else rng.integers(N_FAMILIES))
    X, y = rows_of(name, folder)
    classes = rng.permutation([one for one in np.unique(y) if (y == one).sum() >= FEWEST_ROWS])
    n_hidden = min(int(rng.choice([1, 1, 1, 2, 3])), len(classes) - 2)
    hidden, known = classes[:n_hidden], classes[n_hidden:]
    if rng.random() < 0.3 and len(known) > 2:
        known = known[: int(rng.integers(2, len(known)))]
    move = "none" if rng.random() < 0.4 else str(rng.choice(list(DRIFTS)))
    share = float(rng.choice(SHARES if move == "none" else SHARES_MOVED)) if n_hidden else 0.0
    per_class, n_new = int(rng.choice(ROWS_A_CLASS)), int(rng.choice(ROWS_NEW))
    rows = {label: rng.permutation(np.flatnonzero(y == label)) for label in classes}
    labelled = {label: rows[label][: min(per_class, len(rows[label]) // 2)] for label in known}
    left = {label: rows[label][len(labelled.get(label, ())) :] for label in classes}
    even = float(rng.choice(EVEN))
    mix = rng.dirichlet(np.full(len(known), even))
    mix[mix < LEAST_PART] = 0.0
    parts = zip(known, (1 - share) * mix / mix.sum(), strict=True)
    want = {label: part for label, part in parts if part > 0}
    if share > 0:
        want |= dict.fromkeys(hidden, share / n_hidden)
    room = (max(int(len(left[label]) / part), FEWEST_NEW) for label, part in want.items())
    n_new = min(n_new, *room)
    new = np.concatenate([left[label][: round(n_new * part)] for label, part in want.items()])
    old = np.concatenate(list(labelled.values()))
    spoilt = DRIFTS.get(move, drift.DRIFTS["none"])(X[new], X[old].std(axis=0), rng, y[new])
    about = {"number": number, "set": name, "drift": move, "known": len(known), "new": len(new)}
    about["even"] = even
    return about, X[old], y[old], spoilt, float(np.isin(y[new], hidden).mean())


def solved(number: int, folder: Path) -> dict[str, object]:
    """The signs of one problem, beside the unseen share that open claims."""
    warnings.simplefilter("ignore")
    about, X, y, X_new, unseen = problem(number, folder)
    scores = OpenSetEstimator(random_state=0).fit(X, y).scores(X_new)
    fit = open_set_fit(scores, PRIOR_CLOSED_MORE)
    signs: Signs = moved_reading(scores, fit).signs
    claimed = 1 - float(fit.posterior.open_quantile(0.5))
    numbers = {"unseen": unseen, "claimed": claimed, "evidence": fit.posterior.log_bayes_factor}
    numbers |= {name: getattr(signs, name) for name in SIGNS}
    return about | {name: round(float(value), 3) for name, value in numbers.items()}


# Weights


def weights() -> None:
    """Weights of the signs, and the log-loss on sets left out: of all, and without each sign."""
    with (RESULTS / "signs.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if counts(row)]
    moved = np.array([row["drift"] != "none" for row in rows])
    weight = np.array([RARE if row["drift"] == "none" and rare(row) else 1.0 for row in rows])
    groups = np.array([group_of(row["set"]) for row in rows])
    prior = logit(np.average(moved, weights=weight))
    for left_out in (None, *SIGNS):
        names = [name for name in SIGNS if name != left_out]
        X = np.array([[float(row[name]) for name in names] for row in rows])
        loss = log_loss(moved, out_of_set(X, moved, groups, weight), sample_weight=weight)
        print(f"{left_out or 'none'} left out: log-loss {loss:.3f} of {len(rows)} problems")
        if left_out is None:
            fitted = regression(X, moved, weight)
            print(dict(zip(names, fitted.coef_[0].round(2).tolist(), strict=True)))
            print("intercept at even odds", round(float(fitted.intercept_[0] - prior), 2))


def rare(row: dict[str, str]) -> bool:
    """Whether nearly all rows are unseen."""
    return float(row["unseen"]) > ALL_BUT


def counts(row: dict[str, str]) -> bool:
    """Whether a problem says anything about the weights."""
    harmless = abs(float(row["claimed"]) - float(row["unseen"])) <= 0.1
    if row["drift"] in STRONG or (row["drift"] != "none" and harmless):
        return False
    return float(row["evidence"]) > np.log(9)


def group_of(name: str) -> str:
    """The set, or the kind of a made family."""
    return MADE[int(name) % len(MADE)].__name__ if name.isdigit() else name


def regression(X: Rows, moved: Rows, weight: Rows) -> LogisticRegression:
    return LogisticRegression(C=100, max_iter=5000).fit(X, moved, sample_weight=weight)


def out_of_set(X: Rows, moved: Rows, groups: Rows, weight: Rows) -> Rows:
    """Probabilities of "moved", each by a regression on all other sets."""
    found = np.zeros(len(X))
    for group in np.unique(groups):
        own = groups == group
        found[own] = regression(X[~own], moved[~own], weight[~own]).predict_proba(X[own])[:, 1]
    return found


if __name__ == "__main__":
    if len(sys.argv) == 3:
        one = partial(solved, folder=Path(sys.argv[1]))
        write_csv("signs.csv", each(one, ((number,) for number in range(int(sys.argv[2])))))
    elif len(sys.argv) > 1:
        sys.exit(__doc__)
    weights()
