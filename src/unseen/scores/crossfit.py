"""Out-of-fold scores: no row is scored by a model that has seen the row.

In-sample scores destroy every estimator built on them. Kernel logistic regression has a way of its
own to score out of fold (Appendix C of the paper): one kernel factor serves all folds and all C.
Every other classifier is refitted fold by fold. docs/theory.md says what spoils scores in small
samples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from unseen._arrays import arrays_of, chosen_arrays, on_device
from unseen._progress import between, each
from unseen._random import seeded
from unseen._team import own_threads
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
    stack_samples,
)
from unseen.scores.held_out import SCORE_LIMITS, Grid, HeldOut, Race
from unseen.scores.kernel import PreparedRows
from unseen.scores.klr import BANDWIDTHS, C_VALUES, KernelLogisticRegression
from unseen.scores.scales import neighbour_distances

# Times the median distance. With one known class the bandwidth can only be chosen on the very
# pair that is then scored; a wider choice there takes twice the time and brings nothing.
PAIR_BANDWIDTHS = 2.0 ** np.arange(1, -2, -1)
# Scores that spread by more say something, however uncertain the fit.
_MIN_SPREAD = 0.1


class Search(NamedTuple):
    """What discriminators of new rows from labelled ones try, where the user names nothing."""

    widths: FloatArray  # bandwidths, times the median distance between landmarks
    C_values: FloatArray


# The largest C takes a third of the time, and hardly ever a part of the weight.
WHOLE_SEARCH = Search(BANDWIDTHS, C_VALUES[:-1])
# Of the candidates of a window of some hundred rows, these four alone give much the same shares.
# Chosen on development sets.
WINDOW_SEARCH = Search(np.array([1.0, 0.25]), np.array([0.1, 10.0]))


def cross_fitter(classifier: Any = None, n_jobs: int | None = None) -> CrossFitter:
    """The way of kernel logistic regression to score out of fold, or that of other classifiers.

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
    'CrossFitter'
    """
    if classifier is None or isinstance(classifier, KernelLogisticRegression):
        return KernelCrossFitter(classifier or KernelLogisticRegression(), n_jobs)
    return CrossFitter(classifier, n_jobs)


@dataclass(frozen=True, eq=False)
class CrossFitter:
    """Makes out-of-fold scores of three kinds from one classifier, refitted on every fold.

    Rows of one cluster share a fold; without ``clusters`` equal rows do.
    """

    classifier: Any
    n_jobs: int | None = None  # fits at the same time
    search: Search = WHOLE_SEARCH  # candidates of :meth:`ratios`, where the classifier leaves any
    # Whether the ratios can weigh labelled rows, and whether held-out log-loss chose the settings,
    # so that posteriors are calibrated.
    takes_weights: ClassVar[bool] = False
    tuned: ClassVar[bool] = False

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
            (rows, is_new), together = stack_samples(X_new, X[own]), clusters.part(own).stacked
            pairs = []
            for one in map(np.random.RandomState, drawn):
                folds = assign_folds(is_new, n_folds, one, together)
                of_folds = one.randint(2**31 - 1, size=folds.max() + 1)
                scores = self._out_of_fold(log_odds, rows, is_new, folds, of_folds)
                if hasattr(self.classifier, "predict_proba"):
                    offsets = fold_offsets(fold_masks(folds), is_new)
                    scores += np.log(X_new.shape[0] / own.sum()) - offsets
                pairs.append((scores[is_new == 1], scores[is_new == 0]))
            new, labelled = (np.mean(scores, axis=0) for scores in zip(*pairs, strict=True))
            found.append((new, labelled))
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

    def _out_of_fold(
        self, ask: Any, X: Matrix, codes: IntArray, folds: IntArray, seeds: IntArray
    ) -> FloatArray:
        """What models say of the rows that they were not fitted to."""
        n_folds, device = int(folds.max()) + 1, chosen_arrays().name
        made = Parallel(n_jobs=self.n_jobs, return_as="generator")(
            delayed(_fit_and_ask)(device, ask, self.classifier, seed, X, codes, folds != fold)
            for fold, seed in zip(range(n_folds), seeds, strict=False)
        )
        parts = list(each(made, n_folds))
        answers = np.empty((len(codes), *parts[0].shape[1:]))
        for fold, part in enumerate(parts):
            answers[folds == fold] = part
        return answers


@dataclass(frozen=True, eq=False)
class KernelCrossFitter(CrossFitter):
    """Out-of-fold scores on shared kernel factors; jobs are threads that share the rows."""

    classifier: KernelLogisticRegression
    takes_weights: ClassVar[bool] = True
    tuned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.classifier._validate_params()

    def _posteriors(
        self, X: Matrix, codes: IntArray, X_new: Matrix, folds: IntArray | None, seeds: IntArray
    ) -> tuple[FloatArray | None, FloatArray]:
        """Bandwidth and C are chosen once, on all labelled rows."""
        model: KernelLogisticRegression = seeded(self.classifier, seeds[0])
        model.classes_ = np.arange(int(codes.max()) + 1)
        arrays = chosen_arrays()
        masks = None if folds is None else fold_masks(arrays.put(folds))
        logits = model.fit_checked(as_rows(X), codes, np.ones(len(codes)), masks)
        new = arrays.posteriors(model.values(arrays.put_rows(as_rows(X_new))))
        return None if logits is None else arrays_of(logits).posteriors(logits), new

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
        rows, bandwidths = self.prepared(X, codes, X_new, rng)
        clusters, n_classes = clusters or Clusters.of_copies(X, X_new), int(codes.max()) + 1
        seeds = rng.randint(2**31 - 1, size=(n_repeats, n_classes))
        n_new = len(clusters.new)

        def against(part: tuple[int, int]) -> ScorePair:
            code, seed = part
            own = codes == code
            members = np.concatenate([np.arange(n_new), n_new + np.flatnonzero(own)])
            # With the landmarks of all rows.
            some = replace(rows, X=rows.X[members], weight=rows.weight[members])
            is_new = (members < n_new).astype(np.int64)
            folds = assign_folds(is_new, n_folds, int(seed), clusters.part(own).stacked)
            masks = fold_masks(folds)
            grid = self.pair_grid(some, is_new, masks)
            # The bandwidth and C that held-out rows like best.
            best = max(map(grid.held_out, bandwidths), key=lambda found: found.scores.max())
            scores = rows.arrays.host(best.values[:, best.scores.argmax(), 0]).copy()
            scores += np.log(n_new / own.sum()) - fold_offsets(masks, is_new)
            return scores[:n_new], scores[n_new:]

        with own_threads(self.n_jobs):
            parts = [part for drawn in seeds for part in enumerate(drawn)]
            found = rows.side_by_side(against, parts)
        by_class = (zip(*found[code::n_classes], strict=True) for code in range(n_classes))
        return [(np.mean(new, axis=0), np.mean(own, axis=0)) for new, own in by_class]

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
        rng = check_random_state(seed)
        rows_new, rows_old = as_rows(X_new), as_rows(X)
        clusters = clusters or Clusters.of_copies(rows_old, rows_new)
        arrays, n_new = chosen_arrays(), rows_new.shape[0]
        with own_threads(self.n_jobs):
            rows_new, rows_old = map(arrays.put_rows, (rows_new, rows_old))
            stacked, is_new = stack_samples(rows_new, rows_old, copy=False)
            weights = np.ones(len(is_new))
            weights[n_new:] = 1.0 if weight is None else weight
            every = [
                self.classifier.prepare(stacked, weights, rng, scale)
                for scale in self.classifier.scales(stacked, weights)
            ]
            strata = 1 - is_new
            strata[n_new:] += 0 if codes is None else codes
            folds = assign_folds(strata, n_folds, rng, clusters.stacked)
            masks = fold_masks(arrays.put(folds))
            ratios, losses = self._density_ratios(every, is_new, masks, clusters.n_effective)
            if distances is None:
                scales = [scale for rows in every for scale in rows.standardise.for_distances]
                distances = neighbour_distances(rows_new, rows_old, scales, rng, clusters)
        new, labelled = (
            arrays.sealed(arrays.host(part)) for part in (ratios[:n_new], ratios[n_new:])
        )
        return RatioScores(new, labelled, losses, distances, clusters)

    def distances(self, X_new: Matrix, X: Matrix, seed: Any, clusters: Clusters) -> Distances:
        """Distances to labelled rows, on scales in which both samples count alike."""
        rows_new, rows_old = as_rows(X_new), as_rows(X)
        stacked, is_new = stack_samples(rows_new, rows_old, copy=False)
        weights = np.where(is_new == 1, 1 / rows_new.shape[0], 1 / rows_old.shape[0])
        with own_threads(self.n_jobs):
            scales = self.classifier.scales(stacked, weights)
            every = [one for scale in scales for one in scale.for_distances]
            rng = check_random_state(seed)
            return neighbour_distances(rows_new, rows_old, every, rng, clusters)

    def pair_grid(self, rows: PreparedRows, is_new: IntArray, masks: FloatArray) -> Grid:
        """Values of C to be tried on a pair, and how they are judged."""
        by = self.classifier.scoring
        by = "roc_auc" if by == "accuracy" else by  # accuracy says nothing of a ROC
        _, C_values = self.classifier.candidates(rows.median)
        return Grid(rows, is_new, C_values, masks, by, SCORE_LIMITS)

    def prepared(
        self, X: Matrix, codes: IntArray, X_new: Matrix, rng: np.random.RandomState
    ) -> tuple[PreparedRows, FloatArray]:
        """All rows with their landmarks, and the bandwidths to try on each pair."""
        classifier = self.classifier
        everything, _ = stack_samples(X_new, X, copy=False)
        with own_threads(self.n_jobs):
            rows = classifier.prepare(everything, np.ones(everything.shape[0]), rng)
            one_class = codes.max() == 0
            widths = PAIR_BANDWIDTHS if one_class else BANDWIDTHS
            bandwidths, _ = classifier.candidates(rows.median, widths)
            if bandwidths.size > 1 and not one_class:
                known = classifier.prepare(X, np.ones(X.shape[0]), rng)
                bandwidths = np.array([classifier.choose([known], codes, rng)[1]])
        return rows, bandwidths

    def _density_ratios(
        self, every: list[PreparedRows], is_new: IntArray, masks: Array, n_effective: float
    ) -> tuple[Array, FloatArray]:
        """Out-of-fold log density ratios (n, candidates), and log-losses of all that count."""
        # A candidate so far behind has no weight that anybody could feel.
        race = Race(-np.log(NEGLIGIBLE) / (LOSS_WEIGHT * n_effective), early=True)
        raced: list[HeldOut] = []
        for place, rows in enumerate(every):
            widths, C_values = self.classifier.candidates(rows.median, *self.search)
            grid = Grid(rows, is_new, C_values, masks, limits=SCORE_LIMITS)
            with between(place / len(every), (place + 1) / len(every)):
                found = grid.raced(widths, race)
            race = race.after(*(one.scores for one in found))
            raced += found
        arrays = every[0].arrays
        held = arrays.put(masks == 0, np.float64)
        offsets = fold_offsets(masks, is_new, every[0].weight)
        n_held = arrays.put(np.maximum(arrays.total(held), 1))
        ratios, losses = [], []
        for one in raced:
            if not one.scores.max() >= race.least:
                continue
            counts = one.scores >= race.least
            values = one.values[:, arrays.put(counts), 0]
            apart = values - held @ ((held.T @ values) / n_held[:, None])
            spread = np.sqrt(arrays.host((apart * apart).mean(axis=0)))
            # Where held-out rows are out of reach of all others, the error of the fit is all that
            # differs: without offsets, too, which alone would order rows by fold.
            silent = spread < np.minimum(one.error[counts], _MIN_SPREAD)
            values = values - offsets[:, None]
            values[:, arrays.put(silent)] = 0.0
            ratios.append(values)
            losses.append(-one.scores[counts])
        return arrays.xp.column_stack(ratios), np.concatenate(losses)


def _fit_and_ask(
    device: str, ask: Any, classifier: Any, seed: int, X: Matrix, codes: IntArray, train: BoolArray
) -> FloatArray:
    """What one model says, in a thread or process that takes the device along."""
    with on_device(device):
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
