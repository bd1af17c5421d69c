"""The right end of a ROC and the line fitted to it: its slope is the share.

If class i has share ν among the new rows, the ROC of new rows against class i ends in a straight
line of slope ν. Drawn on to the left edge, the line meets it at 1 - ν.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from unseen._types import FloatArray
from unseen._wording import short_share
from unseen.plots import canvas
from unseen.plots.canvas import SMALL, Axes, Display
from unseen.plots.theme import LIGHT, Theme
from unseen.records import Estimate, RocEvidence

_LONGEST_NAME = 18


@dataclass(eq=False)
class RocDisplay(Display):
    """A ROC zoomed at its right end, with the fitted line; the whole ROC is inset.

    Parameters
    ----------
    evidence : RocEvidence
        The ROC and its slope.
    label : label or None
        The class; None is all known classes together.
    zoom : float
        The main view shows false alarms from here to 1.

    Examples
    --------
    >>> from unseen.records import RocEvidence
    >>> from unseen.plots import RocDisplay
    >>> evidence = RocEvidence([0.0, 0.0, 1.0], [0.0, 0.3, 1.0], 0.7, 400, 170)
    >>> RocDisplay(evidence).plot().ax_.get_title("left")
    'The slope 0.70 is the share of known classes'
    """

    evidence: RocEvidence
    label: Any = None
    zoom: float = 0.5

    @classmethod
    def from_estimate(
        cls,
        estimate: Estimate,
        label: Any = None,
        *,
        zoom: float = 0.5,
        ax: Axes | None = None,
        theme: Theme = LIGHT,
    ) -> Self:
        """Draw the ROC behind an estimate that holds it.

        ``label`` and ``zoom`` are as for the class, ``ax`` and ``theme`` as for :meth:`plot`.
        """
        if not 0 <= zoom < 1:
            raise ValueError(f"zoom must be at least 0 and below 1; got {zoom}.")
        return cls(chosen_evidence(estimate, label), label, zoom).plot(ax, theme=theme)

    def line(self, false_alarm: FloatArray | float) -> FloatArray:
        """Detection on the fitted line, which ends in (1, 1) with slope ``right_slope``."""
        return np.asarray(1.0 - self.evidence.right_slope * (1.0 - np.asarray(false_alarm)))

    def _draw(self, ax: Axes, theme: Theme) -> None:
        self._draw_curves(ax, theme)
        left = min(
            np.interp(self.zoom, self.evidence.false_alarm, self.evidence.detection),
            float(self.line(self.zoom)),
        )
        pad = 0.05 * max(1.0 - left, 0.02)
        ax.set_xlim(self.zoom - 0.02 * (1 - self.zoom), 1.0 + 0.02 * (1 - self.zoom))
        ax.set_ylim(left - 7 * pad, 1.0 + pad)  # room below for the whole ROC
        canvas.frame(ax, theme, grid="both")
        canvas.percent_axis(ax.xaxis)
        canvas.percent_axis(ax.yaxis)
        slope = f"{self.evidence.right_slope:.2f}"
        # All together are the answer; a class alone is one of several readings.
        what, title = "known classes", f"The slope {slope} is the share of known classes"
        if self.label is not None:
            what = f"class {canvas.literal(self.label, _LONGEST_NAME)}"
            title = f"Slope: {slope}, {what}"
        ax.set_xlabel(f"Rows of {what} above the threshold")
        ax.set_ylabel("New rows above it")
        ax.set_title(title, loc="left", fontsize=10, color=theme.ink)
        self._draw_whole(ax.inset_axes((0.58, 0.09, 0.38, 0.38)), theme)

    def _draw_curves(self, ax: Axes, theme: Theme) -> None:
        false_alarm, detection = self.evidence.false_alarm, self.evidence.detection
        ax.plot(false_alarm, detection, color=theme.known, linewidth=2, label="ROC")
        ends, dashes = np.array([0.0, 1.0]), (0, (5, 2))
        look: dict[str, Any] = {"linewidth": 1.8, "linestyle": dashes, "label": "fitted line"}
        ax.plot(ends, self.line(ends), color=theme.unseen, **look)

    def _draw_whole(self, ax: Axes, theme: Theme) -> None:
        """The whole ROC, the left end of the line, and the range of the main view."""
        self._draw_curves(ax, theme)
        canvas.frame(ax, theme)
        ax.set_facecolor(theme.paper)
        rest = float(self.line(0.0))
        ax.axvspan(self.zoom, 1.0, color=theme.grid, alpha=0.6, zorder=0, linewidth=0)
        ax.plot(0, rest, "D", color=theme.unseen, markersize=5, clip_on=False)
        name = "unseen" if self.label is None else "others"
        text = f"{name} {short_share(min(max(rest, 0.0), 1.0))}"
        ax.text(0.97, 0.05, text, ha="right", color=theme.unseen, fontsize=SMALL)
        ax.set(xlim=(0, 1), ylim=(0, 1), xticks=[0, 1], yticks=[0, 1])
        ax.tick_params(labelsize=SMALL - 1)
        ax.set_title("all of it", fontsize=SMALL - 1, color=theme.muted, pad=2)


def chosen_evidence(estimate: Estimate, label: Any = None) -> RocEvidence:
    """The ROC of one known class, or of all together where ``label`` is None."""
    found = estimate.pooled if label is None else estimate.roc.get(label)
    if found is not None:
        return found
    wanted = "of all known classes together" if label is None else f"of class {label!r}"
    there = [repr(known) for known in estimate.roc]
    if estimate.pooled is not None:
        there.append("None (all together)")
    raise ValueError(
        f"estimate must hold the ROC {wanted}; {estimate.method} gave one for "
        f"{', '.join(there) or 'nothing'}."
    )
