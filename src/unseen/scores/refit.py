"""Out-of-fold scores by refitting a classifier on every fold, which suits every classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from unseen._arrays import carried
from unseen._progress import each
from unseen._random import seeded
from unseen._types import BoolArray, FloatArray, IntArray, Matrix, ScorePair
from unseen.samples import Clusters
from unseen.scores.base import (
    Distances,
    RatioScores,
    as_rows,
    assign_folds,
    fold_masks,
    fold_offsets,
    mean_pair,
    stack_samples,
)

if TYPE_CHECKING:
    from unseen.scores.crossfit import Search


@dataclass(frozen=True, eq=False)
class CrossFitter:
    """Makes out-of-fold scores of three kinds from one classifier, refitted on every fold.

    Rows of one cluster share a fold; without ``clusters`` equal rows do.
    """

    classifier: Any
    n_jobs: int | None = None  # fits at the same time
    # Whether the ratios can weigh labelled rows, and whether held-out log-loss chose the settings,
    # so that posteriors are calibrated.
    takes_weights: ClassVar[bool] = False
    tuned: ClassVar[bool] = False

    def searching(self, search: Search) -> CrossFitter:
        """A copy that tries other candidates in :meth:`ratios`; here the classifier is the one."""
        return self

    def posteriors(
        self,
        X: Matrix,
        codes: IntArray,
        X_new: Matrix,
        n_folds: int | None,
        seed: int,
        clusters: Clusters | None = None,
    ) -> tuple[FloatArray | None, FloatArray]:
        """Posteriors of labelled rows out of fold (None without folds), and of new rows."""
        seeds = np.random.RandomState(seed).randint(2**31 - 1, size=(n_folds or 0) + 2)
        if n_folds is None:
            return self._posteriors(X, codes, X_new, None, seeds)
        clusters = clusters or Clusters.of_copies(X, X_new)
        folds = assign_folds(codes, n_folds, int(seeds[1]), clusters.together[0])
        labelled, new = self._posteriors(X, codes, X_new, folds, seeds)
        assert labelled is not None
        return labelled, clusters.as_copies(new, labelled)

    def _posteriors(
        self, X: Matrix, codes: IntArray, X_new: Matrix, folds: IntArray | None, seeds: IntArray
    ) -> tuple[FloatArray | None, FloatArray]:
        new = _ask_posteriors(seeded(self.classifier, seeds[0]).fit(X, codes), X_new)
        if folds is None:
            return None, new
        return self._out_of_fold(_ask_posteriors, X, codes, folds, seeds[2:]), new

    def pairs(
        self,
        X: Matrix,
        codes: IntArray,
        X_new: Matrix,
        n_folds: int,
        n_repeats: int,
        seed: Any,
        clusters: Clusters | None = None,
    ) -> list[ScorePair]:
        """Log-odds of the new rows against each class in turn, averaged over repeats."""
        clusters = clusters or Clusters.of_copies(X, X_new)
        X, X_new, rng = as_rows(X), as_rows(X_new), check_random_state(seed)
        seeds, found = rng.randint(2**31 - 1, size=(n_repeats, int(codes.max()) + 1)), []
        for code, drawn in enumerate(seeds.T):
            own = codes == code
            together = clusters.part(own).stacked
            pairs = [self._pair(X[own], X_new, together, n_folds, one) for one in drawn]
            found.append(mean_pair(pairs))
        return found

    def ratios(
        self,
        X_new: Matrix,
        X: Matrix,
        weight: FloatArray | None,
        codes: IntArray | None,
        n_folds: int,
        seed: Any,
        clusters: Clusters | None = None,
        distances: Distances | None = None,
    ) -> RatioScores:
        """Log density ratios of the new rows against all labelled rows, by every candidate."""
        one_class = np.zeros(X.shape[0], dtype=np.intp)
        clusters = clusters or Clusters.of_copies(X, X_new)
        new, labelled = self.pairs(X, one_class, X_new, n_folds, 1, seed, clusters)[0]
        return RatioScores(new[:, None], labelled[:, None], np.zeros(1), clusters=clusters)

    def distances(
        self, X_new: Matrix, X: Matrix, seed: Any, clusters: Clusters
    ) -> Distances | None:
        """Distances to labelled rows, for :meth:`ratios` of any part of the new rows.

        None here: the user may know better than to compare rows by distance.
        """
        return None

    def _pair(
        self, own: Matrix, X_new: Matrix, clusters: IntArray, n_folds: int, seed: int
    ) -> ScorePair:
        rng = np.random.RandomState(seed)
        rows, is_new = stack_samples(X_new, own)
        folds = assign_folds(is_new, n_folds, rng, clusters)
        seeds = rng.randint(2**31 - 1, size=folds.max() + 1)
        scores = self._out_of_fold(log_odds, rows, is_new, folds, seeds)
        if hasattr(self.classifier, "predict_proba"):
            offsets = fold_offsets(fold_masks(folds), is_new)
            scores += np.log(X_new.shape[0] / own.shape[0]) - offsets
        return scores[is_new == 1], scores[is_new == 0]

    def _out_of_fold(
        self, ask: Any, X: Matrix, codes: IntArray, folds: IntArray, seeds: IntArray
    ) -> FloatArray:
        """What models say of the rows that they were not fitted to."""
        n_folds = int(folds.max()) + 1
        made = Parallel(n_jobs=self.n_jobs, return_as="generator")(
            delayed(carried(_fit_and_ask))(ask, self.classifier, seed, X, codes, folds != fold)
            for fold, seed in zip(range(n_folds), seeds, strict=False)
        )
        parts = list(each(made, n_folds))
        answers = np.empty((len(codes), *parts[0].shape[1:]))
        for fold, part in enumerate(parts):
            answers[folds == fold] = part
        return answers


def _fit_and_ask(
    ask: Any, classifier: Any, seed: int, X: Matrix, codes: IntArray, train: BoolArray
) -> FloatArray:
    answer: FloatArray = ask(seeded(classifier, seed).fit(X[train], codes[train]), X[~train])
    return answer


def _ask_posteriors(model: Any, X: Matrix) -> FloatArray:
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
