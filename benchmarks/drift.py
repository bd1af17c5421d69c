"""Known classes that moved: the default beside itself without "moved", and beside closed-set EM.

    python benchmarks/drift.py            all problems, to results/drift.csv; 30 CPU-minutes
    python benchmarks/drift.py factor     1,000 drifts of factor <= c against must(c); a minute
    python benchmarks/drift.py risk       the error that a rule states, beside the true one; ten
                                          CPU-minutes
    python benchmarks/drift.py labels     labels of rows laid back and as they lie, where the
                                          verdict is "moved"; twenty CPU-minutes
    python benchmarks/drift.py time       what moved costs at 1,000 to 10,000 rows; a minute

``python tools/figures.py --write`` writes the results into docs/drift.md.

A problem is a set, a drift, a share of unseen rows and a seed. Problems that results/drift.csv
holds already are not solved again: delete the file to begin anew. None of these sets was used to
choose a constant. Sets of two classes have both known where nothing is unseen, and one known where
the other is hidden.
"""

from __future__ import annotations

from _common import RESULTS, cpu_seconds, each, write_csv  # isort: skip

import csv
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs

from unseen import OpenSetEstimator, RejectionClassifier
from unseen.datasets import load_dataset
from unseen.drift import certified_tolerance
from unseen.samples import LabelledRows
from unseen.scores.distances import steady_distances
from unseen.scores.moves import made_moves
from unseen.scores.scales import Standardisation, neighbour_distances

BUNDLED = {"wine": load_wine, "iris": load_iris, "breast_cancer_30": load_breast_cancer}
REAL = (
    *BUNDLED, "banana", "breast_cancer", "diabetes", "german", "ionosphere", "ringnorm", "saheart",
    "splice", "thyroid", "twonorm",
)  # fmt: skip
FAMILIES = tuple(f"family {number}" for number in range(20))
SHARES = (0.0, 0.05, 0.2, 0.5)
ROWS_A_CLASS, ROWS_NEW = 100, 350
UNSEEN = "none of these"
FACTORS = (1.0, 1.5, 2.0, 3.0, 5.0)
MORE_SEEDS = (1, 2, 3, 4)  # without drift: a difference of .005 is looked for
Rows = np.ndarray
Source = Callable[[str], tuple[Rows, Rows]]


# Drifts


def offset(size: float) -> Callable[..., Rows]:
    return lambda X, sd, rng, y: X + rng.choice([-size, size], X.shape[1]) * sd


def gain(size: float) -> Callable[..., Rows]:
    return lambda X, sd, rng, y: (1 + size) * X


def noise(size: float) -> Callable[..., Rows]:
    return lambda X, sd, rng, y: X + size * sd * rng.normal(size=X.shape)


def one_column(X: Rows, sd: Rows, rng: np.random.Generator, y: Rows) -> Rows:
    chosen = rng.choice(np.flatnonzero(sd > 0))
    return X + np.where(np.arange(X.shape[1]) == chosen, sd, 0.0)


def rotation(X: Rows, sd: Rows, rng: np.random.Generator, y: Rows) -> Rows:
    """Pairs of columns turn by .15 radian about their middle, in units of their deviations."""
    unit, middle = np.where(sd > 0, sd, 1.0), X.mean(axis=0)
    Z, pairs = (X - middle) / unit, rng.permutation(X.shape[1])
    for a, b in zip(pairs[::2], pairs[1::2], strict=False):
        Z[:, [a, b]] = Z[:, [a, b]] @ np.array(
            [[np.cos(0.15), np.sin(0.15)], [-np.sin(0.15), np.cos(0.15)]]
        )
    return Z * unit + middle


def blur(X: Rows, sd: Rows, rng: np.random.Generator, y: Rows) -> Rows:
    """Every column takes a tenth of either neighbour, in units of their deviations."""
    unit = np.where(sd > 0, sd, 1.0)
    Z = X / unit
    return (0.8 * Z + 0.1 * np.roll(Z, 1, axis=1) + 0.1 * np.roll(Z, -1, axis=1)) * unit


def units(X: Rows, sd: Rows, rng: np.random.Generator, y: Rows) -> Rows:
    """A third of the columns is written in inches instead of centimetres."""
    n_columns = X.shape[1]
    chosen = rng.permutation(n_columns)[: max(1, n_columns // 3)]
    return X / np.where(np.isin(np.arange(n_columns), chosen), 2.54, 1.0)


def codes(X: Rows, sd: Rows, rng: np.random.Generator, y: Rows) -> Rows:
    """In 3% of the cells stands a code for a missing value, far below all values."""
    return np.where(rng.random(X.shape) < 0.03, X.min(axis=0) - 3 * sd, X)


def half_of_rows(X: Rows, sd: Rows, rng: np.random.Generator, y: Rows) -> Rows:
    """Half of the rows are of another instrument."""
    return np.where(rng.random((len(X), 1)) < 0.5, offset(0.2)(X, sd, rng, y), X)


def one_class(X: Rows, sd: Rows, rng: np.random.Generator, y: Rows) -> Rows:
    """One class alone moves, and the others stay."""
    return np.where((y == rng.choice(np.unique(y)))[:, None], offset(0.3)(X, sd, rng, y), X)


DRIFTS: dict[str, Callable[..., Rows]] = {
    "none": lambda X, sd, rng, y: X,
    "offset .05": offset(0.05), "offset .1": offset(0.1), "offset .3": offset(0.3),
    "gain 5%": gain(0.05), "gain 10%": gain(0.1), "gain 30%": gain(0.3),
    "one column": one_column,
    "noise .05": noise(0.05), "noise .1": noise(0.1), "noise .3": noise(0.3),
    "rotation": rotation, "blur": blur, "units": units, "missing codes": codes,
    "half of the rows": half_of_rows, "one class": one_class,
}  # fmt: skip
FOUR = "offset .1", "gain 5%", "one column", "noise .1"
LABEL_DRIFTS = (
    "offset .05", "offset .1", "offset .3", "gain 5%", "gain 10%", "gain 30%", "one column",
    "noise .1",
)  # fmt: skip
LABEL_SEED = 5  # of other rows than all problems above


# Problems


def family(number: int) -> tuple[Rows, Rows]:
    """Made classes: 3 to 6 of them, 2 to 20 columns, of a law and an overlap of their own."""
    rng = np.random.default_rng([number, 20])
    n_classes, d = int(rng.integers(3, 7)), int(rng.integers(2, 21))
    y = np.repeat(np.arange(n_classes), 500)
    centres = rng.uniform(1.2, 2.5) * rng.normal(size=(n_classes, 3, d)) * np.sqrt(4 / (d + 2))
    if number % 4 < 3:
        centres[:, 1:] = centres[:, :1]  # one clump a class
    Z = rng.normal(size=(len(y), d))
    if number % 4 == 1:
        Z = rng.standard_t(4, size=Z.shape)
    mixing = np.eye(d) + rng.uniform(0, 0.5) * rng.normal(size=(d, d)) / np.sqrt(d)
    X = centres[y, rng.integers(0, 3, len(y))] + Z @ mixing
    if number % 4 == 2:
        X = rng.poisson(np.exp(0.5 * X + 1)).astype(float) if number % 8 == 2 else np.exp(X / 2)
    return X * np.exp(rng.normal(size=d)), y


def rows_of(name: str) -> tuple[Rows, Rows]:
    if name in BUNDLED:
        return BUNDLED[name](return_X_y=True)
    if name in FAMILIES:
        return family(FAMILIES.index(name))
    data = load_dataset(name)
    return np.asarray(data.X, float), np.asarray(data.y)


def problem(
    name: str, drift: str, share: float, seed: int, source: Source = rows_of
) -> tuple[Rows, ...]:
    """Labelled rows and labels, new rows, and the true shares, unseen last."""
    X, y, X_new, y_new = drawn(name, drift, share, seed, source)
    truth = np.array([np.mean(y_new == label) for label in np.unique(y)])
    return X, y, X_new, np.append(truth, 1 - truth.sum())


def drawn(
    name: str, drift: str, share: float, seed: int, source: Source = rows_of
) -> tuple[Rows, ...]:
    """Labelled rows and labels, then new ones."""
    X, y = source(name)
    base = zlib.crc32(f"{name}|{share}|{seed}".encode())
    rng = np.random.default_rng(base)
    classes = rng.permutation(np.unique(y))
    n_known = len(classes) - 1 if len(classes) > 2 or share > 0 else len(classes)
    known, hidden = np.sort(classes[:n_known]), classes[n_known:]
    rows = {label: rng.permutation(np.flatnonzero(y == label)) for label in classes}
    labelled = {label: rows[label][: min(ROWS_A_CLASS, len(rows[label]) // 2)] for label in known}
    left = {label: rows[label][len(labelled.get(label, ())) :] for label in classes}
    mix = np.maximum(rng.dirichlet(np.full(len(known), 4.0)), 0.05)
    want = dict(zip(known, (1 - share) * mix / mix.sum(), strict=True))
    if share > 0:
        want[hidden[0]] = share
    n_new = min(ROWS_NEW, *(int(len(left[label]) / part) for label, part in want.items()))
    new = np.concatenate([left[label][: round(n_new * part)] for label, part in want.items()])
    old = np.concatenate(list(labelled.values()))
    spoil = np.random.default_rng(base + zlib.crc32(drift.encode()))
    return X[old], y[old], DRIFTS[drift](X[new], X[old].std(axis=0), spoil, y[new]), y[new]


def todo() -> Iterator[tuple[str, str, float, int]]:
    """Every set under every drift; at all shares, at two, or at one by turns."""
    for name in (*REAL, *FAMILIES):
        turn = zlib.crc32(name.encode())
        for place, drift in enumerate(DRIFTS):
            shares = {SHARES[(place + turn) % 4]}
            if drift in FOUR:
                shares = {0.0, SHARES[1 + (place + turn) % 3]}
            if drift == "none" or (drift in FOUR and name in REAL):
                shares = set(SHARES)
            yield from ((name, drift, share, 0) for share in sorted(shares))
    for name, seed in product((*REAL, *FAMILIES), MORE_SEEDS):
        yield from ((name, "none", share, seed) for share in SHARES)


def solved(
    name: str, drift: str, share: float, seed: int, source: Source = rows_of
) -> dict[str, object]:
    X, y, X_new, truth = problem(name, drift, share, seed, source)
    estimator = OpenSetEstimator(random_state=seed).fit(X, y)
    scores = estimator.scores(X_new)
    three = estimator.with_verdict(estimator.from_scores(scores, confidence=0.95), X_new, None)
    two = OpenSetEstimator(prior_moved=0.0).from_scores(scores)
    shares = {
        "three": [*three.proportions, three.unseen],
        "two": [*two.proportions, two.unseen],
        "em": [*scores.closed, 0.0],
    }
    found, (low, high) = three.drift, three.intervals[-1].tolist()
    return {
        "set": name,
        "drift": drift,
        "share": share,
        "seed": seed,
        "known": len(truth) - 1,
        "labelled": len(X),
        "new": len(X_new),
        "true_unseen": round(float(truth[-1]), 4),
        **{f"l1_{key}": round(float(np.abs(s - truth).sum()), 4) for key, s in shares.items()},
        "unseen_three": round(three.unseen, 4),
        "unseen_two": round(two.unseen, 4),
        "low": round(low, 4),
        "high": round(high, 4),
        "holds": int(low - 1e-3 <= truth[-1] <= high + 1e-3),
        "verdict": found.verdict,
        "probability_moved": round(found.probability_moved, 4),
        "must_1": round(found.must(1.0), 4),
        "must_3": round(found.must(3.0), 4),
    }


def read_csv(name: str) -> list[dict[str, str]]:
    if not (RESULTS / name).exists():
        return []
    with (RESULTS / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def key(row: dict[str, str]) -> tuple[str, str, float, int]:
    return row["set"], row["drift"], float(row["share"]), int(row["seed"])


def run() -> None:
    rows: list[dict[str, object]] = list(read_csv("drift.csv"))  # type: ignore[arg-type]
    done = {key(row) for row in rows}  # type: ignore[arg-type]
    left = [one for one in todo() if one not in done]
    # In random order, so that a run that is stopped leaves a random part of every cell.
    np.random.default_rng(14).shuffle(left)
    for row in each(solved, left):
        rows.append(row)
        if len(rows) % 20 == 0:
            write_csv("drift.csv", rows)
            print(*key(row), len(rows), flush=True)
    write_csv("drift.csv", rows)


# Drifts of a factor


def tilted(rows: Rows, far: Rows, factor: float, kind: str, rng: np.random.Generator) -> Rows:
    """Rows of a class of which no kind became more than ``factor`` times as common.

    "far" keeps the part 1 / c of the rows that is farthest from all labelled ones, the worst that
    can happen; "side" the part on one side; "soft" thins the rows out, unevenly.
    """
    if kind == "soft":
        # A row stays with at least 1 / c: no kind can become more than c times as common.
        liked = rng.random() * (far > np.median(far)) + (1 - rng.random()) * rng.random(len(rows))
        return rows[rng.random(len(rows)) < (1 + (factor - 1) * np.minimum(liked, 1)) / factor]
    value = far if kind == "far" else rows @ rng.normal(size=rows.shape[1])
    return rows[value >= np.quantile(value, 1 - 1 / factor)]


def one_factor(number: int) -> dict[str, object]:
    """A drift of factor at most c, and must(c) by the distances that the default uses."""
    rng = np.random.default_rng([number, 14])
    factor, unseen = float(rng.choice(FACTORS)), float(rng.choice(SHARES))
    kind, X, y = str(rng.choice(["far", "side", "soft"])), *family(int(rng.integers(20)))
    known = rng.permutation(np.unique(y))
    hidden, known = known[0], known[1 : 1 + int(rng.integers(1, len(known)))]
    rows = {label: rng.permutation(X[y == label]) for label in (*known, hidden)}
    old = np.vstack([rows[label][:150] for label in known])
    scale = Standardisation.of(old, np.ones(len(old)))

    def distances(new: Rows) -> tuple[Rows, Rows]:
        seed = np.random.RandomState(0)
        found = neighbour_distances(new, old, scale.for_distances[:1], seed)
        return found.new[:, 0], found.labelled[:, 0]

    parts = [
        tilted(rows[label][150:], distances(rows[label][150:])[0], factor, kind, rng)
        for label in known
    ]
    parts = [part[: 300 // len(known)] for part in parts]
    n_known = sum(map(len, parts))
    n_unseen = rng.binomial(n_known, unseen) if unseen < 0.5 else rng.binomial(2 * n_known, 0.5)
    new = np.vstack([*parts, rows[hidden][: min(n_unseen, 500)]])
    found = certified_tolerance(*distances(new), np.repeat(np.arange(len(known)), 150))
    truth = 1 - n_known / len(new)
    return {
        "number": number, "factor": factor, "kind": kind, "known": len(known), "new": len(new),
        "unseen": round(truth, 4), "must": round(found.must(factor), 4),
        "gamma": round(found.gamma, 3), "above": int(found.must(factor) > truth),
    }  # fmt: skip


def run_factor() -> None:
    write_csv("drift_factor.csv", each(one_factor, ((number,) for number in range(1000))))


# The error of a rule


def one_risk(name: str, drift: str, share: float) -> dict[str, object]:
    """The error that the default rule states, NaN where it states none, and the true one."""
    X, y, X_new, y_new = drawn(name, drift, share, 0)
    rule = RejectionClassifier(random_state=0, unseen_label=UNSEEN)
    rule.fit(X.astype(float), y.astype(str), X_new)
    truth = np.where(np.isin(y_new, np.unique(y)), y_new.astype(str), UNSEEN)
    return {
        "set": name, "drift": drift, "share": share, "known": len(np.unique(y)),
        "verdict": rule.shares_.verdict, "stated": round(rule.risk_.risk, 4),
        "error": round(float(np.mean(rule.predict_new() != truth)), 4),
    }  # fmt: skip


def run_risk() -> None:
    """Every set without drift and under the four, at one share by turns."""
    problems = [
        (name, drift, SHARES[(place + turn) % 4])
        for place, name in enumerate((*REAL, *FAMILIES))
        for turn, drift in enumerate(("none", *FOUR))
    ]
    write_csv("drift_risk.csv", each(one_risk, problems))


# Labels of rows that have moved


def one_moved(name: str, drift: str, share: float, seed: int) -> dict[str, object]:
    """The share of wrong labels of rows laid back, and as they lie, where these differ."""
    X, y, X_new, y_new = drawn(name, drift, share, seed)
    X, labels = X.astype(float), y.astype(str)
    truth = np.where(np.isin(y_new, np.unique(y)), y_new.astype(str), UNSEEN)
    rule = RejectionClassifier(random_state=seed, unseen_label=UNSEEN).fit(X, labels, X_new)
    error = error_lying = float(np.mean(rule.predict_new() != truth))
    if rule.lay_back_ is not None:  # plain shares have no verdict: rows are read as they lie
        lying = clone(rule).fit(X, labels, X_new, rule.shares_.known)
        error_lying = float(np.mean(lying.predict_new() != truth))
    return {
        "set": name, "drift": drift, "share": share, "seed": seed,
        "known": len(rule.classes_) - 1, "verdict": rule.shares_.verdict,
        "laid_back": int(rule.lay_back_ is not None), "said": round(rule.shares_.unseen, 4),
        "error": round(error, 4), "error_lying": round(error_lying, 4),
    }  # fmt: skip


def run_labels() -> None:
    """Every set under drifts that can be called moved, at one share by turns."""
    problems = [
        (name, drift, SHARES[(place + turn) % 4], LABEL_SEED)
        for place, name in enumerate((*REAL, *FAMILIES))
        for turn, drift in enumerate(LABEL_DRIFTS)
    ]
    write_csv("drift_labels.csv", each(one_moved, problems))


# Time


def timed(n_rows: int) -> dict[str, object]:
    """CPU seconds of an estimate with intervals, and of the part that "moved" adds."""
    X, y = make_blobs(3 * n_rows, 20, centers=5, cluster_std=5.0, random_state=0)
    known, X_new = np.flatnonzero(y < 4)[:n_rows], X[-n_rows:]
    sample = LabelledRows(X[known], np.arange(4), y[known])
    estimator, scores = OpenSetEstimator(random_state=0).fit(X[known], y[known]), []
    whole = cpu_seconds(lambda: scores.append(estimator.scores(X_new)))
    ratios, far = scores[0].ratios, scores[0].moves.distances
    given = scores[0].posteriors, ratios.distances, ratios.clusters, 0
    moves = cpu_seconds(lambda: steady_distances(X_new, X[known], *given), 2)
    moves += cpu_seconds(lambda: made_moves(scores[0], sample, X_new, far), 2)
    three, two = OpenSetEstimator(), OpenSetEstimator(prior_moved=0.0)
    extra = moves + cpu_seconds(lambda: three.from_scores(scores[0], confidence=0.95), 2)
    without = cpu_seconds(lambda: two.from_scores(scores[0], confidence=0.95), 2)
    extra, whole = extra - without, whole - moves + without
    return {
        "rows": 2 * n_rows,
        "without": round(whole, 2),
        "extra": round(extra, 2),
        "part": round(extra / whole, 3),
    }


def run_time() -> None:
    write_csv("drift_time.csv", [timed(n_rows) for n_rows in (500, 2500, 5000)])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    commands = {
        (): run,
        ("factor",): run_factor,
        ("risk",): run_risk,
        ("labels",): run_labels,
        ("time",): run_time,
    }
    if tuple(sys.argv[1:]) not in commands:
        sys.exit(__doc__)
    commands[tuple(sys.argv[1:])]()
