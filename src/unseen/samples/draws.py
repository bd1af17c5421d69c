"""A draw of very many rows: some ten thousand are enough for one estimate (docs/big_data.md)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen._random import generator, water_level
from unseen._sklearn import some_rows
from unseen._types import IntArray
from unseen.records import Notice
from unseen.samples.checks import on_host

MAX_ROWS = 20_000
# So many rows show whatever one row in a hundred has.
_ENOUGH_ROWS = 50_000


def draw_rows(n_rows: int, max_rows: int, rng: np.random.Generator) -> IntArray:
    """Places of at most so many rows, in order."""
    return np.sort(rng.choice(n_rows, min(n_rows, max_rows), replace=False))


def enough_places(n_rows: int) -> IntArray | slice:
    """Places of all rows, or of a fixed draw of very many: for checks, and where a part will do."""
    if n_rows <= _ENOUGH_ROWS:
        return slice(None)
    return draw_rows(n_rows, _ENOUGH_ROWS, np.random.default_rng(0))


def draw_by_class(labels: NDArray[Any], max_rows: int, rng: np.random.Generator) -> IntArray:
    """Places of at most so many labelled rows: small classes whole, equally many of the others.

    Objects count as text.
    """
    given = labels.astype(str) if labels.dtype.kind == "O" else labels
    codes = np.unique(given, return_inverse=True)[1]
    counts, order = np.bincount(codes), rng.permutation(len(codes))
    most = water_level(counts, max_rows)
    parts = [order[codes[order] == code][:most] for code in range(len(counts))]
    return np.sort(np.concatenate(parts))


@dataclass
class Draw:
    """Draws rows of samples that have too many, and leaves a notice."""

    max_rows: int | None
    random_state: Any
    notices: tuple[Notice, ...] = ()
    places: dict[str, IntArray] = field(default_factory=dict)  # of rows that were drawn, by sample

    def rows(self, name: str, X: Any, *beside: Any, y: Any = None) -> tuple[Any, ...]:
        """Rows, and what stands beside them; with labels, small classes whole."""
        labels = None if y is None else np.ravel(on_host(y, "y"))
        n_rows = 0 if X is None else count_rows(X)
        is_odd = labels is not None and len(labels) != n_rows  # as the checks will say
        if self.max_rows is None or n_rows <= self.max_rows or is_odd:
            return X, *beside
        rng = generator(self.random_state)
        if labels is None:
            places = draw_rows(n_rows, self.max_rows, rng)
        else:
            places = draw_by_class(labels, self.max_rows, rng)
        self.places[name] = places
        text = f"{len(places):,} of the {n_rows:,} rows of {name} were drawn at random."
        self.notices += (Notice("rows_drawn", text, "note"),)
        return tuple(None if one is None else some_rows(one, places) for one in (X, *beside))


def count_rows(X: Any) -> int:
    """The number of rows of a sample, or of what the estimator's checks refuse."""
    if hasattr(X, "shape") and len(X.shape):
        return int(X.shape[0])
    return len(X) if isinstance(X, list | tuple) else len(np.atleast_1d(X))
