"""Fits of a ROC model: the binomial deviance of Sec. 6.1, and maximum likelihood.

A batch of curves shares one grid of false-alarm rates, so that a thousand bootstrap replicates
are one call whose cost does not depend on how many rows stood behind them. Each curve is a
problem in two or three parameters; all are solved together by damped Newton steps
(Levenberg-Marquardt) that stay inside the bounds of the model. On a shared grid the objective
of every curve at every point of a lattice of starts is one matrix product, and the best points
of the lattice are where the steps begin.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from unseen._types import BoolArray, FloatArray, IntArray
from unseen.roc.models import RocModel
from unseen.roc.newton import Derivatives, End, Objective, newton_in_blocks, row_dot
from unseen.roc.sketch import RocSketch, make_read_only

# A second start must have a slope this far from the first, and not be clearly hopeless.
_OTHER_SLOPE = 0.15
_CLEARLY_WORSE = 1.0
# Numbers per block: what a block touches in one step should stay in the processor's cache.
_BLOCK_SIZE = 20_000


@dataclass(frozen=True, eq=False)
class FittedRoc:
    """Fitted curves, one row each.

    Parameters
    ----------
    parameters : ndarray of shape (B, p)
        In the order of ``model.names``.
    right_slope : ndarray of shape (B,)
        Slope of each curve at its right end: the mixture proportion.
    deviance : ndarray of shape (B,)
        What the fit minimised, at its minimum.
    """

    parameters: FloatArray
    right_slope: FloatArray
    deviance: FloatArray

    def __post_init__(self) -> None:
        make_read_only(self)


class RocFit(Protocol):
    """A way to fit a ROC model."""

    @property
    def grid(self) -> FloatArray:
        """False-alarm rates at which this fit wants to read a curve."""
        ...

    def fit_curves(
        self,
        false_alarm: ArrayLike,
        detection: ArrayLike,
        model: RocModel,
        *,
        n_labelled: int | None = None,
    ) -> FittedRoc:
        """Fit every curve of a batch; ``n_labelled`` is the number of rows of H behind it."""
        ...

    def fit_sketch(self, sketch: RocSketch, model: RocModel) -> FittedRoc:
        """Fit the empirical ROC of a sketch: a batch of one."""
        ...


@dataclass(frozen=True)
class BinomialDeviance:
    """The paper's fit: the binomial deviance B_f between a ROC and the model (Sec. 6.1).

    Parameters
    ----------
    n_points : int, default=200
        Points, evenly spaced in false alarm, at which an empirical ROC is read.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.roc.fit import BinomialDeviance
    >>> from unseen.roc.models import Concave
    >>> fit = BinomialDeviance()
    >>> detection = Concave().value(fit.grid, [0.3, 0.05])
    >>> fitted = fit.fit_curves(fit.grid, detection, Concave())
    >>> fitted.parameters.round(6)
    array([[0.3 , 0.05]])
    """

    n_points: int = 200

    def __post_init__(self) -> None:
        _check_n_points(self.n_points)

    @property
    def grid(self) -> FloatArray:
        """Midpoints of equal cells of [0, 1]."""
        return (np.arange(self.n_points) + 0.5) / self.n_points

    def fit_curves(
        self,
        false_alarm: ArrayLike,
        detection: ArrayLike,
        model: RocModel,
        *,
        n_labelled: int | None = None,
    ) -> FittedRoc:
        """Fit every curve of a batch (see :func:`fit_roc`); ``n_labelled`` makes no difference."""
        return fit_roc(false_alarm, detection, model)

    def fit_sketch(self, sketch: RocSketch, model: RocModel) -> FittedRoc:
        """Fit the empirical ROC of a sketch, read on the grid."""
        return self.fit_curves(self.grid, np.interp(self.grid, *sketch.roc()), model)


@dataclass(frozen=True)
class MaximumLikelihood:
    """Maximum likelihood on the ROC density.

    The placement value ``u = 1 - H(s)`` of a score of F has density f'(u). A row of F with j of
    the m rows of H above it stands at its expected placement, ``(j + 1) / (m + 2)``; rows tied
    with rows of H are spread evenly over what the ties cover. A curve on a grid has the mass of
    each of its cells at the cell's middle.

    Parameters
    ----------
    n_points : int, default=400
        Cells, finer towards both ends, into which a curve is cut; also the number of cells to
        which the placements of a large sketch are summed.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.roc.fit import MaximumLikelihood
    >>> from unseen.roc.models import Concave
    >>> from unseen.roc.sketch import RocSketch
    >>> sketch = RocSketch.from_scores([0.1, 0.4, 2.0, 3.0], [0.0, 0.2, 0.3, 0.5])
    >>> float(MaximumLikelihood().fit_sketch(sketch, Concave()).right_slope[0]) < 1
    True
    """

    n_points: int = 400

    def __post_init__(self) -> None:
        _check_n_points(self.n_points)

    @property
    def grid(self) -> FloatArray:
        """Joints of cells that are equal in the angle asin(sqrt(α)), the ends left out."""
        return np.sin(0.5 * np.pi * np.arange(1, self.n_points) / self.n_points) ** 2

    def fit_curves(
        self,
        false_alarm: ArrayLike,
        detection: ArrayLike,
        model: RocModel,
        *,
        n_labelled: int | None = None,
    ) -> FittedRoc:
        """Fit every curve of a batch by the mass of F between neighbouring false alarms.

        Give ``n_labelled``, the rows of H behind the curves, wherever the curves come from a
        sample: else rows of F above all of H stand at 0, where the density knows no bound.
        """
        alpha, curves = _checked_batch(false_alarm, detection)
        joints = np.concatenate([[0.0], alpha, [1.0]])
        placement = 0.5 * (joints[1:] + joints[:-1])
        if n_labelled is not None:
            placement = (n_labelled * placement + 1) / (n_labelled + 2)
        return self.fit_placements(placement, np.diff(curves, prepend=0.0, append=1.0), model)

    def fit_sketch(self, sketch: RocSketch, model: RocModel) -> FittedRoc:
        """Fit the expected placements of the rows of F among those of H."""
        labelled, new = sketch.coarse_increments(5 * self.n_points)
        return self.fit_placements(*expected_placements(labelled, new, self.n_points), model)

    def fit_placements(self, placement: ArrayLike, count: ArrayLike, model: RocModel) -> FittedRoc:
        """Maximise ``sum_j count_j log f'(u_j)`` for every row of counts.

        Parameters
        ----------
        placement : array-like of shape (J,)
            Placement values, in (0, 1).
        count : array-like of shape (J,) or (B, J)
            Rows of F at each, or their share.
        model : RocModel

        Returns
        -------
        FittedRoc
            With ``deviance`` equal to -2 times the log-likelihood.
        """
        points = np.asarray(placement, dtype=float)
        counts = np.atleast_2d(np.asarray(count, dtype=float))
        log_density = model.log_density_and_gradient(points, model.starts)[0]

        def objective(parameters: FloatArray, rows: IntArray) -> Derivatives:
            return _log_likelihood(model, parameters, points, counts[rows])

        return _fit(model, objective, -2 * counts @ log_density.T, points.size)


def expected_placements(
    labelled: ArrayLike, new: ArrayLike, n_points: int = 400
) -> tuple[FloatArray, FloatArray]:
    """Placement values of the rows of F among those of H, and how many rows stand at each.

    A row of F with j of the m rows of H above it is expected at ``(j + 1) / (m + 2)``. Rows tied
    with h rows of H lie anywhere on a straight piece of the ROC, from ``j / m`` to
    ``(j + h) / m``, and are spread over it in steps of about ``1 / n_points``.

    Parameters
    ----------
    labelled, new : array-like of shape (K,)
        Rows of H and of F in each cell, by falling score; see :meth:`RocSketch.increments`.
    n_points : int, default=400
        One over the widest step.

    Returns
    -------
    placement, count : ndarray

    Examples
    --------
    >>> placement, count = expected_placements([0, 1, 0, 1], [2, 0, 1, 0])
    >>> placement, count
    (array([0.25, 0.5 ]), array([2., 1.]))
    """
    tied, rows = np.asarray(labelled, dtype=float), np.asarray(new, dtype=float)
    n_labelled, above = tied.sum(), np.cumsum(tied) - tied
    held = rows > 0
    tied, rows, above = tied[held], rows[held], above[held]
    pieces = np.maximum(1, np.ceil(n_points * tied / n_labelled)).astype(np.intp)
    first = np.cumsum(pieces) - pieces
    within = np.arange(pieces.sum()) - np.repeat(first - 0.5, pieces)
    spread = np.repeat(above, pieces) + np.repeat(tied / pieces, pieces) * within
    untied = np.repeat(tied == 0, pieces)
    expected = (np.repeat(above, pieces) + 1) / (n_labelled + 2)
    placement = np.where(untied, expected, spread / n_labelled)
    return placement, np.repeat(rows / pieces, pieces)


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

    Returns
    -------
    FittedRoc

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
        return _binomial_deviance(model, parameters, alpha, hit[rows], miss[rows])

    value, complement, _ = model.value_and_gradient(alpha, model.starts)
    screened = -2 * (hit @ np.log(value).T + miss @ np.log(complement).T)
    return _fit(model, objective, screened, alpha.size)


def _binomial_deviance(
    model: RocModel, parameters: FloatArray, alpha: FloatArray, hit: FloatArray, miss: FloatArray
) -> Derivatives:
    """B_f, its gradient, and its expected curvature (Fisher scoring)."""
    value, complement, gradient = model.value_and_gradient(alpha, parameters)
    deviance = -2 * (row_dot(hit, np.log(value)) + row_dot(miss, np.log(complement)))
    score = 2 * (miss / complement - hit / value)
    information = 2 * (hit + miss) / (value * complement)
    return deviance, row_dot(gradient, score).T, _outer(gradient, information)


def _log_likelihood(
    model: RocModel, parameters: FloatArray, placement: FloatArray, count: FloatArray
) -> Derivatives:
    """-2 log-likelihood of placements, its gradient, and the outer product of the scores."""
    log_density, gradient = model.log_density_and_gradient(placement, parameters)
    score = row_dot(gradient, -2 * count).T
    return -2 * row_dot(count, log_density), score, _outer(gradient, 2 * count)


def _fit(
    model: RocModel, objective: Objective, screened: FloatArray, points_per_curve: int
) -> FittedRoc:
    """Fit from the best point of the lattice, then from another one where it may do better."""
    every = np.arange(screened.shape[0])
    first, second = _best_starts(model, screened)
    block = max(1, _BLOCK_SIZE // points_per_curve)
    parameters, deviance = newton_in_blocks(model, objective, model.starts[first], every, block)
    fallen = screened[every, first] - deviance
    hopeful = screened[every, second] < deviance + np.maximum(10 * fallen, _CLEARLY_WORSE)
    rows = every[hopeful]
    other = newton_in_blocks(model, objective, model.starts[second[rows]], rows, block)
    better = _is_better(model, other, (parameters[rows], deviance[rows]))
    parameters[rows[better]], deviance[rows[better]] = (part[better] for part in other)
    return FittedRoc(parameters, model.right_slope(parameters), deviance)


def _best_starts(model: RocModel, screened: FloatArray) -> tuple[IntArray, IntArray]:
    """Best point of the lattice, and the best of those whose slope is quite another."""
    slope = model.right_slope(model.starts)
    first = np.argmin(screened, axis=1)
    alike = np.abs(slope - slope[first, np.newaxis]) < _OTHER_SLOPE
    return first, np.argmin(np.where(alike, np.inf, screened), axis=1)


def _is_better(model: RocModel, new: End, old: End) -> BoolArray:
    """Smaller deviance; of equals the larger slope, as ν* is the largest share that fits."""
    margin = 1e-9 * (1 + np.abs(old[1]))
    larger = model.right_slope(new[0]) > model.right_slope(old[0])
    return np.where(larger, new[1] < old[1] + margin, new[1] < old[1] - margin)


def _outer(gradient: FloatArray, weight: FloatArray) -> FloatArray:
    """Sum over points of weight times the outer product of gradients: (B, p, p)."""
    return np.einsum("pbj,qbj->bpq", gradient * weight, gradient)


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


def _check_n_points(n_points: int) -> None:
    if not isinstance(n_points, Integral) or n_points < 2:
        raise ValueError(f"n_points must be a whole number >= 2; got {n_points!r}.")
