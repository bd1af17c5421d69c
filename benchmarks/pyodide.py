"""The pages that run in a browser, run in one: Chromium without a window, Pyodide from a folder.

    make docs && python benchmarks/pyodide.py FOLDER     # FOLDER holds pyodide.mjs and the wheels

The button of each page is pressed, and what the browser prints is compared with what the page
shows. The same code then runs in this Python, on one core. FOLDER is a distribution of Pyodide, or
the part of it that the pages load. Writes results/pyodide.json; 7 minutes.
"""

from __future__ import annotations

import argparse
import json
import re
import runpy
import sys
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from _common import RESULTS, ROOT  # isort: skip

sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]
from reference.chromium_pipe import Page, browser_page
from test_docs_pages import BLOCK, assert_same_but_for_rounding
from test_docs_pages import Page as DocsPage

BUILT = ROOT / "docs" / "_build" / "html"
ROOM = 0.02
# What the browser holds after the last block.
PRINTED = """JSON.stringify([...document.querySelectorAll(".highlight-python")].map(
  block => block.nextElementSibling?.matches(".run-output") ? block.nextElementSibling.textContent
    : ""))"""
LOADED = ("pyodide.asm.wasm", "pyodide.asm.mjs", "python_stdlib.zip", "numpy-", "scipy-",
          "scikit_learn-", "joblib-", "threadpoolctl-")  # fmt: skip


class Files(SimpleHTTPRequestHandler):
    """The built pages, and under /pyodide/ the distribution."""

    def __init__(self, *given: Any, pyodide: Path, **options: Any) -> None:
        self.pyodide = pyodide
        super().__init__(*given, directory=str(BUILT), **options)

    def guess_type(self, path: Any) -> str:
        """The type of a file; browsers compile only what is called WebAssembly."""
        types = {".mjs": "text/javascript", ".wasm": "application/wasm"}
        return types.get(Path(path).suffix) or super().guess_type(path)

    def translate_path(self, path: str) -> str:
        """The file of an address."""
        inside = path.partition("/pyodide/")[2]
        return str(self.pyodide / Path(inside).name) if inside else super().translate_path(path)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def run_in_browser(page: Page, address: str, name: str) -> dict[str, Any]:
    """Press the button, wait, and read what each block printed."""
    page.look(1280)
    page.open_address(f"{address}/{name}.html")
    page.value(f"document.querySelector('.run-page').dataset.pyodide = '{address}/pyodide/'")
    begun = time.perf_counter()
    page.value("document.querySelector('.run-page button').click()")
    while (state := page.value("document.querySelector('.run-page').dataset.state")) == "running":
        time.sleep(0.2)
    said = page.value("document.querySelector('.run-page [role=status]').textContent")
    found = re.search(r"Done in ([\d.]+) s", said)
    return {
        "state": state,
        "said": said,
        "all_s": round(time.perf_counter() - begun, 1),
        "run_s": None if found is None else float(found[1]),
        "printed": json.loads(page.value(PRINTED)),
    }


def compared(name: str, printed: list[str]) -> tuple[int, list[int]]:
    """How many blocks the page shows the output of, and which of them differ in the browser."""
    blocks = [*BLOCK.findall((ROOT / f"docs/{name}.md").read_text("utf-8")), ("", "")]
    n_shown, differing, place = 0, [], 0
    for (kind, _), (next_kind, shown) in pairwise(blocks):
        if kind != "python":
            continue
        if next_kind == "text":
            n_shown += 1
            try:
                assert_same_but_for_rounding(printed[place], shown, ROOM)
            except AssertionError:
                differing.append(place + 1)
        place += 1
    return n_shown, differing


def plain_seconds(name: str) -> float:
    """The seconds that the code of a page takes here."""
    with TemporaryDirectory() as folder:
        begun = time.perf_counter()
        DocsPage(name, Path(folder)).run_python()
        return round(time.perf_counter() - begun, 1)


def main() -> None:
    """Run all pages, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    lock = json.loads((folder / "pyodide-lock.json").read_text("utf-8"))
    size = sum(file.stat().st_size for file in folder.iterdir() if file.name.startswith(LOADED))
    size += (BUILT / "_static" / "unseen.zip").stat().st_size
    names = ("numpy", "scipy", "scikit-learn")
    found: dict[str, Any] = {
        "pyodide": json.loads((folder / "package.json").read_text("utf-8"))["version"],
        "python": lock["info"]["python"],
        **{one: lock["packages"][one]["version"] for one in names},
        "megabytes": round(size / 1e6, 1),
        "pages": {},
    }
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, pyodide=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    for name in runpy.run_path(str(ROOT / "docs" / "conf.py"))["IN_BROWSER"]:
        with (
            TemporaryDirectory(ignore_cleanup_errors=True) as profile,
            browser_page(Path(profile), offline=False) as page,
        ):
            one = run_in_browser(page, address, name)
        printed = one.pop("printed")
        shown, differing = compared(name, printed)
        one |= {"outputs": shown, "differing": differing, "plain_s": plain_seconds(name)}
        found["pages"][name] = one
        print(name, one, flush=True)
    server.shutdown()
    (RESULTS / "pyodide.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
