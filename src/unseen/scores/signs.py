"""Seven signs that tell known classes that moved from classes that are new.

Sign by sign: what is measured, its law, and the log-odds of moved against open; last, the signs of
one class that moved alone. The first, whether the right end of the ROC bends, is in
:mod:`unseen.drift.moved`, which puts all of them together. docs/drift.md, "The third hypothesis",
numbers them, and says where the constants come from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import entr, gammaln, logit

from unseen._arrays import arrays_of
from unseen._frozen import Frozen
from unseen._types import FloatArray, IntArray, Matrix
from unseen.roc.pooled import log_sums
from unseen.samples import Clusters, LabelledRows, first_rows
from unseen.scores.base import some_rows
from unseen.scores.scales import Standardisation, dense_pair

# Weights were fitted together on development problems, each set left out in turn, and rounded.
_WEIGHTS = {
    "discriminators": 0.3,
    "evenness": 0.49,
    "departure": 0.74,
    "variety": 5.5,
    "sureness": 4.9,
    "laid": 1.4,
}
# Where a part moved, the right end stays straight, and rows on average lie where they did.
_OF_PART = "evenness", "variety", "sureness"


@dataclass(frozen=True)
class Signs(Frozen):
    """Log-odds of moved against open, sign by sign; 0 where a sign says nothing."""

    discriminators: float  # the right end bends
    evenness: float  # every class that rows look like looks unseen
    departure: float = 0.0  # rows lie near the classes that they look like
    variety: float = 0.0  # rows that look unseen look like all known classes
    sureness: float = 0.0  # rows look as surely like a class as labelled ones
    laid: float = 0.0  # rows laid onto labelled ones look like them
    beyond: float = 0.0  # rows stand off, as a whole, much farther than any known class does
    part: float = 0.0  # rows that look new, laid onto the other new rows, look like them

    @property
    def log_odds(self) -> float:
        """Log Bayes factor of moved against open."""
        return self.beyond + float(sum(_WEIGHTS[sign] * getattr(self, sign) for sign in _WEIGHTS))

    @property
    def log_odds_of_part(self) -> float:
        """Log Bayes factor of "a part of the rows moved" against open."""
        return self.part + float(sum(_WEIGHTS[sign] * getattr(self, sign) for sign in _OF_PART))


# 2 to 4. Evenness, variety and sureness: what rows look like, by the classifier

_LARGE_CLASS = 0.05  # part of the new rows from which on a class says how evenly they look unseen
_LEAST_UNSEEN, _LEAST_POSTERIOR, _TINY = 0.005, 1e-6, 1e-9
# Rows that look like so large a power of the known classes are no sign of either.
_MANY = 2 / 3


def evenness(looks_like: IntArray, known: FloatArray) -> float:
    """Log-odds of the least share that looks unseen in any class that the classifier assigns.

    ``known`` is P(known) of each new row under open. A new class rarely takes an equal part of all
    known ones; after a sensor moved, rows of all classes look unseen.
    """
    count = np.bincount(looks_like)
    # Of many classes none may be large: then the largest speaks.
    large = count >= min(_LARGE_CLASS * len(looks_like), count.max())
    least = (np.bincount(looks_like, 1 - known)[large] / count[large]).min()
    return float(logit(np.clip(least, _LEAST_UNSEEN, 1 - _LEAST_UNSEEN)))


def variety(looks_like: IntArray, known: FloatArray, n_known: int) -> float:
    """Log of the effective number of classes that unseen rows look like, against K to the 2/3.

    Rows of a new class may look like one of two known ones, or like both: two classes say nothing.
    """
    mass = np.bincount(looks_like, 1 - known + _TINY)
    entropy = entr(mass / mass.sum()).sum()
    return float((1 - 2 / n_known) * (entropy - _MANY * np.log(n_known)))


def sureness(new: FloatArray, labelled: FloatArray) -> float:
    """A half, less the probability that a new row is assigned less surely than a labelled row.

    From posteriors (m, K) and (n, K), out of fold: how sure is the log ratio of the two largest.
    Rows are compared with those that look like the same class, as shares may have changed.
    """
    like, sure = [], []
    for posteriors in (new, labelled):
        second, first = np.log(np.partition(posteriors, -2)[:, -2:].clip(_LEAST_POSTERIOR)).T
        like.append(posteriors.argmax(1))
        sure.append(first - second)
    less = np.full(len(new), 0.5)
    for label in np.intersect1d(*like):
        own, others = like[0] == label, np.sort(sure[1][like[1] == label])
        below = sum(np.searchsorted(others, sure[0][own], side) for side in ("left", "right"))
        less[own] = 1 - below / (2 * len(others))
    return 0.5 - float(less.mean())


# 5. Departure: how far rows lie from the classes that they look like

# A class that is new departs by the first, and rounding by the second, both in units of the
# separation of classes; known classes move by a usual number of standard deviations, or by a large
# one, which is so probable once classes have moved.
_NEW, _NOISE = 1.1, 0.1
_USUAL, _LARGE, _IS_LARGE = 0.12, 0.5, 0.3
# Spread of the logarithm of a departure, which is wider where classes lie within so many standard
# deviations, and the degrees of freedom of Student's law, whose density has this largest logarithm.
_SPREAD, _WELL_APART, _LEAST_SEPARATION, _FREEDOM = 0.5, 0.5, 0.1, 3.0
_LARGEST_DENSITY = float(
    gammaln((_FREEDOM + 1) / 2) - gammaln(_FREEDOM / 2) - 0.5 * np.log(_FREEDOM * np.pi)
)
# A value counts up to this part of the labelled values' width beyond them; a column tells classes
# apart at most so well. Chosen on development sets.
_OUTER, _WIDER, _MOST_TOLD = 0.01, 0.25, 0.95
_FEWEST_ROWS, _MOST_ROWS, _LEAST_UNIT = 10, 2000, 1e-300


@dataclass(frozen=True)
class Departure(Frozen):
    """How far new rows lie from the classes that they look like."""

    distance: float  # root mean square, in units of how far known classes lie from each other
    # How far known classes lie from their middle, in standard deviations of the columns that tell
    # them apart.
    separation: float
    # (K,), that distance for the rows that look like each class; then their distance over all
    # columns alike, as a part of that of the nearest other class. NaN where such rows are few.
    by_class: FloatArray = field(default_factory=lambda: np.zeros(0))
    beside_others: FloatArray = field(default_factory=lambda: np.zeros(0))

    def log_likelihood(self, share: FloatArray, move: float = 0.0) -> FloatArray:
        """Log-likelihood of a share u of new rows, if known classes moved by so many deviations.

        ``log(distance + .1)`` is Student about ``log(1.1 u + max(move / separation, .1))``.
        """
        separation = max(self.separation, _LEAST_SEPARATION)
        expected = np.log(_NEW * share + max(move / separation, _NOISE))
        spread = _SPREAD * max(_WELL_APART / separation, 1.0)
        return _student((np.log(self.distance + _NOISE) - expected) / spread)

    def log_likelihood_if_moved(self, share: FloatArray) -> FloatArray:
        """Log-likelihood of u, given that known classes moved, by little or by much."""
        usual, large = (self.log_likelihood(share, move) for move in (_USUAL, _LARGE))
        return np.logaddexp(np.log1p(-_IS_LARGE) + usual, np.log(_IS_LARGE) + large)

    def of_class(self, code: int) -> Departure | None:
        """That of the rows which look like one class; None where such rows are few."""
        if code >= len(self.by_class) or np.isnan(self.by_class[code]):
            return None
        return replace(self, distance=float(self.by_class[code]))

    def log_odds(
        self, moved: tuple[FloatArray, FloatArray], opened: tuple[FloatArray, FloatArray]
    ) -> float:
        """Log Bayes factor of a usual move against open, each a law of u: points and masses.

        Large moves are left out: distances and discriminators tell these from what is new.
        """
        with np.errstate(divide="ignore"):
            evidence, against = (
                log_sums(np.log(mass) + self.log_likelihood(share, move))
                for (share, mass), move in ((moved, _USUAL), (opened, 0.0))
            )
        return float(evidence - against)


def _student(values: FloatArray) -> FloatArray:
    """Logarithm of Student's density; SciPy's law takes ten times as long to say so."""
    return _LARGEST_DENSITY - 0.5 * (_FREEDOM + 1) * np.log1p(np.square(values) / _FREEDOM)


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
    some = pair[0][some_rows(np.arange(len(pair[0])), _MOST_ROWS)]
    low, high = np.quantile(some, [_OUTER, 1 - _OUTER], axis=0)
    limits = low - _WIDER * (high - low), high + _WIDER * (high - low)
    some = np.clip(some, *limits)
    spread = Standardisation.of(some, np.ones(len(some))).scale
    found = [*_moves_of_classes(pair, (looks_like, looks_like_new), limits, spread)]
    if not any(n_new for *_, n_new in found):
        return None
    codes, means, moved, part = map(np.array, zip(*found, strict=True))
    if len(means) == 1:
        between = evenly = (some.var(axis=0) > 0).astype(float)
    else:
        # Where new rows look like one class alone, all classes say how far apart classes lie.
        among = part if np.count_nonzero(part) > 1 else None
        middle = np.average(means, axis=0, weights=among)
        between = np.average(np.square(means - middle), axis=0, weights=among)
        evenly = np.var(means, axis=0)
    told, told_evenly = (one / (1 - np.minimum(one, _MOST_TOLD)) for one in (between, evenly))
    unit = max(float(told @ between), _LEAST_UNIT)
    away = max(float(told @ np.average(moved, axis=0, weights=part)), 0.0)
    apart = float(told_evenly @ evenly) / max(float(told_evenly.sum()), _LEAST_UNIT)
    between_classes = np.square(means[:, None] - means).sum(axis=2)
    np.fill_diagonal(between_classes, np.inf)
    by_class, beside = np.full((2, codes.max() + 1), np.nan)
    for found_of, squares, units in (
        (by_class, moved @ told, unit),
        (beside, moved.sum(axis=1), between_classes.min(axis=1).clip(min=_LEAST_UNIT)),
    ):
        found_of[codes] = np.where(part > 0, np.sqrt(squares.clip(min=0.0) / units), np.nan)
    return Departure(float(np.sqrt(away / unit)), float(np.sqrt(apart)), by_class, beside)


def _moves_of_classes(
    pair: tuple[FloatArray, FloatArray],
    looks_like: tuple[IntArray, IntArray],
    limits: tuple[FloatArray, FloatArray],
    spread: FloatArray,
) -> Iterator[tuple[int, FloatArray, FloatArray, int]]:
    """Code, mean and squares of the move of each class, and its new rows; 0 where they are few."""
    for code in np.flatnonzero(np.bincount(looks_like[0])).tolist():
        own = [np.flatnonzero(like == code) for like in looks_like]
        here, there = (
            np.clip(rows[some_rows(places, _MOST_ROWS)], *limits) / spread
            for rows, places in zip(pair, own, strict=True)
        )
        if len(here) < _FEWEST_ROWS:
            continue
        mean = here.mean(axis=0)
        if len(there) < _FEWEST_ROWS:
            yield code, mean, np.zeros_like(spread), 0
            continue
        noise = here.var(axis=0) / len(here) + there.var(axis=0) / len(there)
        yield code, mean, np.square(there.mean(axis=0) - mean) - noise, len(own[1])


# 6 and 7. Laid, and beyond: rows laid onto labelled ones, and how far they stand off before

_NEIGHBOURS = 5
# Variance of a column that is rounding alone; columns have a variance of about 1.
_LEAST_VARIANCE = 1e-9
_FEWEST, _MOST, _MOST_CLASSES = 15, 400, 5
FEWEST_OF_CLASS = 10
# How far moves that no factor takes off keep rows apart, and the spread of the logarithm.
_LEAST_APART, _BENT, _SPREAD_LAID = 0.1, 0.15, 0.4
# Of how far a sample stands off: deviations beyond which a code for a missing value counts no more;
# a part of a deviation, beside which smaller spreads are alike; known classes stand off at least so
# far.
_FARTHEST_CELL, _LEAST_SPREAD, _LEAST_OFF = 10.0, 0.02, 0.2
# Where nearly all rows look unseen, and stand off so many times as far as any known class does (of
# two classes either tells less), they are no class; and the log-odds of moved then. So far stand 1
# of 266 undrifted development samples of which three quarters or more are new, and 1 of 163 with
# two known classes.
_NEARLY_ALL, _BEYOND, _BEYOND_TWO, _SURELY = 0.8, 1.6, 3.0, 20.0


@dataclass(frozen=True)
class Laid(Frozen):
    """How far new rows lie from labelled ones before and after they are laid onto them.

    ``apart`` and ``hidden`` are the share of the nearest rows that are of the own sample: a half if
    both samples are alike, 1 if no row of one lies near the other; NaN where rows are too few.
    """

    apart: float = np.nan  # of new rows, laid onto labelled ones
    hidden: float = np.nan  # of known classes, each laid onto the others, on average
    times: float = 0.0  # as far as the known class that stands off most, before

    @property
    def as_a_class(self) -> float:
        """How far new rows stay apart: 0 if both samples are alike, about 1 for new classes."""
        return max(self.apart - 0.5, 0.0) / max(self.hidden - 0.5, _LEAST_APART)

    def sign(self, u_open: float) -> float:
        """Log-odds: .5 if rows are alike, -.5 if they stay apart as this share of a class would."""
        if np.isnan(self.apart):
            return 0.0
        return float(0.5 - np.sqrt(self.as_a_class / max(u_open, _LEAST_APART)))

    def log_likelihood_if_moved(self, share: FloatArray) -> FloatArray:
        """Log-likelihood of u, given that known classes moved, by how far rows stay apart."""
        if np.isnan(self.apart):
            return np.zeros(len(share))
        expected = np.log(share + _BENT)
        return _student((np.log(self.as_a_class + _NOISE) - expected) / _SPREAD_LAID)

    def beyond(self, n_known: int, u_open: float) -> float:
        """Log-odds of moved where nearly all rows look unseen and no class stands off so far."""
        far = self.times >= (_BEYOND_TWO if n_known == 2 else _BEYOND)
        return _SURELY if far and u_open >= _NEARLY_ALL else 0.0


def laid_rows(
    labelled: LabelledRows, X_new: Matrix, closed: FloatArray, clusters: Clusters | None
) -> Laid:
    """New rows laid onto labelled rows in which the classes have the shares ``closed``.

    Of copies one row counts. Nothing is said of one class, nor of rows too many to be dense.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.samples import LabelledRows
    >>> from unseen.scores.signs import laid_rows
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1, 2], 50)
    >>> X, X_new = rng.normal(size=(2, 150, 4)) + 3.0 * np.eye(3, 4)[y]
    >>> labelled, even = LabelledRows(X, np.arange(3), y), np.full(3, 1 / 3)
    >>> moved, scaled = (laid_rows(labelled, rows, even, None) for rows in (X_new + 1, 20 * X_new))
    >>> round(moved.apart, 1) < round(moved.hidden, 1), moved.times < 1.6 < scaled.times
    (True, True)
    """
    pair = dense_pair(labelled.rows, X_new)
    if pair is None or len(closed) < 2:
        return Laid()
    (old, new), codes = pair, labelled.codes
    if clusters is not None and not clusters.distinct:
        first = first_rows(clusters.labelled)
        old, codes, new = old[first], codes[first], new[first_rows(clusters.new)]
    (old, new), codes = map(some_rows, (old, new)), some_rows(codes)
    counts = np.bincount(codes, minlength=len(closed))
    chance = (closed / np.maximum(counts, 1))[codes]
    # So few that a draw without replacement keeps the shares.
    n_rows = min(len(new), _MOST, int(chance.sum() / max(chance.max(), _LEAST_VARIANCE)))
    sizes = np.minimum(counts, len(codes) - counts)
    scale = Standardisation.of(old, np.ones(len(old)))
    old, new = scale(old), scale(new)
    times = _times(old, np.eye(len(counts))[sizes >= FEWEST_OF_CLASS][:, codes], new)
    enough = np.flatnonzero(sizes >= _FEWEST)
    if n_rows < _FEWEST or not len(enough):
        return Laid(times=times)
    rng = np.random.default_rng(0)
    onto = old[rng.choice(len(old), n_rows, replace=False, p=chance / chance.sum())]
    of_classes = [
        (old[codes == code], old[codes != code], min(sizes[code], n_rows))
        for code in some_rows(enough, _MOST_CLASSES)
    ]
    apart = []
    for *samples, most in ((new, onto, n_rows), *of_classes):
        rows, others = (one[rng.permutation(len(one))[:most]] for one in samples)
        apart.append(float(own_neighbours(laid_onto(rows, others), others).mean()))
    return Laid(apart[0], float(np.mean(apart[1:])), times)


def laid_onto(rows: FloatArray, others: FloatArray) -> FloatArray:
    """The rows with the mean of the others, and by one factor their spread."""
    onto, of = (sample.var(axis=0).sum() for sample in (others, rows))
    factor = np.sqrt(onto / max(of, _LEAST_VARIANCE))
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


def _times(old: FloatArray, classes: FloatArray, new: FloatArray) -> float:
    """How many times as far new rows stand off as the class that does most, before they are laid.

    By means, in deviations, or by the logarithm of the factor of deviations, whichever is more;
    both are medians over columns, as a few columns in another unit are no whole table. ``classes``
    (K, n) says which of the old rows are of which class.
    """
    varies = old.std(axis=0) > 0
    if not varies.any() or not len(classes):
        return 0.0
    old, new = (np.clip(one[:, varies], -_FARTHEST_CELL, _FARTHEST_CELL) for one in (old, new))

    def off(*samples: tuple[FloatArray, FloatArray]) -> FloatArray:
        """How far the first samples (S, n) of rows stand off the second, (2, S)."""
        moments = []
        for member, rows in samples:
            count = member.sum(axis=1, keepdims=True)
            mean, square = member @ rows / count, member @ np.square(rows) / count
            spread = np.sqrt(np.maximum(square - np.square(mean), 0.0)) + _LEAST_SPREAD
            moments.append((mean, spread))
        (mean, spread), (middle, usual) = moments
        factor = np.median(np.log(spread / usual), axis=1)
        return np.array([np.median(abs(mean - middle) / usual, axis=1), abs(factor)])

    of_classes = off((classes, old), (1 - classes, old)).max(axis=1)
    every, every_new = (np.ones((1, len(one))) for one in (old, new))
    of_new = off((every_new, new), (every, old))[:, 0]
    return float((of_new / np.maximum(of_classes, _LEAST_OFF)).max())


# One class alone moved

# Log-odds of it begin here, and rise with every sign by its weight; fitted on development sets.
_OF_ONE_CLASS, _DESERTED, _AS_EVER, _NOISE_OF_OTHERS = -2.4, 0.35, 1.9, 0.1
_ANOTHER = 0.9  # of the way to the nearest other class, from which on rows are of another class


@dataclass(frozen=True)
class OneClass(Frozen):
    """The class whose rows hold most of what looks new, as if it alone had moved.

    After a new class came beside it, the ROC of the rows that look like the class ends in a slope:
    the known rows that are left. After the class moved, none are left, and the ROC bends down to 0.
    Other classes are as ever, and the rows lie near the class.
    """

    code: int  # of the class
    share: float  # share of the new rows that look like the class, and new
    of_own: float  # of the rows that look like the class, the share that looks new
    deserted: float  # log-odds: no row is left where the class was
    others: float  # share of the rows of all other classes that looks new
    departure: Departure | None = None  # of the rows that look like the class
    beside_others: float = 0.0  # distance, as a part of that of the nearest other class

    @property
    def log_odds(self) -> float:
        """Log Bayes factor of "this class moved" against open."""
        if self.beside_others >= _ANOTHER:
            return -np.inf
        as_ever = -np.log(self.others + _NOISE_OF_OTHERS)
        found = _OF_ONE_CLASS + _DESERTED * self.deserted + _AS_EVER * as_ever
        away = self.departure
        if away is not None:
            moved = away.log_likelihood_if_moved(np.zeros(1))
            opened = away.log_likelihood(np.array([self.of_own]))
            found += _WEIGHTS["departure"] * float((moved - opened)[0])
        return float(found)
