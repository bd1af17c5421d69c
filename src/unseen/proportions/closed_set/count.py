"""Classify and count: the share of new rows that a classifier gives to each class.

The baseline. With error rates above zero it is wrong even with endless data: it gives each class
``sum_i pi_i P_i(classified as k)`` instead of ``pi_k``, which pulls towards the training shares.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from unseen._random import generator
from unseen._types import FloatArray
from unseen.proportions.closed_set.matching import bootstrap_means
from unseen.proportions.closed_set.posteriors import ClosedSetEstimator, Posteriors, closed
from unseen.records import Estimate

__all__ = ["ClassifyAndCount", "votes"]


class ClassifyAndCount(ClosedSetEstimator):
    """Shares of the classes among a classifier's predictions on the new rows.

    Parameters
    ----------
    soft : bool, default=False
        False counts each row for its most probable class; True spreads it over the classes by
        its posterior.
    classifier : scikit-learn classifier or None, default=None
        What tells the known classes apart, with ``predict_proba``; None is kernel logistic
        regression.
    n_folds : int, default=10
        Folds of the out-of-fold posteriors, which play no part in the count.
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
    >>> from unseen import ClassifyAndCount
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-4, 1, (300, 2)), rng.normal(4, 1, (300, 2))])
    >>> y = ["left"] * 300 + ["right"] * 300
    >>> X_new = np.vstack([rng.normal(-4, 1, (400, 2)), rng.normal(4, 1, (100, 2))])
    >>> ClassifyAndCount(random_state=0).fit(X, y).estimate(X_new)["left"]
    0.8
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "soft": ["boolean"],
        **ClosedSetEstimator._parameter_constraints,
    }

    def __init__(
        self,
        soft: bool = False,
        classifier: Any = None,
        n_folds: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(classifier, n_folds, random_state, n_jobs)
        self.soft = soft

    def from_scores(self, scores: Posteriors) -> Estimate:
        """Count posteriors that have been made before; needs no ``fit``.

        Parameters
        ----------
        scores : Posteriors

        Returns
        -------
        Estimate
        """
        return self._estimate(scores, votes(scores.new, self.soft).mean(axis=0))

    def replicates(
        self, scores: Posteriors, n_replicates: int = 500, random_state: Any = None
    ) -> FloatArray:
        """Counts under Bayesian-bootstrap weights of the new rows; labelled rows play no part.

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
        rows = votes(scores.new, self.soft)
        return closed(bootstrap_means(rows, n_replicates, generator(random_state)))


def votes(posteriors: FloatArray, soft: bool) -> FloatArray:
    """The posteriors themselves, or a 1 for the most probable class of each row.

    Examples
    --------
    >>> import numpy as np
    >>> votes(np.array([[0.2, 0.5, 0.3]]), soft=False)
    array([[0., 1., 0.]])
    """
    if soft:
        return posteriors
    return np.eye(posteriors.shape[1])[posteriors.argmax(axis=1)]
