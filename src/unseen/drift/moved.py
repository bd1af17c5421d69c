"""Whether scores say that known classes moved, and what is unseen if they did.

With a score that orders rows by how little they look like labelled ones, new rows have the ROC
``f = u g(. ; Delta, spread) + (1 - u) d(. ; delta)``: g is the curve of what is new, d the curve of
known rows that have moved, both binormal. delta = 0 is a straight right end of slope 1 - u; delta >
0 bends the right end down to 0. Discriminators see every move and distances hardly see small ones,
but both see what is new as a second bump. docs/drift.md, "The third hypothesis", derives all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Protocol

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from unseen._arrays import chosen_arrays, kept_there
from unseen._frozen import Frozen
from unseen._types import Array, FloatArray, IntArray
from unseen.mixture.placement import Candidates, PlacementPosterior
from unseen.roc.pooled import FALSE_ALARMS, N_CELLS, CurveFamily, cell_rates, log_sums, trapezoid
from unseen.scores.base import Distances
from unseen.scores.moves import Moves
from unseen.scores.open import OpenScores, mixture_of_known, ratios_at_shares
from unseen.scores.part import MovedPart, StrayValues
from unseen.scores.signs import OneClass, Signs, evenness, sureness, variety

__all__ = ["SHARES", "MovedReading", "TwoHypotheses", "moved_reading", "with_nothing"]

# Every constant here was chosen on development sets (docs/drift.md, "Where constants come from").
# The lattice: of u, of delta and of Delta, which is larger than delta by a gap, and spreads of g.
SHARES = np.concatenate([[0.0], np.geomspace(0.005, 0.1, 10), np.linspace(0.1, 1.0, 19)[1:]])
_STRENGTHS = np.concatenate([[0.0], np.geomspace(0.1, 4.5, 14)])
_SEPARATIONS, _GAP = np.geomspace(1.0, 5.0, 8), 0.5
_SPREADS, _SPREAD_WEIGHT = (1.0, 1.5), (0.6, 0.4)
_SHARE_DIGITS = 9
_NOTHING_NEW = 0.5  # prior probability that nothing is new, if known classes moved
_LEAST_MOVE = 0.3  # of a discriminator; less is not told from a straight right end
_TEMPER, _HANDICAP = 0.7, 1.0  # of the discriminators' evidence for u > 0 under moved
_EVIDENCE_POWER = 1 / 3
_FAR, _FAR_RAMP = 1.5, 0.2  # strength by distances from which on it is too far to tell
_CLIP_DISCRIMINATORS = -25.0, 10.0
_LEAST_LOSS = np.log(1e-3)
_LEAST_NEW = 0.02  # below this probability of u > 0 all rows count as known
_LEAST_CANDIDATE = 0.1
_LEAST_SHARE = 1e-6
# One class alone moved: so many rows of either sample must look like it.
_FEWEST_OF_CLASS, _CLIP_DESERTED = 10, (-25.0, 6.0)


def _log_law(weights: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.log(weights / weights.sum())


# Of u > 0, ~ (1 - u)^2 / (u + .03): that all known classes vanished is unlikely.
_PRIOR_SHARE = _log_law(trapezoid(SHARES) * (1 - SHARES) ** 2 / (SHARES + 0.03) * (SHARES > 0))
_PRIOR_MOVED = np.append(np.log(_NOTHING_NEW), _PRIOR_SHARE[1:] + np.log1p(-_NOTHING_NEW))
# Distances see drifts that are mostly small, sometimes not. Discriminators see every drift:
# log-uniform from the least that they can tell.
_small, _large = (np.exp(-0.5 * (_STRENGTHS / sd) ** 2) / sd for sd in (0.3, 1.5))
_PRIOR_STRENGTH = _log_law(trapezoid(_STRENGTHS) * (0.8 * _small + 0.2 * _large))
_PRIOR_MOVE = _log_law((_STRENGTHS >= _LEAST_MOVE).astype(float))


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
    stray: StrayValues
    part: MovedPart
    one_class: OneClass | None  # None with one known class, and where too few rows look like one
    outside: float  # share of the new rows outside the labelled ones, in the worst column


def moved_reading(scores: OpenScores, fit: TwoHypotheses) -> MovedReading:
    """Read the moved hypothesis off the default's scores, beside shares under closed and open."""
    loss, moves = scores.ratios.log_weight, scores.moves or Moves(scores.ratios.distances)
    used = np.flatnonzero(loss > _LEAST_LOSS)  # discriminators that can matter
    log_prior = loss[used] - log_sums(loss[used])
    curves = _Curves.of(scores, fit.closed, used, moves.distances)
    # How much is new, if classes moved: each scale of the distances and all discriminators together
    # have a likelihood of u, and a Bayes factor of u > 0.
    of_distances = curves.table[len(used) :]
    together = log_sums(curves.table[: len(used)] + log_prior[:, None, None], axis=0)
    by_scale = [log_sums(one + _PRIOR_STRENGTH, axis=1) for one in of_distances]
    margins = np.array([*by_scale, _TEMPER * log_sums(together + _PRIOR_MOVE, axis=1)])
    factors = log_sums(margins + _PRIOR_SHARE, axis=1) - margins[:, 0]
    factors[-1] -= _HANDICAP
    mixing, law, log_new = _mixed(margins, factors)
    by_distances = np.append(1.0, np.zeros(len(SHARES) - 1))
    if len(of_distances):
        by_distances = with_nothing(*_mixed(margins[:-1], factors[:-1])[1:])
    signs = _signs(scores, moves, fit, log_prior, used, with_nothing(law, log_new))
    # And how far rows depart, and stay apart once they are laid on. How far a class may be from one
    # alone, nobody knows.
    likelihood = moves.laid.log_likelihood_if_moved(SHARES)
    if moves.departure is not None and scores.posteriors is not None:
        likelihood += moves.departure.log_likelihood_if_moved(SHARES)
    law = law * np.exp(likelihood - likelihood[0])
    log_new, law = log_new + float(np.log(law.sum())), law / law.sum()
    known = curves.known_rows(log_prior, mixing, log_new)
    far = 1.0 if signs.beyond else _too_far(of_distances)
    mixture = (1 - far) * mixture_of_known(scores, known) + far * fit.closed
    beside = moves.stray, moves.part, _one_class(scores, fit, log_prior, used), moves.outside
    return MovedReading(signs, log_new, law, far, known, mixture, by_distances, *beside)


def _one_class(
    scores: OpenScores, fit: TwoHypotheses, log_prior: FloatArray, used: IntArray
) -> OneClass | None:
    """The signs that one class moved, of the class whose rows hold most of what looks new."""
    if scores.posteriors is None:
        return None
    like, like_labelled = (
        posteriors.argmax(axis=1)
        for posteriors in (scores.posteriors.new, scores.posteriors.of_labelled)
    )
    unseen = np.bincount(like, 1 - fit.known)
    code = int(unseen.argmax())
    rows = np.flatnonzero(like == code), np.flatnonzero(like_labelled == code)
    n_others = len(like) - len(rows[0])
    if min(*map(len, rows), n_others) < _FEWEST_OF_CLASS:
        return None
    table = _Curves.of(scores, fit.known_mixture, used, None, rows).table
    together = log_sums(table + log_prior[:, None, None], axis=0)
    bent = log_sums(together[0] + _PRIOR_MOVE) - log_sums(together[:, 0] + _PRIOR_SHARE)
    away = None if scores.moves is None else scores.moves.departure
    own = None if away is None else away.of_class(code)
    return OneClass(
        code,
        share=float(unseen[code] / len(like)),
        of_own=float(unseen[code] / len(rows[0])),
        deserted=float(np.clip(bent, *_CLIP_DESERTED)),
        others=float((unseen.sum() - unseen[code]) / n_others),
        departure=own,
        beside_others=0.0 if away is None or own is None else float(away.beside_others[code]),
    )


def _signs(
    scores: OpenScores,
    moves: Moves,
    fit: TwoHypotheses,
    log_prior: FloatArray,
    used: IntArray,
    law: FloatArray,
) -> Signs:
    """The signs of moved against open, in the order of docs/drift.md.

    ``law`` is that of u at ``SHARES`` under moved, by all evidence but the departure.
    """
    # 1. The right end of the ROC bends, by the discriminators at the open shares.
    table = _Curves.of(scores, fit.known_mixture, used, None).table
    together = log_sums(table + log_prior[:, None, None], axis=0)
    bent = log_sums(together + _PRIOR_MOVED[:, None] + _PRIOR_MOVE)
    bends = float(np.clip(bent - log_sums(together[:, 0] + _PRIOR_SHARE), *_CLIP_DISCRIMINATORS))
    if scores.posteriors is None:
        return Signs(bends, evenness(np.zeros(scores.n_new, dtype=np.intp), fit.known))
    new, labelled = scores.posteriors.new, scores.posteriors.of_labelled
    (looks_like, n_known), away = (new.argmax(axis=1), new.shape[1]), moves.departure
    opened, u_open = fit.posterior, 1 - float(fit.posterior.open_quantile(0.5))
    laws = (SHARES, law), (1 - opened.share, opened.probability)
    return Signs(
        discriminators=bends,
        evenness=evenness(looks_like, fit.known),
        variety=variety(looks_like, fit.known, n_known),
        sureness=sureness(new, labelled),
        departure=0.0 if away is None else away.log_odds(*laws),
        laid=moves.laid.sign(u_open),
        beyond=moves.laid.beyond(n_known, u_open),
        part=moves.part.log_odds,
    )


def _mixed(margins: FloatArray, factors: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Weights of some families; their law of u > 0, and the mean of their Bayes factors, as log."""
    mixing = np.exp(_EVIDENCE_POWER * (factors - factors.max()))
    mixing /= mixing.sum()
    fits = margins + _PRIOR_SHARE
    law = mixing @ np.exp(fits - log_sums(fits, axis=1)[:, None])
    return mixing, law, float(log_sums(factors) - np.log(len(factors)))


def with_nothing(law: FloatArray, log_new: float) -> FloatArray:
    """A law of u > 0 at ``SHARES``, with the probability that nothing is new."""
    is_new = float(expit(log_new - logit(_NOTHING_NEW)))
    found = is_new * law
    found[0] = 1 - is_new
    return np.asarray(found)


def _too_far(table: FloatArray) -> float:
    """Whether distances see a drift as strong as a new class would be, from 0 to 1."""
    if not len(table):
        return 0.0
    by_strength = log_sums(table + _PRIOR_MOVED[:, None] + _PRIOR_STRENGTH, axis=1)
    law = np.exp(by_strength - log_sums(by_strength, axis=1)[:, None])
    strongest = (law @ _STRENGTHS).max(initial=0.0)
    return float(np.clip((strongest - _FAR) / _FAR_RAMP, 0.0, 1.0))


# The lattice of curves


@cache
def _pairs_of_curves() -> tuple[IntArray, FloatArray, FloatArray]:
    """Pairs (P,) of curves with Delta >= delta + gap: the place of delta, log prior, and g (P, A).

    The prior is that of Delta and spread given delta; curves are tabled at the false alarms.
    """
    separation = np.tile(_SEPARATIONS, len(_SPREADS))
    allowed = separation[:, None] >= _STRENGTHS + _GAP
    prior = np.repeat(_SPREAD_WEIGHT, len(_SEPARATIONS))[:, None] * allowed
    prior = prior / np.maximum(prior.sum(axis=0), 1e-300)
    shape, strength = np.nonzero(allowed)
    at = _SEPARATIONS[:, None] + ndtri(FALSE_ALARMS)
    new = np.concatenate([ndtr(at / spread) for spread in _SPREADS])
    return strength, np.log(prior[shape, strength]), new[shape]


class MovedLattice:
    """Curves at all u and delta, where new rows are this share of the pooled mass.

    ``log_new`` and ``log_old`` are log-probabilities that a row of a cell is new, or labelled: at
    u = 0 and every delta, then at u > 0 and every pair of curves.
    """

    def __init__(self, share: float) -> None:
        self.share, (strength, _, new) = share, _pairs_of_curves()
        still = ndtr(_STRENGTHS[:, None] + ndtri(FALSE_ALARMS))
        moved = still[strength]
        start = FALSE_ALARMS + share * (moved - FALSE_ALARMS)
        self._moved, self._pairs = moved, CurveFamily(start, new - moved)
        rates = self._pairs.rates(share * SHARES[1:], share)
        rate = np.concatenate([cell_rates(still, share), rates])
        rest = 1 - rate
        self.log_new, self.log_old = np.log(rate, out=rate), np.log(rest, out=rest)

    @cached_property
    def known_at_points(self) -> FloatArray:
        """P(known) of a new row in each cell, at u > 0 and every pair of curves."""
        found = self._pairs.masses(self.share * SHARES[1:], self._moved.ravel())
        found *= (self.share * N_CELLS * (1 - SHARES[1:]))[:, None, None]
        found = found.reshape(-1, N_CELLS)
        found /= np.exp(self.log_new[len(_STRENGTHS) :])
        return np.clip(found, 0.0, 1.0, out=found)


@dataclass(frozen=True, eq=False)
class _Curves:
    """Log-likelihoods of some scores, relative to "new rows are as labelled ones"."""

    lattice: MovedLattice
    table: FloatArray  # (C, U, D), at u and delta, with the curve of what is new summed out
    points: FloatArray  # (C, U - 1, P), at u > 0 and every pair of curves, with the prior of g
    places: Array  # (C, m), the cell of each new row

    @classmethod
    def of(
        cls,
        scores: OpenScores,
        shares: FloatArray,
        used: IntArray,
        distances: Distances | None,
        rows: tuple[IntArray, IntArray] | None = None,
    ) -> _Curves:
        """The discriminators that are used, at some shares of the known classes; then distances.

        ``rows`` are some of the new rows, and of the labelled ones; None is all.
        """
        shares = np.maximum(shares, _LEAST_SHARE)
        ratios, codes = ratios_at_shares(scores, shares), scores.codes
        new, old = (
            chosen_arrays().xp.column_stack(
                [kept_there(ratios, sample)[:, used]]
                + ([] if distances is None else [kept_there(distances, sample)])
            )
            for sample in ("new", "labelled")
        )
        clusters = ratios.clusters
        if rows is not None:
            (of_new, of_old), put = rows, chosen_arrays().put
            new, old, codes = new[put(of_new)], old[put(of_old)], codes[of_old]
            clusters = None if clusters is None else clusters.part(of_old, of_new)
        counted = np.zeros(new.shape[1]), clusters, ratios.odds_step
        cells = Candidates(new, old, *counted).cells((shares / scores.counts)[codes])
        F, H = cells.new, cells.labelled
        n_new, n_old = float(F[0].sum()), float(H[0].sum())
        share = round(n_new / (n_new + n_old), _SHARE_DIGITS)
        lattice = scores.lattices.at(MovedLattice, share)
        null = F.sum(axis=1) * np.log(share) + H.sum(axis=1) * np.log1p(-share)
        gain = F @ lattice.log_new.T + H @ lattice.log_old.T - null[:, None]
        strength, log_prior, _ = _pairs_of_curves()
        n_moved, n_u = len(_STRENGTHS), len(SHARES) - 1
        points = gain[:, n_moved:].reshape(len(F), n_u, -1) + log_prior
        table = np.full((len(F), n_u + 1, n_moved), -np.inf)
        table[:, 0] = gain[:, :n_moved]
        for place in np.unique(strength):
            table[:, 1:, place] = log_sums(points[..., strength == place], axis=2)
        return cls(lattice, table, points, cells.place)

    def known_rows(self, log_prior: FloatArray, mixing: FloatArray, log_new: float) -> FloatArray:
        """P(known) of each new row under moved; ``mixing`` weighs distances and discriminators."""
        n_new, first = self.places.shape[1], len(log_prior)
        is_new = float(expit(log_new - logit(_NOTHING_NEW)))
        if is_new <= _LEAST_NEW:
            return np.ones(n_new)
        of_move = _pairs_of_curves()[0]
        points = self.points + _PRIOR_SHARE[1:, None]
        table = self.table[:first] + _PRIOR_SHARE[:, None] + _PRIOR_MOVE
        trust = log_prior + _EVIDENCE_POWER * log_sums(table, axis=(1, 2))
        trust = np.exp(trust - trust.max())
        trusted = np.flatnonzero(trust > _LEAST_CANDIDATE)
        steady = np.arange(first, first + len(mixing) - 1)
        moves = _TEMPER * (points[trusted] + _PRIOR_MOVE[of_move])
        fits = np.concatenate([points[steady] + _PRIOR_STRENGTH[of_move], moves])
        parts = np.append(mixing[:-1], mixing[-1] * trust[trusted] / trust[trusted].sum())
        weights = np.exp(fits - fits.max(axis=(1, 2), keepdims=True)).reshape(len(fits), -1)
        found = weights / weights.sum(axis=1, keepdims=True) @ self.lattice.known_at_points
        arrays = chosen_arrays()
        rows = arrays.zeros((n_new,))
        for column, part, known in zip([*steady, *trusted], parts, found, strict=True):
            rows += part * arrays.looked_up(known, self.places[column])
        return np.clip(1 - is_new + is_new * arrays.host(rows), _LEAST_SHARE, 1.0)
