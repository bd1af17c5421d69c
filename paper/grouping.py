"""Which cells belong together, and in which order they are shown.

A store that was filled in parallel has its cells in any order. Everything here sorts first, so
that a table or a figure depends on the set of cells alone, down to the last bit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from paper.cell import Cell
from paper.published import DATA_SETS, METHODS
from paper.store import key_of

__all__ = [
    "GROUPS",
    "MeanErrors",
    "by_dataset",
    "by_method",
    "data_set_title",
    "group_of",
    "in_group",
    "in_setting",
    "mean_errors",
    "sorted_methods",
]

MeanErrors: TypeAlias = dict[str, dict[float, float]]

GROUPS = {"binary": "All Binary", "multiclass": "All Multiclass"}
"""The two groups of data sets, and their titles in the paper."""


def in_setting(cells: Iterable[Cell], setting: str) -> list[Cell]:
    """The cells of one setting, sorted, once their errors are known to be numbers.

    Examples
    --------
    >>> from paper.cell import Cell
    >>> from paper.grouping import in_setting
    >>> cell = Cell("observed", "banana", 0, 0.5, "L2", (0.5, 0.5), (0.25, 0.75))
    >>> in_setting([cell], "observed") == [cell], in_setting([cell], "unobserved")
    (True, [])
    """
    if setting not in ("observed", "unobserved"):
        raise ValueError(f"setting must be 'observed' or 'unobserved'; got {setting!r}.")
    found = sorted((cell for cell in cells if cell.setting == setting), key=key_of)
    for before, after in pairwise(found):
        if key_of(before) == key_of(after):
            raise ValueError(f"cells must be distinct; got two at {key_of(after)}.")
    for cell in found:
        if not np.isfinite(cell.error):
            raise ValueError(f"shares must be finite; got {cell.shares} at {key_of(cell)}.")
    return found


def in_group(cells: Iterable[Cell], group: str) -> list[Cell]:
    """The cells of the "binary" or of the "multiclass" data sets.

    Examples
    --------
    >>> from paper.cell import Cell
    >>> from paper.grouping import in_group
    >>> cell = Cell("observed", "banana", 0, 0.5, "L2", (0.5, 0.5), (0.25, 0.75))
    >>> in_group([cell], "multiclass")
    []
    """
    return [cell for cell in cells if group_of(cell) == group]


def group_of(cell: Cell) -> str:
    """Whether the cell's data set is "binary" or "multiclass".

    Examples
    --------
    >>> from paper.cell import Cell
    >>> from paper.grouping import group_of
    >>> group_of(Cell("observed", "banana", 0, 0.5, "L2", (0.5, 0.5), (0.25, 0.75)))
    'binary'
    """
    return "binary" if len(cell.truth) == 2 else "multiclass"


def by_dataset(cells: Iterable[Cell]) -> dict[str, list[Cell]]:
    """Cells of each data set: the paper's in its order, then others by name.

    Examples
    --------
    >>> from paper.cell import Cell
    >>> from paper.grouping import by_dataset
    >>> cells = [
    ...     Cell("observed", name, 0, 0.5, "L2", (0.5, 0.5), (0.25, 0.75))
    ...     for name in ("zoo", "waveform", "banana")
    ... ]
    >>> list(by_dataset(cells))
    ['banana', 'waveform', 'zoo']
    """
    places = {key: place for place, key in enumerate(DATA_SETS)}
    return _gathered(cells, "dataset", lambda key: (places.get(key, len(places)), key))


def by_method(cells: Iterable[Cell]) -> dict[str, list[Cell]]:
    """Cells of each method, in the order of :func:`sorted_methods`.

    Examples
    --------
    >>> from paper.cell import Cell
    >>> from paper.grouping import by_method
    >>> cells = [
    ...     Cell("observed", "banana", 0, 0.5, name, (0.5, 0.5), (0.25, 0.75))
    ...     for name in ("PACC", "L2")
    ... ]
    >>> list(by_method(cells))
    ['L2', 'PACC']
    """
    return _gathered(cells, "method", _method_place)


def sorted_methods(methods: Iterable[str]) -> list[str]:
    """The paper's methods in its order, then their starred forms, then others by name.

    Examples
    --------
    >>> from paper.grouping import sorted_methods
    >>> sorted_methods(["PACC", "ACC", "EM*", "MPE-Joint*", "L2", "MPE-Joint"])
    ['MPE-Joint', 'L2', 'MPE-Joint*', 'EM*', 'ACC', 'PACC']
    """
    return sorted(set(methods), key=_method_place)


def data_set_title(dataset: str, n_classes: int) -> str:
    """The paper's name of a data set, and its number of classes.

    Examples
    --------
    >>> from paper.grouping import data_set_title
    >>> data_set_title("satimage", 6), data_set_title("penguins", 3)
    ('SatImage (6)', 'penguins (3)')
    """
    title = DATA_SETS[dataset].title if dataset in DATA_SETS else dataset
    return f"{title} ({n_classes})"


def mean_errors(cells: Iterable[Cell]) -> MeanErrors:
    """Mean error over permutations, by data set and by proportion.

    Parameters
    ----------
    cells : iterable of Cell
        Cells of one method and one setting.

    Returns
    -------
    dict
        Data set to proportion to mean error.

    Examples
    --------
    >>> from paper.cell import Cell
    >>> from paper.grouping import mean_errors
    >>> first = Cell("observed", "banana", 0, 0.5, "L2", (0.5, 0.5), (0.5, 0.5))
    >>> second = Cell("observed", "banana", 1, 0.5, "L2", (0.5, 0.5), (0.25, 0.75))
    >>> mean_errors([first, second])
    {'banana': {0.5: 0.25}}
    """
    means: MeanErrors = {}
    for dataset, found in by_dataset(cells).items():
        errors: dict[float, list[float]] = defaultdict(list)
        for cell in found:
            errors[cell.proportion].append(cell.error)
        means[dataset] = {one: float(np.mean(errors[one])) for one in sorted(errors)}
    return means


def _gathered(
    cells: Iterable[Cell], field: str, place: Callable[[str], tuple[int | str, ...]]
) -> dict[str, list[Cell]]:
    found: Mapping[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        found[getattr(cell, field)].append(cell)
    return {key: found[key] for key in sorted(found, key=place)}


def _method_place(method: str) -> tuple[int, int, str]:
    """A starred method goes by the paper's method whose name begins like its own."""
    if method in METHODS:
        return (0, METHODS.index(method), method)
    bases = [place for place, name in enumerate(METHODS) if name.startswith(method.rstrip("*"))]
    if method.endswith("*") and bases:
        return (1, bases[0], method)
    return (2, 0, method.lower())
