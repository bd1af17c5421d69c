"""Out-of-fold scores of the new rows F against labelled rows H.

A score from a model that saw the row is worthless here: every estimator built on such scores
collapses. So each row is scored by a model fitted without its fold. Any scikit-learn classifier
will do. For kernel logistic regression there is the paper's scheme (Appendix C): the bandwidth
comes from telling the known classes apart, C is chosen anew for the AUC of F against each H,
and one kernel factor serves every class, fold and C. A single known class leaves nothing to tell
apart, and the bandwidth is chosen on the pair, near the median distance between rows.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_random_state

from unseen._random import one_blas_thread, seeded
from unseen._types import FloatArray, IntArray, Matrix
from unseen.scores.klr import KernelLogisticRegression, Rows, held_out
from unseen.scores.selection import SCORINGS, assign_folds, fold_offsets, training_masks

ScorePair = tuple[FloatArray, FloatArray]
# Tolerance and steps. All folds share a preconditioner, through which a fit that stops early keeps
# a trace of the rows it was not to see: ten times looser, and held-out labels begin to show.
SCORE_LIMITS = (2e-4, 60)
# Times the median distance. With one known class the bandwidth can only be chosen on the very
# pair that is then scored; a wider choice there takes twice the time and brings nothing.
PAIR_BANDWIDTHS = 2.0 ** np.arange(1, -2, -1)


def crossfit_scores(
    F: Matrix,
    H: Matrix,
    classifier: Any = None,
    *,
    n_folds: int = 10,
    n_repeats: int = 1,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ScorePair:
    """Out-of-fold log-odds of F against H; high where a row looks like F.

    Parameters
    ----------
    F, H : array-like or sparse matrix of shape (n, d)
        New and labelled rows, at least 2 of each.
    classifier : scikit-learn classifier, optional
        What tells F from H; default :class:`~unseen.KernelLogisticRegression`.
    n_folds, n_repeats : int
        Folds, at least 2, and how often they are drawn anew; scores are averaged over repeats.
    random_state : int, RandomState or None
        Draws folds and whatever the classifier draws.
    n_jobs : int or None
        Folds, or classes for the kernel scheme, fitted side by side; the scores do not depend
        on it.

    Returns
    -------
    scores_F, scores_H : ndarray
        One score a row.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.scores.crossfit import crossfit_scores
    >>> rng = np.random.default_rng(0)
    >>> F, H = rng.normal(2, 1, (200, 1)), rng.normal(0, 1, (100, 1))
    >>> scores_F, scores_H = crossfit_scores(F, H, random_state=0)
    >>> bool(scores_F.mean() > scores_H.mean())
    True
    """
    F, H = as_rows(F), as_rows(H)
    _check_pair(F, H)
    _check_at_least(2, "n_folds", n_folds)
    _check_at_least(1, "n_repeats", n_repeats)
    codes = np.zeros(H.shape[0], dtype=np.int64)
    return class_scores(
        H,
        codes,
        F,
        classifier,
        n_folds=n_folds,
        n_repeats=n_repeats,
        random_state=random_state,
        n_jobs=n_jobs,
    )[0]


def class_scores(
    X: Matrix,
    codes: IntArray,
    X_new: Matrix,
    classifier: Any = None,
    *,
    n_folds: int = 10,
    n_repeats: int = 1,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> list[ScorePair]:
    """Out-of-fold log-odds of the new rows against each class in turn.

    Parameters
    ----------
    X, codes : array-like of shape (n, d), ndarray of shape (n,)
        Labelled rows and their class codes 0 ... K - 1.
    X_new : array-like of shape (m, d)
        New rows.
    classifier, n_folds, n_repeats, random_state, n_jobs
        As in :func:`crossfit_scores`.

    Returns
    -------
    list of (scores_new, scores_class)
        One pair a class.
    """
    X, X_new = as_rows(X), as_rows(X_new)
    classifier = KernelLogisticRegression() if classifier is None else clone(classifier)
    rng = check_random_state(random_state)
    scheme: _KernelScheme | _AnyClassifier
    if isinstance(classifier, KernelLogisticRegression):
        scheme = _KernelScheme(classifier, X, codes, X_new, rng, n_jobs)
    else:
        scheme = _AnyClassifier(classifier, X, codes, X_new, n_jobs)
    labels = range(int(codes.max()) + 1)
    repeats = [
        scheme.pairs(n_folds, rng.randint(2**31 - 1, size=len(labels))) for _ in range(n_repeats)
    ]
    return [
        (np.mean([new for new, _ in pairs], axis=0), np.mean([own for _, own in pairs], axis=0))
        for pairs in zip(*repeats, strict=True)
    ]


class _AnyClassifier:
    """Refit the classifier on every fold of every pair."""

    def __init__(
        self, classifier: Any, X: Matrix, codes: IntArray, X_new: Matrix, n_jobs: int | None
    ) -> None:
        self.classifier, self.X, self.codes, self.X_new = classifier, X, codes, X_new
        self.n_jobs = n_jobs

    def pairs(self, n_folds: int, seeds: IntArray) -> list[ScorePair]:
        return [self._pair(label, n_folds, seed) for label, seed in enumerate(seeds)]

    def _pair(self, label: int, n_folds: int, seed: int) -> ScorePair:
        rng = np.random.RandomState(seed)
        own = self.X[self.codes == label]
        rows, new = stack_samples(self.X_new, own)
        folds = assign_folds(new, n_folds, rng)
        seeds = rng.randint(2**31 - 1, size=folds.max() + 1)
        parts = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_and_score)(self.classifier, seed, rows, new, folds != fold)
            for fold, seed in enumerate(seeds)
        )
        scores = np.empty(len(folds))
        for fold, part in enumerate(parts):
            scores[folds == fold] = part
        if hasattr(self.classifier, "predict_proba"):
            masks = (folds[:, None] != np.arange(len(seeds))).astype(np.float64)
            scores += np.log(self.X_new.shape[0] / own.shape[0]) - fold_offsets(masks, new)
        return scores[new == 1], scores[new == 0]


def _fit_and_score(
    classifier: Any, seed: int, rows: Matrix, new: IntArray, train: Any
) -> FloatArray:
    model = seeded(classifier, seed).fit(rows[train], new[train])
    return log_odds(model, rows[~train])


def log_odds(model: Any, X: Matrix) -> FloatArray:
    """Score of the second class: its log-odds, or the decision function where that is all."""
    if hasattr(model, "predict_proba"):
        positive = np.asarray(model.predict_proba(X), dtype=np.float64)[:, 1]
        # A forest's vote of 0 or 1 has infinite log-odds; the clip keeps it the extreme score.
        positive = np.clip(positive, 1e-12, 1 - 1e-12)
        return np.log(positive) - np.log1p(-positive)
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X), dtype=np.float64)
    raise TypeError(
        "classifier must have predict_proba or decision_function; "
        f"got {type(model).__name__}, which has neither."
    )


class _KernelScheme:
    """The paper's scheme: bandwidth from the known classes, C chosen anew on each pair.

    Both by the classifier's ``scoring``; but accuracy says nothing of a ROC, so it gives way to
    the AUC on pairs. ``KernelLogisticRegression(scoring="accuracy")`` with ``n_folds=3`` makes
    scores as the paper does; what it then does with them, see :class:`~unseen.ROCSlope`.
    """

    def __init__(
        self,
        classifier: KernelLogisticRegression,
        X: Matrix,
        codes: IntArray,
        X_new: Matrix,
        rng: np.random.RandomState,
        n_jobs: int | None,
    ) -> None:
        classifier._validate_params()
        self.codes, self.n_new, self.n_jobs = codes, X_new.shape[0], n_jobs
        everything, _ = stack_samples(X_new, X)
        with one_blas_thread():
            self.rows = classifier.prepare(everything, np.ones(everything.shape[0]), rng)
        self.strengths = classifier.strengths()
        by = "roc_auc" if classifier.scoring == "accuracy" else classifier.scoring
        self.scoring = SCORINGS[by]
        self.bandwidths = classifier.bandwidths(self.rows)
        if codes.max() == 0 and classifier.bandwidth is None:
            self.bandwidths = PAIR_BANDWIDTHS * self.rows.median
        elif codes.max() > 0 and self.bandwidths.size > 1:
            with one_blas_thread():
                known = classifier.prepare(X, np.ones(X.shape[0]), rng)
                self.bandwidths = np.array([classifier.choose(known, codes, rng)[0]])

    def pairs(self, n_folds: int, seeds: IntArray) -> list[ScorePair]:
        # Threads: the rows are shared, and the products release the interpreter.
        with one_blas_thread():
            return list(
                Parallel(n_jobs=self.n_jobs, require="sharedmem")(
                    delayed(self._pair)(label, n_folds, seed) for label, seed in enumerate(seeds)
                )
            )

    def _pair(self, label: int, n_folds: int, seed: int) -> ScorePair:
        labelled = self.n_new + np.flatnonzero(self.codes == label)
        members = np.concatenate([np.arange(self.n_new), labelled])
        rows = replace(self.rows, X=self.rows.X[members], weight=self.rows.weight[members])
        new = (np.arange(len(members)) < self.n_new).astype(np.int64)
        masks = training_masks(n_folds, new, int(seed))
        scores = self._best_held_out(rows, new, masks)
        scores += np.log(self.n_new / len(labelled)) - fold_offsets(masks, new)
        return scores[: self.n_new], scores[self.n_new :]

    def _best_held_out(self, rows: Rows, new: IntArray, masks: FloatArray) -> FloatArray:
        """Out-of-fold scores at the bandwidth and C that held-out rows like best."""
        best = -np.inf
        chosen: FloatArray = np.empty(0)
        for bandwidth in self.bandwidths:
            values, measures, _ = held_out(
                rows, new, bandwidth, self.strengths, masks, self.scoring, *SCORE_LIMITS
            )
            if measures.max() > best:
                best, chosen = measures.max(), values[:, measures.argmax(), 0].copy()
        return chosen


def as_rows(X: Matrix) -> Matrix:
    """Rows as CSR or as a 2-d array of float64; one number a row is one column."""
    is_sparse = sparse.issparse(X)
    if is_sparse:
        return X.tocsr()
    values = np.asarray(X, dtype=np.float64)
    return values[:, None] if values.ndim == 1 else values


def stack_samples(X_new: Matrix, X: Matrix) -> tuple[Matrix, IntArray]:
    """New rows on top of labelled ones, and which are which."""
    new = np.repeat([1, 0], [X_new.shape[0], X.shape[0]])
    if sparse.issparse(X) or sparse.issparse(X_new):
        return sparse.vstack([X_new, X]).tocsr(), new
    return np.vstack([X_new, X]), new


def _check_pair(F: Matrix, H: Matrix) -> None:
    for name, sample in (("F", F), ("H", H)):
        if sample.ndim != 2:
            raise ValueError(f"{name} must be 2-d (rows, columns); got shape {sample.shape}.")
        if sample.shape[0] < 2:
            raise ValueError(
                f"{name} must have at least 2 rows, so that one can be held out; "
                f"got {sample.shape[0]}."
            )
    if F.shape[1] != H.shape[1]:
        raise ValueError(
            f"F and H must have the same columns; got {F.shape[1]} and {H.shape[1]} of them."
        )


def _check_at_least(least: int, name: str, value: Any) -> None:
    if not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number >= {least}; got {value!r}.")
