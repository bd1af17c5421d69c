"""Score densities, and the gap between new rows and known ones.

A row of class i scores among the new rows as it does among the labelled ones. So the density of the
known rows, scaled to their share, lies under that of the new rows, and what is left between the two
is the density of unseen rows, scaled to theirs: its area is the unseen share.

The densities are differences of the ROC along its thresholds. They are counted in at most 56 equal
bins, fewer for small samples, and smoothed with weights 1/4, 1/2, 1/4 over neighbouring bins, both
samples alike. Neither changes an area. The rare rows beyond the range that is drawn are counted in
its outermost bins. Scores have no unit and often a long tail, so that the axis is squeezed at both
ends by asinh; that moves rows along, and changes no area either.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from unseen._types import FloatArray
from unseen.plots.canvas import SMALL, Display, frame, patch_of_paper, percent, plain
from unseen.plots.evidence import chosen_evidence
from unseen.plots.theme import LIGHT, Theme
from unseen.records import Estimate, RocEvidence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ScoresDisplay", "binned_masses", "smoothed", "squeezed"]

_MOST_BINS = 56
_FEWEST_BINS = 16
_TAIL = 0.004
_LONGEST_NAME = 16


@dataclass(eq=False)
class ScoresDisplay(Display):
    """Densities of out-of-fold scores: new rows, known rows scaled to their share, and the gap.

    Parameters
    ----------
    edges : ndarray of shape (b + 1,)
        Ends of the bins, on the squeezed axis.
    new, known : ndarray of shape (b,)
        Mass of the new rows and of the known rows in each bin; both sum to 1.
    share : float
        Share of the known rows among the new ones, by which ``known`` is scaled.
    label : label or None
        The class; None is all known classes together.

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

    @classmethod
    def from_estimate(
        cls, estimate: Estimate, label: Any = None, *, ax: Axes | None = None, theme: Theme = LIGHT
    ) -> Self:
        """Draw the scores behind an estimate.

        Parameters
        ----------
        estimate : Estimate
            One that holds the ROC.
        label : label or None, default=None
            A known class; None is all of them together.
        ax, theme
            As for :meth:`plot`.

        Returns
        -------
        ScoresDisplay
        """
        return cls.from_evidence(chosen_evidence(estimate, label), label, ax=ax, theme=theme)

    @classmethod
    def from_evidence(
        cls,
        evidence: RocEvidence,
        label: Any = None,
        *,
        ax: Axes | None = None,
        theme: Theme = LIGHT,
    ) -> Self:
        """Draw the scores behind one ROC.

        Parameters
        ----------
        evidence : RocEvidence
            With thresholds.
        label : label or None, default=None
            The class that it is of; None is all known classes together.
        ax, theme
            As for :meth:`plot`.

        Returns
        -------
        ScoresDisplay
        """
        edges, *masses = binned_masses(squeezed(evidence))
        # An empty bin at each end lets the curves come down to zero.
        width = edges[1] - edges[0]
        edges = np.array([edges[0] - width, *edges, edges[-1] + width])
        new, known = (smoothed(np.pad(mass, 1)) for mass in masses)
        return cls(edges, new, known, float(evidence.right_slope), label).plot(ax, theme=theme)

    @property
    def gap(self) -> FloatArray:
        """Mass of the new rows that known ones do not account for; it sums to ``1 - share``."""
        return np.asarray(self.new - self.share * self.known)

    def _draw(self, ax: Axes, theme: Theme) -> None:
        middles = (self.edges[1:] + self.edges[:-1]) / 2
        width = self.edges[1] - self.edges[0]
        new, known = self.new / width, self.share * self.known / width
        what = "known rows" if self.label is None else f"rows of class {self._name()}"
        ax.fill_between(
            middles,
            known,
            color=theme.known,
            alpha=0.3,
            linewidth=0,
            label=f"{what}, scaled to {percent(self.share)}",
        )
        ax.fill_between(
            middles,
            known,
            new,
            where=new > known,
            interpolate=True,
            facecolor="none",
            edgecolor=theme.unseen,
            hatch="////",
            linewidth=0,
        )
        ax.plot(middles, new, color=theme.ink, linewidth=1.8, label="new rows")
        self._write(ax, theme, middles, new, known)

    def _write(
        self, ax: Axes, theme: Theme, middles: FloatArray, new: FloatArray, known: FloatArray
    ) -> None:
        frame(ax, theme)
        ax.set(
            xticks=[],
            yticks=[],
            ylim=(0, 1.12 * float(max(new.max(), known.max()))),
            xlim=(middles[0], middles[-1]),
        )
        ax.spines["left"].set_visible(False)
        ax.set_xlabel(f"Score: looks known ← → looks new\n{len(new) - 2} bins, lightly smoothed")
        ax.xaxis.label.set_fontsize(SMALL)
        ax.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1),
            frameon=False,
            fontsize=SMALL,
            labelcolor=theme.ink,
            handlelength=1.4,
            borderaxespad=0.2,
        )
        widest = int(np.argmax(new - known))
        side = _towards_the_middle(middles, widest)
        has_room = side == "center" and (new - known)[widest] > 0.35 * new.max()
        ax.annotate(
            self._verdict(),
            (middles[widest], (new + known)[widest] / 2 if has_room else new[widest]),
            (0, 0 if has_room else 7),
            textcoords="offset points",
            horizontalalignment=side,
            verticalalignment="center" if has_room else "bottom",
            color=theme.unseen,
            fontweight="bold",
            bbox=patch_of_paper(theme),
        )

    def _verdict(self) -> str:
        rest = percent(min(max(1.0 - self.share, 0.0), 1.0))
        if rest == percent(0.0):
            return "nothing unseen" if self.label is None else f"all {self._name()}"
        return f"unseen, {rest}" if self.label is None else f"not {self._name()}, {rest}"

    def _name(self) -> str:
        return plain(self.label, _LONGEST_NAME)


def binned_masses(
    evidence: RocEvidence, n_bins: int | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mass of new and of known rows in equal bins of the score, from the ROC and its thresholds.

    Between two thresholds the rows are taken as evenly spread.

    Parameters
    ----------
    evidence : RocEvidence
        With thresholds.
    n_bins : int or None, default=None
        None is three times the cube root of the smaller sample, from 16 to 56.

    Returns
    -------
    edges : ndarray of shape (b + 1,)
    new, known : ndarray of shape (b,)
        Each sums to 1.

    Examples
    --------
    >>> from unseen.records import RocEvidence
    >>> from unseen.plots.scores import binned_masses
    >>> evidence = RocEvidence([0, 0, 1], [0, 0.5, 1], 0.5, 40, 40, thresholds=[2.0, 1.0, 0.0])
    >>> edges, new, known = binned_masses(evidence, 4)
    >>> new, known
    (array([0.25, 0.25, 0.25, 0.25]), array([0.5, 0.5, 0. , 0. ]))
    """
    thresholds, below_new, below_known = _rising(evidence)
    rows = min(evidence.n_new, evidence.n_labelled)
    if n_bins is None:
        n_bins = int(np.clip(round(3 * rows ** (1 / 3)), _FEWEST_BINS, _MOST_BINS))
    low, high = _range(thresholds, below_new, below_known)
    edges = np.linspace(low, high, n_bins + 1)
    return (
        edges,
        _masses(edges, thresholds, below_new),
        _masses(edges, thresholds, below_known),
    )


def squeezed(evidence: RocEvidence) -> RocEvidence:
    """The same ROC with the tails of its scores drawn in: ``asinh((score - median) / spread)``.

    The spread is the distance between the quartiles of both samples together.

    Parameters
    ----------
    evidence : RocEvidence
        With thresholds.

    Returns
    -------
    RocEvidence

    Examples
    --------
    >>> from unseen.records import RocEvidence
    >>> evidence = RocEvidence([0, 0.5, 1], [0, 0.5, 1], 1.0, 9, 9, thresholds=[2.0, 0.0, -2.0])
    >>> squeezed(evidence).thresholds.round(2)
    array([ 0.88,  0.  , -0.88])
    """
    thresholds, below_new, below_known = _rising(evidence)
    quartiles = np.interp((0.25, 0.5, 0.75), (below_new + below_known) / 2, thresholds)
    spread = quartiles[2] - quartiles[0] or 1.0
    return replace(evidence, thresholds=np.arcsinh((thresholds[::-1] - quartiles[1]) / spread))


def smoothed(masses: FloatArray) -> FloatArray:
    """Means over neighbouring bins with weights 1/4, 1/2, 1/4; the total stays.

    Examples
    --------
    >>> import numpy as np
    >>> smoothed(np.array([0.0, 1.0, 0.0, 0.0])), smoothed(np.array([1.0, 0.0]))
    (array([0.25, 0.5 , 0.25, 0.  ]), array([0.75, 0.25]))
    """
    padded = np.pad(masses, 1, mode="edge")
    return np.asarray((padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4)


def _rising(evidence: RocEvidence) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Thresholds from the lowest, and the shares of new and of known rows that are not above."""
    if evidence.thresholds is None:
        raise ValueError(
            "evidence must hold the thresholds of its ROC to draw scores; got None for them."
        )
    return (
        _finite(evidence.thresholds)[::-1],
        1.0 - evidence.detection[::-1],
        1.0 - evidence.false_alarm[::-1],
    )


def _finite(thresholds: FloatArray) -> FloatArray:
    """Infinite ends moved to one typical step beyond the next threshold."""
    found = thresholds[np.isfinite(thresholds)]
    step = (found[0] - found[-1]) / max(len(found) - 1, 1) or 1.0
    return np.clip(thresholds, found[-1] - step, found[0] + step)


def _range(
    thresholds: FloatArray, below_new: FloatArray, below_known: FloatArray
) -> tuple[float, float]:
    """Scores that hold nearly all of both samples: a few outliers must not squeeze the rest."""
    below = (below_new + below_known) / 2
    inside = np.flatnonzero((below > _TAIL) & (below < 1 - _TAIL))
    first, last = (inside[0] - 1, inside[-1] + 1) if inside.size else (0, len(below) - 1)
    low, high = float(thresholds[max(first, 0)]), float(thresholds[min(last, len(below) - 1)])
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _masses(edges: FloatArray, thresholds: FloatArray, below: FloatArray) -> FloatArray:
    at_edges = np.interp(edges, thresholds, below)
    at_edges[0], at_edges[-1] = 0.0, 1.0
    return np.diff(at_edges)


def _towards_the_middle(middles: FloatArray, place: int) -> str:
    across = (middles[place] - middles[0]) / (middles[-1] - middles[0])
    if across < 0.25:
        return "left"
    return "right" if across > 0.75 else "center"
