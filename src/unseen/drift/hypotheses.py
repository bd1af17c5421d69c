"""Closed, open or moved: their probabilities, and the law of the unseen share under all three.

    closed   the new rows are a mixture of the known classes;
    open     something is new besides;
    moved    every known class may have moved a little, and something may be new besides.

Closed against open is decided as ever (:mod:`unseen.mixture.placement`); moved stands beside open,
with odds that docs/drift.md derives. The verdict follows from the probability of moved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, logit

from unseen._frozen import Frozen
from unseen._random import even_draws
from unseen._types import BoolArray, FloatArray, IntArray
from unseen.drift.moved import SHARES, MovedReading, TwoHypotheses, with_nothing
from unseen.drift.tolerance import Tolerance, certified_tolerance
from unseen.drift.verdict import HARDLY_ANY, MOST_COLUMNS, Drift, Verdict
from unseen.mixture.placement import PlacementPosterior, for_intervals
from unseen.roc.pooled import log_sums, trapezoid
from unseen.scores.base import some_rows
from unseen.scores.moves import Moves
from unseen.scores.open import OpenScores
from unseen.scores.part import FEWEST_OTHERS

__all__ = [
    "PROBABILITY_MOVED",
    "PROBABILITY_MOVED_ONE",
    "ThreeHypotheses",
    "drift_record",
    "weigh_three",
]

# Prior probability of moved, chosen on development sets. With one known class the question itself
# supposes that something is new, so moved starts lower.
PROBABILITY_MOVED, PROBABILITY_MOVED_ONE = 0.45, 0.18
# Prior probability that a part of the rows moved. Log-odds of this where rows hold stray values,
# which nothing else exceeds: they say "unclear", and not "moved". The last is for rows with too few
# other columns to say whether they are ordinary.
_PART, _STRAY, _STRAY_ALONE = 0.08, 1.0, -1.0
# Prior probability that one class moved, against a new class; and log-odds that nothing exceeds: a
# new class that comes as a known one goes looks the same, so that the shares take it for new.
PROBABILITY_ONE_CLASS, _MOST_FOR_ONE_CLASS = 0.1, -1.0
# Where more of the rows than this look unseen, or lie outside the labelled ones in some column,
# moved has at least this probability against open: a column that is read wrongly looks like a class
# in all other signs, and nearly all rows being new is the rarer world.
_NEARLY_ALL, _MOST_OUTSIDE, _LEAST_IF_READ_WRONGLY = 0.85, 0.6, 0.3
# So large a part of what open calls new is worth an explanation of its own.
_MUCH = 0.4
# Rows that are left look new at most so often as all rows, or those explained matter to nobody.
_LEFT = 0.8
# Probability that the scores are blind to what is new, for intervals alone; and the probability of
# "nothing is new" if they are blind, if classes moved too far to tell, and if rows are explained.
_BLIND, _NONE_IF_BLIND, _NONE_IF_FAR, _NONE_IF_EXPLAINED = 0.1, 0.5, 0.6, 0.25


# Points of u: several evenly spaced ones around each of SHARES above 0, as an answer lies between;
# and the place of each among SHARES.
_PIECES, _middle = 8, (SHARES[1:] + SHARES[:-1]) / 2
_inside = (np.arange(_PIECES) + 0.5) / _PIECES
_fine = _middle[:, None] + (np.append(_middle[1:], 1.0) - _middle)[:, None] * _inside
_FINE, _CELL = np.append(0.0, _fine), np.append(0, np.repeat(np.arange(1, len(SHARES)), _PIECES))

# Probabilities of moved above which the verdict is "moved" and "unclear": chosen on development
# sets, where 2 of 108 problems without drift were called moved.
_MOVED, _UNCLEAR = 0.8, 0.2
_TOO_FAR = 0.5
# Departure, in standard deviations, below which one known class may be said to have moved: most
# offsets of .1 lie below, and a new class of 30% or more beyond, in nine of ten development cases.
_SMALL_MOVE = 0.13
# Departure, in units of how far classes lie apart, from which on hardly any row being like training
# may as well mean that all rows are of new classes.
_AS_A_CLASS = 0.8
# Where moved is not sure, rows that depart as far as classes lie apart are taken for a class.
_AS_ALL_NEW = 1.0
_SAID_ODDS = 3.0  # log-odds from which on rows are said to have moved together
# A column is named from so many standard errors and deviations on.
_ERRORS, _LEAST_SHIFT = 4.0, 0.02


@dataclass(frozen=True, eq=False)
class ThreeHypotheses(Frozen):
    """Probabilities, shares and the law of the unseen share u under closed, open and moved."""

    probability: FloatArray  # (3,), of closed, open and moved, as the shares take them
    mixtures: FloatArray  # (3, K), shares among the known classes under each
    points: FloatArray  # (L,), of u, and their masses: the law for the point estimate
    weight: FloatArray
    wide_points: FloatArray  # (L,), for intervals, where open and moved know less
    wide: FloatArray
    part: IntArray  # (L,), 0, 1 or 2: the hypothesis that a point belongs to
    probability_moved: float  # of known classes, all of them, in part, or one alone
    read_wrongly: bool = False  # whether moved means that columns may be: no share is known then
    moved_class: int | None = None  # the class that moved alone, if there is no other doubt

    @property
    def probability_unseen(self) -> float:
        """Probability that anything is unseen."""
        return float(min(self.weight[self.points > 0].sum(), 1.0))

    @property
    def shares(self) -> FloatArray:
        """Share of each known class, then of unseen ones: median of u, and mean of the rest.

        As the median takes a side, so do the known shares: moved counts where it is the likelier.
        """
        order = np.argsort(self.points, kind="stable")
        mass = np.cumsum(self.weight[order])
        place = min(np.searchsorted(mass, 0.5 * mass[-1]), len(order) - 1)
        u = float(self.points[order][place])
        likelier = np.array([1.0, 1.0, float(self.probability[2] > 0.5)])
        mixed = (likelier * self.probability) @ self.mixtures
        return np.append((1 - u) * mixed / mixed.sum(), u)

    @property
    def expected(self) -> FloatArray:
        """Shares on average over the three: known classes, then unseen."""
        known = np.bincount(self.part, self.weight * (1 - self.points), minlength=3) @ self.mixtures
        return np.append(known, 1 - known.sum())

    def draws(self, n_draws: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
        """Draws of u for intervals, and the hypothesis of each.

        Above 0, u is drawn around the points, as the grid of u is coarse.
        """
        order = np.lexsort((self.wide_points, self.part))
        mass = np.cumsum(self.wide[order])
        spot = np.searchsorted(mass, even_draws(n_draws, rng) * mass[-1])
        spot = np.minimum(spot, len(order) - 1)
        points, parts = self.wide_points[order], self.part[order]
        u, part = points[spot], parts[spot]
        ends = []
        for neighbour in (np.maximum(spot - 1, 0), np.minimum(spot + 1, len(order) - 1)):
            inner = (u > 0) & (parts[neighbour] == part)
            ends.append(np.where(inner, (u + points[neighbour]) / 2, u))
        return ends[0] + (ends[1] - ends[0]) * rng.random(n_draws), part


def weigh_three(
    fit: TwoHypotheses, reading: MovedReading, prior_moved: float | None
) -> ThreeHypotheses:
    """Weigh closed, open and moved: P ~ (p, (1 - p) B, (1 - p) B exp(log-odds of moved)).

    p and B are the prior and the Bayes factor of the fit's posterior. ``prior_moved`` is the prior
    probability of moved, if the new rows are no mixture of the known classes; None is that of the
    development sets.
    """
    posterior = fit.posterior
    usual = PROBABILITY_MOVED_ONE if len(fit.closed) == 1 else PROBABILITY_MOVED
    prior = usual if prior_moved is None else prior_moved
    whole = logit(prior) + reading.signs.log_odds
    part, part_law = _part_moved(fit, reading)
    given = logit(prior) - logit(usual)
    part += given
    alone, alone_law = _one_class_moved(fit, reading)
    alone += given
    odds = float(np.logaddexp(whole, part))
    least = float(logit(_LEAST_IF_READ_WRONGLY) + given)
    read_wrongly = odds < least and _may_be_read_wrongly(fit, reading)
    if read_wrongly:
        # Nothing is known of u then, as where classes moved too far to tell.
        odds, reading = least, replace(reading, far=1.0)
    inner = np.exp(part - odds)
    missed, laws = posterior.missed, []
    # One class that moved alone is for intervals: shares take its rows for new.
    for law, found, blind, one in (
        (posterior, np.where(missed.share == 0, 1.0, 0.0), 0.0, -np.inf),
        (for_intervals(posterior), missed.probability, _BLIND, alone),
    ):
        moved = (1 - inner) * _moved_law(reading, blind) + inner * part_law
        moved += expit(one - odds) * (alone_law - moved)
        probability = _probabilities(law, float(np.logaddexp(odds, one)))
        fine = (probability[2] * moved / np.bincount(_CELL))[_CELL]
        points = np.concatenate([missed.share, 1 - law.share, _FINE])
        masses = [probability[0] * found, probability[1] * law.probability, fine]
        laws.append((probability, points, np.concatenate(masses)))
    return ThreeHypotheses(
        laws[0][0],
        np.array([fit.closed, fit.known_mixture, reading.known_mixture]),
        *laws[0][1:],
        *laws[1][1:],
        np.repeat([0, 1, 2], [len(missed.share), len(posterior.share), len(_FINE)]),
        float(_probabilities(posterior, float(np.logaddexp(odds, alone)))[2]),
        read_wrongly,
        reading.one_class.code if reading.one_class and laws[0][0][2] <= _UNCLEAR else None,
    )


def _probabilities(law: PlacementPosterior, odds: float) -> FloatArray:
    """Probabilities of closed, open and moved, by the log-odds of moved against open."""
    prior_closed = law.prior_closed
    if prior_closed in (0.0, 1.0):
        return np.array([prior_closed, *((1 - prior_closed) * expit([-odds, odds]))])
    base = law.log_bayes_factor - logit(prior_closed)
    weights = np.array([0.0, base, base + odds])
    return np.asarray(np.exp(weights - log_sums(weights)))


def _may_be_read_wrongly(fit: TwoHypotheses, reading: MovedReading) -> bool:
    """Whether nearly all rows look unseen, or most lie outside the labelled ones in a column."""
    looks = 1 - float(fit.posterior.open_quantile(0.5))
    return len(fit.closed) > 1 and (looks > _NEARLY_ALL or reading.outside > _MOST_OUTSIDE)


def _one_class_moved(fit: TwoHypotheses, reading: MovedReading) -> tuple[float, FloatArray]:
    """Log-odds of "one class moved alone" against open, and the law of u."""
    one = reading.one_class
    # Columns that are read wrongly give nearly all rows to one class, which has not moved alone.
    if one is None or _may_be_read_wrongly(fit, reading):
        return -np.inf, reading.by_distances
    odds = min(float(logit(PROBABILITY_ONE_CLASS)) + one.log_odds, _MOST_FOR_ONE_CLASS)
    return odds, _law_of_others(fit, reading, one.share)


def _part_moved(fit: TwoHypotheses, reading: MovedReading) -> tuple[float, FloatArray]:
    """Log-odds of "a part of the rows moved" against open, and the law of u.

    Rows with stray values are such a part, the more so if they are ordinary otherwise. So are rows
    that look like the other new ones once they are laid onto them.
    """
    stray, part = reading.stray, reading.part
    if _look_new(fit, stray.rows):
        odds = _STRAY if stray.ordinary else _STRAY_ALONE
        return odds, _law_of_others(fit, reading, stray.share)
    if len(fit.closed) == 1:
        return -np.inf, reading.by_distances
    odds = min(float(logit(_PART)) + reading.signs.log_odds_of_part, _STRAY)
    if reading.signs.part <= 0 or not _look_new(fit, part.rows):
        return odds, reading.by_distances
    return odds, _law_of_others(fit, reading, part.share)


def _look_new(fit: TwoHypotheses, rows: BoolArray) -> bool:
    """Whether these rows are much of what open calls new, and look new to it as no others do."""
    u_open = 1 - float(fit.posterior.open_quantile(0.5))
    if not rows.any() or rows.mean() < _MUCH * u_open:
        return False
    if (~rows).sum() < FEWEST_OTHERS:
        return True
    unseen = 1 - some_rows(fit.known)
    return bool(unseen[~rows].mean() <= _LEFT * unseen.mean())


def _law_of_others(fit: TwoHypotheses, reading: MovedReading, share: float) -> FloatArray:
    """Law of u at ``SHARES`` if so large a share of the rows is explained without a new class.

    New classes have such rows as often as known ones: 1 - (1 - u)(1 - share) look unseen. Open and
    distances say how many do, either of them rightly as often. And where some rows are explained,
    all others that look unseen may be of their kind.
    """
    looks = np.concatenate([1 - fit.posterior.share, SHARES])
    both = np.concatenate([fit.posterior.probability, reading.by_distances]) / 2
    points = np.append(0.0, (looks - share) / max(1 - share, SHARES[1]))
    weight = np.append(_NONE_IF_EXPLAINED, (1 - _NONE_IF_EXPLAINED) * both)
    nearest = np.searchsorted((SHARES[1:] + SHARES[:-1]) / 2, points)
    return np.bincount(nearest, weight, minlength=len(SHARES)).astype(float)


def _moved_law(reading: MovedReading, blind: float) -> FloatArray:
    """Law of u at ``SHARES`` under moved; ``blind`` of it says nothing."""
    law = with_nothing(reading.probability, reading.log_new)
    even = trapezoid(SHARES)
    even[0] = 0.0
    even /= even.sum()
    for part, none in ((reading.far, _NONE_IF_FAR), (blind, _NONE_IF_BLIND)):
        silent = (1 - none) * even
        silent[0] = none
        law = (1 - part) * law + part * silent
    return law


def drift_record(
    scores: OpenScores,
    probability_moved: float,
    far: float,
    unlike: float,
    moved_class: int | None = None,
) -> Drift:
    """What the default found about drift.

    ``far``, from 0 to 1, says whether classes moved too far to tell; ``unlike`` is the unseen
    share, if no class moved; ``moved_class`` is the class that moved alone, if any did.
    """
    distances, moves = scores.ratios.distances, scores.moves or Moves(None)
    several, away = len(scores.classes) > 1, moves.departure
    # Hardly any row looks like training, and rows lie as far off as those of other classes do.
    distance = 0.0
    if several and away is not None and far <= _TOO_FAR and unlike >= HARDLY_ANY:
        distance = away.distance
    # One class may be said to have moved if by little: if it moved far, another may lie there.
    can_have_moved = several or (away is not None and away.distance < _SMALL_MOVE)
    verdict: Verdict = "still"
    if probability_moved > _UNCLEAR:
        sure = probability_moved > _MOVED and distance < _AS_A_CLASS and can_have_moved
        verdict = "moved" if sure else "unclear"
    part = moves.part.share if moves.part.log_odds > _SAID_ODDS else 0.0
    explained = bool(part or moves.stray.columns)
    unsure = _UNCLEAR < probability_moved <= _MOVED
    alone = None if verdict == "still" else moved_class
    tolerance = Tolerance(np.zeros(0), np.zeros(0))
    if distances is not None:
        new, labelled = distances.new[:, 0], distances.labelled[:, 0]
        tolerance = certified_tolerance(new, labelled, scores.codes)
    return Drift(
        verdict,
        float(probability_moved),
        tolerance,
        float(unlike),
        far=verdict == "moved" and far > _TOO_FAR,
        **_what_moved(moves, scores.classes),
        part=part,
        moved_class=None if alone is None else scores.classes[alone],
        as_class=unsure and distance >= _AS_ALL_NEW and not explained,
    )


def _what_moved(moves: Moves, classes: tuple[Any, ...]) -> dict[str, Any]:
    """Columns that moved beyond noise, the farthest first; how far each class moved; stray values.

    A column moves by the mean over classes, a class by the root mean square shift over columns, the
    part that noise explains taken off.
    """
    stray = moves.stray.columns
    named = stray if moves.names is None else tuple(moves.names[place] for place in stray)
    found: dict[str, Any] = {"stray": moves.stray.share if stray else 0.0, "stray_columns": named}
    if moves.shift is None or moves.error is None:
        return {**found, "displacement": dict.fromkeys(classes)}
    squares = (np.square(moves.shift) - np.square(moves.error)).mean(axis=1)
    far = [None if np.isnan(one) else float(np.sqrt(max(one, 0.0))) for one in squares]
    found["displacement"] = dict(zip(classes, far, strict=True))
    told = np.isfinite(moves.shift).all(axis=1)
    if not told.any():
        return found
    shift = moves.shift[told].mean(axis=0)
    error = np.sqrt(np.square(moves.error[told]).sum(axis=0)) / told.sum()
    clear = np.flatnonzero(np.abs(shift) > np.maximum(_ERRORS * error, _LEAST_SHIFT))
    order = clear[np.argsort(-np.abs(shift[clear]), kind="stable")][:MOST_COLUMNS]
    names = moves.names or range(len(shift))
    columns = tuple((names[column], float(shift[column])) for column in order.tolist())
    return {**found, "columns": columns}
