"""Accuracy of the mixture proportion estimators, all on the same out-of-fold scores.

Three experiments, each written to ``benchmarks/results/mixture_<name>.csv``:

``problems``
    Seven problems, five shares, several seeds; about 1000 + 1000 rows, or what the data allow.
``pulsnar``
    The synthetic SCAR problem of PULSNAR: 2000 labelled and 6000 new rows.
``laplace``
    The Laplace grid of DEDPUL with the true likelihood ratio as the score.

Run ``python benchmarks/mixture.py`` (all, some minutes on one core) or add ``--quick``.
``Placement`` was developed on other seeds of the seven problems (20 and 21), among other data.
Errors are against ν*, which is more than ν where G itself holds a share of H.
"""

from __future__ import annotations

from _common import RESULTS, each, write_csv  # isort: skip

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, make_classification, make_moons
from sklearn.preprocessing import StandardScaler

from unseen._types import FloatArray
from unseen.mixture import BestBin, DensityRatio, KernelMean, Placement, ROCSlope
from unseen.mixture.base import MixtureEstimator
from unseen.roc.models import Concave, Gaussian
from unseen.scores.pairs import crossfit_scores

KERNEL_MEAN_SEEDS = 5  # the slowest by far, and far from the others
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)

Draw = Callable[[np.random.Generator, int], FloatArray]


@dataclass(frozen=True)
class Problem:
    """Two ways to draw rows, or two pools of rows to draw from, and inf g/h."""

    name: str
    draw_labelled: Draw
    draw_other: Draw
    n_labelled: int
    n_new: int
    least_ratio: float = 0.0

    def sample(
        self, share: float, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray, float]:
        """F, H and ν* for this share of H in F."""
        n_both = round(share * self.n_new)
        from_H = self.draw_labelled(rng, self.n_labelled + n_both)
        F = np.vstack([from_H[self.n_labelled :], self.draw_other(rng, self.n_new - n_both)])
        nu = n_both / self.n_new
        return F, from_H[: self.n_labelled], nu + (1 - nu) * self.least_ratio


def column(draw: Callable[[np.random.Generator, int], FloatArray]) -> Draw:
    return lambda rng, n: draw(rng, n)[:, None]


def pool(rows: FloatArray) -> Draw:
    return lambda rng, n: rows[rng.permutation(len(rows))[:n]]


def moons(label: int) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> FloatArray:
        counts = (n, 0) if label == 0 else (0, n)
        return make_moons(counts, noise=0.2, random_state=int(rng.integers(2**31)))[0]

    return draw


def from_pool(name: str, X: FloatArray, is_H: FloatArray, n_H: int, n_F: int) -> Problem:
    X = StandardScaler().fit_transform(X)
    return Problem(name, pool(X[is_H]), pool(X[~is_H]), n_H, n_F)


def seven_problems() -> list[Problem]:
    a = 2 / np.sqrt(20)
    cancer, digits = load_breast_cancer(), load_digits()
    return [
        Problem(
            "gaussian",
            column(lambda rng, n: rng.normal(0, 1, n)),
            column(lambda rng, n: rng.normal(2, 1, n)),
            1000,
            1000,
        ),
        Problem(
            "laplace",
            column(lambda rng, n: rng.laplace(0, 1, n)),
            column(lambda rng, n: rng.laplace(2, 1, n)),
            1000,
            1000,
            float(np.exp(-2)),
        ),
        Problem(
            "twonorm",
            lambda rng, n: rng.normal(a, 1, (n, 20)),
            lambda rng, n: rng.normal(-a, 1, (n, 20)),
            1000,
            1000,
        ),
        Problem(
            "ringnorm",
            lambda rng, n: rng.normal(0, 2, (n, 20)),
            lambda rng, n: rng.normal(a, 1, (n, 20)),
            1000,
            1000,
        ),
        Problem("moons", moons(0), moons(1), 1000, 1000),
        from_pool("breast_cancer", cancer.data, cancer.target == 1, 150, 200),
        from_pool("digits", digits.data, digits.target < 5, 400, 500),
    ]


def score_methods() -> dict[str, MixtureEstimator]:
    return {
        "concave, deviance, mu = 1": ROCSlope(Concave()),
        "concave, deviance, mu free": ROCSlope(Concave(mu=None)),
        "gaussian, deviance": ROCSlope(Gaussian()),
        "DensityRatio": DensityRatio(),
        "BestBin": BestBin(),
    }


def from_scores(scores_F: FloatArray, scores_H: FloatArray) -> dict[str, float]:
    """Every score-based method on one pair of scores."""
    return {
        name: method.from_scores(scores_F, scores_H).proportion
        for name, method in score_methods().items()
    }


def placement(F: FloatArray, H: FloatArray, seed: int) -> float:
    """Makes scores of its own: it averages over all discriminators."""
    return Placement(random_state=seed).fit(H).estimate(F).proportion


def generator(seed: int, problem: int, share: float) -> np.random.Generator:
    """Every run has its own stream, so that errors are independent over the table."""
    return np.random.default_rng([seed, problem, round(1000 * share)])


Record = tuple[str, float, str, float]  # problem, share of H, method, absolute error


def problems_records(n_seeds: int) -> Iterator[Record]:
    problems = seven_problems()

    def one(place: int, share: float, seed: int) -> list[Record]:
        F, H, truth = problems[place].sample(share, generator(seed, place, share))
        estimates = from_scores(*crossfit_scores(F, H, random_state=seed))
        estimates["Placement"] = placement(F, H, seed)
        for variant in ("km1", "km2") if seed < KERNEL_MEAN_SEEDS else ():
            kernel_mean = KernelMean(variant, max_rows=400, random_state=seed)
            name = f"KernelMean {variant} (400 rows)"
            estimates[name] = kernel_mean.fit(H).estimate(F).proportion
        return list(errors(problems[place].name, share, estimates, truth))

    every = product(range(len(problems)), SHARES, range(n_seeds))
    yield from chain.from_iterable(each(one, every))


def pulsnar_records(n_seeds: int) -> Iterator[Record]:
    X, y = make_classification(
        24000, 50, n_informative=50, n_redundant=0, n_clusters_per_class=1, class_sep=0.3,
        flip_y=0.0, random_state=1001,
    )  # fmt: skip
    problem = from_pool("pulsnar", X, y == 1, 2000, 6000)

    def one(share: float, seed: int) -> list[Record]:
        F, H, truth = problem.sample(share, generator(seed, 0, share))
        estimates = from_scores(*crossfit_scores(F, H, random_state=seed))
        estimates["Placement"] = placement(F, H, seed)
        return list(errors("pulsnar", share, estimates, truth))

    every = product((0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5), range(n_seeds))
    yield from chain.from_iterable(each(one, every))


def laplace_records(n_seeds: int) -> Iterator[Record]:
    for number, (place, scale) in enumerate(((1, 1), (2, 1), (4, 1), (0, 2), (0, 4))):
        name = f"L({place},{scale})"
        least = float(np.exp(-place)) if scale == 1 else 1 / scale
        problem = Problem(
            name,
            column(lambda rng, n: rng.laplace(0, 1, n)),
            column(lambda rng, n, a=place, b=scale: rng.laplace(a, b, n)),
            1000,
            10000,
            least,
        )
        for share_G in (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99):
            for seed in range(n_seeds):
                F, H, truth = problem.sample(1 - share_G, generator(seed, number, share_G))
                scores = (log_ratio(rows[:, 0], place, scale) for rows in (F, H))
                yield from errors(name, 1 - share_G, from_scores(*scores), truth)


def log_ratio(x: FloatArray, place: float, scale: float) -> FloatArray:
    """Log g/h, up to a constant, of L(place, 1) or L(0, scale) against L(0, 1).

    Written so that equal ratios are equal numbers: |x| - |x - place| is not, in the last bit.
    """
    return np.clip(2 * x, 0, 2 * place) if scale == 1 else np.abs(x)


def errors(
    problem: str, share: float, estimates: dict[str, float], truth: float
) -> Iterator[Record]:
    for method, estimate in estimates.items():
        if not 0 <= estimate <= 1:
            raise ValueError(f"{method} must give a share; got {estimate} on {problem}.")
        yield problem, share, method, abs(estimate - truth)


def collect(records: Iterator[Record], n_expected: int) -> list[Record]:
    """Run; on a terminal, say how far."""
    done: list[Record] = []
    for record in records:
        done.append(record)
        if sys.stderr.isatty():
            print(f"\r{len(done)} / {n_expected}", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return done


def summarise(records: list[Record]) -> list[dict[str, str]]:
    """Mean absolute error and its standard error: over all, by share, and by problem."""
    cells: dict[tuple[str, str], list[float]] = defaultdict(list)
    for problem, share, method, error in records:
        for group in ("all", f"share {share:.2f}", problem):
            cells[method, group].append(error)
    return [
        {
            "method": method,
            "group": group,
            "mean_error": f"{np.mean(values):.4f}",
            "standard_error": f"{standard_error(values):.4f}",
            "runs": str(len(values)),
        }
        for (method, group), values in cells.items()
    ]


def standard_error(values: list[float]) -> float:
    return float(np.std(values) / np.sqrt(max(len(values) - 1, 1)))


def show(name: str, rows: list[dict[str, str]]) -> None:
    print(f"\n{name}: mean |estimate - truth| (standard error)")
    for row in rows:
        if row["group"] == "all":
            print(f"  {row['mean_error']} ({row['standard_error']})  {row['method']}")


EXPERIMENTS = {
    "problems": (problems_records, 10, 7 * 5 * 9),
    "pulsnar": (pulsnar_records, 5, 7 * 8),
    "laplace": (laplace_records, 10, 5 * 7 * 7),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("experiments", nargs="*", default=list(EXPERIMENTS), help="which to run")
    parser.add_argument("--quick", action="store_true", help="one seed, nothing written")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the csv files")
    options = parser.parse_args()
    for name in options.experiments:
        records, n_seeds, n_per_seed = EXPERIMENTS[name]
        n_seeds = 1 if options.quick else n_seeds
        start = time.process_time()
        rows = summarise(collect(records(n_seeds), n_seeds * n_per_seed))
        if not options.quick:
            path = options.out / f"mixture_{name}.csv"
            write_csv(path, rows, f"python benchmarks/mixture.py {name}")
        show(name, rows)
        print(f"  {time.process_time() - start:.0f} CPU seconds")


if __name__ == "__main__":
    main()
