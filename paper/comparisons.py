"""How the methods compare: whose error grows with the unseen share, and who beats whom.

A closed-set method shares out everything among the classes it knows. With a share p unseen, it
gives them p too much and the unseen classes p too little, so its l1 error is at least 2 p: the
lines of Figure 2 have slope 2, however well the method does otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from scipy.stats import linregress, rankdata, wilcoxon

from paper.cell import Cell
from paper.grouping import (
    GROUPS,
    MeanErrors,
    by_method,
    in_group,
    in_setting,
    mean_errors,
    sorted_methods,
)
from paper.layout import Entry, Grid, Table, number
from paper.published import INDISTINGUISHABLE
from unseen._types import FloatArray

__all__ = [
    "PairRecord",
    "SlopeRecord",
    "signed_rank_records",
    "signed_rank_table",
    "slope_records",
    "slope_table",
]

# Methods that agree up to rounding are tied: ranks must not sort rounding errors.
_ROUNDING = 1e-12

_SLOPE_TITLE = "Figure 2 in numbers. Class M not observed: mean l1 error against the unseen share"
_SLOPE_NOTES = (
    "A least-squares line per data set; mean over data sets, with the standard error of the mean.",
    "Linearity: part of the variance along a line's points that the line explains.",
    "A method that gives unseen classes nothing has an error of at least twice the unseen share.",
)
_PAPER_NOTES = {
    ("observed", "binary"): (
        f"The paper: all its methods differ, except {', '.join(INDISTINGUISHABLE)} mutually.",
    ),
    ("observed", "multiclass"): ("The paper: all its methods differ.",),
}


@dataclass(frozen=True)
class SlopeRecord:
    """How the mean error of a method grows with the unseen share.

    Parameters
    ----------
    group, method : str
    n_sets : int
        Data sets with cells at two unseen shares or more.
    slope, intercept : float
        Least-squares line through the mean errors of a data set; mean over data sets.
    standard_error : float or None
        Standard error of the slope over data sets; None from one data set.
    linearity : float
        Part of the variance of the mean error that the lines explain; mean over data sets.

    Examples
    --------
    >>> from paper.comparisons import SlopeRecord
    >>> SlopeRecord("binary", "L2", 13, 2.0, 0.01, 0.0, 1.0).slope
    2.0
    """

    group: str
    method: str
    n_sets: int
    slope: float
    standard_error: float | None
    intercept: float
    linearity: float


@dataclass(frozen=True)
class PairRecord:
    """Wilcoxon's signed-rank test between the mean errors of two methods.

    Parameters
    ----------
    setting, group, first, second : str
        Where, and which two methods.
    n_pairs : int
        Pairs of a data set and a proportion that both methods have.
    difference : float
        Mean of first minus second.
    p_value : float
        Two-sided.
    verdict : {"<", ">", "="}
        Whether the first has the smaller error, the larger, or neither at the level.

    Examples
    --------
    >>> from paper.comparisons import PairRecord
    >>> PairRecord("observed", "binary", "L2", "KL", 143, -0.05, 0.001, "<").verdict
    '<'
    """

    setting: str
    group: str
    first: str
    second: str
    n_pairs: int
    difference: float
    p_value: float
    verdict: str


def slope_table(cells: Iterable[Cell]) -> Table:
    """The message of Figure 2 in numbers: the slope of each line.

    Parameters
    ----------
    cells : iterable of Cell
        Cells where class M is observed are left out.

    Examples
    --------
    >>> from paper.cell import Cell
    >>> from paper.comparisons import slope_table
    >>> cells = [
    ...     Cell("unobserved", "banana", 0, p, "L2", (1 - p, p), (1.0, 0.0))
    ...     for p in (0.25, 0.5, 0.75)
    ... ]
    >>> slope_table(cells).records[0].slope
    2.0
    """
    records = slope_records(cells)
    methods = sorted_methods(record.method for record in records)
    found = {(record.group, record.method): record for record in records}
    groups = [group for group in GROUPS if any(record.group == group for record in records)]
    rows = tuple(
        (
            Entry(method),
            *(e for group in groups for e in _slope_entries(found.get((group, method)))),
        )
        for method in methods
    )
    names = ("slope±se", "intercept", "linearity")
    header = ("Method", *(f"{GROUPS[group]}\n{name}" for group in groups for name in names))
    return Table(records, (Grid(_SLOPE_TITLE, header, (rows,), _SLOPE_NOTES),))


def slope_records(cells: Iterable[Cell]) -> tuple[SlopeRecord, ...]:
    """The numbers of :func:`slope_table`, without the table.

    Examples
    --------
    >>> from paper.cell import Cell
    >>> from paper.comparisons import slope_records
    >>> flat = [
    ...     Cell("unobserved", "banana", 0, p, "BBE", (1 - p, p), (1.25 - p, p))
    ...     for p in (0.25, 0.5, 0.75)
    ... ]
    >>> record = slope_records(flat)[0]
    >>> record.slope, record.intercept
    (0.0, 0.25)
    """
    found = in_setting(cells, "unobserved")
    records = [
        _slope_record(group, method, mean_errors(own))
        for group in GROUPS
        for method, own in by_method(in_group(found, group)).items()
    ]
    kept = tuple(record for record in records if record is not None)
    if not kept:
        raise ValueError("cells must have two unseen shares of setting 'unobserved'; got none.")
    return kept


def signed_rank_table(
    cells: Iterable[Cell], setting: str = "observed", level: float = 0.05
) -> Table:
    """Wilcoxon's signed-rank test between all methods, as the paper: no correction for many tests.

    A pair is a data set and a proportion; what is compared is the mean over permutations.

    Parameters
    ----------
    cells : iterable of Cell
    setting : {"observed", "unobserved"}, default="observed"
    level : float, default=0.05
        Two methods differ where the p-value is below.

    Examples
    --------
    >>> from paper.cell import Cell
    >>> from paper.comparisons import signed_rank_table
    >>> cells = [
    ...     Cell("observed", "banana", 0, p / 10, method, (1 - p / 10, p / 10), (1 - q, q))
    ...     for p in range(1, 9)
    ...     for method, q in (("L2", p / 10), ("KL", p / 10 + p / 50))
    ... ]
    >>> record = signed_rank_table(cells).records[0]
    >>> record.first, record.verdict, record.second, record.p_value
    ('L2', '<', 'KL', 0.0078125)
    """
    records = signed_rank_records(cells, setting, level)
    groups = [group for group in GROUPS if any(record.group == group for record in records)]
    return Table(records, tuple(_pair_grid(records, group, level) for group in groups))


def signed_rank_records(
    cells: Iterable[Cell], setting: str = "observed", level: float = 0.05
) -> tuple[PairRecord, ...]:
    """The numbers of :func:`signed_rank_table`, without the table.

    Returns
    -------
    tuple of PairRecord
        One for each ordered pair of methods that have a pair in common.

    Examples
    --------
    >>> from paper.cell import Cell
    >>> from paper.comparisons import signed_rank_records
    >>> cells = [
    ...     Cell("observed", "banana", 0, 0.5, method, (0.5, 0.5), (0.25, 0.75))
    ...     for method in ("L2", "KL")
    ... ]
    >>> signed_rank_records(cells)[0].verdict
    '='
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1; got {level}.")
    found = in_setting(cells, setting)
    records: list[PairRecord] = []
    for group in GROUPS:
        means = {
            method: {
                (dataset, proportion): error
                for dataset, points in mean_errors(own).items()
                for proportion, error in points.items()
            }
            for method, own in by_method(in_group(found, group)).items()
        }
        for first, second in permutations(means, 2):
            common = sorted(set(means[first]) & set(means[second]))
            gaps = np.array([means[first][place] - means[second][place] for place in common])
            if common:
                test = _signed_rank(gaps, level)
                records.append(PairRecord(setting, group, first, second, len(common), *test))
    if not records:
        raise ValueError(f"cells must have two methods of setting {setting!r}; got fewer.")
    return tuple(records)


def _slope_record(group: str, method: str, means: MeanErrors) -> SlopeRecord | None:
    lines = [
        linregress(list(points), list(points.values()))
        for points in means.values()
        if len(points) > 1
    ]
    if not lines:
        return None
    slopes = np.array([line.slope for line in lines])
    spread = float(slopes.std(ddof=1) / np.sqrt(len(lines))) if len(lines) > 1 else None
    return SlopeRecord(
        group=group,
        method=method,
        n_sets=len(lines),
        slope=float(slopes.mean()),
        standard_error=spread,
        intercept=float(np.mean([line.intercept for line in lines])),
        linearity=float(np.mean([line.rvalue**2 for line in lines])),
    )


def _slope_entries(record: SlopeRecord | None) -> tuple[Entry, ...]:
    if record is None:
        return (Entry("n/a"),) * 3
    slope = f"{number(record.slope)}±{number(record.standard_error)}"
    return (Entry(slope), Entry(number(record.intercept)), Entry(number(record.linearity, 2)))


def _signed_rank(gaps: FloatArray, level: float) -> tuple[float, float, str]:
    """Mean gap, two-sided p-value, and which side has the smaller errors."""
    gaps = np.where(np.abs(gaps) < _ROUNDING, 0.0, gaps)
    p_value = float(wilcoxon(gaps).pvalue) if gaps.any() else 1.0
    smaller = "<" if np.sign(gaps) @ rankdata(np.abs(gaps)) < 0 else ">"
    return float(gaps.mean()), p_value, smaller if p_value < level else "="


def _pair_grid(records: Iterable[PairRecord], group: str, level: float) -> Grid:
    here = {(record.first, record.second): record for record in records if record.group == group}
    methods = sorted_methods(first for first, _ in here)
    setting = next(iter(here.values())).setting
    rows = []
    for place, first in enumerate(methods, start=1):
        row = [Entry(f"{place} {first}")]
        for second in methods:
            record = here.get((first, second))
            verdict = "n/a" if record is None else record.verdict
            if record is not None and verdict == "=":
                verdict = f"={number(record.p_value)}"
            row.append(Entry("" if first == second else verdict))
        rows.append(tuple(row))
    sets = f"{GROUPS[group]}, class M {'observed' if setting == 'observed' else 'not observed'}"
    notes = (
        f"< : the row's method has the smaller error at the {level:.0%} level; > : the column's.",
        "= : neither, with the p-value. Pairs: data set and proportion, mean over permutations.",
        *(_PAPER_NOTES.get((setting, group), ())),
    )
    header = ("", *(str(place) for place in range(1, len(methods) + 1)))
    return Grid(f"Wilcoxon signed-rank test. {sets}", header, (tuple(rows),), notes)
