"""Labels and values that are rarely meant: one class under two spellings, numbers for "missing"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from unseen._types import FloatArray, Matrix
from unseen._wording import listed, quoted
from unseen.records import Notice
from unseen.samples.draws import enough_places

# A spike holds so many rows, and so large a part of them.
_FEWEST_AT_SPIKE, _LEAST_PART = 5, 0.01
# A column with fewer other values is a code or a category rather than a measurement.
_FEWEST_VALUES = 10
_LARGE_DIFFERENCE = 0.05
_ADVICE = "leave the value empty or fill it in"
# Names that tables often give to rows that nobody has labelled.
_NO_LABEL = re.compile(r"\?+|-+|\.+|unknown|missing|unlabell?ed|-9+(\.0+)?|9{3,}(\.0+)?", re.I)


def label_notices(classes: NDArray[Any]) -> tuple[Notice, ...]:
    """Labels that look alike, probably one class under two names: other capitals, spaces, accents.

    A class called "unseen" looks like the rows of no class, and one called "?" like rows without a
    label.
    """
    marks = [label for label in classes.tolist() if _NO_LABEL.fullmatch(str(label).strip())]
    found = [] if "+" in classes.tolist() or not marks else [_no_label(marks)]
    if classes.dtype.kind not in "UO":
        return tuple(found)
    alike: dict[str, list[Any]] = {}
    for label in classes.tolist():
        if isinstance(label, str):
            spelt = normalize("NFC", label).casefold()
            alike.setdefault(" ".join(spelt.split()), []).append(label)
    if "unseen" in alike:
        text = (
            f"a class is called {quoted(alike['unseen'])}, as rows of no known class are in every "
            "table and sentence. Give it another name."
        )
        found.append(Notice("labels_alike", text, about=alike["unseen"][0]))
    for labels in alike.values():
        if len(labels) > 1:
            text = (
                f"labels {quoted(labels)} differ only by capital letters, spaces or the code of an "
                f"accent, and are taken for {len(labels)} classes. If they are one, give them one "
                "spelling."
            )
            found.append(Notice("labels_alike", text, about=labels[0]))
    return tuple(found)


def _no_label(marks: list[Any]) -> Notice:
    text = (
        f"a class is called {quoted(marks)}, as rows without a label often are. If these rows have "
        f"none, leave them out (--missing {quoted(marks[:1])} on the command line)."
    )
    return Notice("label_for_missing", text, about=marks[0])


def sentinel_notices(
    rows: Matrix,
    rows_new: Matrix,
    names: tuple[str, ...] | None = None,
    advice: str = _ADVICE,
) -> tuple[Notice, ...]:
    """Columns in which many rows have one value, far from all others, such as -999.

    A value is far where no other lies nearer to it than the other values spread. Sparse rows are
    not looked at: their many zeros are what they are made for. Of very many rows a fixed draw is.
    ``advice`` is what to do about a value that stands for a missing one, ``{value}`` that value.
    Columns with the same value share a notice.
    """
    if hasattr(rows, "tocsr"):
        return ()
    rows, rows_new = (one[enough_places(len(one))] for one in (rows, rows_new))
    found: dict[tuple[str, bool], list[_Spike]] = {}
    for ends in (np.min, np.max):
        ends_of = np.stack([ends(rows, axis=0), ends(rows_new, axis=0)])
        spikes = ends(ends_of, axis=0)
        parts = [(sample == spikes).mean(axis=0) for sample in (rows, rows_new)]
        counts = parts[0] * len(rows) + parts[1] * len(rows_new)
        often = (counts >= _FEWEST_AT_SPIKE) & (np.maximum(*parts) >= _LEAST_PART)
        for column in np.flatnonzero(often):
            both = np.append(rows[:, column], rows_new[:, column])
            if _stands_apart(both, float(spikes[column])):
                name = str(column) if names is None else repr(names[column])
                spike = _Spike(name, parts[0][column], parts[1][column])
                found.setdefault((f"{spikes[column]:g}", spike.differs), []).append(spike)
    return tuple(
        _sentinel(value, spikes, differs, advice) for (value, differs), spikes in found.items()
    )


class _Spike(NamedTuple):
    """A column with one far value in parts of the labelled and of the new rows."""

    name: str
    part: float
    part_new: float

    @property
    def differs(self) -> bool:
        """Whether one sample has the value more often than the other, or alone."""
        gap = abs(self.part_new - self.part)
        return gap > _LARGE_DIFFERENCE or min(self.part, self.part_new) == 0


def _stands_apart(values: FloatArray, spike: float) -> bool:
    others = values[values != spike]
    if len(np.unique(others)) < _FEWEST_VALUES:
        return False
    return bool(np.abs(others - spike).min() > np.ptp(others))


def _sentinel(value: str, spikes: Sequence[_Spike], differs: bool, advice: str) -> Notice:
    """A warning where the value is in one sample more than in the other, or else a note."""
    said = [_span(parts) for parts in zip(*((s.part_new, s.part) for s in spikes), strict=True)]
    one = len(spikes) == 1
    columns = "column" if one else "columns"
    named = f"{columns} {listed([spike.name for spike in spikes])}"
    text = (
        f"{named} {'is' if one else 'are'} {value} in {said[0]} of the new rows and in {said[1]} "
        "of the labelled ones, far from all other values. If the number stands for a missing "
        f"value, {advice.format(value=value)}."
    )
    about = named if one else None
    return Notice("sentinel_values", text, "warning" if differs else "note", about=about)


def _span(parts: Sequence[float]) -> str:
    low, high = (f"{end(parts):.0%}" for end in (min, max))
    return low if low == high else f"{low} to {high}"
