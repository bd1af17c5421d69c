"""The labels of a fitted rule over a lattice of two features, as a record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unseen._frozen import Frozen
from unseen._types import FloatArray, IntArray
from unseen.rejection.base import RejectionRule
from unseen.rejection.learning.sample import places_of

_MOST_POINTS = 300


@dataclass(frozen=True, eq=False)
class Regions(Frozen):
    """Decision regions of a rejection rule over a window of two features.

    Codes are places in ``names``.
    """

    x: FloatArray  # coordinates of the lattice across
    y: FloatArray  # and up
    codes: IntArray  # of the label at each point of the lattice: (n_up, n_across)
    names: tuple[str, ...]
    unseen: int | None  # code of the unseen label; None where the rule has none
    points: FloatArray  # rows to draw on top, evenly spaced among the rows given
    point_codes: IntArray | None = None  # of the labels of these rows; -1 for any other label


def label_regions(
    rule: RejectionRule, X: ArrayLike, labels: ArrayLike | None = None, *, n_across: int = 100
) -> Regions:
    """Label a lattice of points around some rows (n, 2), by a rule of two features.

    The lattice has ``n_across`` points in each direction, and reaches a little beyond the rows.
    """
    rows = np.asarray(X, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise ValueError(f"X must have two columns; got shape {rows.shape}.")
    if n_across < 2:
        raise ValueError(f"n_across must be at least 2; got {n_across}.")
    low, high = rows.min(axis=0), rows.max(axis=0)
    margin = np.where(high > low, 0.08 * (high - low), 0.5)
    x, y = np.linspace(low - margin, high + margin, n_across).T
    lattice = np.stack(np.meshgrid(x, y), axis=-1)
    classes = np.asarray(rule.classes_)
    codes = places_of(rule.predict(lattice.reshape(-1, 2)), classes).reshape(lattice.shape[:2])
    kept = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), _MOST_POINTS)).astype(int))
    return Regions(
        x,
        y,
        codes,
        tuple(map(str, classes.tolist())),
        len(classes) - 1 if len(classes) > len(rule.shares_.known) else None,
        rows[kept],
        None if labels is None else places_of(np.asarray(labels)[kept], classes),
    )
