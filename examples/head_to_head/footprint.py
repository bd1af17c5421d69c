"""What a tool brings with it: packages, megabytes, and the version that was asked for.

    VENV/bin/python footprint.py WORK TOOL DISTRIBUTION

Run by the environment that is measured, before anything else is put there. Python's own installer
is not counted.
"""

from __future__ import annotations

import json
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

INSTALLER = ("pip", "setuptools")


def megabytes(folder: Path) -> float:
    """Size of all files but the installer's."""
    files = (
        path
        for top in folder.iterdir()
        if not top.name.startswith((*INSTALLER, "_distutils_hack", "distutils-precedence"))
        for path in (top.rglob("*") if top.is_dir() else [top])
    )
    return sum(path.stat().st_size for path in files if path.is_file()) / 1e6


def main() -> None:
    """Write ``TOOL.footprint.json``."""
    work, tool, distribution = sys.argv[1:]
    names = {found.metadata["Name"].lower() for found in metadata.distributions()}
    record = {
        "tool": tool,
        "version": metadata.version(distribution),
        "packages": len(names.difference(INSTALLER)),
        "megabytes": round(megabytes(Path(sysconfig.get_paths()["purelib"]))),
    }
    (Path(work) / f"{tool}.footprint.json").write_text(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
