"""The base of all displays, their colours, and what several of them draw: frames, names, numbers.

Nothing here touches pyplot, and matplotlib's settings are afterwards as they were. A colour stands
for a role, so that one picture serves on light and on dark paper: known classes are always blue and
unseen classes red-orange. Colour-blind readers can tell the two apart; in greyscale shape, hatching
or weight does. Text in any of these colours has a contrast of at least 4.5 to 1 on its paper.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.optimize import isotonic_regression

from unseen._optional import needed
from unseen._types import FloatArray
from unseen._wording import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
else:  # matplotlib is imported when something is drawn
    Axes = Figure = Any

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


@dataclass(frozen=True)
class Theme:
    """Colours of a picture, as ``#rrggbb``; all of them differ.

    Parameters
    ----------
    ink : str
        Text.
    muted : str
        Axes, ticks, and secondary text.
    grid : str
        Lines of the grid.
    paper : str
        Background, and the lines between areas that touch.
    known : str
        Known classes.
    unseen : str
        Unseen classes.
    series : tuple of str
        Further known classes, where each needs a colour of its own.

    Examples
    --------
    >>> from unseen.plots import DARK, LIGHT
    >>> LIGHT.variables["--unseen"], DARK.variables["--unseen"]
    ('#c23b00', '#ff9466')
    >>> LIGHT.css().startswith("--ink: #1b1b1f; --muted:")
    True
    """

    ink: str
    muted: str
    grid: str
    paper: str
    known: str
    unseen: str
    series: tuple[str, ...]

    @property
    def variables(self) -> dict[str, str]:
        """Colour of each CSS variable that :func:`~unseen.plots.to_svg` writes."""
        roles = ("ink", "muted", "grid", "paper", "known", "unseen")
        named = {f"--{role}": getattr(self, role) for role in roles}
        return named | {f"--series-{place}": colour for place, colour in enumerate(self.series, 1)}

    def css(self) -> str:
        """Declarations of the variables, for a style sheet."""
        return " ".join(f"{name}: {colour};" for name, colour in self.variables.items())


LIGHT = Theme(
    ink="#1b1b1f",
    muted="#5f6368",
    grid="#dcdee2",
    paper="#ffffff",
    known="#0072b2",
    unseen="#c23b00",
    series=("#007a59", "#8a5a00", "#a3457a", "#33658a", "#5c5470"),
)
DARK = Theme(
    ink="#e8e8ed",
    muted="#a3a7ae",
    grid="#3a3c42",
    paper="#16171b",
    known="#6cb8ee",
    unseen="#ff9466",
    series=("#3fcfa4", "#e6b04d", "#e39cc4", "#9fc3de", "#b9b0d1"),
)


class Display(ABC):
    """A picture of one record: made by ``from_...``, drawn by :meth:`plot`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes of the last drawing.
    figure_ : matplotlib Figure
        The figure of those axes.
    """

    ax_: Axes
    figure_: Figure
    _inches: ClassVar = 3.2

    def plot(self, ax: Axes | None = None, *, theme: Theme = LIGHT) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a figure of a fitting size, unknown to pyplot.
        theme : Theme, default=LIGHT
            Colours of the picture.

        Returns
        -------
        self
            With ``ax_`` and ``figure_``.
        """
        with matplotlib_defaults() as matplotlib:
            if ax is None:
                size = WIDTH, self._height()
                figure = matplotlib.figure.Figure(figsize=size, layout="constrained")
                figure.set_facecolor(theme.paper)
                ax = figure.add_subplot()
            self._draw(ax, theme)
        self.ax_, self.figure_ = ax, ax.figure  # type: ignore[assignment]
        return self

    @abstractmethod
    def _draw(self, ax: Axes, theme: Theme) -> None:
        """Put everything on the axes."""

    def _height(self) -> float:
        """Height of a new figure, in inches."""
        return self._inches

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
    """Matplotlib with its defaults and ours inside the block, whatever the user has set."""
    for module in ("matplotlib.figure", "matplotlib.style", "matplotlib"):
        matplotlib = needed(module, "plots need matplotlib", "plot")
    with matplotlib.style.context(["default", dict(settings)]):
        yield matplotlib


def frame(ax: Axes, theme: Theme, grid: str | None = None) -> None:
    """Two thin axes in the theme's colours, and a grid along x, y or both where one is wanted."""
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


def name_rows(ax: Axes, names: Sequence[str], longest: int) -> None:
    """One row for each name, from the top, with shares along x."""
    ax.set_yticks(range(len(names)), [literal(name, longest) for name in names])
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(names) - 0.4, -0.6)
    percent_axis(ax.xaxis)


def percent_axis(axis: Any) -> None:
    """Shares as percentages along an axis."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda share, _: f"{round(100 * share, 6):g}%"))


def patch_of_paper(theme: Theme) -> dict[str, Any]:
    """A ``bbox`` that keeps text readable on lines; with a stroked outline it would be paths."""
    return {"facecolor": theme.paper, "alpha": 0.8, "edgecolor": "none", "pad": 1.5}


def literal(text: Any, longest: int | None = None) -> str:
    """A name that matplotlib draws as it is: on one line, no mathematics, not too long."""
    return shown(text, longest).replace("$", r"\$")


def write_beside(ax: Axes, text: str, height: float, **style: Any) -> None:
    """Put text beside the right edge of the axes, level with a value of y."""
    style |= {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    style |= {"verticalalignment": "center", "annotation_clip": False}
    ax.annotate(text, (1.0, height), (4, 0), **style)


def legend_above(ax: Axes, theme: Theme, **options: Any) -> None:
    """A legend without a box, over the upper left corner of the axes."""
    options |= {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}
    ax.legend(frameon=False, fontsize=SMALL, labelcolor=theme.ink, **options)


def largest(values: FloatArray, most: int) -> list[int]:
    """Places of the largest values, in rising order of place."""
    return sorted(np.argsort(-values, kind="stable")[:most].tolist())


def ranked(now: FloatArray, most: int, then: FloatArray | None = None) -> list[int]:
    """Places of the values that are largest now or were then, by falling value now.

    >>> ranked(np.array([0.1, 0.0, 0.6, 0.3]), 3, then=np.array([0.1, 0.5, 0.2, 0.2]))
    [2, 3, 1]
    """
    peaks = now if then is None else np.maximum(now, then)
    return sorted(largest(peaks, most), key=lambda place: -now[place])


def merge_others(values: FloatArray, kept: list[int]) -> FloatArray:
    """Values of the classes that are kept, the sum over other classes, if any, and unseen, last."""
    others = np.delete(values[..., :-1], kept, axis=-1)
    merged = others.sum(axis=-1, keepdims=True)[..., : others.shape[-1]]
    return np.concatenate([values[..., kept], merged, values[..., -1:]], axis=-1)


def spread(wanted: Sequence[float] | FloatArray, gap: float) -> FloatArray:
    """Places at least ``gap`` apart, in the same order, as near the wanted ones as possible."""
    wanted = np.asarray(wanted, dtype=np.float64)
    order = np.argsort(wanted, kind="stable")
    steps = gap * np.arange(len(wanted))
    places = np.empty(len(wanted))
    places[order] = isotonic_regression(wanted[order] - steps).x + steps
    return places
