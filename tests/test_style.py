"""The source keeps the rules of style that a program can check."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "unseen"
FILES = sorted(SOURCE.rglob("*.py"))
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DOCUMENTED = (ast.Module, ast.ClassDef, *FUNCTIONS)
BAD_BEGINNINGS = ("Of", "Those", "The same", "As")
MESSAGES = {"message", "messages", "warnings", "notice", "notices"}
# pyarrow has one type for all its errors: only its words tell one from another.
READ_FOREIGN_ERRORS = {"tables/formats.py"}


@cache
def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def n_body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function's body, without its docstring."""
    statements = function.body[ast.get_docstring(function) is not None :]
    return statements[-1].end_lineno - statements[0].lineno + 1 if statements else 0


def word_tests(tree: ast.Module) -> Iterator[str]:
    """Every search for words in the text of a notice or a message."""
    for node in ast.walk(tree):
        searched = []
        if isinstance(node, ast.Compare):
            pairs = zip(node.ops, node.comparators, strict=True)
            searched = [side for op, side in pairs if isinstance(op, ast.In | ast.NotIn)]
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in {"startswith", "endswith", "find", "index", "count"}
        ):
            searched = [node.func.value]
        yield from (ast.unparse(node) for side in searched if holds_words(side))


def holds_words(side: ast.expr) -> bool:
    """Whether a side of a comparison is the text of a notice, of a message or of an error."""
    match side:
        case ast.Call(func=ast.Name(id="str")):
            return True
        case ast.Attribute(attr=name):
            return name in {*MESSAGES, "text"}
        case ast.Name(id=name):
            return name in MESSAGES
    return False


def named(file: Path) -> str:
    return file.relative_to(SOURCE).as_posix()


def test_files_are_short() -> None:
    lengths = {named(file): len(file.read_text("utf-8").splitlines()) for file in FILES}
    assert {name: length for name, length in lengths.items() if length > 450} == {}


def test_functions_are_short() -> None:
    functions = [
        (named(file), node)
        for file in FILES
        for node in ast.walk(parsed(file))
        if isinstance(node, FUNCTIONS)
    ]
    assert [(name, one.name) for name, one in functions if n_body_lines(one) > 40] == []


def test_docstrings_of_modules_are_short() -> None:
    docstrings = {named(file): ast.get_docstring(parsed(file)) or "" for file in FILES}
    assert [name for name, text in docstrings.items() if len(text.splitlines()) > 12] == []


def test_docstrings_begin_with_their_subject() -> None:
    docstrings = [
        (named(file), ast.get_docstring(node) or "")
        for file in FILES
        for node in ast.walk(parsed(file))
        if isinstance(node, DOCUMENTED)
    ]
    beginnings = tuple(f"{words} " for words in BAD_BEGINNINGS)
    assert [(name, text) for name, text in docstrings if text.startswith(beginnings)] == []


def test_no_words_of_a_message_are_searched() -> None:
    found = {
        named(file): [*word_tests(parsed(file))]
        for file in FILES
        if named(file) not in READ_FOREIGN_ERRORS
    }
    assert {name: tests for name, tests in found.items() if tests} == {}


@pytest.mark.parametrize(
    "code",
    [
        "'closed' in notice.text",
        "any('closed' in message for message in found)",
        "'closed' not in estimate.warnings",
        "notice.text.startswith('nothing')",
        "'converge' in str(error)",
    ],
)
def test_a_search_for_words_is_noticed(code) -> None:
    assert [*word_tests(ast.parse(code))]
