"""Shares with their intervals: a dot and a line for each class, unseen last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from unseen._types import FloatArray
from unseen._wording import interval_name, short_share
from unseen.plots.canvas import (
    SMALL,
    WIDTH,
    Display,
    frame,
    largest,
    literal,
    merge_others,
    percent_axis,
    write_beside,
)
from unseen.plots.theme import LIGHT, Theme
from unseen.records import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SharesDisplay"]

_MOST_ROWS = 30
_LONGEST_NAME = 24


@dataclass(eq=False)
class SharesDisplay(Display):
    """Share of each known class and of unseen ones, with intervals, then and now.

    Above 30 known classes the 29 largest are kept; the others share one row, which has no interval
    because intervals do not add up.

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
        """Draw the shares of an estimate.

        Parameters
        ----------
        estimate : Estimate
            Shares, and intervals where it has them.
        training : mapping of label to share, or None, default=None
            Shares in the training data, drawn as ticks; 0 where a class is not named.
        ax, theme
            As for :meth:`plot`.
        """
        unseen = np.nan if estimate.has_moved_far else estimate.unseen
        shares = np.append(estimate.proportions, unseen)
        then = None
        if training is not None:
            then = np.array([*(training.get(label, 0.0) for label in estimate.classes), 0.0])
        names = [str(label) for label in estimate.classes]
        rows = _at_most(_MOST_ROWS, names, shares, estimate.intervals, then)
        return cls(*rows, confidence=estimate.confidence).plot(ax, theme=theme)

    def _size(self) -> tuple[float, float]:
        return WIDTH, 0.95 + 0.27 * len(self.names)

    def _draw(self, ax: Axes, theme: Theme) -> None:
        rows = np.arange(len(self.names))
        colours = [theme.known] * (len(rows) - 1) + [theme.unseen]
        if self.training is not None:
            ax.plot(
                self.training,
                rows,
                "|",
                color=theme.muted,
                markersize=11,
                markeredgewidth=1.6,
                clip_on=False,
            )
        for row, share, colour in zip(rows, self.shares, colours, strict=True):
            is_unseen = row == rows[-1]
            if self.intervals is not None:
                ax.plot(
                    self.intervals[row],
                    (row, row),
                    color=colour,
                    linewidth=3.2 if is_unseen else 2.2,
                    solid_capstyle="butt",
                )
            ax.plot(
                share,
                row,
                marker="D" if is_unseen else "o",
                color=colour,
                markersize=7,
                markeredgecolor=theme.paper,
                clip_on=False,  # a share of 0 lies on the axis
                zorder=3,
            )
        self._write(ax, theme, colours)

    def _write(self, ax: Axes, theme: Theme, colours: list[str]) -> None:
        frame(ax, theme, grid="x")
        rows = range(len(self.names))
        ax.set_yticks(rows, [literal(name, _LONGEST_NAME) for name in self.names])
        is_wide = max(map(len, self.names)) > _LONGEST_NAME // 2
        ax.tick_params(axis="y", length=0, pad=6, labelsize=SMALL if is_wide else None)
        ax.set_ylim(len(self.names) - 0.4, -0.6)
        ax.set_xlim(left=0.0)
        ax.margins(x=0.03)
        percent_axis(ax.xaxis)
        ax.get_yticklabels()[-1].set(color=theme.unseen, fontweight="bold")
        for row, share, colour in zip(rows, self.shares, colours, strict=True):
            weight = "bold" if colour == theme.unseen else "normal"
            written = "cannot tell" if np.isnan(share) else short_share(share)
            write_beside(ax, written, row, color=colour, fontweight=weight)
        ax.set_xlabel(self._caption(), fontsize=SMALL, color=theme.muted)

    def _caption(self) -> str:
        marks = []
        if self.intervals is not None:
            marks.append(f"line: {interval_name(self.confidence)}")
        if self.training is not None:
            marks.append("tick: share in training")
        return "Share of the new rows" + ("\n" + ", ".join(marks) if marks else "")


def _at_most(
    n_rows: int,
    names: list[str],
    shares: FloatArray,
    intervals: FloatArray | None,
    training: FloatArray | None,
) -> tuple[tuple[str, ...], FloatArray, FloatArray | None, FloatArray | None]:
    """The largest classes in their order, one row for all others, and unseen."""
    n_known = len(names)
    if n_known <= n_rows:
        return (*names, "unseen"), shares, intervals, training
    kept = largest(shares[:-1], n_rows - 1)
    if intervals is not None:
        intervals = np.vstack([intervals[kept], [[np.nan, np.nan]], intervals[-1:]])
    return (
        (*(names[place] for place in kept), f"{n_known - len(kept)} others", "unseen"),
        merge_others(shares, kept),
        intervals,
        None if training is None else merge_others(training, kept),
    )
