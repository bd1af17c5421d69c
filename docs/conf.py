"""Sphinx configuration; `make docs` builds with warnings as errors."""

import json
import re
import sys
from importlib import import_module
from inspect import getdoc, isclass
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from notebooks import notebook

from unseen import __version__
from unseen._names import public_names

project = "unseen"
author = "the unseen developers"
release = version = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_heading_anchors = 3
html_theme = "furo"
html_math_renderer = "mathml"
html_title = "unseen"
html_static_path = ["_static"]
html_css_files = ["run.css"]
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"
autodoc_typehints = "none"
autodoc_default_options = {"members": True}
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
exclude_patterns = ["_build", "gallery"]
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples",
    "filename_pattern": r"plot_",
    "image_scrapers": ("gallery.save_figures",),
    "within_subsection_order": "FileNameSortKey",
    "reset_modules": ("matplotlib",),
    "capture_repr": (),
    "show_signature": False,
    "download_all_examples": False,
    "abort_on_example_error": True,
    "write_computation_times": False,
}


DIRECTIVE = re.compile(r"^\.\. (auto\w+):: ([\w.]+)\n((?:   .*\n)*)", re.MULTILINE)
API = Path(__file__).parent / "api"


def with_unlisted_names(source: str) -> str:
    """The page of the interface with public names at its end that it does not place itself."""
    placed = {name.rpartition(".")[2] for _, name, _ in DIRECTIVE.findall(source)}
    lines = [
        f".. auto{'class' if isclass(getattr(import_module(module), name)) else 'function'}:: "
        f"{module}.{name}"
        for name, module in public_names().items()
        if name not in placed
    ]
    if lines:
        source += "\n## Also public\n\n```{eval-rst}\n" + "\n".join(lines) + "\n```\n"
    return source


def write_api(app: Any) -> None:
    """A page for each object that docs/api.md lists; what did not change is not written again."""
    API.mkdir(exist_ok=True)
    wanted = {}
    listed = with_unlisted_names((API.parent / "api.md").read_text(encoding="utf-8"))
    for kind, name, options in DIRECTIVE.findall(listed):
        whole = full_name(name)
        title = whole if kind == "automodule" else name.rpartition(".")[2]
        text = f"{title}\n{'=' * len(title)}\n\n.. {kind}:: {whole}\n{options}"
        wanted[API / f"{whole}.rst"] = text
    for file in {*API.glob("*.rst")} - {*wanted}:
        file.unlink()
    for file, text in wanted.items():
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def full_name(name: str) -> str:
    """A name of the page with the package in front."""
    return name if name.startswith("unseen.") else f"unseen.{name}"


def list_api(app: Any, page: str, source: list[str]) -> None:
    """Make docs/api.md a list: each object with its first sentence, linked to its page."""
    if page != "api":
        return

    def entry(found: re.Match[str]) -> str:
        pages.append(f"   api/{full_name(found[2])}\n")
        return f"- :doc:`api/{full_name(found[2])}`: {first_sentence(full_name(found[2]))}\n"

    pages: list[str] = []
    listed = DIRECTIVE.sub(entry, with_unlisted_names(source[0]))
    listed = re.sub(r"^\.\. currentmodule:: .*\n", "", listed, flags=re.MULTILINE)
    contents = f".. toctree::\n   :hidden:\n\n{''.join(pages)}"
    source[0] = f"{listed}\n```{{eval-rst}}\n{contents}```\n"


def first_sentence(name: str) -> str:
    """The first sentence of the documentation of an object."""
    try:
        thing = import_module(name)
    except ImportError:
        module, _, last = name.rpartition(".")
        thing = getattr(import_module(module), last)
    text = " ".join((getdoc(thing) or "").split("\n\n")[0].split())
    return re.sub(r":\w+:`~?([^`]*)`", r"``\1``", text)


def link_names(app: Any, document: Any) -> None:
    """Link public names in the text, such as ``OpenSetEstimator`` or ``unseen.estimate``."""
    from docutils import nodes
    from sphinx import addnodes

    modules = public_names()
    for node in list(document.findall(nodes.literal)):
        name = node.astext().partition("(")[0].removeprefix("unseen.")
        around, linked = node.parent, False
        while around is not None and not linked:
            linked = isinstance(around, nodes.reference | addnodes.pending_xref | nodes.title)
            around = around.parent
        if linked or name not in modules or not is_worth_a_link(node.astext(), name):
            continue
        target = full_name(name)
        link = addnodes.pending_xref(
            "", refdomain="py", reftype="obj", reftarget=target, refexplicit=True, refwarn=False
        )
        node.replace_self(link)
        link += node


def show_dark_pictures(app: Any, document: Any) -> None:
    """Beside a picture that has a dark twin put the twin, for dark pages."""
    from docutils import nodes

    for image in list(document.findall(nodes.image)):
        source = image["uri"]
        folder = Path(app.srcdir if source.startswith("/") else Path(document["source"]).parent)
        twin = dark_twin(source)
        if (folder / twin.lstrip("/")).exists():
            dark = image.deepcopy()
            dark["uri"] = twin
            image["classes"].append("only-light")
            dark["classes"].append("only-dark")
            image.parent.insert(image.parent.index(image) + 1, dark)


def dark_twin(source: str) -> str:
    """The picture ``NAME_dark``; the small picture of an example has that of its first figure.

    Examples
    --------
    >>> dark_twin("images/demo.svg")
    'images/demo_dark.svg'
    >>> dark_twin("/examples/images/thumb/sphx_glr_plot_roc_thumb.svg")
    '/examples/images/sphx_glr_plot_roc_001_dark.svg'
    """
    large = re.sub(r"thumb/(\w+)_thumb\.", r"\1_001.", source)
    return re.sub(r"(\.\w+)$", r"_dark\1", large)


def is_worth_a_link(text: str, name: str) -> bool:
    """Whether a word can only be our name: a class, or a function written with its package."""
    return name[0].isupper() or text.startswith("unseen.")


# What the converter of docutils lacks, misreads or draws below the letter, and what says the same.
MATHS = (
    (r"(\\[td]?frac)(\d)(\d)", r"\1{\2}{\3}"),
    (r"(?<!\d)\.(?=\d)", "0."),
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

    tex, is_block = readable_maths(node.astext()), isinstance(node, nodes.math_block)
    translator.body.append(tex2mathml(tex, as_block=is_block))
    raise nodes.SkipNode


def readable_maths(tex: str) -> str:
    r"""A formula in words that the converter knows.

    Examples
    --------
    >>> readable_maths(r"\tfrac12 + .1")
    '\\tfrac{1}{2} + 0.1'
    """
    for lacking, same in MATHS:
        tex = re.sub(lacking, same, tex)
    return tex


# Their code makes its own data, and runs from top to bottom.
NOTEBOOKS = (
    "drift", "embeddings", "interoperability", "label_new_batch", "loop", "monitor", "quapy",
    "tutorial",
)  # fmt: skip


def link_notebook(app: Any, page: str, source: list[str]) -> None:
    """Offer a page with code as a notebook, at its end."""
    if page in NOTEBOOKS:
        link = f'<a href="notebooks/{page}.ipynb" download>Download this page as a notebook</a>'
        source[0] += f"\n---\n\n{link}, with what its code printed.\n"


# Their code needs no more than the library and what it needs.
IN_BROWSER = ("drift", "embeddings", "label_new_batch", "loop", "monitor")
PYODIDE = "https://cdn.jsdelivr.net/pyodide/v314.0.3/full/"


def offer_to_run(app: Any, page: str, source: list[str]) -> None:
    """Offer to run the code of a page in the browser, below its title."""
    if page in IN_BROWSER:
        title, rest = source[0].split("\n", 1)
        source[0] = f"""{title}

<div class="run-page" data-pyodide="{PYODIDE}" hidden><button type="button">Run the code of this
page in your browser</button> <span role="status">Loads some 40 MB from cdn.jsdelivr.net; what you
type stays here.</span></div><script defer src="_static/run.js"></script>
{rest}"""


def pack_library(app: Any, error: Exception | None) -> None:
    """Put the library beside the pages, for those that run in a browser."""
    package = Path(__file__).parents[1] / "src" / "unseen"
    with ZipFile(Path(app.outdir) / "_static" / "unseen.zip", "w", ZIP_DEFLATED) as packed:
        for file in sorted(package.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                packed.write(file, file.relative_to(package.parent))


def write_notebooks(app: Any, error: Exception | None) -> None:
    """Write the notebooks beside the pages."""
    folder = Path(app.outdir) / "notebooks"
    folder.mkdir(exist_ok=True)
    for page in NOTEBOOKS:
        made = notebook((Path(app.srcdir) / f"{page}.md").read_text(encoding="utf-8"))
        (folder / f"{page}.ipynb").write_text(json.dumps(made, indent=1), encoding="utf-8")


def skip_routing(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool:
    """Leave out what scikit-learn gives to every estimator to route metadata."""
    return skip or bool(re.fullmatch(r"set_\w+_request", name))


# What the theme leaves out for those who use a keyboard or listen; axe-core finds nothing more.
FOR_ALL = (
    ('<p class="caption" role="heading">', '<p class="caption" role="heading" aria-level="2">'),
    ('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="All pages">'),
    ('<aside class="toc-drawer', '<aside aria-label="This page" class="toc-drawer'),
    ('<th class="head"><p></p></th>', '<td class="head"></td>'),
    ("<pre>", '<pre tabindex="0">'),
    ('<div id="search-results"></div>', '<h1>Search</h1><div id="search-results"></div>'),
    ('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'),
    ('<div class="math-wrapper', '<div tabindex="0" class="math-wrapper'),
)


# The link of a picture of the gallery, whose words its style sheet hides from listeners too.
CARD = re.compile(
    r'<a (class="reference internal" href="plot_\w+\.html")><span class="doc">([^<]*)</span></a>'
)


def make_accessible(app: Any, error: Exception | None) -> None:
    """Mend the pages of the theme once they are written."""
    if error is not None or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = mended = page.read_text(encoding="utf-8")
        for before, after in FOR_ALL:
            mended = mended.replace(before, after)
        mended = CARD.sub(r'<a aria-label="\2" \1><span class="doc">\2</span></a>', mended)
        if mended != text:
            page.write_text(mended, encoding="utf-8")


def setup(app: Any) -> None:
    """Sphinx calls this once."""
    app.add_html_math_renderer("mathml", (write_maths, None), (write_maths, None))
    app.connect("autodoc-skip-member", skip_routing)
    app.connect("builder-inited", write_api)
    app.connect("source-read", list_api)
    app.connect("source-read", link_notebook)
    app.connect("source-read", offer_to_run)
    # Before Sphinx collects the pictures of a page.
    app.connect("doctree-read", show_dark_pictures, priority=100)
    app.connect("doctree-read", link_names)
    app.connect("build-finished", write_notebooks)
    app.connect("build-finished", pack_library)
    app.connect("build-finished", make_accessible)
