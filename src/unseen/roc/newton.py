"""Damped Newton steps (Levenberg-Marquardt) for many small problems at once, inside a box.

Each row of a batch is a problem in two or three parameters. A row leaves the batch as soon as its
steps are below the tolerance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from unseen._types import BoolArray, FloatArray, IntArray
from unseen.roc.models import RocModel

__all__ = ["Derivatives", "End", "Objective", "descend", "newton_in_blocks", "row_dot"]

# Value (b,), gradient (b, p) and curvature (b, p, p) of the objective of b curves.
Derivatives: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]
# (parameters, rows of the batch) -> derivatives
Objective: TypeAlias = Callable[[FloatArray, IntArray], Derivatives]
# Parameters (b, p) and deviance (b,) where a fit ended.
End: TypeAlias = tuple[FloatArray, FloatArray]

# Coarser tolerances are not safe: 1e-5 moves a slope by up to .007.
TOLERANCE = 1e-7
_MAX_ITERATIONS = 200
LARGEST_STEP = 2.0
_LARGEST_DAMPING = 1e10
_FLOOR = 1e-12
_ROUNDING = 1e-13


def newton_in_blocks(
    model: RocModel, objective: Objective, start: FloatArray, rows: IntArray, block: int
) -> End:
    """Damped Newton steps for a few rows at a time, so that they stay in the cache."""
    parameters, deviance = np.empty_like(start), np.empty(rows.size)
    for first in range(0, rows.size, block):
        part = slice(first, first + block)
        parameters[part], deviance[part] = _newton(model, objective, start[part], rows[part])
    return parameters, deviance


def _newton(model: RocModel, objective: Objective, start: FloatArray, rows: IntArray) -> End:
    """Damped Newton steps of some rows of the batch, from parameters to parameters."""
    space = _Coordinates(model)
    place, value = descend(
        space.inside(space.from_parameters(start)),
        lambda place, active: space.derivatives(objective, place, rows[active]),
        space.step,
        space.inside,
    )
    return space.to_parameters(place), value


def descend(
    place: FloatArray,
    derivatives: Callable[[FloatArray, IntArray], Derivatives],
    step: Callable[[FloatArray, FloatArray, FloatArray, FloatArray], FloatArray],
    inside: Callable[[FloatArray], FloatArray],
) -> End:
    """Levenberg-Marquardt steps for all problems at once; finished problems drop out.

    Parameters
    ----------
    place : ndarray of shape (B, ..., p)
        Where each problem starts.
    derivatives : callable
        ``derivatives(place, problems)``: value, gradient and curvature at the places of these.
    step : callable
        ``step(place, gradient, curvature, damping)``: the minimum of the damped quadratic model.
    inside : callable
        The nearest place within the bounds.

    Returns
    -------
    place, value : ndarray
        Where each problem ended, and the value there.
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
        promised = -row_dot(move.reshape(len(active), -1), tilt.reshape(len(active), -1))
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


class _Coordinates:
    """Parameters as the steps see them: some on the log scale, all inside a box."""

    def __init__(self, model: RocModel) -> None:
        self.log_scaled = np.array(model.log_scaled)
        self.bounds = model.bounds
        self.lower, self.upper = (self.from_parameters(bound) for bound in model.bounds)

    def from_parameters(self, parameters: FloatArray) -> FloatArray:
        return np.log(parameters, out=np.array(parameters), where=self.log_scaled)

    def to_parameters(self, place: FloatArray) -> FloatArray:
        parameters = np.exp(place, out=np.array(place), where=self.log_scaled)
        # The exponential of the logarithm of a bound may lie beyond it by rounding.
        return np.clip(parameters, *self.bounds)

    def inside(self, place: FloatArray) -> FloatArray:
        return np.clip(place, self.lower, self.upper)

    def derivatives(self, objective: Objective, place: FloatArray, rows: IntArray) -> Derivatives:
        """Value, gradient and curvature by the coordinates (chain rule)."""
        parameters = self.to_parameters(place)
        value, gradient, curvature = objective(parameters, rows)
        scale = np.where(self.log_scaled, parameters, 1.0)
        return value, scale * gradient, scale[:, :, None] * scale[:, None, :] * curvature

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
        damped = curvature + raised[:, :, np.newaxis] * np.eye(diagonal.shape[1])
        step = np.zeros_like(place)
        held = ((lowest >= 0) & (gradient > 0)) | ((highest <= 0) & (gradient < 0))
        for _ in range(place.shape[1]):
            newton = _solve_free(damped, gradient, step, held)
            step = np.clip(newton, lowest, highest)
            excess = np.abs(newton - step)
            if not excess.any():
                break
            held |= (excess > 0) & (excess == excess.max(axis=1, keepdims=True))
        return step


def _solve_free(
    matrix: FloatArray, gradient: FloatArray, step: FloatArray, held: BoolArray
) -> FloatArray:
    """Newton step over the free coordinates, given the steps of those that are held."""
    free = ~held
    kept = np.where(held, step, 0.0)
    target = -(gradient + np.einsum("bpq,bq->bp", matrix, kept))
    coupled = free[:, :, None] & free[:, None, :]
    reduced = np.where(coupled, matrix, np.eye(matrix.shape[1]) * held[:, None, :])
    solution = np.linalg.solve(reduced, np.where(free, target, 0.0)[:, :, None])[:, :, 0]
    return np.where(held, kept, solution)


def row_dot(left: FloatArray, right: FloatArray) -> FloatArray:
    """Sum of products along the last axis."""
    return np.einsum("...j,...j->...", left, right)
