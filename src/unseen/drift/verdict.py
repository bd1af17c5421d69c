"""The record of drift: a verdict, how much must be new, and what moved.

docs/drift.md says what a verdict means and what it does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from unseen._frozen import Frozen
from unseen._types import FloatArray
from unseen._wording import NO_SHARE, listed, short_share, shown
from unseen.drift.tolerance import Tolerance
from unseen.records import Estimate, Notice

__all__ = ["Drift", "LaidBack", "Verdict", "Without", "few_columns", "with_drift"]

Verdict = Literal["still", "moved", "unclear"]

HARDLY_ANY = 0.8  # share of rows unlike training from which on hardly any is like it
MOST_COLUMNS = 20
# Columns that moved at least so far as this part of the farthest may be left out, if they are at
# most so large a part of all, and the farthest moved by so many deviations: a smaller move of a few
# columns is not what makes rows look unlike training, and another estimate would cost its time.
_AS_FAR, _FEW, _WORTH_LEAVING_OUT = 0.5, 1 / 3, 0.25
_FACTORS = (1.0, 2.0, 3.0, 5.0)
_SAID_FACTOR = 3.0
_MOST_NAMED, _LONGEST_NAME = 3, 25  # short enough for a headline


@dataclass(frozen=True, eq=False)
class Without(Frozen):
    """The answer without the few columns that moved most, or that hold stray values."""

    columns: tuple[Any, ...]  # names or numbers of the columns that were left out
    unseen: float
    verdict: Verdict  # whether known classes look as in training without them
    proportions: tuple[float, ...] = ()  # share of each known class

    @property
    def sentence(self) -> str:
        """The sentence for an estimate that has these shares."""
        return (
            f" Without {_columns_named(self.columns)} nothing seems to have moved, and "
            f"{_look_unseen(self.unseen)}: the shares are those of the other columns."
        )

    @property
    def shares_are(self) -> str:
        """Which shares these are, after "the shares are those"."""
        return f"without {_columns_named(self.columns)}"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain types, ready for JSON."""
        columns = [str(name) for name in self.columns]
        return {**vars(self), "columns": columns, "proportions": list(self.proportions)}


@dataclass(frozen=True, eq=False)
class LaidBack(Frozen):
    """The answer once a shift and a factor of each column are taken off the new rows."""

    shift: float  # root mean square of the shifts over columns, in standard deviations
    unseen: float
    verdict: Verdict  # whether known classes then look as in training
    proportions: tuple[float, ...] = ()  # share of each known class

    @property
    def sentence(self) -> str:
        """The sentence for an estimate that has these shares."""
        return (
            " Once a shift and a factor are taken off each column, nothing seems to have moved, "
            f"and {_look_unseen(self.unseen)}: the shares are those of the rows so corrected."
        )

    @property
    def shares_are(self) -> str:
        """Which shares these are, after "the shares are those"."""
        return "of the rows once a shift and a factor are taken off each column"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain types, ready for JSON."""
        return {**vars(self), "proportions": list(self.proportions)}


def _look_unseen(unseen: float) -> str:
    return f"{'no row' if unseen < NO_SHARE else short_share(unseen)} looks unseen"


def _columns_named(columns: Sequence[Any]) -> str:
    """The first few columns by name or number."""
    named = listed([shown(str(one), _LONGEST_NAME) for one in columns], _MOST_NAMED)
    return f"column{'s' * (len(columns) > 1)} {named}"


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
    moved_class : class label or None
        The class that moved alone, if any did: hardly any row lies where its rows lay, and the
        rows that look most like it look new. None where nothing speaks for one class.
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
    moved_class: Any = None
    as_class: bool = False

    def must(self, factor: float = 1.0) -> float:
        """Share that must be unseen, with 95% confidence; 0 where nothing is sure.

        The share holds if no kind of known row became more than ``factor`` times as common. It is 0
        where the shares are of other columns, or of rows laid back: what was left out, or taken
        off, made rows that did not exist before.
        """
        return 0.0 if self.answered is not None else self.tolerance.must(factor)

    @property
    def gamma(self) -> float:
        """Factor up to which something must be unseen; 0 if nothing must be even at factor 1."""
        return 0.0 if self.answered is not None else self.tolerance.gamma

    @property
    def answered(self) -> Without | LaidBack | None:
        """The answer that the shares are of, if nothing seems to have moved there."""
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

        ``interval`` (2,) holds the lower and upper end of the unseen share, if there are any.
        """
        # The closed hypothesis may claim that no row looks unlike training.
        some = "Some" if self.unlike < NO_SHARE else f"About {short_share(self.unlike)}"
        range_ = ""
        if interval is not None:
            range_ = "Between {} and {} may be new.".format(*map(short_share, interval))
        again = "" if self.answered is None else self.answered.sentence
        if self.verdict == "unclear":
            moved = "known classes have moved"
            if self.moved_class is not None:
                moved = f"class {self._class_named} alone has moved"
            return (
                f"{some} of the new rows look unlike training. Whether they are of new classes, or "
                f"{moved}, is unclear.{range_ and f' {range_}'}{again}"
            )
        how_many = f"{some} of the new rows do not look as rows did"
        if self.unlike > HARDLY_ANY:
            how_many = "Hardly any new row looks as rows did"
        farthest = [name for name, _ in self.columns]
        where = f", mostly in {_columns_named(farthest)}" if farthest else ""
        return (
            f"{how_many} in training: the known classes have moved{where}; this is what a changed "
            f"sensor, unit, preprocessing or population looks like. {self._what_is_new(range_)}"
            f"{again}"
        )

    def _what_is_new(self, range_: str) -> str:
        if self.far:
            return "They have moved too far to tell whether anything is new."
        least = self.must(_SAID_FACTOR)
        if least > NO_SHARE:
            return (
                f"If no kind of row became more than {_SAID_FACTOR:g} times as common, at least "
                f"{short_share(least)} is new even so."
            )
        return range_ or "Whether any row is of a new class cannot be told."

    @property
    def _class_named(self) -> str:
        return shown(str(self.moved_class), _LONGEST_NAME)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Notices for people; none where the verdict is "still"."""
        if self.verdict == "still":
            return ()
        found = []
        if self.stray >= NO_SHARE:
            text = (
                f"{short_share(self.stray)} of the new rows hold odd values in "
                f"{_columns_named(self.stray_columns)}: a code for a missing value, a fault or "
                "another unit looks like a new class."
            )
            found.append(Notice("stray_values", text))
        elif self.part >= NO_SHARE:
            text = (
                f"{short_share(self.part)} of the new rows look like the others once a shift and "
                "a factor are taken off, as rows of another instrument, site or unit do. If a "
                "column tells the two apart, ask about each alone."
            )
            found.append(Notice("part_moved", text))
        elif self.moved_class is not None:
            text = (
                f"Hardly any new row lies where class {self._class_named} lay in training, and the "
                "rows that look most like it look new: the class may have changed, or a new one "
                "come in its place. Look at some of these rows."
            )
            found.append(Notice("class_moved", text))
        if self.verdict == "moved":
            shares = "none of their shares can be told" if self.far else "the shares allow for this"
            if self.answered is not None:
                shares = f"the shares are those {self.answered.shares_are}"
            text = (
                f"The known classes seem to have moved: {shares}, and a rule that was learnt from "
                "the labelled rows takes moved rows for new ones, unless it takes the move off."
            )
            return (*found, Notice("moved", text))
        taken = "The shares take them for new ones, as they lie as far off as another class. "
        text = (
            "Rows look unlike training, and it is unclear whether they are of new classes or "
            f"known classes have moved. {taken if self.as_class else ''}"
            "A batch that is known to hold nothing new would tell."
        )
        return (*found, Notice("moved_unclear", text))

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
            "moved_class": None if self.moved_class is None else str(self.moved_class),
            "as_class": self.as_class,
        }


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
    most = min(_FEW * n_columns, MOST_COLUMNS - 1)
    if 0 < len(drift.stray_columns) <= most:
        return drift.stray_columns
    farthest = max((abs(shift) for _, shift in drift.columns), default=0.0)
    if farthest < _WORTH_LEAVING_OUT:
        return ()
    chosen = tuple(name for name, shift in drift.columns if abs(shift) >= _AS_FAR * farthest)
    return chosen if len(chosen) <= most else ()


def with_drift(estimate: Estimate, drift: Drift) -> Estimate:
    """An estimate of a method that takes known classes for unmoved, with a verdict on drift.

    Where classes have moved, or may have, rows that it calls unseen may be of any known class: the
    interval of the unseen share begins at 0, and those of the known shares end higher by it.

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
