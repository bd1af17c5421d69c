"""Losses that are estimated without an unseen label, for learning, calibration and choice.

With a loss that satisfies ``phi(z) - phi(-z) = -z`` the risk has a convex surrogate, one problem
for each label: minimise ``E_0[phi(-f)] - c(f) + ridge |f|^2 / 2``, where c(f) is ``pi_k E_k[f]``
for class k, and the sum over k for "known". Rules are compared row by row, by the mean of the risk,
unbiased but a step function of the rule, and half the Brier score, which is smooth.
``docs/rejection.md`` derives both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.random import RandomState
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit, logit

from unseen._arrays import arrays_of
from unseen._types import Array, FloatArray, IntArray, Matrix
from unseen.rejection.sample import (
    FittedRule,
    Folds,
    OutOfFold,
    held_out,
    labels_at,
    rescaled,
    row_masses,
)
from unseen.scores.base import assign_folds

MIN_PROBABILITY = 0.01  # bounds t away from 0 and 1, where a rule is surer than its rows allow
RIDGE = 1e-3


@dataclass(frozen=True, eq=False)
class Surrogate:
    """The convex problems of all labels: ``E_0[phi(-f)] - c(f)`` for f = rows @ w."""

    rows: Array  # features of the m new rows, the last one all ones, on their device: (m, r + 1)
    pull: FloatArray  # c(f) = pull[:, k] @ w, for each class and for their sum: (r + 1, K + 1)
    products: Array | None = None  # rows' rows, where it is known

    @classmethod
    def from_features(
        cls,
        labelled: Array,
        codes: IntArray,
        new: Array,
        shares: FloatArray,
        products: Array | None = None,
    ) -> Surrogate:
        """The problems of a sample whose rows are given as features."""
        weight = row_masses(codes, shares)
        masses = weight[:, None] * (codes[:, None] == np.arange(len(shares)))
        arrays = arrays_of(labelled)
        pull = arrays.host(labelled.T @ arrays.put(masses))
        return cls(new, np.column_stack([pull, pull.sum(axis=1)]), products)


class Loss(Protocol):
    """Loss of the surrogate."""

    def minimisers(self, problem: Surrogate, ridges: FloatArray) -> Iterator[FloatArray]:
        """Coefficients (r + 1, K + 1) for each ridge; ridges are given in descending order."""

    def probability(self, values: FloatArray) -> FloatArray:
        """Probability of a label where its function has these values."""


@dataclass(frozen=True)
class Square:
    """``phi(z) = (1 - z)^2 / 4``: one linear solve, bounded without a ridge."""

    def minimisers(self, problem: Surrogate, ridges: FloatArray) -> Iterator[FloatArray]:
        """Solve ``(E_0[z z'] / 2 + ridge) w = c - E_0[z] / 2`` for all labels at once."""
        rows, host = problem.rows, arrays_of(problem.rows).host
        products = rows.T @ rows if problem.products is None else problem.products
        gram = host(products / (2 * len(rows)))
        right = problem.pull - host(rows.mean(axis=0))[:, None] / 2
        for ridge in ridges:
            penalty = np.append(np.full(len(gram) - 1, ridge), 0.0)  # the constant is free
            yield _solve(gram, penalty, right)

    def probability(self, values: FloatArray) -> FloatArray:
        """(f + 1) / 2, at least 0 and at most 1."""
        return np.clip((np.asarray(values) + 1) / 2, 0.0, 1.0)


@dataclass(frozen=True)
class Logistic:
    """``phi(z) = log(1 + exp(-z))``: Newton steps, unbounded without a ridge."""

    tol: float = 1e-6  # steps end when the Newton decrement of every label is below this
    max_iter: int = 50  # the most steps

    def minimisers(self, problem: Surrogate, ridges: FloatArray) -> Iterator[FloatArray]:
        """Newton's method for each label, started at the solution for the ridge before."""
        coefficients = np.zeros_like(problem.pull)
        for ridge in ridges:
            penalty = np.append(np.full(len(coefficients) - 1, ridge), 0.0)
            labels = zip(problem.pull.T, coefficients.T, strict=True)
            coefficients = np.column_stack(
                [self._newton(problem.rows, pull, penalty, start) for pull, start in labels]
            )
            yield coefficients

    def probability(self, values: FloatArray) -> FloatArray:
        """1 / (1 + exp(-f))."""
        return np.asarray(expit(values))

    def _newton(
        self, rows: Array, pull: FloatArray, penalty: FloatArray, start: FloatArray
    ) -> FloatArray:
        """Newton steps, each halved until the objective falls by a tenth of what it promised."""
        put, host = arrays_of(rows).put, arrays_of(rows).host
        w = start
        for _ in range(self.max_iter):
            values = host(rows @ put(w))
            share = expit(values)
            gradient = host(rows.T @ put(share)) / len(rows) - pull + penalty * w
            scaled = rows * put(np.sqrt(share * (1 - share) / len(rows)))[:, None]
            step = _solve(host(scaled.T @ scaled), penalty, gradient)
            if gradient @ step <= self.tol:
                break
            moved, length = host(rows @ put(step)), 1.0
            first = np.logaddexp(0.0, values).mean() - pull @ w + penalty @ w**2 / 2
            promised = 0.1 * (moved @ share / len(rows) - (pull - penalty * w) @ step)
            # Close to the optimum the fall is less than rounding, and the whole step is right.
            slack = 1e-14 * (1 + abs(first))
            while True:
                reached = w - length * step
                losses = np.logaddexp(0.0, values - length * moved)
                height = losses.mean() - pull @ reached + penalty @ reached**2 / 2
                if height <= first - length * promised + slack:
                    break
                length /= 2
            w = reached
        return w


def _solve(gram: FloatArray, penalty: FloatArray, right: FloatArray) -> FloatArray:
    hessian = gram + np.diag(penalty)
    # Rounding must not make the Hessian indefinite where features hardly vary.
    hessian[np.diag_indices_from(hessian)] += 1e-14 * np.trace(hessian)
    return np.asarray(cho_solve(cho_factor(hessian, overwrite_a=True), right))


@dataclass(frozen=True)
class Calibration:
    """A line between the logits of P(known), before and after."""

    slope: float  # above 0, so that the order of rows stays
    constant: float  # the line's value at logit 0

    def __call__(self, probabilities: FloatArray) -> FloatArray:
        """Calibrated probabilities of the same rows."""
        line = self.slope * _logit_known(probabilities) + self.constant
        known = expit(line)[:, None]
        shared = rescaled(probabilities[:, :-1], 1 / (probabilities.shape[1] - 1))
        return np.hstack([known * shared, 1 - known])


def fit_calibration(rows: OutOfFold, shares: FloatArray) -> Calibration:
    """The line with the lowest surrogate risk on rows out of fold."""
    labelled, new = (
        np.column_stack([_logit_known(part), np.ones(len(part))])
        for part in (rows.labelled, rows.new)
    )
    problem = Surrogate.from_features(labelled, rows.codes, new, shares)
    (found,) = Logistic().minimisers(problem, np.array([RIDGE]))
    slope, constant = found[:, -1]
    # A slope below 0 would call the least odd rows unseen: such a rule is past mending.
    return Calibration(float(slope), float(constant)) if slope > 0 else Calibration(1.0, 0.0)


def _logit_known(probabilities: FloatArray) -> FloatArray:
    known = np.clip(1 - probabilities[:, -1], MIN_PROBABILITY, 1 - MIN_PROBABILITY)
    return np.asarray(logit(known))


@dataclass(frozen=True, eq=False)
class CalibratedRule:
    """A fitted rule whose probabilities are calibrated."""

    rule: FittedRule
    calibration: Calibration

    def probabilities(self, X: Matrix) -> FloatArray:
        """Probability of each known class and, last, of unseen ones."""
        return self.calibration(self.rule.probabilities(X))


def calibrated(
    rule: FittedRule, rows: OutOfFold, shares: FloatArray, n_folds: int, rng: RandomState
) -> tuple[CalibratedRule, OutOfFold]:
    """A rule with its calibration, and its rows out of fold, each calibrated by other folds."""
    labelled, new = np.zeros_like(rows.labelled), np.zeros_like(rows.new)
    folds = assign_folds(rows.codes, n_folds, rng)
    folds_new = assign_folds(np.zeros(len(new), dtype=np.int64), n_folds, rng)
    for out, out_new in held_out((folds, folds_new)):
        others = OutOfFold(rows.labelled[~out], rows.codes[~out], rows.new[~out_new])
        line = fit_calibration(others, shares)
        labelled[out], new[out_new] = line(rows.labelled[out]), line(rows.new[out_new])
    found = CalibratedRule(rule, fit_calibration(rows, shares))
    return found, OutOfFold(labelled, rows.codes, new)


@dataclass(frozen=True, eq=False)
class RowLosses:
    """Loss of a rule on each row out of fold, or the difference of two such losses."""

    labelled: FloatArray
    codes: IntArray  # classes of the labelled rows
    new: FloatArray

    def total(self, shares: FloatArray) -> float:
        """Estimated loss of a new row: means over classes, by their shares, and over new rows."""
        counts = np.maximum(np.bincount(self.codes, minlength=len(shares)), 1)
        means = np.bincount(self.codes, self.labelled, len(shares)) / counts
        return float(shares @ means + self.new.mean())

    def standard_error(self, shares: FloatArray) -> float:
        """Standard error of the total, with the shares taken as exact."""
        groups = [*(self.labelled[self.codes == code] for code in range(len(shares))), self.new]
        variance = sum(
            weight**2 * float(group.var(ddof=1) / len(group))
            for weight, group in zip([*shares, 1.0], groups, strict=True)
            if len(group) > 1
        )
        return float(np.sqrt(variance))


def row_losses(rows: OutOfFold) -> RowLosses:
    """Mean of R_hat and half the Brier score, row by row."""
    known, codes, new, label = rows.labelled, rows.codes, rows.new, labels_at(rows.labelled)
    unseen = known.shape[1] - 1
    wrong = (label == unseen).astype(np.float64) - (label == codes)
    labelled = (wrong + known[:, -1] - known[np.arange(len(codes)), codes]) / 2
    brier_new = (new**2).sum(axis=1) / 2 - new[:, -1] + 0.5
    return RowLosses(labelled, codes, ((labels_at(new) != unseen) + brier_new) / 2)


def lowest_risk(rules: Sequence[RowLosses], shares: FloatArray) -> int:
    """Place of the rule with the smallest total loss; the first of equal rules."""
    return int(np.argmin([rule.total(shares) for rule in rules]))


def within_one_standard_error(rules: Sequence[RowLosses], shares: FloatArray) -> int:
    """Place of the first rule that the best rule does not beat by more than a standard error."""
    best = rules[lowest_risk(rules, shares)]
    gaps = [RowLosses(one.labelled - best.labelled, one.codes, one.new - best.new) for one in rules]
    close = [gap.total(shares) <= gap.standard_error(shares) for gap in gaps]
    return close.index(True)


def choose_by_other_folds(
    candidates: Sequence[OutOfFold],
    losses: Sequence[RowLosses],
    folds: Folds,
    shares: FloatArray,
    pick: Callable[[Sequence[RowLosses], FloatArray], int],
) -> OutOfFold:
    """Probabilities of each fold by the candidate that the other folds ``pick`` by its losses."""
    labelled, new = np.zeros_like(candidates[0].labelled), np.zeros_like(candidates[0].new)
    for out, out_new in held_out(folds):
        others = [
            RowLosses(one.labelled[~out], one.codes[~out], one.new[~out_new]) for one in losses
        ]
        best = candidates[pick(others, shares)]
        labelled[out], new[out_new] = best.labelled[out], best.new[out_new]
    return OutOfFold(labelled, candidates[0].codes, new)
