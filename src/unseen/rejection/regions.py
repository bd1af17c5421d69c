"""The labels of a fitted rule over a lattice of two features, as a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unseen._frozen import Frozen
from unseen._types import FloatArray, IntArray
from unseen.rejection.base import RejectionRule

__all__ = ["Regions", "label_regions"]

_MOST_POINTS = 300


@dataclass(frozen=True, eq=False)
class Regions(Frozen):
    """Decision regions of a rejection rule over a window of two features.

    Parameters
    ----------
    x, y : ndarray of shape (n_across,) and (n_up,)
        Coordinates of the lattice.
    codes : ndarray of shape (n_up, n_across)
        Place in ``names`` of the label at each point of the lattice.
    names : tuple of str
        Labels.
    unseen : int or None
        Place of the unseen label in ``names``; None where the rule has none.
    points : ndarray of shape (n, 2)
        Rows to draw on top; at most 300, evenly spaced among the rows given.
    point_codes : ndarray of shape (n,) or None
        Place in ``names`` of the label of each of these rows; -1 for any other label.
    """

    x: FloatArray
    y: FloatArray
    codes: IntArray
    names: tuple[str, ...]
    unseen: int | None
    points: FloatArray
    point_codes: IntArray | None = None


def label_regions(
    rule: RejectionRule, X: ArrayLike, labels: ArrayLike | None = None, *, n_across: int = 100
) -> Regions:
    """Label a lattice of points around some rows.

    Parameters
    ----------
    rule : RejectionRule
        A rule that was fitted to two features.
    X : array-like of shape (n, 2)
        Rows; the lattice reaches a little beyond them on every side.
    labels : array-like of shape (n,) or None, default=None
        Labels of the rows.
    n_across : int, default=100
        Points of the lattice in each direction.

    Returns
    -------
    Regions

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection import RejectionTree, label_regions
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal([-4, 0], 1, (200, 2))
    >>> X_new = np.vstack([rng.normal([-4, 0], 1, (200, 2)), rng.normal([4, 0], 1, (200, 2))])
    >>> rule = RejectionTree(random_state=0).fit(X, ["left"] * 200, X_new, [0.5])
    >>> regions = label_regions(rule, X_new, n_across=40)
    >>> regions.names, regions.unseen
    (('left', 'unseen'), 1)
    """
    rows = np.asarray(X, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise ValueError(f"X must have two columns; got shape {rows.shape}.")
    if n_across < 2:
        raise ValueError(f"n_across must be at least 2; got {n_across}.")
    x, y = (_stretch(column, n_across) for column in rows.T)
    lattice = np.stack(np.meshgrid(x, y), axis=-1)
    classes = np.asarray(rule.classes_)
    codes = _codes(classes, rule.predict(lattice.reshape(-1, 2))).reshape(lattice.shape[:2])
    kept = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), _MOST_POINTS)).astype(int))
    return Regions(
        x,
        y,
        codes,
        tuple(map(str, classes.tolist())),
        len(classes) - 1 if len(classes) > len(rule.shares_.known) else None,
        rows[kept],
        None if labels is None else _codes(classes, np.asarray(labels)[kept]),
    )


def _stretch(column: FloatArray, n_points: int) -> FloatArray:
    """Even points from a little below the least to a little above the largest."""
    low, high = float(column.min()), float(column.max())
    margin = 0.08 * (high - low) or 0.5
    return np.linspace(low - margin, high + margin, n_points)


def _codes(classes: NDArray[Any], labels: NDArray[Any]) -> IntArray:
    """Place of each label among the classes; -1 for any other label."""
    codes = np.full(len(labels), -1)
    for code, label in enumerate(classes):
        codes[labels == label] = code
    return codes
