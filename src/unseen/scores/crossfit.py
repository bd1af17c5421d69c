"""Out-of-fold scores: no row is scored by a model that has seen the row.

In-sample scores destroy every estimator built on them. A classifier may bring a way of its own to
score out of fold; kernel logistic regression does (Appendix C of the paper): one kernel factor
serves all folds and all C. Every other classifier is refitted fold by fold
(:mod:`unseen.scores.refit`). docs/theory.md says what spoils scores in small samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from unseen._arrays import NumpyArrays, arrays_of, chosen_arrays
from unseen._progress import between
from unseen._random import one_blas_thread, seeded
from unseen._types import Array, BoolArray, FloatArray, IntArray, Matrix, ScorePair
from unseen.samples import Clusters
from unseen.scores.base import (
    LOSS_WEIGHT,
    NEGLIGIBLE,
    Distances,
    RatioScores,
    as_rows,
    assign_folds,
    fold_masks,
    fold_offsets,
    mean_pair,
    stack_samples,
    training_masks,
)
from unseen.scores.held_out import SCORE_TOL, HeldOut, held_out, raced
from unseen.scores.kernel import PreparedRows, neighbour_distances
from unseen.scores.klr import BANDWIDTHS, C_VALUES, KernelLogisticRegression, as_posteriors
from unseen.scores.refit import AnyClassifier

__all__ = ["CrossFitter", "KernelCrossFitter", "cross_fitter"]

SCORE_LIMITS = SCORE_TOL, 60  # and the most steps
# Times the median distance. With one known class the bandwidth can only be chosen on the very
# pair that is then scored; a wider choice there takes twice the time and brings nothing.
PAIR_BANDWIDTHS = 2.0 ** np.arange(1, -2, -1)
# Scores that spread by more say something, however uncertain the fit.
_MIN_SPREAD = 0.1


@dataclass(frozen=True, eq=False)
class Search:
    """What discriminators of new rows from labelled ones try, where the user names nothing.

    Parameters
    ----------
    widths : ndarray
        Bandwidths, times the median distance between landmarks.
    C_values : ndarray
    """

    widths: FloatArray
    C_values: FloatArray


# The largest C takes a third of the time, and hardly ever a part of the weight.
WHOLE_SEARCH = Search(BANDWIDTHS, C_VALUES[:-1])
# Of the candidates of a window of some hundred rows, these four alone give much the same shares.
# Chosen on development sets.
WINDOW_SEARCH = Search(np.array([1.0, 0.25]), np.array([0.1, 10.0]))


class CrossFitter(Protocol):
    """Makes out-of-fold scores of three kinds from one classifier.

    Rows of one cluster share a fold; without ``clusters`` equal rows do. ``takes_weights`` says
    whether :meth:`ratios` can weigh the labelled rows; ``tuned`` whether held-out log-loss chose
    the settings, so that posteriors are calibrated.
    """

    @property
    def takes_weights(self) -> bool:
        """Whether :meth:`ratios` can weigh the labelled rows."""
        ...

    @property
    def tuned(self) -> bool:
        """Whether held-out log-loss chose the settings."""
        ...

    def searching(self, search: Search) -> CrossFitter:
        """A copy that tries other candidates in :meth:`ratios`."""
        ...

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
        ...

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
        clusters: Clusters | None = None,
        distances: Distances | None = None,
    ) -> RatioScores:
        """Log density ratios of the new rows against all labelled rows, by every candidate."""
        ...

    def distances(
        self, X_new: Matrix, X: Matrix, seed: Any, clusters: Clusters
    ) -> Distances | None:
        """Distances to labelled rows, for :meth:`ratios` of any part of the new rows."""
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
    if classifier is None:
        return KernelCrossFitter(KernelLogisticRegression(), n_jobs)
    brings: Callable[[int | None], CrossFitter] | None = getattr(classifier, "cross_fitter", None)
    return AnyClassifier(classifier, n_jobs) if brings is None else brings(n_jobs)


@dataclass(frozen=True, eq=False)
class KernelCrossFitter:
    """Out-of-fold scores on shared kernel factors.

    Parameters
    ----------
    classifier : KernelLogisticRegression
    n_jobs : int or None, default=None
        Classes, or bandwidths, that are fitted at the same time, in threads.
    search : Search
        Candidates of :meth:`ratios`.
    """

    classifier: KernelLogisticRegression
    n_jobs: int | None = None
    takes_weights: bool = True
    tuned: bool = True
    search: Search = WHOLE_SEARCH

    def searching(self, search: Search) -> KernelCrossFitter:
        """A copy that tries other candidates in :meth:`ratios`."""
        return replace(self, search=search)

    def posteriors(
        self,
        X: Matrix,
        codes: IntArray,
        X_new: Matrix,
        n_folds: int | None,
        seed: int,
        clusters: Clusters | None = None,
    ) -> tuple[FloatArray | None, FloatArray]:
        """Posteriors of labelled rows out of fold (None without folds), and of new rows.

        Bandwidth and C are chosen once, on all labelled rows.
        """
        seeds = np.random.RandomState(seed).randint(2**31 - 1, size=(n_folds or 0) + 2)
        model: KernelLogisticRegression = seeded(self.classifier, seeds[0])
        model._validate_params()
        model.classes_ = np.arange(int(codes.max()) + 1)
        masks = None
        if n_folds is not None:
            clusters = clusters or Clusters.of_copies(X, X_new)
            together = clusters.together[0]
            folds = assign_folds(codes, n_folds, int(seeds[1]), together)
            masks = fold_masks(chosen_arrays().put(folds))
        logits = model.fit_checked(as_rows(X), codes, np.ones(len(codes)), masks)
        new = model.posteriors(chosen_arrays().put_rows(as_rows(X_new)))
        if logits is None or clusters is None:
            return None, new
        labelled = as_posteriors(arrays_of(logits), logits)
        return labelled, clusters.as_copies(new, labelled)

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
        X, X_new, rng = as_rows(X), as_rows(X_new), check_random_state(seed)
        rows, bandwidths = self._prepared(X, codes, X_new, rng)
        clusters = clusters or Clusters.of_copies(X, X_new)
        n_classes = int(codes.max()) + 1
        repeats = []
        for _ in range(n_repeats):
            seeds = rng.randint(2**31 - 1, size=n_classes)
            with one_blas_thread():
                # Threads: the rows are shared, and the products release the interpreter.
                repeats.append(
                    Parallel(n_jobs=self.n_jobs, require="sharedmem")(
                        delayed(self._pair)(
                            *_against_class(rows, codes, code, clusters), bandwidths, n_folds, s
                        )
                        for code, s in enumerate(seeds)
                    )
                )
        return [mean_pair(list(pairs)) for pairs in zip(*repeats, strict=True)]

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
        """Log density ratios of the new rows against all labelled rows, and distances.

        There is a column for every scale, bandwidth and C, with its held-out log-loss; whoever
        reads the scores can average. With ``codes`` the folds hold all classes alike.
        """
        self.classifier._validate_params()
        rng = check_random_state(seed)
        rows_new, rows_old = as_rows(X_new), as_rows(X)
        clusters = clusters or Clusters.of_copies(rows_old, rows_new)
        arrays, n_new = chosen_arrays(), rows_new.shape[0]
        with one_blas_thread():
            rows_new, rows_old = map(arrays.put_rows, (rows_new, rows_old))
            stacked, is_new = stack_samples(rows_new, rows_old)
            weights = np.ones(len(is_new))
            weights[n_new:] = 1.0 if weight is None else weight
            every = [
                self.classifier.prepare(stacked, weights, rng, kind)
                for kind in self.classifier.scales(stacked, weights)
            ]
            strata = 1 - is_new
            strata[n_new:] += 0 if codes is None else codes
            folds = assign_folds(strata, n_folds, rng, clusters.stacked)
            masks = fold_masks(arrays.put(folds))
            parts = self._candidates(every, is_new, masks, clusters.n_effective)
            if distances is None:
                scales = [scale for rows in every for scale in rows.standardise.for_distances]
                distances = neighbour_distances(rows_new, rows_old, scales, rng, clusters)
        values, losses = zip(*parts, strict=True)
        ratios = arrays.beside(list(values))
        new, labelled = (
            arrays.sealed(arrays.host(part)) for part in (ratios[:n_new], ratios[n_new:])
        )
        return RatioScores(new, labelled, np.concatenate(losses), distances, clusters)

    def distances(self, X_new: Matrix, X: Matrix, seed: Any, clusters: Clusters) -> Distances:
        """Distances to labelled rows, on scales in which both samples count alike."""
        rows_new, rows_old = as_rows(X_new), as_rows(X)
        stacked, is_new = stack_samples(rows_new, rows_old)
        weights = np.where(is_new == 1, 1 / rows_new.shape[0], 1 / rows_old.shape[0])
        with one_blas_thread():
            kinds = self.classifier.scales(stacked, weights)
            scales = [self.classifier.scale(stacked, weights, kind) for kind in kinds]
            every = [one for scale in scales for one in scale.for_distances]
            rng = check_random_state(seed)
            return neighbour_distances(rows_new, rows_old, every, rng, clusters)

    def _candidates(
        self, every: list[PreparedRows], is_new: IntArray, masks: Array, n_effective: float
    ) -> list[tuple[Array, FloatArray]]:
        """Density ratios and losses of those that count; see :func:`_density_ratios`."""
        given, search = self.classifier, self.search
        C_values = search.C_values if given.C is None else given.C_values()
        # A candidate so far behind has no weight that anybody could feel.
        behind = -np.log(NEGLIGIBLE) / (LOSS_WEIGHT * n_effective)
        raced_at: list[tuple[PreparedRows, HeldOut]] = []
        best = -np.inf
        for place, rows in enumerate(every):
            widths = search.widths * rows.median
            widths = widths if given.bandwidth is None else given.bandwidths(rows)
            cells = rows, is_new, widths, C_values, masks, "neg_log_loss"
            with between(place / len(every), (place + 1) / len(every)):
                found = raced(*cells, *SCORE_LIMITS, behind=behind, best=best, n_jobs=self.n_jobs)
            best = max([best, *(one.scores.max() for one in found)])
            raced_at += [(rows, one) for one in found]
        out, offsets = masks == 0, fold_offsets(masks, is_new, every[0].weight)
        return [
            _density_ratios(one, rows.arrays, one.scores >= best - behind, out, offsets)
            for rows, one in raced_at
            if one.scores.max() >= best - behind
        ]

    def _prepared(
        self, X: Matrix, codes: IntArray, X_new: Matrix, rng: np.random.RandomState
    ) -> tuple[PreparedRows, FloatArray]:
        """All rows with their landmarks, and the bandwidths to try on each pair."""
        classifier = self.classifier
        classifier._validate_params()
        everything, _ = stack_samples(X_new, X)
        with one_blas_thread():
            rows = classifier.prepare(everything, np.ones(everything.shape[0]), rng)
            bandwidths = classifier.bandwidths(rows)
            if codes.max() == 0 and classifier.bandwidth is None:
                bandwidths = PAIR_BANDWIDTHS * rows.median
            elif codes.max() > 0 and bandwidths.size > 1:
                known = classifier.prepare(X, np.ones(X.shape[0]), rng)
                bandwidths = np.array([classifier.choose([known], codes, rng)[1]])
        return rows, bandwidths

    def _pair(
        self,
        rows: PreparedRows,
        clusters: Clusters,
        bandwidths: FloatArray,
        n_folds: int,
        seed: int,
    ) -> ScorePair:
        """Scores at the bandwidth and C that held-out rows like best."""
        n_new, n_old = len(clusters.new), len(clusters.labelled)
        is_new = np.repeat([1, 0], [n_new, n_old])
        masks = training_masks(n_folds, is_new, int(seed), clusters.stacked)
        # Accuracy says nothing of a ROC.
        by = "roc_auc" if self.classifier.scoring == "accuracy" else self.classifier.scoring
        C_values, best = self.classifier.C_values(), -np.inf
        scores: FloatArray = np.empty(0)
        for bandwidth in bandwidths:
            found = held_out(rows, is_new, bandwidth, C_values, masks, by, *SCORE_LIMITS)
            if found.scores.max() > best:
                best, chosen = found.scores.max(), found.values[:, found.scores.argmax(), 0]
                scores = rows.arrays.host(chosen).copy()
        scores += np.log(n_new / n_old) - fold_offsets(masks, is_new)
        return scores[:n_new], scores[n_new:]


def _against_class(
    rows: PreparedRows, codes: IntArray, code: int, clusters: Clusters
) -> tuple[PreparedRows, Clusters]:
    """The new rows and those of one class, with the landmarks of all, and their clusters."""
    own, n_new = codes == code, len(clusters.new)
    members = np.concatenate([np.arange(n_new), n_new + np.flatnonzero(own)])
    part = replace(rows, X=rows.X[members], weight=rows.weight[members])
    return part, clusters.part(own)


def _density_ratios(
    found: HeldOut, arrays: NumpyArrays, counts: BoolArray, out: Array, offsets: Array
) -> tuple[Array, FloatArray]:
    """Out-of-fold log density ratios (n, Cs) at one bandwidth, and their log-loss (Cs,).

    Of every C that ``counts``; ``out`` says which folds hold a row out, and ``offsets`` are the
    log-odds of new rows that the model of a row has learnt.
    """
    values, held = found.values[:, arrays.put(counts), 0], arrays.cast(out, np.float64)
    n_held = arrays.put(np.maximum(arrays.total(held), 1))
    means = (held.T @ values) / n_held[:, None]
    apart = values - held @ means
    spread = np.sqrt(arrays.host((apart * apart).mean(axis=0)))
    values = values - offsets[:, None]
    # Where held-out rows are out of reach of all others, the error of the fit is all that differs.
    silent = spread < np.minimum(found.error[counts], _MIN_SPREAD)
    values[:, arrays.put(silent)] = 0.0  # without offsets, which alone would order rows by fold
    return values, -found.scores[counts]
