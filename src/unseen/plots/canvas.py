"""What all displays share: a figure of their own or the user's axes, and text that is only text.

Nothing here touches pyplot, and matplotlib's settings are afterwards as they were.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.optimize import isotonic_regression

from unseen._types import FloatArray
from unseen.plots.theme import LIGHT, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Display", "matplotlib_defaults", "percent", "plain", "spread"]

# Inches. So wide a picture keeps its text readable on a phone, 320 px across.
WIDTH = 4.4
SMALL = 9
_DOTS_PER_INCH = 144
_SETTINGS = {
    "font.size": 10,
    "axes.labelsize": 10,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "unseen",  # names inside an SVG, and so its bytes, are the same each time
    "hatch.linewidth": 0.8,
}


class Display(ABC):
    """A picture of one record: made by ``from_...``, drawn by :meth:`plot`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn last.
    figure_ : matplotlib Figure
        The figure of those axes.
    """

    ax_: Axes
    figure_: Figure

    def plot(self, ax: Axes | None = None, *, theme: Theme = LIGHT) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where; None is a new figure of a fitting size, which pyplot does not know of.
        theme : Theme, default=LIGHT
            Its colours.

        Returns
        -------
        self
            With ``ax_`` and ``figure_``.
        """
        with matplotlib_defaults() as matplotlib:
            if ax is None:
                figure = matplotlib.figure.Figure(figsize=self._size(), layout="constrained")
                figure.set_facecolor(theme.paper)
                ax = figure.add_subplot()
            self._draw(ax, theme)
        self.ax_, self.figure_ = ax, ax.figure  # type: ignore[assignment]
        return self

    @abstractmethod
    def _draw(self, ax: Axes, theme: Theme) -> None:
        """Put everything on the axes."""

    def _size(self) -> tuple[float, float]:
        """Width and height of a new figure, in inches."""
        return WIDTH, 3.2

    def _repr_png_(self) -> bytes | None:
        """The picture in a notebook; None where pyplot will show the figure anyway."""
        figure = getattr(self, "figure_", None)
        if figure is None or getattr(figure.canvas, "manager", None) is not None:
            return None
        picture = BytesIO()
        with matplotlib_defaults():
            figure.savefig(picture, format="png", dpi=_DOTS_PER_INCH, metadata={"Software": None})
        return picture.getvalue()


@contextmanager
def matplotlib_defaults(settings: Mapping[str, Any] = _SETTINGS) -> Iterator[Any]:
    """Matplotlib with its own defaults and ours, whatever the user has set, for a moment only."""
    try:
        import matplotlib
        import matplotlib.figure
        import matplotlib.style
    except ImportError as error:
        raise ImportError(
            'plots need matplotlib, which is not installed. Try: pip install "unseen[plot]"'
        ) from error
    with matplotlib.style.context(["default", dict(settings)]):
        yield matplotlib


def frame(ax: Axes, theme: Theme, grid: str | None = None) -> None:
    """Two thin axes in the theme's colours and, where asked, lines along x, y or both."""
    ax.set_facecolor("none")
    ax.spines[["top", "right"]].set_visible(False)
    for spine in ax.spines.values():
        spine.set_color(theme.muted)
    ax.tick_params(colors=theme.muted, labelcolor=theme.ink, which="both")
    for text in (ax.xaxis.label, ax.yaxis.label, ax.title):
        text.set_color(theme.ink)
    if grid is not None:
        ax.grid(axis=grid, color=theme.grid, linewidth=0.7)  # type: ignore[arg-type]
        ax.set_axisbelow(True)


def percent_axis(axis: Any) -> None:
    """Shares as percentages along an axis."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda share, _: f"{round(100 * share, 6):g}%"))


def patch_of_paper(theme: Theme) -> dict[str, Any]:
    """A ``bbox`` that keeps text readable on lines; with a stroked outline it would be paths."""
    return {"facecolor": theme.paper, "alpha": 0.8, "edgecolor": "none", "pad": 1.5}


def plain(text: Any, longest: int | None = None) -> str:
    r"""Text for matplotlib that shows as it is: on one line, no mathematics, not too long.

    Parameters
    ----------
    text : object
        What to show; labels may be numbers.
    longest : int or None, default=None
        Characters to keep; what is longer loses its middle.

    Examples
    --------
    >>> from unseen.plots.canvas import plain
    >>> plain("a very long name of a class", 13)
    'a very… class'
    >>> print(plain("$5 and\n$6"))
    \$5 and \$6
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())
    if longest is not None and len(line) > longest:
        line = f"{line[: longest // 2]}…{line[len(line) - (longest - 1) // 2 :]}"
    return line.replace("$", r"\$")


def percent(share: float) -> str:
    """A share with about two digits: 32%, 1.8%, 0%.

    Examples
    --------
    >>> from unseen.plots.canvas import percent
    >>> percent(0.316), percent(0.0178), percent(0.0)
    ('32%', '1.8%', '0%')
    """
    digits = 1 if 0.0005 <= abs(share) < 0.0995 else 0
    return f"{abs(share) if digits == 0 and abs(share) < 0.005 else share:.{digits}%}"


def spread(wanted: Sequence[float] | FloatArray, gap: float) -> FloatArray:
    """Places at least ``gap`` apart, in the same order and as near the wanted ones as can be.

    Parameters
    ----------
    wanted : array-like of shape (n,)
        Where labels would like to be.
    gap : float
        Least distance between two.

    Returns
    -------
    ndarray of shape (n,)
        The least-squares answer.

    Examples
    --------
    >>> from unseen.plots.canvas import spread
    >>> spread([0.5, 0.5, 0.9], 0.2)
    array([0.4, 0.6, 0.9])
    """
    wanted = np.asarray(wanted, dtype=np.float64)
    order = np.argsort(wanted, kind="stable")
    steps = gap * np.arange(len(wanted))
    places = np.empty(len(wanted))
    places[order] = isotonic_regression(wanted[order] - steps).x + steps
    return places
