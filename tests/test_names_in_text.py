"""Files, modules and objects that a page or a docstring names exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import unseen
from unseen._names import public_names

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "unseen"
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
FILE = re.compile(r"(?<![\w./*-])(?:[\w-]+/)*[\w-]+\.pyi?\b")
OBJECT = re.compile(r"(?<![\w./@-])unseen(?:\.[A-Za-z]\w*)+(?![\w/])")
MEMBER = re.compile(r"`~?([A-Z]\w+)\.(\w+)")
IN_FILE = re.compile(r"`(\w+)` in `([\w/]+\.py)`")
# Names that a reader is to choose, and the words of a condition or of a file's name.
MADE_UP = {"src/unseen/proportions/closed_set/mine.py", "unseen.proportions.closed_set.mine"}
NOT_OBJECTS = {"low", "high", "must", "skops", "json", "html", "yaml"}
# The changelog tells of names that are gone.
PAGES = [
    page
    for pattern in ("*.md", "docs/*.md", "*/README.md", "examples/*/README.md")
    for page in ROOT.glob(pattern)
    if page.name != "CHANGELOG.md"
]
FOLDERS = ("src", "benchmarks", "tools", "paper", "examples", "docs", "tests")
CODE = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")]


def texts() -> Iterator[tuple[str, str]]:
    """Every page, and every docstring, with the name of its file."""
    for page in PAGES:
        yield page.relative_to(ROOT).as_posix(), page.read_text(encoding="utf-8")
    for file in CODE:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, DOCUMENTED) and (docstring := ast.get_docstring(node)):
                yield file.relative_to(ROOT).as_posix(), docstring


def files_of(text: str) -> set[str]:
    """Python files that a text names, but for placeholders such as ask_TOOL.py."""
    return {name for name in FILE.findall(text) if not re.search(r"[A-Z]{3}", name)} - MADE_UP


def objects_of(text: str) -> set[str]:
    names = {name for name in OBJECT.findall(text) if name.split(".")[1] not in NOT_OBJECTS}
    return names - MADE_UP


def has_file(name: str, listed: set[str]) -> bool:
    return any(f"/{one}".endswith(f"/{name}") for one in listed)


def has_object(name: str) -> bool:
    """Whether a dotted name leads to a module, or to an object in one."""
    parts = name.split(".")
    found = import_module("unseen")
    for place, part in enumerate(parts[1:], start=2):
        try:
            found = getattr(found, part)
        except AttributeError:
            try:
                found = import_module(".".join(parts[:place]))
            except ImportError:
                return has_member(found, part)
    return True


def has_member(owner: object, name: str) -> bool:
    """Whether an object has an attribute, a field, or an attribute that a fit makes."""
    bases = getattr(owner, "__mro__", ())
    is_field = any(name in vars(base).get("__annotations__", {}) for base in bases)
    return hasattr(owner, name) or is_field or name.endswith("_")


@pytest.fixture(scope="module")
def listed() -> set[str]:
    found = {file.relative_to(ROOT).as_posix() for file in CODE}
    return found | {"hatch_build.py", "src/unseen/__init__.pyi"}


def test_every_file_that_a_text_names_exists(listed) -> None:
    found = {(file, name) for file, text in texts() for name in files_of(text)}
    assert len(found) > 200
    assert sorted(one for one in found if not has_file(one[1], listed)) == []


def test_every_object_that_a_text_names_exists() -> None:
    found = {(file, name) for file, text in texts() for name in objects_of(text)}
    assert len(found) > 200
    assert sorted(one for one in found if not has_object(one[1])) == []


def test_every_member_of_a_public_class_that_a_text_names_exists() -> None:
    found = {(file, *one) for file, text in texts() for one in MEMBER.findall(text)}
    found = {one for one in found if one[1] in public_names()}
    assert len(found) > 8
    missing = [one for one in found if not has_member(getattr(unseen, one[1]), one[2])]
    assert sorted(missing) == []


def test_the_map_of_the_house_puts_every_file_into_its_folder() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    house = page.partition("    src/unseen/\n")[2].partition("    paper/")[0]
    folders, found = [""], set()
    for line in house.splitlines():
        if line[6:7].strip():  # not the second line of a folder
            folders = re.findall(r"[\w/]+/", line[6:25]) or [""]
        found |= {(tuple(folders), name) for name in FILE.findall(line)}
    assert len(found) > 60
    places = {one: [SOURCE / folder / one[1] for folder in ("", *one[0])] for one in found}
    assert sorted(one for one, paths in places.items() if not any(map(Path.exists, paths))) == []
    for name, file in IN_FILE.findall(page):
        assert re.search(rf"\b{name}\b", (SOURCE / file).read_text(encoding="utf-8")), name


@pytest.mark.parametrize(
    "text", ["see unseen/no/such.py", "`unseen.no_such`", "unseen.intervals.x"]
)
def test_a_name_that_is_gone_is_noticed(text, listed) -> None:
    files, objects = files_of(text), objects_of(text)
    assert files or objects
    assert not any(has_file(name, listed) for name in files)
    assert not any(map(has_object, objects))
