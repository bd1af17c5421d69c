"""How much must be new even if known classes changed, factor by factor, as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from unseen.drift import Tolerance
from unseen.plots import canvas
from unseen.plots.canvas import SMALL, Display
from unseen.plots.theme import LIGHT, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEAST_END, _LARGEST_END = 3.0, 30.0


@dataclass(eq=False)
class ToleranceDisplay(Display):
    """The share that must be new against the factor by which known rows became more common.

    Parameters
    ----------
    tolerance : Tolerance
        The limits, as in ``Estimate.drift.tolerance``.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.drift import Tolerance
    >>> from unseen.plots import ToleranceDisplay
    >>> display = ToleranceDisplay.from_tolerance(Tolerance(np.array([0.1]), np.array([0.4])))
    >>> display.ax_.get_ylabel()
    'Must be new, 95% sure'
    """

    tolerance: Tolerance

    @classmethod
    def from_tolerance(
        cls, tolerance: Tolerance, *, ax: Axes | None = None, theme: Theme = LIGHT
    ) -> Self:
        """Draw the curve; ``ax`` and ``theme`` are as for :meth:`plot`."""
        return cls(tolerance).plot(ax, theme=theme)

    def _draw(self, ax: Axes, theme: Theme) -> None:
        gamma = self.tolerance.gamma
        last = float(np.clip(1.25 * gamma, _LEAST_END, _LARGEST_END))
        factors = np.linspace(1.0, last, 200)
        must = np.array([self.tolerance.must(factor) for factor in factors])
        ax.plot(factors, must, color=theme.unseen, linewidth=2.4)
        ax.fill_between(factors, must, color=theme.unseen, alpha=0.15, linewidth=0)
        canvas.frame(ax, theme, grid="both")
        ax.set_xlim(1.0, last)
        ax.set_ylim(0.0, max(1.1 * float(must[0]), 0.01))
        canvas.percent_axis(ax.yaxis)
        ax.set_xlabel("Known rows of a kind became at most so many times as common")
        ax.set_ylabel("Must be new, 95% sure")
        if 1.0 < gamma <= last:
            ax.plot(gamma, 0.0, "o", color=theme.ink, markersize=6, clip_on=False)
            look: dict[str, Any] = {"color": theme.ink, "fontsize": SMALL, "va": "bottom"}
            look |= {"ha": "left", "textcoords": "offset points"}
            ax.annotate(f"{gamma:.1f} times", (gamma, 0.0), (5, 6), **look)
