"""Pages do what they say: their code and commands run, and print what the page shows."""

from __future__ import annotations

import os
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from contextlib import chdir, redirect_stdout
from importlib.util import find_spec
from io import StringIO
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from notebooks import notebook
from sklearn.base import BaseEstimator
from sklearn.neighbors import NearestNeighbors

import unseen
from unseen._names import public_names
from unseen.cli import main

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```(python|text|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SCRIPT = re.compile(r"^```(?:sh|yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?%?")
FRAME = re.compile(r"[\u2500-\u257f]+")
HELP = {"--help", "--version"}
# A page whose numbers are further off is stale: `python tools/pages.py NAME` writes it anew.
ROOM = 0.01
TABLE_COMMANDS = {
    "estimate", "classify", "explain", "audit", "promote", "monitor", "compare", "diagnose"
}  # fmt: skip


class Page:
    """Runs the blocks of a page in one folder, in the order in which a reader would."""

    def __init__(self, name: str, folder: Path, **given: object) -> None:
        self.text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
        self.folder = folder
        self.names: dict[str, object] = {"__name__": name, **given}
        self.last_code = 0

    def run(self, room: float = ROOM, room_for_counts: float = 0.02) -> int:
        """Run all, compare all; how many outputs were compared."""
        blocks = [*BLOCK.findall(self.text), ("", "")]
        n_compared = 0
        for (kind, code), (next_kind, next_text) in pairwise(blocks):
            if kind == "python":
                shown = next_text if next_kind == "text" else ""
                printed = self._python(code)
                assert_same_but_for_rounding(printed, shown, room, room_for_counts)
                n_compared += bool(shown)
            elif kind == "console":
                n_compared += self._session(code)
        return n_compared

    def run_python(self) -> int:
        """Run the Python of a page that shows no output; how many blocks were run."""
        codes = [code for kind, code in BLOCK.findall(self.text) if kind == "python"]
        for code in codes:
            self._python(code)
        return len(codes)

    def _session(self, session: str) -> int:
        pieces = re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]
        for piece in pieces:
            command, _, shown = piece.partition("\n")
            assert_same_but_for_rounding(self._shell(command), shown)
        return len(pieces)

    def _python(self, code: str) -> str:
        printed = StringIO()
        with redirect_stdout(printed), chdir(self.folder):
            exec(compile(code, "page", "exec"), self.names)
        return printed.getvalue()

    def _shell(self, command: str) -> str:
        """What a terminal shows; ``$?`` is that of the command before."""
        name, *arguments = shlex.split(command)
        if name == "unseen" and "|" not in arguments:
            with chdir(self.folder):
                result = CliRunner(env={"COLUMNS": None}).invoke(main, arguments)
            self.last_code = result.exit_code
            return result.output
        scripts = Path(sys.executable).parent
        environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        environment["PATH"] = f"{scripts}{os.pathsep}{environment['PATH']}"
        done = subprocess.run(
            f"(exit {self.last_code}); {command}",
            shell=True,
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        self.last_code = done.returncode
        return done.stdout


def assert_same_but_for_rounding(
    printed: str, shown: str, room: float = ROOM, room_for_counts: float = 0.02
) -> None:
    """Same words; numbers may move a little with the processor and the libraries below."""
    # NumPy pads the shorter numbers of an array: [0.25 0.4 ].
    bare = [
        NUMBER.sub("#", FRAME.sub("|", text)).replace("]", " ]").split()
        for text in (printed, shown)
    ]
    assert bare[0] == bare[1], printed
    got, expected = (np.array([*map(_value, NUMBER.findall(text))]) for text in (printed, shown))
    is_count = expected >= 5  # below, a number is a share or an exit code
    limit = np.where(is_count, np.maximum(room_for_counts * expected, room), room)
    rounding = 1e-9  # 0.33 - 0.32 is more than 0.01
    assert np.all(abs(got - expected) <= limit + rounding), printed


def _value(number: str) -> float:
    return float(number.rstrip("%")) / (100 if number.endswith("%") else 1)


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("tutorial", 4),
        ("command_line", 4),
        ("big_data", 2),
        ("scale", 1),
        ("monitor", 1),
        ("drift", 1),
        ("loop", 3),
        ("gpu", 1),
    ],
)
def test_a_page_prints_what_it_shows(name, least, tmp_path) -> None:
    assert Page(name, tmp_path).run() >= least


@pytest.mark.parametrize(
    ("name", "needs", "least", "room"),
    [
        # Its error rates have standard errors of 0.05, and move by as much with the processor.
        ("label_new_batch", "sklearn", 9, 0.05),
        ("interoperability", "skops", 4, ROOM),
        ("embeddings", "sklearn", 4, ROOM),
        ("quapy", "quapy", 4, ROOM),
        ("notices", "sklearn", 1, 0.0),
    ],
)
def test_a_page_prints_what_it_shows_to_the_row(name, needs, least, room, tmp_path) -> None:
    pytest.importorskip(needs)
    page = Page(name, tmp_path)
    assert page.text.count("```python") >= least
    assert page.run(room, room_for_counts=0.0) > 0


class KNN(BaseEstimator):
    """The detector of PyOD that a page takes: high where the nearest rows are far."""

    def fit(self, X, y=None):
        self.nearest_ = NearestNeighbors(n_neighbors=5).fit(X)
        return self

    def decision_function(self, X):
        return self.nearest_.kneighbors(X)[0][:, -1]


@pytest.mark.parametrize("name", ["choosing", "comparison", "data", "index", "read_a_report"])
def test_the_fragments_of_a_page_run_on_given_rows(name, tmp_path, monkeypatch) -> None:
    if find_spec("pyod") is None:
        monkeypatch.setattr(KNN, "__module__", "pyod.models.knn")
        monkeypatch.setitem(sys.modules, "pyod.models.knn", SimpleNamespace(KNN=KNN))
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(-4, 1, (60, 2)), rng.normal(4, 1, (60, 2))])
    known, new = rng.normal(np.repeat([-4, 4], [40, 20])[:, None], 1, (60, 2)), [-4, 4]
    X_new = np.vstack([known, rng.normal(new, 1, (40, 2))])
    rows = {"X": X, "y": np.repeat(["left", "right"], 60), "X_new": X_new}
    assert Page(name, tmp_path, unseen=unseen, **rows).run_python() > 0


def test_every_page_with_python_is_run() -> None:
    pages = {page.stem for page in DOCS.glob("*.md") if "```python" in page.read_text("utf-8")}
    assert pages <= set(re.findall(r'"(\w+)"', Path(__file__).read_text("utf-8")))


def test_the_readme_prints_what_it_shows(tmp_path) -> None:
    page = Page("../README", tmp_path)
    blocks = [block for block in BLOCK.findall(page.text) if block[0] != "console"]
    (_, example), (_, shown), (_, rule) = blocks
    # Exact, but for the last digit shown.
    assert_same_but_for_rounding(page._python(example), shown, room=0.001)
    page._python(rule)
    rule, digits = page.names["rule"], page.names["digits"][1::4]
    wrong = np.mean(rule.predict_new() != np.where(digits < 7, digits, -1))
    assert wrong < 0.1
    assert abs(rule.risk_.risk - wrong) < 2 * rule.risk_.standard_error


def test_the_sessions_of_the_readme_are_true(tmp_path, monkeypatch) -> None:
    """Commands of this library run on the rows of the example; `make demo` prints what is shown."""
    page = Page("../README", tmp_path)
    sessions = [text for kind, text in BLOCK.findall(page.text) if kind == "console"]
    pieces = [piece for text in sessions for piece in re.split(r"(?m)^\$ ", text)[1:]]
    shown = {words.split("#")[0].strip(): text for words, _, text in map(_first_line, pieces)}
    printed = page._shell("unseen demo").splitlines(keepends=True)
    assert_same_but_for_rounding("".join(printed[:2]), shown.pop("make demo"), room=0.001)
    wheel, tool = shown.pop('pip install "unseen[cli]"'), 'uvx --from "unseen[cli]" unseen demo'
    assert (wheel, shown.pop(tool), shown.pop("make test")) == ("", "", "")
    (example, *_) = [code for kind, code in BLOCK.findall(page.text) if kind == "python"]
    page._python(example)
    _write_tables(tmp_path, page.names)
    for command in shown:
        page._shell(command)
        assert page.last_code == 0, command
    assert {"report.html", "labelled.csv"} <= {file.name for file in tmp_path.iterdir()}


def _first_line(piece: str) -> tuple[str, str, str]:
    return piece.partition("\n")


def _write_tables(folder: Path, names: dict) -> None:
    """The rows of the example as the two tables of the commands, with a week for each new row."""
    columns = [f"p{place}" for place in range(names["X"].shape[1])]
    train, new = pd.DataFrame(names["X"], columns=columns), pd.DataFrame(names["X_new"])
    new.columns = columns
    weeks = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(len(new)) % 3 * 7, "D")
    train.assign(species=names["y"]).to_csv(folder / "train.csv", index=False)
    new.assign(date=weeks.strftime("%Y-%m-%d")).to_csv(folder / "new.csv", index=False)


def test_pages_that_run_in_a_browser_need_what_is_loaded_there() -> None:
    settings = runpy.run_path(str(DOCS / "conf.py"))
    worker = (DOCS / "_static" / "run_worker.js").read_text(encoding="utf-8")
    loaded = re.findall(r'loadPackage\(\["(.*)"\]', worker)[0].split('", "')
    there = {*loaded, "sklearn", "unseen", "joblib"}
    assert settings["IN_BROWSER"]
    for name in settings["IN_BROWSER"]:
        page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
        code = "".join(code for kind, code in BLOCK.findall(page) if kind == "python")
        imported = re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE)
        assert {*imported} <= there, name
        source = [page]
        settings["offer_to_run"](None, name, source)
        assert source[0].index("# ") < source[0].index(settings["PYODIDE"])


def test_the_notebook_of_a_page_has_all_its_code_and_what_it_prints() -> None:
    page = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    cells = [cell for cell in notebook(page)["cells"] if cell["cell_type"] == "code"]
    code = [cell["source"] for cell in cells if not cell["source"].startswith("!")]
    assert code == [text.strip() for kind, text in BLOCK.findall(page) if kind == "python"]
    printed = "".join(cell["outputs"][0]["text"] for cell in cells if cell["outputs"])
    shown = [text for kind, text in BLOCK.findall(page) if kind != "python"]
    assert printed == "".join(re.sub(r"(?m)^\$ .*\n", "", text) for text in shown)


def test_every_public_name_has_its_place_on_the_page_of_the_interface() -> None:
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    placed = re.findall(r"^\.\. auto\w+:: (?:[\w.]+\.)?(\w+)$", page, re.MULTILINE)
    assert {*public_names()} <= {*placed}


def test_a_formula_keeps_its_fractions_and_decimals() -> None:
    readable = runpy.run_path(str(DOCS / "conf.py"))["readable_maths"]
    shown = readable(r"\tfrac12 - \frac{1}{m} + .1 u^{1.5}")
    assert shown == r"\tfrac{1}{2} - \frac{1}{m} + 0.1 u^{1.5}"


def test_every_extra_is_on_the_page_of_installation() -> None:
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = re.findall(r"^\| `(\w+)` \|", (DOCS / "install.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(project["optional-dependencies"])


def test_every_page_is_in_the_contents_and_every_link_of_the_readme_leads_somewhere() -> None:
    contents = (DOCS / "index.md").read_text(encoding="utf-8").splitlines()
    assert {page.stem for page in DOCS.glob("*.md")} - {"index"} <= {*contents}
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    targets = {link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", readme)}
    assert not [target for target in targets if not (DOCS.parent / target).exists()]


@pytest.mark.parametrize(
    ("printed", "shown"),
    [("unseen 30%", "unseen 36%"), ("1 row", "2 rows"), ("code 3", "code 1"), ("a 1", "a")],
)
def test_what_differs_is_noticed(printed, shown) -> None:
    with pytest.raises(AssertionError):
        assert_same_but_for_rounding(printed, shown)


def sections() -> dict[str, str]:
    """Text of the page on the command line under each heading."""
    page = (DOCS / "command_line.md").read_text(encoding="utf-8")
    pieces = re.split(r"^## (.*)$", page, flags=re.MULTILINE)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


@pytest.mark.parametrize("name", sorted(main.commands))
def test_every_option_of_a_command_is_on_the_page(name) -> None:
    described = [text for title, text in sections().items() if f"`{name}`" in title]
    assert described, name
    if name in TABLE_COMMANDS:
        described.append(sections()["Options of all commands with tables"])
    options = [one for one in main.commands[name].params if isinstance(one, click.Option)]
    for option in options:
        for spelling in option.opts:
            assert any(f"`{spelling}`" in text for text in described), spelling


def shown_commands() -> list[tuple[str, list[str]]]:
    """Every ``unseen ...`` of a script on any page, with its arguments."""
    found = []
    for page in sorted(DOCS.glob("*.md")):
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        lines = [line.strip() for block in SCRIPT.findall(text) for line in block.splitlines()]
        parts = [shlex.split(line)[1:] for line in lines if line.startswith("unseen ")]
        found += [(name, rest) for name, *rest in parts if not {name, *rest} & HELP]
    return found


def test_commands_that_are_only_shown_can_be_parsed() -> None:
    commands = shown_commands()
    assert {name for name, _ in commands} >= TABLE_COMMANDS
    for name, arguments in commands:
        context = main.commands[name].make_context(name, list(arguments))
        assert not context.args, arguments


def test_a_command_that_is_wrong_is_noticed() -> None:
    with pytest.raises(click.UsageError, match="No such option"):
        main.commands["estimate"].make_context("estimate", ["a.csv", "b.csv", "--nonsense"])
