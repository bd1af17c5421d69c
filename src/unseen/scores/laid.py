"""Rows laid onto other rows by a shift and factors, and how far they stay apart even so.

Known classes that moved together lie on the labelled rows again once they are laid onto them. Rows
of a new class do not: known classes that are hidden and laid onto the others say how far rows of a
new class stay apart. docs/drift.md, "The third hypothesis".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unseen._arrays import arrays_of
from unseen._frozen import Frozen
from unseen._types import FloatArray, IntArray, Matrix
from unseen.samples import Clusters, LabelledRows, first_rows
from unseen.scores.kernel import Standardisation, dense_pair
from unseen.scores.stray import some_rows

__all__ = ["Laid", "laid_onto", "laid_rows", "own_neighbours"]

_NEIGHBOURS = 5
# Variance of a column that is rounding alone; columns have a variance of about 1.
_LEAST_VARIANCE = 1e-9
_FEWEST, _MOST, _MOST_CLASSES = 15, 400, 5


@dataclass(frozen=True)
class Laid(Frozen):
    """Share of the nearest rows that are of the own sample, once one is laid onto the other.

    A half if both samples are alike; 1 if no row of one lies near the other.
    """

    apart: float  # of new rows, laid onto labelled ones
    hidden: float  # of known classes, each laid onto the others, on average


def laid_rows(
    labelled: LabelledRows, X_new: Matrix, closed: FloatArray, clusters: Clusters | None
) -> Laid | None:
    """New rows laid onto labelled rows in which the classes have the shares ``closed``.

    Of copies one row counts. None for one class, for few rows, and for rows too many to be dense.
    """
    pair = dense_pair(labelled.rows, X_new)
    if pair is None or len(closed) < 2:
        return None
    (old, new), codes = pair, labelled.codes
    if clusters is not None and not clusters.distinct:
        first = first_rows(clusters.labelled)
        old, codes, new = old[first], codes[first], new[first_rows(clusters.new)]
    (old, new), codes = map(some_rows, (old, new)), some_rows(codes)
    counts = np.bincount(codes, minlength=len(closed))
    chance = (closed / np.maximum(counts, 1))[codes]
    # So few that a draw without replacement keeps the shares.
    n_rows = min(len(new), _MOST, int(chance.sum() / max(chance.max(), _LEAST_VARIANCE)))
    if n_rows < _FEWEST:
        return None
    rng, scale = np.random.default_rng(0), Standardisation.of(old, np.ones(len(old)))
    old = scale(old)
    onto = old[rng.choice(len(old), n_rows, replace=False, p=chance / chance.sum())]
    apart = _apart(scale(new[rng.permutation(len(new))[:n_rows]]), onto)
    hidden = _hidden(old, codes, n_rows, rng)
    return None if hidden is None else Laid(apart, hidden)


def _hidden(
    rows: FloatArray, codes: IntArray, n_rows: int, rng: np.random.Generator
) -> float | None:
    """Mean over some classes, each laid onto the others; None where all are small."""
    counts = np.bincount(codes)
    sizes = np.minimum(counts, len(codes) - counts).clip(max=n_rows)
    found = []
    for code in some_rows(np.flatnonzero(sizes >= _FEWEST), _MOST_CLASSES):
        samples = rows[codes == code], rows[codes != code]
        drawn = (one[rng.permutation(len(one))[: sizes[code]]] for one in samples)
        found.append(_apart(*drawn))
    return float(np.mean(found)) if found else None


def _apart(rows: FloatArray, others: FloatArray) -> float:
    return float(own_neighbours(laid_onto(rows, others), others).mean())


def laid_onto(rows: FloatArray, others: FloatArray, by_column: bool = True) -> FloatArray:
    """The rows with the mean and the spread of the others; one factor for all columns or each."""
    onto, of = (sample.var(axis=0) for sample in (others, rows))
    if not by_column:
        onto, of = onto.sum(), of.sum()
    factor = np.sqrt(onto / np.maximum(of, _LEAST_VARIANCE))
    return (rows - rows.mean(axis=0)) * factor + others.mean(axis=0)


def own_neighbours(rows: FloatArray, others: FloatArray) -> FloatArray:
    """For each row, then for each of the others: share of its nearest rows of its own sample."""
    every = np.vstack([rows, others])
    place, own = np.arange(len(every)), np.zeros(len(every))
    distances, is_first = arrays_of(every).squared_distances(every, every), place < len(rows)
    np.fill_diagonal(distances, np.inf)
    for _ in range(_NEIGHBOURS):  # one by one: a partial sort takes several times as long
        nearest = distances.argmin(axis=1)
        own += is_first[nearest] == is_first
        distances[place, nearest] = np.inf
    return own / _NEIGHBOURS
