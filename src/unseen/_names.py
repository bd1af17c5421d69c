"""The public names and the modules that define them, as ``__init__.pyi`` lists them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_LINE = re.compile(r"^from (unseen\.[\w.]+) import (\w+) as \2$", re.MULTILINE)


@cache
def public_names() -> dict[str, str]:
    """Module of every public name."""
    listed = Path(__file__).with_name("__init__.pyi").read_text(encoding="utf-8")
    return {name: module for module, name in _LINE.findall(listed)}
