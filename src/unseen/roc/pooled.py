"""Likelihood of a ROC from the pooled order of two samples, summed over a lattice of curves.

Given the order of the rows of F and H by their scores, the labels F and H are independent Bernoulli
draws whose probabilities follow from the curve: a likelihood that holds the noise of both samples.
docs/theory.md ("The likelihood of a ROC") derives the likelihood and states the prior.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from scipy.special import ndtr, ndtri

from unseen._arrays import arrays_of
from unseen._frozen import Frozen
from unseen._team import row_blocks, side_by_side
from unseen._types import Array, FloatArray
from unseen.roc.models import Concave

N_CELLS = 200  # at most 256: the place of a row is one byte
_EDGES = np.linspace(0, 1, N_CELLS + 1)
_COARSE, _FINE = (41, 13), (61, 21)  # points of γ and of Δ
_SEPARATIONS = (0.6, 1.0, 4.5)  # the least with few rows, the least with many, the largest
_FEW_ROWS, _MANY_ROWS = 100, 2_000
# Beyond this number of rows the coarse lattice only says where to look.
_COARSE_ROWS, _ZOOM = 2000, 50
_CONCAVE_DELTA = np.array([0.02, 0.05, 0.1, 0.2, 0.35])
_CONCAVE_MU = (0.5, 1.0, 2.0)
_CONCAVE_WEIGHT = 0.02
_EVIDENCE_POWER = 1 / 3
_NEGLIGIBLE, _LITTLE = 1e-6, 1e-4
_DIGITS = 9
_LEAST_RATE = 1e-9
_CURVES = 64
_MOST_LATTICES = 6  # of a kind; windows of about one length ask for fewer
# False-alarm rates at which curves are tabled: dense where a good ROC turns.
_LEFT, _RIGHT = np.geomspace(1e-9, 1e-2, 80), 1 - np.geomspace(1e-6, 0.01)
FALSE_ALARMS = np.unique(np.concatenate([[0.0], _LEFT, np.linspace(0.01, 1, 200), _RIGHT]))
# Concave curves, (S, A).
_THETA = np.column_stack([np.zeros_like(_CONCAVE_DELTA), _CONCAVE_DELTA])
_CONCAVE = np.concatenate([Concave(mu).value(FALSE_ALARMS, _THETA) for mu in _CONCAVE_MU])

_one_at_a_time = Lock()  # of threads that look for a lattice

Lattice = TypeVar("Lattice")


class Lattices:
    """The last few lattices of each kind, kept as long as their owner lives.

    A record of scores owns one for all rounds of a reading; windows of one pool share the pool's.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[Any, ...], Any] = {}

    def at(self, make: Callable[..., Lattice], *key: Hashable) -> Lattice:
        """The lattice ``make(*key)``, made only if it is not among the last few of its kind."""
        with _one_at_a_time:
            found: Lattice | None = self._kept.get((make, *key))
        if found is None:
            found = make(*key)
        with _one_at_a_time:
            self._kept.pop((make, *key), None)
            self._kept[make, *key] = found
            of_kind = [one for one in self._kept if one[0] is make]
            for oldest in of_kind[:-_MOST_LATTICES]:
                del self._kept[oldest]
        return found


@dataclass(frozen=True, eq=False)
class PooledCells(Frozen):
    """Rows of F and of H in equal cells of the pooled order, high scores first."""

    new: FloatArray  # (C, cells): mass of F in each cell, for each candidate score
    labelled: FloatArray  # (C, cells): mass of H
    place: Array  # (C, n_F): the cell in which each row of F stands, on the device of the rows


def spread_cells(new: Array, labelled: Array) -> tuple[FloatArray, FloatArray]:
    """Spread the masses (C, steps) of steps, by falling score, over equal cells (C, cells).

    The rows of a step are tied, so that a step across several cells is shared out evenly; steps of
    no mass count as none.
    """
    arrays, both = arrays_of(new), new + labelled
    start = arrays.zeros((len(new),))
    pooled, F, H = (
        arrays.xp.column_stack([start, mass.cumsum(1)]) for mass in (both, new, labelled)
    )
    # One call for all candidates: each has an interval of the axis to itself.
    place = arrays.put(2.0 * np.arange(len(new))[:, None])
    edges = (pooled / both.sum(1)[:, None] + place).ravel()
    grid = arrays.put(_EDGES) + place
    F, H = (arrays.host(arrays.interpolated(grid, edges, sums.ravel())) for sums in (F, H))
    return np.diff(F), np.diff(H)


def fitted_lattice(
    cells: PooledCells,
    log_prior: FloatArray,
    small_share: float = np.inf,
    near: CurveLattice | None = None,
    lattices: Lattices | None = None,
    fine: bool = True,
) -> WeighedLattice:
    """A lattice that is fine where the posterior has its mass, with this posterior.

    ``log_prior`` (C,) weighs the candidate scores; ``small_share`` is that of
    :func:`share_density`. A lattice ``near``, fitted to much the same cells, is kept where it
    still holds the mass; ``lattices`` keeps coarse lattices, of all γ and Δ, for the next call. If
    not ``fine``, the coarse lattice itself is the answer.
    """
    n_rows = float((cells.new + cells.labelled).sum(axis=1).max())
    # Rounded, as sums of equal masses must have equal lattices.
    share = round(float(cells.new.sum(axis=1).max()) / n_rows, _DIGITS)
    low, high = separation_limits(n_rows * share * (1 - share))
    key = share, (round(low, _DIGITS), round(high, _DIGITS)), small_share
    lattice = (lattices or Lattices()).at(CurveLattice, *key)
    if not fine:
        return lattice.weighed(cells, log_prior)
    if near is not None and (near.share, near.limits, near.small_share) == key:
        again = near.weighed(cells, log_prior)
        if near.holds(again.weight.sum(axis=0)):
            return again
    for zoom in count():
        most_rows = _COARSE_ROWS * _ZOOM**zoom
        tempered = lattice.weighed(cells, log_prior, most_rows)
        lattice = lattice.zoomed(tempered.weight.sum(axis=0))
        if most_rows >= n_rows:
            break
    return lattice.weighed(cells, log_prior)


def separation_limits(n_rows: float) -> tuple[float, float]:
    """Least and largest separation Δ between H and the rest of F.

    ``n_rows`` is the effective number of rows, ``n_F n_H / (n_F + n_H)``. The rest must be visible
    at least a little, or nothing could be said where F and H look alike.
    """
    few, many, largest = _SEPARATIONS
    # With very many rows the few that overlap at the largest Δ would be seen, and none are.
    growth = min(max(1.0, n_rows / _MANY_ROWS) ** 0.25, 2.0)
    return min(few * max(1.0, (n_rows / _FEW_ROWS) ** 0.5), many), largest * growth


def share_density(share: FloatArray, small_share: float) -> FloatArray:
    """Prior density of the share ``u = 1 - γ`` of the rest, ``~ 1 / (u + small_share)``.

    The density is uniform in log u well above ``small_share``, and uniform in u below; inf makes
    the density uniform everywhere.
    """
    if np.isinf(small_share):
        return np.ones_like(share)
    return 1 / ((share + small_share) * np.log1p(1 / small_share))


class CurveLattice:
    """Curves at all points of a lattice of γ and shapes, read at the edges of the cells.

    F is the share ``share`` of the pooled rows. A priori log Δ is uniform between ``limits``, and
    γ as :func:`share_density` says. Without points of γ and Δ the lattice is a coarse one of all.
    """

    def __init__(
        self,
        share: float,
        limits: tuple[float, float],
        small_share: float,
        gamma: FloatArray | None = None,
        separations: FloatArray | None = None,
    ) -> None:
        gamma = np.linspace(0, 1, _COARSE[0]) if gamma is None else gamma
        if separations is None:
            separations = np.geomspace(*limits, _COARSE[1])
        self.gamma, self.separations, self.share = gamma, separations, share
        self.limits, self.small_share = limits, small_share
        # Binormal curves, with a slope of 0 at the right end, then the concave ones.
        shapes = np.concatenate([ndtr(ndtri(FALSE_ALARMS) + separations[:, None]), _CONCAVE])
        slope = np.append(np.zeros(len(separations)), np.tile(_CONCAVE_DELTA, len(_CONCAVE_MU)))
        column = gamma[:, None]
        self.slope = (column + (1 - column) * slope).ravel()
        straight = np.broadcast_to(FALSE_ALARMS, shapes.shape)
        self.rate = CurveFamily(straight, shapes - straight).rates(share * (1 - gamma), share)
        by_share = trapezoid(gamma) * share_density(1 - gamma, small_share)
        low, high = np.log(limits)
        binormal = (1 - _CONCAVE_WEIGHT) * trapezoid(np.log(separations)) / (high - low)
        by_shape = np.append(binormal, np.full(len(_CONCAVE), _CONCAVE_WEIGHT / len(_CONCAVE)))
        self.log_prior = np.add.outer(np.log(by_share), np.log(by_shape)).ravel()

    @cached_property
    def log_rates(self) -> tuple[FloatArray, FloatArray]:
        """Log-probabilities of a row of F and of H, (cells, L) each."""
        rest = 1 - self.rate
        return np.log(self.rate).T, np.log(rest, out=rest).T

    @cached_property
    def known(self) -> FloatArray:
        """Probability that a row of F in a cell is one of H, ν / f' and at most 1, (L, cells)."""
        known = 1 / self.rate
        known -= 1
        known *= self.slope[:, None] * (self.share / (1 - self.share))
        return np.minimum(known, 1.0, out=known)

    def holds(self, mass: FloatArray) -> bool:
        """Whether all of the mass (L,) is inside, and not at an end that could be further out."""
        for grid, along, limits in self._axes(mass):
            at_limit = np.isclose(grid[[0, -1]], limits)
            if not (at_limit | (along[[0, -1]] <= _LITTLE * along.max())).all():
                return False
        return True

    def zoomed(self, mass: FloatArray) -> CurveLattice:
        """A finer lattice over the part of this one that carries the mass (L,), and a bit more."""
        spans = []
        for grid, along, _ in self._axes(mass):
            # If no point carries mass, the concave curves have all of it.
            inside = np.flatnonzero((along > _NEGLIGIBLE * along.max()) | (along.max() == 0))
            ends = max(inside[0] - 1, 0), min(inside[-1] + 1, len(grid) - 1)
            spans.append((float(grid[ends[0]]), float(grid[ends[1]])))
        finer = np.linspace(*spans[0], _FINE[0]), np.geomspace(*spans[1], _FINE[1])
        return CurveLattice(self.share, self.limits, self.small_share, *finer)

    def _axes(
        self, mass: FloatArray
    ) -> tuple[tuple[FloatArray, FloatArray, tuple[float, float]], ...]:
        """Each axis, the mass at its points (of Δ that of the binormal curves), and its limits."""
        table = mass.reshape(len(self.gamma), -1)
        by_separation = table[:, : len(self.separations)].sum(axis=0)
        return (
            (self.gamma, table.sum(axis=1), (0.0, 1.0)),
            (self.separations, by_separation, self.limits),
        )

    def weighed(
        self, cells: PooledCells, log_prior: FloatArray, most_rows: float = np.inf
    ) -> WeighedLattice:
        """The lattice with the posterior of its points, given cells of candidates.

        The likelihood is tempered to that of at most ``most_rows`` rows.
        """
        used = np.isfinite(log_prior)
        F, H = cells.new[used], cells.labelled[used]
        null = F.sum(axis=1) * np.log(self.share) + H.sum(axis=1) * np.log1p(-self.share)
        gain = F @ self.log_rates[0] + H @ self.log_rates[1] - null[:, None]
        fit = gain * min(1.0, most_rows / (F + H).sum(axis=1).max()) + self.log_prior
        evidence = log_sums(fit, axis=1)
        mixing = log_prior[used] + _EVIDENCE_POWER * evidence
        weight = np.zeros((len(used), self.rate.shape[0]))
        weight[used] = np.exp(fit - evidence[:, None] + (mixing - log_sums(mixing))[:, None])
        return WeighedLattice(self, float(log_sums(log_prior[used] + evidence)), weight)


@dataclass(frozen=True, eq=False)
class WeighedLattice:
    """A lattice, and what it says of some cells."""

    lattice: CurveLattice
    log_bayes_factor: float  # of the curves against "F is H"
    weight: FloatArray  # (C, L): posterior of candidates and lattice points; sums to 1


def cell_rates(curves: FloatArray, share: float) -> FloatArray:
    """Probability η that a row is one of F, (B, cells), from ROCs (B, A) at tabled false alarms.

    F is the share ``share`` of the pooled rows. η is a mean over each cell: no slope is needed.
    """
    straight, t = np.broadcast_to(FALSE_ALARMS, curves.shape), np.array([share])
    parts = row_blocks(len(curves), _CURVES)
    families = (CurveFamily(straight[part], curves[part] - straight[part]) for part in parts)
    return np.concatenate([family.rates(t, share) for family in families])


@dataclass(frozen=True, eq=False)
class CurveFamily:
    """Curves of the pooled mass, ``start + t direction`` at the tabled false alarms, for many t.

    Both have shape (B, A), and every curve that they make rises from 0 to 1.
    """

    start: FloatArray
    direction: FloatArray

    def masses(self, t: FloatArray, heights: FloatArray) -> FloatArray:
        """Rise of other curves (B A,), all in a row, over equal cells of mass, (T, B, cells)."""
        found = np.empty((len(t), len(self.start), N_CELLS))
        # One call for many curves: each has an interval of the axis to itself.
        place = 2.0 * np.arange(len(self.start))[:, None]
        edges, start = _EDGES + place, self.start + place

        def fill(place: int) -> None:
            mass = self.direction * t[place]
            mass += start
            at_edges = np.interp(edges, mass.ravel(), heights)
            np.subtract(at_edges[:, 1:], at_edges[:, :-1], out=found[place])

        side_by_side(fill, range(len(t)))
        return found

    def rates(self, t: FloatArray, share: float) -> FloatArray:
        """Mean η in the cells where rows of F are this share of the mass, (T B, cells)."""
        labelled = self.masses(t, np.tile(FALSE_ALARMS, len(self.start)))
        labelled *= (share - 1) * N_CELLS
        labelled += 1
        rates = np.clip(labelled, _LEAST_RATE, 1 - _LEAST_RATE, out=labelled)
        return rates.reshape(-1, N_CELLS)


def log_sums(values: FloatArray, axis: int | tuple[int, ...] | None = None) -> Any:
    """``log sum exp`` along an axis, without the checks that make SciPy's function slow here."""
    largest = values.max(axis=axis, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(values - largest).sum(axis=axis)) + largest.squeeze(axis)


def trapezoid(grid: FloatArray) -> FloatArray:
    """Weights of the trapezoidal rule."""
    steps = np.diff(grid)
    return (np.append(steps, 0.0) + np.append(0.0, steps)) / 2
