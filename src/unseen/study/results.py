"""The answer of a command as one record, which report, JSON and terminal draw.

Every JSON format lives here, with ``schema.json`` beside it; ``format`` counts changes of layout.
Nothing here computes an estimate, and nothing here draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from unseen._frozen import Frozen
from unseen.api import Comparison
from unseen.drift import Drift
from unseen.labelling import LabellingValue, labelling_value
from unseen.loop import Explanation
from unseen.monitoring import Timeline
from unseen.records import Estimate, Notice
from unseen.study.thumbnails import Thumbnail

FORMAT = 2


@dataclass(frozen=True)
class Origin:
    """The command, files and preparation that give the same answer again.

    Parameters
    ----------
    command : str
        The command, or the call, that made the answer.
    files : tuple of (str, str)
        Name and SHA-256 of every file that was read.
    made : str
        Time of the answer, in UTC.
    preparation : tuple of str
        The treatment of the columns, one sentence each.

    Examples
    --------
    >>> from unseen.study import Origin
    >>> Origin("unseen demo", made="2026-01-31 06:00 UTC").command
    'unseen demo'
    """

    command: str = ""
    files: tuple[tuple[str, str], ...] = ()
    made: str = ""
    preparation: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Suspects:
    """The new rows that look most unseen; a record of raw values, made only on request.

    Parameters
    ----------
    columns : tuple of str
        Names of the columns.
    rows : tuple of tuple of str
        Values, as text, the most suspicious row first.
    numbers : tuple of int
        Place of each row in the new table, from 1.
    scores : tuple of float
        Novelty score of each row.

    Examples
    --------
    >>> from unseen.study import Suspects
    >>> Suspects(("size",), (("9.5",), ("8.1",)), (17, 3), (0.99, 0.92)).numbers
    (17, 3)
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Study(Frozen):
    """An estimate with everything around it that a reader wants to know.

    Parameters
    ----------
    estimate : Estimate
        The answer.
    training : mapping
        Rows of each class in the whole training table, of which the estimate may have used a part;
        empty stands for the rows of the estimate.
    n_new : int or None
        Rows of the whole new table; None stands for the rows of the estimate.
    notices : tuple of Notice
        Notes on the tables, such as columns left out or a sample drawn; warnings are in
        ``estimate``.
    baselines : Comparison or None
        Other estimators on the same rows.
    timeline : Timeline or None
        Shares over windows of time.
    suspects : Suspects or None
        Rows that look most unseen.
    origin : Origin
        How to get the same answer again.
    explanation : Explanation or None
        Groups of the unseen rows.
    thumbnails : tuple of Thumbnail
        Small pictures of example rows of the groups.
    over_time : bool
        True if the question is how the shares change: the timeline and its latest window then
        come before the estimate, which is of all windows together.

    Examples
    --------
    >>> from unseen.records import Estimate
    >>> from unseen.study import Study
    >>> estimate = Estimate(("cat", "dog"), [0.5, 0.2], 0.3, "MPEIncomplete",
    ...                     n_labelled={"cat": 80, "dog": 20}, n_new=400)
    >>> study = Study(estimate)
    >>> study.training_shares["cat"], study.n_new_rows
    (0.8, 400)
    """

    estimate: Estimate
    training: Mapping[Any, int] = field(default_factory=dict)
    n_new: int | None = None
    notices: tuple[Notice, ...] = ()
    baselines: Comparison | None = None
    timeline: Timeline | None = None
    suspects: Suspects | None = None
    origin: Origin = field(default_factory=Origin)
    explanation: Explanation | None = None
    thumbnails: tuple[Thumbnail, ...] = ()
    over_time: bool = False

    @property
    def now(self) -> Study:
        """The study of the latest window where the question is of time, else this one."""
        if self.timeline is None or not self.over_time:
            return self
        latest = self.timeline.estimates[-1]
        return replace(self, estimate=latest, n_new=latest.n_new, training=self.training_rows)

    def sentence(self) -> str:
        """The answer, which over time begins with what changed and when."""
        if self.timeline is None or not self.over_time:
            return self.estimate.sentence()
        return self.timeline.sentence()

    @property
    def training_rows(self) -> dict[Any, int]:
        """Rows of each class in the whole training table."""
        return dict(self.training) or dict(self.estimate.n_labelled)

    @property
    def training_shares(self) -> dict[Any, float]:
        """Share of each class in the whole training table."""
        rows = self.training_rows
        total = sum(rows.values())
        return {label: count / total for label, count in rows.items()}

    @property
    def n_new_rows(self) -> int:
        """Rows of the whole new table."""
        return self.estimate.n_new if self.n_new is None else self.n_new

    @property
    def all_notices(self) -> tuple[Notice, ...]:
        """Notices of the estimate, of the timeline and of the tables, each once."""
        later = () if self.timeline is None else self.timeline.notices
        return tuple(dict.fromkeys((*self.estimate.notices, *later, *self.notices)))

    @property
    def slopes(self) -> Estimate | None:
        """An estimate with the ROC of every class: the answer's own, or that of a baseline."""
        candidates = [self.estimate, *(self.baselines.estimates.values() if self.baselines else ())]
        return next((one for one in candidates if len(one.roc) == len(one.classes)), None)

    @property
    def labelling(self) -> LabellingValue | None:
        """The value of labelling more rows; None without intervals of a known level.

        None too where known classes may have moved: the value takes the estimate for unbiased.
        """
        if self.estimate.confidence is None or self.estimate.may_be_moved:
            return None
        return labelling_value(self.estimate)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain types, ready for JSON."""
        return {
            "format": FORMAT,
            "kind": "study",
            "sentence": self.sentence(),
            "estimate": self.estimate.to_dict(),
            "training_rows": [self.training_rows[label] for label in self.estimate.classes],
            "new_rows": self.n_new_rows,
            "notices": [notice.to_dict() for notice in self.notices],
            "baselines": None if self.baselines is None else self.baselines.to_dict(),
            "timeline": None if self.timeline is None else self.timeline.to_dict(),
            "explanation": None if self.explanation is None else self.explanation.to_dict(),
            "origin": {
                "command": self.origin.command,
                "files": [{"name": name, "sha256": digest} for name, digest in self.origin.files],
                "made": self.origin.made,
                "preparation": list(self.origin.preparation),
            },
        }


@dataclass(frozen=True, eq=False)
class Classification(Frozen):
    """How many rows got which label, and how far the labels can be trusted.

    Where the rule was not fitted on these rows, all but their number is of the rows that it was
    fitted on. Where the known classes have moved, labelled rows say nothing about errors.
    """

    rows: Mapping[str, int]  # with each label, unseen last
    fitted_on_these_rows: bool
    unseen: float  # estimated share, at even odds that something is unseen
    unseen_interval: tuple[float, float]
    novelty_cut: float  # rows are called unseen from here on; above 1, none is
    error_rate: float | None  # estimated share of wrong labels
    error_rate_spread: float | None  # its standard error
    notices: tuple[Notice, ...] = ()
    drift: Drift | None = None

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain types, ready for JSON."""
        low, high = self.unseen_interval
        parts = {
            "rows": dict(self.rows),
            "fitted_on_these_rows": self.fitted_on_these_rows,
            "unseen": {"share": self.unseen, "low": low, "high": high},
            "novelty_cut": self.novelty_cut,
            "error_rate": {"estimate": self.error_rate, "standard_error": self.error_rate_spread},
            "drift": None if self.drift is None else self.drift.to_dict(),
        }
        return _plain("classification", parts, self.notices)


@dataclass(frozen=True, eq=False)
class MethodComparison(Frozen):
    """Every estimator on the same tables, with notices on the tables."""

    estimates: Comparison
    notices: tuple[Notice, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain types, ready for JSON."""
        return _plain("comparison", {"estimates": self.estimates.to_dict()}, self.notices)


@dataclass(frozen=True, eq=False)
class Checks(Frozen):
    """An estimate with checks of what it takes for granted, and notes on the tables.

    The certified bound of the estimate fails with probability ``delta``.
    """

    estimate: Estimate
    delta: float
    notices: tuple[Notice, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain types, ready for JSON."""
        parts = {"estimate": self.estimate.to_dict(), "delta": self.delta}
        return _plain("checks", parts, self.notices)


@dataclass(frozen=True, eq=False)
class AfterResult(Frozen):
    """An audit or a promotion on tables, with notices on the tables."""

    kind: str  # "audit" or "promotion"
    record: Any
    notices: tuple[Notice, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain types, ready for JSON."""
        notices = (*self.record.notices, *self.notices)
        return _plain(self.kind, self.record.to_dict(), notices)


def _plain(kind: str, parts: dict[str, Any], notices: tuple[Notice, ...]) -> dict[str, Any]:
    """The frame that all answers but a study have in JSON."""
    plain = [notice.to_dict() for notice in notices]
    return {"format": FORMAT, "kind": kind, **parts, "notices": plain}
