"""The conda recipe and the citation say what pyproject.toml and the source say."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from unseen import __version__

ROOT = Path(__file__).parents[1]
RECIPE = (ROOT / "packaging" / "meta.yaml").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = [one for extra in PROJECT["optional-dependencies"].values() for one in extra]
IN_CONDA = {"matplotlib": "matplotlib-base", "torch": "pytorch"}


def required(requirements: list[str]) -> set[str]:
    """Requirements as the recipe writes them; extras of this package itself are left out."""
    pieces = (re.fullmatch(r"([\w-]+)(?:\[.*\])?(.*)", one) for one in requirements)
    pairs = [(piece[1], piece[2]) for piece in pieces if piece is not None]
    return {
        f"{IN_CONDA.get(name, name)} {least}" for name, least in pairs if name != PROJECT["name"]
    }


def listed(part: str) -> set[str]:
    """What the recipe lists under a heading."""
    (found,) = re.findall(rf"^ *{part}:\n((?: +- .*\n)+)", RECIPE, re.MULTILINE)
    return set(re.findall(r"- (.*)", found))


@pytest.mark.parametrize(
    ("part", "requirements"),
    [
        ("run", [f"python{PROJECT['requires-python']}", *PROJECT["dependencies"]]),
        ("run_constrained", EXTRAS),
        ("entry_points", [f"{name} = {call}" for name, call in PROJECT["scripts"].items()]),
    ],
)
def test_the_recipe_requires_what_the_project_requires(part, requirements) -> None:
    wanted = set(requirements) if part == "entry_points" else required(requirements)
    assert listed(part) == wanted


def test_recipe_and_citation_have_the_version_of_the_source() -> None:
    assert f'version = "{__version__}"' in RECIPE
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"summary: {PROJECT['description']}\n" in RECIPE
    assert f"license: {PROJECT['license']}\n" in RECIPE
