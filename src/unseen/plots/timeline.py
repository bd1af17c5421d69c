"""Shares over windows of time, with bands for their intervals and a mark where they changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from unseen._types import BoolArray, FloatArray, IntArray
from unseen._wording import count
from unseen.monitoring import Timeline
from unseen.monitoring.timeline import shown_key
from unseen.plots import canvas
from unseen.plots.canvas import LIGHT, SMALL, Axes, Display, Theme

_MOST_CLASSES = 5
# Bands of more known classes than these hide each other.
_MOST_BANDS = 2
_MOST_WINDOWS = 120
_MOST_TICKS = 6
_LONGEST_NAME = 14
_DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.5)), (0, (5, 1.5, 1.5, 1.5)), (0, (8, 2)))


@dataclass(eq=False)
class TimelineDisplay(Display):
    """Shares over windows: unseen as a thick line, known classes as thin ones.

    At most five known classes are drawn, those whose share changed most; where there are more than
    two, unseen alone has a band. Above 120 windows only every second, third ... is drawn; a mark
    of change then stands for all windows up to the next.

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
    reference : str
        The name, within a sentence, of the rows that windows are compared with.

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
    reference: str

    _inches: ClassVar = 3.4

    @classmethod
    def from_timeline(
        cls, timeline: Timeline, *, ax: Axes | None = None, theme: Theme = LIGHT
    ) -> Self:
        """Draw a timeline; ``ax`` and ``theme`` are as for :meth:`plot`."""
        estimates, classes = timeline.estimates, timeline.classes
        if not estimates:
            raise ValueError("timeline must hold at least one window; got none.")
        shares, absent = timeline.shares.copy(), np.full((len(classes) + 1, 2), np.nan)
        intervals = np.array(
            [absent if one.intervals is None else one.intervals for one in estimates]
        )
        far = [one.has_moved_far for one in estimates]
        intervals[far], shares[far, -1] = np.nan, np.nan
        lines = [*canvas.largest(np.ptp(shares[:, :-1], axis=0), _MOST_CLASSES), len(classes)]
        starts = np.arange(0, len(estimates), -(-len(estimates) // _MOST_WINDOWS))
        changed = timeline.changed | timeline.changed_unseen
        display = cls(
            windows=tuple(shown_key(timeline.windows[place]) for place in starts.tolist()),
            names=(*(str(classes[place]) for place in lines[:-1]), "unseen"),
            shares=shares[starts][:, lines],
            intervals=intervals[starts][:, lines],
            changed=np.logical_or.reduceat(changed, starts),
            in_reference=np.logical_or.reduceat(timeline.in_reference, starts),
            n_classes=len(classes),
            n_windows=len(estimates),
            reference=timeline.reference_name,
        )
        return display.plot(ax, theme=theme)

    def _draw(self, ax: Axes, theme: Theme) -> None:
        places, last = np.arange(len(self.windows)), len(self.names) - 1
        colours = [*(theme.known, *theme.series)[:last], theme.unseen]
        few = len(self.windows) <= 24  # points would blur; a line of one point would not show
        for line, colour in enumerate(colours):
            look: dict[str, Any]
            if line == last:
                band, marker = 0.25, "D"
                look = {"linewidth": 2.8, "markersize": 6, "zorder": 3}
            else:
                band, marker = 0.12, "o"
                look = {"linewidth": 1.4, "markersize": 4, "linestyle": _DASHES[line]}
            if line == last or last <= _MOST_BANDS:
                lower, upper = self.intervals[:, line].T
                ax.fill_between(places, lower, upper, color=colour, alpha=band, linewidth=0)
            shares = self.shares[:, line]
            ax.plot(places, shares, color=colour, marker=marker if few else "", **look)
        for place in places[self.in_reference]:
            ax.axvline(place, color=theme.muted, linewidth=1, linestyle=":", zorder=1)
        marked = places[self.changed]
        above: dict[str, Any] = {"transform": ax.get_xaxis_transform(), "clip_on": False}
        ax.plot(marked, np.full(len(marked), 1.03), "v", color=theme.ink, markersize=6, **above)
        self._write(ax, theme, places, colours)

    def _write(self, ax: Axes, theme: Theme, places: IntArray, colours: list[str]) -> None:
        canvas.frame(ax, theme, grid="y")
        top = np.nanmax(np.concatenate([self.shares.ravel(), self.intervals.ravel()]))
        top = max(float(top), 0.02)
        ax.set_ylim(-0.02 * top, 1.04 * top)
        ax.set_xlim(-0.5, len(places) - 0.5)
        canvas.percent_axis(ax.yaxis)
        ticks = places[:: max(1, -(-len(places) // _MOST_TICKS))]
        names = [canvas.literal(self.windows[place], 12) for place in ticks]
        turn, side = (30, "right") if sum(map(len, names)) > 34 else (0, "center")
        ax.set_xticks(ticks, names, rotation=turn, ha=side, rotation_mode="anchor")
        ax.set_ylabel("Share of the new rows")
        lines, name = [], canvas.literal(self.reference)
        if self.changed.any():
            dotted = " (dotted)" if self.in_reference.any() else ""
            lines.append(f"▼ changed since {name}{dotted}")
        elif self.in_reference.any():
            lines.append(f"dotted: {name}")
        if self.n_windows > len(self.windows):
            lines.append(f"{len(self.windows)} of {self.n_windows} windows drawn")
        hidden = self.n_classes - len(self.names) + 1
        if hidden > 0:
            lines.append(f"{count(hidden, 'class')} that changed less not drawn")
        if np.isnan(self.shares[:, -1]).any():
            lines.append("no unseen share: known classes moved too far to tell")
        ax.set_xlabel("\n".join(lines), fontsize=SMALL, color=theme.muted)
        # Each name stands beside the end of its line; names keep out of each other's way.
        drawn = np.flatnonzero(~np.isnan(self.shares).all(axis=0))
        heights = canvas.spread(np.nan_to_num(self.shares[-1, drawn]), 0.085 * 1.02 * top)
        heights = heights - max(0.0, float(heights.max()) - 1.02 * top)
        for line, height in zip(drawn, heights, strict=True):
            text = canvas.literal(self.names[line], _LONGEST_NAME)
            weight = "bold" if line == len(self.names) - 1 else "normal"
            look = {"color": colours[line], "fontsize": SMALL, "fontweight": weight}
            canvas.write_beside(ax, text, height, **look)
