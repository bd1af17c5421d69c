"""Shared by the benchmarks: one BLAS thread, the folder of results, a csv writer, a clock.

Import this module before NumPy, which reads the number of threads when it loads. The root of the
project comes on the path too, so that a benchmark can use ``paper``.
"""

from __future__ import annotations

import csv
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
sys.path.insert(0, str(ROOT))


def write_csv(path: Path | str, rows: Iterable[Mapping[str, Any]], comment: str = "") -> None:
    """Write rows under the names of all their columns; a plain name goes to the results.

    Parameters
    ----------
    path : Path or str
        The file; a str is a name in the folder of results.
    rows : iterable of mapping
        A column that a row lacks stays empty.
    comment : str
        A line above the names.
    """
    rows = list(rows)
    with (RESULTS / path).open("w", newline="") as file:
        if comment:
            file.write(f"# {comment}\n")
        names = list(dict.fromkeys(name for row in rows for name in row))
        writer = csv.DictWriter(file, names, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def cpu_seconds(task: Callable[[], object], n_runs: int = 1) -> float:
    """CPU seconds of a task: the least of some runs, as noise only ever adds."""
    times = []
    for _ in range(n_runs):
        start = time.process_time()
        task()
        times.append(time.process_time() - start)
    return min(times)
