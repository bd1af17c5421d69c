"""A question about two tables, answered: the one record that report, JSON and terminal draw.

Nothing here computes an estimate, and nothing here draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from unseen.labelling import LabellingValue, labelling_value
from unseen.monitoring import Timeline
from unseen.proportions import Comparison
from unseen.records import Estimate, Notice

__all__ = ["Origin", "Study", "Suspects"]

FORMAT = 1


@dataclass(frozen=True)
class Origin:
    """What it takes to get the same answer again.

    Parameters
    ----------
    command : str
        The command, or the call, that made it.
    files : tuple of (str, str)
        Name and SHA-256 of every file that was read.
    made : str
        When, in UTC.
    preparation : tuple of str
        What was done to the columns, one sentence each.
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
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Study:
    """An estimate with everything around it that a reader wants to know.

    Parameters
    ----------
    estimate : Estimate
        The answer.
    training : dict
        Rows of each class in the whole training table, of which the estimate may have used a part;
        empty is those of the estimate.
    n_new : int or None
        Rows of the whole new table; None is those of the estimate.
    notices : tuple of Notice
        What was noticed about the tables: columns left out, rows without a label, a sample taken.
    baselines : Comparison or None
        Other estimators on the same rows.
    timeline : Timeline or None
        Shares over windows of time.
    suspects : Suspects or None
        Rows that look most unseen.
    origin : Origin
        How to get the same answer again.

    Examples
    --------
    >>> from unseen.records import Estimate, Notice
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
        later = () if self.timeline is None else getattr(self.timeline, "notices", ())
        return tuple(dict.fromkeys((*self.estimate.notices, *later, *self.notices)))

    @property
    def slopes(self) -> Estimate | None:
        """An estimate with the ROC of every class: the answer's own, or that of a baseline."""
        candidates = [self.estimate, *(self.baselines.estimates.values() if self.baselines else ())]
        return next((one for one in candidates if len(one.roc) == len(one.classes)), None)

    @property
    def labelling(self) -> LabellingValue | None:
        """What labelling more rows would buy; None without intervals of a known level."""
        return None if self.estimate.confidence is None else labelling_value(self.estimate)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain types, ready for JSON; ``format`` counts changes of layout."""
        return {
            "format": FORMAT,
            "sentence": self.estimate.sentence(),
            "estimate": self.estimate.to_dict(),
            "training_rows": [self.training_rows[label] for label in self.estimate.classes],
            "new_rows": self.n_new_rows,
            "notices": [notice.to_dict() for notice in self.notices],
            "baselines": None if self.baselines is None else self.baselines.to_dict(),
            "timeline": None if self.timeline is None else self.timeline.to_dict(),
            "origin": {
                "command": self.origin.command,
                "files": [{"name": name, "sha256": digest} for name, digest in self.origin.files],
                "made": self.origin.made,
                "preparation": list(self.origin.preparation),
            },
        }
