"""Shares with their intervals: a dot and a line for each class or group, unseen in its colour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from unseen._types import FloatArray
from unseen._wording import interval_name, short_share, shown
from unseen.loop import Explanation
from unseen.plots import canvas
from unseen.plots.canvas import SMALL, Axes, Display
from unseen.plots.theme import LIGHT, Theme
from unseen.records import Estimate

_MOST_ROWS = 30
_LONGEST_NAME = 24
_MOST_GROUPS = 20
_LONGEST_GROUP = 30


@dataclass(eq=False)
class SharesDisplay(Display):
    """Share of each known class and of unseen ones, with intervals, then and now.

    The largest share comes first. Above 30 known classes the 29 that are largest now or were in
    training are kept; the others share one row, which has no interval because intervals do not
    add up.

    Parameters
    ----------
    names : tuple of str
        One per row, from the top; the last is unseen.
    shares : ndarray of shape (n,)
        The estimates; NaN where nothing can be said.
    intervals : ndarray of shape (n, 2) or None
        Lower and upper end of the interval of each share; NaN where a row has none.
    training : ndarray of shape (n,) or None
        Shares in the training data.
    confidence : float or None
        Level of the intervals.

    Examples
    --------
    >>> from unseen.records import Estimate
    >>> from unseen.plots import SharesDisplay
    >>> estimate = Estimate(("cat", "dog"), [0.5, 0.2], 0.3, "MPEIncomplete",
    ...                     n_labelled={"cat": 80, "dog": 90}, n_new=400)
    >>> display = SharesDisplay.from_estimate(estimate, training={"cat": 0.4, "dog": 0.6})
    >>> display.names, display.training
    (('cat', 'dog', 'unseen'), array([0.4, 0.6, 0. ]))
    """

    names: tuple[str, ...]
    shares: FloatArray
    intervals: FloatArray | None = None
    training: FloatArray | None = None
    confidence: float | None = None

    @classmethod
    def from_estimate(
        cls,
        estimate: Estimate,
        training: Mapping[Any, float] | None = None,
        *,
        ax: Axes | None = None,
        theme: Theme = LIGHT,
    ) -> Self:
        """Draw the shares of an estimate, and its intervals where it has them.

        ``training`` has the share of each label in the training data, drawn as ticks, 0 where a
        class is not named; ``ax`` and ``theme`` are as for :meth:`plot`.
        """
        classes, intervals, then = estimate.classes, estimate.intervals, None
        unseen = np.nan if estimate.has_moved_far else estimate.unseen
        shares = np.append(estimate.proportions, unseen)
        if training is not None:
            then = np.array([*(training.get(label, 0.0) for label in classes), 0.0])
        most = len(classes) if len(classes) <= _MOST_ROWS else _MOST_ROWS - 1
        kept = canvas.ranked(shares[:-1], most, None if then is None else then[:-1])
        others = [f"{len(classes) - most} others"] * (most < len(classes))
        names = *(str(classes[place]) for place in kept), *others, "unseen"
        shares = canvas.merge_others(shares, kept)
        then = None if then is None else canvas.merge_others(then, kept)
        if intervals is not None:
            no_interval = np.full((len(others), 2), np.nan)
            intervals = np.vstack([intervals[kept], no_interval, intervals[-1:]])
        return cls(names, shares, intervals, then, estimate.confidence).plot(ax, theme=theme)

    def _height(self) -> float:
        return 0.95 + 0.27 * len(self.names)

    def _draw(self, ax: Axes, theme: Theme) -> None:
        last = len(self.names) - 1
        if self.training is not None:
            ticks: dict[str, Any] = {"markersize": 11, "markeredgewidth": 1.6, "clip_on": False}
            ax.plot(self.training, range(last + 1), "|", color=theme.muted, **ticks)
        # A share of 0 lies on the axis, and is drawn whole.
        dot: dict[str, Any] = {"markersize": 7, "clip_on": False, "zorder": 3}
        dot["markeredgecolor"] = theme.paper
        for row, share in enumerate(self.shares):
            colour = theme.unseen if row == last else theme.known
            if self.intervals is not None:
                look: dict[str, Any] = {"linewidth": 3.2 if row == last else 2.2, "color": colour}
                ax.plot(self.intervals[row], (row, row), solid_capstyle="butt", **look)
            ax.plot(share, row, marker="D" if row == last else "o", color=colour, **dot)
        self._write(ax, theme)

    def _write(self, ax: Axes, theme: Theme) -> None:
        canvas.frame(ax, theme, grid="x")
        canvas.name_rows(ax, self.names, _LONGEST_NAME)
        is_wide = max(map(len, self.names)) > _LONGEST_NAME // 2
        ax.tick_params(axis="y", pad=6, labelsize=SMALL if is_wide else None)
        ax.set_xlim(left=0.0)
        ax.margins(x=0.03)
        ax.get_yticklabels()[-1].set(color=theme.unseen, fontweight="bold")
        for row, share in enumerate(self.shares):
            colour, weight = theme.known, "normal"
            if row == len(self.names) - 1:
                colour, weight = theme.unseen, "bold"
            written = "cannot tell" if np.isnan(share) else short_share(share)
            canvas.write_beside(ax, written, row, color=colour, fontweight=weight)
        marks = [f"line: {interval_name(self.confidence)}"] * (self.intervals is not None)
        marks += ["tick: share in training"] * (self.training is not None)
        caption = "Share of the new rows" + ("\n" + ", ".join(marks) if marks else "")
        ax.set_xlabel(caption, fontsize=SMALL, color=theme.muted)


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
        is_clump = tuple(one.verdict == "a clump of its own" for one in groups)
        # Short, as a full mark says that a group is a clump of its own.
        names = tuple(
            f"{one.number}, {f'nearest {shown(one.nearest)}' if clump else one.verdict_text()}"
            for one, clump in zip(groups, is_clump, strict=True)
        )
        shares = np.array([one.share for one in groups])
        intervals = np.array([[one.low, one.high] for one in groups])
        return cls(names, shares, intervals, is_clump).plot(ax, theme=theme)

    def _height(self) -> float:
        return 0.95 + 0.34 * len(self.names)

    def _draw(self, ax: Axes, theme: Theme) -> None:
        drawn = zip(self.shares, self.intervals, self.is_clump, strict=True)
        for row, (share, ends, is_clump) in enumerate(drawn):
            ax.plot(ends, (row, row), color=theme.unseen, linewidth=2.6, solid_capstyle="butt")
            face = theme.unseen if is_clump else theme.paper
            ax.plot(share, row, marker="D", color=theme.unseen, markerfacecolor=face, markersize=7)
            canvas.write_beside(ax, short_share(share), row, color=theme.unseen)
        canvas.frame(ax, theme, grid="x")
        canvas.name_rows(ax, self.names, _LONGEST_GROUP)
        ax.tick_params(axis="y", labelsize=SMALL)
        ax.set_xlim(left=0.0)
        ax.set_xlabel("Share of the new rows", fontsize=SMALL, color=theme.muted)
