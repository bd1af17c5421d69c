"""Gradient boosting in the place of kernel logistic regression, where held-out rows clearly ask.

A kernel compares rows in all columns at once: a step in one of many columns, and what two of them
say together, drown in the others. Trees look at one column at a time. Boosting takes far longer
than a kernel, so that a quick fit to a part of the rows scouts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin

from unseen._arrays import chosen_arrays
from unseen._team import controller
from unseen._types import FloatArray, IntArray, Matrix
from unseen.samples import Clusters
from unseen.scores.base import FOLDS, assign_folds
from unseen.scores.crossfit import CrossFitter

# Of fewer rows of a class trees learn little.
_LEAST_ROWS = 250
# Where the log-loss is smaller, classes lie apart, and shares can hardly become better.
_NOTHING_TO_WIN = 0.1
_FOLDS_OUT = 3  # of ten, on which the quick fit is judged
_STANDARD_ERRORS = 2.0  # by which boosting must be better
_LEAST_POSTERIOR = 1e-15


@dataclass(eq=False, repr=False)
class _Boosting(ClassifierMixin, BaseEstimator):
    """Gradient boosting of trees of eight leaves, on one thread.

    More rounds, or larger trees, overfit some hundred rows. Threads of OpenMP would wait more than
    they compute, and older versions of scikit-learn round by their number.
    """

    n_rounds: int = 60
    learning_rate: float = 0.1

    def fit(self, X: FloatArray, y: IntArray) -> _Boosting:
        """Fit to labelled rows."""
        # Most estimates need no trees, which are slow to import.
        from sklearn.ensemble import HistGradientBoostingClassifier

        model = HistGradientBoostingClassifier(
            learning_rate=self.learning_rate,
            max_iter=self.n_rounds,
            max_leaf_nodes=8,
            min_samples_leaf=10,
            early_stopping=False,
            random_state=0,
        )
        with controller("sklearn.ensemble").limit(limits=1, user_api="openmp"):
            self.model_ = model.fit(X, y)
        self.classes_ = model.classes_
        return self

    def predict_proba(self, X: FloatArray) -> FloatArray:
        """Posteriors of the classes, (n, K)."""
        with controller("sklearn.ensemble").limit(limits=1, user_api="openmp"):
            return np.asarray(self.model_.predict_proba(X))


def may_boost(X: Matrix, codes: IntArray, X_new: Matrix) -> bool:
    """Whether trees could learn from such rows: dense ones, on the host, many of each class."""
    thin = sparse.issparse(X) or sparse.issparse(X_new)
    return not thin and chosen_arrays().is_host and np.bincount(codes).min() >= _LEAST_ROWS


def boosted_posteriors(
    posteriors: FloatArray,
    X: Matrix,
    codes: IntArray,
    X_new: Matrix,
    n_folds: int,
    seed: int,
    clusters: Clusters | None,
    n_jobs: int | None = None,
) -> tuple[FloatArray, FloatArray] | None:
    """Posteriors by boosting, of labelled rows out of fold and of new rows; None unless better.

    ``posteriors`` (n, K) are those of the labelled rows by the other classifier, out of fold.
    """
    losses = _log_losses(posteriors, codes)
    if losses.mean() < _NOTHING_TO_WIN:
        return None
    clusters = clusters or Clusters.of_copies(X, X_new)
    out = assign_folds(codes, FOLDS, seed, clusters.together[0]) < _FOLDS_OUT
    if not (np.bincount(codes[~out], minlength=codes.max() + 1) > 0).all():
        return None
    # A quick fit to a part of the rows scouts, against models of more rows.
    scout = _Boosting(n_rounds=10, learning_rate=0.5).fit(X[~out], codes[~out])
    theirs = _log_losses(scout.predict_proba(X[out]), codes[out])
    if not theirs.sum() < losses[out].sum():
        return None
    fitter = CrossFitter(_Boosting(), n_jobs)
    labelled, new = fitter.posteriors(X, codes, X_new, n_folds, seed, clusters)
    assert labelled is not None
    gain = losses - _log_losses(labelled, codes)
    clearly = gain.mean() > _STANDARD_ERRORS * gain.std() / np.sqrt(len(gain))
    return (labelled, new) if clearly else None


def _log_losses(posteriors: FloatArray, codes: IntArray) -> FloatArray:
    """Minus the log-posterior of the class of each row, (n,)."""
    own = np.take_along_axis(posteriors, codes[:, None], axis=1)[:, 0]
    return np.asarray(-np.log(np.maximum(own, _LEAST_POSTERIOR)))
