"""The risk of a classifier with the label "unseen", from labelled and unlabelled rows alone.

Put ``C_i(l) = P_i(f = l)`` for the rates at which known class i gets label l, ``C_0(l)`` for those
of the unlabelled rows, and M for unseen. The paper writes the risk as

    R(f) = sum_i pi_i R_i(f) + [R_0M(f) - sum_i pi_i R_iM(f)],          Eq. (RMul)

with ``R_i = 1 - C_i(i)`` and ``R_iM = 1 - C_i(M)``: the bracket is the mass of unseen rows that f
calls known. It needs no unseen row. Every other measure that is a smooth function of ``C_i``,
``C_0`` and ``pi`` works the same way; here are the cost-sensitive risk and the minmax error.

Rates of disjoint samples are independent, each with multinomial noise, and the gradient of the
measure carries their noise and that of ``pi_hat`` to the standard error (the delta method). The
noise of ``pi_hat`` is taken as independent of that of the rates. Where both come from the same
unlabelled rows, a good classifier and a good estimate err together and partly cancel: then the
standard error is too large rather than too small.

All this holds for a *fixed* classifier: rows that it learnt from have no place here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from unseen._validation import check_rows
from unseen.base import FloatArray
from unseen.rejection.labels import codes_of, with_unseen
from unseen.rejection.shares import find_shares

__all__ = [
    "CostSensitive",
    "ErrorRate",
    "Linearised",
    "MinMax",
    "OpenSetScorer",
    "RiskDifference",
    "RiskEstimate",
    "RiskMeasure",
    "label_rates",
    "open_risk",
    "open_set_risk",
    "open_set_scorer",
    "risk_difference",
]


class Linearised(NamedTuple):
    """A measure and its derivatives by ``C_i`` (K, K + 1), ``C_0`` (K + 1) and ``pi`` (K)."""

    value: float
    by_class: FloatArray
    by_new: FloatArray
    by_share: FloatArray


class RiskMeasure(Protocol):
    """A function of the rates ``C_i``, ``C_0`` and the shares ``pi``."""

    def at(self, rates: FloatArray, rates_new: FloatArray, shares: FloatArray) -> Linearised:
        """Value and derivatives."""
        ...


@dataclass(frozen=True, eq=False)
class CostSensitive:
    """Mean cost ``sum_i pi_i sum_l L(i, l) C_i(l)`` over known and unseen classes.

    Parameters
    ----------
    costs : array-like of shape (K + 1, K + 1)
        Cost L of each label (column) for rows of each class (row), unseen last.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.risk import CostSensitive, open_risk
    >>> costs = CostSensitive([[0, 1], [5, 0]])
    >>> open_risk([0, 1], [0, 0], [0, 0, 1, 1], [0.5], measure=costs).risk
    1.5
    """

    costs: ArrayLike

    def at(self, rates: FloatArray, rates_new: FloatArray, shares: FloatArray) -> Linearised:
        """Value and derivatives.

        Parameters
        ----------
        rates, rates_new, shares : ndarray of shape (K, K + 1), (K + 1,) and (K,)

        Returns
        -------
        Linearised
        """
        costs = _square(self.costs, len(rates_new))
        # An unseen row is an unlabelled row that is no known one: its cost is charged to all
        # unlabelled rows, and taken back from the known ones.
        extra = costs[:-1] - costs[-1]
        by_share = (rates * extra).sum(axis=1)
        value = float(rates_new @ costs[-1] + shares @ by_share)
        return Linearised(value, shares[:, None] * extra, costs[-1], by_share)


@dataclass(frozen=True)
class ErrorRate:
    """The paper's R(f): probability of a wrong label, with unseen as a label.

    Examples
    --------
    >>> from unseen.rejection.risk import ErrorRate, open_risk
    >>> open_risk([0, 1], [0, 0], [0, 0, 1, 1], [0.5], measure=ErrorRate()).risk
    0.5
    """

    def at(self, rates: FloatArray, rates_new: FloatArray, shares: FloatArray) -> Linearised:
        """Value and derivatives.

        Parameters
        ----------
        rates, rates_new, shares : ndarray of shape (K, K + 1), (K + 1,) and (K,)

        Returns
        -------
        Linearised
        """
        return CostSensitive(1.0 - np.eye(len(rates_new))).at(rates, rates_new, shares)


@dataclass(frozen=True)
class MinMax:
    """Error of the worst class, unseen among them: ``max_i R_i(f)``.

    The standard error is that of the class that is worst here. Where two classes are close the
    largest of their noisy errors is biased up.

    Examples
    --------
    >>> from unseen.rejection.risk import MinMax, open_risk
    >>> open_risk([0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 1], [0.5], measure=MinMax()).risk
    0.75
    """

    def at(self, rates: FloatArray, rates_new: FloatArray, shares: FloatArray) -> Linearised:
        """Value and derivatives.

        Parameters
        ----------
        rates, rates_new, shares : ndarray of shape (K, K + 1), (K + 1,) and (K,)

        Returns
        -------
        Linearised
        """
        errors = 1.0 - np.diagonal(rates)
        unseen = 1.0 - float(shares.sum())
        missed = _unseen_error(rates, rates_new, shares)
        worst = int(errors.argmax())
        by_class, by_new, by_share = (np.zeros_like(a) for a in (rates, rates_new, shares))
        if not missed > errors[worst]:
            by_class[worst, worst] = -1.0
            return Linearised(float(errors[worst]), by_class, by_new, by_share)
        by_new[:-1] = 1.0 / unseen
        by_class[:, :-1] = -shares[:, None] / unseen
        by_share = (missed - rates[:, :-1].sum(axis=1)) / unseen
        return Linearised(missed, by_class, by_new, by_share)


@dataclass(frozen=True, eq=False)
class RiskEstimate:
    """An estimated risk, its standard error, and the rates that it was made from.

    Parameters
    ----------
    risk : float
        The estimate. Unbiased and so not clipped: it can be below 0 on small samples.
    standard_error : float
        Of the samples, and of the shares where their covariance was given.
    rates : ndarray of shape (K, K + 1)
        Rate of each label in each known class, unseen last.
    rates_new : ndarray of shape (K + 1,)
        Rate of each label among the unlabelled rows.
    proportions : ndarray of shape (K + 1,)
        Shares that were used, unseen last; the last is negative where the others exceed 1.
    measure : RiskMeasure
        What ``risk`` is.

    Examples
    --------
    >>> from unseen.rejection.risk import open_risk
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
        """Mass of unseen rows that are called known, pi_M R_M, by Eq. (RMhatul)."""
        return float(self.masses[-1, :-1].sum())

    @property
    def unseen_error(self) -> float:
        """R_M: share of the unseen rows that are called known; NaN where none are unseen."""
        return _unseen_error(self.rates, self.rates_new, self.proportions[:-1])

    @property
    def masses(self) -> FloatArray:
        """Estimated mass of each class (row) that gets each label (column): (K + 1, K + 1)."""
        known = self.proportions[:-1, None] * self.rates
        return np.vstack([known, self.rates_new - known.sum(axis=0)])

    def __str__(self) -> str:
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

    Parameters
    ----------
    predicted : array-like of shape (n,)
        Codes that f gives to the labelled rows: 0 to K - 1, and K for unseen.
    codes : array-like of shape (n,)
        Their classes, 0 to K - 1, each at least once.
    predicted_new : array-like of shape (m,)
        Codes that f gives to the unlabelled rows.
    shares : array-like of shape (K,)
        Shares of the known classes among the unlabelled rows.
    covariance : ndarray of shape (K, K) or None, default=None
        Covariance of the errors of the shares; None takes them as exact.
    measure : RiskMeasure or None, default=None
        What to estimate; None is :class:`ErrorRate`, the paper's risk.

    Returns
    -------
    RiskEstimate

    Examples
    --------
    Half of the class is called unseen, and a quarter of all new rows known:

    >>> from unseen.rejection.risk import open_risk
    >>> open_risk([0, 1], [0, 0], [0, 1, 1, 1], [0.5]).risk
    0.25
    """
    shares = np.asarray(shares, dtype=np.float64)
    measure = ErrorRate() if measure is None else measure
    counts = np.bincount(np.asarray(codes), minlength=len(shares))
    rates, rates_new = label_rates(predicted, codes, predicted_new, len(shares))
    found = measure.at(rates, rates_new, shares)
    variance = (
        _multinomial_variance(found.by_class, rates, counts).sum()
        + _multinomial_variance(found.by_new, rates_new, np.size(predicted_new))
        + (0.0 if covariance is None else found.by_share @ covariance @ found.by_share)
    )
    return RiskEstimate(
        risk=found.value,
        standard_error=float(np.sqrt(max(variance, 0.0))),
        rates=rates,
        rates_new=rates_new,
        proportions=np.append(shares, 1.0 - shares.sum()),
        measure=measure,
    )


class RiskDifference(NamedTuple):
    """Risk of one classifier less that of another, and its standard error."""

    difference: float
    standard_error: float


def risk_difference(
    first: tuple[ArrayLike, ArrayLike],
    second: tuple[ArrayLike, ArrayLike],
    codes: ArrayLike,
    shares: ArrayLike,
    covariance: FloatArray | None = None,
) -> RiskDifference:
    """R_hat(f) - R_hat(g) on the same rows: what both get right or wrong alike drops out.

    So its standard error is far below that of either risk where the two agree on most rows, and
    this is the number to choose between them by.

    Parameters
    ----------
    first, second : pair of array-like of shape (n,) and (m,)
        Codes that each classifier gives to the labelled and to the unlabelled rows, K for unseen.
    codes : array-like of shape (n,)
        Classes of the labelled rows.
    shares : array-like of shape (K,)
        Shares of the known classes among the unlabelled rows.
    covariance : ndarray of shape (K, K) or None, default=None
        Covariance of the errors of the shares.

    Returns
    -------
    RiskDifference

    Examples
    --------
    >>> from unseen.rejection.risk import risk_difference
    >>> alike = [0, 0, 1, 0], [0, 1, 1, 0, 1, 0]
    >>> risk_difference(alike, alike, [0, 0, 0, 0], [0.5])
    RiskDifference(difference=0.0, standard_error=0.0)
    """
    shares = np.asarray(shares, dtype=np.float64)
    codes = np.asarray(codes)
    unseen = len(shares)
    # Costs of one row: wrong as a known row, less wrong as an unseen one; the latter for new rows.
    extra = [
        (np.asarray(f) != codes).astype(float) - (np.asarray(f) != unseen)
        for f, _ in (first, second)
    ]
    new = [(np.asarray(f) != unseen).astype(float) for _, f in (first, second)]
    by_row, by_row_new = extra[0] - extra[1], new[0] - new[1]
    of_class = [by_row[codes == label] for label in range(unseen)]
    means = np.array([rows.mean() for rows in of_class])
    variances = np.array([_variance_of_mean(rows) for rows in of_class])
    variance = _variance_of_mean(by_row_new) + shares**2 @ variances
    if covariance is not None:
        variance = variance + means @ covariance @ means
    difference = float(by_row_new.mean() + shares @ means)
    return RiskDifference(difference, float(np.sqrt(max(variance, 0.0))))


def _variance_of_mean(values: FloatArray) -> float:
    return float(values.var() / max(len(values) - 1, 1))


def label_rates(
    predicted: ArrayLike, codes: ArrayLike, predicted_new: ArrayLike, n_classes: int
) -> tuple[FloatArray, FloatArray]:
    """Rate of each label in each known class, ``C_i``, and among the unlabelled rows, ``C_0``.

    Examples
    --------
    >>> rates, rates_new = label_rates([0, 2, 1], [0, 0, 1], [0, 1, 2, 2], 2)
    >>> rates.tolist(), rates_new.tolist()
    ([[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]], [0.25, 0.25, 0.5])
    """
    table = np.zeros((n_classes, n_classes + 1))
    np.add.at(table, (np.asarray(codes), np.asarray(predicted)), 1.0)
    new = np.bincount(np.asarray(predicted_new), minlength=n_classes + 1)
    return table / table.sum(axis=1, keepdims=True), new / new.sum()


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
    """Risk of any fitted classifier when unlabelled rows may hold unseen classes.

    Parameters
    ----------
    classifier : object with ``predict``
        Fitted, on other rows than these. It may or may not use the unseen label.
    X : array-like of shape (n, d)
        Labelled rows.
    y : array-like of shape (n,)
        Their labels.
    X_new : array-like of shape (m, d)
        Unlabelled rows.
    proportions : None, shares, mapping, Estimate or proportion estimator, default=None
        Shares of the known classes in X_new, as for the rejection rules. None estimates them.
    measure : RiskMeasure or None, default=None
        What to estimate: :class:`ErrorRate` (None), :class:`CostSensitive` or :class:`MinMax`.
    unseen_label : label, default="auto"
        What the classifier says to rows of unseen classes; "auto" is "unseen" for text labels, -1
        for numbers.
    random_state : int, RandomState instance or None, default=None
        Seed of the estimated shares.

    Returns
    -------
    RiskEstimate

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from unseen.rejection.risk import open_set_risk
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 200)
    >>> X = rng.normal(np.where(y, 4, -4)[:, None], 1)
    >>> X_new = np.r_[rng.normal(-4, 1, (200, 1)), rng.normal(30, 1, (200, 1))]
    >>> closed = LogisticRegression().fit(X[::2], y[::2])
    >>> round(open_set_risk(closed, X[1::2], y[1::2], X_new, {0: 0.5, 1: 0.0}).risk, 2)
    0.5
    """
    rows, rows_new = check_rows(X, "X"), check_rows(X_new, "X_new")
    labels = np.asarray(y)
    classes, codes = np.unique(labels, return_inverse=True)
    seed = check_random_state(random_state).randint(2**31 - 1)
    shares = find_shares(proportions, rows, labels, rows_new, seed)
    everything = with_unseen(classes, unseen_label)
    return open_risk(
        codes_of(classifier.predict(X), everything),
        codes,
        codes_of(classifier.predict(X_new), everything),
        shares.known,
        shares.covariance,
        measure,
    )


@dataclass(frozen=True, eq=False)
class OpenSetScorer:
    """A scikit-learn scorer: minus the risk of :func:`open_set_risk`, so that higher is better.

    Parameters
    ----------
    X_new : array-like of shape (m, d)
        Unlabelled rows that no candidate learns from.
    proportions : shares, mapping or Estimate
        Shares of the known classes in X_new.
    measure : RiskMeasure or None, default=None
        What to estimate.
    unseen_label : label, default="auto"
        What a classifier says to rows of unseen classes.

    Examples
    --------
    >>> from unseen.rejection.risk import OpenSetScorer
    >>> OpenSetScorer([[0.0]], None)
    Traceback (most recent call last):
        ...
    ValueError: proportions must be given, so that all candidates are judged by the same shares; ...
    """

    X_new: Any
    proportions: Any
    measure: RiskMeasure | None = None
    unseen_label: Any = "auto"

    def __post_init__(self) -> None:
        if self.proportions is None:
            raise ValueError(
                "proportions must be given, so that all candidates are judged by the same shares; "
                "got None. Estimate them once: unseen.estimate(X, y, X_new)."
            )

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """Minus the risk on held-out labelled rows and on X_new."""
        return -open_set_risk(
            estimator,
            X,
            y,
            self.X_new,
            self.proportions,
            measure=self.measure,
            unseen_label=self.unseen_label,
        ).risk


def open_set_scorer(
    X_new: Any,
    proportions: Any,
    *,
    measure: RiskMeasure | None = None,
    unseen_label: Any = "auto",
) -> OpenSetScorer:
    """Scorer for GridSearchCV and its like, with no unseen label needed.

    A candidate must not have learnt from ``X_new``. For a rule that learns from unlabelled rows
    itself, split them: one part for its fit, the other for the scorer.

    Parameters
    ----------
    X_new : array-like of shape (m, d)
        Unlabelled rows that no candidate learns from.
    proportions : shares, mapping or Estimate
        Shares of the known classes in X_new.
    measure : RiskMeasure or None, default=None
        What to estimate; None is the paper's risk.
    unseen_label : label, default="auto"
        What a classifier says to rows of unseen classes.

    Returns
    -------
    OpenSetScorer

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from unseen.rejection.risk import open_set_scorer
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["a", "b"], 50)
    >>> X = rng.normal(np.where(y == "a", -1, 1)[:, None], 1, (100, 2))
    >>> scorer = open_set_scorer(rng.normal(-1, 1, (80, 2)), {"a": 0.9, "b": 0.0})
    >>> search = GridSearchCV(LogisticRegression(), {"C": [1e-4, 1.0]}, scoring=scorer).fit(X, y)
    >>> search.best_params_["C"] in (1e-4, 1.0)
    True
    """
    return OpenSetScorer(X_new, proportions, measure, unseen_label)


def _square(costs: ArrayLike, size: int) -> FloatArray:
    square = np.asarray(costs, dtype=np.float64)
    if square.shape != (size, size) or not np.isfinite(square).all():
        raise ValueError(
            f"costs must be finite, of shape {(size, size)}: known classes and unseen; "
            f"got shape {square.shape}."
        )
    return square


def _unseen_error(rates: FloatArray, rates_new: FloatArray, shares: FloatArray) -> float:
    unseen = 1.0 - float(shares.sum())
    if unseen <= 1e-12:
        return float("nan")
    called_known = rates_new[:-1].sum() - shares @ rates[:, :-1].sum(axis=1)
    return float(called_known / unseen)


def _multinomial_variance(gradient: FloatArray, rates: FloatArray, counts: Any) -> FloatArray:
    """Variance of ``gradient @ rates`` over samples of these sizes; unbiased, as with n - 1."""
    mean = (gradient * rates).sum(axis=-1)
    spread = (gradient**2 * rates).sum(axis=-1) - mean**2
    return np.asarray(np.maximum(spread, 0.0) / np.maximum(np.asarray(counts) - 1, 1))
