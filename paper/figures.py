"""Figures 1 and 2 of the paper, from cells: first the lines, then the drawing.

The paper's methods are solid lines, ours are broken ones; a method and our tuning of it share a
colour. Nothing here touches pyplot, and matplotlib's settings are as they were afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paper.cell import Cell
from paper.grouping import (
    GROUPS,
    by_method,
    in_group,
    in_setting,
    mean_errors,
    sorted_methods,
)
from paper.published import METHODS
from unseen.plots.canvas import matplotlib_defaults

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "ErrorLine",
    "both_settings",
    "draw_lines",
    "error_lines",
    "figure1",
    "figure2",
    "save_figure",
]

# Okabe and Ito's colours, which stay apart for colour-blind readers; yellow is lost on white.
_BLUE, _SKY, _GREEN, _VERMILION = "#0072B2", "#56B4E9", "#009E73", "#D55E00"
_PURPLE, _ORANGE, _BLACK, _GREY = "#CC79A7", "#E69F00", "#000000", "#8A8A8A"
_PAPER_STYLES = {
    "MPE-Incomplete": (_BLUE, "o"),
    "MPE-Projected": (_SKY, "s"),
    "MPE-Joint": (_GREEN, "^"),
    "EM-KLR": (_VERMILION, "D"),
    "L2": (_PURPLE, "v"),
    "KL": (_ORANGE, "P"),
    "baseline": (_BLACK, "X"),
}
_OTHER_STYLES = {
    "ACC": (_PURPLE, "<"),
    "BBE": (_GREY, "h"),
    "DEDPUL": (_BLACK, "d"),
    "OpenSet": ("#B00000", "*"),
    "PACC": (_ORANGE, ">"),
}
_UNKNOWN_STYLE = (_GREY, "*")
_FLOOR = "#E2E2E2"
# A fixed salt makes the names inside an SVG file, and so its bytes, the same each time.
_SETTINGS = {"svg.hashsalt": "unseen"}
# Closed-set methods leave a panel of this height early; what is below stays readable.
_TALLEST = 0.45
_DOTS_PER_INCH = 150


@dataclass(frozen=True)
class ErrorLine:
    """Mean error of a method over data sets, as the share of class M changes.

    Parameters
    ----------
    setting, group, method : str
    proportions, errors : tuple of float
        Prescribed share of class M, and mean over data sets of the mean over permutations.
    standard_errors : tuple of float
        Standard error of the mean over data sets; nan from one data set.
    n_sets : tuple of int
        Data sets at each proportion.

    Examples
    --------
    >>> from paper.figures import ErrorLine
    >>> line = ErrorLine("observed", "binary", "L2", (0.1, 0.9), (0.2, 0.3), (0.0, 0.0), (2, 2))
    >>> dict(zip(line.proportions, line.errors))
    {0.1: 0.2, 0.9: 0.3}
    """

    setting: str
    group: str
    method: str
    proportions: tuple[float, ...]
    errors: tuple[float, ...]
    standard_errors: tuple[float, ...]
    n_sets: tuple[int, ...]


def error_lines(cells: Iterable[Cell], setting: str, group: str) -> tuple[ErrorLine, ...]:
    """The lines of Figure 1 ("observed", "binary") or of Figure 2 ("unobserved").

    Returns
    -------
    tuple of ErrorLine
        One per method; none where there are no such cells.

    Examples
    --------
    >>> from paper.cell import Cell
    >>> from paper.figures import error_lines
    >>> cells = [
    ...     Cell("unobserved", "banana", 0, p, "L2", (1 - p, p), (1.0, 0.0)) for p in (0.25, 0.5)
    ... ]
    >>> error_lines(cells, "unobserved", "binary")[0].errors
    (0.5, 1.0)
    """
    if group not in GROUPS:
        raise ValueError(f"group must be 'binary' or 'multiclass'; got {group!r}.")
    found = in_group(in_setting(cells, setting), group)
    lines = []
    for method, own in by_method(found).items():
        means = mean_errors(own)
        proportions = sorted({proportion for points in means.values() for proportion in points})
        errors = [
            np.array([points[proportion] for points in means.values() if proportion in points])
            for proportion in proportions
        ]
        spreads = tuple(
            float(one.std(ddof=1) / np.sqrt(one.size)) if one.size > 1 else float("nan")
            for one in errors
        )
        averages = tuple(float(one.mean()) for one in errors)
        n_sets = tuple(one.size for one in errors)
        lines.append(
            ErrorLine(setting, group, method, tuple(proportions), averages, spreads, n_sets)
        )
    return tuple(lines)


def figure1(cells: Iterable[Cell]) -> Figure:
    """Figure 1: mean error over binary data sets against the share of class M, all observed.

    Examples
    --------
    >>> from paper.figures import figure1
    >>> from paper.cell import Cell
    >>> cells = [
    ...     Cell("observed", "banana", 0, p, "L2", (1 - p, p), (1.0, 0.0)) for p in (0.25, 0.5)
    ... ]
    >>> len(figure1(cells).axes)
    1
    """
    lines = error_lines(cells, "observed", "binary")
    if not lines:
        raise ValueError("cells must have some of binary sets of setting 'observed'; got none.")
    with matplotlib_defaults(_SETTINGS) as matplotlib:
        figure = matplotlib.figure.Figure(figsize=(9, 4.6), layout="constrained")
        ax = figure.add_subplot()
        draw_lines(ax, lines)
        ax.set(xlabel="Share of class M in the test sample", ylabel="Mean $\\ell_1$ error")
        title = _title("All classes observed", lines)
        ax.set_title(f"{title}; bars: one standard error over sets", loc="left", fontsize=11)
        _add_legend(figure, [ax])
    return figure


def figure2(cells: Iterable[Cell]) -> Figure:
    """Figure 2: mean error against the unseen share, binary and multiclass data sets apart.

    Examples
    --------
    >>> from paper.figures import figure2
    >>> from paper.cell import Cell
    >>> cells = [
    ...     Cell("unobserved", "banana", 0, p, "L2", (1 - p, p), (1.0, 0.0)) for p in (0.25, 0.5)
    ... ]
    >>> figure2(cells).axes[0].get_xlabel()
    'Share of class M, which is unseen'
    """
    cells = in_setting(cells, "unobserved")
    panels = [lines for group in GROUPS if (lines := error_lines(cells, "unobserved", group))]
    if not panels:
        raise ValueError("cells must have some of setting 'unobserved'; got none.")
    with matplotlib_defaults(_SETTINGS) as matplotlib:
        figure = matplotlib.figure.Figure(figsize=(9, 4.6), layout="constrained")
        axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for ax, lines in zip(axes, panels, strict=True):
            ax.plot((0, 1), (0, 2), color=_FLOOR, linewidth=8, solid_capstyle="round", zorder=1)
            draw_lines(ax, lines)
            ax.set_xlabel("Share of class M, which is unseen")
            ax.set_title(_title("Class M not observed", lines), loc="left", fontsize=11)
        axes[0].set_ylabel("Mean $\\ell_1$ error")
        axes[0].text(
            *(0.03, 0.97),
            "Grey: twice the share, the least\nerror of a method that gives\n"
            "unseen classes nothing",
            transform=axes[0].transAxes,
            verticalalignment="top",
            fontsize=8.5,
            color="#555555",
            backgroundcolor="white",
        )
        _add_legend(figure, axes)
    return figure


def both_settings(cells: Iterable[Cell]) -> Figure:
    """Errors in both settings in one picture: binary above, multiclass below."""
    cells = list(cells)
    titles = {"observed": "All classes observed", "unobserved": "Class M not observed"}
    with matplotlib_defaults(_SETTINGS) as matplotlib:
        figure = matplotlib.figure.Figure(figsize=(9, 7.4), layout="constrained")
        axes = figure.subplots(len(GROUPS), len(titles), sharex=True, squeeze=False)
        for row, group in zip(axes, GROUPS, strict=True):
            for ax, (setting, title) in zip(row, titles.items(), strict=True):
                lines = error_lines(cells, setting, group)
                if lines:
                    draw_lines(ax, lines)
                    ax.set_ylim(0, _TALLEST)
                    ax.set_title(_title(title, lines), loc="left", fontsize=10)
            row[0].set_ylabel("Mean $\\ell_1$ error")
        for ax in axes[-1]:
            ax.set_xlabel("Share of class M in the test sample")
        _add_legend(figure, axes.ravel())
    return figure


def draw_lines(ax: Axes, lines: Sequence[ErrorLine]) -> Axes:
    """Draw lines, with bars of one standard error over data sets.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from paper.figures import ErrorLine, draw_lines
    >>> line = ErrorLine("observed", "binary", "L2", (0.1, 0.9), (0.2, 0.3), (0.0, 0.0), (2, 2))
    >>> draw_lines(Figure().add_subplot(), [line]).lines[0].get_label()
    'L2'
    """
    for line in lines:
        style = _style(line.method)
        spread = np.nan_to_num(line.standard_errors)
        bars = {"ecolor": style["color"], "elinewidth": 1, "alpha": 0.3, "zorder": 1.5}
        ax.errorbar(line.proportions, line.errors, spread, fmt="none", **bars)
        ax.plot(line.proportions, line.errors, label=line.method, **style)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(bottom=0)
    ax.set_xticks(np.linspace(0, 1, 6), [f"{share:.0%}" for share in np.linspace(0, 1, 6)])
    ax.grid(color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def save_figure(figure: Figure, stem: str | Path) -> tuple[Path, Path]:
    """Write a figure as PNG and as SVG; the same figure gives the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    stem : str or Path
        The path, without its ending.

    Returns
    -------
    (Path, Path)
        The two files.

    Examples
    --------
    >>> import tempfile
    >>> from matplotlib.figure import Figure
    >>> from paper.figures import save_figure
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in save_figure(Figure(), f"{folder}/empty")]
    ['empty.png', 'empty.svg']
    """
    png, svg = (Path(f"{stem}{ending}") for ending in (".png", ".svg"))
    with matplotlib_defaults():
        figure.savefig(png, dpi=_DOTS_PER_INCH, metadata={"Software": None})
        figure.savefig(svg, metadata={"Date": None, "Creator": None})
    return png, svg


def _title(setting: str, lines: Sequence[ErrorLine]) -> str:
    n_sets = max(max(line.n_sets) for line in lines)
    return f"{setting}, {n_sets} {lines[0].group} {'set' if n_sets == 1 else 'sets'}"


def _style(method: str) -> dict[str, Any]:
    ours = method not in METHODS
    base = next((name for name in METHODS if name.startswith(method.rstrip("*"))), None)
    other = _OTHER_STYLES.get(method, _UNKNOWN_STYLE)
    colour, marker = other if base is None else _PAPER_STYLES[base]
    is_default = method == "OpenSet"
    dashes = (0, (1.2, 1.4) if base is None else (4.5, 1.8))
    return {
        "color": colour,
        "marker": marker,
        "markerfacecolor": "white" if ours and not is_default else colour,
        "markersize": 8 if is_default else 4.5,
        "linestyle": dashes if ours and not is_default else "-",
        "linewidth": 2.4 if is_default else 1.4,
        "zorder": 3 if is_default else 2,
    }


def _add_legend(figure: Figure, axes: Iterable[Axes]) -> None:
    """One legend for all panels: first the paper's methods, then those beside them."""
    from matplotlib.lines import Line2D

    handles: dict[str, Any] = {}
    for ax in axes:
        found, names = ax.get_legend_handles_labels()
        handles |= dict(zip(names, found, strict=True))
    paper = [name for name in sorted_methods(handles) if name in METHODS]
    beside = [name for name in sorted_methods(handles) if name not in METHODS]
    blank = Line2D([], [], linestyle="none")
    entries = [
        (title, names)
        for title, names in (("The paper's", paper), ("Beside them", beside))
        if names
    ]
    labels = [label for title, names in entries for label in (title, *names)]
    legend = figure.legend(
        [handles.get(label, blank) for label in labels],
        labels,
        loc="outside right center",
        frameon=False,
        handlelength=3,
        fontsize=9.5,
    )
    for text in legend.get_texts():
        if text.get_text() not in handles:
            text.set_fontweight("bold")
