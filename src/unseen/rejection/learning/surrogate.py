"""The risk with a convex loss: expectations over samples at hand, one problem for each label.

With a loss that satisfies ``phi(z) - phi(-z) = -z`` every label has its own convex problem,

    minimise  E_0[phi(-f)] - c(f) + ridge |f|^2 / 2,

where c(f) is ``pi_k E_k[f]`` for class k, and the sum over k for "known". ``docs/rejection.md``
derives it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from unseen._types import FloatArray, IntArray
from unseen.rejection.learning.sample import row_masses

__all__ = ["Logistic", "Loss", "Square", "Surrogate"]


@dataclass(frozen=True, eq=False)
class Surrogate:
    """The convex problems of all labels: ``E_0[phi(-f)] - c(f)`` for f = rows @ w.

    Parameters
    ----------
    rows : ndarray of shape (m, r + 1)
        Features of the new rows, and a last column of ones.
    pull : ndarray of shape (r + 1, K + 1)
        ``c(f) = pull[:, k] @ w``: one column for each class, and their sum.
    """

    rows: FloatArray
    pull: FloatArray

    @classmethod
    def from_features(
        cls, labelled: FloatArray, codes: IntArray, new: FloatArray, shares: FloatArray
    ) -> Surrogate:
        """The problems of a sample whose rows are given as features."""
        weight = row_masses(codes, shares)
        pull = labelled.T @ (weight[:, None] * (codes[:, None] == np.arange(len(shares))))
        return cls(new, np.column_stack([pull, pull.sum(axis=1)]))


class Loss(Protocol):
    """Loss of the surrogate."""

    def minimisers(self, problem: Surrogate, ridges: FloatArray) -> Iterator[FloatArray]:
        """Coefficients (r + 1, K + 1) for each ridge; ridges are given in descending order."""
        ...

    def probability(self, values: FloatArray) -> FloatArray:
        """Probability of a label where its function has these values."""
        ...


@dataclass(frozen=True)
class Square:
    """``phi(z) = (1 - z)^2 / 4``: one linear solve, bounded without a ridge.

    Examples
    --------
    >>> from unseen.rejection import Square
    >>> Square().probability([-1.5, 0.0, 0.5]).tolist()
    [0.0, 0.5, 0.75]
    """

    def minimisers(self, problem: Surrogate, ridges: FloatArray) -> Iterator[FloatArray]:
        """Solve ``(E_0[z z'] / 2 + ridge) w = c - E_0[z] / 2`` for all labels at once."""
        rows = problem.rows
        gram = rows.T @ rows / (2 * len(rows))
        right = problem.pull - rows.mean(axis=0)[:, None] / 2
        for ridge in ridges:
            penalty = np.append(np.full(len(gram) - 1, ridge), 0.0)  # the constant is free
            yield _solve(gram, penalty, right)

    def probability(self, values: FloatArray) -> FloatArray:
        """(f + 1) / 2, at least 0 and at most 1."""
        return np.clip((np.asarray(values) + 1) / 2, 0.0, 1.0)


@dataclass(frozen=True)
class Logistic:
    """``phi(z) = log(1 + exp(-z))``: Newton steps, unbounded without a ridge.

    Parameters
    ----------
    tol : float, default=1e-6
        Stop when the Newton decrement of every label is below this.
    max_iter : int, default=50
        Largest number of Newton steps.

    Examples
    --------
    >>> from unseen.rejection import Logistic
    >>> float(Logistic().probability(0.0))
    0.5
    """

    tol: float = 1e-6
    max_iter: int = 50

    def minimisers(self, problem: Surrogate, ridges: FloatArray) -> Iterator[FloatArray]:
        """Newton's method for each label, started at the solution for the ridge before."""
        coefficients = np.zeros_like(problem.pull)
        for ridge in ridges:
            penalty = np.append(np.full(len(coefficients) - 1, ridge), 0.0)
            coefficients = np.column_stack(
                [
                    self._newton(problem.rows, pull, penalty, start)
                    for pull, start in zip(problem.pull.T, coefficients.T, strict=True)
                ]
            )
            yield coefficients

    def probability(self, values: FloatArray) -> FloatArray:
        """1 / (1 + exp(-f))."""
        return np.asarray(expit(values))

    def _newton(
        self, rows: FloatArray, pull: FloatArray, penalty: FloatArray, start: FloatArray
    ) -> FloatArray:
        coefficients = start
        for _ in range(self.max_iter):
            share = expit(rows @ coefficients)
            gradient = rows.T @ share / len(rows) - pull + penalty * coefficients
            scaled = rows * np.sqrt(share * (1 - share) / len(rows))[:, None]
            step = _solve(scaled.T @ scaled, penalty, gradient)
            if gradient @ step <= self.tol:
                break
            length = _step_length(rows, pull, penalty, coefficients, step)
            coefficients = coefficients - length * step
        return coefficients


def _step_length(
    rows: FloatArray,
    pull: FloatArray,
    penalty: FloatArray,
    coefficients: FloatArray,
    step: FloatArray,
) -> float:
    """Armijo's rule: halve the step until the objective falls by a tenth of what it promised."""
    values, moved = rows @ coefficients, rows @ step

    def objective(length: float) -> float:
        w = coefficients - length * step
        losses = np.logaddexp(0.0, values - length * moved)
        return float(losses.mean() - pull @ w + penalty @ w**2 / 2)

    first = objective(0.0)
    promised = 0.1 * (moved @ expit(values) / len(rows) - (pull - penalty * coefficients) @ step)
    # Close to the optimum the fall is less than rounding, and the whole step is right.
    slack, length = 1e-14 * (1 + abs(first)), 1.0
    while objective(length) > first - length * promised + slack:
        length /= 2
    return length


def _solve(gram: FloatArray, penalty: FloatArray, right: FloatArray) -> FloatArray:
    hessian = gram + np.diag(penalty)
    # Rounding must not make the Hessian indefinite where features hardly vary.
    hessian[np.diag_indices_from(hessian)] += 1e-14 * np.trace(hessian)
    return np.asarray(cho_solve(cho_factor(hessian, overwrite_a=True), right))
