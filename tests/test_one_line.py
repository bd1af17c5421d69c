"""An estimator is one file and one line: added to a copy of the source, everything finds it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import unseen

DOCS = Path(__file__).parents[1] / "docs"
FILE = '''
"""The mean posterior of the new rows."""

import numpy as np

from unseen.proportions.base import PosteriorEstimator, Reading, closed_reading
from unseen.scores import Posteriors


class Mine(PosteriorEstimator):
    """Shares of the classes as their mean posterior."""

    def read(self, scores: Posteriors) -> Reading:
        """Average the posteriors."""
        shares = scores.new.mean(axis=0)
        return closed_reading(shares, lambda n_replicates, rng: np.tile(shares, (n_replicates, 1)))
'''
LINE = "from unseen.proportions.closed_set.mine import Mine as Mine\n"


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    """A copy of the source with one more file, and one more line in the list of names."""
    source = tmp_path_factory.mktemp("src")
    package = shutil.copytree(Path(unseen.__file__).parent, source / "unseen")
    (package / "proportions" / "closed_set" / "mine.py").write_text(FILE, encoding="utf-8")
    with (package / "__init__.pyi").open("a", encoding="utf-8") as names:
        names.write(LINE)
    return source


CODE = f"""
import json
import runpy
from pathlib import Path

import numpy as np
from click.testing import CliRunner

import unseen
from unseen.cli import main
from unseen.proportions import all_estimators

rng = np.random.default_rng(0)
X, X_new = rng.normal(size=(60, 2)), rng.normal(size=(40, 2))
X[:30] += 3
comparison = unseen.compare(X, np.repeat(["a", "b"], 30), X_new, random_state=0)
page = Path({str(DOCS / "api.md")!r}).read_text(encoding="utf-8")
page = runpy.run_path({str(DOCS / "conf.py")!r})["with_unlisted_names"](page)
told = {{
    "file": unseen.__file__,
    "class": str(unseen.Mine),
    "names": dir(unseen),
    "estimators": [type(one).__name__ for one in all_estimators()],
    "compared": list(comparison),
    "sees_unseen": comparison["Mine"].to_dict()["sees_unseen"],
    "methods": CliRunner().invoke(main, ["methods"]).output.splitlines(),
    "api": page.splitlines(),
}}
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told(tree) -> dict[str, Any]:
    """What a process that imports the copy finds."""
    path = os.pathsep.join([str(tree), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "200"}
    command = [sys.executable, "-c", CODE]
    return json.loads(
        subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment).stdout
    )


def test_the_package_exports_it(tree, told) -> None:
    assert told["file"].startswith(str(tree))
    assert told["class"] == "<class 'unseen.proportions.closed_set.mine.Mine'>"
    assert "Mine" in told["names"]


def test_it_is_among_all_estimators_and_every_comparison(told) -> None:
    assert "Mine" in told["estimators"]
    assert sorted(told["compared"]) == sorted(told["estimators"])
    assert not told["sees_unseen"]


def test_the_command_line_lists_it(told) -> None:
    (line,) = [line for line in told["methods"] if "Mine" in line]
    assert "Shares of the classes as their mean posterior." in line
    assert "no" in line.split()


def test_the_page_of_the_api_documents_it(told) -> None:
    assert ".. autoclass:: unseen.proportions.closed_set.mine.Mine" in told["api"]
