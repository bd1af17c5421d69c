"""MPE-Projected: the slopes of MPE-Incomplete, moved to the nearest shares that sum to one.

Where every class is known, the estimates of Eq. (4) should sum to one, and miss it by estimation
error only. Projecting them on the probability simplex takes that error out. It also takes out
the unseen share: this is a closed-set method.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from unseen import simplex
from unseen._types import FloatArray
from unseen.proportions.base import ClassScores, closed_set_notice
from unseen.proportions.per_class.incomplete import MPEIncomplete
from unseen.records import Estimate
from unseen.samples.checks import check_closed_set

__all__ = ["MPEProjected"]


class MPEProjected(MPEIncomplete):
    """Shares by one ROC slope each, Eq. (4), projected on the simplex: nothing is unseen.

    Parameters
    ----------
    method : mixture estimator or None, default=None
        Reads the share of one class off its scores; None is :class:`~unseen.ROCSlope`. Its
        own ``classifier`` and ``n_folds`` play no part here.
    classifier : scikit-learn classifier or None, default=None
        What tells the new rows from a class; None is kernel logistic regression.
    n_folds : int, default=10
        Folds of the out-of-fold scores.
    n_repeats : int, default=1
        Times the folds are drawn anew.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds and of the classifier.
    n_jobs : int or None, default=None
        Jobs that score at the same time; does not change the result.

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
    >>> from unseen import MPEProjected
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-2, 1, (300, 2)), rng.normal(2, 1, (300, 2))])
    >>> y = ["left"] * 300 + ["right"] * 300
    >>> X_new = np.vstack([rng.normal(-2, 1, (350, 2)), rng.normal(2, 1, (150, 2))])
    >>> estimate = MPEProjected(random_state=0).fit(X, y).estimate(X_new)
    >>> print(f"left {estimate['left']:.1f}, right {estimate['right']:.1f}")
    left 0.7, right 0.3
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Keep the labelled sample.

        Parameters
        ----------
        X : array-like of shape (n_labelled, n_features)
            Rows of the known classes; dense, sparse or a table.
        y : array-like of shape (n_labelled,)
            Their labels: text, whole numbers or booleans; at least two classes.

        Returns
        -------
        self
        """
        super().fit(X, y)
        check_closed_set(self.classes_)
        return self

    def from_scores(self, scores: ClassScores) -> Estimate:
        """Read the shares off scores that have been made before; needs no ``fit``.

        Parameters
        ----------
        scores : ClassScores

        Returns
        -------
        Estimate
        """
        check_closed_set(np.asarray(scores.classes))
        estimate = super().from_scores(scores)
        return replace(
            estimate,
            proportions=simplex.project(estimate.proportions),
            unseen=0.0,
            sees_unseen=False,
            notices=(*estimate.notices, closed_set_notice(type(self).__name__)),
        )

    def replicates(
        self, scores: ClassScores, n_replicates: int = 500, random_state: Any = None
    ) -> FloatArray:
        """Shares under Bayesian-bootstrap weights of the scored rows; nothing is refitted.

        Parameters
        ----------
        scores : ClassScores
        n_replicates : int, default=500
            Number of replicates, B.
        random_state : int, RandomState, Generator or None, default=None
            Where all randomness comes from; None is the seed of the scores.

        Returns
        -------
        ndarray of shape (B, K + 1)
            Share of each known class, then of unseen ones: 0.
        """
        shares = super().replicates(scores, n_replicates, random_state)
        # A projection on the open set, then on the simplex, is one on the simplex.
        shares[:, :-1], shares[:, -1] = simplex.project(shares[:, :-1]), 0.0
        return shares
