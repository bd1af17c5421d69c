"""Pictures of the documentation for light and for dark pages.

    python tools/pictures.py FILE.svg ...     write FILE_dark.svg beside each

A dark picture is the light one with other colours: those of ``unseen.plots.LIGHT`` become those of
``DARK``, any other keeps its hue and turns its lightness round.
"""

from __future__ import annotations

import re
import sys
from colorsys import hls_to_rgb, rgb_to_hls
from io import StringIO
from pathlib import Path

from matplotlib import rc_context
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

from unseen.plots import DARK, LIGHT

SAME = {LIGHT.variables[name]: colour for name, colour in DARK.variables.items()}
LIGHTEST, DARKEST = 0.92, 0.10  # of ink and of paper, on a dark page
# Lines are drawn in lively colours that are not pale, and must stand out.
LIVELY, PALE, LIGHT_ENOUGH = 0.2, 0.7, 0.62


def dark_colour(colour: str) -> str:
    """A colour as it is on a dark page.

    Examples
    --------
    >>> dark_colour("#c23b00"), dark_colour("#ffffff"), dark_colour("#0072b3")
    ('#ff9466', '#16171b', '#43bbff')
    """
    if colour in SAME:
        return SAME[colour]
    hue, lightness, saturation = rgb_to_hls(*to_rgb(colour))
    turned = LIGHTEST - (LIGHTEST - DARKEST) * lightness
    if saturation > LIVELY and lightness < PALE:
        turned = max(turned, LIGHT_ENOUGH)
    return to_hex(hls_to_rgb(hue, turned, saturation))


def dark_svg(svg: str) -> str:
    """A picture as it is on a dark page; what has no colour of its own is black in SVG."""
    turned = re.sub("#[0-9a-f]{6}", lambda found: dark_colour(found[0]), svg)
    return turned.replace("<svg ", f'<svg fill="{DARK.ink}" ', 1)


def dark_path(path: Path) -> Path:
    """The file of the dark picture."""
    return path.with_stem(f"{path.stem}_dark")


def save_both(figure: Figure, path: Path) -> None:
    """Write a figure as SVG, for light and for dark pages; the same figure gives the same bytes."""
    written = StringIO()
    with rc_context({"svg.hashsalt": path.stem}):
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None})
    svg = re.sub(r"[ \t]+$", "", written.getvalue(), flags=re.M)
    path.write_text(svg, encoding="utf-8")
    dark_path(path).write_text(dark_svg(svg), encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        picture = Path(name)
        dark_path(picture).write_text(dark_svg(picture.read_text("utf-8")), encoding="utf-8")
