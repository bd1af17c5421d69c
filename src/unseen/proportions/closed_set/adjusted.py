"""Adjusted counts: classify and count, corrected for the classifier's error rates.

Let ``M_ki`` be the rate at which rows of class i are counted for class k, estimated out of fold,
and ``q_k`` the share of new rows counted for k. If only the shares have changed, then

    q = M pi,

which is solved for pi. Counting predictions gives the adjusted count (ACC), counting posteriors
the probabilistic adjusted count (PACC), which keeps more of what the classifier knows.

With two classes this is the estimator of Rogan & Gladen (1978) from epidemiology. With the true
positive rate t (sensitivity), the false positive rate f (one minus specificity) and the apparent
share q of positives,

    pi = (q - f) / (t - f), clipped to [0, 1].
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from unseen._random import generator
from unseen._types import FloatArray
from unseen.proportions.closed_set.count import votes
from unseen.proportions.closed_set.matching import (
    bootstrap_means,
    class_bootstrap_means,
    class_means,
)
from unseen.proportions.closed_set.posteriors import ClosedSetEstimator, Posteriors, closed
from unseen.records import Estimate
from unseen.simplex import minimise_on_simplex

__all__ = ["AdjustedCount", "adjusted_shares"]


class AdjustedCount(ClosedSetEstimator):
    """Shares of the known classes from counts corrected for the classifier's error rates.

    With two classes this is the Rogan-Gladen estimator, ``(q - f) / (t - f)`` clipped to
    [0, 1], with apparent share q, true positive rate t and false positive rate f.

    Parameters
    ----------
    soft : bool, default=True
        True counts posteriors (PACC), False counts predictions (ACC).
    constrained : bool, default=True
        True finds the shares on the simplex that solve ``q = M pi`` best in least squares.
        False solves it outright, sets negative shares to 0 and divides by the sum, as the
        method was first written. Both are the same with two classes; with more, clipping
        one share leaves the others at values that made up for it.
    classifier : scikit-learn classifier or None, default=None
        What tells the known classes apart, with ``predict_proba``; None is kernel logistic
        regression.
    n_folds : int, default=10
        Folds of the out-of-fold posteriors.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds and of the classifier.
    n_jobs : int or None, default=None
        Folds that are fitted at the same time; does not change the result.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        Labels of the known classes.
    labelled_ : LabelledRows
        The labelled sample.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import AdjustedCount
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-1, 1, (300, 2)), rng.normal(1, 1, (300, 2))])
    >>> y = ["left"] * 300 + ["right"] * 300
    >>> X_new = np.vstack([rng.normal(-1, 1, (400, 2)), rng.normal(1, 1, (100, 2))])
    >>> estimate = AdjustedCount(random_state=0).fit(X, y).estimate(X_new)
    >>> print(f"left {estimate['left']:.1f}")
    left 0.8
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "soft": ["boolean"],
        "constrained": ["boolean"],
        **ClosedSetEstimator._parameter_constraints,
    }

    def __init__(
        self,
        soft: bool = True,
        constrained: bool = True,
        classifier: Any = None,
        n_folds: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(classifier, n_folds, random_state, n_jobs)
        self.soft = soft
        self.constrained = constrained

    def from_scores(self, scores: Posteriors) -> Estimate:
        """Read the shares off posteriors that have been made before; needs no ``fit``.

        Parameters
        ----------
        scores : Posteriors

        Returns
        -------
        Estimate
        """
        rates = class_means(votes(scores.labelled, self.soft), scores.codes, len(scores.classes)).T
        counted = votes(scores.new, self.soft).mean(axis=0)
        shares = adjusted_shares(rates, counted, constrained=self.constrained)
        return self._estimate(scores, shares, condition=float(np.linalg.cond(rates)))

    def replicates(
        self, scores: Posteriors, n_replicates: int = 500, random_state: Any = None
    ) -> FloatArray:
        """Shares under Bayesian-bootstrap weights of the rows; nothing is refitted.

        Parameters
        ----------
        scores : Posteriors
        n_replicates : int, default=500
            Number of replicates, B.
        random_state : int, RandomState, Generator or None, default=None
            Where all randomness comes from.

        Returns
        -------
        ndarray of shape (B, K + 1)
            Share of each known class, then of unseen ones: 0.
        """
        rng = generator(random_state)
        rows, n_classes = votes(scores.labelled, self.soft), len(scores.classes)
        rates = class_bootstrap_means(rows, scores.codes, n_classes, n_replicates, rng)
        counted = bootstrap_means(votes(scores.new, self.soft), n_replicates, rng)
        shares = adjusted_shares(rates.swapaxes(1, 2), counted, constrained=self.constrained)
        return closed(shares)


def adjusted_shares(
    rates: FloatArray, counted: FloatArray, *, constrained: bool = True
) -> FloatArray:
    """Solve ``q = M pi`` for the shares, for many M and q at once.

    Parameters
    ----------
    rates : ndarray of shape (..., K, K)
        ``M_ki``: the rate at which rows of class i are counted for class k.
    counted : ndarray of shape (..., K)
        ``q_k``: the share of new rows counted for class k.
    constrained : bool, default=True
        Least squares on the simplex; or else the plain solution, clipped.

    Returns
    -------
    ndarray of shape (..., K)

    Examples
    --------
    >>> import numpy as np
    >>> rates = np.array([[0.9, 0.2], [0.1, 0.8]])
    >>> adjusted_shares(rates, np.array([0.55, 0.45])).round(3)
    array([0.5, 0.5])
    """
    if constrained:
        transposed = np.swapaxes(rates, -1, -2)
        linear = (transposed @ counted[..., None])[..., 0]
        return minimise_on_simplex(transposed @ rates, linear)
    # The pseudo-inverse, for a classifier that gives two classes the very same counts.
    plain = (np.linalg.pinv(rates) @ counted[..., None])[..., 0]
    clipped = np.clip(plain, 0.0, 1.0)
    return clipped / clipped.sum(axis=-1, keepdims=True)
