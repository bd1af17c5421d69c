"""Estimate in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from unseen.proportions import OpenSetEstimator, ProportionEstimator

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from unseen.records import Estimate

__all__ = ["estimate"]


def estimate(
    X: ArrayLike,
    y: ArrayLike,
    X_new: ArrayLike,
    *,
    estimator: ProportionEstimator | None = None,
    confidence: float | None = None,
    random_state: Any = None,
) -> Estimate:
    """Estimate the share of each known class in new rows, and the share of unseen classes.

    Parameters
    ----------
    X : array-like of shape (n_labelled, n_features)
        Rows of the known classes: NumPy, sparse, or a pandas, polars or pyarrow table.
    y : array-like of shape (n_labelled,)
        Their labels: text, whole numbers or booleans. One class is enough.
    X_new : array-like of shape (n_new, n_features)
        New rows, with the columns of X.
    estimator : proportion estimator or None, default=None
        How to estimate; None is :class:`OpenSetEstimator`. It is copied, not changed.
    confidence : float or None, default=None
        Level of the intervals, such as 0.95; None makes none.
    random_state : int, RandomState instance or None, default=None
        Seed of all randomness; overrides that of ``estimator`` when given.

    Returns
    -------
    Estimate
        Prints as a table; ``proportions`` and ``unseen`` hold the shares.

    Raises
    ------
    TypeError
        When the estimator is no proportion estimator; a mixture estimator is none.

    Examples
    --------
    >>> import numpy as np
    >>> import unseen
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(0, 1, (400, 2)), ["known"] * 400
    >>> X_new = np.vstack([rng.normal(0, 1, (300, 2)), rng.normal(9, 1, (300, 2))])
    >>> estimate = unseen.estimate(X, y, X_new, random_state=0)
    >>> print(f"{estimate.unseen:.1f}")
    0.5
    """
    if estimator is not None and not isinstance(estimator, ProportionEstimator):
        raise TypeError(
            "estimator must be a proportion estimator such as MPEIncomplete(), or None; "
            f"got {estimator!r}."
        )
    chosen = OpenSetEstimator() if estimator is None else clone(estimator)
    if random_state is not None:
        chosen.set_params(random_state=random_state)
    return chosen.fit(X, y).estimate(X_new, confidence=confidence)
