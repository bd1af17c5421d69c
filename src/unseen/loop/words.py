"""Words that set the texts of a group apart from those of rows called known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from unseen._types import BoolArray, FloatArray, IntArray

__all__ = ["top_words"]

TopWords = tuple[tuple[str, float, float], ...]


def top_words(texts: Sequence[str], group_of_row: IntArray, most: int = 5) -> dict[int, TopWords]:
    """Words that are most over-represented in each group, with their shares in it and outside.

    A word counts once a row; words are ranked by the difference of the shares of rows that have
    them, in standard errors, so that a word of one row does not win.

    Parameters
    ----------
    texts : sequence of str
        Text of each new row.
    group_of_row : ndarray of shape (m,)
        Group of each new row, from 1; 0 for rows called known.
    most : int, default=5
        Most words of a group.

    Examples
    --------
    >>> import numpy as np
    >>> texts = ["pay the bill"] * 4 + ["fly to the moon"] * 4
    >>> top_words(texts, np.repeat([0, 1], 4), 1)
    {1: (('fly', 1.0, 0.0),)}
    """
    counter = CountVectorizer(binary=True, token_pattern=r"(?u)\b[^\W\d]\w+\b")
    try:
        found = counter.fit_transform([text if isinstance(text, str) else "" for text in texts])
    except ValueError:  # no text has a word
        return dict.fromkeys(range(1, int(group_of_row.max()) + 1), ())
    names = counter.get_feature_names_out()
    outside = _rates(found, group_of_row == 0)
    by_group = {}
    for group in range(1, int(group_of_row.max()) + 1):
        inside = _rates(found, group_of_row == group)
        pooled = (inside + outside) / 2 + 1 / (2 + (group_of_row == group).sum())
        lead = np.where(inside > outside, (inside - outside) / np.sqrt(pooled), 0.0)
        best = [place for place in np.argsort(-lead, kind="stable")[:most] if lead[place] > 0]
        by_group[group] = tuple(
            (str(names[place]), float(inside[place]), float(outside[place])) for place in best
        )
    return by_group


def _rates(found: Any, rows: BoolArray) -> FloatArray:
    """Share of rows that have each word."""
    return np.asarray(found[rows].sum(axis=0)).ravel() / max(int(rows.sum()), 1)
