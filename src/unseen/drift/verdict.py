"""The record of drift: a verdict, how much must be new, and what moved.

docs/drift.md says what a verdict means and what it does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unseen._frozen import Frozen
from unseen._types import FloatArray
from unseen._wording import NO_SHARE, short_share
from unseen.drift.again import LaidBack, Verdict, Without, columns_named
from unseen.drift.tolerance import Tolerance, certified_tolerance
from unseen.records import Estimate, Notice
from unseen.scores.moves import Moves
from unseen.scores.open import OpenScores

__all__ = ["Drift", "drift_record", "few_columns", "with_drift"]

# Probabilities of moved above which the verdict is "moved" and "unclear": chosen on development
# sets, where 2 of 108 problems without drift were called moved.
_MOVED, _UNCLEAR = 0.8, 0.2
_FAR = 0.5
# Departure, in standard deviations, below which one known class may be said to have moved: most
# offsets of .1 lie below, and a new class of 30% or more beyond, in nine of ten development cases.
_SMALL_MOVE = 0.13
# Departure, in units of how far classes lie apart, from which on hardly any row being like training
# may as well mean that all rows are of new classes.
_AS_A_CLASS = 0.8
# Where moved is not sure, rows that depart as far as classes lie apart are taken for a class.
_AS_ALL_NEW = 1.0
# A column is named from so many standard errors and deviations on.
_ERRORS, _LEAST_SHIFT, _MOST_COLUMNS = 4.0, 0.02, 20
# Columns that moved at least so far as this part of the farthest may be left out, if they are at
# most so large a part of all, and the farthest moved by so many deviations: a smaller move of a few
# columns is not what makes rows look unlike training, and another estimate would cost its time.
_AS_FAR, _FEW, _WORTH_LEAVING_OUT = 0.5, 1 / 3, 0.25
_HARDLY_ANY = 0.8  # share of rows unlike training from which on hardly any is like it
_FACTORS = (1.0, 2.0, 3.0, 5.0)
_SAID_FACTOR = 3.0
_SAID_ODDS = 3.0  # log-odds from which on rows are said to have moved together


@dataclass(frozen=True, eq=False)
class Drift(Frozen):
    """Whether known classes have moved, and how much must be new even so.

    Parameters
    ----------
    verdict : {"still", "moved", "unclear"}
        Known classes look as in training; they have moved; or the data cannot tell.
    probability_moved : float
        Probability of "moved". Below 0.2 the number understates small drifts that change little.
    tolerance : Tolerance
        Certified limits behind :meth:`must` and :attr:`gamma`, by distances to labelled rows.
    unlike : float
        Share of the rows that look unlike training; if no class moved, this share is unseen.
    far : bool, default=False
        Whether classes moved too far to tell what is new: nothing is said of the unseen share.
    columns : tuple of (name or number, float)
        Columns whose rows moved most, with the shift in standard deviations of the column.
    displacement : mapping
        By class, the root mean square shift over columns, noise taken off; None where too few new
        rows look like the class.
    stray : float, default=0.0
        Share of the new rows that hold a code, such as -999, or a value in another unit.
    stray_columns : tuple
        Names or numbers of the columns with such values.
    part : float, default=0.0
        Share of the new rows that look unlike training, and like the other new rows once a shift
        and a factor are taken off: rows of another instrument. 0 where nothing speaks for this.
    without : Without or None
        The answer without the few columns in which known classes may have moved; None where no such
        columns were found.
    laid_back : LaidBack or None
        The answer once a shift and a factor of each column are taken off; None where the question
        was not asked again in this way.
    as_class : bool, default=False
        Whether, under "unclear", hardly any row looks like training, and rows lie as far off as
        those of another class: the shares are then those if no class moved.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.drift import Drift, Tolerance
    >>> limits = Tolerance(np.array([0.02]), np.array([0.1]))
    >>> drift = Drift("moved", 0.97, limits, 0.98, columns=(("s3", 0.4),))
    >>> round(drift.must(3.0), 3), drift.gamma
    (0.043, 5.0)
    >>> print(drift.sentence(None))  # doctest: +NORMALIZE_WHITESPACE
    Hardly any new row looks as rows did in training: the known classes have moved, mostly in
    column s3; this is what a changed sensor, unit, preprocessing or population looks like. If no
    kind of row became more than 3 times as common, at least 4.3% is new even so.
    """

    verdict: Verdict
    probability_moved: float
    tolerance: Tolerance
    unlike: float
    far: bool = False
    columns: tuple[tuple[Any, float], ...] = ()
    displacement: dict[Any, float | None] = field(default_factory=dict)
    stray: float = 0.0
    stray_columns: tuple[Any, ...] = ()
    part: float = 0.0
    without: Without | None = None
    laid_back: LaidBack | None = None
    as_class: bool = False

    def must(self, factor: float = 1.0) -> float:
        """Share that must be unseen, with 95% confidence; 0 where nothing is sure.

        The share holds if no kind of known row became more than ``factor`` times as common.
        """
        return self.tolerance.must(factor)

    @property
    def gamma(self) -> float:
        """Factor up to which something must be unseen; 0 if nothing must be even at factor 1."""
        return self.tolerance.gamma

    @property
    def answered(self) -> Without | LaidBack | None:
        """The answer whose shares are those of the estimate; None where these are of all rows.

        Nothing seems to have moved there.
        """
        again = self.without, self.laid_back
        return next((one for one in again if one is not None and one.verdict == "still"), None)

    def named(self, names: Sequence[Any]) -> Drift:
        """The record with names of columns in place of their numbers.

        Examples
        --------
        >>> import numpy as np
        >>> from unseen.drift import Drift, Tolerance
        >>> limits = Tolerance(np.zeros(0), np.zeros(0))
        >>> Drift("moved", 0.97, limits, 0.98, columns=((1, 0.4),)).named(["s2", "s3"]).columns
        (('s3', 0.4),)
        """
        columns = tuple((names[place], shift) for place, shift in self.columns)
        stray = tuple(names[place] for place in self.stray_columns)
        without = self.without
        if without is not None:
            without = replace(without, columns=tuple(names[place] for place in without.columns))
        return replace(self, columns=columns, stray_columns=stray, without=without)

    def sentence(self, interval: FloatArray | None) -> str:
        """The answer about unseen classes where the verdict is not "still".

        Parameters
        ----------
        interval : ndarray of shape (2,) or None
            Lower and upper end of the unseen share.

        Returns
        -------
        str
        """
        range_ = None if interval is None else tuple(map(short_share, interval))
        again = "" if self.answered is None else self.answered.sentence
        if self.verdict == "unclear":
            between = "" if range_ is None else f" Between {range_[0]} and {range_[1]} may be new."
            return (
                f"{self._some()} of the new rows look unlike training. Whether they are of new "
                f"classes, or known classes have moved, is unclear.{between}{again}"
            )
        farthest = [name for name, _ in self.columns]
        where = f", mostly in {columns_named(farthest)}" if farthest else ""
        return (
            f"{self._how_many()} in training: the known classes have moved{where}; this is what a "
            "changed sensor, unit, preprocessing or population looks like. "
            f"{self._what_is_new(range_)}{again}"
        )

    def _how_many(self) -> str:
        if self.unlike > _HARDLY_ANY:
            return "Hardly any new row looks as rows did"
        return f"{self._some()} of the new rows do not look as rows did"

    def _some(self) -> str:
        """How many rows look unlike training; the closed hypothesis may claim that none do."""
        return "Some" if self.unlike < NO_SHARE else f"About {short_share(self.unlike)}"

    def _what_is_new(self, interval: tuple[str, ...] | None) -> str:
        if self.far:
            return "They have moved too far to tell whether anything is new."
        least = self.must(_SAID_FACTOR)
        if least > NO_SHARE:
            return (
                f"If no kind of row became more than {_SAID_FACTOR:g} times as common, at least "
                f"{short_share(least)} is new even so."
            )
        if interval is None:
            return "Whether any row is of a new class cannot be told."
        return f"Between {interval[0]} and {interval[1]} may be new."

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Notices for people; none where the verdict is "still"."""
        if self.verdict == "still":
            return ()
        if self.stray >= NO_SHARE:
            text = (
                f"{short_share(self.stray)} of the new rows hold odd values in "
                f"{columns_named(self.stray_columns)}: a code for a missing value, a fault or "
                "another unit looks like a new class."
            )
            return (Notice("stray_values", text), *self._doubts)
        if self.part >= NO_SHARE:
            text = (
                f"{short_share(self.part)} of the new rows look like the others once a shift and "
                "a factor are taken off, as rows of another instrument, site or unit do. If a "
                "column tells the two apart, ask about each alone."
            )
            return (Notice("part_moved", text), *self._doubts)
        return self._doubts

    @property
    def _doubts(self) -> tuple[Notice, ...]:
        if self.verdict == "moved":
            shares = "none of their shares can be told" if self.far else "the shares allow for this"
            if self.answered is not None:
                shares = f"the shares are those {self.answered.shares_are}"
            text = (
                f"The known classes seem to have moved: {shares}, and a rule that was learnt from "
                "the labelled rows takes moved rows for new ones."
            )
            return (Notice("moved", text),)
        if self.verdict == "unclear":
            taken = "The shares take them for new ones, as they lie as far off as another class. "
            text = (
                "Rows look unlike training, and it is unclear whether they are of new classes or "
                f"known classes have moved. {taken if self.as_class else ''}"
                "A batch that is known to hold nothing new would tell."
            )
            return (Notice("moved_unclear", text),)
        return ()

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain types, ready for JSON."""
        return {
            "verdict": self.verdict,
            "probability_moved": self.probability_moved,
            "unlike": self.unlike,
            "far": self.far,
            "must": [{"factor": factor, "share": self.must(factor)} for factor in _FACTORS],
            "gamma": self.gamma,
            "columns": [{"column": str(name), "shift": shift} for name, shift in self.columns],
            "displacement": list(self.displacement.values()),
            "stray": self.stray,
            "stray_columns": [str(name) for name in self.stray_columns],
            "part": self.part,
            "without": None if self.without is None else self.without.to_dict(),
            "laid_back": None if self.laid_back is None else self.laid_back.to_dict(),
            "as_class": self.as_class,
        }


def drift_record(scores: OpenScores, probability_moved: float, far: float, unlike: float) -> Drift:
    """What the default found about drift.

    ``far``, from 0 to 1, says whether classes moved too far to tell; ``unlike`` is the unseen
    share, if no class moved.
    """
    verdict: Verdict = "still"
    as_classes = _as_classes(scores, far, unlike, _AS_A_CLASS)
    if probability_moved > _UNCLEAR:
        sure = probability_moved > _MOVED and not as_classes
        verdict = "moved" if sure and _can_have_moved(scores) else "unclear"
    distances = scores.ratios.distances
    tolerance = Tolerance(np.zeros(0), np.zeros(0))
    if distances is not None:
        new, labelled = distances.new[:, 0], distances.labelled[:, 0]
        tolerance = certified_tolerance(new, labelled, scores.codes)
    moved, part, stray = verdict == "moved", _part(scores.moves), _strays(scores.moves)
    unsure = _UNCLEAR < probability_moved <= _MOVED
    as_class = unsure and _as_classes(scores, far, unlike, _AS_ALL_NEW) and not (part or stray)
    return Drift(
        verdict,
        float(probability_moved),
        tolerance,
        float(unlike),
        far=moved and far > _FAR,
        columns=_moved_columns(scores.moves),
        displacement=_displacement(scores.moves, scores.classes),
        part=part,
        as_class=bool(as_class),
        **stray,
    )


def _part(moves: Moves | None) -> float:
    """Share of the new rows that moved together, where much speaks for it."""
    return moves.part.share if moves is not None and moves.part.log_odds > _SAID_ODDS else 0.0


def _can_have_moved(scores: OpenScores) -> bool:
    """Whether one known class may be said to have moved: if it moved far, another may lie there."""
    if len(scores.classes) > 1:
        return True
    away = None if scores.moves is None else scores.moves.departure
    return away is not None and away.distance < _SMALL_MOVE


def _as_classes(scores: OpenScores, far: float, unlike: float, distance: float) -> bool:
    """Whether hardly any row looks like training, and rows lie as far off as other classes.

    Where several classes moved too far to tell, the verdict says so.
    """
    away = None if scores.moves is None else scores.moves.departure
    if len(scores.classes) == 1 or away is None:
        return False
    return bool(far <= _FAR and unlike >= _HARDLY_ANY and away.distance >= distance)


def _strays(moves: Moves | None) -> dict[str, Any]:
    """Share of the new rows with stray values, and the columns by name or number."""
    if moves is None or not moves.stray.columns:
        return {}
    places = moves.stray.columns
    named = places if moves.names is None else tuple(moves.names[place] for place in places)
    return {"stray": moves.stray.share, "stray_columns": named}


def _moved_columns(moves: Moves | None) -> tuple[tuple[Any, float], ...]:
    """Columns that moved beyond noise on average over classes, the farthest first."""
    if moves is None or moves.shift is None or moves.error is None:
        return ()
    found = np.isfinite(moves.shift).all(axis=1)
    if not found.any():
        return ()
    shift = moves.shift[found].mean(axis=0)
    error = np.sqrt(np.square(moves.error[found]).sum(axis=0)) / found.sum()
    clear = np.flatnonzero(np.abs(shift) > np.maximum(_ERRORS * error, _LEAST_SHIFT))
    order = clear[np.argsort(-np.abs(shift[clear]), kind="stable")][:_MOST_COLUMNS]
    names = moves.names or range(len(shift))
    return tuple((names[column], float(shift[column])) for column in order.tolist())


def few_columns(drift: Drift, n_columns: int) -> tuple[Any, ...]:
    """The columns with stray values, or else those that moved farthest, if few of all; else none.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.drift import Drift, Tolerance
    >>> from unseen.drift.verdict import few_columns
    >>> moved = (("s3", -1.1), ("s1", 0.7), ("s2", 0.1))
    >>> drift = Drift("moved", 0.9, Tolerance(np.zeros(0), np.zeros(0)), 0.9, columns=moved)
    >>> few_columns(drift, n_columns=9), few_columns(drift, n_columns=3)
    (('s3', 's1'), ())
    """
    most = min(_FEW * n_columns, _MOST_COLUMNS - 1)
    if 0 < len(drift.stray_columns) <= most:
        return drift.stray_columns
    farthest = max((abs(shift) for _, shift in drift.columns), default=0.0)
    if farthest < _WORTH_LEAVING_OUT:
        return ()
    chosen = tuple(name for name, shift in drift.columns if abs(shift) >= _AS_FAR * farthest)
    return chosen if len(chosen) <= most else ()


def _displacement(moves: Moves | None, classes: Sequence[Any]) -> dict[Any, float | None]:
    """Root mean square shift of each class, the part that noise explains taken off."""
    if moves is None or moves.shift is None or moves.error is None:
        return dict.fromkeys(classes)
    square = (np.square(moves.shift) - np.square(moves.error)).mean(axis=1)
    found = [None if np.isnan(value) else float(np.sqrt(max(value, 0.0))) for value in square]
    return dict(zip(classes, found, strict=True))


def with_drift(estimate: Estimate, drift: Drift) -> Estimate:
    """An estimate of a method that takes known classes for unmoved, with a verdict on drift.

    Where classes have moved, or may have, rows that such a method calls unseen may be of any known
    class: the interval of the unseen share begins at 0, and those of the known shares end higher
    by that share.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.drift import Drift, Tolerance, with_drift
    >>> from unseen.records import Estimate
    >>> estimate = Estimate(("cat",), [0.1], 0.9, "m", intervals=[[0.0, 0.2], [0.8, 1.0]],
    ...                     n_labelled={"cat": 80}, n_new=400)
    >>> drift = Drift("moved", 0.97, Tolerance(np.zeros(0), np.zeros(0)), 0.9)
    >>> with_drift(estimate, drift).intervals
    array([[0., 1.],
           [0., 1.]])
    """
    limits = estimate.intervals
    if limits is not None and drift.verdict != "still":
        wider = limits + np.array([0.0, estimate.unseen])
        wider[-1] = 0.0, limits[-1, 1]
        limits = np.tile([0.0, 1.0], (len(limits), 1)) if drift.far else np.clip(wider, 0.0, 1.0)
    text = (
        f"{estimate.method} assumes that no class moved and calls moved rows unseen; "
        "OpenSetEstimator finds that they have moved, or may have."
    )
    doubts = tuple(
        notice if notice.code == "stray_values" else replace(notice, text=text)
        for notice in drift.notices
    )
    return replace(estimate, drift=drift, intervals=limits, notices=(*estimate.notices, *doubts))
