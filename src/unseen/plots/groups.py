"""Groups of the unseen rows: the share of each with its interval, and what the group is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from unseen._types import FloatArray
from unseen._wording import short_share, shown
from unseen.loop import Explanation, Group
from unseen.plots.canvas import SMALL, WIDTH, Display, frame, literal, percent_axis, write_beside
from unseen.plots.theme import LIGHT, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["GroupsDisplay"]

_MOST_GROUPS = 20
_LONGEST_NAME = 30
_CLUMP = "a clump of its own"


@dataclass(eq=False)
class GroupsDisplay(Display):
    """Share of each group of unseen rows, with its interval, by falling share.

    A full mark is a clump of its own; an open one may be the rim of a known class, lie between two,
    or be scattered. At most 20 groups are drawn, the largest.

    Parameters
    ----------
    names : tuple of str
        Number of each group, and the known class beside it.
    shares : ndarray of shape (n,)
        Shares of the new rows.
    intervals : ndarray of shape (n, 2)
        Lower and upper end of the interval of each share.
    is_clump : tuple of bool
        Whether a group is a clump of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.loop import Explanation, Group
    >>> from unseen.plots import GroupsDisplay
    >>> group = Group(1, 0.3, 0.2, 0.4, 30, "a clump of its own", "cat", "dog", 2.5, 0.9, None,
    ...               (), (), (), ())
    >>> record = Explanation((group,), 0.3, (1, 1), np.ones(100), np.full(100, 0.3), ())
    >>> GroupsDisplay.from_explanation(record).names
    ('1, nearest cat',)
    """

    names: tuple[str, ...]
    shares: FloatArray
    intervals: FloatArray
    is_clump: tuple[bool, ...]

    @classmethod
    def from_explanation(
        cls, explanation: Explanation, *, ax: Axes | None = None, theme: Theme = LIGHT
    ) -> Self:
        """Draw the groups of an explanation; ``ax`` and ``theme`` are as for :meth:`plot`."""
        groups = explanation.groups[:_MOST_GROUPS]
        if not groups:
            raise ValueError("explanation must hold at least one group; got none.")
        display = cls(
            names=tuple(map(_name, groups)),
            shares=np.array([one.share for one in groups]),
            intervals=np.array([[one.low, one.high] for one in groups]),
            is_clump=tuple(one.verdict == _CLUMP for one in groups),
        )
        return display.plot(ax, theme=theme)

    def _size(self) -> tuple[float, float]:
        return WIDTH, 0.95 + 0.34 * len(self.names)

    def _draw(self, ax: Axes, theme: Theme) -> None:
        rows = range(len(self.names))
        drawn = zip(rows, self.shares, self.intervals, self.is_clump, strict=True)
        for row, share, ends, is_clump in drawn:
            ax.plot(ends, (row, row), color=theme.unseen, linewidth=2.6, solid_capstyle="butt")
            face = theme.unseen if is_clump else theme.paper
            ax.plot(share, row, marker="D", color=theme.unseen, markerfacecolor=face, markersize=7)
            write_beside(ax, short_share(share), row, color=theme.unseen)
        frame(ax, theme, grid="x")
        ax.set_yticks(rows, [literal(name, _LONGEST_NAME) for name in self.names])
        ax.tick_params(axis="y", length=0, labelsize=SMALL)
        ax.set_ylim(len(self.names) - 0.4, -0.6)
        ax.set_xlim(left=0.0)
        percent_axis(ax.xaxis)
        ax.set_xlabel("Share of the new rows", fontsize=SMALL, color=theme.muted)


def _name(group: Group) -> str:
    """Short, as a full mark says that a group is a clump of its own."""
    is_clump = group.verdict == _CLUMP
    beside = f"nearest {shown(group.nearest)}" if is_clump else group.verdict_text()
    return f"{group.number}, {beside}"
