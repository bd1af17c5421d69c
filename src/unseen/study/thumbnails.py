"""Small pictures of rows, as data URIs: from files that a column names, or bytes that it holds.

Tables come from anywhere, and a report goes anywhere. So a name is looked up in one folder alone,
nothing is fetched, and only plain picture formats are opened.
"""

from __future__ import annotations

import warnings
from base64 import b64encode
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "PPM")
# Sides that are tried in turn until a picture has few enough bytes: a report may hold 64 of them.
_PIXELS = (64, 48, 32)
_MOST_BYTES = 1_200


@dataclass(frozen=True)
class Thumbnail:
    """A small picture of an example row."""

    group: int  # number of its group, from 1
    kind: str  # why the row is shown, such as "central"
    number: int  # place of the row in its table, from 1
    source: str  # the picture, as a data URI


def picture_file(cell: Any, folder: Path) -> Path | BytesIO | None:
    """Where the picture of a cell is: its bytes, or a file in the folder; None for anything else.

    A cell is a picture, its path, or both under ``bytes`` and ``path``, as collections of pictures
    have them. Paths begin in the folder, and those that lead out of it, by links too, lead nowhere.
    """
    if isinstance(cell, dict):
        cell = cell.get("bytes") or cell.get("path")
    if isinstance(cell, bytes):
        return BytesIO(cell)
    if not isinstance(cell, str):
        return None
    try:
        root = folder.resolve()
        path = (root / cell).resolve()
        return path if path.is_relative_to(root) and path.is_file() else None
    except (OSError, ValueError):  # no name that this system has for a file
        return None


def data_uri(file: Path | BytesIO | None) -> str | None:
    """A picture of at most 64 pixels as a data URI; None where the file is no picture."""
    if file is None:
        return None
    from PIL import Image

    try:
        with warnings.catch_warnings():
            # Pillow only warns of pictures so large that opening them may take all memory.
            warnings.simplefilter("error")
            with Image.open(file, formats=_FORMATS) as picture:
                return _shrunk(picture)
    except (OSError, ValueError, SyntaxError, Warning, Image.DecompressionBombError):
        return None


def _shrunk(picture: Any) -> str:
    """Grey or coloured on white paper: the first size with few enough bytes, else the last."""
    from PIL import Image, ImageOps

    if picture.mode.startswith("I;"):  # older releases of Pillow cannot make these smaller
        picture = picture.convert("I")
    picture.thumbnail((_PIXELS[0], _PIXELS[0]))
    flat = ImageOps.exif_transpose(picture)
    if flat.mode[0] in "IF":  # instruments count in more than 8 bits
        values = np.asarray(flat, dtype=np.float64)
        shades = (values - values.min()) * (255 / max(float(np.ptp(values)), 1e-300))
        flat = Image.fromarray(shades.astype(np.uint8))
    elif flat.mode in ("1", "L"):
        flat = flat.convert("L")
    else:
        above = flat.convert("RGBA")
        flat = Image.alpha_composite(Image.new("RGBA", above.size, "white"), above).convert("RGB")
    if 2 * max(flat.size) <= _PIXELS[0]:  # its pixels are to be seen, not blurred by a browser
        flat = ImageOps.scale(flat, _PIXELS[0] // max(flat.size), resample=0)
    for pixels in _PIXELS:
        flat.thumbnail((pixels, pixels))
        files = {"png": BytesIO(), "jpeg": BytesIO()}
        for kind, file in files.items():
            flat.save(file, kind, optimize=True, quality=60)
        kind = min(files, key=lambda one: len(files[one].getvalue()))
        content = files[kind].getvalue()
        if len(content) <= _MOST_BYTES:
            break
    return f"data:image/{kind};base64,{b64encode(content).decode()}"
