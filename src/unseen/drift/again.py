"""Answers to the question asked again: without columns that moved, or with a shift taken off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from unseen._frozen import Frozen
from unseen._wording import NO_SHARE, listed, short_share, shown

__all__ = ["LaidBack", "Verdict", "Without", "columns_named"]

Verdict = Literal["still", "moved", "unclear"]

_MOST_NAMED, _LONGEST_NAME = 3, 25  # short enough for a headline


@dataclass(frozen=True, eq=False)
class Without(Frozen):
    """The answer without the few columns that moved most, or that hold stray values.

    Parameters
    ----------
    columns : tuple
        Names or numbers of the columns that were left out.
    unseen : float
        The unseen share without them.
    verdict : {"still", "moved", "unclear"}
        Whether known classes look as in training without them.
    proportions : tuple of float
        Share of each known class without them.
    """

    columns: tuple[Any, ...]
    unseen: float
    verdict: Verdict
    proportions: tuple[float, ...] = ()

    @property
    def sentence(self) -> str:
        """The sentence for an estimate that has these shares."""
        return (
            f" Without {columns_named(self.columns)} nothing seems to have moved, and "
            f"{_look_unseen(self.unseen)}: the shares are those of the other columns."
        )

    @property
    def shares_are(self) -> str:
        """Which shares these are, after "the shares are those"."""
        return f"without {columns_named(self.columns)}"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain types, ready for JSON."""
        return {"columns": [str(name) for name in self.columns], **_as_dict(self)}


@dataclass(frozen=True, eq=False)
class LaidBack(Frozen):
    """The answer once a shift and a factor of each column are taken off the new rows.

    Parameters
    ----------
    shift : float
        Root mean square of the shifts over columns, in standard deviations.
    unseen : float
        The unseen share of the rows so laid back.
    verdict : {"still", "moved", "unclear"}
        Whether known classes then look as in training.
    proportions : tuple of float
        Share of each known class among the rows so laid back.
    """

    shift: float
    unseen: float
    verdict: Verdict
    proportions: tuple[float, ...] = ()

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
        return {"shift": self.shift, **_as_dict(self)}


def _as_dict(answer: Without | LaidBack) -> dict[str, Any]:
    return {
        "unseen": answer.unseen,
        "verdict": answer.verdict,
        "proportions": list(answer.proportions),
    }


def _look_unseen(unseen: float) -> str:
    return f"{'no row' if unseen < NO_SHARE else short_share(unseen)} looks unseen"


def columns_named(columns: Sequence[Any]) -> str:
    """The first few columns by name or number."""
    named = listed([shown(str(one), _LONGEST_NAME) for one in columns], _MOST_NAMED)
    return f"column{'s' * (len(columns) > 1)} {named}"
