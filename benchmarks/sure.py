"""How sure: do intervals hold, and does the detection limit, setting by setting?

    python benchmarks/sure.py run 0 100   all problems of these seeds; 6 CPU-minutes a seed
    python benchmarks/sure.py closed 1 2  the problems of these seeds where nothing is unseen
    python benchmarks/sure.py bags        rows drawn with replacement, to results/bags.csv; a minute

``python tools/figures.py --write`` writes the results into docs/default.md.

Committed results are those of ``run 0 100 200 300 400 500`` and ``closed 1 2 3``. Both add to
results/sure.csv the problems that it lacks: delete the file to begin anew.

A problem is a source of classes, a number of known classes, labelled rows a class, a share of
unseen rows and a seed. Sources are three families of made classes, of which every problem draws
anew, and sets that come with scikit-learn; wine, iris and cancer have no more rows than they have.
Intervals "before" have the prior of the estimate, and no part of the unseen that looks known. The
truth is the share among the very rows. Constants were chosen on other families and sets, but for
the least overlap of classes that intervals allow for, which was chosen on seed 100.
"""

from __future__ import annotations

from _common import RESULTS, each, write_csv  # isort: skip

import csv
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from unseen import OpenSetEstimator, estimate
from unseen.intervals import counting_noise, stretched_limits
from unseen.mixture.detection import SHARES as DETECTION_SHARES
from unseen.mixture.detection import detection_power
from unseen.proportions.open_set import (
    PRIOR_CLOSED_MORE,
    SMALL_SHARE,
    OpenSetReading,
    effective_rows,
)
from unseen.scores import OpenScores

SHARES = (0.0, 0.05, 0.15, 0.4, 0.8)
ROWS_NEW = 500
# Known classes, labelled rows a class; closed problems are drawn twice as often as each share.
SIZES = (
    (1, 30), (1, 100), (1, 300), (2, 30), (2, 100), (2, 300), (4, 30), (4, 100), (4, 300),
    (9, 30), (9, 100), (25, 30),
)  # fmt: skip
Rows = dict[int, np.ndarray]


@dataclass(frozen=True)
class Problem:
    """Where the rows of a problem come from, and how many."""

    source: str
    known: int
    rows: int
    share: float
    seed: int

    @property
    def number(self) -> int:
        return zlib.crc32(
            f"{self.source}|{self.known}|{self.rows}|{self.share}|{self.seed}".encode()
        )


def clumps(rng: np.random.Generator, n_classes: int, n_rows: int) -> Rows:
    """Three clumps a class, of columns in unequal units."""
    d, units = int(rng.integers(3, 15)), np.exp(rng.normal(size=20))
    centres = rng.uniform(0.9, 2.2) * rng.normal(size=(n_classes, 3, d))
    which = rng.integers(0, 3, (n_classes, n_rows))
    rows = {k: centres[k, which[k]] + rng.normal(size=(n_rows, d)) for k in range(n_classes)}
    return {k: X * units[:d] for k, X in rows.items()}


def heavy(rng: np.random.Generator, n_classes: int, n_rows: int) -> Rows:
    """Student's law with 4 degrees of freedom, of another spread in each class and column."""
    d = int(rng.integers(4, 15))
    centres = rng.uniform(0.8, 2.0) * rng.normal(size=(n_classes, d))
    spread = np.exp(0.3 * rng.normal(size=(n_classes, d)))
    return {k: centres[k] + spread[k] * rng.standard_t(4, (n_rows, d)) for k in range(n_classes)}


def counts(rng: np.random.Generator, n_classes: int, n_rows: int) -> Rows:
    """Counts of 20 to 60 things, each row of another total."""
    d, size = int(rng.integers(20, 60)), rng.uniform(80, 300)
    rates = rng.dirichlet(np.full(d, 1.0)) * np.exp(
        rng.uniform(0.4, 0.8) * rng.normal(size=(n_classes, d))
    )
    rates /= rates.sum(axis=1, keepdims=True)
    total = size * np.exp(0.3 * rng.normal(size=(n_classes, n_rows, 1)))
    return {k: np.sqrt(rng.poisson(total[k] * rates[k]).astype(float)) for k in range(n_classes)}


FAMILIES: dict[str, Callable[[np.random.Generator, int, int], Rows]] = {
    "clumps": clumps, "heavy": heavy, "counts": counts,
}  # fmt: skip
SETS = {"wine": load_wine, "iris": load_iris, "cancer": load_breast_cancer}
BAGGED = SETS | {"digits": load_digits}
N_CLASSES = {"wine": 3, "iris": 3, "cancer": 2}
MOST_ROWS = {"wine": 30, "iris": 30, "cancer": 100}


def of_source(problem: Problem, rng: np.random.Generator) -> tuple[Rows, list[int]]:
    """Rows by class, in an order drawn by chance, and the hidden classes."""
    if problem.source in FAMILIES:
        n_hidden = int(rng.integers(1, 4))
        rows = FAMILIES[problem.source](rng, problem.known + n_hidden, problem.rows + ROWS_NEW)
    else:
        X, y = SETS[problem.source](return_X_y=True)
        labels = rng.permutation(np.unique(y))
        rows = {k: rng.permutation(X[y == label]) for k, label in enumerate(labels)}
    return rows, [k for k in rows if k >= problem.known]


def drawn(problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Labelled rows and labels, new rows, and the true shares, unseen last."""
    rng = np.random.default_rng(problem.number)
    rows, hidden = of_source(problem, rng)
    known = range(problem.known)
    old = {k: rows[k][: min(problem.rows, len(rows[k]) // 2)] for k in known}
    left = {k: rows[k][len(old.get(k, ())) :] for k in rows}
    parts = np.maximum(rng.dirichlet(np.full(problem.known, 3.0)), 0.2 / problem.known)
    want = dict(zip(known, (1 - problem.share) * parts / parts.sum(), strict=True))
    if problem.share > 0:
        want |= dict.fromkeys(hidden, problem.share / len(hidden))
    n_new = min(ROWS_NEW, *(int(len(left[k]) / part) for k, part in want.items()))
    new = {k: left[k][: round(n_new * part)] for k, part in want.items()}
    n_rows = np.array([len(new[k]) for k in known])
    total = sum(map(len, new.values()))
    y = np.repeat(list(known), [len(old[k]) for k in known])
    truth = np.append(n_rows / total, 1 - n_rows.sum() / total)
    return np.vstack(list(old.values())), y, np.vstack(list(new.values())), truth


def problems(seed: int) -> Iterator[Problem]:
    """Every size and share of every source that has the classes; closed ones twice."""
    for source in (*FAMILIES, *SETS):
        for known, rows in SIZES:
            if known >= N_CLASSES.get(source, 99) or rows > MOST_ROWS.get(source, 999):
                continue
            if known > 1:
                yield Problem(source, known, rows, 0.0, seed)
                yield Problem(source, known, rows, 0.0, seed + 1000)
            for share in SHARES[1:]:
                yield Problem(source, known, rows, share, seed)


def interval_before(reading: OpenSetReading, n_new: int) -> tuple[float, float]:
    """The 95% interval at the prior of the estimate, without a part that looks known."""
    posterior, three = reading.fit.posterior, reading.three
    middle = 1 - float(posterior.open_quantile(0.5))
    opened = np.clip(middle + 1.2 * (1 - posterior.share - middle), 0.0, 1.0)
    is_open = posterior.probability_open
    points = np.append(0.0, opened)
    weight = np.append(1 - is_open, is_open * posterior.probability)
    if three is not None:
        moved = three.part == 2
        law = three.wide[moved] / max(three.wide[moved].sum(), 1e-300)
        points = np.append(points, three.wide_points[moved])
        closed, opens, moves = three.probability
        weight = np.concatenate([[closed], opens * posterior.probability, moves * law])
    order = np.argsort(points, kind="stable")
    mass = np.cumsum(weight[order])
    ends = points[order][np.searchsorted(mass, [0.025 * mass[-1], 0.975 * mass[-1]])]
    share = np.array([reading.unseen])
    low, high = stretched_limits(share, ends[None], 1.0, counting_noise(share, n_new, 0.025))[0]
    return float(low), float(high)


def solved(problem: Problem) -> dict[str, object]:
    warnings.simplefilter("ignore")
    X, y, X_new, truth = drawn(problem)
    scores = OpenSetEstimator(random_state=problem.seed).fit(X, y).scores(X_new)
    return judged(problem, truth, scores)


def judged(problem: Problem, truth: np.ndarray, scores: OpenScores) -> dict[str, object]:
    """What the default reads off the scores, beside the truth."""
    reading, found = OpenSetEstimator().read_and_estimate(scores, 0.95)
    low, high = found.intervals.T
    held = (low - 1e-3 <= truth) & (truth <= high + 1e-3)
    before = interval_before(reading, scores.n_new)
    row: dict[str, object] = dict(vars(problem)) | {"new": scores.n_new}
    numbers = {
        "truth": truth[-1],
        "unseen": found.unseen,
        "low": low[-1],
        "high": high[-1],
        "low_before": before[0],
        "high_before": before[1],
        "known_held": held[:-1].mean() if problem.known > 1 else held[0],
        "l1": np.abs(np.append(found.proportions, found.unseen) - truth).sum(),
        "l1_em": np.abs(np.append(scores.closed, 0.0) - truth).sum(),
        "probability": found.diagnostics["probability_unseen"],
        "power": power_at(scores, truth[-1]),
    }
    row |= {name: round(float(value), 4) for name, value in numbers.items()}
    limit = found.detection_limit
    return row | {
        "limit": "" if limit is None else round(limit, 4),
        "overlap": int(any(notice.code == "overlapping_classes" for notice in found.notices)),
        "verdict": "" if found.drift is None else found.drift.verdict,
    }


def power_at(scores: OpenScores, share: float) -> float:
    """The probability of being found that the data foretold for this share; NaN where none."""
    if not scores.hidden or share == 0:
        return np.nan
    power = detection_power(scores.hidden, *effective_rows(scores), PRIOR_CLOSED_MORE, SMALL_SHARE)
    return float(np.interp(np.log(share), np.log(DETECTION_SHARES), power))


def name_of(row: dict[str, object]) -> tuple[str, ...]:
    return tuple(str(row[key]) for key in ("source", "known", "rows", "share", "seed"))


def run(*seeds: str, largest_share: float = 1.0) -> None:
    rows, wanted = solved_before(), []
    done = {name_of(row) for row in rows}
    for seed in map(int, seeds):
        # In an order drawn by chance: a run that is cut short has solved a random part.
        all_of_seed = list(problems(seed))
        order = np.random.default_rng(seed).permutation(len(all_of_seed))
        chosen = [all_of_seed[place] for place in order]
        chosen = [one for one in chosen if one.share <= largest_share]
        wanted += [one for one in chosen if name_of(vars(one)) not in done]
    for row in each(solved, ((one,) for one in wanted)):
        rows.append(row)
        write_csv("sure.csv", rows)


def solved_before() -> list[dict[str, object]]:
    path = RESULTS / "sure.csv"
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def bag(name: str, seed: int) -> dict[str, object]:
    """New rows drawn with replacement, nothing unseen; labelled ones too where the seed is odd."""
    warnings.simplefilter("ignore")
    X, y = BAGGED[name](return_X_y=True)
    rng = np.random.default_rng(seed + 100)
    order, half = rng.permutation(len(y)), len(y) // 2
    known, new = order[: min(half, 300)], order[half:][:300]
    new = new[rng.integers(0, len(new), len(new))]
    if seed % 2:
        known = known[rng.integers(0, len(known), len(known))]
    found = estimate(X[known], y[known], X[new], confidence=0.95, random_state=0)
    probability = round(found.diagnostics["probability_unseen"], 4)
    numbers = {"unseen": round(found.unseen, 4), "probability": probability}
    return {"set": name, "seed": seed, **numbers, "verdict": found.drift.verdict}


def bags(n_seeds: int = 8) -> None:
    write_csv("bags.csv", each(bag, product(BAGGED, range(n_seeds))))


if __name__ == "__main__":
    commands = {"run": run, "closed": partial(run, largest_share=0.0), "bags": bags}
    command, *seeds = sys.argv[1:] or [""]
    if command not in commands:
        sys.exit(__doc__)
    commands[command](*seeds)
