"""Confidence intervals of class proportions, from replicates of the shares.

None is a guarantee; :func:`certified_unseen` bounds the unseen share from below for every
distribution. docs/theory.md, "Intervals and what the data can refute", says what each covers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol

import numpy as np
from scipy.stats import norm, rankdata
from sklearn.utils import check_random_state

from unseen._frozen import Frozen
from unseen._types import FloatArray, ScorePair
from unseen.mixture.bound import CertifiedBound, Form
from unseen.roc.bootstrap import STRETCH, bootstrap_rocs
from unseen.roc.fit import GRID, fit_roc
from unseen.roc.models import Concave, RocModel


@dataclass(frozen=True, eq=False)
class IntervalEvidence(Frozen):
    """The estimate, and a way to draw replicates of it."""

    shares: FloatArray  # (K + 1,): of each known class, then of unseen ones
    replicates: Callable[[int, Any], FloatArray]  # (number, seed) -> shares (B, K + 1)
    n_new: int
    # Scores of the new rows and of the rows of each class, if the estimator has such.
    pairs: tuple[ScorePair, ...] | None = None
    seed: int | None = None

    def drawn(
        self, n_replicates: int, confidence: float, simultaneous: bool = False
    ) -> tuple[FloatArray, float, FloatArray]:
        """Replicates, the tail cut off on each side, and the quantiles (K + 1, 2) that are left."""
        draws = self.replicates(n_replicates, self.seed)
        tail = simultaneous_tail(draws, confidence) if simultaneous else (1 - confidence) / 2
        return draws, tail, np.quantile(draws, [tail, 1 - tail], axis=0).T


class IntervalMethod(Protocol):
    """A way to make intervals."""

    def limits(self, evidence: IntervalEvidence, confidence: float) -> FloatArray:
        """Lower and upper limit of each share, unseen last."""
        ...


def check_interval(confidence: float | None, interval: Any = None) -> None:
    """Check that the level lies strictly between 0 and 1, and that the method makes limits."""
    if confidence is not None and not (isinstance(confidence, Real) and 0 < confidence < 1):
        raise ValueError(
            f"confidence must lie strictly between 0 and 1, such as 0.95; got {confidence!r}."
        )
    if interval is not None and (isinstance(interval, type) or not hasattr(interval, "limits")):
        raise TypeError(
            f"interval must be an interval method such as Calibrated(), or None; got {interval!r}."
        )
    if interval is not None and confidence is None:
        raise ValueError(f"interval needs a confidence, such as 0.95; got {interval!r} and None.")


class FromReplicates:
    """Base of the methods that take quantiles of replicates, of which there must be enough."""

    n_replicates: int

    def __post_init__(self) -> None:
        if self.n_replicates < 20:
            raise ValueError(
                f"n_replicates must be >= 20 to have quantiles; got {self.n_replicates}."
            )


@dataclass(frozen=True)
class Percentile(FromReplicates):
    """Quantiles of the bootstrap replicates, the new and labelled rows both reweighted.

    The quantiles hold the noise of the rows for given scores. They miss that other folds give
    other scores and that a ROC model has a bias: expect a coverage below the stated level.

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

    def limits(self, evidence: IntervalEvidence, confidence: float) -> FloatArray:
        """Lower and upper limit of each share, unseen last."""
        return evidence.drawn(self.n_replicates, confidence, self.simultaneous)[2]


@dataclass(frozen=True)
class Calibrated(FromReplicates):
    """Bootstrap percentiles, stretched for the noise that a bootstrap of given scores misses.

    The replicates reweight rows and keep their scores. They miss that other folds give other
    scores, that other training rows give another classifier, and that the ROC model has a bias.
    All three are of the order of the sampling noise, so that plain percentiles cover too little;
    each limit is therefore moved away from the estimate by the factor ``stretch``. The factor was
    chosen on simulated development problems and tested on others (``benchmarks/coverage.py``).

    No limit is nearer to the estimate than binomial counting noise, by which the shares would
    vary even if the class of each new row were known. So a share that was estimated as 0 has an
    interval of positive length.

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

    stretch: float = STRETCH
    n_replicates: int = 500
    simultaneous: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.stretch >= 1:
            raise ValueError(f"stretch must be >= 1; got {self.stretch}.")

    def limits(self, evidence: IntervalEvidence, confidence: float) -> FloatArray:
        """Lower and upper limit of each share, unseen last."""
        options = self.n_replicates, confidence, self.simultaneous
        draws, tail, quantiles = evidence.drawn(*options)
        noise = counting_noise(evidence.shares, evidence.n_new, tail)
        # An unseen share that is the same in all replicates was assumed (a closed set).
        if np.ptp(draws[:, -1]) == 0:
            noise[-1] = 0.0
        return stretched_limits(evidence.shares, quantiles, self.stretch, noise)


@dataclass(frozen=True)
class Credible(FromReplicates):
    """Quantiles of draws from a posterior, nowhere narrower than counting noise.

    The shares would vary by counting noise even if the class of each new row were known.

    Parameters
    ----------
    n_replicates : int, default=500
        Draws from the posterior.

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

    def limits(self, evidence: IntervalEvidence, confidence: float) -> FloatArray:
        """Lower and upper limit of each share, unseen last."""
        _, tail, quantiles = evidence.drawn(self.n_replicates, confidence)
        noise = counting_noise(evidence.shares, evidence.n_new, tail)
        return stretched_limits(evidence.shares, quantiles, 1.0, noise)


@dataclass(frozen=True)
class RocBand(FromReplicates):
    """The paper's intervals: models fitted to the bands of the ROC (appendix).

    The lower band of a class is a quantile of its bootstrapped ROC at each false alarm. A model
    fitted to this band has the upper limit of the share as its right-end slope.

    With ``closed=True``, the paper's rule, the lower limit of a class is one minus the sum of the
    upper limits of the others. This rule is wrong where unseen classes may be present; then the
    upper band gives the lower limit, and the unseen share lies between one minus the sum of the
    upper limits and one minus the sum of the lower ones.

    Parameters
    ----------
    closed : bool, default=False
        Whether every new row belongs to a known class, as in the paper's experiment.
    n_replicates : int, default=500
        Bootstrap replicates behind the bands.
    model : RocModel or None, default=None
        The model that is fitted to the bands; None is ``Concave()``.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.intervals import IntervalEvidence, RocBand
    >>> rng = np.random.default_rng(0)
    >>> scores = np.r_[rng.normal(0, 1, 600), rng.normal(4, 1, 400)], rng.normal(0, 1, 800)
    >>> evidence = IntervalEvidence(np.array([0.6, 0.4]), lambda *_: None, 1000, (scores,), 0)
    >>> (lower, upper), unseen = RocBand().limits(evidence, 0.95)
    >>> bool(lower < 0.6 < upper)
    True
    """

    closed: bool = False
    n_replicates: int = 500
    model: RocModel | None = None

    def limits(self, evidence: IntervalEvidence, confidence: float) -> FloatArray:
        """Lower and upper limit of each share, unseen last."""
        if evidence.pairs is None:
            raise ValueError(
                "interval must be one that needs no ROC for an estimator that has none; "
                f"got {self!r}. Take Percentile() or None."
            )
        model = Concave() if self.model is None else self.model
        options = confidence, model, self.n_replicates, evidence.seed
        lower, upper = band_slopes(evidence.pairs, *options)
        return band_limits(lower, upper, self.closed)


def stretched_limits(
    shares: FloatArray, quantiles: FloatArray, stretch: float, least: FloatArray
) -> FloatArray:
    """Limits at ``stretch`` times the distance of the quantiles, or times ``least`` if larger."""
    side = np.array([-1.0, 1.0])
    reach = np.maximum(side * (quantiles - shares[:, None]), least[:, None])
    return np.clip(shares[:, None] + stretch * side * reach, 0.0, 1.0)


def counting_noise(shares: FloatArray, n_rows: int, tail: float) -> FloatArray:
    """Half-width of the binomial interval of Agresti and Coull, if all labels were known."""
    quantile = float(norm.isf(tail))
    rows = n_rows + quantile**2
    middle = (shares * n_rows + quantile**2 / 2) / rows
    return quantile * np.sqrt(middle * (1 - middle) / rows)


def simultaneous_tail(draws: FloatArray, confidence: float) -> float:
    """Tail to cut off each column so that whole rows of draws stay inside with this confidence.

    Each row is measured by the rank of its most extreme column: the dependence between columns
    needs no assumption. The tail is at most ``(1 - confidence) / 2``, that for one column alone.
    """
    below = (rankdata(draws, method="min", axis=0) - 1) / len(draws)
    above = (rankdata(-draws, method="min", axis=0) - 1) / len(draws)
    # Ties count as inside: half the replicates may have an unseen share of exactly 0.
    outermost = np.minimum(1 - below, 1 - above).min(axis=1)
    return float(min(np.quantile(outermost, 1 - confidence), (1 - confidence) / 2))


def band_slopes(
    pairs: Sequence[ScorePair],
    confidence: float,
    model: RocModel,
    n_replicates: int,
    random_state: Any,
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper limits (K,): slopes fitted to the upper and lower band of each ROC."""
    tail = (1 - confidence) / 2
    curves = bootstrap_rocs(pairs, GRID, n_replicates, random_state)
    bands = np.quantile(curves, [1 - tail, tail], axis=0)
    slopes = [fit_roc(GRID, bands[:, label], model).right_slope for label in range(len(pairs))]
    lower, upper = np.sort(slopes, axis=1).T
    return lower, upper


def band_limits(lower: FloatArray, upper: FloatArray, closed: bool) -> FloatArray:
    """Limits of each class, and of the unseen share that they leave.

    Those of the paper are ``closed``: a lower limit is one minus the others' upper limits.
    """
    unseen = np.clip([1 - upper.sum(), 1 - lower.sum()], 0.0, 1.0)
    if closed:
        others = upper.sum() - upper
        lower, unseen = np.clip(1 - others, 0.0, upper), np.zeros(2)
    return np.vstack([np.column_stack([lower, upper]), unseen])


def certified_unseen(
    samples: Sequence[Any],
    X_new: Any,
    delta: float = 0.05,
    *,
    form: Form = "clopper-pearson",
    classifier: Any = None,
    random_state: Any = None,
    factor: float = 1.0,
) -> float:
    """Lower bound of the unseen share that fails with probability at most ``delta``.

    The share of each known class is at most its certified upper bound
    (:class:`~unseen.CertifiedBound` at ``delta / K``, on split samples); the rest must be unseen.
    Nothing is assumed of the classes but that they did not change, or changed by at most ``factor``
    (docs/drift.md). The bound is not an estimate: with few rows it is 0.

    Parameters
    ----------
    samples : sequence of array-like of shape (n_i, n_features)
        Labelled rows of each known class.
    X_new : array-like of shape (n_new, n_features)
        New rows.
    delta, form, classifier, random_state, factor
        As in :class:`~unseen.CertifiedBound`.

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
    level, seeds = delta / len(samples), [rng.randint(2**31 - 1) for _ in samples]
    bounds = [
        CertifiedBound(level, form, classifier, seed, factor).fit(sample).bound(X_new)
        for sample, seed in zip(samples, seeds, strict=True)
    ]
    return max(0.0, 1.0 - sum(bound.upper for bound in bounds))
