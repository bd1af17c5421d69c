"""Many ridge-penalised logistic regressions on one design, solved together.

Problem c minimises ``w' w / 2 + C_c sum_i s_ic loss(t_ic, (B W w)_i)`` over w, with B the kernel
factor and W its whitening; the intercept is free. Problems differ in C, in row weights s (folds are
weights of zero) and in targets t, and share B: one step of preconditioned nonlinear conjugate
gradients for all of them is two matrix products. docs/architecture.md has the numerical design.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from unseen._frozen import Frozen
from unseen._types import BoolArray, FloatArray, IntArray
from unseen.scores.kernel import KernelFactor, row_blocks

FEW_OUTPUTS = 12
SAMPLE = 4  # rows per coefficient behind the preconditioner
REFRESH = (5, 12, 30, 60)  # iterations at which the problems still at work get a new one
WATCHED = (4, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50)  # iterations at which hopeless ones may leave
# A decrement has stalled when its least value of three steps is not below half of that of the four
# steps before, and it is so small that rounding may be the reason.
STALLED_STEPS, STALLED_BEFORE, STALLED_TOL = 3, 4, 5e-3


@dataclass(frozen=True, eq=False)
class Problems(Frozen):
    """What each regression fits: its ``C``, and its group of row weights and targets.

    Parameters
    ----------
    C : ndarray of shape (problems,)
        Inverse strength of the penalty.
    group : ndarray of shape (problems,)
        Column of ``weights`` and ``targets`` for each problem.
    weights : ndarray of shape (n, groups)
        Row weights; zero leaves a row out.
    targets : ndarray of shape (n, groups, K) or (n, 1, K)
        Shares of each class in a row; K = 1 is the binary case (share of the second class).
        A single group of targets serves all problems.
    """

    C: FloatArray
    group: IntArray
    weights: FloatArray
    targets: FloatArray


@dataclass(frozen=True, eq=False)
class Solution(Frozen):
    """Fits of all problems.

    Parameters
    ----------
    coefficients : ndarray of shape (r + 1, problems, K)
        Weights of the kernel functions, and the intercept last.
    values : ndarray of shape (n, problems, K)
        Fitted log-odds (K = 1) or logits of every row, including rows of weight zero.
    decrement : ndarray of shape (problems,)
        Newton decrement at the last step, as a share of the null loss: about twice the distance
        of the objective from its minimum.
    error : ndarray of shape (problems,)
        Largest possible difference of a value from the exact fit: the penalty makes the objective
        rise by half the square of a move in w, and the features of a row have length 1 at most.
    """

    coefficients: FloatArray
    values: FloatArray
    decrement: FloatArray
    error: FloatArray


@dataclass(frozen=True, eq=False)
class Progress:
    """The state of all problems after some steps.

    Parameters
    ----------
    active : ndarray of shape (a,)
        The problems at work.
    values : ndarray of shape (n, a, K)
        Their values so far.
    gain : ndarray of shape (a,)
        Twice what each of them may still gain, as a mean loss per row.
    finished : ndarray of shape (n, problems, K)
        Values of the problems that are done; those of the others are empty.
    """

    active: IntArray
    values: FloatArray
    gain: FloatArray
    finished: FloatArray


Watch = Callable[[Progress], BoolArray]


def solve(
    factor: KernelFactor,
    problems: Problems,
    *,
    tol: float,
    max_iter: int,
    watch: Watch | None = None,
) -> Solution:
    """Minimise every problem until its Newton decrement is below ``tol^2`` times its null loss.

    Single precision may not reach so far: a problem whose decrement has stopped falling is left
    as it is, and so are the problems that ``watch`` marks as hopeless.
    """
    state = _Iteration(factor, problems)
    for iteration in range(max_iter):
        # The first step is a Newton step and costs little: skip it only if it has no length.
        done = state.decrement <= (tol**2 * state.scale if iteration else 0.0)
        done |= state.stalled()
        if watch is not None and iteration in WATCHED:
            done |= watch(state.progress())
        state.leave(done)
        if state.active.size == 0:
            break
        if iteration in REFRESH:
            state.restart()
        state.step()
    state.leave(np.ones(state.active.size, dtype=bool))
    for array in state.found:
        array.flags.writeable = False  # so that the record needs no copy
    return Solution(*state.found)


class _Iteration:
    """State of the problems that are not yet solved; the last axes are (problems, outputs)."""

    def __init__(self, factor: KernelFactor, problems: Problems) -> None:
        self.factor, self.problems = factor, problems
        self.active = np.arange(problems.C.size)
        self.weights = problems.weights[:, problems.group]
        self.whiten = factor.whiten.astype(factor.design.dtype)
        intercept, null_loss = _null_model(problems)
        self.preconditioner = _Preconditioner(factor, problems)
        n_rows, rank = factor.design.shape
        self.w = np.zeros((rank, problems.C.size, problems.targets.shape[2]))
        self.w[-1] = intercept[problems.group]
        self.values = np.empty((n_rows, *self.w.shape[1:]), dtype=factor.design.dtype)
        self.values[:] = self.w[-1]
        # The arrays of a Solution, filled as problems finish.
        self.found = (
            np.zeros(self.w.shape),
            np.empty_like(self.values),
            np.zeros(problems.C.size),
            np.zeros(problems.C.size),
        )
        self.probabilities = np.empty_like(self.values)
        self.moved = np.zeros_like(self.values)
        self.direction = np.zeros_like(self.w)
        self.gradient = self._move(np.zeros(problems.C.size))
        self.restart()
        # The scale is the loss of the null model, not the first decrement, which is small if
        # there is no signal.
        self.scale = problems.C * null_loss[problems.group]
        self.past = np.full((STALLED_STEPS + STALLED_BEFORE, problems.C.size), np.inf)

    def stalled(self) -> BoolArray:
        """Problems whose decrement rounding keeps from falling further."""
        self.past = np.vstack([self.past[1:], self.decrement / self.scale])
        if self.factor.design.dtype == np.float64:
            return np.zeros(self.active.size, dtype=bool)
        recent, before = self.past[-STALLED_STEPS:].min(axis=0), self.past[:STALLED_BEFORE]
        return (recent > 0.5 * before.min(axis=0)) & (self.past[-1] < STALLED_TOL**2)

    def progress(self) -> Progress:
        """How far all problems have come."""
        total = np.maximum(self.weights.sum(axis=0, dtype=np.float64), 1e-300)
        gain = 2 * self.decrement / (self.problems.C[self.active] * total)
        return Progress(self.active, self.values, gain, self.found[1])

    def restart(self) -> None:
        """Forget the direction, and precondition by the current Hessian."""
        self.preconditioner.update(
            self.problems.C[self.active],
            self.problems.group[self.active],
            self.probabilities[self.preconditioner.rows],
        )
        self.natural = self.preconditioner(self.problems.C[self.active], self.gradient)
        self.decrement = _dot(self.gradient, self.natural)
        self.direction = np.zeros_like(self.w)

    def step(self) -> None:
        """One conjugate-gradient step for every active problem."""
        self.direction = self.direction - self.natural
        slope = _dot(self.gradient, self.direction)
        uphill = slope >= 0
        self.direction[:, uphill] = -self.natural[:, uphill]
        slope[uphill] = -self.decrement[uphill]
        before = self.gradient
        length = -slope / self._curvature()
        self.gradient = self._move(length)
        self._correct_overshoot(length, slope)
        self.natural = self.preconditioner(self.problems.C[self.active], self.gradient)
        decrement = _dot(self.gradient, self.natural)
        # Polak-Ribiere, restarted where it turns negative.
        kept = np.maximum(0, decrement - _dot(before, self.natural)) / self.decrement
        self.direction = self.direction * kept[:, None]
        self.decrement = decrement

    def leave(self, done: BoolArray) -> None:
        """Keep the solutions of finished problems, and go on with the rest."""
        if not done.any():
            return
        solved, keep = self.active[done], ~done
        coefficients, values, decrement, error = self.found
        w = self.w[:, done]
        coefficients[:, solved] = np.tensordot(self.factor.whiten, w, 1)
        values[:, solved] = self.values[:, done]
        decrement[solved] = self.decrement[done] / self.scale[done]
        error[solved] = np.sqrt(np.maximum(self.decrement[done], 0.0))
        self.active = self.active[keep]
        for name in ("w", "direction", "gradient", "natural", "values", "probabilities"):
            setattr(self, name, np.ascontiguousarray(getattr(self, name)[:, keep]))
        self.moved = np.empty_like(self.values)
        self.decrement, self.scale = self.decrement[keep], self.scale[keep]
        self.past, self.weights = self.past[:, keep], np.ascontiguousarray(self.weights[:, keep])

    def _curvature(self) -> FloatArray:
        """Second derivative along the direction; keeps ``B W direction`` in ``moved``."""
        design = self.factor.design
        direction = self.whiten @ self.direction.reshape(len(self.w), -1).astype(design.dtype)
        curvature = np.zeros(self.active.size)
        for rows in row_blocks(len(design)):
            moved = self.moved[rows].reshape(-1, direction.shape[1])
            for part in _small_blocks(moved, design.shape[1]):
                np.matmul(design[rows][part], direction, out=moved[part])
            along = _variance(self.moved[rows], self.probabilities[rows])
            curvature += np.einsum("nc,nc->c", along, self.weights[rows])
        penalised = self.direction[:-1]
        return self.problems.C[self.active] * curvature + _dot(penalised, penalised)

    def _move(self, length: FloatArray) -> FloatArray:
        """Go this far along the direction; return the gradient there."""
        design, groups = self.factor.design, self.problems.group[self.active]
        self.w += length[:, None] * self.direction
        length = length[:, None].astype(design.dtype)
        targets = self.problems.targets
        pull = np.zeros((design.shape[1], self.w[0].size))
        for rows in row_blocks(len(design)):
            values = self.values[rows]
            values += length * self.moved[rows]
            residual = _probabilities(values)
            self.probabilities[rows] = residual
            residual -= targets[rows] if targets.shape[1] == 1 else targets[rows][:, groups]
            residual *= self.weights[rows][..., None]
            flat = residual.reshape(len(residual), -1)
            total = np.zeros(pull.T.shape, dtype=design.dtype)
            for part in _small_blocks(flat, design.shape[1]):
                total += flat[part].T @ design[rows][part]
            pull += total.T
        whitened = self.whiten.T @ pull.astype(design.dtype)
        gradient = self.problems.C[self.active, None] * whitened.reshape(self.w.shape)
        gradient[:-1] += self.w[:-1]
        return gradient

    def _correct_overshoot(self, length: FloatArray, slope: FloatArray) -> None:
        """Secant steps back while the slope past the minimum is steeper than before it."""
        for _ in range(20):
            past = _dot(self.gradient, self.direction)
            overshot = past > -slope
            if not overshot.any():
                return
            back = np.where(overshot, -length * past / (past - slope), 0.0)
            self.gradient = self._move(back)
            length = length + back


class _Preconditioner:
    """Hessians averaged over the problems that share a C, from a sample of whitened rows."""

    def __init__(self, factor: KernelFactor, problems: Problems) -> None:
        n_rows, rank = factor.design.shape
        # Evenly spaced rows need no randomness.
        self.rows = np.unique(np.linspace(0, n_rows - 1, min(n_rows, SAMPLE * rank)).astype(int))
        sample = factor.design[self.rows]
        # Direct calls: on such small matrices the checks of scipy.linalg cost as much as the work.
        self.potrf: Any = get_lapack_funcs("potrf", (sample,))
        self.potrs: Any = get_lapack_funcs("potrs", (sample,))
        trmm: Any = get_blas_funcs("trmm", (sample,))
        # Transposed, as W' B', so that Fortran multiplies in place.
        self.sample = trmm(1.0, factor.whiten, sample.T, trans_a=1, overwrite_b=1).T
        self.weights = problems.weights[self.rows] * (n_rows / len(self.rows))
        self.factors: dict[float, FloatArray] = {}

    def update(self, C: FloatArray, groups: IntArray, probabilities: FloatArray) -> None:
        """One Hessian of the loss, averaged over problems at these probabilities, for each C."""
        spread = probabilities * (1 - probabilities)
        weight = np.einsum("nc,nck->n", self.weights[:, groups], spread) / spread[0].size
        scaled = self.sample * np.sqrt(weight)[:, None]
        loss = scaled.T @ scaled
        self.factors = {}
        for strength in np.unique(C):
            hessian = loss.dtype.type(strength) * loss
            # The ridge keeps the Hessian definite in spite of rounding.
            ridge = 1 + 4 * np.finfo(loss.dtype).eps * np.trace(hessian)
            hessian[np.diag_indices_from(hessian)] += ridge
            self.factors[strength], _ = self.potrf(hessian.T, lower=1, overwrite_a=1)

    def __call__(self, C: FloatArray, gradient: FloatArray) -> FloatArray:
        """Hessian^-1 gradient, for problems of these C."""
        natural = np.empty_like(gradient)
        for strength, factor in self.factors.items():
            which = np.flatnonzero(strength == C)
            if which.size:
                part = gradient[:, which]
                flat = np.asfortranarray(part.reshape(len(part), -1), dtype=factor.dtype)
                solved, _ = self.potrs(factor, flat, lower=1, overwrite_b=1)
                natural[:, which] = solved.reshape(part.shape)
        return natural


def _null_model(problems: Problems) -> tuple[FloatArray, FloatArray]:
    """Intercept (groups, K) and log-loss (groups,) of the best fit without any features."""
    weights, n_outputs = problems.weights, problems.targets.shape[2]
    total = weights.sum(axis=0, dtype=np.float64)
    targets = np.broadcast_to(problems.targets, (*weights.shape, n_outputs))
    share = np.einsum("ng,ngk->gk", weights, targets, dtype=np.float64)
    prior = np.clip(share / np.maximum(total, 1e-300)[:, None], 1e-6, 1 - 1e-6)
    logs = np.log(prior)
    if n_outputs == 1:
        rest = np.log1p(-prior)
        return logs - rest, -(prior * logs + (1 - prior) * rest).sum(axis=1) * total
    return logs - logs.mean(axis=1, keepdims=True), -(prior * logs).sum(axis=1) * total


def _probabilities(values: FloatArray) -> FloatArray:
    """Sigmoid for one output, softmax for several; a fresh array."""
    if values.shape[-1] == 1:
        odds = np.clip(values, -60, 60)
        np.negative(odds, out=odds)
        np.exp(odds, out=odds)
        odds += 1
        return np.reciprocal(odds, out=odds)
    powers = np.exp(values - _largest(values)[..., None])
    # Sums over a short last axis are faster as a product.
    powers /= (powers @ np.ones(values.shape[-1], dtype=values.dtype))[..., None]
    return powers


def _largest(values: FloatArray) -> FloatArray:
    """Maximum over the last axis, output by output where outputs are few."""
    if values.shape[-1] > FEW_OUTPUTS:
        return np.asarray(values.max(axis=-1))
    largest = values[..., 0].copy()
    for output in range(1, values.shape[-1]):
        np.maximum(largest, values[..., output], out=largest)
    return largest


def _variance(moved: FloatArray, probabilities: FloatArray) -> FloatArray:
    """Second derivative of the loss of each row along its move: a variance under p."""
    if moved.shape[-1] == 1:
        square = np.square(moved[..., 0])
        square *= probabilities[..., 0]
        square *= 1 - probabilities[..., 0]
        return square
    mean = np.einsum("nck,nck->nc", probabilities, moved)
    return np.einsum("nck,nck->nc", probabilities, np.square(moved)) - np.square(mean)


def _dot(left: FloatArray, right: FloatArray) -> FloatArray:
    """Inner product of coefficient arrays, problem by problem."""
    return np.einsum("rck,rck->c", left, right)


def _small_blocks(rows: FloatArray, rank: int) -> Iterator[slice]:
    """Blocks of rows so small that BLAS multiplies them by a design of this rank without packing.

    With few columns, packing the design costs as much as the product itself.
    """
    step = max(32, 1_000_000 // (rank * rows.shape[1]))
    for start in range(0, len(rows), step):
        yield slice(start, start + step)
