"""Distances that say more than a discriminator: of small moves, hidden classes and other groups.

A discriminator sees every move of a known class, however small. Distances to the nearest labelled
rows on the leading axes hardly see small moves, but do see rows that stand apart. A class that is
hidden shows how far an unseen class stands from the known ones. And a row lies near the rows of its
own person, site or batch; new rows have no such neighbours, so labelled rows are compared with them
by their distances to other groups.
"""

from __future__ import annotations

import numpy as np

from unseen._arrays import arrays_of, chosen_arrays, kept_there
from unseen._team import own_threads
from unseen._types import Array, FloatArray, IntArray, Matrix, ScorePair
from unseen.samples import Clusters, LabelledRows, first_rows
from unseen.scores.base import Distances
from unseen.scores.posteriors import Posteriors
from unseen.scores.scales import Scale, Standardisation, dense, dense_pair, neighbour_distances

# Share of the variance on the leading axes, and the least posterior whose logarithm is taken:
# chosen on development sets.
_VARIANCE, _FLOOR = 0.9, 1e-3
_NEIGHBOURS = 3
# Of more rows, or more classes, a part tells as much.
_MOST_ROWS, _MOST_CLASSES = 1000, 20
_FEWEST_ROWS = 5
_LEAST_POSTERIOR = 1e-9


def steady_distances(
    X_new: Matrix,
    X: Matrix,
    posteriors: Posteriors | None,
    given: Distances | None,
    clusters: Clusters | None,
    seed: int,
) -> Distances | None:
    """Distances to the three nearest labelled rows in scales that small moves hardly change.

    These are the leading axes in given units and with equal spreads, and logits of the classifier.
    Very wide rows, and sparse rows of many values, keep the distances ``given`` by the scorer.
    These are None for a user's own classifier, of which only the logits are compared;
    ``posteriors`` are None where there is one class, or logits are not asked for. None where there
    is nothing to compare.
    """
    parts, rng = [] if given is None else [given], np.random.RandomState(seed)

    def measured(new: Array, old: Array) -> Distances:
        as_given = Standardisation(np.zeros(old.shape[1]), np.ones(old.shape[1]))
        return neighbour_distances(new, old, [as_given], rng, clusters)

    with own_threads():
        pair = None if given is None else dense_pair(X, X_new)
        if pair is not None:
            old, new = map(chosen_arrays().put_rows, pair)
            scales = Standardisation.of(old, np.ones(len(old))).raw_and_standardised
            parts = [measured(*_on_leading_axes(new, old, scale)) for scale in scales]
        if posteriors is not None:
            logs = (
                arrays_of(rows).xp.log(rows.clip(min=_FLOOR))
                for rows in (kept_there(posteriors, name) for name in ("new", "of_labelled"))
            )
            parts.append(measured(*(rows - rows.mean(1)[:, None] for rows in logs)))
    if not parts:
        return None
    return Distances(
        np.hstack([part.new for part in parts]), np.hstack([part.labelled for part in parts])
    )


def _on_leading_axes(new: Array, old: Array, scale: Scale) -> list[Array]:
    """Scaled new and labelled rows on the axes with most of the labelled rows' variance.

    In blocks: of all rows at once a scaled copy would be in memory.
    """
    arrays = arrays_of(old)

    def products(block: slice) -> Array:
        scaled = scale(old[block])
        return scaled.T @ scaled

    nothing = arrays.zeros((old.shape[1], old.shape[1]))
    of_all = arrays.host(arrays.summed(products, arrays.blocks(*old.shape), nothing))
    values, axes = np.linalg.eigh(of_all)
    part = np.cumsum(values[::-1]) / max(values.sum(), 1e-300)
    leading = arrays.put(axes[:, ::-1][:, : int(np.searchsorted(part, _VARIANCE)) + 1])
    found = [arrays.empty((len(rows), leading.shape[1])) for rows in (new, old)]
    for rows, onto in zip((new, old), found, strict=True):

        def project(block: slice, rows: Array = rows, onto: Array = onto) -> None:
            onto[block] = scale(rows[block]) @ leading

        arrays.side_by_side(project, arrays.blocks(*rows.shape))
    return found


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
    arrays, tables = arrays_of(rows), []
    for scale in Standardisation.of(rows, np.ones(len(codes))).raw_and_standardised:
        scaled = scale(rows)
        squares = arrays.squared_distances(scaled, scaled)
        np.fill_diagonal(squares, np.inf)
        # To the nearest rows of each class; inf where there are fewer.
        nearest = np.full((len(rows), len(counts), _NEIGHBOURS), np.inf)
        for code in np.flatnonzero(counts):
            nearest[:, code] = arrays.smallest(squares[:, codes == code], _NEIGHBOURS)
        tables.append(np.sqrt(nearest.clip(min=0.0)))
    found = []
    for code in np.sort(rng.permutation(enough)[:_MOST_CLASSES]):
        others = (np.delete(table, code, axis=1).reshape(len(codes), -1) for table in tables)
        distances = [arrays.smallest(one, _NEIGHBOURS).mean(axis=1) for one in others]
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
