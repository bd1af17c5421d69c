"""The records that the library hands back, and the small protocol behind them.

A record is frozen, holds no raw rows, and knows how to print itself. Nothing here computes
an estimate; nothing here draws a picture.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from unseen._frozen import Frozen, plain
from unseen._optional import needed
from unseen._types import FloatArray
from unseen._version import library_versions
from unseen._wording import NO_SHARE, NOT_SEEN, html_table, text_table, unseen_sentence

if TYPE_CHECKING:
    from unseen.drift import Control, Drift, HeldOut


class UnseenWarning(UserWarning):
    """Warns that the data look wrong in a way that the user must know about, such as a leak.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import unseen
    >>> X, y = np.random.default_rng(0).normal(size=(60, 2)), ["left", "right"] * 30
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always", unseen.UnseenWarning)
    ...     estimate = unseen.estimate(X, y, X, random_state=0)
    >>> seen[0].category.__name__
    'UnseenWarning'
    """


class Tabled(Frozen):
    """Base of records that print as a table, in a notebook too."""

    def _table(self) -> tuple[list[list[str]], list[str]]:
        """Header and rows, as text, and the lines below."""
        raise NotImplementedError

    def __str__(self) -> str:
        return text_table(*self._table())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_table(*self._table())


@dataclass(frozen=True)
class Notice:
    """Something that a person should know before trusting a number.

    A program looks at ``code``, a person reads ``text``. ``docs/notices.md`` lists the codes.

    Parameters
    ----------
    code : str
        The kind of notice, such as ``"constant_columns"``, which does not change with the wording.
    text : str
        One plain sentence or two.
    severity : {"note", "warning"}, default="warning"
        A warning bears on the answer; a note says what was done.
    about : label, column name or None, default=None
        The class or column that the notice is about, where there is one.

    Examples
    --------
    >>> from unseen.records import Notice
    >>> notice = Notice("few_rows", "class 'cat': 9 labelled rows are few.", about="cat")
    >>> print(notice)
    warning: class 'cat': 9 labelled rows are few.
    """

    code: str
    text: str
    severity: Literal["note", "warning"] = "warning"
    about: Any = None

    def __str__(self) -> str:
        return f"{self.severity}: {self.text}"

    def to_dict(self) -> dict[str, Any]:
        """The notice in plain types, ready for JSON."""
        found: dict[str, Any] = plain(vars(self))
        return found


@dataclass(frozen=True, eq=False)
class RocEvidence(Frozen):
    """The empirical ROC of one pair (F against H) and the slope read off its right end.

    Parameters
    ----------
    false_alarm, detection : ndarray
        Vertices of the empirical ROC, thinned to at most a few hundred.
    right_slope : float
        Slope at the right end: the mixture proportion before any clipping or projection.
    n_new, n_labelled : int
        Rows of F and of H behind the curve.
    parameters : mapping
        Parameters of the fitted curve by the paper's names; empty where no curve was fitted.
    thresholds : ndarray or None
        The score at each vertex, falling: between two neighbours lie the scores of the rows that
        are counted between these vertices. None where the scores were not kept.

    Examples
    --------
    >>> from unseen.records import RocEvidence
    >>> evidence = RocEvidence([0.0, 0.0, 1.0], [0.0, 0.3, 1.0], 0.7, n_new=400, n_labelled=170)
    >>> evidence.right_slope
    0.7
    """

    false_alarm: FloatArray
    detection: FloatArray
    right_slope: float
    n_new: int
    n_labelled: int
    parameters: Mapping[str, float] = field(default_factory=dict)
    thresholds: FloatArray | None = None

    _array_types: ClassVar = dict.fromkeys(("false_alarm", "detection", "thresholds"), np.float64)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.thresholds is not None and self.thresholds.shape != self.false_alarm.shape:
            raise ValueError(
                f"thresholds must have shape {self.false_alarm.shape}; got {self.thresholds.shape}."
            )


@dataclass(frozen=True, eq=False)
class MixtureEstimate(Frozen):
    """Estimate of ν in ``F = (1 - ν) G + ν H``, Eq. (3).

    Parameters
    ----------
    proportion : float
        The estimate, in [0, 1].
    method : str
        Name of the estimator.
    roc : RocEvidence or None
        The ROC behind the estimate, where the method has one.
    notices : tuple of Notice
        Facts that a person should know before trusting the number.

    Examples
    --------
    >>> from unseen.records import MixtureEstimate
    >>> print(MixtureEstimate(0.25, "ROCSlope"))
    0.250 of the new rows look like the labelled sample (ROCSlope)
    """

    proportion: float
    method: str
    roc: RocEvidence | None = None
    notices: tuple[Notice, ...] = ()

    def __str__(self) -> str:
        answer = f"{self.proportion:.3f} of the new rows look like the labelled sample"
        return "\n".join([f"{answer} ({self.method})", *map(str, self.notices)])


@dataclass(frozen=True)
class UpperBound:
    """A bound on ν* that holds with probability at least ``1 - delta``; not an estimate.

    Parameters
    ----------
    upper : float
        ν* is at most this, with probability at least ``1 - delta``.
    delta : float
        The probability of error that was allowed.
    form : str
        The inequality behind the bound: ``"vc"``, ``"dkw"`` or ``"clopper-pearson"``.
    vacuous : bool
        True when ``upper`` is 1, so that the bound says nothing at this sample size.

    Examples
    --------
    >>> from unseen.records import UpperBound
    >>> print(UpperBound(0.31, 0.05, "dkw", False))
    at most 0.310 with probability >= 0.95 (dkw)
    """

    upper: float
    delta: float
    form: str
    vacuous: bool

    def __str__(self) -> str:
        if self.vacuous:
            return f"says nothing at this sample size: the bound is 1 ({self.form})"
        return f"at most {self.upper:.3f} with probability >= {1 - self.delta:g} ({self.form})"


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Tabled):
    """Shares of the known classes in new rows, and the share of unseen classes.

    Parameters
    ----------
    classes : tuple
        Labels of the known classes, sorted.
    proportions : ndarray of shape (K,)
        Share of each known class, in the order of ``classes``; sums to at most 1.
    unseen : float
        Share of rows from classes that training never saw.
    method : str
        Name of the estimator.
    n_labelled : mapping
        Labelled rows of each class.
    n_new : int
        New rows.
    intervals : ndarray of shape (K + 1, 2) or None
        Lower and upper ends, for each class and then for unseen.
    confidence : float or None
        Level of the intervals.
    sees_unseen : bool
        Whether the method could have found unseen classes; a closed-set method cannot.
    unseen_certified : float or None
        A lower bound on the unseen share that holds whatever the classes look like, if the known
        ones did not change.
    roc : mapping
        The ROC evidence of each class, for plots.
    pooled : RocEvidence or None
        The ROC of the new rows against all known classes together, in the estimated shares; its
        slope at the right end is the share of all known classes.
    diagnostics : mapping
        Numbers by which the estimate can be judged; plain types.
    notices : tuple of Notice
        Facts that a person should know before trusting the numbers.
    seed : int or None
        Seed that, as ``random_state``, gives the same estimate again.
    versions : mapping
        Versions of this library and of the libraries under it.
    drift : Drift or None
        Whether known classes have moved, where the method asks: docs/drift.md.
    control : Control or None
        The unseen share that training alone would claim of the control, where a control was given.
    held_out : HeldOut or None
        Unseen shares that are claimed of held-out groups of labelled rows, where groups were given.
    detection_limit : float or None
        The smallest unseen share that would have been found 4 times in 5, if the unseen class were
        as different from the known ones as they are from each other. None with one known class, and
        where no share would have been found.

    Examples
    --------
    >>> from unseen.records import Estimate
    >>> estimate = Estimate(("cat", "dog"), [0.5, 0.2], 0.3, "MPEIncomplete",
    ...                     n_labelled={"cat": 80, "dog": 90}, n_new=400)
    >>> print(estimate)
    class   share  labelled rows
    cat     0.500             80
    dog     0.200             90
    unseen  0.300              -
    MPEIncomplete, 400 new rows
    >>> float(estimate["cat"])
    0.5
    """

    classes: tuple[Any, ...]
    proportions: FloatArray
    unseen: float
    method: str
    n_labelled: Mapping[Any, int]
    n_new: int
    intervals: FloatArray | None = None
    confidence: float | None = None
    sees_unseen: bool = True
    unseen_certified: float | None = None
    roc: Mapping[Any, RocEvidence] = field(default_factory=dict)
    pooled: RocEvidence | None = None
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()
    seed: int | None = None
    versions: Mapping[str, str] = field(default_factory=library_versions)
    drift: Drift | None = None
    control: Control | None = None
    held_out: HeldOut | None = None
    detection_limit: float | None = None

    _array_types: ClassVar = dict.fromkeys(("proportions", "intervals"), np.float64)

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", tuple(plain(label) for label in self.classes))
        super().__post_init__()
        n_classes = len(self.classes)
        for name, shape in (("proportions", (n_classes,)), ("intervals", (n_classes + 1, 2))):
            array = getattr(self, name)
            if array is not None and array.shape != shape:
                raise ValueError(f"{name} must have shape {shape}; got {array.shape}.")

    def __getitem__(self, label: Any) -> float:
        """Share of one known class."""
        if label not in self.classes:
            known = ", ".join(map(repr, self.classes))
            raise KeyError(f"no class {label!r}; the known classes are {known}.")
        return float(self.proportions[self.classes.index(label)])

    @property
    def is_in_doubt(self) -> bool:
        """Whether the known classes have moved, or may have: docs/drift.md."""
        return self.drift is not None and self.drift.verdict != "still"

    @property
    def has_moved_far(self) -> bool:
        """Whether the known classes have moved too far to tell whether anything is unseen."""
        return self.drift is not None and self.drift.far

    @property
    def may_be_moved(self) -> bool:
        """Whether unseen rows may be known ones that moved: by the verdict, or by their values.

        In some column most new rows lie out of range, or many have a category that training lacks.
        """
        severe = {notice.code for notice in self.notices if notice.severity == "warning"}
        out = not severe.isdisjoint({"column_out_of_range", "new_category"})
        return self.is_in_doubt or (out and self.unseen >= NO_SHARE)

    def sentence(self) -> str:
        """The answer about unseen classes in plain words, and what a control or groups add to it.

        Examples
        --------
        >>> from unseen.records import Estimate
        >>> Estimate(("cat",), [0.7], 0.3, "m", intervals=[[0.65, 0.75], [0.25, 0.35]],
        ...          n_labelled={"cat": 80}, n_new=400).sentence()
        'About 30% of the new rows (25% to 35%) come from classes that training never saw.'
        """
        ends = None if self.intervals is None else self.intervals[-1]
        if not self.sees_unseen:
            answer = (
                f"{self.method} cannot see unseen classes: it takes every new row for one of a "
                "known class."
            )
        elif self.drift is not None and self.is_in_doubt:
            answer = self.drift.sentence(ends)
        else:
            probability = self.diagnostics.get("probability_unseen")
            limit = self.detection_limit
            answer = unseen_sentence(self.unseen, ends, probability, limit, self.may_be_moved)
        beside = [one.sentence() for one in (self.control, self.held_out) if one is not None]
        return " ".join([answer, *beside])

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain types, ready for JSON; ``format`` counts changes of layout."""
        return {
            "format": 2,
            "method": self.method,
            "classes": list(self.classes),
            "proportions": self.proportions.tolist(),
            "unseen": float(self.unseen),
            "intervals": plain(self.intervals),
            "confidence": plain(self.confidence),
            "sees_unseen": self.sees_unseen,
            "unseen_certified": plain(self.unseen_certified),
            "detection_limit": plain(self.detection_limit),
            "n_labelled": [int(self.n_labelled[label]) for label in self.classes],
            "n_new": int(self.n_new),
            "roc": [
                {"class": label, **plain(vars(self.roc[label]))}
                for label in self.classes
                if label in self.roc
            ],
            "pooled": None if self.pooled is None else plain(vars(self.pooled)),
            "diagnostics": plain(self.diagnostics),
            "drift": None if self.drift is None else self.drift.to_dict(),
            "control": None if self.control is None else self.control.to_dict(),
            "held_out": None if self.held_out is None else self.held_out.to_dict(),
            "notices": [notice.to_dict() for notice in self.notices],
            "seed": plain(self.seed),
            "versions": dict(self.versions),
        }

    def to_frame(self) -> Any:
        """A pandas DataFrame: one row per known class, and a last row for unseen.

        The column ``known`` is False in the last row only, so that a class which happens to
        be called "unseen" is not mistaken for it. Where labels are numbers, ``class`` is missing
        there.
        """
        pd = needed("pandas", "to_frame needs pandas", "io")
        is_text = all(isinstance(label, str) for label in self.classes)
        labels = pd.Series([*self.classes, "unseen" if is_text else None])
        columns: dict[str, Any] = {
            # Numbers beside text in one column could not be written to a file.
            "class": labels if is_text else labels.astype(object).convert_dtypes(),
            "share": [*self.proportions.tolist(), float(self.unseen)],
            "known": [True] * len(self.classes) + [False],
            "labelled_rows": [*(self.n_labelled[label] for label in self.classes), 0],
        }
        if self.intervals is not None:
            columns |= {"lower": self.intervals[:, 0], "upper": self.intervals[:, 1]}
        return pd.DataFrame(columns)

    def plot(self, **options: Any) -> Any:
        """Draw the shares with their intervals; needs matplotlib.

        ``options``, such as ``ax``, are those of :meth:`unseen.plots.SharesDisplay.from_estimate`.
        """
        # What draws records stands above them, and is loaded only when it is called upon.
        return import_module("unseen.plots").SharesDisplay.from_estimate(self, **options)

    def report(self, path: str | PathLike[str]) -> None:
        """Write one self-contained HTML page about this estimate.

        An existing file at ``path`` is replaced only by a whole new one.
        """
        study = import_module("unseen.study").Study(self)
        import_module("unseen.report").write_report(study, path)

    def _table(self) -> tuple[list[list[str]], list[str]]:
        columns = {
            "class": [*map(str, self.classes), "unseen"],
            "share": [f"{share:.3f}" for share in (*self.proportions, self.unseen)],
        }
        if self.intervals is not None:
            columns["interval"] = [f"{low:.3f} to {high:.3f}" for low, high in self.intervals]
        if not self.sees_unseen:
            for numbers in [*columns.values()][1:]:
                numbers[-1] = NOT_SEEN
        columns["labelled rows"] = [*(str(self.n_labelled[label]) for label in self.classes), "-"]
        below = [f"{self.method}, {self.n_new} new rows"]
        if self.unseen_certified is not None:
            below.append(f"certified: the unseen share is at least {self.unseen_certified:.3f}")
        rows = map(list, zip(*columns.values(), strict=True))
        return [[*columns], *rows], [*below, *map(str, self.notices)]


class EstimatesMixture(Protocol):
    """Reads ν off out-of-fold scores of F and H; high scores look like F."""

    def from_scores(self, scores_F: ArrayLike, scores_H: ArrayLike) -> MixtureEstimate:
        """Estimate the share of H in F."""
        ...
