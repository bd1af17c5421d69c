"""Rows with equal keys make a window; windows come in the order of their keys."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from unseen._types import IntArray
from unseen._wording import quoted
from unseen.samples.labelled import is_missing
from unseen.tables.groups import natural_order


@dataclass(frozen=True, eq=False)
class Windows:
    """Windows in order, and the places of the rows of each."""

    keys: tuple[Any, ...]
    rows: tuple[IntArray, ...]
    n_missing: int = 0  # rows without a key


def windows_of(by: Any, n_rows: int) -> Windows:
    """Rows with equal keys, keys in order; a row without a key is in no window.

    Text is ordered as people do: the numbers in it by their size, and text that says numbers
    throughout by these.
    """
    keys = np.asarray(by, dtype=object if isinstance(by, list | tuple) else None)
    if keys.shape != (n_rows,):
        raise ValueError(
            f"by must hold one key per row of X_new, {n_rows}; got shape {keys.shape}."
        )
    if keys.dtype.kind in "mM":
        listed = list(keys)  # tolist would turn nanoseconds into whole numbers
    else:
        listed = [key.item() if isinstance(key, np.generic) else key for key in keys.tolist()]
    rows: dict[Any, list[int]] = {}
    for row, key in enumerate(listed):
        if not is_missing(key):
            rows.setdefault(key, []).append(row)
    if not rows:
        raise ValueError(f"by must name a window for at least one row; got {n_rows} missing keys.")
    try:
        is_text = all(isinstance(key, str) for key in rows)
        ordered = natural_order(rows) if is_text else sorted(rows)
    except TypeError as error:
        kinds = ", ".join(sorted({type(key).__name__ for key in rows}))
        raise TypeError(
            f"by must hold keys of one kind that can be sorted; got {kinds}."
        ) from error
    n_missing = n_rows - sum(map(len, rows.values()))
    return Windows(tuple(ordered), tuple(np.array(rows[key]) for key in ordered), n_missing)


def find_windows(windows: Windows, reference: Any) -> list[int]:
    """Places of the windows that a user names by key, by the text of a key, or by several.

    None names the first window.
    """
    if reference is None:
        return [0]
    several = isinstance(reference, list | tuple | set | frozenset | np.ndarray)
    named = list(reference) if several else [reference]
    if not named:
        raise ValueError("reference must name at least one window; got none.")
    places, texts = set(), [shown_key(key) for key in windows.keys]
    for key in named:
        found = [
            place
            for place, known in enumerate(windows.keys)
            if known == key or texts[place] == shown_key(key)
        ]
        if not found:
            raise ValueError(
                "reference must be the key of a window with enough rows; "
                f"got {shown_key(key)!r}, and there are {quoted(texts)}."
            )
        places.add(found[0])
    if len(places) == len(windows.keys):
        raise ValueError(
            f"reference must leave a window to compare with it; got all, {quoted(texts)}."
        )
    return sorted(places)


def shown_key(key: Any) -> str:
    """A key as text; a date without a time of day is shown without one: 2024-05-01."""
    shown = key.isoformat() if isinstance(key, date) else str(key)
    return re.sub(r"T00:00(:00(\.0+)?)?$", "", shown)
