"""Kernel logistic regression with a Gaussian kernel, on a low-rank factor of the kernel.

The classifier of Sec. 6.1. All fits behind the choice of bandwidth and C are made at once:
one factor per bandwidth serves all folds and all C, which are columns of one batch.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from unseen._arrays import chosen_arrays, where_rows_are
from unseen._progress import between
from unseen._sklearn import Interval, KeepsRequests, StrOptions, check_sample_weight, fit_context
from unseen._team import own_threads
from unseen._types import Array, FloatArray, IntArray, Matrix
from unseen.samples import Clusters, check_again, check_labelled
from unseen.scores.base import training_masks
from unseen.scores.held_out import SCORE_LIMITS, SCORINGS, Grid, Race, one_hot, out_of_fold_values
from unseen.scores.kernel import PreparedRows, automatic_rank, choose_landmarks, median_bandwidth
from unseen.scores.logistic import Problems, solve
from unseen.scores.scales import Scale, Standardisation, fitting_scales

BANDWIDTHS = 2.0 ** np.arange(2, -4, -1)  # times the median distance between landmarks
C_VALUES = 10.0 ** np.arange(-2, 4)
FINAL_TOL = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-3}
FINAL_STEPS = 100
WARN_TOL = 5e-2
# A candidate whose held-out log-loss is so far behind will not be chosen.
_BEHIND = 0.005
# Above so many rows a part of them chooses bandwidth and C as well.
_MANY_ROWS, _ENOUGH_ROWS, _ENOUGH_A_CLASS = 3000, 2000, 40


class KernelLogisticRegression(KeepsRequests, ClassifierMixin, BaseEstimator):
    """Logistic regression on Gaussian kernel functions, binary or multinomial.

    Minimises ``|f|^2 / 2 + C sum_i loss(y_i, f(x_i) + b)`` over functions spanned by the kernel
    at ``rank`` landmarks, with ``|f|`` the norm of the kernel's space and ``b`` free. Memory is
    O(n rank), time is linear in n.

    Parameters
    ----------
    bandwidth : float, array-like of float or None, default=None
        Standard deviation of the kernel ``exp(-|x - z|^2 / (2 bandwidth^2))``. Several are
        candidates for cross-validation; None makes them 1/8 ... 4 times the median distance.
    C : float, array-like of float or None, default=None
        Inverse strength of the penalty. None makes 0.01 ... 1000 the candidates.
    scoring : {"neg_log_loss", "accuracy", "roc_auc"}, default="neg_log_loss"
        The measure that the choice among candidates maximises on held-out folds.
    cv : int, splitter or iterable of splits, default=3
        Folds for that choice; an int gives stratified, shuffled folds. Each fold is scored on
        its test rows of positive weight.
    rank : int or "auto", default="auto"
        Landmarks. "auto" takes ``5.5 sqrt(n)``, at least 300 (or all rows) and at most 1024.
    standardize : bool, default=True
        Give every feature mean 0 and standard deviation 1 before distances are taken. Where at
        least half of the features are heavily skewed or hold codes of categories, and bandwidth is
        None, a scale of ranks and codes (:mod:`unseen.scores.scales`) is a candidate too.
    random_state : int, RandomState or None, default=None
        Seed of the landmarks and of the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels.
    bandwidth_, C_ : float
        What was used in the end.
    cv_scores_ : ndarray of shape (bandwidths, Cs) or None
        Held-out scores of the candidates on the chosen scale. Where rows are many, 2,000 rows or 40
        a class give these scores, and a candidate that falls clearly behind keeps the score it has
        then. None when there was nothing to choose.
    landmarks_ : ndarray of shape (r, axes)
        Landmarks that the kernel functions sit on, on the chosen scale: an axis for each feature,
        or for each code of a feature.
    coef_ : ndarray of shape (r, K or 1)
        Weights of the kernel functions.
    intercept_ : ndarray of shape (K or 1,)
        Free constants, on top of kernel functions that are shifted by a constant.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from unseen import KernelLogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelLogisticRegression(random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "bandwidth": [Interval(Real, 0, None, closed="neither"), "array-like", None],
        "C": [Interval(Real, 0, None, closed="neither"), "array-like", None],
        "scoring": [StrOptions(set(SCORINGS))],
        "cv": ["cv_object"],
        "rank": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "standardize": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        bandwidth: float | ArrayLike | None = None,
        C: float | ArrayLike | None = None,
        *,
        scoring: str = "neg_log_loss",
        cv: Any = 3,
        rank: int | str = "auto",
        standardize: bool = True,
        random_state: Any = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.C = C
        self.scoring = scoring
        self.cv = cv
        self.rank = rank
        self.standardize = standardize
        self.random_state = random_state

    @where_rows_are
    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose bandwidth and C where several are open, then fit all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows.
        y : array-like of shape (n,)
            Labels of at least two classes.
        sample_weight : array-like of shape (n,), optional
            Weights; a row of weight 2 counts as two rows, one of weight 0 as none.

        Returns
        -------
        self : KernelLogisticRegression
        """
        sample = check_labelled(self, X, y)
        X, codes = sample.rows.astype(np.float64, copy=False), sample.codes
        self.classes_ = sample.classes
        if len(self.classes_) < 2:
            raise ValueError(
                f"y must hold at least two classes; got one class, {self.classes_.tolist()[0]!r}."
            )
        weight = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        self.fit_checked(X, codes, weight)
        return self

    def fit_checked(
        self, X: Matrix, codes: IntArray, weight: FloatArray, masks: Array | None = None
    ) -> Array | None:
        """Fit checked rows of ``classes_``; with ``masks`` of folds, values (n, K) out of fold.

        ``masks`` (n, folds) are 1 where a fold trains on a row, and 0 where the row is held out.
        The folds have the bandwidth, C, scale and landmarks of the fit.
        """
        with own_threads():
            rng = check_random_state(self.random_state)
            X = chosen_arrays().put_rows(X)
            every = [self.prepare(X, weight, rng, scale) for scale in self.scales(X, weight)]
            with between(0.0, 0.8):
                best, bandwidth, C, self.cv_scores_ = self.choose(every, codes, rng)
            rows = every[best]
            factor = rows.factor(bandwidth)
            arrays, dtype = rows.arrays, factor.dtype
            trains = arrays.zeros((len(codes), 1)) + 1
            if masks is not None:
                trains = arrays.xp.column_stack([trains, arrays.put(masks)])
            tol = np.append(FINAL_TOL[dtype], np.full(trains.shape[1] - 1, SCORE_LIMITS[0]))
            everything = Problems(
                np.full(tol.size, C),
                np.arange(tol.size),
                trains * arrays.put(weight)[:, None],
                one_hot(arrays.put(codes), len(self.classes_))[:, None],
            )
            found = solve(factor, everything, tol=tol, max_iter=FINAL_STEPS)
        if not found.decrement[0] <= WARN_TOL**2:
            warnings.warn(
                f"kernel logistic regression stopped after {FINAL_STEPS} steps short of its "
                f"optimum at bandwidth={bandwidth:g}, C={C:g}; a smaller C is easier to fit.",
                ConvergenceWarning,
                stacklevel=5,
            )
        self.bandwidth_, self.C_ = bandwidth, C
        self.landmarks_, self._kernel = factor.kernel.landmarks, factor.kernel
        self._standardise, self._dtype = rows.standardise, dtype
        self.coef_, self.intercept_ = found.coefficients[:-1, 0], found.coefficients[-1, 0]
        if masks is None:
            return None
        return out_of_fold_values(found.values[:, None, 1:], arrays.put(masks == 0))[:, 0]

    def scales(
        self, X: Matrix, weight: FloatArray, kinds: Sequence[type[Scale]] | None = None
    ) -> list[Scale]:
        """Scales of weighted rows: of these kinds, or of those to try."""
        if not self.standardize:
            # Distances do not feel the centre, but their rounding does.
            return [replace(Standardisation.of(X, weight), scale=np.ones(X.shape[1]))]
        if kinds is None:
            # The user's own bandwidths are for columns of equal spread.
            own = self.bandwidth is not None
            kinds = (Standardisation,) if own else fitting_scales(X, weight)
        return [kind.of(X, weight) for kind in kinds]

    def prepare(
        self, X: Matrix, weight: FloatArray, rng: np.random.RandomState, scale: Scale | None = None
    ) -> PreparedRows:
        """Landmarks of checked rows on a scale, that of equal spread if none is given."""
        X = chosen_arrays().put_rows(X)
        if scale is None:
            (scale,) = self.scales(X, weight, (Standardisation,))
        n_rows = int(np.count_nonzero(weight > 0))
        rank = automatic_rank(n_rows) if self.rank == "auto" else int(self.rank)
        landmarks = scale(choose_landmarks(X, weight, rank, rng))
        typical = median_bandwidth(landmarks)
        return PreparedRows(X, weight, scale, landmarks, typical, chosen_arrays())

    def candidates(
        self, median: float, widths: FloatArray = BANDWIDTHS, C_values: FloatArray = C_VALUES
    ) -> tuple[FloatArray, FloatArray]:
        """Bandwidths, widest first, and values of C, rising: the user's own come first.

        Else ``widths`` times the median distance between landmarks, and ``C_values``.
        """
        bandwidths = widths * median
        if self.bandwidth is not None:
            bandwidths = _positive(self.bandwidth, "bandwidth")[::-1]
        return bandwidths, C_values if self.C is None else _positive(self.C, "C")

    def choose(
        self, every: list[PreparedRows], codes: IntArray, rng: np.random.RandomState
    ) -> tuple[int, float, float, FloatArray | None]:
        """Best scale, bandwidth and C on held-out folds, and the scores on this scale.

        ``every`` holds the same rows on each scale; the best is named by its place there.
        """
        grids = [self.candidates(rows.median) for rows in every]
        bandwidths, C_values = [widths for widths, _ in grids], grids[0][1]
        if bandwidths[0].size * C_values.size == 1:
            return 0, float(bandwidths[0][0]), float(C_values[0]), None
        every, codes = self._few_rows(every, codes, rng)
        together = None
        if isinstance(self.cv, Integral):
            together = Clusters.of_copies(every[0].arrays.host(every[0].X)).labelled
        masks = training_masks(self.cv, codes, rng, together)
        found: list[FloatArray] = []
        for place, rows in enumerate(every):
            grid, race = Grid(rows, codes, C_values, masks, self.scoring), Race(_BEHIND)
            with between(place / len(every), (place + 1) / len(every)):
                found.append(grid.scouted(bandwidths[place], race.after(*found)))
        # The first of equals is the smoother one: wide bandwidths and small C come first.
        order = np.argmax(np.nan_to_num(found, nan=-np.inf))
        scale, width, C = np.unravel_index(order, np.shape(found))
        return int(scale), float(bandwidths[scale][width]), float(C_values[C]), found[scale]

    def _few_rows(
        self, every: list[PreparedRows], codes: IntArray, rng: np.random.RandomState
    ) -> tuple[list[PreparedRows], IntArray]:
        """Draw a part of very many rows, with the same shares of the classes."""
        # Splits of the user's own are splits of all rows.
        size = max(_ENOUGH_ROWS, _ENOUGH_A_CLASS * (int(codes.max()) + 1))
        if len(codes) <= max(_MANY_ROWS, size) or not isinstance(self.cv, Integral):
            return every, codes
        X, weight = every[0].X, every[0].weight
        order = rng.permutation(np.flatnonzero(weight > 0))
        # NumPy sorts small whole numbers by counting them.
        by_class = np.argsort(codes[order].astype(np.min_scalar_type(codes.max())), kind="stable")
        counts = np.bincount(codes[order], minlength=int(codes.max()) + 1)
        rank = np.concatenate([np.arange(count) / max(count, 1) for count in counts])
        some = np.sort(order[by_class[np.argsort(rank, kind="stable")[:size]]])
        X, weight = X[some], weight[some]
        scales = self.scales(X, weight, [type(rows.standardise) for rows in every])
        return [self.prepare(X, weight, rng, scale) for scale in scales], codes[some]

    @where_rows_are
    def decision_function(self, X: Matrix) -> FloatArray:
        """Log-odds of the second class (two classes), or logits of all classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n,) or (n, K)
        """
        check_is_fitted(self)
        values = self.values(check_again(self, X))
        return values[:, 0] if values.shape[1] == 1 else values

    @where_rows_are
    def predict_proba(self, X: Matrix) -> FloatArray:
        """Posterior probability of each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n, K)
        """
        check_is_fitted(self)
        return chosen_arrays().posteriors(self.values(check_again(self, X)))

    def values(self, rows: Matrix) -> FloatArray:
        """Log-odds (n, 1) of the second class, or logits (n, K), of checked rows."""
        coef = self.coef_.astype(self._dtype)
        with own_threads():
            return self._kernel.functions(rows, self._standardise, coef) + self.intercept_

    def predict(self, X: Matrix) -> Any:
        """Most probable class of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
        """
        values = self.decision_function(X)
        best = (values > 0).astype(np.int64) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[best]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _positive(values: float | ArrayLike, name: str) -> FloatArray:
    candidates = np.unique(np.asarray(values, dtype=np.float64))
    if candidates.size == 0 or not np.all(np.isfinite(candidates) & (candidates > 0)):
        raise ValueError(f"{name} must be > 0; got {values!r}.")
    return candidates
