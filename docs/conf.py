"""Sphinx configuration; `make docs` builds with warnings as errors."""

import re
from importlib import import_module
from inspect import isclass
from typing import Any

from unseen import __version__
from unseen._names import public_names

project = "unseen"
author = "the unseen developers"
release = version = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_heading_anchors = 3
html_theme = "furo"
html_math_renderer = "mathml"
html_title = "unseen"
html_show_copyright = False
autosummary_generate = True
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "inherited-members": False}
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
exclude_patterns = ["_build", "gallery"]
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "reset_modules": ("matplotlib",),
    "capture_repr": (),
    "show_signature": False,
    "download_all_examples": False,
    "abort_on_example_error": True,
}


def add_unlisted_names(app: Any, page: str, source: list[str]) -> None:
    """Document public names that docs/api.md does not place itself, at the end of that page."""
    if page != "api":
        return
    placed = set(re.findall(r"^\.\. auto\w+:: (?:[\w.]+\.)?(\w+)$", source[0], re.MULTILINE))
    lines = [
        f".. auto{'class' if isclass(getattr(import_module(module), name)) else 'function'}:: "
        f"{module}.{name}"
        for name, module in public_names().items()
        if name not in placed
    ]
    if lines:
        source[0] += "\n## Also public\n\n```{eval-rst}\n" + "\n".join(lines) + "\n```\n"


# What the converter of docutils lacks or draws below the letter, and what says the same.
MATHS = (
    (r"\\dots\b", r"\\ldots"),
    (r"\\[bB]ig(?![a-z])", ""),
    (r"\\tag\{(\w+)\}", r"\\qquad (\1)"),
    (r"(\\(?:hat|tilde|bar)\s*(?:\{[^{}]*\}|\\[a-zA-Z]+|[a-zA-Z]))(?=[_^])", r"\1{}"),
)


def write_maths(translator: Any, node: Any) -> None:
    """Write a formula as MathML, which browsers draw without a script or a network."""
    # Here, so that the tests can read this file where Sphinx is not installed.
    from docutils import nodes
    from docutils.utils.math.latex2mathml import tex2mathml

    tex = node.astext()
    for lacking, same in MATHS:
        tex = re.sub(lacking, same, tex)
    translator.body.append(tex2mathml(tex, as_block=isinstance(node, nodes.math_block)))
    raise nodes.SkipNode


def skip_routing(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool:
    """Leave out what scikit-learn gives to every estimator to route metadata."""
    return skip or bool(re.fullmatch(r"set_\w+_request", name))


def setup(app: Any) -> None:
    """Sphinx calls this once."""
    app.add_html_math_renderer("mathml", (write_maths, None), (write_maths, None))
    app.connect("autodoc-skip-member", skip_routing)
    app.connect("source-read", add_unlisted_names)
