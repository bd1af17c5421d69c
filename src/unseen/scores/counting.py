"""Models fitted to drawn rows that score every row out of fold, and counts that add up.

The fold of a row is a function of its values. A row that was drawn, its copies, and a row that
nobody has seen before are scored alike: by the model that was fitted without the rows of their
fold. So scores depend neither on the order of the rows nor on how these are cut into batches, and
counts of scores from many workers are added (:class:`~unseen.roc.sketch.RocSketch`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias

import numpy as np

from unseen._arrays import single_expm1
from unseen._frozen import Frozen
from unseen._random import seeded
from unseen._team import own_threads
from unseen._types import FloatArray, IntArray, Matrix
from unseen.roc.sketch import RocSketch
from unseen.samples import LabelledRows
from unseen.samples.clusters import row_hashes
from unseen.scores.base import Scorer, stack_samples, training_log_odds
from unseen.scores.boosting import _Boosting
from unseen.scores.calibration import Rescaling
from unseen.scores.crossfit import KernelCrossFitter, cross_fitter, log_odds
from unseen.scores.held_out import SCORE_LIMITS
from unseen.scores.kernel import ShiftedKernel
from unseen.scores.klr import KernelLogisticRegression
from unseen.scores.logistic import Problems, solve
from unseen.scores.pairs import PairScorer, PairScores
from unseen.scores.posteriors import Posteriors, PosteriorScorer, PosteriorSums
from unseen.scores.scales import Scale, dense
from unseen.simplex import mixture_shares

_Models: TypeAlias = Callable[[FloatArray], FloatArray]  # log-odds (n, K) of new rows (n, d)
# Products of one shape, whose rows round alike.
_BLOCK = 512
# Below this logarithm the constant of a kernel is so small that subtracting it loses no digits.
_STEEP = -2.0
# A class that the drawn rows lack keeps so large a part: all rows may hold it.
_LEAST_PART = 1e-3
_MIN_DENSITY = 1e-12


def row_folds(X: FloatArray, n_folds: int, seed: int) -> IntArray:
    """Fold of each row, by its values: equal rows share a fold, wherever they stand."""
    # The low bits of a sum of products depend on the low bits of the products alone.
    high = row_hashes(np.ascontiguousarray(X, dtype=np.float64), seed) >> np.uint64(33)
    return (high % np.uint64(n_folds)).astype(np.intp)


@dataclass(frozen=True, eq=False)
class PairCounts(Frozen):
    """Counts of the new rows among the rows of each class, in the order of their scores."""

    sketches: tuple[RocSketch, ...]

    @property
    def n_rows(self) -> int:
        """New rows."""
        return self.sketches[0].n_new

    def __add__(self, other: PairCounts) -> PairCounts:
        both = zip(self.sketches, other.sketches, strict=True)
        return PairCounts(tuple(one + another for one, another in both))


@dataclass(frozen=True, eq=False)
class _Counter(Frozen):
    """Models that score new rows, and what it takes to count the scores."""

    # Scores of labelled and drawn new rows; None where only counts are asked for.
    drawn: Any = field(default=None, kw_only=True)

    def without_drawn(self) -> Self:
        """All that it takes to count, to be sent to other processes."""
        return replace(self, drawn=None)


@dataclass(frozen=True, eq=False)
class PairCounter(_Counter):
    """Scores new rows that come in batches against each known class, and counts the scores."""

    models: tuple[_Models, ...]  # for each fold, fitted without the rows of the fold
    seed: int  # of the folds
    sketches: tuple[RocSketch, ...]  # for each class, the scores of its rows, and no new row

    def score(self, X: Matrix) -> FloatArray:
        """Scores (n, K) of rows, each by the models of its fold."""
        rows = dense(X)
        folds = row_folds(rows, len(self.models), self.seed)
        order = np.argsort(folds, kind="stable")
        ends = np.cumsum(np.bincount(folds, minlength=len(self.models)))
        parts = zip(self.models, np.split(rows[order], ends[:-1]), strict=True)
        found = np.concatenate([model(part) for model, part in parts])
        scores = np.empty_like(found)
        scores[order] = found
        return scores

    def count(self, scores: FloatArray) -> PairCounts:
        """Counts of scores among those of the labelled rows."""
        pairs = zip(self.sketches, scores.T, strict=True)
        return PairCounts(tuple(sketch.recounted(column) for sketch, column in pairs))

    def scores(self, counts: PairCounts) -> PairScores:
        """The record that estimators read: the drawn rows, and the counts of all rows."""
        return replace(self.drawn, sketches=counts.sketches)


def _pair_counter(scorer: PairScorer, labelled: LabelledRows, X_new: Matrix) -> PairCounter:
    rows, is_new = stack_samples(dense(X_new), dense(labelled.rows))
    folds = row_folds(rows, scorer.n_folds, scorer.seed)
    codes = np.concatenate([np.full(X_new.shape[0], -1), labelled.codes])
    trains = (folds[:, None] != np.arange(scorer.n_folds)).astype(np.float64)
    # Of a class's problem, rows of other classes are no part: neither trained on nor held out.
    masks = [
        np.where((codes < 0) | (codes == code), trains.T, -1.0).T for code in range(codes.max() + 1)
    ]
    for label, mask in zip(labelled.labels, masks, strict=True):
        for name, few, one in (("X", f"class {label!r} has", 0), ("X_new", "it has", 1)):
            if not (mask[is_new == one] == 1).any(axis=0).all():
                raise ValueError(
                    f"{name} must hold rows that differ for a full pass, as equal rows share a "
                    f"fold; {few} too few."
                )
    offsets = np.array([training_log_odds(mask, is_new) for mask in masks])
    fitter = cross_fitter(scorer.classifier, scorer.n_jobs)
    models: tuple[_Models, ...]
    if isinstance(fitter, KernelCrossFitter):
        models = _kernel_models(fitter, labelled, X_new, is_new, masks, offsets, scorer.seed)
    else:
        models = _refitted_models(scorer, rows, is_new, masks, offsets)
    counter = PairCounter(models, scorer.seed, ())
    with own_threads():
        scores = counter.score(rows)
    own = [scores[codes == code, code] for code in range(len(masks))]
    pairs = tuple((scores[is_new == 1, code], one) for code, one in enumerate(own))
    sketches = tuple(RocSketch.of_labelled(one) for one in own)
    drawn = PairScores(labelled.labels, pairs, scorer.seed)
    return replace(counter, sketches=sketches, drawn=drawn)


@dataclass(frozen=True, eq=False)
class _KernelModels(Frozen):
    """Kernel logistic regressions that share their kernel, one column of coefficients each.

    A row must get the same score in any batch, but products of matrices round by the place of a
    row. So rows and landmarks lie on a grid on which squared distances are exact, and coefficients
    are applied class by class, row by row alike.
    """

    standardise: Scale
    kernel: ShiftedKernel
    coef: FloatArray
    intercept: FloatArray

    def __call__(self, X: FloatArray) -> FloatArray:
        n_rows = len(X)
        rows = np.zeros((-(-n_rows // _BLOCK) * _BLOCK, self.kernel.landmarks.shape[1]))
        rows[:n_rows] = self.standardise(X)
        z = _on_grid(self.kernel.landmarks)
        right = np.column_stack([z, np.ones(len(z)), np.square(z).sum(axis=1)]).T
        # Workers of a cluster give every large array back to the system: fill the same ones again.
        exponent = np.empty((_BLOCK, len(z)))
        kernel, rest = np.empty((2, _BLOCK, len(z)), dtype=self.coef.dtype)
        values, shift = np.empty((self.coef.shape[1], len(rows))), self.kernel.exponent
        constant = self.coef.dtype.type(0.0 if shift is None else np.exp(shift))
        for start in range(0, len(rows), _BLOCK):
            block = slice(start, start + _BLOCK)
            x = _on_grid(rows[block])
            left = np.column_stack([-2 * x, np.square(x).sum(axis=1), np.ones(_BLOCK)])
            # Whole multiples of the grid's square, small enough for double precision: exact.
            np.matmul(left, right, out=exponent)
            exponent *= -0.5 / self.kernel.bandwidth**2
            if shift is None or shift < _STEEP:
                kernel[:] = exponent
                np.exp(kernel, out=kernel)
                kernel -= constant
            else:
                exponent -= shift
                exponent *= 0.5
                kernel[:] = exponent
                single_expm1(kernel, rest, np.exp(shift))
            for column, coef in zip(values, self.coef.T, strict=True):
                column[block] = kernel @ coef
        return values[:, :n_rows].T + self.intercept


def _on_grid(rows: FloatArray) -> FloatArray:
    """Standardised rows, cut off at 128 and rounded so that squared distances are exact."""
    bits = (36 - int(np.ceil(np.log2(rows.shape[1])))) // 2
    return np.rint(np.clip(rows, -128.0, 128.0) * 2.0**bits) / 2.0**bits


def _kernel_models(
    fitter: KernelCrossFitter,
    labelled: LabelledRows,
    X_new: Matrix,
    is_new: IntArray,
    masks: list[FloatArray],
    offsets: FloatArray,
    seed: int,
) -> tuple[_KernelModels, ...]:
    """One factor for all classes and folds; C is chosen for each class on held-out rows."""
    rng = np.random.RandomState(seed)
    rows, bandwidths = fitter.prepared(dense(labelled.rows), labelled.codes, dense(X_new), rng)
    with own_threads():
        # The bandwidth of all classes, and the C of each, that held-out rows like best.
        grids = [fitter.pair_grid(rows, is_new, mask) for mask in masks]
        scores = np.array([[grid.held_out(width).scores for grid in grids] for width in bandwidths])
        best = int(scores.max(axis=2).sum(axis=1).argmax())
        C = grids[0].C_values[scores[best].argmax(axis=1)]
        factor = rows.factor(float(bandwidths[best]))
        arrays, n_folds = rows.arrays, masks[0].shape[1]
        trained, targets = arrays.put(np.hstack(masks) == 1), arrays.put(is_new[:, None, None])
        problems = Problems(np.repeat(C, n_folds), np.arange(trained.shape[1]), trained, targets)
        tol, max_iter = SCORE_LIMITS
        solution = solve(factor, problems, tol=tol, max_iter=max_iter).coefficients[..., 0]
    coefficients = solution.reshape(-1, len(masks), n_folds)
    intercepts = coefficients[-1] - offsets
    return tuple(
        _KernelModels(
            rows.standardise,
            factor.kernel,
            np.asfortranarray(coefficients[:-1, :, fold].astype(factor.dtype)),
            intercept,
        )
        for fold, intercept in enumerate(intercepts.T)
    )


@dataclass(frozen=True, eq=False)
class _SeparateModels(Frozen):
    """Classifiers of the new rows against each class."""

    models: tuple[Any, ...]
    offset: FloatArray

    def __call__(self, X: FloatArray) -> FloatArray:
        if not len(X):
            return np.empty((0, len(self.models)))
        return np.column_stack([log_odds(model, X) for model in self.models]) - self.offset


def _refitted_models(
    scorer: PairScorer,
    rows: FloatArray,
    is_new: IntArray,
    masks: list[FloatArray],
    offsets: FloatArray,
) -> tuple[_SeparateModels, ...]:
    """Any classifier, fitted for each class and fold."""
    seeds = np.random.RandomState(scorer.seed).randint(2**31 - 1, size=offsets.shape)
    found = []
    for fold, offset in enumerate(offsets.T):
        own = [
            seeded(scorer.classifier, int(seeds[code, fold])).fit(
                rows[mask[:, fold] == 1], is_new[mask[:, fold] == 1]
            )
            for code, mask in enumerate(masks)
        ]
        # Decision functions have no log-odds that the shares of the training rows move.
        speaks = hasattr(scorer.classifier, "predict_proba")
        found.append(_SeparateModels(tuple(own), offset if speaks else np.zeros(len(offset))))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class PosteriorCounter(_Counter):
    """Sums over new rows behind the likelihood of the shares; see :class:`PairCounter`."""

    model: Any  # a classifier fitted to all labelled rows; new rows are in no fold
    prior: FloatArray  # (K,), shares that the posteriors take for granted
    shares: FloatArray  # (K,), shares that the drawn rows show
    rescaling: Rescaling | None  # calibrates the posteriors first

    def score(self, X: Matrix) -> FloatArray:
        """Slopes ``r_k / sum_l pi_l r_l`` of the likelihood at the shares of the drawn rows."""
        posteriors = np.asarray(self.model.predict_proba(X), dtype=np.float64)
        ratios = (self.rescaling or np.asarray)(posteriors) / self.prior
        return ratios / np.maximum(ratios @ self.shares, _MIN_DENSITY)[:, None]

    def count(self, scores: FloatArray) -> PosteriorSums:
        """Sums of the slopes and of their products."""
        return PosteriorSums(self.shares, len(scores), scores.sum(axis=0), scores.T @ scores)

    def scores(self, counts: PosteriorSums) -> Posteriors:
        """The drawn rows, and the sums over all rows."""
        return replace(self.drawn, sums=counts)


Counter: TypeAlias = PairCounter | PosteriorCounter


def fit_counter(scorer: Scorer, labelled: LabelledRows, X_new: Matrix) -> Counter:
    """Fit the models of a pair or posterior scorer to labelled rows and to drawn new rows."""
    if type(scorer) is PairScorer:
        return _pair_counter(scorer, labelled, X_new)
    assert isinstance(scorer, PosteriorScorer)
    drawn = scorer.score(labelled, X_new)
    # The model behind the posteriors of the new rows, which the scorer does not keep.
    ours = _Boosting() if drawn.boosted else KernelLogisticRegression()
    classifier = ours if scorer.classifier is None else scorer.classifier
    first_seed = np.random.RandomState(scorer.seed).randint(2**31 - 1)
    model = seeded(classifier, int(first_seed)).fit(labelled.rows, labelled.codes)
    shares = mixture_shares(drawn.ratios, start=drawn.prior)
    inner = (1 - _LEAST_PART) * shares + _LEAST_PART * drawn.prior
    prior = drawn.prior if drawn.rescaling is None else drawn.training_shares
    return PosteriorCounter(model, prior, inner, drawn.rescaling, drawn=drawn)
