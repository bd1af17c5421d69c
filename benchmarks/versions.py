"""The tests by another interpreter, or with other numbers of threads: what ran, and how it ended.

    python benchmarks/versions.py .venv-lowest/bin/python tests/samples tests/cli
    python benchmarks/versions.py .venv-3.13/bin/python --threads 2 tests/scores -m "not slow"

Runs pytest of that interpreter on the tests named, and adds a row to `results/versions.csv`:
versions, threads of BLAS, and how many tests passed, failed and were skipped. A row
takes the place of an older one of the same versions, threads and tests. The library and pytest must
be installed there.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from _common import RESULTS, ROOT, write_csv

LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "skops", "click")
_ASK = """
import platform
from importlib.metadata import version
print(platform.python_version(), *(version(name) for name in {names!r}))
"""
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def versions(python: str) -> dict[str, str]:
    """Versions of an interpreter and of what is installed for it."""
    asked = subprocess.run(
        [python, "-c", _ASK.format(names=LIBRARIES)], capture_output=True, text=True, check=True
    )
    return dict(zip(("python", *LIBRARIES), asked.stdout.split(), strict=True))


def counts(python: str, threads: int, tests: list[str]) -> dict[str, int]:
    """How many tests passed, failed and were skipped."""
    environment = os.environ | dict.fromkeys(THREADS, str(threads))
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch, "log.xml")
        command = [python, "-m", "pytest", "-p", "no:cacheprovider", f"--junitxml={log}", *tests]
        subprocess.run(command, cwd=ROOT, env=environment, check=False)
        suite = next(ElementTree.parse(log).getroot().iter("testsuite")).attrib
    failed = int(suite["failures"]) + int(suite["errors"])
    skipped = int(suite["skipped"])
    passed = int(suite["tests"]) - failed - skipped
    return {"passed": passed, "failed": failed, "skipped": skipped}


def kept(key: dict[str, Any]) -> list[dict[str, str]]:
    """Rows of other versions, threads or tests."""
    file = RESULTS / "versions.csv"
    rows = list(csv.DictReader(file.open(newline=""))) if file.exists() else []
    return [row for row in rows if any(row[name] != str(key[name]) for name in key)]


def main() -> None:
    """Run and record; the exit code is 1 where a test failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python", help="interpreter")
    parser.add_argument("--threads", type=int, default=1)
    given, tests = parser.parse_known_args()
    key = versions(given.python) | {"threads": given.threads, "tests": " ".join(tests)}
    found = counts(given.python, given.threads, tests)
    write_csv("versions.csv", [*kept(key), key | found])
    sys.exit(found["failed"] > 0)


if __name__ == "__main__":
    main()
