"""Confidence intervals of class proportions, for any estimator that can be bootstrapped.

Every estimator of class proportions makes replicates: its shares under Bayesian-bootstrap
weights of the labelled and the unlabelled rows. From those, and from the ROCs behind them:

- :class:`Percentile`: the quantiles of the replicates. They know the sampling noise of the
  scores that were made, and nothing else, and so cover too little.
- :class:`PaperBand`: the paper's appendix. A model fitted to the lower band of the ROC of a
  class has the upper limit of its share as its right-end slope.
- :class:`Calibrated`: the default. See there for what it adds and why.
- :class:`Credible`: for replicates that are draws from a posterior.

None of them is a guarantee. :func:`certified_unseen` is one: a lower bound of the unseen share
that holds for every distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.stats import norm, rankdata
from sklearn.utils import check_random_state

from unseen.base import FloatArray
from unseen.mixture.bound import CertifiedBound, Form
from unseen.roc.bootstrap import bootstrap_rocs
from unseen.roc.fit import BinomialDeviance, RocFit
from unseen.roc.models import Concave, RocModel

__all__ = [
    "Calibrated",
    "Credible",
    "IntervalEvidence",
    "IntervalMethod",
    "PaperBand",
    "Percentile",
    "certified_unseen",
    "check_interval",
]


@dataclass(frozen=True, eq=False)
class IntervalEvidence:
    """What intervals are made from.

    Parameters
    ----------
    shares : ndarray of shape (K + 1,)
        The estimate: share of each known class, then of unseen ones.
    replicates : callable
        ``replicates(n_replicates, random_state)`` draws shares, shape (B, K + 1).
    n_unlabelled : int
        Unlabelled rows.
    pairs : tuple of (ndarray, ndarray) or None
        Scores of the unlabelled rows and of the rows of each class, where there are such.
    seed : int or None
        Where the randomness comes from.
    """

    shares: FloatArray
    replicates: Callable[[int, Any], FloatArray]
    n_unlabelled: int
    pairs: tuple[tuple[FloatArray, FloatArray], ...] | None = None
    seed: int | None = None


class IntervalMethod(Protocol):
    """A way to make intervals."""

    def limits(self, evidence: IntervalEvidence, confidence: float) -> FloatArray:
        """Lower and upper limit of each share, unseen last: shape (K + 1, 2)."""
        ...


@dataclass(frozen=True)
class Percentile:
    """Quantiles of the bootstrap replicates, the unlabelled and labelled rows both reweighted.

    They hold the noise of the rows, given the scores. That another draw of the folds gives
    other scores, and that a ROC model has a bias, they do not know: expect them to cover
    less than they say.

    Parameters
    ----------
    n_replicates : int, default=500
        Bootstrap replicates.
    simultaneous : bool, default=False
        Whether the level holds for all shares at once, instead of for each.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.intervals import IntervalEvidence, Percentile
    >>> draws = np.random.default_rng(0).dirichlet([300, 700], 1000)
    >>> evidence = IntervalEvidence(np.array([0.3, 0.7]), lambda n, seed: draws, 1000)
    >>> Percentile().limits(evidence, 0.95).round(2)
    array([[0.27, 0.33],
           [0.67, 0.73]])
    """

    n_replicates: int = 500
    simultaneous: bool = False

    def __post_init__(self) -> None:
        _check_n_replicates(self.n_replicates)

    def limits(self, evidence: IntervalEvidence, confidence: float) -> FloatArray:
        """Lower and upper limit of each share, unseen last.

        Parameters
        ----------
        evidence : IntervalEvidence
        confidence : float

        Returns
        -------
        ndarray of shape (K + 1, 2)
        """
        draws = evidence.replicates(self.n_replicates, evidence.seed)
        tail = simultaneous_tail(draws, confidence) if self.simultaneous else (1 - confidence) / 2
        return percentile_limits(draws, tail)


# Chosen once on development problems (see Calibrated) and then left alone.
_STRETCH = 1.4


@dataclass(frozen=True)
class Calibrated:
    """Bootstrap percentiles, stretched for what the bootstrap of given scores cannot see.

    The replicates reweight rows whose scores stay as they are. Three things are missing: other
    folds give other scores, other training rows give another classifier, and the ROC model has
    a bias of its own. All three are of the order of the sampling noise, and plain percentiles
    cover too little. So each limit is moved away from the estimate by the factor ``stretch``.
    The factor was chosen on 400 simulated development problems of nine kinds, left alone from
    then on, and tested on 200 other draws (``benchmarks/coverage.py``).

    No limit is nearer to the estimate than binomial counting noise: had we been shown the class
    of each of the ``m`` new rows, their shares would still vary by that much. It keeps a share
    that was estimated as 0 from having an interval of length 0.

    Parameters
    ----------
    stretch : float, default=1.4
        Factor on the distances from the estimate to the percentiles; 1 is none.
    n_replicates : int, default=500
        Bootstrap replicates.
    simultaneous : bool, default=False
        Whether the level holds for all shares at once, instead of for each.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.intervals import Calibrated, IntervalEvidence
    >>> draws = np.random.default_rng(0).dirichlet([300, 700], 1000)
    >>> evidence = IntervalEvidence(np.array([0.3, 0.7]), lambda n, seed: draws, 1000)
    >>> Calibrated().limits(evidence, 0.95).round(2)
    array([[0.26, 0.34],
           [0.66, 0.74]])
    """

    stretch: float = _STRETCH
    n_replicates: int = 500
    simultaneous: bool = False

    def __post_init__(self) -> None:
        _check_n_replicates(self.n_replicates)
        if not self.stretch >= 1:
            raise ValueError(f"stretch must be >= 1; got {self.stretch}.")

    def limits(self, evidence: IntervalEvidence, confidence: float) -> FloatArray:
        """Lower and upper limit of each share, unseen last.

        Parameters
        ----------
        evidence : IntervalEvidence
        confidence : float

        Returns
        -------
        ndarray of shape (K + 1, 2)
        """
        draws = evidence.replicates(self.n_replicates, evidence.seed)
        tail = simultaneous_tail(draws, confidence) if self.simultaneous else (1 - confidence) / 2
        quantiles = percentile_limits(draws, tail)
        noise = counting_noise(evidence.shares, evidence.n_unlabelled, tail)
        # An unseen share that no replicate moves was assumed and not estimated: a closed set.
        if np.ptp(draws[:, -1]) == 0:
            noise[-1] = 0.0
        return stretched_limits(evidence.shares, quantiles, self.stretch, noise)


@dataclass(frozen=True)
class Credible:
    """Quantiles of draws from a posterior, but nowhere narrower than counting noise.

    Had we been shown the class of each new row, their shares would still vary by counting noise: no
    limit is nearer to the estimate than that.

    Parameters
    ----------
    n_replicates : int, default=500
        Draws.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.intervals import Credible, IntervalEvidence
    >>> draws = np.random.default_rng(0).dirichlet([30, 70], 1000)
    >>> evidence = IntervalEvidence(np.array([0.3, 0.7]), lambda n, seed: draws, 1000)
    >>> Credible().limits(evidence, 0.95).round(2)
    array([[0.22, 0.39],
           [0.61, 0.78]])
    """

    n_replicates: int = 500

    def __post_init__(self) -> None:
        _check_n_replicates(self.n_replicates)

    def limits(self, evidence: IntervalEvidence, confidence: float) -> FloatArray:
        """Lower and upper limit of each share, unseen last.

        Parameters
        ----------
        evidence : IntervalEvidence
        confidence : float

        Returns
        -------
        ndarray of shape (K + 1, 2)
        """
        draws = evidence.replicates(self.n_replicates, evidence.seed)
        tail = (1 - confidence) / 2
        noise = counting_noise(evidence.shares, evidence.n_unlabelled, tail)
        return stretched_limits(evidence.shares, percentile_limits(draws, tail), 1.0, noise)


def stretched_limits(
    shares: FloatArray, quantiles: FloatArray, stretch: float, least: FloatArray
) -> FloatArray:
    """Limits at ``stretch`` times the distance of the quantiles, and at least ``least``.

    Examples
    --------
    >>> stretched_limits(np.array([0.5]), np.array([[0.25, 0.5]]), 1.5, np.array([0.125]))
    array([[0.125 , 0.6875]])
    """
    side = np.array([-1.0, 1.0])
    reach = np.maximum(side * (quantiles - shares[:, None]), least[:, None])
    return np.clip(shares[:, None] + stretch * side * reach, 0.0, 1.0)


def counting_noise(shares: FloatArray, n_rows: int, tail: float) -> FloatArray:
    """Half-width of the binomial interval of Agresti and Coull, had all labels been seen.

    Examples
    --------
    >>> counting_noise(np.array([0.0, 0.5]), 100, 0.025).round(3)
    array([0.026, 0.096])
    """
    quantile = float(norm.isf(tail))
    rows = n_rows + quantile**2
    middle = (shares * n_rows + quantile**2 / 2) / rows
    return quantile * np.sqrt(middle * (1 - middle) / rows)


@dataclass(frozen=True)
class PaperBand:
    """The paper's intervals: models fitted to the bands of the ROC (appendix).

    The lower band of the ROC of a class, so much of each tail of its replicates cut off at each
    false alarm, is fitted like a ROC; its right-end slope is the upper limit of the share.

    Where all classes are known, the lower limit is one minus the sum of the upper limits of the
    others: the paper's rule, ``closed=True``. Where unseen classes may be present that rule is
    wrong, as what the others leave may be unseen; then the upper band gives the lower limit.
    The unseen share lies between one minus the sum of the upper limits and one minus the sum
    of the lower ones.

    Parameters
    ----------
    closed : bool, default=False
        Take it that every row belongs to a known class, as the paper's experiment does.
    n_replicates : int, default=500
        Bootstrap replicates behind the bands.
    model : RocModel or None, default=None
        What is fitted; None is ``Concave()``.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.intervals import IntervalEvidence, PaperBand
    >>> rng = np.random.default_rng(0)
    >>> scores = np.r_[rng.normal(0, 1, 600), rng.normal(4, 1, 400)], rng.normal(0, 1, 800)
    >>> evidence = IntervalEvidence(np.array([0.6, 0.4]), lambda *_: None, 1000, (scores,), 0)
    >>> (lower, upper), unseen = PaperBand().limits(evidence, 0.95)
    >>> bool(lower < 0.6 < upper)
    True
    """

    closed: bool = False
    n_replicates: int = 500
    model: RocModel | None = None

    def __post_init__(self) -> None:
        _check_n_replicates(self.n_replicates)

    def limits(self, evidence: IntervalEvidence, confidence: float) -> FloatArray:
        """Lower and upper limit of each share, unseen last.

        Parameters
        ----------
        evidence : IntervalEvidence
            With the scores of each class.
        confidence : float

        Returns
        -------
        ndarray of shape (K + 1, 2)
        """
        if evidence.pairs is None:
            raise ValueError(
                "interval must be one that needs no ROC for an estimator that has none; "
                f"got {self!r}. Take Percentile() or None."
            )
        model = Concave() if self.model is None else self.model
        lower, upper = band_slopes(
            evidence.pairs, confidence, model, BinomialDeviance(), self.n_replicates, evidence.seed
        )
        return closed_limits(upper) if self.closed else open_limits(lower, upper)


def band_slopes(
    pairs: Sequence[tuple[FloatArray, FloatArray]],
    confidence: float,
    model: RocModel,
    criterion: RocFit,
    n_replicates: int,
    random_state: Any,
) -> tuple[FloatArray, FloatArray]:
    """Slopes of the model fitted to the upper and to the lower band of each class's ROC.

    Returns
    -------
    lower, upper : ndarray of shape (K,)
        Limits of the share of each class; a higher ROC has the lower slope.
    """
    curves = bootstrap_rocs(pairs, criterion.grid, n_replicates, random_state)
    tail = (1 - confidence) / 2
    bands = np.quantile(curves, [1 - tail, tail], axis=0)
    slopes = [
        criterion.fit_curves(
            criterion.grid, bands[:, label], model, n_labelled=len(scores_H)
        ).right_slope
        for label, (_, scores_H) in enumerate(pairs)
    ]
    lower, upper = np.sort(slopes, axis=1).T
    return lower, upper


def closed_limits(upper: FloatArray) -> FloatArray:
    """The paper's limits: one minus the others' upper limits is the lower limit.

    Examples
    --------
    >>> closed_limits(np.array([0.7, 0.5]))
    array([[0.5, 0.7],
           [0.3, 0.5],
           [0. , 0. ]])
    """
    others = upper.sum() - upper
    lower = np.clip(1 - others, 0.0, upper)
    return np.vstack([np.column_stack([lower, upper]), [0.0, 0.0]])


def open_limits(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Limits of each class, and what they leave to unseen classes at most and at least.

    Examples
    --------
    >>> open_limits(np.array([0.25, 0.125]), np.array([0.5, 0.25]))
    array([[0.25 , 0.5  ],
           [0.125, 0.25 ],
           [0.25 , 0.625]])
    """
    unseen = np.clip([1 - upper.sum(), 1 - lower.sum()], 0.0, 1.0)
    return np.vstack([np.column_stack([lower, upper]), unseen])


def percentile_limits(draws: FloatArray, tail: float) -> FloatArray:
    """Quantiles ``tail`` and ``1 - tail`` of each column: shape (columns, 2)."""
    return np.quantile(draws, [tail, 1 - tail], axis=0).T


def simultaneous_tail(draws: FloatArray, confidence: float) -> float:
    """Tail to cut off each column so that whole rows stay inside with this confidence.

    A row lies as far out as its most extreme column does, counted in ranks; the level is set
    on that one number per row, so that dependence between the columns is taken as it is.

    Parameters
    ----------
    draws : ndarray of shape (B, columns)
        Replicates.
    confidence : float
        Share of the rows to keep inside.

    Returns
    -------
    float
        At most ``(1 - confidence) / 2``, the tail for one column alone.

    Examples
    --------
    >>> import numpy as np
    >>> draws = np.random.default_rng(0).normal(size=(4000, 1))
    >>> round(simultaneous_tail(draws, 0.9), 2)
    0.05
    """
    below = (rankdata(draws, method="min", axis=0) - 1) / len(draws)
    above = (rankdata(-draws, method="min", axis=0) - 1) / len(draws)
    # Ties count as inside: half the replicates may have an unseen share of exactly 0.
    outermost = np.minimum(1 - below, 1 - above).min(axis=1)
    return float(min(np.quantile(outermost, 1 - confidence), (1 - confidence) / 2))


def certified_unseen(
    samples: Sequence[Any],
    X_new: Any,
    delta: float = 0.05,
    *,
    form: Form = "clopper-pearson",
    classifier: Any = None,
    random_state: Any = None,
) -> float:
    """Lower bound of the unseen share that fails with probability at most ``delta``.

    Each known class has at most its certified upper bound (:class:`~unseen.CertifiedBound`, at
    ``delta / K`` each, on split samples); what the bounds leave must be unseen. No property of
    the classes is assumed. It is no estimate: with few rows it is 0 and says nothing.

    Parameters
    ----------
    samples : sequence of array-like of shape (n_i, n_features)
        Labelled rows of each known class.
    X_new : array-like of shape (n_unlabelled, n_features)
        Unlabelled rows.
    delta : float, default=0.05
        Probability with which the bound may fail.
    form : {"clopper-pearson", "dkw", "vc"}, default="clopper-pearson"
        Which inequality.
    classifier : scikit-learn classifier or None, default=None
        What tells the unlabelled rows from a class; a poor one loosens the bound.
    random_state : int, RandomState instance or None, default=None
        Seed of the splits and of the classifier.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.intervals import certified_unseen
    >>> rng = np.random.default_rng(0)
    >>> known = [rng.normal(0, 1, (800, 2))]
    >>> X_new = np.vstack([rng.normal(0, 1, (400, 2)), rng.normal(9, 1, (400, 2))])
    >>> 0.3 < certified_unseen(known, X_new, random_state=0) <= 0.5
    True
    """
    rng = check_random_state(random_state)
    bounds = [
        CertifiedBound(delta / len(samples), form, classifier, random_state=rng.randint(2**31 - 1))
        .fit(sample)
        .bound(X_new)
        for sample in samples
    ]
    return max(0.0, 1.0 - sum(bound.upper for bound in bounds))


def check_interval(confidence: float | None, interval: Any = None) -> None:
    """A level strictly between 0 and 1, and a method that makes limits.

    Examples
    --------
    >>> check_interval(95)
    Traceback (most recent call last):
        ...
    ValueError: confidence must lie strictly between 0 and 1, such as 0.95; got 95.
    """
    if confidence is not None and not 0 < confidence < 1:
        raise ValueError(
            f"confidence must lie strictly between 0 and 1, such as 0.95; got {confidence}."
        )
    if interval is not None and (isinstance(interval, type) or not hasattr(interval, "limits")):
        raise TypeError(
            f"interval must be an interval method such as Calibrated(), or None; got {interval!r}."
        )
    if interval is not None and confidence is None:
        raise ValueError(f"interval needs a confidence, such as 0.95; got {interval!r} and None.")


def _check_n_replicates(n_replicates: int) -> None:
    if n_replicates < 20:
        raise ValueError(f"n_replicates must be >= 20 to have quantiles; got {n_replicates}.")
