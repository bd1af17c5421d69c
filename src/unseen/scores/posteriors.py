"""Posteriors of the known classes, out of fold for the rows that the classifier learnt from."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.special import softmax
from sklearn.utils import check_random_state

from unseen._random import one_blas_thread, seeded
from unseen._types import FloatArray, IntArray, Matrix
from unseen.scores.crossfit import SCORE_LIMITS
from unseen.scores.klr import KernelLogisticRegression, held_out
from unseen.scores.selection import SCORINGS, assign_folds, training_masks

__all__ = ["crossfit_posteriors"]


def crossfit_posteriors(
    X: Matrix,
    codes: IntArray,
    X_new: Matrix,
    classifier: Any = None,
    *,
    n_folds: int = 10,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Posteriors of the labelled rows out of fold, and of the new rows from all labelled rows.

    Parameters
    ----------
    X, codes : array-like of shape (n, d), ndarray of shape (n,)
        Labelled rows and their class codes 0 ... K - 1.
    X_new : array-like of shape (m, d)
        New rows.
    classifier : scikit-learn classifier, optional
        What tells the classes apart; default :class:`~unseen.KernelLogisticRegression`, whose
        bandwidth and C are chosen once, on all labelled rows.
    n_folds : int
        Folds.
    random_state : int, RandomState or None
        Draws folds and whatever the classifier draws.
    n_jobs : int or None
        Folds fitted side by side; the posteriors do not depend on it.

    Returns
    -------
    labelled, new : ndarray of shape (n, K), ndarray of shape (m, K)

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.scores.posteriors import crossfit_posteriors
    >>> rng = np.random.default_rng(0)
    >>> X, codes = np.append(rng.normal(0, 1, 100), rng.normal(3, 1, 100)), np.repeat([0, 1], 100)
    >>> labelled, new = crossfit_posteriors(X[:, None], codes, [[0.0], [3.0]], random_state=0)
    >>> labelled.shape, new.argmax(axis=1)
    ((200, 2), array([0, 1]))
    """
    rng = check_random_state(random_state)
    seeds = rng.randint(2**31 - 1, size=n_folds + 2)
    chosen = KernelLogisticRegression() if classifier is None else classifier
    model = seeded(chosen, seeds[0]).fit(X, codes)
    if isinstance(model, KernelLogisticRegression):
        labelled = _kernel_folds(model, X, codes, n_folds, seeds)
    else:
        labelled = _any_folds(model, X, codes, n_folds, seeds[1:], n_jobs)
    return labelled, _posteriors_of(model, X_new)


def _kernel_folds(
    model: KernelLogisticRegression, X: Matrix, codes: IntArray, n_folds: int, seeds: IntArray
) -> FloatArray:
    """All folds at once, on the one kernel factor of the fitted model."""
    with one_blas_thread():
        rows = model.prepare(X, np.ones(len(codes)), np.random.RandomState(seeds[0]))
        masks = training_masks(n_folds, codes, int(seeds[1]))
        strengths = np.array([model.C_])
        measure = SCORINGS["neg_log_loss"]
        values, *_ = held_out(
            rows, codes, model.bandwidth_, strengths, masks, measure, *SCORE_LIMITS
        )
    logits = values[:, 0]
    if logits.shape[1] == 1:
        logits = np.column_stack([np.zeros(len(logits)), logits])
    return np.asarray(softmax(logits, axis=1))


def _any_folds(
    model: Any, X: Matrix, codes: IntArray, n_folds: int, seeds: IntArray, n_jobs: int | None
) -> FloatArray:
    folds = assign_folds(codes, n_folds, int(seeds[0]))
    parts = Parallel(n_jobs=n_jobs)(
        delayed(_fit_and_score)(model, seeds[fold + 1], X, codes, folds != fold)
        for fold in range(folds.max() + 1)
    )
    labelled = np.empty((len(codes), int(codes.max()) + 1))
    for fold, part in enumerate(parts):
        labelled[folds == fold] = part
    return labelled


def _fit_and_score(model: Any, seed: int, X: Matrix, codes: IntArray, train: Any) -> FloatArray:
    return _posteriors_of(seeded(model, seed).fit(X[train], codes[train]), X[~train])


def _posteriors_of(model: Any, X: Matrix) -> FloatArray:
    if not hasattr(model, "predict_proba"):
        name = type(model).__name__
        raise TypeError(
            f"classifier must have predict_proba; got {name}, which has none. "
            f"CalibratedClassifierCV({name}()) adds it."
        )
    return np.asarray(model.predict_proba(X), dtype=np.float64)
