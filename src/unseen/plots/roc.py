"""The right end of a ROC, whose slope is the share, and the densities of the scores behind it.

If class i has share ν among the new rows, the ROC of new rows against class i ends in a straight
line of slope ν. Drawn on to the left edge, the line meets it at 1 - ν. Densities are differences of
the ROC in equal bins, smoothed over neighbouring bins: the known rows, scaled to their share, lie
under the new rows, and the area of the gap is the unseen share. Scores often have a long tail:
asinh squeezes both ends of the axis, and the outermost bins hold the rows beyond them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from unseen._types import FloatArray
from unseen._wording import short_share
from unseen.plots import canvas
from unseen.plots.canvas import LIGHT, SMALL, Axes, Display, Theme
from unseen.records import Estimate, RocEvidence

_LONGEST_CLASS, _LONGEST_NAME = 18, 16
_MOST_BINS, _FEWEST_BINS = 56, 16
_TAIL = 0.004


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
        false_alarm, detection = self.evidence.false_alarm, self.evidence.detection
        whole, ends = ax.inset_axes((0.58, 0.09, 0.38, 0.38)), np.array([0.0, 1.0])
        look: dict[str, Any] = {"linewidth": 1.8, "linestyle": (0, (5, 2)), "label": "fitted line"}
        for axes in (ax, whole):
            axes.plot(false_alarm, detection, color=theme.known, linewidth=2, label="ROC")
            axes.plot(ends, self.line(ends), color=theme.unseen, **look)
        left = min(np.interp(self.zoom, false_alarm, detection), float(self.line(self.zoom)))
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
            what = f"class {canvas.literal(self.label, _LONGEST_CLASS)}"
            title = f"Slope: {slope}, {what}"
        ax.set_xlabel(f"Rows of {what} above the threshold")
        ax.set_ylabel("New rows above it")
        ax.set_title(title, loc="left", fontsize=10, color=theme.ink)
        # Inset: the whole ROC, the left end of the line, and the range of the main view.
        canvas.frame(whole, theme)
        whole.set_facecolor(theme.paper)
        rest = float(self.line(0.0))
        whole.axvspan(self.zoom, 1.0, color=theme.grid, alpha=0.6, zorder=0, linewidth=0)
        whole.plot(0, rest, "D", color=theme.unseen, markersize=5, clip_on=False)
        name = "unseen" if self.label is None else "others"
        text = f"{name} {short_share(min(max(rest, 0.0), 1.0))}"
        whole.text(0.97, 0.05, text, ha="right", color=theme.unseen, fontsize=SMALL)
        whole.set(xlim=(0, 1), ylim=(0, 1), xticks=[0, 1], yticks=[0, 1])
        whole.tick_params(labelsize=SMALL - 1)
        whole.set_title("all of it", fontsize=SMALL - 1, color=theme.muted, pad=2)


@dataclass(eq=False)
class ScoresDisplay(Display):
    """Densities of out-of-fold scores: new rows, known rows scaled to their share, and the gap.

    Parameters
    ----------
    edges : ndarray of shape (b + 1,)
        Ends of the bins, on an axis that draws the tails of the scores in.
    new, known : ndarray of shape (b,)
        Mass of the new rows and of the known rows in each bin; both sum to 1.
    share : float
        Share of the known rows among the new ones, by which ``known`` is scaled.
    label : label or None
        The class; None is all known classes together.
    in_doubt : bool, default=False
        Whether known classes may have moved: the gap is then not called unseen.

    Examples
    --------
    >>> from unseen.records import RocEvidence
    >>> from unseen.plots import ScoresDisplay
    >>> evidence = RocEvidence([0, 0, 1], [0, 0.5, 1], 0.5, 40, 40, thresholds=[2.0, 1.0, 0.0])
    >>> display = ScoresDisplay.from_evidence(evidence)
    >>> float(round(display.gap.sum(), 6))
    0.5
    """

    edges: FloatArray
    new: FloatArray
    known: FloatArray
    share: float
    label: Any = None
    in_doubt: bool = False

    @classmethod
    def from_estimate(
        cls, estimate: Estimate, label: Any = None, *, ax: Axes | None = None, theme: Theme = LIGHT
    ) -> Self:
        """Draw the scores behind an estimate that holds the ROC and its thresholds.

        ``label``, ``ax`` and ``theme`` are as for :meth:`from_evidence`.
        """
        evidence = chosen_evidence(estimate, label)
        return cls.from_evidence(evidence, label, estimate.may_be_moved, ax=ax, theme=theme)

    @classmethod
    def from_evidence(
        cls,
        evidence: RocEvidence,
        label: Any = None,
        in_doubt: bool = False,
        *,
        ax: Axes | None = None,
        theme: Theme = LIGHT,
    ) -> Self:
        """Draw the scores behind one ROC with thresholds.

        ``label`` and ``in_doubt`` are as for the class, ``ax`` and ``theme`` as for :meth:`plot`.
        """
        edges, *masses = binned_masses(squeezed(evidence))
        # A bin more at each end lets the smoothed curves come down to zero; no mass is lost.
        width = edges[1] - edges[0]
        edges = np.array([edges[0] - width, *edges, edges[-1] + width])
        new, known = (np.convolve(mass, [0.25, 0.5, 0.25]) for mass in masses)
        found = cls(edges, new, known, float(evidence.right_slope), label, in_doubt)
        return found.plot(ax, theme=theme)

    @property
    def gap(self) -> FloatArray:
        """Mass of the new rows that known rows do not account for; the sum is ``1 - share``."""
        return np.asarray(self.new - self.share * self.known)

    def _draw(self, ax: Axes, theme: Theme) -> None:
        middles = (self.edges[1:] + self.edges[:-1]) / 2
        width = self.edges[1] - self.edges[0]
        new, known = self.new / width, self.share * self.known / width
        name = canvas.literal(self.label, _LONGEST_NAME)
        what = "known rows" if self.label is None else f"rows of class {name}"
        what = f"{what}, scaled to {short_share(self.share)}"
        ax.fill_between(middles, known, color=theme.known, alpha=0.3, linewidth=0, label=what)
        gap: dict[str, Any] = {"where": new > known, "interpolate": True, "linewidth": 0}
        gap |= {"facecolor": "none", "edgecolor": theme.unseen, "hatch": "////"}
        ax.fill_between(middles, known, new, **gap)
        ax.plot(middles, new, color=theme.ink, linewidth=1.8, label="new rows")
        canvas.frame(ax, theme)
        top = 1.12 * float(max(new.max(), known.max()))
        ax.set(xticks=[], yticks=[], ylim=(0, top), xlim=middles[[0, -1]])
        ax.spines["left"].set_visible(False)
        ax.set_xlabel(f"Score: looks known ← → looks new\n{len(new) - 2} bins, lightly smoothed")
        ax.xaxis.label.set_fontsize(SMALL)
        canvas.legend_above(ax, theme, handlelength=1.4)
        # The verdict stands in the middle of the gap where it is high enough, else above.
        rest = short_share(min(max(1.0 - self.share, 0.0), 1.0))
        if self.label is None:
            verdict, nothing = f"unseen, {rest}", "nothing unseen"
        else:
            verdict, nothing = f"not {name}, {rest}", f"all {name}"
        if self.in_doubt or rest == short_share(0.0):
            verdict = "moved or new" if self.in_doubt else nothing
        widest = int(np.argmax(new - known))
        across = (middles[widest] - middles[0]) / (middles[-1] - middles[0])
        side = "left" if across < 0.25 else "right" if across > 0.75 else "center"
        place, lift, rests = new[widest], 7, "bottom"
        if side == "center" and (new - known)[widest] > 0.35 * new.max():
            place, lift, rests = (new + known)[widest] / 2, 0, "center"
        look: dict[str, Any] = {"horizontalalignment": side, "verticalalignment": rests}
        look |= {"color": theme.unseen, "fontweight": "bold", "bbox": canvas.patch_of_paper(theme)}
        where = middles[widest], place
        ax.annotate(verdict, where, (0, lift), textcoords="offset points", **look)


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


def binned_masses(
    evidence: RocEvidence, n_bins: int | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Edges (b + 1,) of equal bins of the score, and the mass of new and of known rows in each.

    Between two thresholds the rows are taken as evenly spread, and each mass sums to 1. Where
    ``n_bins`` is None there are three times the cube root of the smaller sample, from 16 to 56.
    """
    thresholds, below_new, below_known = _rising(evidence)
    rows = min(evidence.n_new, evidence.n_labelled)
    if n_bins is None:
        n_bins = int(np.clip(round(3 * rows ** (1 / 3)), _FEWEST_BINS, _MOST_BINS))
    # Nearly all of both samples: a few outliers must not squeeze the rest.
    mean = (below_new + below_known) / 2
    inside = np.flatnonzero((mean > _TAIL) & (mean < 1 - _TAIL))
    first, last = (inside[0] - 1, inside[-1] + 1) if inside.size else (0, len(mean) - 1)
    low, high = float(thresholds[max(first, 0)]), float(thresholds[min(last, len(mean) - 1)])
    if high <= low:
        low, high = low - 0.5, low + 0.5
    edges = np.linspace(low, high, n_bins + 1)
    below = np.array([np.interp(edges, thresholds, one) for one in (below_new, below_known)])
    below[:, 0], below[:, -1] = 0.0, 1.0
    new, known = np.diff(below)
    return edges, new, known


def squeezed(evidence: RocEvidence) -> RocEvidence:
    """A ROC with the tails of its scores drawn in: ``asinh((score - median) / spread)``.

    The spread is the distance between the quartiles of both samples together.
    """
    thresholds, below_new, below_known = _rising(evidence)
    quartiles = np.interp((0.25, 0.5, 0.75), (below_new + below_known) / 2, thresholds)
    spread = quartiles[2] - quartiles[0] or 1.0
    return replace(evidence, thresholds=np.arcsinh((thresholds[::-1] - quartiles[1]) / spread))


def _rising(evidence: RocEvidence) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Thresholds from the lowest, and the shares of new and of known rows that are not above."""
    if evidence.thresholds is None:
        raise ValueError(
            "evidence must hold the thresholds of its ROC to draw scores; got None for them."
        )
    # An infinite end moves to one typical step beyond the next threshold.
    found = evidence.thresholds[np.isfinite(evidence.thresholds)]
    step = (found[0] - found[-1]) / max(len(found) - 1, 1) or 1.0
    thresholds = np.clip(evidence.thresholds, found[-1] - step, found[0] + step)
    return thresholds[::-1], 1.0 - evidence.detection[::-1], 1.0 - evidence.false_alarm[::-1]
