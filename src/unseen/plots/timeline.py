"""Shares over windows of time, with bands for their intervals and a mark where they changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from unseen._types import BoolArray, FloatArray, IntArray
from unseen._wording import count
from unseen.monitoring import Timeline
from unseen.monitoring.windows import shown_key
from unseen.plots.canvas import (
    SMALL,
    WIDTH,
    Display,
    frame,
    largest,
    literal,
    percent_axis,
    spread,
    write_beside,
)
from unseen.plots.theme import LIGHT, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["TimelineDisplay", "reference_name"]

_MOST_CLASSES = 5
_MOST_WINDOWS = 120
_MOST_TICKS = 6
_LONGEST_NAME = 14
_DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.5)), (0, (5, 1.5, 1.5, 1.5)), (0, (8, 2)))


@dataclass(eq=False)
class TimelineDisplay(Display):
    """Shares over windows: unseen as a thick line, the largest known classes as thin ones.

    At most five known classes are drawn, the largest on average. Above 120 windows only every
    second, third ... is drawn; a mark of change then stands for all windows up to the next one.

    Parameters
    ----------
    windows : tuple of str
        Names of the windows that are drawn.
    names : tuple of str
        Names of the lines; the last is unseen.
    shares : ndarray of shape (w, n)
        Share of each line in each window; NaN for unseen where classes moved too far to tell.
    intervals : ndarray of shape (w, n, 2)
        Lower and upper end of the interval of each share; NaN where there is none, or classes moved
        too far to tell.
    changed : ndarray of shape (w,)
        Windows that differ from the reference, in any share or in the unseen one.
    in_reference : ndarray of shape (w,)
        Windows of the reference; all False where the reference is the training rows.
    n_classes, n_windows : int
        Known classes and windows of the record, drawn or not.

    Examples
    --------
    >>> from unseen.records import Estimate
    >>> from unseen.monitoring import Timeline
    >>> from unseen.plots import TimelineDisplay
    >>> may, june = (Estimate(("cat",), [1 - u], u, "m", n_labelled={"cat": 9}, n_new=9)
    ...              for u in (0.0, 0.5))
    >>> p_values = [float("nan"), 0.01]
    >>> timeline = Timeline(("May", "June"), (may, june), [True, False], may, p_values, p_values)
    >>> display = TimelineDisplay.from_timeline(timeline)
    >>> display.names, display.shares[:, -1]
    (('cat', 'unseen'), array([0. , 0.5]))
    """

    windows: tuple[str, ...]
    names: tuple[str, ...]
    shares: FloatArray
    intervals: FloatArray
    changed: BoolArray
    in_reference: BoolArray
    n_classes: int
    n_windows: int

    @classmethod
    def from_timeline(
        cls, timeline: Timeline, *, ax: Axes | None = None, theme: Theme = LIGHT
    ) -> Self:
        """Draw a timeline; ``ax`` and ``theme`` are as for :meth:`plot`."""
        estimates = list(timeline.estimates)
        if not estimates:
            raise ValueError("timeline must hold at least one window; got none.")
        shares, classes = timeline.shares, timeline.classes
        absent = np.full((shares.shape[1], 2), np.nan)
        intervals = np.array(
            [absent if one.intervals is None else one.intervals for one in estimates]
        )
        far = [one.has_moved_far for one in estimates]
        shares, intervals[far] = shares.copy(), np.nan
        shares[far, -1] = np.nan
        columns = [*largest(shares[:, :-1].mean(axis=0), _MOST_CLASSES), len(classes)]
        step = -(-len(estimates) // _MOST_WINDOWS)
        starts = np.arange(0, len(estimates), step)
        changed = timeline.changed | timeline.changed_unseen
        display = cls(
            windows=tuple(shown_key(timeline.windows[place]) for place in starts.tolist()),
            names=(*(str(classes[place]) for place in columns[:-1]), "unseen"),
            shares=shares[starts][:, columns],
            intervals=intervals[starts][:, columns],
            changed=np.logical_or.reduceat(changed, starts),
            in_reference=np.logical_or.reduceat(timeline.in_reference, starts),
            n_classes=len(classes),
            n_windows=len(estimates),
        )
        return display.plot(ax, theme=theme)

    def _size(self) -> tuple[float, float]:
        return WIDTH, 3.4

    def _draw(self, ax: Axes, theme: Theme) -> None:
        places = np.arange(len(self.windows))
        colours = [*(theme.known, *theme.series)[: len(self.names) - 1], theme.unseen]
        few = len(self.windows) <= 24  # points would blur; a line of one point would not show
        for line, colour in enumerate(colours):
            is_unseen = line == len(colours) - 1
            lower, upper = self.intervals[:, line].T
            ax.fill_between(
                places, lower, upper, color=colour, alpha=0.25 if is_unseen else 0.12, linewidth=0
            )
            ax.plot(
                places,
                self.shares[:, line],
                color=colour,
                linewidth=2.8 if is_unseen else 1.4,
                linestyle="-" if is_unseen else _DASHES[line],
                marker=("D" if is_unseen else "o") if few else "",
                markersize=6 if is_unseen else 4,
                zorder=3 if is_unseen else 2,
            )
        self._mark(ax, theme, places)
        self._write(ax, theme, places, colours)

    def _mark(self, ax: Axes, theme: Theme, places: IntArray) -> None:
        across = ax.get_xaxis_transform()
        for place in places[self.in_reference]:
            ax.axvline(place, color=theme.muted, linewidth=1, linestyle=":", zorder=1)
        marked = places[self.changed]
        ax.plot(
            marked,
            np.full(len(marked), 1.03),
            "v",
            transform=across,
            color=theme.ink,
            markersize=6,
            clip_on=False,
        )

    def _write(self, ax: Axes, theme: Theme, places: IntArray, colours: list[str]) -> None:
        frame(ax, theme, grid="y")
        top = np.nanmax(np.concatenate([self.shares.ravel(), self.intervals.ravel()]))
        top = max(float(top), 0.02)
        ax.set_ylim(-0.02 * top, 1.04 * top)
        ax.set_xlim(-0.5, len(places) - 0.5)
        percent_axis(ax.yaxis)
        ticks = places[:: max(1, -(-len(places) // _MOST_TICKS))]
        names = [literal(self.windows[place], 12) for place in ticks]
        slanted = sum(map(len, names)) > 34
        ax.set_xticks(
            ticks,
            names,
            rotation=30 if slanted else 0,
            ha="right" if slanted else "center",
            rotation_mode="anchor",
        )
        ax.set_ylabel("Share of the new rows")
        self._name_lines(ax, colours, 1.02 * top)
        ax.set_xlabel(self._caption(), fontsize=SMALL, color=theme.muted)

    def _name_lines(self, ax: Axes, colours: list[str], height: float) -> None:
        """Each name beside the end of its line; names keep out of each other's way."""
        drawn = np.flatnonzero(~np.isnan(self.shares).all(axis=0))
        heights = spread(np.nan_to_num(self.shares[-1, drawn]), 0.085 * height)
        heights = heights - max(0.0, float(heights.max()) - height)
        for line, place in zip(drawn, heights, strict=True):
            weight = "bold" if line == len(self.names) - 1 else "normal"
            text = literal(self.names[line], _LONGEST_NAME)
            style = {"color": colours[line], "fontsize": SMALL, "fontweight": weight}
            write_beside(ax, text, place, **style)

    def _caption(self) -> str:
        lines = []
        dotted = "dotted" if self.in_reference.any() else ""
        if self.changed.any():
            name = reference_name(self.in_reference)
            lines.append(f"▼ changed since {name}" + (f" ({dotted})" if dotted else ""))
        elif dotted:
            lines.append(f"{dotted}: {reference_name(self.in_reference)}")
        if self.n_windows > len(self.windows):
            lines.append(f"{len(self.windows)} of {self.n_windows} windows drawn")
        hidden = self.n_classes - len(self.names) + 1
        if hidden > 0:
            lines.append(f"{count(hidden, 'smaller class')} not drawn")
        if np.isnan(self.shares[:, -1]).any():
            lines.append("no unseen share: known classes moved too far to tell")
        return "\n".join(lines)


def reference_name(in_reference: BoolArray) -> str:
    """The name, within a sentence, of the rows that windows are compared with.

    Examples
    --------
    >>> reference_name(np.array([True, False])), reference_name(np.array([False, False]))
    ('the reference window', 'training')
    """
    n_windows = int(np.sum(in_reference))
    if n_windows == 0:
        return "training"
    return "the reference window" if n_windows == 1 else "the reference windows"
