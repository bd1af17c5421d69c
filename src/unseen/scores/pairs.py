"""The new rows against each known class in turn: scores for methods that work class by class."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from unseen._types import IntArray, Matrix, ScorePair
from unseen.records import Notice
from unseen.roc.sketch import RocSketch
from unseen.samples import Clusters, LabelledRows, group_clusters
from unseen.scores.base import FOLDS, Scorer, Scores, as_rows
from unseen.scores.crossfit import cross_fitter


@dataclass(frozen=True, eq=False)
class PairScores(Scores):
    """Out-of-fold scores of the new rows (F) against each known class (H).

    Parameters
    ----------
    classes : tuple
        Labels of the known classes.
    pairs : tuple of (ndarray, ndarray)
        For each class, the scores of the new rows and of the rows of that class;
        high where a row looks new, low where it looks like the class.
    seed : int or None
        Seed that made the scores.
    notices : tuple of Notice
        Facts that a person should know about the rows.
    sketches : tuple of RocSketch or None, default=None
        Counts of all new rows among the rows of each class, where ``pairs`` holds the scores of
        drawn rows only.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.scores import PairScores
    >>> scores = PairScores(("a", "b"), ((np.zeros(5), np.ones(2)), (np.zeros(5), np.ones(3))))
    >>> scores.counts, scores.n_new
    (array([2, 3]), 5)
    """

    classes: tuple[Any, ...]
    pairs: tuple[ScorePair, ...]
    seed: int | None = None
    notices: tuple[Notice, ...] = ()
    sketches: tuple[RocSketch, ...] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.classes) != len(self.pairs) or not self.pairs:
            raise ValueError(
                "pairs must hold one pair of scores per class; "
                f"got {len(self.pairs)} for {len(self.classes)} classes."
            )

    @property
    def n_new(self) -> int:
        """New rows."""
        return len(self.pairs[0][0]) if self.sketches is None else self.sketches[0].n_new

    @property
    def counts(self) -> IntArray:
        """Labelled rows of each class."""
        return np.array([len(scores_H) for _, scores_H in self.pairs])


@dataclass(frozen=True, eq=False)
class TwoClassScores(PairScores):
    """Out-of-fold pair scores of two classes, and scores ``between`` the two.

    ``between`` holds scores of rows of the first class and of the second, high where a row looks
    like the first.
    """

    between: ScorePair = (np.empty(0), np.empty(0))

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes = tuple(len(scores) for scores in self.between)
        if sizes != tuple(self.counts.tolist()):
            raise ValueError(
                "between must hold one score per labelled row of each of two classes; "
                f"got {sizes} for {tuple(self.counts.tolist())} rows."
            )

    @property
    def all_pairs(self) -> tuple[ScorePair, ...]:
        """Scores for nu(P_0, P_1), nu(P_0, P_2), nu(P_1, P_2) and nu(P_2, P_1), in this order."""
        first, second = self.between
        return (*self.pairs, (first, second), (-second, -first))


@dataclass(frozen=True, eq=False)
class PairScorer(Scorer):
    """Scores the new rows against each known class, out of fold.

    Parameters
    ----------
    classifier : scikit-learn classifier or None, default=None
        The classifier that tells new rows from a class; None is kernel logistic regression.
    n_folds : int, default=10
        Folds.
    seed : int, default=0
        Seed of all randomness.
    n_jobs : int or None, default=None
        Fits that run at the same time; the scores do not depend on it.
    n_repeats : int, default=1
        Times the folds are drawn anew; scores are averaged.

    Examples
    --------
    >>> from unseen.scores import PairScorer
    >>> PairScorer(n_folds=5) == PairScorer(n_folds=5, n_jobs=2), PairScorer() == PairScorer(seed=1)
    (True, False)
    """

    classifier: Any = None
    n_folds: int = FOLDS
    seed: int = 0
    n_jobs: int | None = None
    n_repeats: int = 1

    def score(self, labelled: LabelledRows, X_new: Matrix) -> PairScores:
        """Score checked rows."""
        settings = self.n_folds, self.n_repeats, self.seed, group_clusters(labelled, X_new)
        fitter = cross_fitter(self.classifier, self.n_jobs)
        pairs = fitter.pairs(labelled.rows, labelled.codes, X_new, *settings)
        return PairScores(labelled.labels, tuple(pairs), self.seed)


@dataclass(frozen=True, eq=False)
class TwoClassScorer(PairScorer):
    """Scores the new rows against each of two classes, and these against each other."""

    def score(self, labelled: LabelledRows, X_new: Matrix) -> TwoClassScores:
        """Score checked rows."""
        clusters = group_clusters(labelled, X_new)
        between = crossfit_scores(
            labelled.of_class(0),
            labelled.of_class(1),
            self.classifier,
            n_folds=self.n_folds,
            n_repeats=self.n_repeats,
            random_state=self.seed,
            n_jobs=self.n_jobs,
            clusters=None if clusters is None else clusters.between(labelled.codes == 1),
        )
        pairs = super().score(labelled, X_new).pairs
        return TwoClassScores(labelled.labels, pairs, self.seed, between=between)

    def serves(self, other: Scorer) -> bool:
        """Scores of two classes also serve methods that need the pairs alone."""
        parts = self.classifier, self.n_folds, self.seed, self.n_jobs, self.n_repeats
        return self == other or PairScorer(*parts) == other


def crossfit_scores(
    F: Matrix,
    H: Matrix,
    classifier: Any = None,
    *,
    n_folds: int = 10,
    n_repeats: int = 1,
    random_state: Any = None,
    n_jobs: int | None = None,
    clusters: Clusters | None = None,
) -> ScorePair:
    """Out-of-fold log-odds of F against H; high where a row looks like F.

    Parameters
    ----------
    F, H : array-like or sparse matrix of shape (n, d)
        New and labelled rows, at least 2 of each.
    classifier : scikit-learn classifier, optional
        The classifier that tells F from H; default :class:`~unseen.KernelLogisticRegression`.
    n_folds, n_repeats : int
        Folds, at least 2, and how often they are drawn anew; scores are averaged over repeats.
    random_state : int, RandomState or None
        Seed of the folds and of the classifier.
    n_jobs : int or None
        Fits that run at the same time; the scores do not depend on it.
    clusters : Clusters or None
        Rows of H, and of F as the new ones, that share a fold; None keeps copies together.

    Returns
    -------
    scores_F, scores_H : ndarray
        One score a row.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.scores.pairs import crossfit_scores
    >>> rng = np.random.default_rng(0)
    >>> F, H = rng.normal(2, 1, (200, 1)), rng.normal(0, 1, (100, 1))
    >>> scores_F, scores_H = crossfit_scores(F, H, random_state=0)
    >>> bool(scores_F.mean() > scores_H.mean())
    True
    """
    F, H = as_rows(F), as_rows(H)
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
    for name, value, least in (("n_folds", n_folds, 2), ("n_repeats", n_repeats, 1)):
        if not isinstance(value, Integral) or value < least:
            raise ValueError(f"{name} must be a whole number >= {least}; got {value!r}.")
    one_class = np.zeros(H.shape[0], dtype=np.int64)
    fitter = cross_fitter(classifier, n_jobs)
    rng = check_random_state(random_state)
    return fitter.pairs(H, one_class, F, n_folds, n_repeats, rng, clusters)[0]
