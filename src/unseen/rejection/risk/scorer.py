"""The risk of anybody's classifier, in one call or as a scorer for scikit-learn's searches."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from unseen._types import IntArray
from unseen.proportions import OpenSetEstimator, ProportionEstimator
from unseen.records import Estimate
from unseen.rejection.learning.sample import places_of, with_unseen
from unseen.rejection.learning.shares import estimate_shares, given_shares
from unseen.rejection.risk.estimate import RiskEstimate, RiskMeasure, open_risk
from unseen.samples import check_labelled, check_labels, check_new


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
    everything = with_unseen(classes, unseen_label)
    found = open_risk(
        _codes(predicted, everything),
        codes,
        _codes(classifier.predict(X_new), everything),
        shares.known,
        shares.covariance,
        measure,
    )
    return found if shares.tell_risk else found.withheld()


def _codes(labels: Any, everything: NDArray[Any]) -> IntArray:
    """Place of each label among the K + 1 labels."""
    places = places_of(labels, everything)
    if (places < 0).any():
        strange = np.ravel(labels).tolist()[places.argmin()]
        raise ValueError(
            f"classifier must predict labels of y or unseen_label={everything.tolist()[-1]!r}; "
            f"got {strange!r}."
        )
    return places


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
