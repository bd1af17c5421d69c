"""The regions of the labels of a rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from unseen.plots import canvas
from unseen.plots.canvas import Axes, Display
from unseen.plots.theme import LIGHT, Theme

if TYPE_CHECKING:
    from unseen.rejection.views import Regions

_MARKERS = "os^vP*X"


@dataclass(eq=False)
class RegionsDisplay(Display):
    """Decision regions of a rejection rule over a window of two features; unseen is hatched.

    Parameters
    ----------
    regions : Regions
        The labels, as :func:`~unseen.rejection.label_regions` finds them.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.plots import RegionsDisplay
    >>> from unseen.rejection.views import Regions
    >>> x = y = np.linspace(0, 1, 3)
    >>> codes = np.array([[0, 0, 1]] * 3)
    >>> regions = Regions(x, y, codes, ("cat", "unseen"), 1, points=np.array([[0.1, 0.5]]))
    >>> display = RegionsDisplay.from_regions(regions)
    >>> [text.get_text() for text in display.ax_.get_legend().get_texts()]
    ['cat', 'unseen']
    """

    regions: Regions

    @classmethod
    def from_regions(
        cls, regions: Regions, *, ax: Axes | None = None, theme: Theme = LIGHT
    ) -> Self:
        """Draw the regions of a rule; ``ax`` and ``theme`` are as for :meth:`plot`."""
        return cls(regions).plot(ax, theme=theme)

    def _height(self) -> float:
        return 3.9

    def _draw(self, ax: Axes, theme: Theme) -> None:
        from matplotlib.patches import Patch

        regions, known, keys = self.regions, [theme.known, *theme.series], []
        colours = [
            theme.unseen if code == regions.unseen else known[code % len(known)]
            for code in range(len(regions.names))
        ]
        for code, (name, colour) in enumerate(zip(regions.names, colours, strict=True)):
            # A border is drawn halfway between two points of the lattice.
            here = (regions.codes == code).astype(float)
            area = ax.contourf(regions.x, regions.y, here, levels=[0.5, 1.5], colors=[colour])
            key: dict[str, Any] = {"facecolor": (colour, 0.3)}
            if code == regions.unseen:
                area.set(hatch="///", edgecolor=colour, facecolor="none", linewidth=0)
                key = {"facecolor": "none", "hatch": "///"}
            else:
                area.set_alpha(0.3)
            keys.append(Patch(edgecolor=colour, label=canvas.literal(name, 14), **key))
        self._draw_points(ax, theme, colours)
        canvas.frame(ax, theme)
        ax.set(xlim=regions.x[[0, -1]], ylim=regions.y[[0, -1]])
        canvas.legend_above(ax, theme, handles=keys, ncols=3)

    def _draw_points(self, ax: Axes, theme: Theme, colours: list[str]) -> None:
        points, codes = self.regions.points, self.regions.point_codes
        codes = np.full(len(points), -1) if codes is None else codes
        style: dict[str, Any] = {"linestyle": "none", "markeredgecolor": theme.paper}
        style |= {"markersize": 5, "markeredgewidth": 0.4}
        for code in np.unique(codes):
            colour = theme.ink if code < 0 else colours[code]
            marker = "." if code < 0 else _MARKERS[code % len(_MARKERS)]
            ax.plot(*points[codes == code].T, marker=marker, color=colour, **style)
