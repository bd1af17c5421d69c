"""How well each bandwidth and C does on rows that its fits have not seen.

One factor per bandwidth serves all folds and all C, which are columns of one batch. A C that has
fallen too far behind the best of the others leaves the race before its fits are done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed

from unseen._arrays import arrays_of
from unseen._progress import each
from unseen._types import Array, BoolArray, FloatArray, IntArray
from unseen.scores.kernel import PreparedRows
from unseen.scores.logistic import Problems, Progress, solve

__all__ = [
    "SCORINGS",
    "HeldOut",
    "Race",
    "Scoring",
    "accuracy",
    "best_first",
    "held_out",
    "neg_log_loss",
    "one_hot",
    "out_of_fold_values",
    "raced",
    "roc_auc",
    "scouted",
    "weighted_auc",
]

Scoring = Callable[[FloatArray, IntArray, FloatArray], FloatArray]

# What a fold of n rows may err by, in the mean log-probability of a candidate against another's.
_SCOUT_ERROR = 0.5
GRID_TOL, GRID_STEPS = 2e-2, 30  # enough to rank the cells; the winner is fitted to the end
# All folds share a preconditioner, through which a fit that stops early keeps a trace of the rows
# it was not to see: with ten times this tolerance held-out labels begin to show.
SCORE_TOL = 2e-4


def accuracy(values: FloatArray, codes: IntArray, weight: FloatArray) -> FloatArray:
    """Share of rows with the right label, for each problem of (n, problems, K) values."""
    values, codes, weight = map(arrays_of(values).host, (values, codes, weight))
    if values.shape[2] == 1:
        predicted = (values[..., 0] > 0).astype(np.int64)
    else:
        predicted = values.argmax(axis=2)
    return weight @ (predicted == codes[:, None]) / weight.sum()


def neg_log_loss(values: FloatArray, codes: IntArray, weight: FloatArray) -> FloatArray:
    """Mean log-probability of the true class, for each problem."""
    arrays = arrays_of(values)
    if values.shape[2] == 1:
        sign = 1.0 - 2.0 * (codes > 0)
        losses = arrays.softplus(sign[:, None] * values[..., 0])
    else:
        losses = arrays.log_losses(values, codes)
    found: FloatArray = arrays.host(-(weight @ losses) / weight.sum())
    return found


def roc_auc(values: FloatArray, codes: IntArray, weight: FloatArray) -> FloatArray:
    """Area under the ROC for each problem; the mean of one against the rest if K > 2."""
    values, codes, weight = map(arrays_of(values).host, (values, codes, weight))
    if values.shape[2] == 1:
        outputs = [(codes == 1, values[..., 0])]
    else:
        outputs = [(codes == k, values[..., k]) for k in range(values.shape[2])]
    areas = [
        [weighted_auc(column, positive, weight) for column in scores.T]
        for positive, scores in outputs
        if 0 < positive.sum() < positive.size
    ]
    return np.mean(areas, axis=0) if areas else np.full(values.shape[1], 0.5)


def weighted_auc(scores: FloatArray, positive: BoolArray, weight: FloatArray) -> float:
    """Probability that a positive row outscores a negative one; ties count one half.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_auc(np.array([1.0, 2, 2]), np.array([False, False, True]), np.ones(3))
    0.75
    """
    _, place = np.unique(scores, return_inverse=True)
    above = np.bincount(place, weight * positive)
    below = np.bincount(place, weight * ~positive)
    wins = above @ (np.cumsum(below) - below / 2)
    return float(wins / max(above.sum() * below.sum(), np.finfo(float).tiny))


SCORINGS: dict[str, Scoring] = {
    "accuracy": accuracy,
    "roc_auc": roc_auc,
    "neg_log_loss": neg_log_loss,
}


@dataclass(frozen=True)
class Race:
    """When a C is given up: its mean log-probability is ``behind`` below the best.

    Parameters
    ----------
    best : float
        Mean held-out log-probability of the best candidate so far, at other bandwidths.
    behind : float
        How far behind is too far.
    """

    best: float
    behind: float


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What the fits at one bandwidth say of rows that they have not seen.

    Parameters
    ----------
    values : array of shape (n, Cs, K)
        Out-of-fold values, on the device of the rows; within ``error`` of those of the exact fits,
        unless the C was given up.
    scores : ndarray of shape (Cs,)
        Mean score over folds.
    error : ndarray of shape (Cs,)
        Largest error of a value.
    """

    values: Array
    scores: FloatArray
    error: FloatArray


def held_out(
    rows: PreparedRows,
    codes: IntArray,
    bandwidth: float,
    C_values: FloatArray,
    masks: FloatArray,
    scoring: str,
    tol: float = GRID_TOL,
    max_iter: int = GRID_STEPS,
    race: Race | None = None,
) -> HeldOut:
    """Fit all folds at one bandwidth, and score each row by the fit that has not seen it.

    Parameters
    ----------
    rows : PreparedRows
    codes : ndarray of shape (n,)
        Class of each row.
    bandwidth : float
    C_values : ndarray of shape (Cs,)
    masks : ndarray of shape (n, folds)
        1 where a fold trains on the row, 0 where the row is held out, -1 where neither.
    scoring : str
        A key of ``SCORINGS``.
    tol, max_iter
        As in :func:`~unseen.scores.logistic.solve`.
    race : Race, optional
        Give up every C that falls behind; for the scoring "neg_log_loss" alone.

    Returns
    -------
    HeldOut
    """
    factor, arrays, n_folds = rows.factor(bandwidth), rows.arrays, masks.shape[1]
    masks, codes, weight = map(arrays.put, (masks, codes, rows.weight))
    dtype = arrays.precision(factor.design)
    cells = Problems(
        np.repeat(C_values, n_folds),
        np.tile(np.arange(n_folds), C_values.size),
        arrays.cast((masks == 1) * weight[:, None], dtype),
        arrays.cast(one_hot(codes, int(codes.max()) + 1)[:, None], dtype),
    )
    out = (masks == 0) & (weight > 0)[:, None]
    folds = _folds(codes, weight, out)
    watch = None
    if race is not None and scoring == "neg_log_loss":
        watch = _Watch(race, folds, (C_values.size, n_folds))
    found = solve(factor, cells, tol=tol, max_iter=max_iter, watch=watch)
    by_fold = found.values.reshape(len(codes), C_values.size, n_folds, -1)
    values = out_of_fold_values(by_fold, out)
    scores = [SCORINGS[scoring](values[fold.rows], fold.codes, fold.weight) for fold in folds]
    mean = np.mean(scores, axis=0) if scores else np.zeros(C_values.size)
    return HeldOut(values, mean, found.error.reshape(C_values.size, n_folds).max(axis=1))


def out_of_fold_values(by_fold: Array, out: Array) -> Array:
    """Values (n, Cs, K) by the fold that holds a row ``out`` (n, folds), of those by all folds."""
    arrays = arrays_of(by_fold)
    values = arrays.zeros(by_fold[:, :, 0].shape) + np.nan
    for fold in range(out.shape[1]):
        held = out[:, fold]
        values[held] = arrays.cast(by_fold[held, :, fold], np.float64)
    return values


def raced(
    rows: PreparedRows,
    codes: IntArray,
    bandwidths: FloatArray,
    C_values: FloatArray,
    masks: FloatArray,
    scoring: str,
    tol: float = GRID_TOL,
    max_iter: int = GRID_STEPS,
    *,
    behind: float,
    best: float = -np.inf,
    n_jobs: int | None = None,
    keep: Callable[[HeldOut], HeldOut] = lambda found: found,
) -> list[HeldOut]:
    """Held-out answers at every bandwidth; a C that falls too far behind is given up.

    Bandwidths start in three heats, and race against the best of the heats before: a race against
    fits that run at the same time would depend on the number of jobs. Jobs are threads, which share
    the rows; the products release the interpreter. ``best`` is the best score of earlier races,
    ``keep`` what is kept of the answers at a bandwidth.
    """
    found: dict[int, HeldOut] = {}
    masks, codes, weight = map(rows.arrays.put, (masks, codes, rows.weight))
    rows = replace(rows, weight=weight)

    def run(bandwidth: float, race: Race) -> HeldOut:
        cells = rows, codes, bandwidth, C_values, masks, scoring
        return keep(held_out(*cells, tol, max_iter, race))

    for heat in each(np.split(best_first(bandwidths, rows.median), [1, 3])):
        parts = Parallel(n_jobs=n_jobs, require="sharedmem")(
            delayed(run)(bandwidths[place], Race(best, behind)) for place in heat
        )
        found |= dict(zip(heat.tolist(), parts, strict=True))
        best = max([best, *(part.scores.max() for part in parts)])
    return [found[place] for place in range(len(bandwidths))]


def scouted(
    rows: PreparedRows,
    codes: IntArray,
    bandwidths: FloatArray,
    C_values: FloatArray,
    masks: FloatArray,
    scoring: str,
    *,
    behind: float,
    best: float = -np.inf,
) -> FloatArray:
    """Mean held-out scores of bandwidths and Cs, (bandwidths, Cs), as :func:`raced` has them.

    The first fold scouts: the others are asked of the candidates alone that may still win. The rest
    stay as far behind the leader as they were then.
    """
    cells = rows, codes, bandwidths, C_values
    n_out = ((masks == 0) & (rows.weight > 0)[:, None]).sum(axis=0)
    n_judged = np.count_nonzero(n_out)
    if scoring != "neg_log_loss" or n_judged < 2:
        race = raced(*cells, masks, scoring, behind=behind, best=best)
        return np.array([one.scores for one in race])
    first = int(np.argmax(n_out > 0))
    slack = behind + _SCOUT_ERROR / np.sqrt(n_out[first])
    scout = masks[:, [first]]
    # Values of many classes at all bandwidths would take much memory.
    race = raced(*cells, scout, scoring, behind=slack, best=best, keep=_without_values)
    scores = np.array([one.scores for one in race])
    then = scores.copy()
    alive = scores >= max(best, scores.max()) - slack
    others = np.delete(masks, first, axis=1)
    for place in best_first(bandwidths, rows.median):
        some = alive[place]
        if some.any():
            cell = rows, codes, bandwidths[place], C_values[some], others, scoring
            found = held_out(*cell, race=Race(best, behind)).scores
            best = max(best, found.max())
            scores[place, some] += (found - scores[place, some]) * (1 - 1 / n_judged)
    if alive.any():
        leader = np.argmax(np.where(alive, scores, -np.inf))
        scores[~alive] += scores.flat[leader] - then.flat[leader]
    return scores


def _without_values(found: HeldOut) -> HeldOut:
    return replace(found, values=np.empty((0, *found.values.shape[1:])))


def best_first(bandwidths: FloatArray, typical: float) -> IntArray:
    """Order of the bandwidths, nearest to the typical distance first.

    Examples
    --------
    >>> import numpy as np
    >>> best_first(np.array([4.0, 2.0, 1.0, 0.5]), 1.0)
    array([2, 1, 3, 0])
    """
    return np.argsort(np.abs(np.log2(bandwidths / typical)).round(6), kind="stable")


def one_hot(codes: Array, n_classes: int) -> Array:
    """Targets (n, K); a single column, the share of the second class, when K = 2."""
    if n_classes == 2:
        return codes[:, None]
    return codes[:, None] == arrays_of(codes).put(np.arange(n_classes))


@dataclass(frozen=True, eq=False)
class _Fold:
    """Places, classes and weights of the rows that a fold holds out."""

    number: int
    rows: Array
    codes: Array
    weight: Array


def _folds(codes: Array, weight: Array, out: Array) -> list[_Fold]:
    """The folds that hold out any rows."""
    places = [arrays_of(out).places(held) for held in out.T]
    return [
        _Fold(number, rows, codes[rows], weight[rows])
        for number, rows in enumerate(places)
        if len(rows)
    ]


class _Watch:
    """Follows the held-out loss of all fits, and gives up every C that is too far behind."""

    def __init__(self, race: Race, folds: list[_Fold], shape: tuple[int, int]) -> None:
        self.race, self.folds = race, folds
        self.at_work = np.ones(shape, dtype=bool)
        self.scores = np.zeros(self.at_work.shape)

    def __call__(self, progress: Progress) -> BoolArray:
        """Mark the hopeless of the problems at work."""
        n_C, n_folds = self.at_work.shape
        gain = np.zeros(n_C * n_folds)
        gain[progress.active] = progress.gain
        before, self.at_work = self.at_work, np.zeros_like(self.at_work)
        self.at_work.reshape(-1)[progress.active] = True
        column = np.full(n_C * n_folds, -1)
        column[progress.active] = np.arange(progress.active.size)
        problem = np.arange(n_C * n_folds).reshape(n_C, n_folds)
        for fold in self.folds:
            at_work = self.at_work[:, fold.number]
            just_finished = before[:, fold.number] & ~at_work
            cells = (
                (just_finished, progress.finished, problem[just_finished, fold.number]),
                (at_work, progress.values, column[problem[at_work, fold.number]]),
            )
            for which, values, columns in cells:
                if which.any():
                    part = values[fold.rows][:, arrays_of(values).put(columns)]
                    losses = neg_log_loss(part, fold.codes, fold.weight)
                    self.scores[which, fold.number] = losses
        judged = [fold.number for fold in self.folds]
        possible = (self.scores + gain.reshape(n_C, n_folds))[:, judged].mean(axis=1)
        finished = ~self.at_work.any(axis=1)
        reached = self.scores[finished][:, judged].mean(axis=1).max(initial=self.race.best)
        hopeless = possible < reached - self.race.behind
        return hopeless[progress.active // n_folds]
