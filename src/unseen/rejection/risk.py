"""The risk of anybody's classifier with the label "unseen", from labelled and new rows alone.

``C_i(l) = P_i(f = l)`` are the rates at which class i gets label l, ``C_0(l)`` the rates of the new
rows. The risk, Eq. (5), and other measures are smooth functions of these rates and of the shares;
the delta method carries the noise of both to the standard error. Cuts of the novelty that meet an
aim come from the same identity: above t the mass of unseen classes is
``P_0(s >= t) - sum_i pi_i P_i(s >= t)``. Rows that the classifier learnt from have no place here.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from unseen._frozen import Frozen
from unseen._types import FloatArray, IntArray
from unseen.proportions import OpenSetEstimator, ProportionEstimator
from unseen.records import Estimate
from unseen.rejection.sample import places_of, with_unseen
from unseen.rejection.shares import estimate_shares, given_shares
from unseen.samples import check_labelled, check_labels, check_new

_REJECT_NOTHING = float(np.nextafter(1.0, np.inf))  # no novelty is as high


class Linearised(NamedTuple):
    """A measure and its derivatives by ``C_i`` (K, K + 1), ``C_0`` (K + 1) and ``pi`` (K)."""

    value: float
    by_class: FloatArray
    by_new: FloatArray
    by_share: FloatArray


class RiskMeasure(Protocol):
    """A function of the rates ``C_i`` (K, K + 1), ``C_0`` (K + 1) and the shares ``pi`` (K)."""

    def at(self, rates: FloatArray, rates_new: FloatArray, shares: FloatArray) -> Linearised:
        """Value and derivatives at these rates and shares."""


@dataclass(frozen=True, eq=False)
class CostSensitive:
    """Mean cost ``sum_i pi_i sum_l L(i, l) C_i(l)`` over known and unseen classes."""

    costs: ArrayLike  # L of each label (column) for rows of each class (row), unseen last

    def at(self, rates: FloatArray, rates_new: FloatArray, shares: FloatArray) -> Linearised:
        """Value and derivatives at these rates and shares."""
        costs, size = np.asarray(self.costs, dtype=np.float64), len(rates_new)
        if costs.shape != (size, size) or not np.isfinite(costs).all():
            raise ValueError(
                f"costs must be finite, of shape {(size, size)}: known classes and unseen; "
                f"got shape {costs.shape}."
            )
        # The cost of an unseen row is charged to all new rows, and taken back from known rows.
        extra = costs[:-1] - costs[-1]
        by_share = (rates * extra).sum(axis=1)
        value = float(rates_new @ costs[-1] + shares @ by_share)
        return Linearised(value, shares[:, None] * extra, costs[-1], by_share)


@dataclass(frozen=True)
class ErrorRate:
    """The paper's R(f): probability of a wrong label, with unseen as a label."""

    def at(self, rates: FloatArray, rates_new: FloatArray, shares: FloatArray) -> Linearised:
        """Value and derivatives at these rates and shares."""
        return CostSensitive(1.0 - np.eye(len(rates_new))).at(rates, rates_new, shares)


@dataclass(frozen=True)
class MinMax:
    """Error of the worst class, unseen among them: ``max_i R_i(f)``.

    The standard error is that of the class that is worst here. Where two classes are close, the
    larger of their noisy errors is biased up.
    """

    def at(self, rates: FloatArray, rates_new: FloatArray, shares: FloatArray) -> Linearised:
        """Value and derivatives at these rates and shares."""
        errors = 1.0 - np.diagonal(rates)
        unseen = 1.0 - float(shares.sum())
        missed = unseen_error(rates, rates_new, shares)
        worst = int(errors.argmax())
        by_class, by_new, by_share = (np.zeros_like(a) for a in (rates, rates_new, shares))
        if not missed > errors[worst]:
            by_class[worst, worst] = -1.0
            return Linearised(float(errors[worst]), by_class, by_new, by_share)
        by_new[:-1] = 1.0 / unseen
        by_class[:, :-1] = -shares[:, None] / unseen
        by_share = (missed - rates[:, :-1].sum(axis=1)) / unseen
        return Linearised(missed, by_class, by_new, by_share)


def unseen_error(rates: FloatArray, rates_new: FloatArray, shares: FloatArray) -> float:
    """Share of the unseen rows that are called known; NaN where none are unseen."""
    unseen = 1.0 - float(shares.sum())
    if unseen <= 1e-12:
        return float("nan")
    called_known = rates_new[:-1].sum() - shares @ rates[:, :-1].sum(axis=1)
    return float(called_known / unseen)


@dataclass(frozen=True, eq=False)
class RiskEstimate(Frozen):
    """An estimated risk, its standard error, and the rates that it was made from.

    Parameters
    ----------
    risk : float
        The estimate. It is unbiased and so not clipped: it can be below 0 on small samples.
    standard_error : float
        Noise of the samples, and of the shares where their covariance was given.
    rates : ndarray of shape (K, K + 1)
        Rate of each label in each known class, unseen last.
    rates_new : ndarray of shape (K + 1,)
        Rate of each label among the new rows.
    proportions : ndarray of shape (K + 1,)
        Shares that were used, unseen last; the last is negative where the others exceed 1.
        NaN, as is the risk, where the risk is :meth:`withheld`.
    measure : RiskMeasure
        Measure that ``risk`` estimates.

    Examples
    --------
    >>> from unseen.rejection import open_risk
    >>> estimate = open_risk([0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 1, 1], [0.5])
    >>> print(estimate)
    risk 0.250 with standard error 0.382 (ErrorRate)
    >>> estimate.class_errors, estimate.unseen_part
    (array([0.25]), 0.125)
    """

    risk: float
    standard_error: float
    rates: FloatArray
    rates_new: FloatArray
    proportions: FloatArray
    measure: RiskMeasure = field(default_factory=ErrorRate)

    @property
    def class_errors(self) -> FloatArray:
        """R_i: share of each known class that gets another label."""
        return np.asarray(1.0 - np.diagonal(self.rates))

    @property
    def unseen_part(self) -> float:
        """Mass of unseen rows that are called known, pi_M R_M, by Eq. (6)."""
        return float(self.masses[-1, :-1].sum())

    @property
    def unseen_error(self) -> float:
        """R_M: share of the unseen rows that are called known; NaN where none are unseen."""
        return unseen_error(self.rates, self.rates_new, self.proportions[:-1])

    @property
    def masses(self) -> FloatArray:
        """Estimated mass of each class (row) that gets each label (column): (K + 1, K + 1)."""
        known = self.proportions[:-1, None] * self.rates
        return np.vstack([known, self.rates_new - known.sum(axis=0)])

    @property
    def is_withheld(self) -> bool:
        """Whether no risk is stated."""
        return bool(np.isnan(self.risk))

    def withheld(self) -> RiskEstimate:
        """A copy without a risk, for shares that do not tell it."""
        unknown = np.full_like(self.proportions, np.nan)
        return replace(self, risk=np.nan, standard_error=np.nan, proportions=unknown)

    def __str__(self) -> str:
        if self.is_withheld:
            return "risk withheld: known classes may have moved, or the shares are hardly known"
        return (
            f"risk {self.risk:.3f} with standard error {self.standard_error:.3f} "
            f"({type(self.measure).__name__})"
        )


def open_risk(
    predicted: ArrayLike,
    codes: ArrayLike,
    predicted_new: ArrayLike,
    shares: ArrayLike,
    covariance: FloatArray | None = None,
    measure: RiskMeasure | None = None,
) -> RiskEstimate:
    """R_hat(f) from the labels that f gives to rows it did not learn from.

    All labels are codes, 0 to K - 1 and K for unseen: those that f gives to the labelled rows, the
    true ones of these rows (each class at least once), and those that f gives to the new rows.
    Without a covariance (K, K) of their errors, the shares count as exact. The default measure is
    :class:`ErrorRate`, the paper's risk.
    """
    shares = np.asarray(shares, dtype=np.float64)
    measure = ErrorRate() if measure is None else measure
    # Rows of each class and, last, the new rows, by the label that they get.
    table = np.zeros((len(shares) + 1, len(shares) + 1))
    np.add.at(table, (np.asarray(codes), np.asarray(predicted)), 1.0)
    np.add.at(table[-1], np.asarray(predicted_new), 1.0)
    sizes = table.sum(axis=1)
    every = table / sizes[:, None]
    rates, rates_new = every[:-1], every[-1]
    found = measure.at(rates, rates_new, shares)
    # Multinomial variances of gradient @ rates in each class and among the new rows.
    gradient = np.vstack([found.by_class, found.by_new])
    spread = (gradient**2 * every).sum(axis=1) - (gradient * every).sum(axis=1) ** 2
    variance = (np.maximum(spread, 0.0) / np.maximum(sizes - 1, 1)).sum()
    if covariance is not None:
        variance += found.by_share @ covariance @ found.by_share
    return RiskEstimate(
        risk=found.value,
        standard_error=float(np.sqrt(max(variance, 0.0))),
        rates=rates,
        rates_new=rates_new,
        proportions=np.append(shares, 1.0 - shares.sum()),
        measure=measure,
    )


def cost_threshold(cost: float) -> float:
    """Cut of least expected cost when a missed unseen row costs ``cost`` and other errors 1."""
    if not cost > 0:
        raise ValueError(f"cost must be > 0; got {cost}.")
    return 1.0 / (1.0 + cost)  # unseen costs no more than k where p_k <= cost * p_unseen


def reject_rate_threshold(new: FloatArray, rate: float) -> float:
    """Cut that calls a share ``rate`` of the new rows unseen, or as near to it as ties allow."""
    if not 0 <= rate <= 1:
        raise ValueError(f"reject_rate must lie in [0, 1]; got {rate}.")
    if rate == 0:
        return _REJECT_NOTHING
    scores, counts = np.unique(new, return_counts=True)
    below = np.append(0, np.cumsum(counts))
    cuts = np.append(scores, _REJECT_NOTHING)
    return float(cuts[np.abs(1.0 - below / len(new) - rate).argmin()])


def recall_threshold(
    known: FloatArray, codes: IntArray, new: FloatArray, shares: FloatArray, recall: float
) -> float:
    """Largest cut of the novelty that still finds a share ``recall`` of the unseen rows."""
    if not 0 < recall <= 1:
        raise ValueError(f"recall must lie in (0, 1]; got {recall}.")
    unseen = 1.0 - float(shares.sum())
    if unseen <= 0:
        raise ValueError(
            f"recall needs an unseen share > 0; got {max(unseen, 0.0):g}: the known shares leave "
            "nothing to find."
        )
    cuts = np.unique(np.concatenate([known, new]))
    rejected, by_known = _rates_from(cuts, known, codes, new, shares)
    # The lowest cut rejects everything and so reaches every recall; rounding must not deny it.
    reached = rejected - by_known >= recall * unseen - 1e-12
    return float(cuts[np.flatnonzero(reached)[-1]])


def false_discovery_threshold(
    known: FloatArray, codes: IntArray, new: FloatArray, shares: FloatArray, level: float
) -> float:
    """Smallest cut whose rejected rows hold at most a share ``level`` of known rows."""
    if not 0 < level < 1:
        raise ValueError(f"fdr must lie strictly between 0 and 1; got {level}.")
    cuts = np.unique(new)
    counts = np.bincount(codes, minlength=len(shares))
    # One known row more in each class, as for a conformal p-value: a cut above all n_i labelled
    # rows still lets 1 / (n_i + 1) of new ones through.
    rejected, by_known = _rates_from(cuts, known, codes, new, shares * counts / (counts + 1))
    discoveries = (by_known + float((shares / (counts + 1)).sum())) / rejected
    reached = np.flatnonzero(discoveries <= level)
    if not reached.size:
        raise ValueError(
            f"fdr={level:g} cannot be certified: the calibration sample is too small, or unseen "
            f"rows stand out too little. With {counts.min()} to {counts.max()} labelled rows per "
            f"class and {len(new)} new ones the smallest level within reach is "
            f"{discoveries.min():.3g}. Ask for that level, add labelled rows, or use recall= or "
            "cost= instead."
        )
    return float(cuts[reached[0]])


def _rates_from(
    cuts: FloatArray, known: FloatArray, codes: IntArray, new: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """At each cut: P_0(s >= t), and the weighted sum over classes of P_i(s >= t)."""

    def at_least(scores: FloatArray) -> FloatArray:
        return 1.0 - np.searchsorted(np.sort(scores), cuts) / len(scores)

    by_known = sum(weight * at_least(known[codes == code]) for code, weight in enumerate(weights))
    return at_least(new), np.asarray(by_known)


def open_set_risk(
    classifier: Any,
    X: Any,
    y: ArrayLike,
    X_new: Any,
    proportions: Any = None,
    *,
    measure: RiskMeasure | None = None,
    unseen_label: Any = "auto",
    random_state: Any = None,
) -> RiskEstimate:
    """Risk of any fitted classifier when new rows may hold unseen classes.

    Parameters
    ----------
    classifier : object with ``predict``
        A classifier that was fitted on other rows; it may or may not use the unseen label.
    X : array-like of shape (n, d)
        Labelled rows.
    y : array-like of shape (n,)
        Labels of these rows.
    X_new : array-like of shape (m, d)
        New rows.
    proportions : None, shares, mapping, Estimate or proportion estimator, default=None
        Shares of the known classes in X_new, as for the rejection rules. None estimates them.
    measure : RiskMeasure or None, default=None
        Measure to estimate: ``ErrorRate()``, ``CostSensitive(costs)`` or ``MinMax()``; None is the
        first.
    unseen_label : label, default="auto"
        Label that the classifier gives to rows of unseen classes; "auto" is "unseen" for text
        labels, -1 for numbers.
    random_state : int, RandomState instance or None, default=None
        Seed of the estimated shares.

    Returns
    -------
    RiskEstimate
        Withheld, and NaN, where the known classes may have moved by the estimate of the shares, or
        where the interval of the unseen share is wider than one half.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from unseen.rejection import open_set_risk
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 200)
    >>> X = rng.normal(np.where(y, 4, -4)[:, None], 1)
    >>> X_new = np.r_[rng.normal(-4, 1, (200, 1)), rng.normal(30, 1, (200, 1))]
    >>> closed = LogisticRegression().fit(X[::2], y[::2])
    >>> round(open_set_risk(closed, X[1::2], y[1::2], X_new, {0: 0.5, 1: 0.0}).risk, 2)
    0.5
    """
    predicted = classifier.predict(X)
    classes, codes = check_labels(y, len(predicted))
    seed = check_random_state(random_state).randint(2**31 - 1)
    if proportions is None or isinstance(proportions, ProportionEstimator):
        labelled = check_labelled(OpenSetEstimator(), X, y)
        shares = estimate_shares(proportions, labelled, check_new(labelled, X_new), seed)
    else:
        shares = given_shares(proportions, classes)
    every, places = with_unseen(classes, unseen_label), []
    for labels in (predicted, classifier.predict(X_new)):
        places.append(places_of(labels, every))
        if (places[-1] < 0).any():
            strange = np.ravel(labels).tolist()[places[-1].argmin()]
            raise ValueError(
                f"classifier must predict labels of y or unseen_label={every.tolist()[-1]!r}; "
                f"got {strange!r}."
            )
    found = open_risk(places[0], codes, places[1], shares.known, shares.covariance, measure)
    return found if shares.tell_risk else found.withheld()


@dataclass(frozen=True, eq=False)
class open_set_scorer:  # noqa: N801  as functions of scikit-learn that make a scorer are called
    """A scorer for ``GridSearchCV`` and other searches, which needs no unseen label.

    A score is minus the risk, so that higher is better. A candidate must not have learnt from
    ``X_new``. For a rule that learns from new rows itself, split them: one part for its fit, the
    other for the scorer.

    Parameters
    ----------
    X_new : array-like of shape (m, d)
        New rows that no candidate learns from.
    proportions : shares, mapping or Estimate
        Shares of the known classes in X_new.
    measure : RiskMeasure or None, default=None
        Measure to estimate; None is the paper's risk.
    unseen_label : label, default="auto"
        Label that a classifier gives to rows of unseen classes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from unseen.rejection import open_set_scorer
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["a", "b"], [60, 40])
    >>> X = rng.normal(np.where(y == "a", -1, 1)[:, None], 1, (100, 2))
    >>> scorer = open_set_scorer(rng.normal(1, 1, (80, 2)), {"a": 0.0, "b": 1.0})
    >>> search = GridSearchCV(LogisticRegression(), {"C": [1e-4, 1.0]}, scoring=scorer).fit(X, y)
    >>> search.best_params_  # the other one calls every row a
    {'C': 1.0}
    """

    X_new: Any
    proportions: Any
    _: KW_ONLY
    measure: RiskMeasure | None = None
    unseen_label: Any = "auto"

    def __post_init__(self) -> None:
        if self.proportions is None:
            raise ValueError(
                "proportions must be given, so that all candidates are judged by the same shares; "
                "got None. Estimate them once: unseen.estimate(X, y, X_new)."
            )

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """Minus the risk on held-out labelled rows and on X_new.

        Candidates are compared at the same shares, however doubtful these are.
        """
        shares = self.proportions
        if isinstance(shares, Estimate):
            shares = replace(shares, drift=None, intervals=None)
        asked = {"measure": self.measure, "unseen_label": self.unseen_label}
        return -open_set_risk(estimator, X, y, self.X_new, shares, **asked).risk
