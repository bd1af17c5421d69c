"""The regions of two features that a rule gives each label; the unseen region is hatched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from unseen.plots.canvas import WIDTH, Display, frame, legend_above, literal
from unseen.plots.theme import LIGHT, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from unseen.rejection.regions import Regions

__all__ = ["RegionsDisplay"]

_MARKERS = "os^vP*X"


@dataclass(eq=False)
class RegionsDisplay(Display):
    """Decision regions of a rejection rule over a window of two features.

    Parameters
    ----------
    regions : Regions
        The labels, as :func:`~unseen.rejection.label_regions` finds them.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.plots import RegionsDisplay
    >>> from unseen.rejection.regions import Regions
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

    def _size(self) -> tuple[float, float]:
        return WIDTH, 3.9

    def _draw(self, ax: Axes, theme: Theme) -> None:
        regions, known = self.regions, [theme.known, *theme.series]
        colours = [
            theme.unseen if code == regions.unseen else known[code % len(known)]
            for code in range(len(regions.names))
        ]
        for code, colour in enumerate(colours):
            # A border is drawn halfway between two points of the lattice.
            here = (regions.codes == code).astype(float)
            area = ax.contourf(regions.x, regions.y, here, levels=[0.5, 1.5], colors=[colour])
            if code == regions.unseen:
                area.set(hatch="///", edgecolor=colour, facecolor="none", linewidth=0)
            else:
                area.set_alpha(0.3)
        self._draw_points(ax, theme, colours)
        frame(ax, theme)
        ax.set(xlim=regions.x[[0, -1]], ylim=regions.y[[0, -1]])
        legend_above(ax, theme, handles=self._keys(colours), ncols=3)

    def _draw_points(self, ax: Axes, theme: Theme, colours: list[str]) -> None:
        points, codes = self.regions.points, self.regions.point_codes
        codes = np.full(len(points), -1) if codes is None else codes
        style: dict[str, Any] = {"linestyle": "none", "markeredgecolor": theme.paper}
        style |= {"markersize": 5, "markeredgewidth": 0.4}
        for code in np.unique(codes):
            colour = theme.ink if code < 0 else colours[code]
            marker = "." if code < 0 else _MARKERS[code % len(_MARKERS)]
            ax.plot(*points[codes == code].T, marker=marker, color=colour, **style)

    def _keys(self, colours: list[str]) -> list[Any]:
        from matplotlib.patches import Patch

        keys = []
        for code, (name, colour) in enumerate(zip(self.regions.names, colours, strict=True)):
            look: dict[str, Any] = {"facecolor": (colour, 0.3)}
            if code == self.regions.unseen:
                look = {"facecolor": "none", "hatch": "///"}
            keys.append(Patch(edgecolor=colour, label=literal(name, 14), **look))
        return keys
