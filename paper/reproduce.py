"""The paper's tables and figures as files, from the cells of a run."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from paper.cell import Cell
from paper.comparisons import signed_rank_table, slope_table
from paper.figures import both_settings, figure1, figure2, save_figure
from paper.grouping import in_group, sorted_methods
from paper.run import Plan, Timing, run
from paper.split import PrescribedSplit
from paper.store import CellStore, write_text
from paper.tables import error_table, interval_table
from unseen.datasets import load_dataset
from unseen.plots.canvas import matplotlib_defaults

__all__ = ["TARGETS", "error_csv", "reproduce", "write_results"]

TARGETS = ("table1", "table2", "figure1", "figure2", "all")
_SETTINGS = {
    "table1": ("observed",),
    "table2": ("observed",),
    "figure1": ("observed",),
    "figure2": ("unobserved",),
    "all": ("observed", "unobserved"),
}


def reproduce(
    target: str,
    folder: str | os.PathLike[str],
    plan: Plan | None = None,
    *,
    n_jobs: int | None = None,
    progress: Callable[[float], Any] | None = None,
) -> tuple[Timing, list[Path]]:
    """Run what a table or figure of the paper needs, and write it.

    Cells are kept in ``folder/cells``: a run that was stopped is taken up by the same call, and
    a second target uses what the first has made.

    Parameters
    ----------
    target : {"table1", "table2", "figure1", "figure2", "all"}
        The table or figure to make.
    folder : path
        Where files are written.
    plan : Plan or None, default=None
        Which data sets, permutations and methods; None is all. The target chooses the settings.
    n_jobs : int or None, default=None
        Jobs side by side; does not change the result.
    progress : callable or None, default=None
        Called with the share of the work that is done.

    Returns
    -------
    timing : Timing
    files : list of Path
        The files that were written.
    """
    if target not in TARGETS:
        raise ValueError(f"target must be one of {', '.join(TARGETS)}; got {target!r}.")
    if not target.startswith("table"):
        # Better now than after the run.
        with matplotlib_defaults():
            pass
    plan = (Plan() if plan is None else plan).in_settings(_SETTINGS[target])
    store = CellStore(Path(folder) / "cells")
    timing = run(plan, store, n_jobs=n_jobs, progress=progress)
    cells = [cell for cell in store.read().values() if plan.holds(cell)]
    return timing, write_results(target, cells, Path(folder))


def write_results(target: str, cells: Iterable[Cell], folder: Path) -> list[Path]:
    """Write the tables and figures of one of the targets of :func:`reproduce`."""
    cells = list(cells)
    files: list[Path] = []
    if target in ("table1", "all"):
        files += error_table(cells).save(folder / "table1")
        files += signed_rank_table(cells).save(folder / "table1_signed_ranks")
    if target in ("table2", "all"):
        counts = {name: _sizes(name) for name in {cell.dataset for cell in cells}}
        files += interval_table(cells, counts).save(folder / "table2")
    # Figure 1 is over binary sets; a run of others has none.
    if target in ("figure1", "all") and in_group(cells, "binary"):
        files += save_figure(figure1(cells), folder / "figure1")
    if target in ("figure2", "all"):
        files += save_figure(figure2(cells), folder / "figure2")
        files += slope_table(cells).save(folder / "figure2_slopes")
        files += error_table(cells, "unobserved").save(folder / "figure2_errors")
        files += signed_rank_table(cells, "unobserved").save(folder / "figure2_signed_ranks")
    if target == "all":
        files += save_figure(both_settings(cells), folder / "both_settings")
    errors = folder / "errors.csv"
    write_text(errors, error_csv(cells))
    return [*files, errors]


def error_csv(cells: Iterable[Cell]) -> str:
    """Errors of all methods, one line per setting, data set, permutation and proportion."""
    rows: dict[tuple[str, str, int, float], dict[str, str]] = {}
    for cell in cells:
        place = (cell.setting, cell.dataset, cell.permutation, cell.proportion)
        rows.setdefault(place, {})[cell.method] = f"{cell.error:.5f}"
    methods = sorted_methods({method for row in rows.values() for method in row})
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["setting", "dataset", "permutation", "proportion", *methods])
    for place, row in sorted(rows.items()):
        writer.writerow([*place, *(row.get(method, "") for method in methods)])
    return file.getvalue()


def _sizes(name: str) -> tuple[int, int]:
    """Rows of a training and of a test sample; every permutation has the same."""
    data = load_dataset(name)
    split = PrescribedSplit.of(data.y, data.unobserved, 0)
    return len(split.training), split.test_size
