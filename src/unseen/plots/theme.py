"""Colours by their role, so that one picture serves on light and on dark paper.

Known classes are always blue and unseen classes red-orange. Colour-blind readers can tell the two
apart; in greyscale shape, hatching or weight does, in every display. Text in any of these colours
has a contrast of at least 4.5 to 1 on its paper.
"""

from __future__ import annotations

from dataclasses import dataclass


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
