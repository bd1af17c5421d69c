"""The value of labelling k more rows, as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from unseen._types import FloatArray
from unseen.labelling import LabellingValue
from unseen.plots import canvas
from unseen.plots.canvas import SMALL, Display
from unseen.plots.theme import LIGHT, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False)
class LabellingDisplay(Display):
    """Half-width of the interval against rows labelled by hand: alone, and with the estimate.

    Parameters
    ----------
    value : LabellingValue
        The half-widths, as :func:`~unseen.labelling.labelling_value` finds them.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.labelling import LabellingValue
    >>> from unseen.plots import LabellingDisplay
    >>> value = LabellingValue(None, 0.5, 0.098, 0.95, np.array([10, 100, 1000]))
    >>> LabellingDisplay.from_value(value).ax_.get_xscale()
    'log'
    """

    value: LabellingValue

    @classmethod
    def from_value(
        cls, value: LabellingValue, *, ax: Axes | None = None, theme: Theme = LIGHT
    ) -> Self:
        """Draw the value of labels; ``ax`` and ``theme`` are as for :meth:`plot`."""
        return cls(value).plot(ax, theme=theme)

    def _draw(self, ax: Axes, theme: Theme) -> None:
        value = self.value
        first, last = float(value.sizes.min()), float(value.sizes.max())
        has_worth = 0 < value.worth < np.inf  # a place on an axis of logarithms
        if has_worth:
            first, last = min(first, value.worth), max(last, value.worth)
        rows = np.geomspace(first / 1.3, 1.3 * last, 60)
        alone, together = value.half_width_alone(rows), value.half_width_together(rows)
        ax.plot(rows, 100 * alone, color=theme.known, linestyle=(0, (5, 2)), label="labels alone")
        ax.axhline(100 * value.half_width, color=theme.muted, linewidth=1.2, linestyle=":")
        ax.plot(rows, 100 * together, color=theme.unseen, linewidth=2.4, label="with this estimate")
        ax.plot(value.sizes, 100 * value.together, "D", color=theme.unseen, markersize=4)
        if has_worth:
            ax.plot(value.worth, 100 * value.half_width, "o", color=theme.ink, markersize=6)
        self._write(ax, theme, rows)

    def _write(self, ax: Axes, theme: Theme, rows: FloatArray) -> None:
        from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

        value = self.value
        canvas.frame(ax, theme, grid="both")
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(10))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda size, _: f"{size:,.0f}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set_xlim(rows[0], rows[-1])
        # Few labels say so little that their curve would flatten everything else.
        tallest = min(float(value.half_width_alone(rows[0])), max(4 * value.half_width, 0.02))
        ax.set_ylim(0, 105 * tallest)
        name = "unseen" if value.label is None else canvas.literal(value.label, 14)
        ax.set_xlabel("New rows labelled by hand")
        ax.set_ylabel(f"± points, {name} share")
        ax.set_title(value.sentence, loc="left", fontsize=10, color=theme.ink)
        self._name_the_estimate(ax, theme, rows)
        ax.legend(frameon=False, fontsize=SMALL, labelcolor=theme.ink, loc="lower left")

    def _name_the_estimate(self, ax: Axes, theme: Theme, rows: FloatArray) -> None:
        """Name the dotted line above it, at the end where the curve of labels is far away."""
        is_right = self.value.worth < np.sqrt(rows[0] * rows[-1])
        place = (1.0 if is_right else 0.0, 100 * self.value.half_width)
        look: dict[str, Any] = {"color": theme.muted, "fontsize": SMALL, "va": "bottom"}
        look |= {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
        side, shift = ("right", -4) if is_right else ("left", 4)
        ax.annotate("this estimate alone", place, (shift, 2), ha=side, **look)
