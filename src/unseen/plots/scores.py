"""Score densities, and the gap between new rows and known ones.

The density of the known rows, scaled to their share, lies under the density of the new rows, and
the rest between the two is the density of unseen rows: its area is the unseen share. Densities are
differences of the ROC in equal bins, smoothed over neighbouring bins. Scores often have a long
tail: asinh squeezes both ends of the axis, and the outermost bins hold the rows beyond them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from unseen._types import FloatArray
from unseen._wording import short_share
from unseen.plots import canvas
from unseen.plots.canvas import SMALL, Axes, Display
from unseen.plots.roc import chosen_evidence
from unseen.plots.theme import LIGHT, Theme
from unseen.records import Estimate, RocEvidence

_LONGEST_NAME = 16
_MOST_BINS, _FEWEST_BINS = 56, 16
_TAIL = 0.004


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
        what = "known rows" if self.label is None else f"rows of class {self._name()}"
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
        self._write_verdict(ax, theme, middles, new, known)

    def _write_verdict(
        self, ax: Axes, theme: Theme, middles: FloatArray, new: FloatArray, known: FloatArray
    ) -> None:
        """In the middle of the gap where it is high enough there, else above it."""
        widest = int(np.argmax(new - known))
        across = (middles[widest] - middles[0]) / (middles[-1] - middles[0])
        side = "left" if across < 0.25 else "right" if across > 0.75 else "center"
        place, lift, rests = new[widest], 7, "bottom"
        if side == "center" and (new - known)[widest] > 0.35 * new.max():
            place, lift, rests = (new + known)[widest] / 2, 0, "center"
        look: dict[str, Any] = {"horizontalalignment": side, "verticalalignment": rests}
        look |= {"color": theme.unseen, "fontweight": "bold", "bbox": canvas.patch_of_paper(theme)}
        where = middles[widest], place
        ax.annotate(self._verdict(), where, (0, lift), textcoords="offset points", **look)

    def _verdict(self) -> str:
        if self.in_doubt:
            return "moved or new"
        rest = short_share(min(max(1.0 - self.share, 0.0), 1.0))
        if rest == short_share(0.0):
            return "nothing unseen" if self.label is None else f"all {self._name()}"
        return f"unseen, {rest}" if self.label is None else f"not {self._name()}, {rest}"

    def _name(self) -> str:
        return canvas.literal(self.label, _LONGEST_NAME)


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
