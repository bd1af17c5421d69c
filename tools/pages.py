"""Write what the blocks of a page print today into the page.

    python tools/pages.py tutorial label_new_batch

Runs the Python and the commands of docs/NAME.md as tests/test_docs_pages.py does, and puts what
they print in place of the output shown. Read the difference before you commit it.
"""

from __future__ import annotations

import re
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.test_docs_pages import BLOCK, DOCS, Page


def printed(page: Page) -> list[tuple[slice, str]]:
    """Where the page shows output, and what is printed there now."""
    blocks = [*BLOCK.finditer(page.text), None]
    found = []
    for block, following in pairwise(blocks):
        kind, code = block.groups()
        if kind == "python":
            output = page._python(code)
            if following is not None and following[1] == "text":
                found.append((slice(*following.span(2)), output))
        elif kind == "console":
            commands = [piece.partition("\n")[0] for piece in re.split(r"(?m)^\$ ", code)[1:]]
            session = "".join(f"$ {command}\n{page._shell(command)}" for command in commands)
            found.append((slice(*block.span(2)), session))
    return found


def main() -> None:
    """Run the pages that are named and write them anew."""
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            page = Page(name, Path(folder))
            text = page.text
            for place, output in reversed(printed(page)):
                lines = [line.rstrip() for line in output.rstrip("\n").split("\n")]
                text = text[: place.start] + "\n".join(lines) + "\n" + text[place.stop :]
        (DOCS / f"{name}.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
