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
from unseen.samples.labelled import on_host

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


def _label_codes(labels: NDArray[Any]) -> IntArray:
    """Class of each row, where labels count as text and classes are in the order of it."""
    if labels.dtype.kind == "O":
        return np.unique(labels.astype(str), return_inverse=True)[1]
    distinct, place = np.unique(labels, return_inverse=True)
    return np.unique(distinct.astype(str), return_inverse=True)[1][place]


def draw_by_class(codes: IntArray, max_rows: int, rng: np.random.Generator) -> IntArray:
    """Places of at most so many labelled rows: small classes whole, equally many of the others."""
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

    def labelled(self, X: Any, y: Any, groups: Any) -> tuple[Any, Any, Any]:
        """Labelled rows, their labels and groups: small classes whole, as many of the others."""
        labels = np.ravel(on_host(y, "y"))
        if self.max_rows is None or len(labels) <= self.max_rows or count_rows(X) != len(labels):
            return X, y, groups
        rng = generator(self.random_state)
        places = draw_by_class(_label_codes(labels), self.max_rows, rng)
        return self._some("X", places, X, y, groups)

    def new(self, name: str, X: Any, groups: Any = None) -> tuple[Any, Any]:
        """New rows, or those of a control, and their groups."""
        n_rows = 0 if X is None else count_rows(X)
        if self.max_rows is None or n_rows <= self.max_rows:
            return X, groups
        places = draw_rows(n_rows, self.max_rows, generator(self.random_state))
        return self._some(name, places, X, groups)

    def _some(self, name: str, places: IntArray, *samples: Any) -> Any:
        n_rows = count_rows(samples[0])
        self.places[name] = places
        text = f"{len(places):,} of the {n_rows:,} rows of {name} were drawn at random."
        self.notices += (Notice("rows_drawn", text, "note"),)
        return tuple(None if one is None else some_rows(one, places) for one in samples)


def count_rows(X: Any) -> int:
    """The number of rows of a sample; 0 of anything else, which the estimator's checks refuse."""
    return int(X.shape[0]) if hasattr(X, "shape") and len(X.shape) else len(np.atleast_1d(X))
