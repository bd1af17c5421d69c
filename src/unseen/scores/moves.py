"""Distances that small moves hardly change, and how far each class moved in each column.

A discriminator sees every move of a known class, however small. Distances to the nearest labelled
rows on the leading axes hardly see small moves, but do see rows that stand apart. docs/drift.md
says how the two together tell known classes that moved from classes that are new.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from unseen._arrays import arrays_of, chosen_arrays, kept_there
from unseen._frozen import Frozen
from unseen._types import Array, BoolArray, FloatArray, IntArray, Matrix
from unseen.samples import Clusters, LabelledRows
from unseen.scores.base import Distances
from unseen.scores.kernel import Scale, Standardisation, dense_pair, neighbour_distances
from unseen.scores.laid import Laid, MovedPart, laid_rows, moved_part
from unseen.scores.posteriors import Posteriors
from unseen.scores.stray import StrayValues, some_rows, stray_values

# Share of the variance on the leading axes, and the least posterior whose logarithm is taken:
# chosen on development sets.
_VARIANCE, _FLOOR = 0.9, 1e-3
# A mean without a fifth of the rows at either end is not the work of a few rows of a new class.
_TRIMMED = 0.2
_FEWEST_ROWS, _MOST_ROWS = 10, 2000
# A value counts up to this part of the labelled values' width beyond them; a column tells classes
# apart at most so well. Chosen on development sets.
_OUTER, _WIDER, _MOST_TOLD = 0.01, 0.25, 0.95


@dataclass(frozen=True)
class Departure(Frozen):
    """How far new rows lie from the classes that they look like."""

    distance: float  # root mean square, in units of how far known classes lie from each other
    # How far known classes lie from their middle, in standard deviations of the columns that tell
    # them apart.
    separation: float


@dataclass(frozen=True, eq=False)
class Moves(Frozen):
    """What tells known classes that moved from classes that are new."""

    # To the nearest labelled rows on the leading axes, in given units and with equal spreads, and
    # then, where there are several classes, in logits of the classifier.
    distances: Distances | None
    # (K, d), how far the rows that look like a class lie from its labelled rows, in standard
    # deviations of the column, and the standard error; NaN for a class with few such rows, and None
    # for very wide rows and for sparse rows of many values.
    shift: FloatArray | None = None
    error: FloatArray | None = None
    names: tuple[str, ...] | None = None  # of the columns, where they have any
    stray: StrayValues = field(default_factory=StrayValues)
    part: MovedPart = field(default_factory=MovedPart)
    departure: Departure | None = None
    laid: Laid | None = None  # new rows laid onto labelled ones


def made_moves(
    labelled: LabelledRows,
    X_new: Matrix,
    posteriors: Posteriors | None,
    closed: FloatArray,
    log_ratios: FloatArray,
    distances: Distances | None,
    clusters: Clusters | None,
) -> Moves:
    """Shifts beside steady distances; a row counts for its likeliest class at shares ``closed``."""
    looks_like, of_labelled = np.zeros(X_new.shape[0], dtype=np.intp), labelled.codes
    if posteriors is not None:
        arrays = chosen_arrays()
        densities = kept_there(posteriors, "ratios") * arrays.put(closed)
        looks_like = arrays.host(densities.argmax(1))
        of_labelled = arrays.host(kept_there(posteriors, "of_labelled").argmax(1))
    asked: list[Callable[[], Any]] = [
        partial(class_shifts, labelled, X_new, looks_like),
        partial(stray_values, labelled.rows, X_new),
        partial(moved_part, labelled, X_new, log_ratios),
        partial(mean_departure, labelled.rows, X_new, of_labelled, looks_like),
        partial(laid_rows, labelled, X_new, closed, clusters),
    ]
    found = chosen_arrays().side_by_side(lambda ask: ask(), asked)
    (shift, error), *signs = found
    return Moves(distances, shift, error, labelled.names, *signs)


def steady_distances(
    X_new: Matrix,
    X: Matrix,
    posteriors: Posteriors | None,
    given: Distances | None,
    clusters: Clusters | None,
    rng: np.random.RandomState,
) -> Distances | None:
    """Distances to the three nearest labelled rows in scales that small moves hardly change.

    Very wide rows, and sparse rows of many values, keep the distances ``given`` by the scorer.
    These are None for a user's own classifier, of which only the logits are compared;
    ``posteriors`` are None where there is one class, or logits are not asked for. None where there
    is nothing to compare.
    """
    parts = [] if given is None else [given]
    pair = None if given is None else dense_pair(X, X_new)
    if pair is not None:
        old, new = map(chosen_arrays().put_rows, pair)
        scales = Standardisation.of(old, np.ones(len(old))).raw_and_standardised
        parts = [_distances(*_on_leading_axes(new, old, scale), rng, clusters) for scale in scales]
    if posteriors is not None:
        new, old = (_logits(kept_there(posteriors, rows)) for rows in ("new", "of_labelled"))
        parts.append(_distances(new, old, rng, clusters))
    if not parts:
        return None
    return Distances(
        np.hstack([part.new for part in parts]), np.hstack([part.labelled for part in parts])
    )


def _on_leading_axes(new: Array, old: Array, scale: Scale) -> tuple[Array, Array]:
    """Scaled new and labelled rows on the axes with most of the labelled rows' variance."""
    arrays = arrays_of(old)

    def products(rows: slice) -> Array:
        scaled = scale(old[rows])
        return scaled.T @ scaled

    nothing = arrays.zeros((old.shape[1], old.shape[1]))
    of_all = arrays.host(arrays.summed(products, arrays.blocks(*old.shape), nothing))
    values, axes = np.linalg.eigh(of_all)
    part = np.cumsum(values[::-1]) / max(values.sum(), 1e-300)
    leading = axes[:, ::-1][:, : int(np.searchsorted(part, _VARIANCE)) + 1]
    return _projected(new, scale, leading), _projected(old, scale, leading)


def _projected(rows: Array, scale: Scale, axes: FloatArray) -> Array:
    """Scaled rows on axes, in blocks: of all rows at once a scaled copy would be in memory."""
    arrays = arrays_of(rows)
    found, onto = arrays.empty((len(rows), axes.shape[1])), arrays.put(axes)

    def project(block: slice) -> None:
        found[block] = scale(rows[block]) @ onto

    arrays.side_by_side(project, arrays.blocks(*rows.shape))
    return found


def _distances(
    new: Array, old: Array, rng: np.random.RandomState, clusters: Clusters | None
) -> Distances:
    as_given = Standardisation(np.zeros(old.shape[1]), np.ones(old.shape[1]))
    return neighbour_distances(new, old, [as_given], rng, clusters)


def _logits(posteriors: Array) -> Array:
    values = arrays_of(posteriors).xp.log(posteriors.clip(min=_FLOOR))
    return values - values.mean(1)[:, None]


def class_shifts(
    labelled: LabelledRows, X_new: Matrix, looks_like: IntArray
) -> tuple[FloatArray | None, FloatArray | None]:
    """Shift of each class in each column, in standard deviations, and its standard error, (K, d).

    ``looks_like`` (m,) is the class that each new row looks like most. None for rows too many to
    be dense.
    """
    pair = dense_pair(labelled.rows, X_new)
    if pair is None:
        return None, None
    rows, rows_new = pair
    scale = Standardisation.of(chosen_arrays().put_rows(rows), np.ones(len(rows))).scale
    shift = np.full((len(labelled.classes), rows.shape[1]), np.nan)
    error = shift.copy()
    for code in range(len(shift)):
        old, new = (
            _some(sample, classes == code)
            for sample, classes in ((rows, labelled.codes), (rows_new, looks_like))
        )
        if min(len(old), len(new)) >= _FEWEST_ROWS:
            shift[code] = (_trimmed_mean(new) - _trimmed_mean(old)) / scale
            error[code] = np.sqrt(new.var(axis=0) / len(new) + old.var(axis=0) / len(old)) / scale
    return shift, error


def mean_departure(
    X: Matrix, X_new: Matrix, looks_like: IntArray, looks_like_new: IntArray
) -> Departure | None:
    """How far new rows lie from the classes that they look like, as classes lie from each other.

    A classifier says what rows look like, out of fold for labelled ones. The distance is the root
    of ``sum_kj p_k w_j (m'_kj - m_kj)^2 / sum_kj p_k w_j (m_kj - m_j)^2``: m_kj is the mean of
    column j over the labelled rows that look like class k, m'_kj over the new rows that do, whose
    share is p_k; w_j is large for columns that tell classes apart. The part of the squares that
    noise explains is taken off. One class alone is measured by its own standard deviations.

    None where few rows look like any class, and for rows too many to be dense.
    """
    pair = dense_pair(X, X_new)
    if pair is None:
        return None
    old, new = pair
    low, high = np.quantile(_some(old), [_OUTER, 1 - _OUTER], axis=0)
    limits = low - _WIDER * (high - low), high + _WIDER * (high - low)
    some = np.clip(_some(old), *limits)
    spread = Standardisation.of(some, np.ones(len(some))).scale
    means, moved, part = [], [], []
    for code in np.flatnonzero(np.bincount(looks_like)):
        groups = (old, looks_like == code), (new, looks_like_new == code)
        here, there = (np.clip(_some(*group), *limits) / spread for group in groups)
        if len(here) >= _FEWEST_ROWS:
            enough = len(there) >= _FEWEST_ROWS
            means.append(here.mean(axis=0))
            shift = there.mean(axis=0) - means[-1] if enough else 0 * spread
            noise = here.var(axis=0) / len(here) + there.var(axis=0) / len(there) if enough else 0
            moved.append(np.square(shift) - noise)
            part.append(groups[1][1].sum() * enough)
    if not any(part):
        return None
    if len(means) == 1:
        between = (some.var(axis=0) > 0).astype(float)
        return _departure(moved, part, between, between)
    # Where new rows look like one class alone, all classes say how far apart classes lie.
    among = part if np.count_nonzero(part) > 1 else None
    middle = np.average(means, axis=0, weights=among)
    between = np.average(np.square(means - middle), axis=0, weights=among)
    return _departure(moved, part, between, np.var(means, axis=0))


def _departure(
    moved: list[FloatArray], part: list[int], between: FloatArray, evenly: FloatArray
) -> Departure:
    """The record from squares of shifts, (K, d), and of classes among new rows and evenly, (d,)."""
    weight, even_weight = (
        squares / (1 - np.minimum(squares, _MOST_TOLD)) for squares in (between, evenly)
    )
    away = max(float(weight @ np.average(moved, axis=0, weights=part)), 0.0)
    apart = float(even_weight @ evenly) / max(float(even_weight.sum()), 1e-300)
    return Departure(float(np.sqrt(away / max(weight @ between, 1e-300))), float(np.sqrt(apart)))


def _trimmed_mean(rows: FloatArray) -> FloatArray:
    """Mean of each column without a part of the rows at either end."""
    cut = int(_TRIMMED * len(rows))
    return np.asarray(np.sort(rows, axis=0)[cut : len(rows) - cut].mean(axis=0))


def _some(rows: FloatArray, own: BoolArray | None = None) -> FloatArray:
    """The rows, or those of them that are ``own``; of very many, evenly spaced ones."""
    places = np.arange(len(rows)) if own is None else np.flatnonzero(own)
    return rows[some_rows(places, _MOST_ROWS)]
