"""Labels and values that are rarely meant: one class under two spellings, numbers for "missing"."""

from __future__ import annotations

from typing import Any
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from unseen._types import FloatArray, Matrix
from unseen._wording import quoted
from unseen.records import Notice
from unseen.samples.draws import enough_places

# A spike holds so many rows, and so large a part of them.
_FEWEST_AT_SPIKE, _LEAST_PART = 5, 0.01
# A column with fewer other values is a code or a category rather than a measurement.
_FEWEST_VALUES = 10
_LARGE_DIFFERENCE = 0.05
_ADVICE = "leave the value empty or fill it in"


def label_notices(classes: NDArray[Any]) -> tuple[Notice, ...]:
    """Labels that look alike, probably one class under two names: other capitals, spaces, accents.

    A class called "unseen" looks like the rows of no class.
    """
    if classes.dtype.kind not in "UO":
        return ()
    alike: dict[str, list[Any]] = {}
    for label in classes.tolist():
        if isinstance(label, str):
            spelt = normalize("NFC", label).casefold()
            alike.setdefault(" ".join(spelt.split()), []).append(label)
    found = []
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
    """
    if hasattr(rows, "tocsr"):
        return ()
    rows, rows_new = (one[enough_places(len(one))] for one in (rows, rows_new))
    found = []
    for ends in (np.min, np.max):
        ends_of = np.stack([ends(rows, axis=0), ends(rows_new, axis=0)])
        spikes = ends(ends_of, axis=0)
        parts = [(sample == spikes).mean(axis=0) for sample in (rows, rows_new)]
        counts = parts[0] * len(rows) + parts[1] * len(rows_new)
        often = (counts >= _FEWEST_AT_SPIKE) & (np.maximum(*parts) >= _LEAST_PART)
        for column in np.flatnonzero(often):
            both = np.append(rows[:, column], rows_new[:, column])
            if _stands_apart(both, float(spikes[column])):
                name = f"column {column}" if names is None else f"column {names[column]!r}"
                shares = parts[0][column], parts[1][column]
                found.append(_sentinel(name, f"{spikes[column]:g}", *shares, advice))
    return tuple(found)


def _stands_apart(values: FloatArray, spike: float) -> bool:
    others = values[values != spike]
    if len(np.unique(others)) < _FEWEST_VALUES:
        return False
    return bool(np.abs(others - spike).min() > np.ptp(others))


def _sentinel(name: str, spike: str, part: float, part_new: float, advice: str) -> Notice:
    """A warning where the spike is in one sample more than in the other, or else a note."""
    text = (
        f"{name} is {spike} in {part_new:.0%} of the new rows and in {part:.0%} of the labelled "
        "ones, far from all other values. If the number stands for a missing value, "
        f"{advice.format(value=spike)}."
    )
    differs = abs(part_new - part) > _LARGE_DIFFERENCE or min(part, part_new) == 0
    return Notice("sentinel_values", text, "warning" if differs else "note", about=name)
