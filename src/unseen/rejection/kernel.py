"""A rule from a convex surrogate of the risk, on kernel functions.

Give each label k a function f_k, and let a row have label k where f_k is largest. One label
against the rest, with a loss that satisfies ``phi(z) - phi(-z) = -z``, the risk becomes

    E_0[phi(g) + sum_k phi(-f_k)] + sum_i pi_i E_i[g - f_i],      g the function of unseen:

expectations over samples that are there, and K + 1 separate convex problems. With -g in the place
of g, which speaks for "known" then, all of them read

    minimise  E_0[phi(-f)] - c(f) + ridge |f|^2 / 2,

where c(f) is ``pi_k E_k[f]`` for class k, and the sum of these for "known". For the square loss
``phi(z) = (1 - z)^2 / 4`` each is a linear equation, whose solution estimates 2 eta_k - 1 with
eta_k the probability of class k. The logistic loss has no minimum without a ridge: where samples
say ``pi_i p_i > p_0`` it falls for ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from unseen._random import one_blas_thread
from unseen._sklearn import HasMethods, Interval, StrOptions
from unseen._types import FloatArray, Matrix
from unseen.rejection.base import RejectionRule
from unseen.rejection.learning.folds import HeldOut, assign_sample_folds
from unseen.rejection.learning.sample import OpenSample
from unseen.rejection.learning.selection import (
    Charges,
    Folds,
    charges,
    choice_by_other_folds,
    least,
)
from unseen.samples.checks import is_sparse
from unseen.scores.kernel import (
    KernelFactor,
    ShiftedKernel,
    Standardisation,
    row_blocks,
)
from unseen.scores.klr import KernelLogisticRegression, Rows

__all__ = ["KernelRule", "Logistic", "RejectionKernel", "Square", "surrogate_risk"]

BANDWIDTHS = 2.0 ** np.arange(1, -3, -1)  # times the median distance between landmarks
RIDGES = 10.0 ** np.arange(-1, -6, -1)


@dataclass(frozen=True, eq=False)
class Surrogate:
    """The convex problems of all labels: ``E_0[phi(-f)] - c(f)`` for f = rows @ w.

    Parameters
    ----------
    rows : ndarray of shape (m, r + 1)
        Whitened features of the new rows, and a last column of ones.
    pull : ndarray of shape (r + 1, K + 1)
        ``c(f) = pull[:, k] @ w``: one column a class, and their sum.
    """

    rows: FloatArray
    pull: FloatArray

    @classmethod
    def of(cls, labelled: FloatArray, codes: Any, new: FloatArray, shares: Any) -> Surrogate:
        """The problems of a sample whose rows are given as features."""
        counts = np.bincount(codes, minlength=len(shares))
        # A class that a fold has no row of pulls nowhere.
        weight = (shares / np.maximum(counts, 1))[codes]
        pull = labelled.T @ (weight[:, None] * (codes[:, None] == np.arange(len(shares))))
        return cls(new, np.column_stack([pull, pull.sum(axis=1)]))


class Loss(Protocol):
    """What the surrogate measures errors by."""

    def losses(self, values: FloatArray) -> FloatArray:
        """phi(-f)."""
        ...

    def minimisers(self, problem: Surrogate, ridges: FloatArray) -> Iterator[FloatArray]:
        """Coefficients (r + 1, K + 1) for each ridge, given from the largest down."""
        ...

    def probability(self, values: FloatArray) -> FloatArray:
        """Probability of a label where its function has these values."""
        ...


@dataclass(frozen=True)
class Square:
    """``phi(z) = (1 - z)^2 / 4``: one linear solve, bounded without a ridge.

    Examples
    --------
    >>> from unseen.rejection.kernel import Square
    >>> Square().probability([-1.5, 0.0, 0.5]).tolist()
    [0.0, 0.5, 0.75]
    """

    def minimisers(self, problem: Surrogate, ridges: FloatArray) -> Iterator[FloatArray]:
        """Solve ``(E_0[z z'] / 2 + ridge) w = c - E_0[z] / 2`` for all labels at once."""
        rows = problem.rows
        gram = rows.T @ rows / (2 * len(rows))
        right = problem.pull - rows.mean(axis=0)[:, None] / 2
        for ridge in ridges:
            yield _solve(gram, ridge, right)

    def probability(self, values: FloatArray) -> FloatArray:
        """(f + 1) / 2, at least 0 and at most 1."""
        return np.clip((np.asarray(values) + 1) / 2, 0.0, 1.0)

    def losses(self, values: FloatArray) -> FloatArray:
        """phi(-f)."""
        return np.square(1 + np.asarray(values)) / 4


@dataclass(frozen=True)
class Logistic:
    """``phi(z) = log(1 + exp(-z))``: Newton steps, and a ridge is a must.

    Parameters
    ----------
    tol : float, default=1e-6
        Stop when the Newton decrement of every label is below this.
    max_iter : int, default=50
        Newton steps at most.

    Examples
    --------
    >>> from unseen.rejection.kernel import Logistic
    >>> float(Logistic().probability(0.0))
    0.5
    """

    tol: float = 1e-6
    max_iter: int = 50

    def minimisers(self, problem: Surrogate, ridges: FloatArray) -> Iterator[FloatArray]:
        """Newton's method for each label, started at the solution for the ridge before."""
        coefficients = np.zeros_like(problem.pull)
        for ridge in ridges:
            coefficients = np.column_stack(
                [
                    self._newton(problem.rows, pull, ridge, start)
                    for pull, start in zip(problem.pull.T, coefficients.T, strict=True)
                ]
            )
            yield coefficients

    def probability(self, values: FloatArray) -> FloatArray:
        """1 / (1 + exp(-f))."""
        return np.asarray(expit(values))

    def losses(self, values: FloatArray) -> FloatArray:
        """phi(-f)."""
        return np.logaddexp(0.0, values)

    def _newton(
        self, rows: FloatArray, pull: FloatArray, ridge: float, start: FloatArray
    ) -> FloatArray:
        coefficients = start
        for _ in range(self.max_iter):
            share = expit(rows @ coefficients)
            gradient = rows.T @ share / len(rows) - pull + _penalty(start, ridge) * coefficients
            scaled = rows * np.sqrt(share * (1 - share) / len(rows))[:, None]
            step = _solve(scaled.T @ scaled, ridge, gradient)
            if gradient @ step <= self.tol:
                break
            coefficients = coefficients - self._length(rows, pull, ridge, coefficients, step) * step
        return coefficients

    def _length(
        self,
        rows: FloatArray,
        pull: FloatArray,
        ridge: float,
        coefficients: FloatArray,
        step: FloatArray,
    ) -> float:
        """Armijo's rule: half the step until the objective falls by a tenth of what it promised."""
        values, moved, penalty = rows @ coefficients, rows @ step, _penalty(step, ridge)

        def objective(length: float) -> float:
            w = coefficients - length * step
            return float(
                self.losses(values - length * moved).mean() - pull @ w + penalty @ w**2 / 2
            )

        first = objective(0.0)
        promised = 0.1 * (
            moved @ expit(values) / len(rows) - (pull - penalty * coefficients) @ step
        )
        # Close to the optimum the fall is less than rounding, and the whole step is right.
        slack, length = 1e-14 * (1 + abs(first)), 1.0
        while objective(length) > first - length * promised + slack:
            length /= 2
        return length


def surrogate_risk(loss: Loss, problem: Surrogate, coefficients: FloatArray) -> FloatArray:
    """``E_0[phi(-f)] - c(f)`` of each label: what is minimised, less the ridge.

    Parameters
    ----------
    loss : Square or Logistic
    problem : Surrogate
    coefficients : ndarray of shape (r + 1, K + 1)

    Returns
    -------
    ndarray of shape (K + 1,)

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.kernel import Square, Surrogate, surrogate_risk
    >>> problem = Surrogate(np.ones((4, 1)), np.array([[0.25, 0.25]]))
    >>> best = next(Square().minimisers(problem, [1.0]))
    >>> best[:, 0], surrogate_risk(Square(), problem, best)[:1]
    (array([-0.5]), array([0.1875]))
    """
    values = problem.rows @ coefficients
    return loss.losses(values).mean(axis=0) - np.einsum("rk,rk->k", problem.pull, coefficients)


def label_probabilities(loss: Loss, values: FloatArray) -> FloatArray:
    """Probabilities of K classes and of unseen from f_1 ... f_K and the function of "known"."""
    signed = np.column_stack([values[:, :-1], -values[:, -1]])
    chances = loss.probability(signed)
    total = chances.sum(axis=1, keepdims=True)
    # Where all functions are too low for any chance, the highest of them still says the label.
    highest = (signed == signed.max(axis=1, keepdims=True)).astype(np.float64)
    chances = np.where(total > 0, chances, highest)
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))


def _penalty(like: FloatArray, ridge: float) -> FloatArray:
    """The ridge of each coefficient; the constant, last, is free."""
    penalty = np.full(len(like), float(ridge))
    penalty[-1] = 0.0
    return penalty


def _solve(gram: FloatArray, ridge: float, right: FloatArray) -> FloatArray:
    hessian = gram + np.diag(_penalty(gram, ridge))
    # Rounding must not make the Hessian indefinite where features hardly vary.
    hessian[np.diag_indices_from(hessian)] += 1e-14 * np.trace(hessian)
    return np.asarray(cho_solve(cho_factor(hessian, overwrite_a=True), right))


@dataclass(frozen=True, eq=False)
class KernelRule:
    """A fitted rule: functions of the kernel against a few landmarks.

    Parameters
    ----------
    standardise : Standardisation
        Centre and scale of each feature.
    kernel : ShiftedKernel
        The kernel and its landmarks.
    coefficients : ndarray of shape (r + 1, K + 1)
        Weights of the kernel functions and, last, the constants.
    loss : Square or Logistic
        Turns values into probabilities.
    bandwidth, ridge : float
        What was used.
    """

    standardise: Standardisation
    kernel: ShiftedKernel
    coefficients: FloatArray
    loss: Loss
    bandwidth: float
    ridge: float

    def probabilities(self, X: Matrix) -> FloatArray:
        """Probability of each known class and, last, of unseen ones."""
        values = np.empty((X.shape[0], self.coefficients.shape[1]))
        with one_blas_thread():
            for rows in row_blocks(X.shape[0]):
                block = self.standardise(X[rows])
                kernel = np.empty((len(block), len(self.kernel.landmarks)))
                values[rows] = self.kernel.fill(block, kernel) @ self.coefficients[:-1]
        return label_probabilities(self.loss, values + self.coefficients[-1])


@dataclass(frozen=True, eq=False)
class Candidate:
    """A bandwidth and a ridge, with what they say of held-out rows."""

    bandwidth: float
    ridge: float
    held_out: HeldOut
    charges: Charges


def candidates(
    sample: OpenSample, rows: Rows, loss: Loss, bandwidth: float, ridges: FloatArray, folds: Folds
) -> list[Candidate]:
    """Held-out probabilities of every ridge at one bandwidth."""
    features = _whitened(rows.factor(bandwidth))
    labelled, new = np.split(features, [len(sample.codes)])
    every = np.concatenate(folds)
    values = np.empty((len(ridges), len(every), sample.n_classes + 1))
    for fold in np.unique(every):
        mine, mine_new = folds[0] != fold, folds[1] != fold
        problem = Surrogate.of(labelled[mine], sample.codes[mine], new[mine_new], sample.shares)
        for place, coefficients in enumerate(loss.minimisers(problem, ridges)):
            values[place, every == fold] = features[every == fold] @ coefficients
    return [
        _candidate(sample, bandwidth, ridge, label_probabilities(loss, own))
        for ridge, own in zip(ridges, values, strict=True)
    ]


def _candidate(
    sample: OpenSample, bandwidth: float, ridge: float, probabilities: FloatArray
) -> Candidate:
    labelled, new = np.split(probabilities, [len(sample.codes)])
    held_out = HeldOut(labelled, sample.codes, new)
    return Candidate(bandwidth, float(ridge), held_out, charges(held_out))


def best_of(found: list[Candidate], shares: FloatArray) -> Candidate:
    """The candidate that held-out rows cost least; the first, which is smoother, of equals."""
    return found[least([candidate.charges for candidate in found], shares)]


def fit_kernel_rule(sample: OpenSample, rows: Rows, loss: Loss, best: Candidate) -> KernelRule:
    """The rule at one bandwidth and ridge, from all rows."""
    factor = rows.factor(best.bandwidth)
    labelled, new = np.split(_whitened(factor), [len(sample.codes)])
    problem = Surrogate.of(labelled, sample.codes, new, sample.shares)
    (coefficients,) = loss.minimisers(problem, np.array([best.ridge]))
    return KernelRule(
        rows.standardise,
        factor.kernel,
        factor.whiten @ coefficients,
        loss,
        best.bandwidth,
        best.ridge,
    )


def _whitened(factor: KernelFactor) -> FloatArray:
    """Features with an inner product that is the kernel's, and a last column of ones."""
    return factor.design.astype(np.float64) @ factor.whiten


class RejectionKernel(RejectionRule):
    """Kernel functions that minimise a convex surrogate of the risk.

    Parameters
    ----------
    loss : Square, Logistic or None, default=None
        Of the surrogate; None is :class:`Square`, which needs one linear solve.
    bandwidth : float, array-like of float or None, default=None
        Standard deviation of the Gaussian kernel. Several are candidates for held-out rows to
        choose from; None makes them 1/4 ... 2 times the median distance between rows. For the
        logistic loss the bandwidth is chosen with the square loss, and then the ridge anew.
    ridge : float, array-like of float or None, default=None
        Strength of the penalty; None makes 1e-5 ... 0.1 the candidates.
    rank : int or "auto", default="auto"
        Landmarks that the kernel functions sit on, as in
        :class:`~unseen.KernelLogisticRegression`.
    standardize : bool, default=True
        Give every feature mean 0 and standard deviation 1 before distances are taken.
    unseen_label, n_folds, random_state
        As for every rule.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.kernel import RejectionKernel
    >>> rng = np.random.RandomState(0)
    >>> y = np.repeat(["left", "right"], 100)
    >>> X = rng.normal(size=(200, 1)) + np.where(y == "left", -4, 4)[:, None]
    >>> X_new = rng.normal(size=(300, 1)) + np.repeat([-4, 4, 0], 100)[:, None]
    >>> rule = RejectionKernel(random_state=0).fit(X, y, X_new, [1 / 3, 1 / 3])
    >>> rule.predict([[-4.0], [0.0], [4.0]])
    array(['left', 'unseen', 'right'], dtype='<U6')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "loss": [HasMethods(["minimisers", "probability", "losses"]), None],
        "bandwidth": [Interval(Real, 0, None, closed="neither"), "array-like", None],
        "ridge": [Interval(Real, 0, None, closed="neither"), "array-like", None],
        "rank": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "standardize": ["boolean"],
        **RejectionRule._parameter_constraints,
    }

    def __init__(
        self,
        loss: Loss | None = None,
        bandwidth: float | ArrayLike | None = None,
        ridge: float | ArrayLike | None = None,
        *,
        rank: int | str = "auto",
        standardize: bool = True,
        unseen_label: Any = "auto",
        n_folds: int = 5,
        random_state: Any = None,
    ) -> None:
        super().__init__(unseen_label=unseen_label, n_folds=n_folds, random_state=random_state)
        self.loss = loss
        self.bandwidth = bandwidth
        self.ridge = ridge
        self.rank = rank
        self.standardize = standardize

    def _fit_rule(self, sample: OpenSample, rng: np.random.RandomState) -> KernelRule:
        return self._fit_both(sample, rng)[0]

    def _fit_both(
        self, sample: OpenSample, rng: np.random.RandomState
    ) -> tuple[KernelRule, HeldOut]:
        """Held-out rows choose the rule, and so are there anyway."""
        loss = Square() if self.loss is None else self.loss
        everything = stack_rows(sample)
        scaling = KernelLogisticRegression(rank=self.rank, standardize=self.standardize)
        with one_blas_thread():
            rows = scaling.prepare(everything, np.ones(everything.shape[0]), rng)
            folds = assign_sample_folds(sample, self.n_folds, rng)
            found = self._candidates(sample, rows, loss, folds)
            rule = fit_kernel_rule(sample, rows, loss, best_of(found, sample.shares))
        held_out = [candidate.held_out for candidate in found]
        return rule, choice_by_other_folds(held_out, folds, sample.shares, least)

    def _candidates(
        self, sample: OpenSample, rows: Rows, loss: Loss, folds: Folds
    ) -> list[Candidate]:
        bandwidths = _descending(self.bandwidth, "bandwidth", BANDWIDTHS * rows.median)
        ridges = _descending(self.ridge, "ridge", RIDGES)
        if isinstance(loss, Logistic) and bandwidths.size > 1:
            # Newton steps for the whole grid would cost ten times as much, and choose no better.
            pilot = self._candidates(sample, rows, Square(), folds)
            bandwidths = np.array([best_of(pilot, sample.shares).bandwidth])
        return [
            candidate
            for bandwidth in bandwidths
            for candidate in candidates(sample, rows, loss, bandwidth, ridges, folds)
        ]


def stack_rows(sample: OpenSample) -> Matrix:
    """All rows, labelled ones first; sparse where they are."""
    if is_sparse(sample.X):
        return sparse.vstack([sample.X, sample.X_new]).tocsr()
    return np.vstack([sample.X, sample.X_new])


def _descending(given: float | ArrayLike | None, name: str, default: FloatArray) -> FloatArray:
    """Candidates from the smoothest on."""
    if given is None:
        return default
    values = np.unique(np.asarray(given, dtype=np.float64))[::-1]
    if values.size == 0 or not np.all(np.isfinite(values) & (values > 0)):
        raise ValueError(f"{name} must be > 0; got {given!r}.")
    return values
