"""The lowest versions that pyproject.toml allows, as requirements: numpy>=1.26 becomes numpy==1.26.

``make test-lowest`` installs them. QuaPy is left out, an extra that chooses versions itself, and so
is torch, whose gigabytes serve one target alone.
"""

from __future__ import annotations

import tomllib
from pathlib import Path


def lowest(pyproject: Path) -> list[str]:
    """Requirements of the package and of its extras, at the lowest versions allowed."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(one for name in extras for one in extras[name])]
    pinned = {
        one.replace(">=", "==")
        for one in wanted
        if not one.startswith(("unseen", "quapy", "torch"))
    }
    return sorted(pinned)


if __name__ == "__main__":
    print("\n".join(lowest(Path(__file__).parents[1] / "pyproject.toml")))
