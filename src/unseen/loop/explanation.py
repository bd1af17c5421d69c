"""The record of what the unseen rows are: groups, each with its share, verdict and examples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from unseen import _wording as words
from unseen._frozen import plain
from unseen._types import FloatArray, IntArray
from unseen.loop.clauses import Column, Sentence
from unseen.records import Tabled

Verdict = Literal["a clump of its own", "the rim of", "between", "scattered", "looks moved"]


@dataclass(frozen=True)
class Group:
    """One group of unseen rows.

    Parameters
    ----------
    number : int
        From 1, by falling share.
    share, low, high : float
        Share of all new rows, and its interval.
    n_rows : int
        Rows of the group that are more probably unseen than not.
    verdict : str
        The kind of group, by its neighbours: "a clump of its own"; "the rim of" a class or
        "between" two, where most neighbours are known rows; "scattered"; or "looks moved", where
        known classes moved.
    nearest, second : label
        The two known classes nearest to the group; the same label where one class is known.
    distance : float
        Distance to the nearest class, where 1 is the root mean square distance of its rows to its
        mean.
    isolation : float
        Share of the neighbours of the group's rows that belong to the group and not to a known
        class. Labelled rows count as if they were as many as the known rows among the new ones.
    sentence : Sentence or None
        Clauses on columns; None where the group is too small to find any.
    columns : tuple of (int, float)
        Columns that set the group apart, and by how many standard deviations of known rows.
    central, spread, borderline : tuple of int
        Rows of the group: nearest its centre, far from each other, and least surely unseen.
    words : tuple of (str, float, float)
        Words that are more common in the group, each with the share of rows that hold it, in the
        group and among rows called known.

    Examples
    --------
    >>> from unseen.loop import Group
    >>> group = Group(1, 0.3, 0.2, 0.4, 30, "between", "cat", "dog", 2.5, 0.9, None,
    ...               (), (), (), ())
    >>> group.verdict_text()
    'between cat and dog'
    """

    number: int
    share: float
    low: float
    high: float
    n_rows: int
    verdict: Verdict
    nearest: Any
    second: Any
    distance: float
    isolation: float
    sentence: Sentence | None
    columns: tuple[tuple[int, float], ...]
    central: tuple[int, ...]
    spread: tuple[int, ...]
    borderline: tuple[int, ...]
    words: tuple[tuple[str, float, float], ...] = ()

    def verdict_text(self) -> str:
        """The verdict with the names of the classes."""
        one, two = words.named(self.nearest), words.named(self.second)
        if self.verdict == "the rim of":
            return f"the rim of {one}"
        if self.verdict == "between":
            return f"between {one} and {two}"
        return f"looks like {one}, moved" if self.verdict == "looks moved" else self.verdict


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Tabled):
    """Groups of the rows that look unseen, and what each is.

    Parameters
    ----------
    groups : tuple of Group
        By falling share; their shares sum to ``unseen``.
    unseen : float
        Share of the unseen rows.
    n_groups : (int, int)
        Smallest and largest number of groups that would be about as wide as known classes.
    group_of_row : ndarray of shape (m,)
        Group of each new row that is more probably unseen than not; 0 for all others.
    weights : ndarray of shape (m,)
        Probability that each new row is unseen; their mean is ``unseen``.
    columns : tuple of Column
        Names of the columns.
    places : ndarray of shape (m,) or None
        Place of each new row in its file, from 0; None where rows stand as in the file.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.loop import Explanation, Group
    >>> group = Group(1, 0.3, 0.2, 0.4, 30, "a clump of its own", "cat", "dog", 2.5, 0.9, None,
    ...               (), (), (), ())
    >>> found = Explanation((group,), 0.3, (1, 1), np.ones(100), np.full(100, 0.3), ())
    >>> print(found.sentence())
    The unseen rows, 30% of the new ones, form 1 group.
    """

    groups: tuple[Group, ...]
    unseen: float
    n_groups: tuple[int, int]
    group_of_row: IntArray
    weights: FloatArray
    columns: tuple[Column, ...]
    places: IntArray | None = None

    def sentence(self) -> str:
        """How many groups there are, in plain words."""
        if not self.groups:
            return "No rows look unseen, so there are no groups of them."
        few, many = self.n_groups
        n_own = sum(group.verdict != "scattered" for group in self.groups)
        span = "" if few == many else f" (between {few} and {many})"
        rest = "" if n_own == len(self.groups) else "; some are scattered"
        return (
            f"The unseen rows, {words.short_share(self.unseen)} of the new ones, form "
            f"{words.count(n_own, 'group')}{span}{rest}."
        )

    def table(self) -> list[list[str]]:
        """Header and rows, as text."""
        of_group = ["group", "share", "95% interval", "rows", "what it is"]
        table = [[*of_group, "nearest class", "sets it apart"]]
        for group in self.groups:
            said, top = group.sentence, ", ".join(word for word, *_ in group.words)
            told = said is not None and [self.columns[one.column] for one in said.clauses]
            vague = told and top and any(column.is_direction for column in told)
            sentence = "" if said is None or vague else said.text(self.columns)
            cells = [
                str(group.number),
                words.share(group.share),
                words.interval(group.low, group.high),
                str(group.n_rows),
                group.verdict_text(),
                f"{words.shown(group.nearest)}, {group.distance:.1f} widths away",
                "; ".join(filter(None, (f"words: {top}" * bool(top), sentence))),
            ]
            table.append(cells)
        return table

    def plot(self, **options: Any) -> Any:
        """Draw the groups; needs matplotlib.

        ``options``, such as ``ax``, are those of
        :meth:`unseen.plots.GroupsDisplay.from_explanation`.
        """
        return import_module("unseen.plots").GroupsDisplay.from_explanation(self, **options)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the rows as plain types, ready for JSON; rows count from 1."""

        def in_file(rows: Iterable[int]) -> list[int]:
            return [1 + (row if self.places is None else int(self.places[row])) for row in rows]

        groups = []
        for group in self.groups:
            said = group.sentence
            shifts = [(self.columns[place].full_name, by) for place, by in group.columns]
            told = {
                "number": group.number,
                "share": group.share,
                "low": group.low,
                "high": group.high,
                "rows": group.n_rows,
                "verdict": group.verdict,
                "nearest": plain(group.nearest),
                "second": plain(group.second),
                "distance": group.distance,
                "isolation": group.isolation,
                "sentence": None if said is None else said.text(self.columns),
                "in_group": None if said is None else said.in_group,
                "in_known": None if said is None else said.in_known,
                "columns": [{"name": name, "shift": by} for name, by in shifts],
                "words": [{"word": a, "in_group": b, "in_known": c} for a, b, c in group.words],
                "central": in_file(group.central),
                "spread": in_file(group.spread),
                "borderline": in_file(group.borderline),
            }
            groups.append(told)
        return {
            "sentence": self.sentence(),
            "unseen": float(self.unseen),
            "n_groups": [int(one) for one in self.n_groups],
            "groups": groups,
        }

    def _table(self) -> tuple[list[list[str]], list[str]]:
        return self.table(), [self.sentence()]

    def __str__(self) -> str:
        return super().__str__() if self.groups else self.sentence()
