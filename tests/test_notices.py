"""Every notice code in the source is on docs/notices.md, and the page names no other."""

import ast
import re
from pathlib import Path

import unseen

SOURCE = Path(unseen.__file__).parent
PAGE = Path(__file__).parents[1] / "docs" / "notices.md"
# A finding becomes a notice, with the name of the check in its code.
PASSED_ON = {
    ("diagnostics.py", "self.name"),
    ("diagnostics.py", "f'{self.name}_unchecked'"),
}


def codes_in(file: Path) -> tuple[set[str], set[tuple[str, str]]]:
    """Codes that are written out, and codes that are computed."""
    literal, computed = set(), set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        called = getattr(node.func, "id", getattr(node.func, "attr", None))
        if called not in ("Notice", "Finding"):
            continue
        named = [word.value for word in node.keywords if word.arg in ("code", "name")]
        code = (*node.args, *named)[0]
        if isinstance(code, ast.Constant):
            literal.add(code.value)
        else:
            computed.add((file.name, ast.unparse(code)))
    return literal, computed


def test_the_page_lists_every_code_and_no_other() -> None:
    found, computed = set(), set()
    for file in SOURCE.rglob("*.py"):
        literal, others = codes_in(file)
        found |= literal
        computed |= others
    assert computed == PASSED_ON
    assert all(re.fullmatch("[a-z][a-z0-9]*(_[a-z0-9]+)*", code) for code in found)
    listed = re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(listed) == found


def test_a_code_that_is_computed_or_new_is_seen(tmp_path) -> None:
    file = tmp_path / "made.py"
    file.write_text('Notice("b", t)\nrecords.Notice(code="c", text=t)\nNotice(f"{x}", t)\n')
    assert codes_in(file) == ({"b", "c"}, {("made.py", "f'{x}'")})
