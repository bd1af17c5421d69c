"""ROCs of several classes fitted at once, with right slopes that sum to 1 (or to at most 1).

Dynamic programming over the deviance of each class as a function of its slope finds the best slopes
on a grid, whatever the number of local minima; damped Newton steps that keep the condition then
refine them. docs/theory.md has the equations.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from unseen import simplex
from unseen._team import row_blocks
from unseen._types import FloatArray, IntArray
from unseen.roc.fit import LARGEST_STEP, FittedRoc, descend
from unseen.roc.models import Concave, Gaussian, RocModel

_SLOPES = np.linspace(0.0, 1.0, 101)
# Numbers per block: the lattice of all curves of a block at once.
_BLOCK_SIZE = 2_000_000
_ROUNDING = 1e-13
_BISECTIONS = 60
_FLOOR = 1e-9


def fit_jointly(
    false_alarm: ArrayLike, detection: ArrayLike, model: RocModel, closed: bool = True
) -> FittedRoc:
    """Minimise the sum of the binomial deviances over curves whose slopes sum to 1.

    ``detection`` holds the ROCs of K classes on the grid ``false_alarm``, for one problem (K, G) or
    for each of a batch (B, K, G). If not ``closed``, the slopes may sum to less than 1.
    """
    alpha, curves = np.asarray(false_alarm, dtype=float), np.asarray(detection, dtype=float)
    curves = curves.reshape(-1, *curves.shape[-2:])
    by_slope = by_slope_of(model)
    starts = _best_places(by_slope, alpha, curves, closed)
    places, deviance = descend(
        starts,
        lambda places, problems: _derivatives(by_slope, alpha, curves[problems], places),
        partial(_step, by_slope, closed),
        by_slope.inside,
    )
    shares = simplex.project if closed else simplex.project_open
    return FittedRoc(by_slope.parameters(places), shares(places[..., 0]), deviance)


class _BySlope:
    """The Gaussian model by slope at the right end and shape: γ is the slope, Δ the shape."""

    def __init__(self, model: RocModel) -> None:
        self.model = model
        self.shapes = np.array([0.0, 0.06, *np.arange(0.125, 5.0, 0.125), *np.arange(5.0, 10.0)])
        self.lower, self.upper = model.bounds

    def parameters(self, places: FloatArray) -> FloatArray:
        """The model's own parameters (γ, Δ)."""
        return places

    def jacobian(self, places: FloatArray) -> FloatArray:
        """Derivatives of the parameters (rows) over the coordinates (columns)."""
        return np.broadcast_to(np.eye(2), (*places.shape, 2))

    def lattice(self, alpha: FloatArray, slopes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return f and 1 - f at every slope (first axis) and shape (second)."""
        # One g for all slopes: Φ is slow.
        straight = np.column_stack([np.zeros_like(self.shapes), self.shapes])
        proper, missed, _ = self.model.value_and_gradient(alpha, straight)
        gamma = slopes[:, np.newaxis, np.newaxis]
        return (1 - gamma) * proper + gamma * alpha, (1 - gamma) * missed + gamma * (1 - alpha)

    def inside(self, places: FloatArray) -> FloatArray:
        """The nearest places within the bounds."""
        return np.clip(places, self.lower, self.upper)


class _ConcaveBySlope(_BySlope):
    """The concave model: ``Δ = s t`` and ``γ = s (1 - t) / (1 - s t)`` have slope s, whatever t.

    t is the part of the slope that the curve g brings, and the shape is log t.
    """

    def __init__(self, model: RocModel) -> None:
        self.model = model
        # At s = t = 1 the curve is the diagonal, as it is at s = 1 with any other t.
        self.lower, self.upper = np.array([1e-6, np.log(1e-6)]), np.array([1.0, np.log(0.999)])
        small = np.linspace(self.lower[1], -6.0, 12, endpoint=False)
        self.shapes = np.append(small, np.linspace(-6.0, self.upper[1], 32))

    def parameters(self, places: FloatArray) -> FloatArray:
        slope = places[..., 0]
        delta = slope * np.exp(places[..., 1])
        return np.stack([(slope - delta) / (1 - delta), delta], axis=-1)

    def jacobian(self, places: FloatArray) -> FloatArray:
        slope, part = places[..., 0], np.exp(places[..., 1])
        rest = (1 - slope * part) ** 2
        over_slope = np.stack([(1 - part) / rest, part], axis=-1)
        over_shape = np.stack([-slope * (1 - slope) * part / rest, slope * part], axis=-1)
        return np.stack([over_slope, over_shape], axis=-1)

    def lattice(self, alpha: FloatArray, slopes: FloatArray) -> tuple[FloatArray, FloatArray]:
        places = np.stack(np.meshgrid(slopes, self.shapes, indexing="ij"), axis=-1)
        parameters = self.parameters(self.inside(places))
        value, complement, _ = self.model.value_and_gradient(alpha, parameters)
        return value, complement


def by_slope_of(model: RocModel) -> _BySlope:
    """The model in coordinates (slope, shape); raise an error if the model has none."""
    if isinstance(model, Gaussian):
        return _BySlope(model)
    if isinstance(model, Concave) and model.mu is not None:
        return _ConcaveBySlope(model)
    raise ValueError(f"model must be Gaussian() or Concave() with a fixed mu; got {model!r}.")


def _best_places(
    by_slope: _BySlope, alpha: FloatArray, curves: FloatArray, closed: bool
) -> FloatArray:
    """Slopes and shapes of the least deviance on a lattice, by dynamic programming.

    At a slope the least deviance over the shapes is the vertex of a parabola through three of them.
    """
    log_value, log_complement = (np.log(part) for part in by_slope.lattice(alpha, _SLOPES))
    log_odds = (log_value - log_complement).reshape(-1, alpha.size)
    at_zero = -2 * log_complement.sum(axis=-1)
    places, shapes = np.empty((*curves.shape[:2], 2)), by_slope.shapes
    for part in row_blocks(len(curves), max(1, _BLOCK_SIZE // (curves.shape[1] * len(log_odds)))):
        gain = curves[part] @ log_odds.T
        deviance = at_zero - 2 * gain.reshape(*gain.shape[:2], *at_zero.shape)
        middle = np.clip(np.argmin(deviance, axis=-1), 1, shapes.size - 2)
        left, centre, right = (
            np.take_along_axis(deviance, middle[..., np.newaxis] + side, -1)[..., 0]
            for side in (-1, 0, 1)
        )
        to_left = shapes[middle] - shapes[middle - 1]
        to_right = shapes[middle + 1] - shapes[middle]
        fall_left, fall_right = (left - centre) / to_left, (right - centre) / to_right
        bend = (fall_left + fall_right) / (to_left + to_right)
        tilt = (fall_right * to_left - fall_left * to_right) / (to_left + to_right)
        shift = np.clip(-tilt / np.maximum(2 * bend, _ROUNDING), -to_left, to_right)
        chosen = cheapest_slopes(centre + tilt * shift + bend * shift**2, closed)
        at_least = np.take_along_axis(shapes[middle] + shift, chosen[..., np.newaxis], -1)
        places[part] = np.stack([_SLOPES[chosen], at_least[..., 0]], axis=-1)
    return by_slope.inside(places)


def cheapest_slopes(profile: FloatArray, closed: bool = True) -> IntArray:
    """Steps (B, K) of a grid, one per class, that sum to the whole at the least total cost.

    ``profile`` (B, K, S) is the cost of each class at the shares 0, 1/(S-1), ..., 1.
    """
    n_steps = profile.shape[-1]
    total, own = np.ogrid[:n_steps, :n_steps]
    before = total - own
    cost, choices = profile[:, 0], []
    for one in np.moveaxis(profile, 1, 0)[1:]:
        sums = np.where(before >= 0, cost[:, before], np.inf) + one[:, np.newaxis]
        choices.append(np.argmin(sums, axis=-1))
        cost = np.min(sums, axis=-1)
    rest = np.full(len(profile), n_steps - 1) if closed else np.argmin(cost, axis=-1)
    steps = np.empty(profile.shape[:2], dtype=np.intp)
    for label in range(len(choices), 0, -1):
        steps[:, label] = choices[label - 1][np.arange(len(rest)), rest]
        rest = rest - steps[:, label]
    steps[:, 0] = rest
    return steps


def _derivatives(
    by_slope: _BySlope, alpha: FloatArray, curves: FloatArray, places: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Total deviance (B,), its gradient (B, K, 2) and expected curvature (B, K, 2, 2)."""
    parameters = by_slope.parameters(places)
    value, complement, slopes = by_slope.model.value_and_gradient(alpha, parameters)
    deviance = -2 * (curves * np.log(value) + (1 - curves) * np.log(complement))
    score = 2 * ((1 - curves) / complement - curves / value)
    information = 2 / (value * complement)
    gradient = np.einsum("pbkj,bkj->bkp", slopes, score)
    curvature = np.einsum("pbkj,bkj,qbkj->bkpq", slopes, information, slopes)
    chain = by_slope.jacobian(places)
    return (
        deviance.sum(axis=(1, 2)),
        np.einsum("bkpq,bkp->bkq", chain, gradient),
        np.einsum("bkpq,bkpr,bkrs->bkqs", chain, curvature, chain),
    )


def _step(
    by_slope: _BySlope,
    closed: bool,
    places: FloatArray,
    gradient: FloatArray,
    curvature: FloatArray,
    damping: FloatArray,
) -> FloatArray:
    """Least point of the damped quadratic model: shapes are eliminated, slopes keep the sum."""
    raise_by = 1 + damping[:, np.newaxis]
    by_shape = raise_by * curvature[..., 1, 1] + _FLOOR
    shape, downhill = places[..., 1], -gradient[..., 1]
    held = ((shape <= by_slope.lower[1]) & (downhill < 0)) | (
        (shape >= by_slope.upper[1]) & (downhill > 0)
    )
    mixed = np.where(held, 0.0, curvature[..., 0, 1])
    pull = np.where(held, 0.0, gradient[..., 1])
    slopes = places[..., 0]
    moved = share_out(
        gradient[..., 0] - mixed * pull / by_shape,
        raise_by * curvature[..., 0, 0] - mixed**2 / by_shape + _FLOOR,
        by_slope.lower[0] - slopes,
        by_slope.upper[0] - slopes,
        1 - slopes.sum(axis=-1),
        closed,
    )
    reshaped = np.clip(-(pull + mixed * moved) / by_shape, -LARGEST_STEP, LARGEST_STEP)
    return np.stack([moved, reshaped], axis=-1)


def share_out(
    gradient: FloatArray,
    curvature: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    total: FloatArray,
    closed: bool = True,
) -> FloatArray:
    """Minimise ``sum_i g_i d_i + c_i d_i^2 / 2`` over steps d in a box that sum to a total, (B,).

    All other arrays are (B, K). The objective has the same slope -λ in all classes inside the box,
    and the sum of the steps falls with λ, which is found by bisection.
    """

    def steps(price: FloatArray) -> FloatArray:
        return np.clip(-(gradient + price[:, np.newaxis]) / curvature, lower, upper)

    low = np.min(-gradient - curvature * upper, axis=-1)
    high = np.max(-gradient - curvature * lower, axis=-1)
    if not closed:
        low, high = np.maximum(low, 0.0), np.maximum(high, 0.0)
        high = np.where(steps(np.zeros_like(total)).sum(axis=-1) <= total, 0.0, high)
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        too_much = steps(middle).sum(axis=-1) > total
        low, high = np.where(too_much, middle, low), np.where(too_much, high, middle)
    # A class with hardly any curvature jumps between its walls within the rounding of the price:
    # interpolate to meet the total.
    most, least = steps(low), steps(high)
    gap = (most - least).sum(axis=-1)
    way = np.divide(total - least.sum(axis=-1), gap, out=np.zeros_like(total), where=gap > 0)
    return least + np.clip(way, 0.0, 1.0)[:, np.newaxis] * (most - least)
