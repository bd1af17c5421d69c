"""A figure as one small SVG, to be put into an HTML page.

Matplotlib's SVG is made to stand alone. Here its header, date and style sheet go, names (ids) get a
prefix so that two pictures of a page do not clash, and the theme's colours become CSS variables, so
that the page decides whether the picture is light or dark.
"""

from __future__ import annotations

import re
import warnings
from hashlib import sha256
from io import BytesIO
from typing import Any
from xml.etree import ElementTree

from unseen.plots.canvas import LIGHT, Figure, Theme, matplotlib_defaults

_SVG = "http://www.w3.org/2000/svg"
_NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_REFERENCE = re.compile(r"#([\w.-]+)")
_FONT = re.compile(r"font(?:-family)?:[^;]*")
_PAINT = ("fill", "stroke")
_MEASURES = {"d", "x", "y", "width", "height", "transform", "points"}
# How much larger than drawn a picture may become on a wide page.
_GROWTH = 1.9


def to_svg(
    figure: Figure, title: str, *, description: str = "", prefix: str = "", theme: Theme = LIGHT
) -> str:
    """The figure as an ``<svg>`` element: compact, accessible, and the same bytes each time.

    Parameters
    ----------
    figure : matplotlib Figure
        A drawn figure.
    title : str
        The content of the picture in a few words, for readers who cannot see it.
    description : str, default=""
        The lesson of the picture in a sentence or two, for the same readers.
    prefix : str, default=""
        Start of all names inside; must differ between the pictures of one page. An empty prefix
        is made from the picture itself.
    theme : Theme, default=LIGHT
        The colours that the figure was drawn with. Each becomes a CSS variable such as
        ``var(--unseen, #c23b00)``: see :meth:`Theme.css`.

    Returns
    -------
    str
        Text stays text, and the picture grows with the page, to a limit.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from unseen.plots import to_svg
    >>> svg = to_svg(Figure(), "Nothing <yet>")
    >>> svg[:4], "Nothing &lt;yet&gt;" in svg, "date" in svg
    ('<svg', True, False)
    """
    if prefix and not re.fullmatch(r"[A-Za-z][\w-]*", prefix):
        raise ValueError(f"prefix must be a letter, then letters, digits, - or _; got {prefix!r}.")
    drawn = _drawn(figure)
    root = ElementTree.fromstring(drawn)
    _drop_what_a_page_lacks(root)
    prefix = prefix or f"u{sha256(drawn).hexdigest()[:8]}"
    # No other id is needed than those that some element points to.
    pointed = {
        name
        for element in root.iter()
        for key, value in element.attrib.items()
        if key == "href" or "url(" in value
        for name in _REFERENCE.findall(value)
    }
    ids = (element.get("id", "") for element in root.iter())
    kept = [name for name in ids if name in pointed]
    names = {name: f"{prefix}-{place}" for place, name in enumerate(kept)}
    colours = {colour: f"var({name}, {colour})" for name, colour in theme.variables.items()}
    for element in root.iter():
        _rewrite(element, names, colours)
    # Role, label, size, and the line style that matplotlib's style sheet sets for all lines.
    width = float(root.get("viewBox", "0 0 0 0").split()[2])
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    text = ". ".join(part.strip().rstrip(".") for part in (title, description) if part.strip())
    root.attrib = {
        "xmlns": _SVG,
        "role": "img",
        "aria-label": text,
        **root.attrib,
        "style": f"width:100%;max-width:{_GROWTH * width:.0f}px;height:auto;"
        "stroke-linejoin:round;stroke-linecap:butt",
    }
    heading = ElementTree.Element("title")
    heading.text = title
    root.insert(0, heading)
    return ElementTree.tostring(root, encoding="unicode")


def _drawn(figure: Figure) -> bytes:
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    picture, canvas, ground = BytesIO(), figure.canvas, figure.get_facecolor()
    no_metadata = dict.fromkeys(["Date", "Creator", "Format", "Type"])
    figure.set_facecolor("none")
    painter: Any = FigureCanvasSVG(figure)
    with matplotlib_defaults(), warnings.catch_warnings():
        # Letters that matplotlib's font lacks are no loss: the browser has them.
        warnings.filterwarnings("ignore", r"Glyph .* missing from")
        # By the backend, as savefig draws a figure twice.
        painter.print_svg(picture, metadata=no_metadata)
    figure.set_facecolor(ground)
    figure.set_canvas(canvas)
    return picture.getvalue()


def _drop_what_a_page_lacks(root: ElementTree.Element) -> None:
    """Namespaces of tags and attributes, metadata, style sheets, and paths that show nothing."""
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        element.attrib = {key.rpartition("}")[2]: one for key, one in element.attrib.items()}
        element.text = element.text if element.tag == "text" else None
        element.tail = None
    for element in root.iter():
        for child in list(element):
            # The background of figures and axes is neither filled nor stroked.
            is_blank = child.tag == "path" and child.get("style") == "fill: none"
            if is_blank or child.tag in {"metadata", "style"}:
                element.remove(child)


def _rewrite(element: ElementTree.Element, names: dict[str, str], colours: dict[str, str]) -> None:
    for key, value in list(element.attrib.items()):
        if key == "id":
            del element.attrib[key]
            if value in names:
                element.set(key, names[value])
        elif key == "href" or "url(" in value:
            element.set(key, _REFERENCE.sub(lambda m: f"#{names.get(m[1], m[1])}", value))
        elif key == "transform" and value.startswith(("rotate(0 ", "rotate(-0 ")):
            del element.attrib[key]
        elif key in _MEASURES:
            element.set(key, _short(value))
    # CSS variables may stand in a style but not in an attribute.
    painted = [f"{key}: {element.attrib.pop(key)}" for key in _PAINT if key in element.attrib]
    style = "; ".join(filter(None, [element.get("style"), *painted]))
    if style:
        style = _COLOUR.sub(lambda m: colours.get(m[0], m[0]), style)
        element.set("style", _FONT.sub(_plain_font, style))


def _plain_font(found: re.Match[str]) -> str:
    """Matplotlib's list of fonts is long; the page has one of its own."""
    size = re.search(r"(?:(?:bold|700|italic) )*[\d.]+px", found[0])
    return f"font: {size[0]} sans-serif" if size else "font-family: sans-serif"


def _short(measures: str) -> str:
    """Numbers with a digit or two after the point, and only the spaces that are needed."""
    digits = 2 if "C" in measures else 1  # small circles need two
    text = _NUMBER.sub(lambda m: f"{float(m[0]):.{digits}f}".rstrip("0").rstrip("."), measures)
    text = re.sub(r"(?<![\d.])-0(?![\d.])", "0", text)
    return re.sub(r"\s*([MLQCzZ])\s*", r"\1", text).strip()
