"""Whether scores say that known classes moved, and what is unseen if they did.

Discriminators see every move and distances hardly see small ones, but both see what is new as a
second bump of the ROC. Each family of scores has a Bayes factor for u > 0 under *moved*; their mean
weighs u > 0 against u = 0. Open or moved is decided by the signs of
:mod:`unseen.drift.signs`. docs/drift.md, "The third hypothesis", derives all of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from scipy.special import expit, logit

from unseen._arrays import chosen_arrays, kept_there
from unseen._frozen import Frozen
from unseen._types import Array, FloatArray, IntArray
from unseen.drift.lattice import (
    NOTHING_NEW,
    PRIOR_MOVE,
    PRIOR_MOVED,
    PRIOR_SHARE,
    PRIOR_STRENGTH,
    SHARES,
    STRENGTHS,
    LatticeTables,
    MovedLattice,
    strength_of_points,
)
from unseen.drift.signs import (
    Signs,
    departure_odds,
    laid_likelihood,
    new_likelihood,
    signs_of_rows,
)
from unseen.mixture.placement import Candidates, PlacementPosterior
from unseen.roc.pooled import log_sums
from unseen.scores.base import Distances
from unseen.scores.laid import MovedPart
from unseen.scores.moves import Moves
from unseen.scores.open import OpenScores, mixture_of_known, ratios_at_shares
from unseen.scores.stray import StrayValues

__all__ = ["MovedReading", "TwoHypotheses", "moved_reading", "with_nothing"]

# Every constant here was chosen on development sets (docs/drift.md, "Where constants come from").
_TEMPER, _HANDICAP = 0.7, 1.0  # of the discriminators' evidence for u > 0 under moved
_EVIDENCE_POWER = 1 / 3
_FAR, _FAR_RAMP = 1.5, 0.2  # strength by distances from which on it is too far to tell
_CLIP_DISCRIMINATORS = -25.0, 10.0
_LEAST_LOSS = np.log(1e-3)
_LEAST_NEW = 0.02  # below this probability of u > 0 all rows count as known
_LEAST_CANDIDATE = 0.1
_LEAST_SHARE = 1e-6


class TwoHypotheses(Protocol):
    """Shares under closed and open; :class:`~unseen.proportions.open_set.OpenSetFit`."""

    @property
    def closed(self) -> FloatArray:
        """Shares of the known classes under closed, (K,)."""

    @property
    def known_mixture(self) -> FloatArray:
        """Shares among the rows of known classes under open, (K,)."""

    @property
    def posterior(self) -> PlacementPosterior:
        """Posterior of the share of all known classes under open."""

    @property
    def known(self) -> FloatArray:
        """P(known) of each new row under open, (m,)."""


@dataclass(frozen=True, eq=False)
class MovedReading(Frozen):
    """What the scores say if known classes may have moved, at the grid ``SHARES`` of u."""

    signs: Signs  # of moved against open
    log_new: float  # log Bayes factor for u > 0 against u = 0, under moved
    probability: FloatArray  # (U,), law of u given moved and u > 0
    far: float  # from 0 to 1: whether classes moved too far to tell what is new
    known: FloatArray  # (m,), P(known) of each new row under moved
    known_mixture: FloatArray  # (K,), shares among the known classes under moved
    by_distances: FloatArray  # (U,), law of u under moved by distances alone
    stray: StrayValues = field(default_factory=StrayValues)
    part: MovedPart = field(default_factory=MovedPart)


@dataclass(frozen=True, eq=False)
class _Read:
    """Tables of some scores at some shares of the known classes, and the cell of each new row."""

    lattice: MovedLattice
    tables: LatticeTables
    places: list[Array]


def moved_reading(scores: OpenScores, fit: TwoHypotheses) -> MovedReading:
    """Read the moved hypothesis off the default's scores, beside shares under closed and open."""
    loss, moves = scores.ratios.log_weight, scores.moves
    used = np.flatnonzero(loss > _LEAST_LOSS)  # discriminators that can matter
    log_prior = loss[used] - log_sums(loss[used])
    distances = _pairs(scores.ratios.distances if moves is None else moves.distances)
    at_closed = _read(scores, fit.closed, used, distances)
    at_open = _read(scores, fit.known_mixture, used, [])
    margins, factors = _families(at_closed.tables.table, log_prior)
    mixing, found, log_new = _mixed(margins, factors)
    # How far a class may be from one alone, nobody knows.
    told = None if scores.posteriors is None else moves
    away, log_new, law = _departed(told, fit, log_new, found)
    known = _known_rows(at_closed, log_prior, mixing, log_new, scores.n_new)
    u_open = 1 - float(fit.posterior.open_quantile(0.5))
    bent = _right_end_bends(at_open.tables.table, log_prior)
    of_rows = signs_of_rows(scores, fit.known, u_open)
    signs = Signs(bent, departure=away, **of_rows)
    strength = _strength(at_closed.tables.table[len(used) :])
    far = float(np.clip((strength.max(initial=0.0) - _FAR) / _FAR_RAMP, 0.0, 1.0))
    far = 1.0 if signs.beyond else far
    return MovedReading(
        signs,
        log_new,
        law,
        far,
        known,
        (1 - far) * mixture_of_known(scores, known) + far * fit.closed,
        _law_by_distances(margins[:-1]),
        *(() if moves is None else (moves.stray, moves.part)),
    )


def _pairs(distances: Distances | None) -> list[tuple[Array, Array]]:
    if distances is None:
        return []
    new, labelled = (kept_there(distances, sample).T for sample in ("new", "labelled"))
    return list(zip(new, labelled, strict=True))


def _read(
    scores: OpenScores, shares: FloatArray, used: IntArray, distances: list[tuple[Array, Array]]
) -> _Read:
    """Likelihoods of the discriminators at these shares, then of the distances."""
    shares = np.maximum(shares, _LEAST_SHARE)
    weight = (shares / scores.counts)[scores.codes]
    ratios = ratios_at_shares(scores, shares)
    of_new, of_old = (kept_there(ratios, sample) for sample in ("new", "labelled"))
    beside = chosen_arrays().xp.column_stack
    new = beside([of_new[:, used], *(far for far, _ in distances)])
    old = beside([of_old[:, used], *(far for _, far in distances)])
    counted = np.zeros(new.shape[1]), ratios.clusters, ratios.odds_step
    cells = Candidates(new, old, *counted).cells(weight)
    lattice = MovedLattice.of_cells(cells.new, cells.labelled, scores.lattices)
    return _Read(lattice, lattice.tables(cells.new, cells.labelled), list(cells.place))


def _mean_table(table: FloatArray, log_prior: FloatArray) -> FloatArray:
    """Log-likelihood (U, D) of all discriminators together."""
    found: FloatArray = log_sums(table[: len(log_prior)] + log_prior[:, None, None], axis=0)
    return found


def _right_end_bends(table: FloatArray, log_prior: FloatArray) -> float:
    """Log-odds that the right end of the ROC bends, by the discriminators."""
    both = _mean_table(table, log_prior)
    bent = log_sums(both + PRIOR_MOVED[:, None] + PRIOR_MOVE)
    return float(np.clip(bent - log_sums(both[:, 0] + PRIOR_SHARE), *_CLIP_DISCRIMINATORS))


def _families(table: FloatArray, log_prior: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Log-likelihood of u and log Bayes factor of u > 0 under moved, the discriminators last."""
    margins = [log_sums(one + PRIOR_STRENGTH, axis=1) for one in table[len(log_prior) :]]
    discriminators = log_sums(_mean_table(table, log_prior) + PRIOR_MOVE, axis=1)
    by_family = np.array([*margins, _TEMPER * discriminators])
    factors = log_sums(by_family + PRIOR_SHARE, axis=1) - by_family[:, 0]
    factors[-1] -= _HANDICAP
    return by_family, factors


def _departed(
    moves: Moves | None, fit: TwoHypotheses, log_new: float, law: FloatArray
) -> tuple[float, float, FloatArray]:
    """The sign of the departure; then what rows make of u > 0 under moved.

    By their departure, and by how far they stay apart once they are laid onto labelled rows.
    """
    odds, likelihood = 0.0, np.zeros(len(SHARES))
    if moves is not None and moves.departure is not None:
        odds = departure_odds(moves.departure, SHARES, with_nothing(law, log_new), fit.posterior)
        likelihood += new_likelihood(moves.departure, SHARES)
    if moves is not None and moves.laid is not None and moves.laid.is_told:
        likelihood += laid_likelihood(moves.laid, SHARES)
    shown = law * np.exp(likelihood - likelihood[0])
    return odds, log_new + float(np.log(shown.sum())), shown / shown.sum()


def _mixed(margins: FloatArray, factors: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Weights of some families; their law of u > 0, and the mean of their Bayes factors, as log."""
    mixing = np.exp(_EVIDENCE_POWER * (factors - factors.max()))
    mixing /= mixing.sum()
    fits = margins + PRIOR_SHARE
    law = mixing @ np.exp(fits - log_sums(fits, axis=1)[:, None])
    return mixing, law, float(log_sums(factors) - np.log(len(factors)))


def _law_by_distances(margins: FloatArray) -> FloatArray:
    """Law of u at ``SHARES`` by distances alone, (S, U) log-likelihoods under drift."""
    if not len(margins):
        return np.append(1.0, np.zeros(len(SHARES) - 1))
    factors = log_sums(margins + PRIOR_SHARE, axis=1) - margins[:, 0]
    _, law, log_new = _mixed(margins, factors)
    return with_nothing(law, log_new)


def with_nothing(law: FloatArray, log_new: float) -> FloatArray:
    """A law of u > 0 at ``SHARES``, with the probability that nothing is new."""
    is_new = _probability_new(log_new)
    found = is_new * law
    found[0] = 1 - is_new
    return np.asarray(found)


def _probability_new(log_new: float) -> float:
    """Probability that something is new, from the log Bayes factor for it, both under moved."""
    return float(expit(log_new - logit(NOTHING_NEW)))


def _strength(table: FloatArray) -> FloatArray:
    """Posterior mean of delta by scale, (S,)."""
    if not len(table):
        return np.zeros(0)
    fit = table + PRIOR_MOVED[:, None] + PRIOR_STRENGTH
    by_strength = log_sums(fit, axis=1)
    law = np.exp(by_strength - log_sums(by_strength, axis=1)[:, None])
    return np.asarray(law @ STRENGTHS)


def _known_rows(
    read: _Read, log_prior: FloatArray, mixing: FloatArray, log_new: float, n_new: int
) -> FloatArray:
    """P(known) of each new row under moved."""
    is_new = _probability_new(log_new)
    if is_new <= _LEAST_NEW:
        return np.ones(n_new)
    first, at = len(log_prior), strength_of_points()
    points = read.tables.points + PRIOR_SHARE[1:, None]
    table = read.tables.table[:first] + PRIOR_SHARE[:, None] + PRIOR_MOVE
    trust = log_prior + _EVIDENCE_POWER * log_sums(table, axis=(1, 2))
    trust = np.exp(trust - trust.max())
    trusted = np.flatnonzero(trust > _LEAST_CANDIDATE)
    steady = np.arange(first, first + len(mixing) - 1)
    fits = np.concatenate(
        [points[steady] + PRIOR_STRENGTH[at], _TEMPER * (points[trusted] + PRIOR_MOVE[at])]
    )
    parts = np.append(mixing[:-1], mixing[-1] * trust[trusted] / trust[trusted].sum())
    found = read.lattice.known(np.exp(fits - fits.max(axis=(1, 2), keepdims=True)))
    arrays = chosen_arrays()
    rows = arrays.zeros((n_new,))
    for column, part, known in zip([*steady, *trusted], parts, found, strict=True):
        rows += part * arrays.looked_up(known, read.places[column])
    return np.clip(1 - is_new + is_new * arrays.host(rows), _LEAST_SHARE, 1.0)
