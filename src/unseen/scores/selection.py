"""Held-out measures of many fits at once, and the folds they are held out by."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, check_cv

from unseen._types import BoolArray, FloatArray, IntArray

Scoring = Callable[[FloatArray, IntArray, FloatArray], FloatArray]


def assign_folds(codes: IntArray, n_folds: int, random_state: Any) -> IntArray:
    """Fold of each row; every class is spread over the folds as evenly as possible."""
    counts = np.bincount(codes)
    n_folds = max(2, min(n_folds, int(counts.max())))
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
    folds = np.zeros(len(codes), dtype=np.int64)
    with warnings.catch_warnings():
        # A class with fewer rows than folds is missing from some folds, which is allowed.
        warnings.simplefilter("ignore", UserWarning)
        for fold, (_, held_out) in enumerate(splitter.split(codes, codes)):
            folds[held_out] = fold
    return folds


def training_masks(cv: Any, codes: IntArray, random_state: Any) -> FloatArray:
    """Columns (n, folds): 1 where the fold trains on the row, 0 where it tests it, else -1."""
    if isinstance(cv, int | np.integer):
        folds = assign_folds(codes, int(cv), random_state)
        return (folds[:, None] != np.arange(folds.max() + 1)).astype(np.float64)
    splits = list(check_cv(cv, codes, classifier=True).split(codes[:, None], codes))
    masks = np.full((len(codes), len(splits)), -1.0)
    for fold, (train, test) in enumerate(splits):
        masks[test, fold] = 0.0
        masks[train, fold] = 1.0
    return masks


def accuracy(values: FloatArray, codes: IntArray, weight: FloatArray) -> FloatArray:
    """Share of rows with the right label, for each problem of (n, problems, K) values."""
    if values.shape[2] == 1:
        predicted = (values[..., 0] > 0).astype(np.int64)
    else:
        predicted = values.argmax(axis=2)
    return weight @ (predicted == codes[:, None]) / weight.sum()


def neg_log_loss(values: FloatArray, codes: IntArray, weight: FloatArray) -> FloatArray:
    """Mean log-probability of the true class, for each problem."""
    if values.shape[2] == 1:
        sign = np.where(codes > 0, -1.0, 1.0)[:, None]
        losses = np.logaddexp(0.0, sign * values[..., 0])
    else:
        true = np.take_along_axis(values, codes[:, None, None], axis=2)[..., 0]
        losses = np.logaddexp.reduce(values, axis=2) - true
    return -(weight @ losses) / weight.sum()


def roc_auc(values: FloatArray, codes: IntArray, weight: FloatArray) -> FloatArray:
    """Area under the ROC for each problem; the mean of one against the rest if K > 2."""
    if values.shape[2] == 1:
        outputs = [(codes == 1, values[..., 0])]
    else:
        outputs = [(codes == k, values[..., k]) for k in range(values.shape[2])]
    areas = [
        [weighted_auc(column, positive, weight) for column in scores.T]
        for positive, scores in outputs
        if 0 < positive.sum() < positive.size
    ]
    return np.mean(areas, axis=0) if areas else np.full(values.shape[1], 0.5)


def weighted_auc(scores: FloatArray, positive: BoolArray, weight: FloatArray) -> float:
    """Probability that a positive row outscores a negative one; ties count one half.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_auc(np.array([1.0, 2, 2]), np.array([False, False, True]), np.ones(3))
    0.75
    """
    _, place = np.unique(scores, return_inverse=True)
    above = np.bincount(place, weight * positive)
    below = np.bincount(place, weight * ~positive)
    wins = above @ (np.cumsum(below) - below / 2)
    return float(wins / max(above.sum() * below.sum(), np.finfo(float).tiny))


SCORINGS: dict[str, Scoring] = {
    "accuracy": accuracy,
    "roc_auc": roc_auc,
    "neg_log_loss": neg_log_loss,
}


def fold_offsets(masks: FloatArray, new: IntArray, weights: FloatArray | None = None) -> FloatArray:
    """Log-odds of F among the rows that trained the model of each row.

    Folds cannot all hold the same shares of F and H. The log-odds of a model are higher the more of
    F was in its training rows, and then fewer of F are held out: pooled over folds, scores of two
    samples of one law would tend to order them the wrong way round.

    Parameters
    ----------
    masks : ndarray of shape (n, folds)
        1 where a row trains.
    new : ndarray of shape (n,)
        1 for rows of F, 0 for rows of H.
    weights : ndarray of shape (n,), optional
        Weights of the rows.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> masks = np.array([[0.0, 1], [1, 0], [1, 0], [1, 1]])  # the last row always trains
    >>> np.exp(fold_offsets(masks, np.array([1, 1, 0, 0])))[:3].round(3)
    array([0.5, 1. , 1. ])
    """
    weights = np.ones(len(new)) if weights is None else weights
    trained = masks == 1
    odds = np.log((weights * new) @ trained) - np.log((weights * (1 - new)) @ trained)
    return np.asarray(odds[masks.argmin(axis=1)])
