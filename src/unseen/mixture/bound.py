"""A certified upper bound on ν*, valid for every pair of distributions that did not change.

ν* <= F(C) / H(C) for every set C. So an upper limit of F(C) over a lower limit of H(C), minimised
over the sets ``C = {score <= c}`` of one fixed score, is at least ν* with probability ``1 - delta``
if all limits hold together [1]_. The score must be one function that has not seen the counted rows.
Where no kind of row of H became more than c times as common, ``1 - c (1 - H(C))`` takes the place
of H(C) (docs/drift.md). docs/theory.md derives the three forms.

References
----------
.. [1] G. Blanchard, G. Lee, C. Scott, "Semi-supervised novelty detection", JMLR 2010.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from unseen._random import seeded
from unseen._sklearn import Interval, StrOptions
from unseen._types import FloatArray, IntArray
from unseen.mixture.base import LabelledSample
from unseen.records import UpperBound
from unseen.roc.sketch import RocSketch
from unseen.samples import check_new
from unseen.scores.base import stack_samples
from unseen.scores.crossfit import log_odds
from unseen.scores.klr import KernelLogisticRegression

Form = Literal["clopper-pearson", "dkw", "vc"]

_N_RANKS = 20
_SMALLEST_SHARE = 0.02


def least_ratio(upper_F: FloatArray, lower_H: FloatArray, factor: float = 1.0) -> float:
    """Least upper limit of F(C) over the lower limit of H(C), if H changed by at most a factor."""
    least = 1 - factor * (1 - lower_H)
    usable = least > 0
    return float(np.min(upper_F[usable] / least[usable])) if usable.any() else 1.0


def dkw_epsilon(n_rows: int, delta: float) -> float:
    """Largest one-sided error of the distribution function of n rows, with Massart's constant."""
    return float(np.sqrt(np.log(1 / delta) / (2 * n_rows)))


def vc_epsilon(n_rows: int, delta: float) -> float:
    """Largest error of shares over sets of VC dimension 1, Sec. 5 of [1]_."""
    return float(3 * np.sqrt((np.log(n_rows + 1) + np.log(2 / delta)) / n_rows))


def fixed_ranks(n_labelled: int) -> IntArray:
    """At most 20 ranks of the scores of H, spaced geometrically, chosen without the data."""
    smallest = max(1.0, _SMALLEST_SHARE * n_labelled)
    return np.unique(np.rint(np.geomspace(smallest, n_labelled, _N_RANKS)).astype(np.int64))


def clopper_pearson_bound(
    labelled: IntArray, new: IntArray, ranks: IntArray, delta: float, factor: float = 1.0
) -> float:
    """Least ratio of exact limits at the k-th smallest scores of H, union bound over the ranks k.

    ``labelled`` and ``new`` count the rows of H and F in each cell, by rising score.
    """
    level = delta / (2 * ranks.size)
    n_labelled, n_new = int(labelled.sum()), int(new.sum())
    cell = np.searchsorted(np.cumsum(labelled), ranks)  # holds the k-th smallest score of H
    below = np.cumsum(new)[cell]
    lower_H = np.asarray(beta.ppf(level, ranks, n_labelled - ranks + 1))
    # If every row lies below, the upper limit is 1; there is no law Beta(n + 1, 0).
    quantile = beta.ppf(1 - level, below + 1, np.maximum(n_new - below, 1))
    upper_F = np.where(below < n_new, quantile, 1.0)
    return least_ratio(upper_F, lower_H, factor)


@dataclass(eq=False, repr=False)
class CertifiedBound(LabelledSample):
    """Upper bound on ν* with probability at least ``1 - delta``; never an estimate.

    ``1 - upper`` is a certified lower bound on the share of everything that is not H. Both
    samples are split in half: the classifier learns from one half, the other is counted.

    Parameters
    ----------
    delta : float, default=0.05
        Probability with which the bound may fail.
    form : {"clopper-pearson", "dkw", "vc"}, default="clopper-pearson"
        The inequality: exact binomial limits, tightest if ν is small; the one-sided
        Dvoretzky-Kiefer-Wolfowitz inequality; or the published Vapnik-Chervonenkis inequality,
        which says nothing below some thousands of rows.
    classifier : scikit-learn classifier or None, default=None
        The classifier that tells F from H; None is kernel logistic regression. A poor classifier
        loosens the bound and cannot break it.
    random_state : int, RandomState instance or None, default=None
        Seed of the split and of the classifier.
    factor : float, default=1.0
        The bound holds if no kind of row of H became more than so many times as common; 1 takes H
        for unchanged. The drift-tolerant twin of the bound: docs/drift.md.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.mixture import CertifiedBound
    >>> from unseen.roc.sketch import RocSketch
    >>> rng = np.random.default_rng(0)
    >>> H = rng.normal(0, 1, 2000)
    >>> F = np.r_[rng.normal(0, 1, 600), rng.normal(4, 1, 1400)]
    >>> print(CertifiedBound().from_sketch(RocSketch.from_scores(F, H)))
    at most 0.343 with probability >= 0.95 (clopper-pearson)
    >>> CertifiedBound(factor=3.0).from_sketch(RocSketch.from_scores(F, H)).upper > 0.343
    True
    """

    delta: float = 0.05
    form: Form = "clopper-pearson"
    classifier: Any = None
    random_state: Any = None
    factor: float = 1.0

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LabelledSample._parameter_constraints,
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "form": [StrOptions({"clopper-pearson", "dkw", "vc"})],
        "factor": [Interval(Real, 1, None, closed="left")],
    }

    def bound(self, X_new: ArrayLike) -> UpperBound:
        """Bound the share of H in the new sample, which has the columns of the labelled one."""
        check_is_fitted(self)
        rng = check_random_state(self.random_state)
        learn_F, count_F = _halves(check_new(self.labelled_, X_new), "X_new", rng)
        learn_H, count_H = _halves(self.labelled_.rows, "X", rng)
        rows, is_F = stack_samples(learn_F, learn_H)
        chosen = KernelLogisticRegression() if self.classifier is None else self.classifier
        classifier = seeded(chosen, rng.randint(2**31 - 1)).fit(rows, is_F)
        scores = log_odds(classifier, count_F), log_odds(classifier, count_H)
        return self.from_sketch(RocSketch.from_scores(*scores))

    def from_sketch(self, sketch: RocSketch) -> UpperBound:
        """Bound from the counts of scores of one classifier, fitted on other rows.

        The guarantee does not cover out-of-fold scores, which come from several classifiers. Needs
        no ``fit``.
        """
        self._validate_params()
        labelled, new = (counts[::-1] for counts in sketch.increments())
        m, n = sketch.n_labelled, sketch.n_new
        if self.form == "clopper-pearson":
            bound = clopper_pearson_bound(labelled, new, fixed_ranks(m), self.delta, self.factor)
        else:
            epsilon = dkw_epsilon if self.form == "dkw" else vc_epsilon
            errors = epsilon(n, self.delta / 2), epsilon(m, self.delta / 2)
            upper_F, lower_H = np.cumsum(new) / n + errors[0], np.cumsum(labelled) / m - errors[1]
            bound = least_ratio(upper_F, lower_H, self.factor)
        upper = min(1.0, bound)
        return UpperBound(upper, self.delta, self.form, vacuous=upper >= 1.0)


def _halves(sample: Any, name: str, rng: np.random.RandomState) -> list[Any]:
    if sample.shape[0] < 4:
        raise ValueError(
            f"{name} must have at least 4 rows, to be split in half; got {sample.shape[0]}."
        )
    return train_test_split(sample, test_size=0.5, random_state=rng)
