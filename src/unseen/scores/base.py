"""Scorer and Scores, the two ends of all expensive work, and the folds in between.

A scorer is a frozen value, and equal settings are equal scorers. It turns checked rows into scores,
a read-only record, from which any number of estimators can read shares at next to no cost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from functools import cached_property
from pickle import PicklingError
from typing import TYPE_CHECKING, Any, ClassVar, Self

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from unseen._arrays import arrays_of, chosen_arrays
from unseen._frozen import Frozen
from unseen._types import Array, FloatArray, IntArray, Matrix
from unseen.records import Notice
from unseen.samples import Clusters, LabelledRows, check_fold_rows, check_folds

if TYPE_CHECKING:
    from unseen.scores.posteriors import Posteriors, PosteriorScorer

FOLDS = 10
# A discriminator has the prior weight exp(-n (loss - least loss) / 10), times a constant.
LOSS_WEIGHT = 0.1
NEGLIGIBLE = 1e-4  # the least prior weight that counts


class Scores(Frozen):
    """Out-of-fold scores of labelled and new rows; arrays are read-only."""

    classes: tuple[Any, ...]  # labels of the known classes
    seed: int | None  # that made the scores
    notices: tuple[Notice, ...]  # what a person should know about the rows

    @property
    @abstractmethod
    def n_new(self) -> int:
        """New rows."""

    @cached_property
    def counts(self) -> IntArray:
        """Labelled rows of each class; here for scores with ``codes``, the class of each row."""
        codes: IntArray = self.codes  # type: ignore[attr-defined]
        return np.bincount(codes, minlength=len(self.classes))


@dataclass(frozen=True, eq=False)
class Distances(Frozen):
    """Distances to the nearest rows of H, (n_F, S) and (n_H, S), a column for every scale.

    High where a row stands apart from H.
    """

    new: FloatArray
    labelled: FloatArray

    def window(self, places: IntArray) -> Distances:
        """Distances of some of the new rows, and of all labelled ones."""
        return Distances(self.new[places], self.labelled)


@dataclass(frozen=True, eq=False)
class RatioScores(Frozen):
    """Out-of-fold scores of F against H, one column for every candidate discriminator.

    ``new`` (n_F, C) and ``labelled`` (n_H, C) are log density ratios of F against H, up to a
    constant: high where a row looks like F. ``log_loss`` (C,) is held out, per unit of weight.
    ``distances`` are None where the classifier is the user's own, who may know better than to
    compare rows by distance; ``clusters`` are None where no rows are copies of each other.
    """

    new: FloatArray
    labelled: FloatArray
    log_loss: FloatArray
    distances: Distances | None = None
    clusters: Clusters | None = None
    # Of the effective number of rows of H so few are left out that the log-odds of F are a multiple
    # of this step: rounds and windows that are much alike then have one lattice of curves. 0 leaves
    # none out.
    odds_step: float = 0.0

    @property
    def best(self) -> int:
        """The candidate of the least log-loss."""
        return int(np.argmin(self.log_loss))

    @property
    def log_weight(self) -> FloatArray:
        """Log prior weight of each candidate, 0 for the best; copies count as draws of one row."""
        copies = self.clusters
        n_rows = len(self.new) + len(self.labelled) if copies is None else copies.n_effective
        return -LOSS_WEIGHT * n_rows * (self.log_loss - self.log_loss.min())


class Scorer(ABC):
    """A way to make scores; subclasses are frozen dataclasses."""

    classifier: Any = None  # tells samples apart; None is kernel logistic regression
    n_folds: int | None = None  # None where a scorer needs no folds, or chooses by the rows
    seed: int = 0  # where all randomness comes from
    n_jobs: int | None = None  # fits at the same time; the scores do not depend on it
    # Whether the classifier must have posteriors; of one that has none another takes the place.
    needs_posteriors: ClassVar[bool] = False

    @abstractmethod
    def score(self, labelled: LabelledRows, X_new: Matrix) -> Scores:
        """Score checked rows."""

    def check(self, labelled: LabelledRows, n_new: int) -> None:
        """Raise where there are too few rows for the folds."""
        n_folds = self.settled(len(labelled.codes) + n_new).n_folds
        if n_folds is not None:
            check_folds(labelled, n_folds)
            check_fold_rows(n_new, "X_new", n_folds)

    def settled(self, n_rows: int) -> Self:
        """A copy of the scorer, with everything chosen that depends on the number of rows."""
        return self

    def serves(self, other: Scorer) -> bool:
        """Whether the other's estimators can read the scores that this one makes."""
        return self == other

    def posterior_scorer(self) -> PosteriorScorer:
        """A scorer of the known classes, with folds, as like this one as its classifier allows."""
        from unseen.scores.posteriors import PosteriorScorer

        serves = self.needs_posteriors or hasattr(self.classifier, "predict_proba")
        classifier = self.classifier if serves else None
        return PosteriorScorer(classifier, self.n_folds or FOLDS, self.seed, self.n_jobs)

    def pool(self, labelled: LabelledRows, X_new: Matrix, posteriors: Posteriors | None) -> Pool:
        """The new rows of many windows, with their posteriors, to be scored window by window."""
        return Pool(self, labelled, X_new, None)

    def _settings(self) -> str:
        """A fingerprint of everything that the scores depend on."""
        given = {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]
        del given["n_jobs"]
        try:
            return str(joblib.hash((type(self).__module__, type(self).__qualname__, given)))
        except (PicklingError, AttributeError, TypeError):
            # A classifier with a lambda inside cannot be compared with any other.
            return str(id(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scorer) and self._settings() == other._settings()

    def __hash__(self) -> int:
        return hash(self._settings())


@dataclass(frozen=True, eq=False)
class Pool:
    """New rows of many windows; what windows can share is made once."""

    scorer: Scorer
    labelled: LabelledRows
    rows: Matrix  # new rows of all windows
    posteriors: Posteriors | None  # the scores, where there are any

    def window(self, places: IntArray) -> Scores:
        """Scores of some of the new rows."""
        if self.posteriors is not None:
            return self.posteriors.window(places)
        return self.scorer.score(self.labelled, self.rows[places])


def as_rows(X: Matrix) -> Matrix:
    """Rows as CSR or as a 2-d array of float64; one number a row is one column."""
    if hasattr(X, "tocsr"):
        return X.tocsr()
    values = np.asarray(X, dtype=np.float64)
    return values[:, None] if values.ndim == 1 else values


def stack_samples(X_new: Matrix, X: Matrix, copy: bool = True) -> tuple[Matrix, IntArray]:
    """New rows on top of labelled ones, and a 1 for each new row, a 0 for each labelled one.

    Without ``copy`` dense rows on the host stay where they are.
    """
    arrays, is_new = chosen_arrays(), np.repeat([1, 0], [X_new.shape[0], X.shape[0]])
    if sparse.issparse(X) or sparse.issparse(X_new):
        return sparse.vstack([X_new, X]).tocsr(), is_new
    if copy or not arrays.is_host:
        return arrays.joined([X_new, X]), is_new
    return StackedRows(X_new, X), is_new


@dataclass(frozen=True, eq=False)
class StackedRows:
    """Dense rows of two samples, one after the other; copies are made of the rows asked for alone.

    Rows of very many columns would else be in memory twice, for as long as anything is fitted.
    """

    first: FloatArray  # (n, d)
    second: FloatArray  # (m, d)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.first) + len(self.second), self.first.shape[1]

    def __getitem__(self, places: slice | IntArray) -> FloatArray:
        n_first = len(self.first)
        if isinstance(places, slice):
            begin, end, _ = places.indices(self.shape[0])
            if end <= n_first:
                return self.first[begin:end]
            if begin >= n_first:
                return self.second[begin - n_first : end - n_first]
            places = np.arange(begin, end)
        of_first = places < n_first
        found = np.empty((len(places), self.shape[1]))
        found[of_first] = self.first[places[of_first]]
        found[~of_first] = self.second[places[~of_first] - n_first]
        return found


def some_rows(rows: NDArray[Any], most: int = 5000) -> NDArray[Any]:
    """The rows, or evenly spaced ones of more than so many."""
    return rows[:: -(-len(rows) // most) or 1]


def assign_folds(
    codes: IntArray, n_folds: int, random_state: Any, clusters: IntArray | None = None
) -> IntArray:
    """Fold of each row; every class is spread over the folds as evenly as possible.

    Rows of one cluster share a fold. Where clusters are small they count as the first of their
    rows; where rows of a class come by two and more, clusters are dealt by size. A class with fewer
    rows than folds is missing from some of them.
    """
    if clusters is not None and np.bincount(clusters).max() > 1:
        _, first, cluster = np.unique(clusters, return_index=True, return_inverse=True)
        rows, pairs = np.bincount(codes), np.unique(codes * len(first) + cluster)
        found_in = np.bincount(pairs // len(first))  # clusters, for each class
        # Of fewer than two clusters of a class no folds can be made.
        if found_in.max() > 1:
            # By first appearance: the folds must not depend on how clusters are numbered.
            order = np.argsort(first)
            folds = np.empty(len(first), dtype=np.int64)
            if (rows >= 2 * np.maximum(found_in, 1)).any():
                table = sparse.csr_array((np.ones(len(codes)), (cluster, codes)))
                folds[order] = folds_by_size(table[order], n_folds, random_state)
            else:
                folds[order] = assign_folds(codes[first[order]], n_folds, random_state)
            return folds[cluster]
    # The folds of scikit-learn's StratifiedKFold, shuffled, in a tenth of its time: they are dealt
    # out in turn, and the next class goes on where this one ends.
    n_folds = max(2, min(n_folds, int(np.bincount(codes).max())))
    rng, n_dealt, turn = check_random_state(random_state), 0, np.arange(n_folds)[::-1]
    folds = np.empty(len(codes), dtype=np.int64)
    by_class = [np.flatnonzero(codes == code) for code in np.flatnonzero(np.bincount(codes))]
    for own in sorted(by_class, key=lambda places: int(places[0])):
        before, n_dealt = n_dealt, n_dealt + len(own)
        counts = (n_dealt + turn) // n_folds - (before + turn) // n_folds
        dealt = np.repeat(np.arange(n_folds), counts)
        rng.shuffle(dealt)
        folds[own] = dealt
    return folds


def folds_by_size(counts: Matrix, n_folds: int, random_state: Any) -> IntArray:
    """Fold of each cluster, of which ``counts`` (clusters, K) are the rows of each class.

    From the largest on, a cluster goes to the fold where it adds least to the sum of squares of
    the shares of the classes in folds, but not to one that would then have all of a class. No more
    folds are made than the most common class has clusters; chance orders clusters of one size.
    """
    table = sparse.csr_array(counts)
    sizes, n_classes, total = table.sum(axis=1), np.diff(table.indptr), table.sum(axis=0)
    n_folds = max(2, min(n_folds, int(np.bincount(table.indices).max())))
    order = check_random_state(random_state).permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    found, fewest = order, np.inf
    # Of two classes with two clusters each, none is lost where shared clusters come first.
    for ranked in (order, order[np.argsort(-n_classes[order], kind="stable")]):
        taken, n_taken = np.zeros((n_folds, len(total))), np.zeros(n_folds)
        folds = np.empty(len(order), dtype=np.int64)
        for cluster in ranked:
            part = slice(*table.indptr[cluster : cluster + 2])
            classes, own = table.indices[part], table.data[part]
            before, most = taken[:, classes], total[classes]
            # Where all else is equal, the fold of fewest rows.
            cost = before @ (own / most**2) + 1e-9 * n_taken
            # The models of the other folds must know every class.
            lost = (before + own >= most).any(axis=1)
            fold = folds[cluster] = np.argmin(cost + lost * len(total))
            taken[fold, classes] += own
            n_taken[fold] += own.sum()
        n_lost = (taken >= total).sum()
        if n_lost < fewest:
            found, fewest = folds, n_lost
        if not n_lost:
            break
    return found


def training_masks(
    cv: Any, codes: IntArray, random_state: Any, clusters: IntArray | None = None
) -> FloatArray:
    """Columns (n, folds): 1 where the fold trains on the row, 0 where it tests it, else -1."""
    if isinstance(cv, int | np.integer):
        return fold_masks(assign_folds(codes, int(cv), random_state, clusters))
    splits = list(check_cv(cv, codes, classifier=True).split(codes[:, None], codes))
    masks = np.full((len(codes), len(splits)), -1.0)
    for fold, (train, test) in enumerate(splits):
        masks[test, fold] = 0.0
        masks[train, fold] = 1.0
    return masks


def fold_masks(folds: Array) -> Array:
    """Columns (n, folds): 1 where the fold trains on the row, 0 where it tests it."""
    arrays = arrays_of(folds)
    own = folds[:, None] != arrays.put(np.arange(int(folds.max()) + 1))
    return arrays.put(own, np.float64)


def fold_offsets(masks: Array, new: IntArray, weights: FloatArray | None = None) -> Array:
    """Log-odds of F among the rows that trained the model of each row, (n,).

    Folds cannot all hold the same shares of F and H. The log-odds of a model are higher the more of
    F was in its training rows, and then fewer of F are held out: pooled over folds, scores of two
    samples of one law would tend to order them the wrong way round.
    """
    odds = arrays_of(masks).put(training_log_odds(masks, new, weights))
    return odds[masks.argmin(1)]


def training_log_odds(masks: Array, new: IntArray, weights: FloatArray | None = None) -> FloatArray:
    """Log-odds of F, where ``new`` is 1, among the rows that train the model of each fold.

    ``masks`` (n, folds) are 1 where a row trains.
    """
    weights = np.ones(len(new)) if weights is None else weights
    arrays = arrays_of(masks)
    trained = arrays.put(masks == 1, np.float64)
    masses = (arrays.put(part) @ trained for part in (weights * new, weights * (1 - new)))
    of_F, of_H = (np.log(arrays.host(mass)) for mass in masses)
    return np.asarray(of_F - of_H)
