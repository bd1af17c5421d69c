"""Out-of-fold scores by any classifier.

A score from a model that saw the row is worthless here: every estimator built on such scores
collapses. So each row is scored by a model fitted without its fold. A classifier may bring a way
of its own to do that (``cross_fitter``), as kernel logistic regression does; every other classifier
is refitted fold by fold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Protocol

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.utils import check_random_state

from unseen._random import seeded
from unseen._types import BoolArray, FloatArray, IntArray, Matrix, ScorePair
from unseen.samples.checks import is_sparse
from unseen.scores.klr import KernelLogisticRegression
from unseen.scores.ratios import RatioScores
from unseen.scores.selection import assign_folds, fold_offsets

__all__ = [
    "AnyClassifier",
    "CrossFitter",
    "as_rows",
    "cross_fitter",
    "crossfit_scores",
    "log_odds",
    "ratio_scores",
    "stack_samples",
]


class CrossFitter(Protocol):
    """Makes out-of-fold scores of three kinds from one classifier."""

    @property
    def takes_weights(self) -> bool:
        """Whether labelled rows can be weighted."""
        ...

    def posteriors(
        self, X: Matrix, codes: IntArray, X_new: Matrix, n_folds: int | None, seed: int
    ) -> tuple[FloatArray | None, FloatArray]:
        """Posteriors of labelled rows out of fold (None without folds), and of new rows."""
        ...

    def pairs(
        self, X: Matrix, codes: IntArray, X_new: Matrix, n_folds: int, n_repeats: int, seed: Any
    ) -> list[ScorePair]:
        """Log-odds of the new rows against each class in turn."""
        ...

    def ratios(
        self,
        X_new: Matrix,
        X: Matrix,
        weight: FloatArray | None,
        codes: IntArray | None,
        n_folds: int,
        seed: Any,
    ) -> RatioScores:
        """Log density ratios of the new rows against all labelled rows, by every candidate."""
        ...


def cross_fitter(classifier: Any = None, n_jobs: int | None = None) -> CrossFitter:
    """The classifier's own way to score out of fold, or the way that suits every classifier.

    Parameters
    ----------
    classifier : scikit-learn classifier or None, default=None
        None is :class:`~unseen.KernelLogisticRegression`.
    n_jobs : int or None, default=None
        Fits that run at the same time.

    Returns
    -------
    CrossFitter

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> type(cross_fitter(GaussianNB())).__name__
    'AnyClassifier'
    """
    chosen = KernelLogisticRegression() if classifier is None else classifier
    brings: Callable[[int | None], CrossFitter] | None = getattr(chosen, "cross_fitter", None)
    return AnyClassifier(chosen, n_jobs) if brings is None else brings(n_jobs)


@dataclass(frozen=True, eq=False)
class AnyClassifier:
    """Refits a classifier on every fold.

    Parameters
    ----------
    classifier : scikit-learn classifier
    n_jobs : int or None, default=None
        Folds that are fitted at the same time.
    """

    classifier: Any
    n_jobs: int | None = None
    takes_weights: bool = False

    def posteriors(
        self, X: Matrix, codes: IntArray, X_new: Matrix, n_folds: int | None, seed: int
    ) -> tuple[FloatArray | None, FloatArray]:
        """Posteriors of labelled rows out of fold (None without folds), and of new rows."""
        seeds = np.random.RandomState(seed).randint(2**31 - 1, size=(n_folds or 0) + 2)
        model = seeded(self.classifier, seeds[0]).fit(X, codes)
        labelled = None
        if n_folds is not None:
            folds = assign_folds(codes, n_folds, int(seeds[1]))
            labelled = self._out_of_fold(_posteriors, X, codes, folds, seeds[2:])
        return labelled, _posteriors(model, X_new)

    def pairs(
        self, X: Matrix, codes: IntArray, X_new: Matrix, n_folds: int, n_repeats: int, seed: Any
    ) -> list[ScorePair]:
        """Log-odds of the new rows against each class in turn, averaged over repeats."""
        X, X_new, rng = as_rows(X), as_rows(X_new), check_random_state(seed)
        n_classes = int(codes.max()) + 1
        drawn = [rng.randint(2**31 - 1, size=n_classes) for _ in range(n_repeats)]
        return [
            mean_pair(
                [self._pair(X[codes == code], X_new, n_folds, seeds[code]) for seeds in drawn]
            )
            for code in range(n_classes)
        ]

    def ratios(
        self,
        X_new: Matrix,
        X: Matrix,
        weight: FloatArray | None,
        codes: IntArray | None,
        n_folds: int,
        seed: Any,
    ) -> RatioScores:
        """Log density ratios of the new rows against all labelled rows: one candidate."""
        one_class = np.zeros(X.shape[0], dtype=np.intp)
        new, labelled = self.pairs(X, one_class, X_new, n_folds, 1, seed)[0]
        return RatioScores(new[:, None], labelled[:, None], np.zeros(1))

    def _pair(self, own: Matrix, X_new: Matrix, n_folds: int, seed: int) -> ScorePair:
        rng = np.random.RandomState(seed)
        rows, is_new = stack_samples(X_new, own)
        folds = assign_folds(is_new, n_folds, rng)
        seeds = rng.randint(2**31 - 1, size=folds.max() + 1)
        scores = self._out_of_fold(log_odds, rows, is_new, folds, seeds)
        if hasattr(self.classifier, "predict_proba"):
            masks = (folds[:, None] != np.arange(len(seeds))).astype(np.float64)
            scores += np.log(X_new.shape[0] / own.shape[0]) - fold_offsets(masks, is_new)
        return scores[is_new == 1], scores[is_new == 0]

    def _out_of_fold(
        self, ask: Any, X: Matrix, codes: IntArray, folds: IntArray, seeds: IntArray
    ) -> FloatArray:
        """What models say of the rows that they were not fitted to."""
        n_folds = int(folds.max()) + 1
        parts = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_and_ask)(ask, self.classifier, seed, X, codes, folds != fold)
            for fold, seed in zip(range(n_folds), seeds, strict=False)
        )
        answers = np.empty((len(codes), *parts[0].shape[1:]))
        for fold, part in enumerate(parts):
            answers[folds == fold] = part
        return answers


def _fit_and_ask(
    ask: Any, classifier: Any, seed: int, X: Matrix, codes: IntArray, train: BoolArray
) -> FloatArray:
    answer: FloatArray = ask(seeded(classifier, seed).fit(X[train], codes[train]), X[~train])
    return answer


def _posteriors(model: Any, X: Matrix) -> FloatArray:
    if not hasattr(model, "predict_proba"):
        name = type(model).__name__
        raise TypeError(
            f"classifier must have predict_proba; got {name}, which has none. "
            f"CalibratedClassifierCV({name}()) adds it."
        )
    return np.asarray(model.predict_proba(X), dtype=np.float64)


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
        Fits that run at the same time; the scores do not depend on it.

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
    for name, value, least in (("n_folds", n_folds, 2), ("n_repeats", n_repeats, 1)):
        if not isinstance(value, Integral) or value < least:
            raise ValueError(f"{name} must be a whole number >= {least}; got {value!r}.")
    one_class = np.zeros(H.shape[0], dtype=np.int64)
    fitter = cross_fitter(classifier, n_jobs)
    return fitter.pairs(H, one_class, F, n_folds, n_repeats, check_random_state(random_state))[0]


def ratio_scores(
    F: Matrix,
    H: Matrix,
    classifier: Any = None,
    *,
    n_folds: int = 10,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> RatioScores:
    """Out-of-fold log density ratios of F against H, by every candidate discriminator.

    Parameters
    ----------
    F, H, classifier, n_folds, random_state, n_jobs
        As in :func:`crossfit_scores`.

    Returns
    -------
    RatioScores
        One column for every bandwidth and C of kernel logistic regression; for any other
        classifier one column.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.scores.crossfit import ratio_scores
    >>> rng = np.random.default_rng(0)
    >>> F, H = rng.normal(2, 1, (100, 1)), rng.normal(0, 1, (80, 1))
    >>> scores = ratio_scores(F, H, random_state=0)
    >>> scores.new.shape, scores.labelled.shape
    ((100, 30), (80, 30))
    """
    fitter = cross_fitter(classifier, n_jobs)
    return fitter.ratios(F, H, None, None, n_folds, check_random_state(random_state))


def mean_pair(pairs: list[ScorePair]) -> ScorePair:
    """Scores of new and of labelled rows, averaged over repeats."""
    return np.mean([new for new, _ in pairs], axis=0), np.mean([own for _, own in pairs], axis=0)


def as_rows(X: Matrix) -> Matrix:
    """Rows as CSR or as a 2-d array of float64; one number a row is one column."""
    if is_sparse(X):
        return X.tocsr()
    values = np.asarray(X, dtype=np.float64)
    return values[:, None] if values.ndim == 1 else values


def stack_samples(X_new: Matrix, X: Matrix) -> tuple[Matrix, IntArray]:
    """New rows on top of labelled ones, and a 1 for each new row, a 0 for each labelled one."""
    is_new = np.repeat([1, 0], [X_new.shape[0], X.shape[0]])
    if is_sparse(X) or is_sparse(X_new):
        return sparse.vstack([X_new, X]).tocsr(), is_new
    return np.vstack([X_new, X]), is_new


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
