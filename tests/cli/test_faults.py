"""A command that is stopped or finds the disk full: whole files or none, one line, nothing left.

``benchmarks/faults.py`` tries all commands, all faults and more moments.
"""

import importlib.util
import signal
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="faults are sent by POSIX signals")
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def faults():
    """The benchmark as a module."""
    sys.path.insert(0, str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location("faults", BENCHMARKS / "faults.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.path.remove(str(BENCHMARKS))
    return module


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_the_middle(faults, tmp_path, number) -> None:
    assert faults.by_signal(faults.Trial("estimate --json", tmp_path), number, 1.5) == []


def test_a_full_disk(faults, tmp_path) -> None:
    assert faults.large_files(faults.Trial("estimate --json", tmp_path), 1000) == []
