"""Likelihood of a ROC whose known part may have moved, summed over a lattice of curves.

With a score that orders rows by how little they look like labelled ones, new rows have the ROC
``f = u g(. ; Delta, spread) + (1 - u) d(. ; delta)``: g is the curve of what is new, d the curve of
known rows that have moved, both binormal. delta = 0 is a straight right end of slope 1 - u; delta >
0 bends the right end down to 0. docs/drift.md, "The third hypothesis", says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from scipy.special import ndtr, ndtri

from unseen._frozen import Frozen
from unseen._types import FloatArray, IntArray
from unseen.roc.pooled import (
    FALSE_ALARMS,
    N_CELLS,
    CurveFamily,
    Lattices,
    cell_rates,
    log_sums,
    trapezoid,
)

__all__ = [
    "NOTHING_NEW",
    "PRIOR_MOVE",
    "PRIOR_MOVED",
    "PRIOR_SHARE",
    "PRIOR_STRENGTH",
    "SHARES",
    "STRENGTHS",
    "LatticeTables",
    "MovedLattice",
    "strength_of_points",
]

# Every constant here was chosen on development sets (docs/drift.md, "Where constants come from").
SHARES = np.concatenate([[0.0], np.geomspace(0.005, 0.1, 10), np.linspace(0.1, 1.0, 19)[1:]])
STRENGTHS = np.concatenate([[0.0], np.geomspace(0.1, 4.5, 14)])
_SEPARATIONS = np.geomspace(1.0, 5.0, 8)
_SPREADS, _SPREAD_WEIGHT = (1.0, 1.5), (0.6, 0.4)
_GAP = 0.5  # what is new stands out by so much more than what has moved
_SMALL_SHARE = 0.03
_LEAST_MOVE = 0.3  # of a discriminator; less is not told from a straight right end
NOTHING_NEW = 0.5  # prior probability that nothing is new, if known classes moved
_SHARE_DIGITS = 9


def _log(values: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.log(values / values.sum())


def _share_prior() -> FloatArray:
    """Prior of u > 0, ``~ (1 - u)^2 / (u + .03)``: that all known classes vanished is unlikely."""
    prior = trapezoid(SHARES) * (1 - SHARES) ** 2 / (SHARES + _SMALL_SHARE)
    prior[0] = 0.0
    return prior


def _strength_prior() -> FloatArray:
    """Prior of the drift that distances see: mostly small, sometimes not."""
    small, large = (np.exp(-0.5 * (STRENGTHS / sd) ** 2) / sd for sd in (0.3, 1.5))
    return trapezoid(STRENGTHS) * (0.8 * small + 0.2 * large)


PRIOR_SHARE, PRIOR_STRENGTH = _log(_share_prior()), _log(_strength_prior())
# Discriminators see every drift: log-uniform from the least that they can tell.
PRIOR_MOVE = _log((STRENGTHS >= _LEAST_MOVE).astype(float))
PRIOR_MOVED = np.append(np.log(NOTHING_NEW), PRIOR_SHARE[1:] + np.log1p(-NOTHING_NEW))


@dataclass(frozen=True, eq=False)
class LatticeTables(Frozen):
    """Log-likelihoods of some scores, relative to "new rows are as labelled ones".

    Parameters
    ----------
    table : ndarray of shape (C, U, D)
        At u and delta, with the curve of what is new summed out.
    points : ndarray of shape (C, U - 1, P)
        At u > 0 and every pair of curves, prior of the curve of what is new included.
    """

    table: FloatArray
    points: FloatArray


@dataclass(frozen=True, eq=False)
class _Curves(Frozen):
    """Pairs of curves with Delta >= delta + gap, and the curves at the tabled false alarms."""

    strength: IntArray  # (P,), the place of delta among STRENGTHS
    log_prior: FloatArray  # (P,), of Delta and spread given delta
    moved: FloatArray  # (D, A)
    new: FloatArray  # (P, A)

    def pairs(self, share: float) -> CurveFamily:
        """Pooled masses of all pairs by ``share u``, where new rows are this share of the mass."""
        moved = self.moved[self.strength]
        return CurveFamily(FALSE_ALARMS + share * (moved - FALSE_ALARMS), self.new - moved)


def _binormal(separation: FloatArray, spread: float = 1.0) -> FloatArray:
    return ndtr((np.asarray(separation)[:, None] + ndtri(FALSE_ALARMS)) / spread)


@cache
def _curves() -> _Curves:
    separation = np.tile(_SEPARATIONS, len(_SPREADS))
    allowed = separation[:, None] >= STRENGTHS + _GAP
    prior = np.repeat(_SPREAD_WEIGHT, len(_SEPARATIONS))[:, None] * allowed
    prior = prior / np.maximum(prior.sum(axis=0), 1e-300)
    shape, strength = np.nonzero(allowed)
    new = np.concatenate([_binormal(_SEPARATIONS, spread) for spread in _SPREADS])
    log_prior = np.log(prior[shape, strength])
    return _Curves(strength, log_prior, _binormal(STRENGTHS), new[shape])


def strength_of_points() -> IntArray:
    """Place of delta among ``STRENGTHS`` for each pair of curves, (P,)."""
    return _curves().strength


class MovedLattice:
    """Likelihoods of u and delta, at one share r of the new rows in the pooled mass.

    Parameters
    ----------
    share : float
        The share r.
    """

    def __init__(self, share: float) -> None:
        curves = _curves()
        moved = cell_rates(curves.moved, share)
        rate = np.concatenate([moved, curves.pairs(share).rates(share * SHARES[1:], share)])
        self.share = share
        rest = 1 - rate
        self._log_new, self._log_old = np.log(rate, out=rate), np.log(rest, out=rest)

    @classmethod
    def of_cells(
        cls, new: FloatArray, labelled: FloatArray, lattices: Lattices | None = None
    ) -> MovedLattice:
        """The lattice for cells of new and labelled rows, (C, cells) each; columns weigh alike."""
        n_new, n_old = float(new[0].sum()), float(labelled[0].sum())
        share = round(n_new / (n_new + n_old), _SHARE_DIGITS)
        return (lattices or Lattices()).at(cls, share)

    def tables(self, F: FloatArray, H: FloatArray) -> LatticeTables:
        """Log-likelihoods from the cells of new and labelled rows, (C, cells) each."""
        null = F.sum(axis=1) * np.log(self.share) + H.sum(axis=1) * np.log1p(-self.share)
        gain = F @ self._log_new.T + H @ self._log_old.T - null[:, None]
        curves, n_moved, n_u = _curves(), len(STRENGTHS), len(SHARES) - 1
        points = gain[:, n_moved:].reshape(len(F), n_u, -1) + curves.log_prior
        table = np.full((len(F), n_u + 1, n_moved), -np.inf)
        table[:, 0] = gain[:, :n_moved]
        for strength in np.unique(curves.strength):
            table[:, 1:, strength] = log_sums(points[..., curves.strength == strength], axis=2)
        return LatticeTables(table, points)

    def known(self, weights: FloatArray) -> FloatArray:
        """P(known) of a new row in each cell, averaged over points with weights (S, U - 1, P)."""
        flat = weights.reshape(len(weights), -1)
        return np.asarray((flat / flat.sum(axis=1, keepdims=True)) @ self._known_at_points)

    @cached_property
    def _known_at_points(self) -> FloatArray:
        """P(known) of a new row in each cell, at u > 0 and every pair of curves."""
        curves, first = _curves(), len(STRENGTHS)
        moved = curves.moved[curves.strength]
        found = curves.pairs(self.share).masses(self.share * SHARES[1:], moved.ravel())
        found *= (self.share * N_CELLS * (1 - SHARES[1:]))[:, None, None]
        found = found.reshape(-1, N_CELLS)
        found /= np.exp(self._log_new[first : first + len(found)])
        return np.clip(found, 0.0, 1.0, out=found)
