"""A certified upper bound on ν*, valid for every pair of distributions and sample sizes.

For every set C, ν* <= F(C) / H(C). So an upper limit of F(C) over a lower limit of H(C),
minimised over the sets ``C = {score <= c}`` of one fixed score, is at least ν* with
probability ``1 - delta`` as long as all the limits hold together [1]_. No property of the
distributions is assumed, least of all irreducibility; and nothing bounds ν from below.

Three ways to make the limits hold together:

- ``"vc"``: the Vapnik-Chervonenkis inequality as published, for sets of dimension one;
- ``"dkw"``: the one-sided Dvoretzky-Kiefer-Wolfowitz inequality with Massart's constant;
- ``"clopper-pearson"``: exact limits at 20 thresholds. The thresholds are scores of H at
  ranks fixed beforehand: H(score <= k-th smallest of m) is at least Beta(k, m - k + 1) in
  law, with ties or without, and given the scores of H the rows of F under a threshold are
  binomial. So no further split is needed to place the thresholds.

The score must not have seen the rows that it is evaluated on, and must be one function:
scores pooled over folds come from several, and satisfy none of the three exactly.

References
----------
.. [1] G. Blanchard, G. Lee, C. Scott, "Semi-supervised novelty detection", JMLR 2010.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state

from unseen._random import seeded
from unseen._sklearn import Interval, StrOptions
from unseen._types import FloatArray, IntArray
from unseen.mixture.base import LabelledSample, stack_rows
from unseen.records import UpperBound
from unseen.roc.sketch import RocSketch
from unseen.scores.klr import KernelLogisticRegression
from unseen.scores.refit import log_odds

Form = Literal["clopper-pearson", "dkw", "vc"]

_N_RANKS = 20
_SMALLEST_SHARE = 0.02


def uniform_bound(share_F: FloatArray, share_H: FloatArray, eps_F: float, eps_H: float) -> float:
    """Least (F(C) + eps_F) / (H(C) - eps_H)_+ over the given sets C.

    Examples
    --------
    >>> import numpy as np
    >>> uniform_bound(np.array([0.1, 1.0]), np.array([0.5, 1.0]), 0.1, 0.1)
    0.5
    """
    lower_H = share_H - eps_H
    usable = lower_H > 0
    if not usable.any():
        return 1.0
    return float(np.min((share_F[usable] + eps_F) / lower_H[usable]))


def dkw_epsilon(n_rows: int, delta: float) -> float:
    """How far the distribution function of n rows strays on one side, at most; Massart."""
    return float(np.sqrt(np.log(1 / delta) / (2 * n_rows)))


def vc_epsilon(n_rows: int, delta: float, dimension: int = 1) -> float:
    """How far shares stray over a class of sets of this dimension, at most; Sec. 5 of [1]_."""
    return float(3 * np.sqrt((dimension * np.log(n_rows + 1) + np.log(2 / delta)) / n_rows))


def fixed_ranks(n_labelled: int) -> IntArray:
    """At most 20 ranks of the scores of H, spaced geometrically; they see no data."""
    smallest = max(1.0, _SMALLEST_SHARE * n_labelled)
    return np.unique(np.rint(np.geomspace(smallest, n_labelled, _N_RANKS)).astype(np.int64))


def clopper_pearson_bound(
    labelled: IntArray, new: IntArray, ranks: IntArray, delta: float
) -> float:
    """Least ratio of exact limits at the k-th smallest scores of H, union bound over k.

    Parameters
    ----------
    labelled, new : ndarray
        Rows of H and of F in each cell, by rising score.
    ranks : ndarray of int
        The ranks k, chosen without a look at the scores.
    delta : float
        Probability of error allowed to all limits together.

    Examples
    --------
    >>> import numpy as np
    >>> separable = np.array([1000, 0]), np.array([0, 1000])
    >>> round(clopper_pearson_bound(*separable, np.array([1000]), 0.05), 4)
    0.0037
    """
    level = delta / (2 * ranks.size)
    n_labelled, n_new = int(labelled.sum()), int(new.sum())
    cell = np.searchsorted(np.cumsum(labelled), ranks)  # holds the k-th smallest score of H
    below = np.cumsum(new)[cell]
    lower_H = beta.ppf(level, ranks, n_labelled - ranks + 1)
    # With every row below, the upper limit is 1; the law Beta(n + 1, 0) does not exist.
    upper_F = np.where(
        below < n_new,
        beta.ppf(1 - level, below + 1, np.maximum(n_new - below, 1)),
        1.0,
    )
    return float(np.min(upper_F / lower_H))


class CertifiedBound(LabelledSample):
    """Upper bound on ν* with probability at least ``1 - delta``; never an estimate.

    ``1 - upper`` is a certified lower bound on the share of everything that is not H. Both
    samples are split in half: the classifier learns from one half, the other is counted.

    Parameters
    ----------
    delta : float, default=0.05
        Probability with which the bound may fail.
    form : {"clopper-pearson", "dkw", "vc"}, default="clopper-pearson"
        Which inequality. The first is tightest where ν is small; ``"vc"`` is the published
        one, and says nothing below some thousands of rows.
    classifier : scikit-learn classifier or None, default=None
        What tells F from H; None is kernel logistic regression. A poor classifier loosens
        the bound and cannot break it.
    random_state : int, RandomState instance or None, default=None
        Seed of the split and of the classifier.

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
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LabelledSample._parameter_constraints,
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "form": [StrOptions({"clopper-pearson", "dkw", "vc"})],
    }

    def __init__(
        self,
        delta: float = 0.05,
        form: Form = "clopper-pearson",
        classifier: Any = None,
        random_state: Any = None,
    ) -> None:
        self.delta = delta
        self.form = form
        self.classifier = classifier
        self.random_state = random_state

    def bound(self, X_new: ArrayLike) -> UpperBound:
        """Bound the share of H in the new sample.

        Parameters
        ----------
        X_new : array-like of shape (n_new, n_features)
            The sample of F, with the columns of the labelled sample.

        Returns
        -------
        UpperBound
        """
        return self.from_sketch(self._held_out_sketch(self._unlabelled(X_new)))

    def from_sketch(self, sketch: RocSketch) -> UpperBound:
        """Bound from the counts of scores; needs no ``fit``.

        Parameters
        ----------
        sketch : RocSketch
            Scores of one classifier that was fitted on other rows. Out-of-fold scores
            pooled over folds are not covered by the guarantee.

        Returns
        -------
        UpperBound
        """
        self._validate_params()
        upper = min(1.0, self._upper(sketch))
        return UpperBound(upper, self.delta, self.form, vacuous=upper >= 1.0)

    def _upper(self, sketch: RocSketch) -> float:
        labelled, new = (counts[::-1] for counts in sketch.increments())
        m, n = sketch.n_labelled, sketch.n_new
        if self.form == "clopper-pearson":
            return clopper_pearson_bound(labelled, new, fixed_ranks(m), self.delta)
        epsilon = dkw_epsilon if self.form == "dkw" else vc_epsilon
        return uniform_bound(
            np.cumsum(new) / n,
            np.cumsum(labelled) / m,
            epsilon(n, self.delta / 2),
            epsilon(m, self.delta / 2),
        )

    def _held_out_sketch(self, new: Any) -> RocSketch:
        """Learn on one half of both samples, score the other half."""
        rng = check_random_state(self.random_state)
        learn_F, count_F = _halves(new, "X_new", rng)
        learn_H, count_H = _halves(self.labelled_.rows, "X", rng)
        is_F = np.repeat([1, 0], [learn_F.shape[0], learn_H.shape[0]])
        classifier = self._fresh_classifier(rng).fit(stack_rows(learn_F, learn_H), is_F)
        return RocSketch.from_scores(log_odds(classifier, count_F), log_odds(classifier, count_H))

    def _fresh_classifier(self, rng: np.random.RandomState) -> Any:
        classifier = KernelLogisticRegression() if self.classifier is None else self.classifier
        return seeded(classifier, rng.randint(2**31 - 1))


def _halves(sample: Any, name: str, rng: np.random.RandomState) -> list[Any]:
    if sample.shape[0] < 4:
        raise ValueError(
            f"{name} must have at least 4 rows, to be split in half; got {sample.shape[0]}."
        )
    return train_test_split(sample, test_size=0.5, random_state=rng)
