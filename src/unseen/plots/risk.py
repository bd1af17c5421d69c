"""The estimated risk of a rule, with its standard error, at every threshold of novelty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from unseen._wording import short_share
from unseen.plots.canvas import SMALL, Display, frame, patch_of_paper, percent_axis
from unseen.plots.theme import LIGHT, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from unseen.rejection.risk.curve import RiskCurve

__all__ = ["RiskDisplay"]


@dataclass(eq=False)
class RiskDisplay(Display):
    """Risk against the threshold from which a row is called unseen, and one standard error.

    Parameters
    ----------
    curve : RiskCurve
        The risks, as :func:`~unseen.rejection.risk_curve` estimates them.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.plots import RiskDisplay
    >>> from unseen.rejection.risk.curve import RiskCurve
    >>> curve = RiskCurve(np.array([0, 0.5, 1]), np.array([0.5, 0.1, 0.5]), np.zeros(3), 0.5, 0.1)
    >>> [text.get_text() for text in RiskDisplay.from_curve(curve).ax_.texts]
    ['10% wrong']
    """

    curve: RiskCurve

    @classmethod
    def from_curve(cls, curve: RiskCurve, *, ax: Axes | None = None, theme: Theme = LIGHT) -> Self:
        """Draw the risks of a rule; ``ax`` and ``theme`` are as for :meth:`plot`."""
        return cls(curve).plot(ax, theme=theme)

    def _draw(self, ax: Axes, theme: Theme) -> None:
        curve = self.curve
        lower, upper = curve.risks - curve.standard_errors, curve.risks + curve.standard_errors
        ax.fill_between(curve.thresholds, lower, upper, color=theme.known, alpha=0.2, linewidth=0)
        ax.plot(curve.thresholds, curve.risks, color=theme.known, linewidth=2)
        ax.axvline(curve.threshold, color=theme.muted, linewidth=1, linestyle=":")
        ax.plot(curve.threshold, curve.risk, "D", color=theme.unseen, markersize=7)
        ax.annotate(
            f"{short_share(curve.risk)} wrong",
            (curve.threshold, curve.risk),
            (0, 24),
            textcoords="offset points",
            horizontalalignment="center",
            color=theme.unseen,
            fontweight="bold",
            bbox=patch_of_paper(theme),
        )
        frame(ax, theme, grid="y")
        percent_axis(ax.yaxis)
        ax.set_xlim(0, 1)
        ax.set_ylim(bottom=min(0.0, float(lower.min())))
        ax.set_xlabel("Novelty from which a row is called unseen\nband: one standard error")
        ax.xaxis.label.set_fontsize(SMALL)
        ax.set_ylabel("Wrong labels, estimated")
