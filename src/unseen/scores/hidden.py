"""Distances to other classes and to other groups, as if a row's own class or group were not there.

A class that is hidden shows how far an unseen class stands from the known ones. A row lies near the
rows of its own person, site or batch; new rows come from another group, and have no such
neighbours: only distances to other groups compare labelled rows with them.
"""

from __future__ import annotations

import numpy as np

from unseen._arrays import arrays_of
from unseen._types import FloatArray, IntArray, Matrix, ScorePair
from unseen.samples import Clusters, LabelledRows, first_rows
from unseen.scores.base import Distances
from unseen.scores.kernel import Standardisation, dense, neighbour_distances

_NEIGHBOURS = 3
# Of more rows, or more classes, a part tells as much.
_MOST_ROWS, _MOST_CLASSES = 1000, 20
_FEWEST_ROWS = 5
_LEAST_POSTERIOR = 1e-9


def hidden_classes(
    labelled: LabelledRows, clusters: Clusters | None, seed: int
) -> tuple[tuple[ScorePair, ...], ...]:
    """For each class that is hidden, by scale: distances of its rows, and of all others.

    A distance is the mean over the three nearest rows of other classes than the hidden one. Of very
    many rows or classes ``seed`` draws some, and of copies one counts. Empty with one known class.
    """
    rng = np.random.RandomState(seed)
    places: IntArray = np.arange(len(labelled.codes))
    if clusters is not None and not clusters.distinct:
        places = first_rows(clusters.labelled)
    if len(places) > _MOST_ROWS:
        places = np.sort(rng.choice(places, _MOST_ROWS, replace=False))
    rows, codes = dense(labelled.rows[places]), labelled.codes[places]
    counts = np.bincount(codes, minlength=len(labelled.classes))
    enough = np.flatnonzero((counts >= _FEWEST_ROWS) & (len(codes) - counts > _NEIGHBOURS))
    if len(counts) < 2 or not len(enough):
        return ()
    scales = Standardisation.of(rows, np.ones(len(codes))).raw_and_standardised
    tables = [_nearest_by_class(scale(rows), codes, len(counts)) for scale in scales]
    found = []
    for code in np.sort(rng.permutation(enough)[:_MOST_CLASSES]):
        others = [np.delete(table, code, axis=1).reshape(len(codes), -1) for table in tables]
        distances = [_nearest(one).mean(axis=1) for one in others]
        found.append(tuple((far[codes == code], far[codes != code]) for far in distances))
    return tuple(found)


def hidden_from_posteriors(
    posteriors: FloatArray, codes: IntArray
) -> tuple[tuple[ScorePair, ...], ...]:
    """For each class: its log-odds, out of fold, in its own rows and in all others.

    Of very many classes some, evenly spaced.
    """
    logs = np.log(posteriors.clip(_LEAST_POSTERIOR))
    present = np.flatnonzero(np.bincount(codes, minlength=logs.shape[1]))
    some = np.linspace(0, len(present) - 1, min(len(present), _MOST_CLASSES)).round().astype(int)
    found = []
    for code in present[some]:
        score = logs[:, code] - np.delete(logs, code, axis=1).max(axis=1)
        found.append(((score[codes == code], score[codes != code]),))
    return tuple(found)


def _nearest_by_class(rows: FloatArray, codes: IntArray, n_classes: int) -> FloatArray:
    """Distances of each row to the three nearest other rows of each class, (n, K, 3)."""
    squares = arrays_of(rows).squared_distances(rows, rows)
    np.fill_diagonal(squares, np.inf)
    found = np.full((len(rows), n_classes, _NEIGHBOURS), np.inf)
    for code in np.flatnonzero(np.bincount(codes)):
        found[:, code] = _nearest(squares[:, codes == code])
    return np.sqrt(found.clip(min=0.0))


def _nearest(values: FloatArray) -> FloatArray:
    """The three least values of each row, inf where there are fewer; the values are overwritten."""
    return np.asarray(arrays_of(values).smallest(values, _NEIGHBOURS))


def between_groups(
    X_new: Matrix, X: Matrix, groups: IntArray, rng: np.random.RandomState
) -> Distances:
    """Mean distance of each row to the three nearest labelled rows of other groups.

    ``groups`` (n,) of the labelled rows are at least two. One column is in given units, and one
    with equal spreads. Of more than 1,000 labelled rows ``rng`` draws those to measure from.
    """
    scales = Standardisation.of(X, np.ones(X.shape[0])).raw_and_standardised
    none = np.full(X_new.shape[0], -1)
    clusters = Clusters(np.arange(X.shape[0]), none, (groups, none))
    return neighbour_distances(X_new, X, scales, rng, clusters)
