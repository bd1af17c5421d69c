"""Each known class as if it were unseen: how far its rows stand from those of the others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from unseen._types import FloatArray, IntArray, ScorePair
from unseen.samples import Clusters, LabelledRows, first_rows
from unseen.scores.kernel import Standardisation

__all__ = ["hidden_classes"]

_NEIGHBOURS = 3
# Of more rows, or more classes, a part tells as much.
_MOST_ROWS, _MOST_CLASSES = 1000, 20
_FEWEST_ROWS = 5


def hidden_classes(
    labelled: LabelledRows, clusters: Clusters | None, seed: int
) -> tuple[tuple[ScorePair, ...], ...]:
    """Distances of a class to the others, beside those of the others among themselves.

    Parameters
    ----------
    labelled : LabelledRows
    clusters : Clusters or None
        Rows that are copies of each other.
    seed : int
        Draws rows and classes, where there are very many.

    Returns
    -------
    tuple
        For each class that was hidden, by scale: the mean distances to the three nearest rows of
        other classes, of the hidden rows and of the others. Empty with one known class.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.arange(20.0)[:, None]
    >>> sample = LabelledRows(rows, np.array(["a", "b"]), np.repeat([0, 1], 10))
    >>> hidden, others = hidden_classes(sample, None, 0)[0][0]
    >>> hidden[:2], others[:2]
    (array([11., 10.]), array([2.        , 1.33333333]))
    """
    rng = np.random.RandomState(seed)
    rows, codes = _distinct_rows(labelled, clusters, rng)
    counts = np.bincount(codes, minlength=len(labelled.classes))
    enough = np.flatnonzero((counts >= _FEWEST_ROWS) & (len(codes) - counts > _NEIGHBOURS))
    if len(counts) < 2 or not len(enough):
        return ()
    hidden = np.sort(rng.permutation(enough)[:_MOST_CLASSES])
    scales = Standardisation.of(rows, np.ones(len(codes))).raw_and_standardised
    tables = [_nearest_by_class(scale(rows), codes, len(counts)) for scale in scales]
    return tuple(tuple(_as_if_hidden(tables, codes, code)) for code in hidden)


def _distinct_rows(
    labelled: LabelledRows, clusters: Clusters | None, rng: np.random.RandomState
) -> tuple[FloatArray, IntArray]:
    places: IntArray = np.arange(len(labelled.codes))
    if clusters is not None and not clusters.distinct:
        places = first_rows(clusters.labelled)
    if len(places) > _MOST_ROWS:
        places = np.sort(rng.choice(places, _MOST_ROWS, replace=False))
    rows = labelled.rows[places]
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows), labelled.codes[places]


def _nearest_by_class(rows: FloatArray, codes: IntArray, n_classes: int) -> FloatArray:
    """Distances of each row to the three nearest other rows of each class, (n, K, 3)."""
    apart = euclidean_distances(rows)
    np.fill_diagonal(apart, np.inf)
    found = np.full((len(rows), n_classes, _NEIGHBOURS), np.inf)
    for code in range(n_classes):
        nearest = _nearest(apart[:, codes == code])
        found[:, code, : nearest.shape[1]] = nearest
    return found


def _as_if_hidden(tables: list[FloatArray], codes: IntArray, code: int) -> Iterator[ScorePair]:
    """By scale, distances of the hidden rows and of the others to the nearest other rows."""
    for table in tables:
        others = np.delete(table, code, axis=1).reshape(len(table), -1)
        distances = _nearest(others).mean(axis=1)
        yield distances[codes == code], distances[codes != code]


def _nearest(distances: FloatArray) -> FloatArray:
    """The three least values of each row, or all of fewer."""
    if distances.shape[1] <= _NEIGHBOURS:
        return distances
    return np.asarray(np.partition(distances, _NEIGHBOURS - 1, axis=1)[:, :_NEIGHBOURS])
