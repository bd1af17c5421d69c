"""Functions and files of the library that one call runs through: how far a reader must jump.

    python tools/trace.py            # a table of four calls
    python tools/trace.py --list estimate

The data are small and made here; imports happen before the trace, so that only calls count.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import unseen

PACKAGE = str(Path(unseen.__file__).parent)
Calls = dict[tuple[str, str], None]


def traced(call: Callable[[], object]) -> Calls:
    """Each function of the library that a call runs, in the order of first use."""
    seen: Calls = {}

    def note(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        # Comprehensions and lambdas are part of the function that holds them.
        if event == "call" and code.co_filename.startswith(PACKAGE) and code.co_name[0] != "<":
            seen.setdefault((code.co_filename.removeprefix(PACKAGE + "/"), code.co_qualname))

    call()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return seen


def cases() -> dict[str, Callable[[], object]]:
    """The calls of the review: 90 labelled rows of two classes, 90 new ones."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(-3, 1, (45, 2)), rng.normal(3, 1, (45, 2))])
    y = ["left"] * 45 + ["right"] * 45
    X_new = np.vstack([rng.normal(-3, 1, (60, 2)), rng.normal([-3, 3], 1, (30, 2))])
    by = np.repeat([1, 2], 45)
    return {
        "estimate": lambda: unseen.estimate(X, y, X_new, confidence=0.95, random_state=0),
        "rule": lambda: unseen.RejectionClassifier(random_state=0).fit(X, y, X_new),
        "monitor": lambda: unseen.monitor(X, y, X_new, by, random_state=0),
        "compare": lambda: unseen.compare(X, y, X_new, random_state=0),
    }


def main() -> None:
    """Print the table, or the functions of one call."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", choices=list(cases()), help="show the functions of one call")
    chosen = parser.parse_args().list
    warnings.simplefilter("ignore")
    if chosen is not None:
        print("\n".join(f"{file}:{name}" for file, name in traced(cases()[chosen])))
        return
    print(f"{'call':10}{'functions':>10}{'files':>7}")
    for name, call in cases().items():
        found = traced(call)
        print(f"{name:10}{len(found):>10}{len({file for file, _ in found}):>7}")


if __name__ == "__main__":
    main()
