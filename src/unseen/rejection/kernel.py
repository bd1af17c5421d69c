"""A rule from a convex surrogate of the risk, on kernel functions.

Each label k has a function f_k, and a row has the label whose function is largest there. With the
square loss f_k estimates 2 eta_k - 1, where eta_k is the probability of class k. The convex
problems are in :mod:`unseen.rejection.losses`, derived in ``docs/rejection.md``.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike

from unseen._arrays import arrays_of
from unseen._sklearn import HasMethods, Interval, StrOptions
from unseen._team import own_threads, row_blocks
from unseen._types import Array, FloatArray, Matrix
from unseen.rejection.base import RejectionRule
from unseen.rejection.losses import (
    Logistic,
    Loss,
    RowLosses,
    Square,
    Surrogate,
    choose_by_other_folds,
    lowest_risk,
    row_losses,
)
from unseen.rejection.sample import Folds, OpenSample, OutOfFold, held_out, rescaled
from unseen.scores.kernel import KernelFactor, PreparedRows, ShiftedKernel
from unseen.scores.klr import KernelLogisticRegression
from unseen.scores.scales import Scale

BANDWIDTHS = 2.0 ** np.arange(1, -3, -1)  # times the median distance between landmarks
RIDGES = 10.0 ** np.arange(-1, -6, -1)


def label_probabilities(loss: Loss, values: FloatArray) -> FloatArray:
    """Probabilities of K classes and of unseen from f_1 ... f_K and the function of "known"."""
    signed = np.column_stack([values[:, :-1], -values[:, -1]])
    # Where no label has a chance, the label of the highest function gets it all.
    highest = signed == signed.max(axis=1, keepdims=True)
    return rescaled(loss.probability(signed), highest / highest.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class KernelRule:
    """A fitted rule: functions of the kernel against a few landmarks."""

    standardise: Scale
    kernel: ShiftedKernel
    coefficients: FloatArray  # of the kernel functions and, last, the constants: (r + 1, K + 1)
    loss: Loss
    bandwidth: float
    ridge: float

    def probabilities(self, X: Matrix) -> FloatArray:
        """Probability of each known class and, last, of unseen ones."""
        with own_threads():
            values = self.kernel.functions(X, self.standardise, self.coefficients[:-1])
        for rows in row_blocks(len(values)):  # in pieces, which take less memory and time
            shifted = values[rows] + self.coefficients[-1]
            values[rows] = label_probabilities(self.loss, shifted)
        return values


@dataclass(frozen=True, eq=False)
class Candidate:
    """A bandwidth and a ridge, with their probabilities of rows out of fold."""

    bandwidth: float
    ridge: float
    out_of_fold: OutOfFold
    losses: RowLosses


def kernel_features(sample: OpenSample, factor: KernelFactor) -> tuple[Array, Array]:
    """Features of labelled and of new rows whose inner product is the kernel's."""
    arrays, n_labelled = arrays_of(factor.design), len(sample.codes)
    whitened = arrays.whitened(factor.design, factor.whiten)
    features = arrays.put(whitened, np.float64)
    return features[:n_labelled], features[n_labelled:]


def try_all(
    sample: OpenSample,
    rows: PreparedRows,
    loss: Loss,
    bandwidths: FloatArray,
    ridges: FloatArray,
    folds: Folds,
) -> list[Candidate]:
    """Every ridge at every bandwidth, with its probabilities out of fold."""
    candidates, codes, arrays = [], sample.codes, rows.arrays
    n_labels = len(sample.shares) + 1
    for bandwidth in bandwidths:
        labelled, new = kernel_features(sample, rows.factor(bandwidth))
        products = new.T @ new
        values, values_new = (np.zeros((len(ridges), len(part), n_labels)) for part in folds)
        for out, out_new in held_out(folds):
            mine, few = labelled[out], new[out_new]
            rest = labelled[~out], codes[~out], new[~out_new]
            # Products of the other rows are what is left without these.
            problem = Surrogate.from_features(*rest, sample.shares, products - few.T @ few)
            for place, found in enumerate(loss.minimisers(problem, ridges)):
                functions = arrays.put(found)
                values[place, out] = arrays.host(mine @ functions)
                values_new[place, out_new] = arrays.host(few @ functions)
        for ridge, *of_ridge in zip(ridges, values, values_new, strict=True):
            probabilities, probabilities_new = (label_probabilities(loss, one) for one in of_ridge)
            each = OutOfFold(probabilities, codes, probabilities_new)
            candidates.append(Candidate(bandwidth, float(ridge), each, row_losses(each)))
    return candidates


@dataclass(eq=False, repr=False)
class RejectionKernel(RejectionRule):
    """A rule of kernel functions that minimise a convex surrogate of the risk.

    Parameters
    ----------
    loss : Square, Logistic or None, default=None
        Loss of the surrogate; None is :class:`Square`, which needs one linear solve.
    bandwidth : float, array-like of float or None, default=None
        Standard deviation of the Gaussian kernel. Rows out of fold choose between several; None
        tries 1/4 ... 2 times the median distance between rows. For the logistic loss, the square
        loss chooses the bandwidth, and the ridge is then chosen anew.
    ridge : float, array-like of float or None, default=None
        Strength of the penalty; None tries 1e-5 ... 0.1.
    rank : int or "auto", default="auto"
        Number of landmarks that the kernel functions sit on, see
        :class:`~unseen.KernelLogisticRegression`.
    standardize : bool, default=True
        Give every feature mean 0 and standard deviation 1 before distances are taken.
    unseen_label, n_folds, random_state
        Parameters of every rule.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import RejectionKernel
    >>> rng = np.random.RandomState(0)
    >>> y = np.repeat(["left", "right"], 100)
    >>> X = rng.normal(size=(200, 1)) + np.where(y == "left", -4, 4)[:, None]
    >>> X_new = rng.normal(size=(300, 1)) + np.repeat([-4, 4, 0], 100)[:, None]
    >>> rule = RejectionKernel(random_state=0).fit(X, y, X_new, [1 / 3, 1 / 3])
    >>> rule.predict([[-4.0], [0.0], [4.0]])
    array(['left', 'unseen', 'right'], dtype='<U6')
    """

    loss: Loss | None = None
    bandwidth: float | ArrayLike | None = None
    ridge: float | ArrayLike | None = None
    _: KW_ONLY
    rank: int | str = "auto"
    standardize: bool = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "loss": [HasMethods(["minimisers", "probability"]), None],
        "bandwidth": [Interval(Real, 0, None, closed="neither"), "array-like", None],
        "ridge": [Interval(Real, 0, None, closed="neither"), "array-like", None],
        "rank": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "standardize": ["boolean"],
        **RejectionRule._parameter_constraints,
    }

    def _fit_both(self, sample: OpenSample, rng: RandomState) -> tuple[KernelRule, OutOfFold]:
        """Rows out of fold choose the rule, and so are there anyway."""
        loss, shares = Square() if self.loss is None else self.loss, sample.shares
        scaling = KernelLogisticRegression(rank=self.rank, standardize=self.standardize)
        with own_threads():
            everything = sample.rows
            rows = scaling.prepare(everything, np.ones(everything.shape[0]), rng)
            folds = sample.assign_folds(self.n_folds, rng)
            bandwidths = _descending(self.bandwidth, "bandwidth", BANDWIDTHS * rows.median)
            ridges = _descending(self.ridge, "ridge", RIDGES)
            if isinstance(loss, Logistic) and bandwidths.size > 1:
                # Newton steps for the whole grid cost ten times as much, and choose no better.
                pilot = try_all(sample, rows, Square(), bandwidths, ridges, folds)
                best = pilot[lowest_risk([one.losses for one in pilot], shares)]
                bandwidths = np.array([best.bandwidth])
            candidates = try_all(sample, rows, loss, bandwidths, ridges, folds)
            losses = [one.losses for one in candidates]
            best = candidates[lowest_risk(losses, shares)]
            factor = rows.factor(best.bandwidth)
            labelled, new = kernel_features(sample, factor)
            problem = Surrogate.from_features(labelled, sample.codes, new, shares)
            (minimiser,) = loss.minimisers(problem, np.array([best.ridge]))
            coefficients = factor.whiten @ minimiser
        rule = KernelRule(
            rows.standardise, factor.kernel, coefficients, loss, best.bandwidth, best.ridge
        )
        of_rows = [one.out_of_fold for one in candidates]
        return rule, choose_by_other_folds(of_rows, losses, folds, shares, lowest_risk)


def _descending(given: float | ArrayLike | None, name: str, default: FloatArray) -> FloatArray:
    """Candidates from the smoothest on."""
    if given is None:
        return default
    values = np.unique(np.asarray(given, dtype=np.float64))[::-1]
    if values.size == 0 or not np.all(np.isfinite(values) & (values > 0)):
        raise ValueError(f"{name} must be > 0; got {given!r}.")
    return values
