"""How well each bandwidth and C does on rows that its fits have not seen.

One factor per bandwidth serves all folds and all C, which are columns of one batch. A C that has
fallen too far behind the best of the others leaves the race before its fits are done.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from unseen._arrays import arrays_of
from unseen._progress import report
from unseen._types import Array, BoolArray, FloatArray, IntArray
from unseen.scores.kernel import PreparedRows
from unseen.scores.logistic import WATCHED, Problems, solve

# What a fold of n rows may err by, in the mean log-probability of a candidate against another's.
_SCOUT_ERROR = 0.5
# The tolerance and the most steps that rank candidates; the winner is fitted to the end.
GRID_LIMITS = 2e-2, 30
# All folds share a preconditioner, through which a fit that stops early keeps a trace of the rows
# it was not to see: with ten times this tolerance held-out labels begin to show.
SCORE_LIMITS = 2e-4, 60


def accuracy(values: FloatArray, codes: IntArray, weight: FloatArray) -> FloatArray:
    """Share of rows with the right label, for each problem of (n, problems, K) values."""
    values, codes, weight = map(arrays_of(values).host, (values, codes, weight))
    predicted = values[..., 0] > 0 if values.shape[2] == 1 else values.argmax(axis=2)
    return weight @ (predicted == codes[:, None]) / weight.sum()


def neg_log_loss(values: FloatArray, codes: IntArray, weight: FloatArray) -> FloatArray:
    """Mean log-probability of the true class, for each problem."""
    arrays = arrays_of(values)
    losses = arrays.log_losses(values, codes)
    found: FloatArray = arrays.host(-(weight @ losses) / weight.sum())
    return found


def roc_auc(values: FloatArray, codes: IntArray, weight: FloatArray) -> FloatArray:
    """Area under the ROC for each problem; the mean of one against the rest if K > 2."""
    values, codes, weight = map(arrays_of(values).host, (values, codes, weight))
    classes = [1] if values.shape[2] == 1 else range(values.shape[2])
    areas = [
        [weighted_auc(column, codes == code, weight) for column in scores.T]
        for code, scores in zip(classes, np.moveaxis(values, 2, 0), strict=True)
        if 0 < (codes == code).sum() < codes.size
    ]
    return np.mean(areas, axis=0) if areas else np.full(values.shape[1], 0.5)


def weighted_auc(scores: FloatArray, positive: BoolArray, weight: FloatArray) -> float:
    """Probability that a positive row outscores a negative one; ties count one half."""
    _, place = np.unique(scores, return_inverse=True)
    above = np.bincount(place, weight * positive)
    below = np.bincount(place, weight * ~positive)
    wins = above @ (np.cumsum(below) - below / 2)
    return float(wins / max(above.sum() * below.sum(), np.finfo(float).tiny))


SCORINGS = {"accuracy": accuracy, "roc_auc": roc_auc, "neg_log_loss": neg_log_loss}


@dataclass(frozen=True)
class Race:
    """When a C is given up: its mean held-out log-probability is ``behind`` below the best."""

    behind: float
    best: float = -np.inf  # of the candidates so far, at other bandwidths
    # From the first step on; fits of several classes may still gain much more there than they show.
    early: bool = False

    @property
    def least(self) -> float:
        """The least score of a candidate that is not given up."""
        return self.best - self.behind

    def after(self, *scores: FloatArray) -> Race:
        """The race once other candidates have these scores."""
        return replace(self, best=max([self.best, *(one.max() for one in scores)]))


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What the fits at one bandwidth say of rows that they have not seen.

    ``values`` (n, Cs, K) are out of fold, on the device of the rows, and within ``error`` (Cs,) of
    those of the exact fits, unless the C was given up. ``scores`` (Cs,) are means over folds.
    """

    values: Array
    scores: FloatArray
    error: FloatArray


@dataclass(frozen=True, eq=False)
class Grid:
    """Values of C to be tried on rows, in all folds at once, and how they are judged.

    ``masks`` (n, folds) are 1 where a fold trains on the row, 0 where the row is held out, -1 where
    neither; ``limits`` are the tolerance and the most steps of the fits.
    """

    rows: PreparedRows
    codes: IntArray  # (n,), class of each row
    C_values: FloatArray  # (Cs,)
    masks: FloatArray
    scoring: str = "neg_log_loss"  # a key of SCORINGS
    limits: tuple[float, int] = GRID_LIMITS

    def held_out(self, bandwidth: float, race: Race | None = None) -> HeldOut:
        """Fit all folds at one bandwidth, and score each row by the fit that has not seen it.

        Every C that falls behind in the race is given up, where the scoring is "neg_log_loss".
        """
        factor, arrays, n_folds = self.rows.factor(bandwidth), self.rows.arrays, self.masks.shape[1]
        masks, codes, weight = map(arrays.put, (self.masks, self.codes, self.rows.weight))
        cells = Problems(
            np.repeat(self.C_values, n_folds),
            np.tile(np.arange(n_folds), self.C_values.size),
            (masks == 1) * weight[:, None],
            one_hot(codes, int(codes.max()) + 1)[:, None],
        )
        out, shape = (masks == 0) & (weight > 0)[:, None], (self.C_values.size, n_folds)
        places = {fold: arrays.xp.where(held)[0] for fold, held in enumerate(out.T)}
        places = {fold: rows for fold, rows in places.items() if len(rows)}
        watch, watched = None, WATCHED
        if race is not None and self.scoring == "neg_log_loss":
            watch = _Watch(race, places, codes, weight, np.ones(shape, dtype=bool), np.zeros(shape))
            watched = (1, 2, 3, *WATCHED) if race.early else WATCHED
        tol, max_iter = self.limits
        found = solve(factor, cells, tol=tol, max_iter=max_iter, watch=watch, watched=watched)
        values = out_of_fold_values(found.values.reshape(len(codes), *shape, -1), out)
        score = SCORINGS[self.scoring]
        scores = [score(values[rows], codes[rows], weight[rows]) for rows in places.values()]
        mean = np.mean(scores, axis=0) if scores else np.zeros(self.C_values.size)
        return HeldOut(values, mean, found.error.reshape(shape).max(axis=1))

    def raced(
        self, bandwidths: FloatArray, race: Race, *, keep_values: bool = True
    ) -> list[HeldOut]:
        """Held-out answers at every bandwidth; a C that falls too far behind is given up.

        Bandwidths, widest first, race from the typical distance outwards, on either side by
        themselves. Where every C was given up, bandwidths further out are not tried, and have the
        same answers.
        """
        masks, codes, weight = map(self.rows.arrays.put, (self.masks, self.codes, self.rows.weight))
        there = replace(self, rows=replace(self.rows, weight=weight), codes=codes, masks=masks)
        by_loss, n_tried = self.scoring == "neg_log_loss", count(1)

        def outwards(places: range, race: Race, last: HeldOut | None = None) -> list[HeldOut]:
            found = list[HeldOut]()
            for place in places:
                if last is None or not by_loss or last.scores.max() >= race.least:
                    last = there.held_out(bandwidths[place], race)
                    if not keep_values:
                        last = replace(last, values=np.empty(0))
                    race = race.after(last.scores)
                    report(next(n_tried) / len(bandwidths))
                found.append(last)
            return found

        middle = int(_best_first(bandwidths, self.rows.median)[0])
        (typical,) = outwards(range(middle, middle + 1), race)
        race = race.after(typical.scores)
        sides = range(middle - 1, -1, -1), range(middle + 1, len(bandwidths))
        wider, narrower = self.rows.side_by_side(
            lambda places: outwards(places, race, typical), sides
        )
        report(1.0)
        return [*reversed(wider), typical, *narrower]

    def scouted(self, bandwidths: FloatArray, race: Race) -> FloatArray:
        """Mean held-out scores of bandwidths and Cs, (bandwidths, Cs), as :meth:`raced` has them.

        The first fold scouts: the others are asked of the candidates alone that may still win. The
        rest stay as far behind the leader as they were then.
        """
        n_out = ((self.masks == 0) & (self.rows.weight > 0)[:, None]).sum(axis=0)
        n_judged = np.count_nonzero(n_out)
        if self.scoring != "neg_log_loss" or n_judged < 2:
            return np.array([one.scores for one in self.raced(bandwidths, race)])
        first = int(np.argmax(n_out > 0))
        slack = replace(race, behind=race.behind + _SCOUT_ERROR / np.sqrt(n_out[first]))
        scout = replace(self, masks=self.masks[:, [first]])
        # Values of many classes at all bandwidths would take much memory.
        found = scout.raced(bandwidths, slack, keep_values=False)
        scores = np.array([one.scores for one in found])
        then, alive = scores.copy(), scores >= slack.after(scores).least
        others = np.delete(self.masks, first, axis=1)

        def ask(place: int, race: Race) -> FloatArray:
            some = alive[place]
            rest = replace(self, C_values=self.C_values[some], masks=others)
            by_others = rest.held_out(bandwidths[place], race).scores
            scores[place, some] += (by_others - scores[place, some]) * (1 - 1 / n_judged)
            return by_others

        asked = [one for one in _best_first(bandwidths, self.rows.median) if alive[one].any()]
        if asked:
            race = race.after(ask(asked[0], race))
            self.rows.side_by_side(lambda place: ask(place, race), asked[1:])
        if alive.any():
            leader = np.argmax(np.where(alive, scores, -np.inf))
            scores[~alive] += scores.flat[leader] - then.flat[leader]
        return scores


def out_of_fold_values(by_fold: Array, out: Array) -> Array:
    """Values (n, Cs, K) by the fold that holds a row ``out`` (n, folds), of those by all folds."""
    arrays = arrays_of(by_fold)
    values = arrays.zeros(by_fold[:, :, 0].shape) + np.nan
    for fold in range(out.shape[1]):
        held = out[:, fold]
        values[held] = arrays.put(by_fold[held, :, fold], np.float64)
    return values


def _best_first(bandwidths: FloatArray, typical: float) -> IntArray:
    """Order of the bandwidths, nearest to the typical distance first."""
    return np.argsort(np.abs(np.log2(bandwidths / typical)).round(6), kind="stable")


def one_hot(codes: Array, n_classes: int) -> Array:
    """Targets (n, K); a single column, the share of the second class, when K = 2."""
    if n_classes == 2:
        return codes[:, None]
    return codes[:, None] == arrays_of(codes).put(np.arange(n_classes))


@dataclass(eq=False)
class _Watch:
    """Follows the held-out loss of all fits, and gives up every C that is too far behind."""

    race: Race
    places: dict[int, Array]  # of the rows that each fold holds out
    codes: Array
    weight: Array
    at_work: BoolArray  # (Cs, folds)
    scores: FloatArray  # (Cs, folds)

    def __call__(
        self, active: IntArray, at_work: Array, gains: FloatArray, finished: Array
    ) -> BoolArray:
        """Mark the hopeless of the problems at work."""
        before, self.at_work = self.at_work, np.zeros_like(self.at_work)
        self.at_work.flat[active] = True
        gain, n_folds = np.zeros(self.scores.shape), self.scores.shape[1]
        gain.flat[active] = gains
        just_finished = np.flatnonzero(before & ~self.at_work)
        for problems, columns, values in (
            (just_finished, just_finished, finished),
            (active, np.arange(active.size), at_work),
        ):
            for fold, rows in self.places.items():
                own = problems % n_folds == fold
                if own.any():
                    part = values[rows[:, None], arrays_of(values).put(columns[own])]
                    losses = neg_log_loss(part, self.codes[rows], self.weight[rows])
                    self.scores.flat[problems[own]] = losses
        judged = list(self.places)
        possible = (self.scores + gain)[:, judged].mean(axis=1)
        done = ~self.at_work.any(axis=1)
        reached = self.scores[done][:, judged].mean(axis=1).max(initial=self.race.best)
        hopeless = possible < reached - self.race.behind
        return hopeless[active // n_folds]
