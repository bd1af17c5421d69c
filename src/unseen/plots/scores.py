"""Score densities, and the gap between new rows and known ones.

A row of class i scores among the new rows as it does among the labelled ones. So the density of the
known rows, scaled to their share, lies under the density of the new rows, and the rest between the
two is the density of unseen rows, scaled to theirs: its area is the unseen share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from unseen._types import FloatArray
from unseen._wording import short_share
from unseen.plots.canvas import SMALL, Display, frame, legend_above, literal, patch_of_paper
from unseen.plots.densities import binned_masses, smoothed, squeezed
from unseen.plots.roc import chosen_evidence
from unseen.plots.theme import LIGHT, Theme
from unseen.records import Estimate, RocEvidence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ScoresDisplay"]

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
        """Draw the scores behind an estimate.

        Parameters
        ----------
        estimate : Estimate
            An estimate that holds the ROC and its thresholds.
        label, ax, theme
            As for :meth:`from_evidence`.
        """
        evidence = chosen_evidence(estimate, label)
        return cls.from_evidence(evidence, label, estimate.is_in_doubt, ax=ax, theme=theme)

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
        """Draw the scores behind one ROC.

        Parameters
        ----------
        evidence : RocEvidence
            A ROC with thresholds.
        label : label or None, default=None
            The class; None is all known classes together.
        in_doubt : bool, default=False
            Whether known classes may have moved.
        ax, theme
            As for :meth:`plot`.
        """
        edges, *masses = binned_masses(squeezed(evidence))
        # An empty bin at each end lets the curves come down to zero.
        width = edges[1] - edges[0]
        edges = np.array([edges[0] - width, *edges, edges[-1] + width])
        new, known = (smoothed(np.pad(mass, 1)) for mass in masses)
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
        ax.fill_between(
            middles,
            known,
            color=theme.known,
            alpha=0.3,
            linewidth=0,
            label=f"{what}, scaled to {short_share(self.share)}",
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
        legend_above(ax, theme, handlelength=1.4)
        widest = int(np.argmax(new - known))
        across = (middles[widest] - middles[0]) / (middles[-1] - middles[0])
        side = "left" if across < 0.25 else "right" if across > 0.75 else "center"
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
        if self.in_doubt:
            return "moved or new"
        rest = short_share(min(max(1.0 - self.share, 0.0), 1.0))
        if rest == short_share(0.0):
            return "nothing unseen" if self.label is None else f"all {self._name()}"
        return f"unseen, {rest}" if self.label is None else f"not {self._name()}, {rest}"

    def _name(self) -> str:
        return literal(self.label, _LONGEST_NAME)
