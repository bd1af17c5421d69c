"""Many ridge-penalised logistic regressions on one design, solved together.

Problem c minimises ``w' w / 2 + C_c sum_i s_ic loss(t_ic, (B W w)_i)`` over w, with B the kernel
factor and W its whitening; the intercept is free. Problems differ in C, in row weights s (folds are
weights of zero) and in targets t, and share B: one step of preconditioned nonlinear conjugate
gradients for all of them is two matrix products. docs/numerics.md has the design.

Arrays of a number for each row or coefficient are on the device of the factor; those of a number
for each problem are NumPy's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen._arrays import arrays_of
from unseen._frozen import Frozen
from unseen._types import Array, BoolArray, FloatArray, IntArray
from unseen.scores.kernel import KernelFactor

_DOT = "rck,rck->c"
SAMPLE = 4  # rows per coefficient behind the preconditioner
REFRESH = (5, 12, 30, 60)  # iterations at which the problems still at work get a new one
# Iterations at which hopeless ones may leave.
WATCHED: tuple[int, ...] = (4, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50)
# A decrement has stalled when its least value of three steps is not below half of that of the four
# steps before, and it is so small that rounding may be the reason.
STALLED_STEPS, STALLED_BEFORE, STALLED_TOL = 3, 4, 5e-3


@dataclass(frozen=True, eq=False)
class Problems:
    """What each regression fits: its ``C``, and its group of row weights and targets.

    A weight of zero leaves a row out. Targets (n, groups, K), or (n, 1, K) for all problems, are
    shares of each class in a row; K = 1 is the binary case, the share of the second class.
    """

    C: FloatArray  # (problems,), inverse strength of the penalty
    group: IntArray  # (problems,), column of weights and targets
    weights: Array  # (n, groups)
    targets: Array


@dataclass(frozen=True, eq=False)
class Solution(Frozen):
    """Fits of all problems.

    ``decrement`` is Newton's at the last step, as a share of the null loss: about twice the
    distance of the objective from its minimum. ``error`` is the largest possible difference of a
    value from the exact fit: the penalty makes the objective rise by half the square of a move in
    w, and the features of a row have length 1 at most.
    """

    coefficients: FloatArray  # (r + 1, problems, K), of the kernel functions; the intercept last
    values: Array  # (n, problems, K): log-odds or logits of every row, also of weight zero
    decrement: FloatArray  # (problems,)
    error: FloatArray  # (problems,)


# Marks hopeless problems, of those at work (a,), by their values so far (n, a, K), by twice what
# each may still gain as a mean loss per row (a,), and by the values (n, problems, K) of those done.
Watch = Callable[[IntArray, Array, FloatArray, Array], BoolArray]


def solve(
    factor: KernelFactor,
    problems: Problems,
    *,
    tol: float | FloatArray,
    max_iter: int,
    watch: Watch | None = None,
    watched: Sequence[int] = WATCHED,
) -> Solution:
    """Minimise every problem until its Newton decrement is below ``tol^2`` times its null loss.

    ``tol`` is one number for all problems, or one for each. Single precision may not reach so far:
    a problem whose decrement has stopped falling is left as it is, and so are the problems that
    ``watch`` marks as hopeless at the iterations ``watched``.
    """
    state, square = _Iteration(factor, problems), np.broadcast_to(tol, problems.C.shape) ** 2
    past = np.full((STALLED_STEPS + STALLED_BEFORE, problems.C.size), np.inf)
    for iteration in range(max_iter):
        # The first step is a Newton step and costs little: skip it only if it has no length.
        enough = square[state.active] * state.scale
        done = state.decrement <= (enough if iteration else 0.0)
        if factor.dtype == np.float32:
            past[:-1] = past[1:]
            past[-1, state.active] = state.decrement / state.scale
            own = past[:, state.active]
            least, before = own[-STALLED_STEPS:].min(axis=0), own[:STALLED_BEFORE].min(axis=0)
            done |= (least > 0.5 * before) & (own[-1] < STALLED_TOL**2)
        if watch is not None and iteration in watched:
            total = np.maximum(state.arrays.total(state.weights), 1e-300)
            gain = 2 * state.decrement / (problems.C[state.active] * total)
            done |= watch(state.active, state.values_of(slice(None)), gain, state.found[1])
        state.leave(done)
        if state.active.size == 0:
            break
        if iteration in REFRESH:
            state.restart()
        state.step()
    state.leave(np.ones(state.active.size, dtype=bool))
    return Solution(*(arrays_of(array).sealed(array) for array in state.found))


class _Iteration:
    """State of the problems that are not yet solved; the last axes are (problems, outputs).

    Steps go over the rows that some problem trains on; the others are idle until their values are
    asked for.
    """

    def __init__(self, factor: KernelFactor, problems: Problems) -> None:
        self.arrays = arrays = arrays_of(factor.design)
        self.dtype = factor.dtype
        cast = (arrays.put(one, self.dtype) for one in (problems.weights, problems.targets))
        problems = Problems(problems.C, problems.group, *cast)
        self.factor, self.problems = factor, problems
        self.active, self.C = np.arange(problems.C.size), arrays.put(problems.C)
        self.whiten = arrays.put(factor.whiten, self.dtype)
        intercept, null_loss = _null_model(problems)
        trains = (problems.weights != 0).any(1)
        self.trained, self.idle = (arrays.xp.where(one)[0] for one in (trains, ~trains))
        self.design, self.targets, self.weights = factor.design, problems.targets, problems.weights
        self.idle_design = factor.design[self.idle]  # a copy, which every look at them needs
        if len(self.idle):
            self.design = arrays.design((len(self.trained), factor.design.shape[1]), self.dtype)
            self.design[:] = factor.design[self.trained]
            self.targets, self.weights = self.targets[self.trained], self.weights[self.trained]
        self.weights = self.weights[:, problems.group]
        self.preconditioner = _Preconditioner(factor, problems, trains)
        n_rows, rank = self.design.shape
        shape = (rank, problems.C.size, problems.targets.shape[2])
        self.w, self.direction = arrays.zeros(shape), arrays.zeros(shape)
        self.w[-1] = arrays.put(intercept[problems.group])
        self.values, self.probabilities, self.moved = (
            arrays.zeros((n_rows, *shape[1:]), self.dtype) for _ in range(3)
        )
        self.values[:] = self.w[-1]
        # The arrays of a Solution, filled as problems finish.
        self.found = (
            np.zeros(shape),
            arrays.zeros((len(factor.design), *shape[1:]), self.dtype),
            np.zeros(problems.C.size),
            np.zeros(problems.C.size),
        )
        self.gradient = self._move(np.zeros(problems.C.size))
        self.restart()
        # The scale is the loss of the null model, not the first decrement, which is small if
        # there is no signal.
        self.scale = problems.C * null_loss[problems.group]

    def values_of(self, which: Any) -> Array:
        """Values of all rows, the idle ones too, for some of the problems at work."""
        values = self.values[:, which]
        if not len(self.idle):
            return values
        found = self.arrays.empty((len(self.factor.design), *values.shape[1:]), self.dtype)
        found[self.trained] = values
        w = self.arrays.put(self.w[:, which].reshape(len(self.w), -1), self.dtype)
        idle = self.idle_design @ (self.whiten @ w)
        found[self.idle] = idle.reshape(-1, *values.shape[1:])
        return found

    def restart(self) -> None:
        """Forget the direction, and precondition by the current Hessian."""
        self.preconditioner.update(
            self.problems.C[self.active],
            self.problems.group[self.active],
            self.probabilities[self.preconditioner.rows],
        )
        self.natural = self.preconditioner(self.problems.C[self.active], self.gradient)
        self.decrement = self._dots((self.gradient, self.natural))[0]
        self.direction = self.arrays.zeros(self.w.shape)

    def step(self) -> None:
        """One conjugate-gradient step for every active problem.

        Where the slope past the minimum is steeper than before it, secant steps go back.
        """
        self.direction = self.direction - self.natural
        # Slope and curvature come to the host together: a card waits at every such call.
        slope, curvature = self._dots((self.gradient, self.direction), beside=[self._curvature()])
        uphill = slope >= 0
        if uphill.any():
            self.direction[:, uphill] = -self.natural[:, uphill]
            slope = np.where(uphill, -self.decrement, slope)
            curvature = self.arrays.host(self._curvature())
        before, length = self.gradient, -slope / curvature
        self.gradient = self._move(length)
        for n_left in range(20, -1, -1):
            self.natural = self.preconditioner(self.problems.C[self.active], self.gradient)
            past, decrement, turned = self._dots(
                (self.gradient, self.direction),
                (self.gradient, self.natural),
                (before, self.natural),
            )
            overshot = past > -slope
            if not (n_left and overshot.any()):
                break
            back = np.where(overshot, -length * past / (past - slope), 0.0)
            self.gradient = self._move(back)
            length = length + back
        # Polak-Ribiere, restarted where it turns negative.
        kept = np.maximum(0, decrement - turned) / self.decrement
        self.direction = self.direction * self.arrays.put(kept[:, None])
        self.decrement = decrement

    def leave(self, done: BoolArray) -> None:
        """Keep the solutions of finished problems, and go on with the rest."""
        if not done.any():
            return
        solved, keep = self.active[done], ~done
        # Places, which a card need not find before it goes on.
        ended, there, kept = map(self.arrays.put, (np.flatnonzero(done), solved, keep.nonzero()[0]))
        coefficients, values, decrement, error = self.found
        w = self.arrays.host(self.w[:, ended])
        coefficients[:, solved] = np.tensordot(self.factor.whiten, w, 1)
        values[:, there] = self.values_of(ended)
        decrement[solved] = self.decrement[done] / self.scale[done]
        error[solved] = np.sqrt(np.maximum(self.decrement[done], 0.0))
        self.active = self.active[keep]
        self.C = self.arrays.put(self.problems.C[self.active])
        names = "w", "direction", "gradient", "natural", "values", "probabilities", "weights"
        for name in names:
            some = getattr(self, name)[:, kept]
            # Together in memory.
            setattr(self, name, self.arrays.empty(some.shape, some.dtype))
            getattr(self, name)[:] = some
        self.moved = self.arrays.empty(self.values.shape, self.dtype)
        self.decrement, self.scale = self.decrement[keep], self.scale[keep]

    def _curvature(self) -> Array:
        """Second derivative along the direction; keeps ``B W direction`` in ``moved``."""
        design, arrays = self.design, self.arrays
        flat = self.direction.reshape(len(self.w), -1)
        direction = self.whiten @ arrays.put(flat, self.dtype)

        def curved(rows: slice) -> Array:
            moved, probabilities = self.moved[rows], self.probabilities[rows]
            arrays.product(design[rows], direction, out=moved.reshape(-1, flat.shape[1]))
            # The second derivative of a row's loss is the variance of its move.
            if moved.shape[-1] == 1:
                along = moved[..., 0] * moved[..., 0]
                along *= probabilities[..., 0]
                along *= 1 - probabilities[..., 0]
            else:
                mean = arrays.contract("nck,nck->nc", probabilities, moved)
                along = arrays.contract("nck,nck->nc", probabilities, moved * moved) - mean * mean
            return arrays.contract("nc,nc->c", along, self.weights[rows])

        blocks = arrays.blocks(len(design), *reversed(flat.shape))
        curvature = arrays.summed(curved, blocks, arrays.zeros((self.active.size,)))
        penalised = self.direction[:-1]
        return self.C * curvature + arrays.contract(_DOT, penalised, penalised)

    def _move(self, length: FloatArray) -> Array:
        """Go this far along the direction; return the gradient there."""
        design, targets, arrays = self.design, self.targets, self.arrays
        groups = self.problems.group[self.active]
        far = arrays.put(length[:, None])
        self.w += far * self.direction
        step = arrays.put(far, self.dtype)
        n_columns = self.w.shape[1] * self.w.shape[2]

        def pulled(rows: slice) -> Array:
            values = self.values[rows]
            values += step * self.moved[rows]
            residual = arrays.shares(values)
            self.probabilities[rows] = residual
            residual -= targets[rows] if targets.shape[1] == 1 else targets[rows][:, groups]
            residual *= self.weights[rows][..., None]
            return arrays.transposed_product(residual.reshape(-1, n_columns), design[rows])

        blocks = arrays.blocks(len(design), n_columns, len(self.w))
        pull = arrays.summed(pulled, blocks, arrays.zeros((len(self.w), n_columns)))
        whitened = self.whiten.T @ arrays.put(pull, self.dtype)
        gradient = self.C[:, None] * whitened.reshape(self.w.shape)
        gradient[:-1] += self.w[:-1]
        return gradient

    def _dots(self, *pairs: tuple[Array, Array], beside: Sequence[Array] = ()) -> FloatArray:
        """Inner products of coefficient arrays, problem by problem, and numbers beside them."""
        dots = [self.arrays.contract(_DOT, *pair) for pair in pairs]
        found: FloatArray = self.arrays.host(self.arrays.xp.stack([*dots, *beside]))
        return found


class _Preconditioner:
    """Hessians averaged over the problems that share a C, from a sample of whitened rows."""

    def __init__(self, factor: KernelFactor, problems: Problems, trains: Array) -> None:
        self.arrays = arrays_of(factor.design)
        n_rows, rank = factor.design.shape
        # Evenly spaced rows need no randomness.
        rows = np.unique(np.linspace(0, n_rows - 1, min(n_rows, SAMPLE * rank)).astype(int))
        stands_for, rows = n_rows / len(rows), rows[self.arrays.host(trains[rows])]
        self.sample = self.arrays.whitened(factor.design[rows], factor.whiten)
        self.weights = problems.weights[rows] * stands_for
        # Places among the rows that some problem trains on.
        self.rows = trains.cumsum(0)[rows] - 1
        self.factors: dict[float, Array] = {}

    def update(self, C: FloatArray, groups: IntArray, probabilities: Array) -> None:
        """One Hessian of the loss, averaged over problems at these probabilities, for each C."""
        spread = probabilities * (1 - probabilities)
        weights = self.weights[:, groups]
        weight = self.arrays.contract("nc,nck->n", weights, spread) / (C.size * spread.shape[2])
        loss = self.arrays.gram(self.sample, weight)
        eps, every = self.arrays.xp.finfo(loss.dtype).eps, np.arange(len(loss))
        self.factors = {}
        for strength in np.unique(C):
            hessian = float(strength) * loss
            # The ridge keeps the Hessian definite in spite of rounding.
            hessian[every, every] += 1 + 4 * eps * hessian.trace()
            self.factors[strength] = self.arrays.cholesky(hessian)

    def __call__(self, C: FloatArray, gradient: Array) -> Array:
        """Hessian^-1 gradient, for problems of these C."""
        natural = self.arrays.zeros(gradient.shape)
        for strength, factor in self.factors.items():
            places = np.flatnonzero(strength == C)
            if not places.size:
                continue
            # A slice needs no copy.
            first, last = int(places[0]), int(places[-1])
            which = slice(first, last + 1) if last - first < places.size else places
            part = gradient[:, which]
            solved = self.arrays.solve(factor, part.reshape(len(part), -1))
            natural[:, which] = solved.reshape(part.shape)
        return natural


def _null_model(problems: Problems) -> tuple[FloatArray, FloatArray]:
    """Intercept (groups, K) and log-loss (groups,) of the best fit without any features."""
    arrays, n_outputs = arrays_of(problems.weights), problems.targets.shape[2]
    total = arrays.total(problems.weights)
    parts = problems.weights, problems.targets
    share = arrays.host(arrays.contract("ng,ngk->gk", *parts, dtype=np.float64))
    prior = np.clip(share / np.maximum(total, 1e-300)[:, None], 1e-6, 1 - 1e-6)
    logs = np.log(prior)
    if n_outputs == 1:
        rest = np.log1p(-prior)
        return logs - rest, -(prior * logs + (1 - prior) * rest).sum(axis=1) * total
    return logs - logs.mean(axis=1, keepdims=True), -(prior * logs).sum(axis=1) * total
