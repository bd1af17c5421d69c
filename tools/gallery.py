"""Pictures of the gallery, drawn for light and for dark pages when the documentation is built."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from matplotlib import pyplot
from pictures import save_both


def save_figures(block: Any, variables: dict[str, Any], settings: dict[str, Any]) -> str:
    """Save the open figures of an example as Sphinx-Gallery asks, and close them.

    Parameters
    ----------
    block : object
        The part of the example that has just run.
    variables : dict
        What Sphinx-Gallery knows of the example: names of pictures, and its script.
    settings : dict
        Settings of Sphinx-Gallery.

    Returns
    -------
    str
        The pictures in reStructuredText.
    """
    script = Path(variables["src_file"]).read_text(encoding="utf-8")
    title = (ast.get_docstring(ast.parse(script)) or "").partition("\n")[0]
    lines = []
    # Numbers first: a name that is drawn must be used.
    for number, name in zip(pyplot.get_fignums(), variables["image_path_iterator"], strict=False):
        path = Path(name).with_suffix(".svg")
        save_both(pyplot.figure(number), path)
        source = path.relative_to(settings["src_dir"]).as_posix()
        lines += [f".. image:: /{source}", f"   :alt: {title}", ""]
    pyplot.close("all")
    return "\n".join(lines)
