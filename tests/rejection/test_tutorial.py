"""The tutorial does what it says: its code runs, and prints what the page shows."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from numpy.testing import assert_allclose

PAGE = Path(__file__).parents[2] / "docs" / "label_new_batch.md"
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
# Other versions of the libraries below move a few labels; more than this would change the text.
ROOM = 0.04


def blocks() -> list[tuple[str, str]]:
    """Each piece of code with the output that the page shows below it."""
    found: list[tuple[str, str]] = []
    for kind, text in BLOCK.findall(PAGE.read_text()):
        if kind == "python":
            found.append((text, ""))
        else:
            found[-1] = (found[-1][0], text)
    return found


def assert_same_but_for_rounding(printed: str, shown: str) -> None:
    assert NUMBER.sub("#", printed).split() == NUMBER.sub("#", shown).split()
    numbers = [[float(number) for number in NUMBER.findall(text)] for text in (printed, shown)]
    assert_allclose(*numbers, atol=ROOM)


def test_the_tutorial_prints_what_it_shows() -> None:
    names: dict[str, object] = {"__name__": "tutorial"}
    assert len(blocks()) > 8
    for code, shown in blocks():
        printed = StringIO()
        with redirect_stdout(printed):
            exec(compile(code, str(PAGE), "exec"), names)
        assert_same_but_for_rounding(printed.getvalue(), shown)
