"""The paper's fit of a ROC model: least binomial deviance, for a batch of curves (Sec. 6.1).

All curves share one grid of false-alarm rates. The deviance of every curve at every point of a
lattice of starts is one matrix product; from the best points damped Newton steps
(Levenberg-Marquardt) go down to the minimum, for all curves at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from unseen._frozen import Frozen, frozen_array
from unseen._team import row_blocks
from unseen._types import FloatArray, IntArray
from unseen.roc.models import RocModel
from unseen.roc.sketch import RocSketch

# Value (b,), gradient (b, p) and curvature (b, p, p) of the objective of b curves.
Derivatives: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]

# False-alarm rates at which an empirical ROC is read for a fit.
GRID = frozen_array((np.arange(200) + 0.5) / 200)
# Coarser tolerances are not safe: 1e-5 moves a slope by up to .007.
TOLERANCE = 1e-7
_MAX_ITERATIONS = 200
LARGEST_STEP = 2.0
_LARGEST_DAMPING = 1e10
_FLOOR = 1e-12
_ROUNDING = 1e-13
# A second start must have a slope this far from the first, and not be clearly hopeless.
_OTHER_SLOPE = 0.15
_CLEARLY_WORSE = 1.0
# Numbers per block: what a block touches in one step should stay in the processor's cache.
_BLOCK_SIZE = 20_000


@dataclass(frozen=True, eq=False)
class FittedRoc(Frozen):
    """Fitted curves, one row each; where K classes are fitted together, one row each problem."""

    parameters: FloatArray  # (B, p) or (B, K, p), in the order of ``model.names``
    right_slope: FloatArray  # (B,) or (B, K): the mixture proportion
    deviance: FloatArray  # (B,): the binomial deviance at its minimum


def fit_sketches(sketches: Sequence[RocSketch], model: RocModel) -> FittedRoc:
    """Fit the empirical ROCs of some sketches, read at the points of ``GRID``.

    Examples
    --------
    >>> from unseen.roc import Concave, RocSketch, fit_sketches
    >>> sketch = RocSketch.from_scores([0.1, 0.4, 2.0, 3.0], [0.0, 0.2, 0.3, 0.5])
    >>> fit_sketches([sketch], Concave()).right_slope.round(2)
    array([0.51])
    """
    return fit_roc(GRID, [np.interp(GRID, *sketch.roc()) for sketch in sketches], model)


def fit_roc(false_alarm: ArrayLike, detection: ArrayLike, model: RocModel) -> FittedRoc:
    """Minimise the binomial deviance B_f of Sec. 6.1 for every curve of a batch.

    Parameters
    ----------
    false_alarm : array-like of shape (J,)
        Grid shared by the batch, inside (0, 1).
    detection : array-like of shape (J,) or (B, J)
        One ROC per row, read on the grid.
    model : RocModel
        ``Concave()`` or ``Gaussian()``.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.roc.fit import fit_roc
    >>> from unseen.roc.models import Gaussian
    >>> alpha = np.linspace(0.01, 0.99, 50)
    >>> curves = Gaussian().value(alpha, [[0.1, 2.0], [0.6, 1.0]])
    >>> fit_roc(alpha, curves, Gaussian()).right_slope.round(6)
    array([0.1, 0.6])
    """
    alpha, curves = _checked_batch(false_alarm, detection)
    every = np.arange(len(curves))
    value, complement, _ = model.value_and_gradient(alpha, model.starts)
    screened = -2 * (curves @ np.log(value).T + (1 - curves) @ np.log(complement).T)
    # The best point of the lattice, and the best among points with a quite different slope.
    slope, first = model.right_slope(model.starts), np.argmin(screened, axis=1)
    alike = np.abs(slope - slope[first, np.newaxis]) < _OTHER_SLOPE
    second = np.argmin(np.where(alike, np.inf, screened), axis=1)
    fits = _Fits(model, alpha, curves)
    parameters, deviance = fits.from_starts(first, every)
    fallen = screened[every, first] - deviance
    hopeful = screened[every, second] < deviance + np.maximum(10 * fallen, _CLEARLY_WORSE)
    rows = every[hopeful]
    other = fits.from_starts(second[rows], rows)
    # At a tie the larger slope is better, as ν* is the largest share that fits.
    margin = 1e-9 * (1 + np.abs(deviance[rows]))
    larger = model.right_slope(other[0]) > model.right_slope(parameters[rows])
    better = other[1] < deviance[rows] + np.where(larger, margin, -margin)
    parameters[rows[better]], deviance[rows[better]] = (part[better] for part in other)
    return FittedRoc(parameters, model.right_slope(parameters), deviance)


def _checked_batch(false_alarm: ArrayLike, detection: ArrayLike) -> tuple[FloatArray, FloatArray]:
    alpha = np.asarray(false_alarm, dtype=float)
    curves = np.atleast_2d(np.asarray(detection, dtype=float))
    if alpha.ndim != 1 or not ((alpha > 0) & (alpha < 1)).all():
        raise ValueError(
            "false_alarm must be one grid strictly between 0 and 1; "
            f"got shape {alpha.shape} in [{alpha.min(initial=1):g}, {alpha.max(initial=0):g}]."
        )
    if curves.ndim != 2 or curves.shape[1] != alpha.size:
        raise ValueError(
            f"detection must hold {alpha.size} points per curve, as false_alarm; "
            f"got shape {curves.shape}."
        )
    if not ((curves >= 0) & (curves <= 1)).all():
        raise ValueError(
            f"detection must lie in [0, 1]; got values in [{curves.min():g}, {curves.max():g}]."
        )
    return alpha, curves


def descend(
    place: FloatArray,
    derivatives: Callable[[FloatArray, IntArray], Derivatives],
    step: Callable[[FloatArray, FloatArray, FloatArray, FloatArray], FloatArray],
    inside: Callable[[FloatArray], FloatArray],
) -> tuple[FloatArray, FloatArray]:
    """Levenberg-Marquardt steps for all problems at once; finished problems drop out.

    Problems start at ``place``, (B, ..., p); the answer is where each ended, and the value there.
    ``step(place, gradient, curvature, damping)`` is the minimum of the damped quadratic model.
    """
    value, gradient, curvature = derivatives(place, np.arange(len(place)))
    damping, growth = np.full(len(place), 1e-3), np.full(len(place), 2.0)
    active = np.arange(len(place))
    for _ in range(_MAX_ITERATIONS):
        move = step(place[active], gradient[active], curvature[active], damping[active])
        trial = inside(place[active] + move)
        new = derivatives(trial, active)
        bend = np.einsum("...pq,...q->...p", curvature[active], move)
        tilt = gradient[active] + 0.5 * bend
        flat = (part.reshape(len(active), -1) for part in (move, tilt))
        promised = -np.einsum("bp,bp->b", *flat)
        negligible = _ROUNDING * (1 + np.abs(value[active]))
        fall = value[active] - new[0]
        better = fall > 0
        taken = active[better]
        place[taken] = trial[better]
        value[taken], gradient[taken], curvature[taken] = (part[better] for part in new)
        # The nearer the fall is to what the quadratic model promised, the less damping.
        kept_promise = np.clip(fall / np.maximum(promised, negligible), 0.0, 1.0)
        ease = np.maximum(0.1, 1 - (2 * kept_promise - 1) ** 3)
        damping[active] *= np.where(better, ease, growth[active])
        growth[active] = np.where(better, 2.0, 2 * growth[active])
        longest = np.abs(move).reshape(len(active), -1).max(axis=1)
        still = (longest < TOLERANCE) | (np.abs(promised) < negligible)
        active = active[~still & (damping[active] < _LARGEST_DAMPING)]
        if active.size == 0:
            break
    return place, value


class _Fits:
    """Fits of one model to a batch of curves, in the coordinates of the steps.

    Some parameters are on the log scale, and all are inside a box.
    """

    def __init__(self, model: RocModel, alpha: FloatArray, curves: FloatArray) -> None:
        self.model, self.alpha, self.curves, self.missed = model, alpha, curves, 1 - curves
        self.log_scaled = np.array(model.log_scaled)
        self.lower, self.upper, self.starts = (
            np.log(one, out=np.array(one), where=self.log_scaled)
            for one in (*model.bounds, model.starts)
        )

    def from_starts(self, starts: IntArray, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Parameters (b, p) and deviances (b,) where some rows of the batch end, from their starts.

        A few rows are fitted at a time, so that they stay in the cache.
        """
        place, value = np.clip(self.starts[starts], self.lower, self.upper), np.empty(rows.size)
        inside = partial(np.clip, a_min=self.lower, a_max=self.upper)
        for part in row_blocks(rows.size, max(1, _BLOCK_SIZE // self.alpha.size)):
            derivatives = partial(self.derivatives, rows[part])
            place[part], value[part] = descend(place[part], derivatives, self.step, inside)
        return self.parameters(place), value

    def parameters(self, place: FloatArray) -> FloatArray:
        """The model's own parameters."""
        parameters = np.exp(place, out=np.array(place), where=self.log_scaled)
        # The exponential of the logarithm of a bound may lie beyond it by rounding.
        return np.clip(parameters, *self.model.bounds)

    def derivatives(self, rows: IntArray, place: FloatArray, active: IntArray) -> Derivatives:
        """B_f of the active rows, its gradient, and its expected curvature (Fisher scoring)."""
        parameters = self.parameters(place)
        curves, missed = self.curves[rows[active]], self.missed[rows[active]]
        value, complement, slopes = self.model.value_and_gradient(self.alpha, parameters)
        fit = np.einsum("bj,bj->b", curves, np.log(value))
        deviance = -2 * (fit + np.einsum("bj,bj->b", missed, np.log(complement)))
        gradient = np.einsum("pbj,bj->pb", slopes, 2 * (missed / complement - curves / value)).T
        information = 2 / (value * complement)
        curvature = np.einsum("pbj,qbj->bpq", slopes * information, slopes)
        scale = np.where(self.log_scaled, parameters, 1.0)
        return deviance, scale * gradient, scale[:, :, None] * scale[:, None, :] * curvature

    def step(
        self, place: FloatArray, gradient: FloatArray, curvature: FloatArray, damping: FloatArray
    ) -> FloatArray:
        """Damped Newton step; a coordinate that would leave the box goes to its wall instead."""
        lowest = np.maximum(self.lower - place, -LARGEST_STEP)
        highest = np.minimum(self.upper - place, LARGEST_STEP)
        # A raised diagonal can always be inverted.
        diagonal = np.einsum("bpp->bp", curvature)
        floor = _FLOOR * (1 + diagonal.max(axis=1, keepdims=True))
        raised = damping[:, np.newaxis] * diagonal + floor
        unit = np.eye(diagonal.shape[1])
        damped = curvature + raised[:, :, np.newaxis] * unit
        step = np.zeros_like(place)
        held = ((lowest >= 0) & (gradient > 0)) | ((highest <= 0) & (gradient < 0))
        for _ in range(place.shape[1]):
            # Over the free coordinates, given the steps of those that are held.
            kept = np.where(held, step, 0.0)
            target = -(gradient + np.einsum("bpq,bq->bp", damped, kept))
            coupled = ~held[:, :, None] & ~held[:, None, :]
            reduced = np.where(coupled, damped, unit * held[:, None, :])
            solved = np.linalg.solve(reduced, np.where(held, 0.0, target)[:, :, None])[:, :, 0]
            newton = np.where(held, kept, solved)
            step = np.clip(newton, lowest, highest)
            excess = np.abs(newton - step)
            if not excess.any():
                break
            held |= (excess > 0) & (excess == excess.max(axis=1, keepdims=True))
        return step
