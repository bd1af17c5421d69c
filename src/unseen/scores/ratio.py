"""Log density ratios of two samples, out of fold, from every candidate of the kernel classifier.

A classifier that tells F from H has the log-odds ``log f(x) / h(x) + log n_F / n_H``. Three
things spoil such scores where the samples are small or alike, and each has its remedy here.

- The folds cannot all hold the same shares of F and H, so that the second term differs from fold
  to fold, and it is low just where more of F was held out. It is taken off. That is not enough
  where rows have weights and bandwidths are narrow: such a model follows single rows, its constant
  does not follow the weight of all, and scores are ordered by fold. So folds hold all classes
  alike.
- Bandwidth and C are chosen on the rows that are scored. Instead of one choice there is a column
  of scores for every candidate, with its held-out log-loss; whoever reads them can average.
- A fit that stops early keeps, through the preconditioner that all folds share, a trace of the
  rows it was not to see, so that two samples of one law seem to differ. These fits are run on.
  Where held-out rows are out of reach of all others, at narrow bandwidths in many dimensions, the
  trace is all there is: scores that differ by less than the error of the fit are all 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils import check_random_state

from unseen._random import one_blas_thread
from unseen._types import FloatArray, IntArray, Matrix
from unseen.scores.crossfit import SCORE_LIMITS, as_rows, crossfit_scores, stack_samples
from unseen.scores.klr import STRENGTHS, KernelLogisticRegression, Rows, held_out
from unseen.scores.neighbours import Distances, neighbour_distances
from unseen.scores.selection import SCORINGS, fold_offsets, training_masks

__all__ = ["RatioScores", "ratio_scores"]

# The largest C of the classifier takes a third of the time, and hardly ever a part of the weight.
RATIO_STRENGTHS = STRENGTHS[:-1]
# Scores that spread by more say something, however uncertain the fit.
_LEAST_SPREAD = 0.1


@dataclass(frozen=True, eq=False)
class RatioScores:
    """Out-of-fold scores of F against H, one column for every candidate discriminator.

    Parameters
    ----------
    new, labelled : ndarray of shape (n_F, C) and (n_H, C)
        Log density ratios of F against H, up to a constant; high where a row looks like F.
    log_loss : ndarray of shape (C,)
        Held-out log-loss of each candidate, per unit of weight.
    distances : Distances or None, default=None
        How far the rows stand from those of H; None where the classifier is the user's own, who
        may know better than to compare rows by distance.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.scores.ratio import RatioScores
    >>> RatioScores(np.zeros((5, 2)), np.zeros((3, 2)), np.array([0.6, 0.5])).best
    1
    """

    new: FloatArray
    labelled: FloatArray
    log_loss: FloatArray
    distances: Distances | None = None

    @property
    def best(self) -> int:
        """The candidate of the least log-loss."""
        return int(np.argmin(self.log_loss))


def ratio_scores(
    F: Matrix,
    H: Matrix,
    weight: FloatArray | None = None,
    classifier: Any = None,
    *,
    codes: IntArray | None = None,
    n_folds: int = 10,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> RatioScores:
    """Score F against H out of fold by every candidate.

    Parameters
    ----------
    F, H : array-like or sparse matrix of shape (n, d)
        New and labelled rows, at least 2 of each.
    weight : ndarray of shape (n_H,), optional
        Positive weights of the labelled rows; only kernel logistic regression uses them.
    classifier : scikit-learn classifier, optional
        What tells F from H. The candidates are the bandwidths and values of C of a
        :class:`~unseen.KernelLogisticRegression`, the default; any other is the one candidate.
    codes : ndarray of shape (n_H,), optional
        Class of each labelled row, 0 ... K - 1; the folds then hold all classes alike. Only kernel
        logistic regression uses them.
    n_folds : int
        Folds, at least 2.
    random_state : int, RandomState or None
        Draws folds and whatever the classifier draws.
    n_jobs : int or None
        Bandwidths, or folds, fitted side by side; the scores do not depend on it.

    Returns
    -------
    RatioScores

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.scores.ratio import ratio_scores
    >>> rng = np.random.default_rng(0)
    >>> F, H = rng.normal(2, 1, (100, 1)), rng.normal(0, 1, (80, 1))
    >>> scores = ratio_scores(F, H, random_state=0)
    >>> scores.new.shape, scores.labelled.shape
    ((100, 30), (80, 30))
    """
    model = KernelLogisticRegression() if classifier is None else clone(classifier)
    if not isinstance(model, KernelLogisticRegression):
        pair = crossfit_scores(
            F, H, model, n_folds=n_folds, random_state=random_state, n_jobs=n_jobs
        )
        return RatioScores(pair[0][:, None], pair[1][:, None], np.zeros(1))
    model._validate_params()
    rng = check_random_state(random_state)
    X, new = stack_samples(as_rows(F), as_rows(H))
    weights = np.ones(len(new))
    weights[new == 0] = 1.0 if weight is None else weight
    with one_blas_thread():
        rows = model.prepare(X, weights, rng)
        strata = 1 - new
        strata[new == 0] += 0 if codes is None else codes
        masks = training_masks(n_folds, strata, rng)
        values, log_loss = _all_candidates(model, rows, new, masks, n_jobs)
        far = X[new == 1], X[new == 0], rows.standardise.both
        distances = neighbour_distances(*far, rng)
    return RatioScores(values[new == 1], values[new == 0], log_loss, distances)


def _all_candidates(
    model: KernelLogisticRegression,
    rows: Rows,
    new: IntArray,
    masks: FloatArray,
    n_jobs: int | None,
) -> tuple[FloatArray, FloatArray]:
    """Out-of-fold log density ratios (n, C) and log-loss (C,), bandwidth by bandwidth."""
    bandwidths = model.bandwidths(rows)
    strengths = RATIO_STRENGTHS if model.C is None else model.strengths()
    # Threads: the rows are shared, and the products release the interpreter.
    parts = Parallel(n_jobs=n_jobs, require="sharedmem")(
        delayed(_held_out)(rows, new, bandwidth, strengths, masks) for bandwidth in bandwidths
    )
    return np.hstack([values for values, _ in parts]), np.concatenate([loss for _, loss in parts])


def _held_out(
    rows: Rows, new: IntArray, bandwidth: float, strengths: FloatArray, masks: FloatArray
) -> tuple[FloatArray, FloatArray]:
    measure = SCORINGS["neg_log_loss"]
    found, scores, error = held_out(rows, new, bandwidth, strengths, masks, measure, *SCORE_LIMITS)
    values = found[..., 0].astype(np.float64)
    silent = _spread_in_folds(values, masks) < np.minimum(error, _LEAST_SPREAD)
    values -= fold_offsets(masks, new, rows.weight)[:, None]
    values[:, silent] = 0.0  # without offsets, which alone would order rows by fold
    return values, -scores


def _spread_in_folds(values: FloatArray, masks: FloatArray) -> FloatArray:
    """Standard deviation (Cs,) of values around the mean of their fold."""
    out = masks == 0
    means = (out.T @ values) / np.maximum(out.sum(axis=0), 1)[:, None]
    return np.sqrt(np.square(values - out @ means).mean(axis=0))
