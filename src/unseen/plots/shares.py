"""Shares with intervals, as dots, of classes and groups; shares by several methods, as bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any, Self

import numpy as np

from unseen._types import FloatArray
from unseen._wording import CANNOT_TELL, NOT_SEEN, interval_name, short_share, shown
from unseen.loop import Explanation
from unseen.plots import canvas
from unseen.plots.canvas import LIGHT, SMALL, Axes, Display, Theme
from unseen.records import Estimate

_MOST_ROWS = 30
_LONGEST_NAME = 24
_LONGEST_METHOD = 18
_MOST_GROUPS = 20
_LONGEST_GROUP = 30
# Bars are so thin that more segments than this only blur.
_MOST_CLASSES = 12
_LETTERS = 36  # across the whole bar
_LETTERS_BELOW, _LONGEST_CLASS = 54, 14


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
    sees_unseen : bool, default=True
        Whether the estimator can see unseen classes: a dash stands where it cannot.

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
    sees_unseen: bool = True

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
        is_told = estimate.sees_unseen and not estimate.has_moved_far
        shares = np.append(estimate.proportions, estimate.unseen if is_told else np.nan)
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
            last = intervals[-1:] if estimate.sees_unseen else np.full((1, 2), np.nan)
            intervals = np.vstack([intervals[kept], no_interval, last])
        confidence, sees_unseen = estimate.confidence, estimate.sees_unseen
        display = cls(names, shares, intervals, then, confidence, sees_unseen)
        return display.plot(ax, theme=theme)

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
            number = _written(share, self.sees_unseen or row < len(self.names) - 1)
            canvas.write_beside(ax, number, row, color=colour, fontweight=weight)
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


@dataclass(eq=False)
class ComparisonDisplay(Display):
    """Shares by each estimator as parts of one bar: known classes in blue, unseen hatched.

    Where the truth is known, it is the first bar, and the number beside each other bar is its
    error: total variation, the share of rows that would have to move. Above 12 known classes the
    smallest are drawn as one.

    Parameters
    ----------
    names : tuple of str
        Estimators, from the top.
    classes : tuple of str
        Known classes, from the left.
    shares : ndarray of shape (n, K + 1)
        Shares by each estimator, unseen last: NaN where the estimator cannot tell it.
    truth : ndarray of shape (K + 1,) or None
        True shares.
    sees_unseen : tuple of bool or None
        Whether each estimator can see unseen classes, a dash standing where not; None is all.

    Examples
    --------
    >>> from unseen.records import Estimate
    >>> from unseen.plots import ComparisonDisplay
    >>> rows = {"n_labelled": {"cat": 80}, "n_new": 400}
    >>> estimates = {"open": Estimate(("cat",), [0.7], 0.3, "open", **rows),
    ...              "closed": Estimate(("cat",), [1.0], 0.0, "closed", **rows)}
    >>> display = ComparisonDisplay.from_comparison(estimates, truth={"cat": 0.75})
    >>> display.errors
    array([0.05, 0.25])
    """

    names: tuple[str, ...]
    classes: tuple[str, ...]
    shares: FloatArray
    truth: FloatArray | None = None
    sees_unseen: tuple[bool, ...] | None = None

    @classmethod
    def from_comparison(
        cls,
        comparison: Mapping[str, Estimate],
        truth: Mapping[Any, float] | Sequence[float] | FloatArray | None = None,
        *,
        ax: Axes | None = None,
        theme: Theme = LIGHT,
    ) -> Self:
        """Draw a comparison, or any estimates with the same classes by their names.

        ``truth`` has the true shares where they are known: K + 1 shares, or a mapping of labels to
        shares, whose rest is unseen; ``ax`` and ``theme`` are as for :meth:`plot`.
        """
        if not comparison:
            raise ValueError("comparison must hold at least one estimate; got none.")
        estimates = list(comparison.values())
        classes = estimates[0].classes
        unseen = [np.nan if one.has_moved_far else one.unseen for one in estimates]
        shares = np.column_stack([[one.proportions for one in estimates], unseen])
        if isinstance(truth, Mapping):
            known = [float(truth.get(label, 0.0)) for label in classes]
            truth = np.array([*known, 1.0 - sum(known)])
        true = None if truth is None else np.asarray(truth, dtype=np.float64)
        if true is not None and true.shape != (len(classes) + 1,):
            raise ValueError(
                f"truth must be {len(classes) + 1} shares, unseen last, or a mapping; "
                f"got shape {true.shape}."
            )
        names, see = tuple(map(str, comparison)), tuple(one.sees_unseen for one in estimates)
        display = cls(names, tuple(map(str, classes)), shares, true, see)
        return display.plot(ax, theme=theme)

    @property
    def errors(self) -> FloatArray:
        """Total variation between each estimator and the truth."""
        if self.truth is None:
            raise ValueError("errors need the truth; got None.")
        return np.asarray(np.abs(self.shares - self.truth).sum(axis=1) / 2)

    def _height(self) -> float:
        return 1.1 + 0.28 * (len(self.names) + (self.truth is not None))

    def _draw(self, ax: Axes, theme: Theme) -> None:
        names, classes, parts = list(self.names), list(self.classes), self.shares
        sees_unseen = self.sees_unseen or (True,) * len(names)
        numbers, colour = list(map(_written, parts[:, -1], sees_unseen)), theme.unseen
        if self.truth is not None:
            names, parts = ["truth", *names], np.vstack([self.truth, parts])
            numbers, colour = ["error", *map(_written, self.errors)], theme.ink
        if len(classes) > _MOST_CLASSES:
            kept = canvas.largest(parts[:, :-1].mean(axis=0), _MOST_CLASSES - 1)
            classes = [*(classes[place] for place in kept), f"{len(classes) - len(kept)} others"]
            parts = canvas.merge_others(parts, kept)
        parts = np.nan_to_num(parts)
        ends = np.cumsum(parts, axis=1)
        for place in range(parts.shape[1]):
            # Neighbours differ, in greyscale as well.
            look: dict[str, Any] = {"color": theme.known, "alpha": (0.55, 0.3)[place % 2]}
            if place == len(classes):
                look = {"color": theme.unseen, "alpha": 0.85, "hatch": "///"}
            look |= {"height": 0.72, "edgecolor": theme.paper, "linewidth": 0.8}
            part, rows = parts[:, place], range(len(names))
            ax.barh(rows, part, left=ends[:, place] - part, **look)
        canvas.frame(ax, theme)
        canvas.name_rows(ax, names, _LONGEST_METHOD)
        ax.set_xlim(0, 1)
        ax.spines["left"].set_visible(False)
        ax.get_yticklabels()[0].set_fontweight("normal" if self.truth is None else "bold")
        for row, number in enumerate(numbers):
            canvas.write_beside(ax, number, row, color=colour, fontsize=SMALL)
        caption = "Share of the new rows; unseen is hatched"
        # The first bar names the known classes where all of them fit, else the line below does.
        widths, look = parts[0, :-1], {"ha": "center", "va": "center", "fontsize": SMALL - 1}
        if np.all(widths * _LETTERS >= [len(name) for name in classes]):
            for name, place in zip(classes, ends[0, :-1] - widths / 2, strict=True):
                ax.text(place, 0, canvas.literal(name), color=theme.ink, **look)
        else:
            short = ", ".join(canvas.literal(name, _LONGEST_CLASS) for name in classes)
            caption += "\n" + fill(f"from the left: {short}", _LETTERS_BELOW)
        ax.set_xlabel(caption, fontsize=SMALL, color=theme.muted)


def _written(value: float, is_seen: bool = True) -> str:
    if not is_seen:
        return NOT_SEEN
    return CANNOT_TELL if np.isnan(value) else short_share(value)
