"""The paper's fit of a ROC model: least binomial deviance, for a batch of curves (Sec. 6.1).

All curves share one grid of false-alarm rates, so that a thousand bootstrap replicates are one
call. The deviance of every curve at every point of a lattice of starts is one matrix product; from
the best points damped Newton steps (:mod:`unseen.roc.newton`) go down to the minimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from unseen._frozen import Frozen
from unseen._types import FloatArray, IntArray
from unseen.roc.models import RocModel
from unseen.roc.newton import Derivatives, Objective, newton_in_blocks, row_dot
from unseen.roc.sketch import RocSketch

# A second start must have a slope this far from the first, and not be clearly hopeless.
_OTHER_SLOPE = 0.15
_CLEARLY_WORSE = 1.0
# Numbers per block: what a block touches in one step should stay in the processor's cache.
_BLOCK_SIZE = 20_000


@dataclass(frozen=True, eq=False)
class FittedRoc(Frozen):
    """Fitted curves, one row each.

    Parameters
    ----------
    parameters : ndarray of shape (B, p)
        In the order of ``model.names``.
    right_slope : ndarray of shape (B,)
        Slope of each curve at its right end: the mixture proportion.
    deviance : ndarray of shape (B,)
        The binomial deviance at its minimum.
    """

    parameters: FloatArray
    right_slope: FloatArray
    deviance: FloatArray


@dataclass(frozen=True)
class BinomialDeviance:
    """The paper's fit: the binomial deviance B_f between a ROC and the model (Sec. 6.1).

    Parameters
    ----------
    n_points : int, default=200
        Points, evenly spaced in false alarm, at which an empirical ROC is read.

    Examples
    --------
    >>> from unseen.roc import BinomialDeviance, Concave, RocSketch
    >>> sketch = RocSketch.from_scores([0.1, 0.4, 2.0, 3.0], [0.0, 0.2, 0.3, 0.5])
    >>> BinomialDeviance().fit_sketch(sketch, Concave()).right_slope.round(2)
    array([0.51])
    """

    n_points: int = 200

    def __post_init__(self) -> None:
        if not isinstance(self.n_points, Integral) or self.n_points < 2:
            raise ValueError(f"n_points must be a whole number >= 2; got {self.n_points!r}.")

    @property
    def grid(self) -> FloatArray:
        """Midpoints of equal cells of [0, 1]."""
        return (np.arange(self.n_points) + 0.5) / self.n_points

    def fit_sketch(self, sketch: RocSketch, model: RocModel) -> FittedRoc:
        """Fit the empirical ROC of a sketch, read on the grid: a batch of one."""
        return self.fit_sketches([sketch], model)

    def fit_sketches(self, sketches: Sequence[RocSketch], model: RocModel) -> FittedRoc:
        """Fit the empirical ROCs of some sketches, read on the grid."""
        curves = [np.interp(self.grid, *sketch.roc()) for sketch in sketches]
        return fit_roc(self.grid, curves, model)


def fit_roc(
    false_alarm: ArrayLike,
    detection: ArrayLike,
    model: RocModel,
    weights: ArrayLike | None = None,
) -> FittedRoc:
    """Minimise the binomial deviance B_f of Sec. 6.1 for every curve of a batch.

    Parameters
    ----------
    false_alarm : array-like of shape (J,)
        Grid shared by the batch, inside (0, 1).
    detection : array-like of shape (J,) or (B, J)
        One ROC per row, read on the grid.
    model : RocModel
        ``Concave()`` or ``Gaussian()``.
    weights : array-like of shape (J,), optional
        Weight of each point of the grid; all 1 by default.

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
    weight = np.ones_like(alpha) if weights is None else _checked_weights(weights, alpha.size)
    hit, miss = weight * curves, weight * (1 - curves)

    def objective(parameters: FloatArray, rows: IntArray) -> Derivatives:
        """B_f, its gradient, and its expected curvature (Fisher scoring)."""
        value, complement, gradient = model.value_and_gradient(alpha, parameters)
        deviance = -2 * (
            row_dot(hit[rows], np.log(value)) + row_dot(miss[rows], np.log(complement))
        )
        score = 2 * (miss[rows] / complement - hit[rows] / value)
        information = 2 * (hit[rows] + miss[rows]) / (value * complement)
        curvature = np.einsum("pbj,qbj->bpq", gradient * information, gradient)
        return deviance, row_dot(gradient, score).T, curvature

    value, complement, _ = model.value_and_gradient(alpha, model.starts)
    screened = -2 * (hit @ np.log(value).T + miss @ np.log(complement).T)
    return _fit(model, objective, screened, alpha.size)


def _fit(
    model: RocModel, objective: Objective, screened: FloatArray, points_per_curve: int
) -> FittedRoc:
    """Fit from the best point of the lattice, then from another one where it may do better."""
    every = np.arange(screened.shape[0])
    # The best point of the lattice, and the best among points with a quite different slope.
    slope, first = model.right_slope(model.starts), np.argmin(screened, axis=1)
    alike = np.abs(slope - slope[first, np.newaxis]) < _OTHER_SLOPE
    second = np.argmin(np.where(alike, np.inf, screened), axis=1)
    block = max(1, _BLOCK_SIZE // points_per_curve)
    parameters, deviance = newton_in_blocks(model, objective, model.starts[first], every, block)
    fallen = screened[every, first] - deviance
    hopeful = screened[every, second] < deviance + np.maximum(10 * fallen, _CLEARLY_WORSE)
    rows = every[hopeful]
    other = newton_in_blocks(model, objective, model.starts[second[rows]], rows, block)
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


def _checked_weights(weights: ArrayLike, n_points: int) -> FloatArray:
    weight = np.asarray(weights, dtype=float)
    if weight.shape != (n_points,):
        raise ValueError(
            f"weights must hold one per false alarm, {n_points}; got shape {weight.shape}."
        )
    bad = weight[~(np.isfinite(weight) & (weight >= 0))]
    if bad.size:
        raise ValueError(f"weights must be finite and >= 0; got {bad[0]:g}.")
    if not weight.any():
        raise ValueError(f"weights must not all be 0; got {n_points} zeros.")
    return weight
