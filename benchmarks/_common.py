"""Shared by the benchmarks: one BLAS thread, results, a csv writer, a clock, many processes.

Import this module before NumPy, which reads the number of threads when it loads. The root of the
project comes on the path too, so that a benchmark can use ``paper``. With JOBS=16 in the
environment, a benchmark that calls :func:`each` solves its problems in 16 processes.
"""

from __future__ import annotations

import csv
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
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


_work: list[Callable[[], Any]] = []


def each(task: Callable[..., Any], problems: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
    """``task(*problem)`` of every problem, in order, by as many processes as JOBS says."""
    # Children inherit the work, so that a task may be a closure.
    _work[:] = [partial(task, *problem) for problem in problems]
    n_jobs = int(os.environ.get("JOBS", "1"))
    if n_jobs == 1:
        yield from (work() for work in _work)
        return
    with multiprocessing.get_context("fork").Pool(n_jobs) as pool:
        yield from pool.imap(_work_at, range(len(_work)))


def _work_at(place: int) -> Any:
    return _work[place]()


def cpu_seconds(task: Callable[[], object], n_runs: int = 1) -> float:
    """CPU seconds of a task: the least of some runs, as noise only ever adds."""
    times = []
    for _ in range(n_runs):
        start = time.process_time()
        task()
        times.append(time.process_time() - start)
    return min(times)
