"""Changes of a problem that must not change its answer; each makes a problem like the one given.

``EXACT`` changes leave the same rows in the same folds, and only rounding differs. ``NEAR`` ones
deal the rows into other folds, weigh them otherwise, or change distances in the units given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl

import unseen


class Problem(NamedTuple):
    """Labelled rows, new ones, and what ``estimate`` may be told besides."""

    X: Any
    y: Any
    X_new: Any
    groups: Any = None
    control: Any = None

    def rows(self, change: Callable[[Any], Any]) -> Problem:
        """The same change of all samples."""
        control = None if self.control is None else change(self.control)
        return self._replace(X=change(self.X), X_new=change(self.X_new), control=control)

    def labelled(self, chosen: Any) -> Problem:
        """Other labelled rows."""
        groups = None if self.groups is None else self.groups[chosen]
        return self._replace(X=self.X[chosen], y=self.y[chosen], groups=groups)

    def new(self, chosen: Any) -> Problem:
        """Other new rows."""
        return self._replace(X_new=self.X_new[chosen])

    def solved(self, **options: Any) -> unseen.Estimate:
        """The estimate."""
        told = {"groups": self.groups, "control": self.control, "random_state": 0}
        return unseen.estimate(self.X, self.y, self.X_new, **(told | options))


Change = Callable[[Problem, np.random.Generator], Problem]
ROUNDING = 1e-3  # of single precision


def drawn(rng: np.random.Generator, *, groups: bool = False, control: bool = False) -> Problem:
    """Classes a and b, and new rows of both and, in three problems of four, of a third class."""
    n_columns, apart = int(rng.integers(1, 5)), rng.uniform(2.5, 6.0)
    centres = rng.normal(size=(3, n_columns))
    centres[:, 0] = [-apart, apart, 0.0]

    def sample(*sizes: int) -> np.ndarray:
        parts = zip(centres[: len(sizes)], sizes, strict=True)
        return np.vstack([rng.normal(centre, 1, (size, n_columns)) for centre, size in parts])

    n_unseen = int(rng.integers(10, 40)) * (rng.random() < 0.75)
    X_new = sample(*rng.integers(10, 40, 2), n_unseen)
    return Problem(
        sample(30, 30),
        np.repeat(["a", "b"], 30),
        rng.permutation(X_new),
        groups=np.tile(np.arange(6), 10) if groups else None,
        control=sample(30, 30) if control else None,
    )


def known_shares(found: unseen.Estimate) -> np.ndarray:
    """Shares of a, of b and of the unseen: 0 is a, and of text the last letter is the class."""
    names = [str(label)[-1].translate({48: "a", 49: "b"}) for label in found.classes]
    shares = np.array([*found.proportions, found.unseen])
    return np.array([shares[[name == one for one in [*names, "-"]]].sum() for name in "ab-"])


def unsound(found: unseen.Estimate) -> list[str]:
    """What is wrong with one answer by itself."""
    shares, intervals = np.array([*found.proportions, found.unseen]), np.asarray(found.intervals)
    low, high = intervals.T
    must = found.drift.must() if found.drift is not None else 0.0  # unless known classes moved
    still = found.drift is None or found.drift.verdict == "still"
    rules = {
        "not on the simplex": shares.min() >= 0 and abs(shares.sum() - 1) < 1e-9,
        "beyond its interval": (low <= shares + 1e-9).all() and (shares <= high + 1e-9).all(),
        "an interval beyond 0 and 1": low.min() >= 0 and high.max() <= 1,
        "below what must be new": 0 <= must <= (found.unseen if still else high[-1]) + 1e-9,
    }
    return [rule for rule, holds in rules.items() if not holds]


def apart(one: unseen.Estimate, other: unseen.Estimate) -> bool:
    """Whether no share of unseen classes lies in the intervals of both."""
    low, high = np.transpose([one.intervals[-1], other.intervals[-1]])
    return bool(low.max() > high.min() + 1e-9)


def columns(given: Problem, rng: np.random.Generator) -> Problem:
    """Columns in another order."""
    order = rng.permutation(given.X.shape[1])
    return given.rows(lambda rows: rows[:, order])


def constant(given: Problem, rng: np.random.Generator) -> Problem:
    """A constant column more."""
    value = rng.choice([0.0, 7.0, -1e9])
    return given.rows(lambda rows: np.column_stack([rows, np.full(len(rows), value)]))


def affine(given: Problem, rng: np.random.Generator) -> Problem:
    """All columns in another unit, each with another zero."""
    unit = rng.choice([-1, 1]) * 10.0 ** rng.integers(-30, 30)
    zero = rng.normal(0, 30, given.X.shape[1])
    return given.rows(lambda rows: (rows + zero) * unit)


def single_precision(given: Problem, rng: np.random.Generator) -> Problem:
    """Single precision."""
    return given.rows(lambda rows: rows.astype(np.float32))


def container(given: Problem, rng: np.random.Generator) -> Problem:
    """The same numbers in another container."""
    made = (pd.DataFrame, pl.DataFrame, np.asfortranarray, np.ndarray.tolist)
    return given.rows(made[rng.integers(len(made))])


def numbers(given: Problem, rng: np.random.Generator) -> Problem:
    """Numbers in the place of names."""
    return given._replace(y=np.where(given.y == "a", 0, 1))


def row_order(given: Problem, rng: np.random.Generator) -> Problem:
    """Rows of both samples in another order."""
    given = given.labelled(rng.permutation(len(given.X)))
    return given.new(rng.permutation(len(given.X_new)))


def class_order(given: Problem, rng: np.random.Generator) -> Problem:
    """Names that put the classes in another order."""
    return given._replace(y=np.where(given.y == "a", "second a", "first b"))


def halves(given: Problem, rng: np.random.Generator) -> Problem:
    """Class a in two halves."""
    half = rng.choice(["one a", "other a"], len(given.y))
    return given._replace(y=np.where(given.y == "a", half, given.y))


def unit_of_one(given: Problem, rng: np.random.Generator) -> Problem:
    """One column in another unit: distances are also taken in the units given."""
    unit = np.ones(given.X.shape[1])
    unit[rng.integers(len(unit))] = 1000.0
    return given.rows(lambda rows: rows * unit)


def twice_new(given: Problem, rng: np.random.Generator) -> Problem:
    """Every new row twice."""
    return given.new(np.repeat(np.arange(len(given.X_new)), 2))


def twice_labelled(given: Problem, rng: np.random.Generator) -> Problem:
    """Every labelled row twice."""
    return given.labelled(np.repeat(np.arange(len(given.X)), 2))


def twice_a_class(given: Problem, rng: np.random.Generator) -> Problem:
    """Every row of class a twice."""
    return given.labelled(np.repeat(np.arange(len(given.X)), np.where(given.y == "a", 2, 1)))


def twice_all(given: Problem, rng: np.random.Generator) -> Problem:
    """Every row of both samples twice."""
    return twice_new(twice_labelled(given, rng), rng)


EXACT: tuple[Change, ...] = (columns, constant, affine, single_precision, numbers, container)
NEAR: tuple[Change, ...] = (
    row_order,
    class_order,
    halves,
    unit_of_one,
    twice_new,
    twice_labelled,
    twice_a_class,
    twice_all,
)
