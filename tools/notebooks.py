"""Pages with code as notebooks that hold what the code printed; `make docs` writes and links them.

    python tools/notebooks.py tutorial > tutorial.ipynb

The outputs are those of the page, which the tests compare with what its code prints.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

BLOCK = re.compile(r"^```(python|sh|console)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.M | re.S)


def notebook(page: str) -> dict[str, Any]:
    r"""A page of Markdown as a notebook of format 4.5.

    Examples
    --------
    >>> made = notebook("# Two\n\n```python\nprint(1 + 1)\n```\n\n```text\n2\n```\n")
    >>> [(cell["cell_type"], cell["source"]) for cell in made["cells"]]
    [('markdown', '# Two'), ('code', 'print(1 + 1)')]
    >>> made["cells"][1]["outputs"][0]["text"]
    '2\n'
    """
    cells, end = [], 0
    for block in BLOCK.finditer(page):
        cells.append(_text(page[end : block.start()]))
        cells.append(_code(*block.groups()))
        end = block.end()
    cells = [cell for cell in (*cells, _text(page[end:])) if cell["source"]]
    numbered = [{"id": f"cell-{number}", **cell} for number, cell in enumerate(cells)]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": kernel},
        "cells": numbered,
    }


def _text(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source.strip()}


def _code(kind: str, source: str, printed: str | None) -> dict[str, Any]:
    """A cell of code; of a session in a shell, the commands after their prompts are the code."""
    if kind == "console":
        lines = source.splitlines(keepends=True)
        printed = "".join(line for line in lines if not line.startswith("$ "))
        source = "".join(line.removeprefix("$ ") for line in lines if line.startswith("$ "))
    if kind != "python":
        source = re.sub(r"^(?=\S)", "!", source, flags=re.M)
    output = {"output_type": "stream", "name": "stdout", "text": printed}
    return {
        "cell_type": "code",
        "metadata": {},
        "execution_count": None,
        "source": source.strip(),
        "outputs": [output] if printed else [],
    }


if __name__ == "__main__":
    docs = Path(__file__).parents[1] / "docs"
    print(json.dumps(notebook((docs / f"{sys.argv[1]}.md").read_text(encoding="utf-8")), indent=1))
