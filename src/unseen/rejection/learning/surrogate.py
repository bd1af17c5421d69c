"""The risk with a convex loss: expectations over samples at hand, one problem for each label.

With a loss that satisfies ``phi(z) - phi(-z) = -z`` every label has its own convex problem,

    minimise  E_0[phi(-f)] - c(f) + ridge |f|^2 / 2,

where c(f) is ``pi_k E_k[f]`` for class k, and the sum over k for "known". ``docs/rejection.md``
derives it. The logistic loss also calibrates rules: it fits a line between logits of P(known), so
that of the rows called unseen with 70%, 70% are unseen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit, logit

from unseen._types import FloatArray, IntArray, Matrix
from unseen.rejection.learning.sample import FittedRule, OutOfFold, out_of_fold, row_masses
from unseen.scores.selection import assign_folds

__all__ = [
    "CalibratedRule",
    "Calibration",
    "Logistic",
    "Loss",
    "Square",
    "Surrogate",
    "calibrate_by_other_folds",
    "fit_calibration",
]

MIN_PROBABILITY = 0.01  # bounds t away from 0 and 1, where a rule is surer than its rows allow
RIDGE = 1e-3


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
    first = np.logaddexp(0.0, values).mean() - pull @ coefficients + penalty @ coefficients**2 / 2
    promised = 0.1 * (moved @ expit(values) / len(rows) - (pull - penalty * coefficients) @ step)
    # Close to the optimum the fall is less than rounding, and the whole step is right.
    slack, length = 1e-14 * (1 + abs(first)), 1.0
    while True:
        w = coefficients - length * step
        reached = np.logaddexp(0.0, values - length * moved).mean() - pull @ w + penalty @ w**2 / 2
        if reached <= first - length * promised + slack:
            return length
        length /= 2


def _solve(gram: FloatArray, penalty: FloatArray, right: FloatArray) -> FloatArray:
    hessian = gram + np.diag(penalty)
    # Rounding must not make the Hessian indefinite where features hardly vary.
    hessian[np.diag_indices_from(hessian)] += 1e-14 * np.trace(hessian)
    return np.asarray(cho_solve(cho_factor(hessian, overwrite_a=True), right))


@dataclass(frozen=True)
class Calibration:
    """A line between the logits of P(known), before and after.

    Parameters
    ----------
    slope : float
        Slope of the line; above 0, so that the order of rows stays.
    constant : float
        Value of the line at logit 0.

    Examples
    --------
    >>> import numpy as np
    >>> sharper = Calibration(slope=2.0, constant=0.0)
    >>> sharper(np.array([[0.25, 0.5, 0.25]])).round(2)
    array([[0.3, 0.6, 0.1]])
    """

    slope: float
    constant: float

    def __call__(self, probabilities: FloatArray) -> FloatArray:
        """Calibrated probabilities of the same rows."""
        known = expit(self.slope * _logit_known(probabilities) + self.constant)[:, None]
        parts = probabilities[:, :-1]
        total = parts.sum(axis=1, keepdims=True)
        n_classes = parts.shape[1]
        shared = np.where(total > 0, parts / np.where(total > 0, total, 1.0), 1 / n_classes)
        return np.hstack([known * shared, 1 - known])


def fit_calibration(rows: OutOfFold, shares: FloatArray) -> Calibration:
    """The line with the lowest surrogate risk on rows out of fold."""
    new, labelled = _logit_known(rows.new), _logit_known(rows.labelled)
    features_new = np.column_stack([new, np.ones(len(new))])
    features = np.column_stack([labelled, np.ones(len(labelled))])
    problem = Surrogate.from_features(features, rows.codes, features_new, shares)
    (found,) = Logistic().minimisers(problem, np.array([RIDGE]))
    slope, constant = found[:, -1]
    # A slope below 0 would call the least odd rows unseen: such a rule is past mending.
    return Calibration(float(slope), float(constant)) if slope > 0 else Calibration(1.0, 0.0)


def calibrate_by_other_folds(
    rows: OutOfFold, shares: FloatArray, n_folds: int, rng: np.random.RandomState
) -> OutOfFold:
    """Probabilities out of fold, each calibrated by the rows of other folds."""
    folds = assign_folds(rows.codes, n_folds, rng)
    folds_new = assign_folds(np.zeros(len(rows.new), dtype=np.int64), n_folds, rng)
    labelled, new = out_of_fold(
        lambda kept, kept_new: fit_calibration(
            OutOfFold(rows.labelled[kept], rows.codes[kept], rows.new[kept_new]), shares
        ),
        (rows.labelled, rows.new),
        (folds, folds_new),
    )
    return OutOfFold(labelled, rows.codes, new)


@dataclass(frozen=True, eq=False)
class CalibratedRule:
    """A fitted rule whose probabilities are calibrated."""

    rule: FittedRule
    calibration: Calibration

    def probabilities(self, X: Matrix) -> FloatArray:
        """Probability of each known class and, last, of unseen ones."""
        return self.calibration(self.rule.probabilities(X))


def _logit_known(probabilities: FloatArray) -> FloatArray:
    known = np.clip(1 - probabilities[:, -1], MIN_PROBABILITY, 1 - MIN_PROBABILITY)
    return np.asarray(logit(known))
