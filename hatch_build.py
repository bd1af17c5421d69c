"""Hatchling asks this file for the README that goes into the wheel and the sdist."""

import sys
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT / "tools"))

from package_readme import package_readme  # noqa: E402


class CustomMetadataHook(MetadataHookInterface):
    """The dynamic part of the metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Put in the README as a package index shows it."""
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        repository = metadata.get("urls", {}).get("Repository")
        version = metadata["version"]
        readme = package_readme(text, repository, version)
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}
