"""The shares of the known classes, however the user gives them, and how sure we are of them.

Plain numbers are taken as they are. An :class:`~unseen.Estimate` with intervals says how far it may
be off. Where the library estimates, replicates of the estimator (draws from the posterior, for the
default :class:`~unseen.OpenSetEstimator`) also say which shares err together; its intervals, made
from them and seldom narrower, set the size.

The default estimate takes a side: where "nothing is unseen" is the likelier hypothesis it says 0,
and a rule that believed it would call nothing unseen. The risk is linear in the shares, Eq. (RMul),
so that its expectation over the hypotheses is the risk at the expected shares. Rules take those, at
even odds where there are several known classes: who asks which rows are unseen, and not only how
many, does not take it for unlikely that there are some.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.base import clone

from unseen._types import FloatArray, Matrix
from unseen.proportions import OpenSetEstimator, ProportionEstimator
from unseen.proportions.open_set.estimator import FOLDS
from unseen.records import Estimate

__all__ = ["Shares", "find_shares"]

_CONFIDENCE = 0.95
_EVEN_ODDS = 0.5
_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares of the known classes among the new rows, with their uncertainty.

    Parameters
    ----------
    known : ndarray of shape (K,)
        Share of each known class.
    covariance : ndarray of shape (K, K) or None
        Covariance of their errors; None for shares that are taken as exact.
    limits : ndarray of shape (K + 1, 2) or None
        Ends of the interval of each share, unseen last.
    estimate : Estimate or None
        Where they come from, if not from the user.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.learning.shares import Shares
    >>> Shares(np.array([0.5, 0.25])).unseen
    0.25
    """

    known: FloatArray
    covariance: FloatArray | None = None
    limits: FloatArray | None = None
    estimate: Estimate | None = None

    @property
    def unseen(self) -> float:
        """What the known classes leave; never below 0."""
        return max(0.0, 1.0 - float(self.known.sum()))

    @property
    def total(self) -> float:
        """Sum of the known shares before any projection; above 1 something is wrong."""
        if self.estimate is None:
            return float(self.known.sum())
        return float(self.estimate.diagnostics.get("slope_total", self.known.sum()))


def find_shares(
    proportions: Any, X: Matrix, y: NDArray[Any], X_new: Matrix, random_state: Any = None
) -> Shares:
    """The shares of the classes of ``y``, in sorted order, from whatever the user gave.

    Parameters
    ----------
    proportions : None, array-like of K or K + 1 shares, mapping, Estimate or proportion estimator
        None estimates with :class:`~unseen.OpenSetEstimator` at even odds (``spike=0.5``, for
        several known classes) of "nothing is unseen". A mapping goes from label to share.
    X, y, X_new : arrays
        Labelled rows, their labels, and new rows; used only where shares are estimated.
    random_state : int, RandomState instance or None, default=None
        Seed of the estimate.

    Examples
    --------
    >>> import numpy as np
    >>> X, y, X_new = np.zeros((2, 1)), np.array(["a", "b"]), np.zeros((2, 1))
    >>> find_shares({"b": 0.25, "a": 0.5}, X, y, X_new).known
    array([0.5 , 0.25])
    >>> find_shares([0.5, 0.25, 0.2], X, y, X_new)
    Traceback (most recent call last):
        ...
    ValueError: proportions must sum to 1 when the unseen share is given; got a sum of 0.95.
    """
    classes = np.unique(y)
    if proportions is None or isinstance(proportions, ProportionEstimator):
        return _estimated(proportions, X, y, X_new, random_state)
    if isinstance(proportions, Estimate):
        return _from_estimate(proportions, classes)
    if isinstance(proportions, Mapping):
        proportions = _in_order(dict(proportions), classes)
    return Shares(_checked(proportions, len(classes)))


def covariance_of_limits(
    limits: FloatArray, correlation: FloatArray | None = None, confidence: float = _CONFIDENCE
) -> FloatArray:
    """Covariance of the known shares whose normal intervals have these ends.

    Parameters
    ----------
    limits : ndarray of shape (K + 1, 2)
        Ends of the interval of each share, unseen last.
    correlation : ndarray of shape (K, K) or None, default=None
        Correlation of the known shares. None takes one common value, the one that gives the
        unseen share, one minus their sum, the width of its own interval.
    confidence : float, default=0.95
        Of the intervals.

    Examples
    --------
    >>> import numpy as np
    >>> half = 1.96 * np.array([0.03, 0.04, 0.05])
    >>> covariance_of_limits(0.3 + np.column_stack([-half, half])).round(4)
    array([[0.0009, 0.    ],
           [0.    , 0.0016]])
    """
    deviation = np.ptp(limits, axis=1) / (2 * norm.isf((1 - confidence) / 2))
    sd, sd_sum = deviation[:-1], deviation[-1]
    if correlation is None:
        correlation = _common_correlation(sd, sd_sum)
    return np.asarray(sd[:, None] * correlation * sd)


def _common_correlation(sd: FloatArray, sd_sum: float) -> FloatArray:
    n_classes = len(sd)
    pairs = float(sd.sum() ** 2 - (sd**2).sum())
    if n_classes == 1 or pairs == 0:
        return np.eye(n_classes)
    lowest = -1.0 / (n_classes - 1)  # below it no correlation matrix has this pattern
    common = float(np.clip((sd_sum**2 - (sd**2).sum()) / pairs, lowest, 1.0))
    return np.full((n_classes, n_classes), common) + (1 - common) * np.eye(n_classes)


def _estimated(
    estimator: ProportionEstimator | None,
    X: Matrix,
    y: NDArray[Any],
    X_new: Matrix,
    random_state: Any,
) -> Shares:
    chosen = _default(y, X_new.shape[0]) if estimator is None else clone(estimator)
    if chosen.get_params().get("random_state", 0) is None:
        chosen.set_params(random_state=random_state)
    scores = chosen.fit(X, y).scores(X_new)
    estimate = chosen.with_intervals(chosen.from_scores(scores), scores, _CONFIDENCE)
    draws = chosen.replicates(scores, 200, estimate.seed)[:, :-1]
    limits = np.asarray(estimate.intervals)
    covariance = covariance_of_limits(limits, _correlation(draws))
    known = estimate.proportions
    if isinstance(chosen, OpenSetEstimator):
        known = chosen.expected_shares(scores)[:-1]
    return Shares(known, covariance, limits, estimate)


def _default(y: NDArray[Any], n_new: int) -> OpenSetEstimator:
    """Even odds for several classes, and where rows are few no more folds than they can fill."""
    counts = np.unique(y, return_counts=True)[1]
    least = min(int(counts.min()), n_new)
    return OpenSetEstimator(
        spike=_EVEN_ODDS if len(counts) > 1 else None,
        n_folds=None if least >= FOLDS else max(2, least),
    )


def _correlation(draws: FloatArray) -> FloatArray:
    """Correlation of the columns; a column that never moves is correlated with none."""
    centred = draws - draws.mean(axis=0)
    scale = np.sqrt((centred**2).sum(axis=0))
    unit = centred / np.where(scale > 0, scale, 1.0)
    correlation = unit.T @ unit
    np.fill_diagonal(correlation, 1.0)
    return correlation


def _from_estimate(estimate: Estimate, classes: NDArray[Any]) -> Shares:
    by_label = dict(zip(estimate.classes, estimate.proportions, strict=True))
    known = _checked(_in_order(by_label, classes), len(classes))
    if estimate.intervals is None:
        return Shares(known, estimate=estimate)
    order = [estimate.classes.index(label) for label in classes.tolist()]
    limits = estimate.intervals[[*order, -1]]
    covariance = covariance_of_limits(limits, confidence=estimate.confidence or _CONFIDENCE)
    return Shares(known, covariance, limits, estimate)


def _in_order(by_label: dict[Any, float], classes: NDArray[Any]) -> list[float]:
    labels = classes.tolist()
    lacking = [label for label in labels if label not in by_label]
    strange = [label for label in by_label if label not in labels]
    if lacking or strange:
        raise ValueError(f"proportions must name the known classes {labels}; got {list(by_label)}.")
    return [by_label[label] for label in labels]


def _checked(proportions: Any, n_classes: int) -> FloatArray:
    try:
        shares = np.array(proportions, dtype=np.float64)  # a copy, as the rule keeps it
    except (TypeError, ValueError) as error:
        raise TypeError(
            "proportions must be None, shares, a dict from label to share, an Estimate or a "
            f"proportion estimator; got {proportions!r}."
        ) from error
    if shares.ndim != 1 or len(shares) not in (n_classes, n_classes + 1):
        raise ValueError(
            f"proportions must hold {n_classes} shares, one per known class, or {n_classes + 1} "
            f"with the unseen share last; got shape {shares.shape}."
        )
    if not (np.isfinite(shares).all() and (shares >= 0).all()):
        raise ValueError(f"proportions must be >= 0; got {shares.tolist()}.")
    if len(shares) > n_classes and abs(shares.sum() - 1) > _ROUNDING:
        raise ValueError(
            "proportions must sum to 1 when the unseen share is given; "
            f"got a sum of {shares.sum():g}."
        )
    return shares[:n_classes]
