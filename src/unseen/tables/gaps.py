"""Gaps that one sample has more often than another, which takes them over.

A filled cell, or a mark that says so, then sets no rows apart. Rows take over whole patterns of
gaps of rows drawn at random, so that columns that are missing together stay so. This assumes that
gaps have nothing to do with the class of a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unseen._random import generator
from unseen._types import BoolArray, FloatArray, IntArray
from unseen._wording import listed
from unseen.records import Notice
from unseen.tables.columns import Columns
from unseen.tables.encodings import Encoding

# Shares of gaps differ where they do by so much, and by so many standard errors.
_LEAST, _ERRORS = 0.03, 3.0
# More gaps in labelled rows do little harm below this, and to leave values of new rows out costs.
_LEAST_OF_NEW = 0.3
# Rows of a window that others may take gaps over from.
_ENOUGH_ROWS = 30


class Gaps:
    """Samples as numbers, some with more gaps than they came with, and what to say of it.

    ``columns`` encoded the labelled rows ``X`` and the new ones, of which ``gaps_new`` says where
    values are missing. The original arrays stay as they are.
    """

    def __init__(
        self, columns: Columns, X: FloatArray, random_state: Any, gaps: BoolArray | None = None
    ) -> None:
        self.columns, self.X, self.random_state = columns, X, random_state
        self.gaps = labelled_gaps(columns, X) if gaps is None else gaps
        self.taken: dict[str, tuple[float, float]] = {}  # shares in labelled and in new rows

    def shared_with(self, X_new: FloatArray, gaps_new: BoolArray, both: bool = True) -> FloatArray:
        """The new rows; labelled ones take their gaps over, and with ``both`` the other way too."""
        self._tell(gaps_new, _LEAST_OF_NEW if both else 1.0)
        X, gaps = self._like(self.X, self.gaps, gaps_new, _LEAST)
        if both:
            X_new, _ = self._like(X_new, gaps_new, self.gaps, _LEAST_OF_NEW)
        self.X, self.gaps = X, gaps
        return X_new

    def shared_with_windows(
        self, X_new: FloatArray, gaps_new: BoolArray, windows: Sequence[IntArray]
    ) -> FloatArray:
        """The new rows; they and labelled ones take over the gaps of the window that has most."""
        large = [rows for rows in windows if len(rows) >= _ENOUGH_ROWS]
        sources = [gaps_new[rows] for rows in large] or [gaps_new]
        source = max(sources, key=lambda gaps: float(gaps.mean()))
        self._tell(source, _LEAST_OF_NEW)
        self.X, self.gaps = self._like(self.X, self.gaps, source, _LEAST)
        X_new = X_new.copy()
        for rows in windows:
            found, gaps = self._like(X_new[rows], gaps_new[rows], source, _LEAST)
            X_new[rows], _ = self._like(found, gaps, self.gaps, _LEAST_OF_NEW)
        return X_new

    def taken_over_by(self, X: FloatArray, gaps: BoolArray) -> FloatArray:
        """The rows of a control, with gaps of the labelled rows."""
        return self._like(X, gaps, self.gaps, _LEAST)[0]

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was done, in which columns, and what it assumes."""
        if not self.taken:
            return ()
        said = [
            f"{name!r} (missing in {new:.1%} of the new rows and in {known:.1%} of the labelled)"
            for name, (known, new) in self.taken.items()
        ]
        text = (
            f"Rows of the other table, drawn at random, count as empty too in {listed(said)}: a "
            "filled cell then sets no rows apart. This assumes that gaps have nothing to do with "
            "the class. If they have, ask again without: --drop."
        )
        about = next(iter(self.taken)) if len(self.taken) == 1 else None
        return (Notice("gaps_shared", text, about=about),)

    def _tell(self, gaps_new: BoolArray, least_of_new: float) -> None:
        """Keep the shares in columns where one of both samples takes gaps over."""
        taken = has_more(gaps_new, self.gaps) | has_more(self.gaps, gaps_new, least_of_new)
        for place in np.flatnonzero(taken):
            shares = float(self.gaps[:, place].mean()), float(gaps_new[:, place].mean())
            self.taken[self.columns.encodings_[place].name] = shares

    def _like(
        self, X: FloatArray, gaps: BoolArray, others: BoolArray, least: float
    ) -> tuple[FloatArray, BoolArray]:
        """The rows with the gaps of ``others``, in columns where these clearly have more."""
        more = has_more(others, gaps, least)
        if not more.any():
            return X, gaps
        share, wanted = gaps.mean(axis=0), others.mean(axis=0)
        # A row that lacks the value already adds nothing: as many of the others make up for it.
        part = np.where(more, (wanted - share) / np.maximum(wanted * (1 - share), 1e-12), 0.0)
        n_rows, rng = len(X), generator(self.random_state)
        # Every row of the others is taken as often, so that shares agree but for remainders.
        rows = np.resize(rng.permutation(len(others)), n_rows)
        taken = others[rng.permutation(rows)] & (rng.random(n_rows)[:, None] < part) & ~gaps
        made = X.copy()
        for place, (one, block) in enumerate(_blocks(self.columns)):
            if taken[:, place].any():
                made[taken[:, place], block] = one.gap()
        return made, gaps | taken


def labelled_gaps(columns: Columns, X: FloatArray) -> BoolArray:
    """Where labelled rows, encoded, have no value; as ``columns.gaps`` of their table."""
    found = np.zeros((len(X), len(columns.encodings_)), dtype=bool)
    for place, (one, block) in enumerate(_blocks(columns)):
        if one.was_missing:
            found[:, place] = (X[:, block] == one.gap()).all(axis=1)
    return found


def _blocks(columns: Columns) -> list[tuple[Encoding, slice]]:
    """Each encoding, and its columns among the encoded ones."""
    ends = np.cumsum([len(one.outputs) for one in columns.encodings_]).tolist()
    return list(zip(columns.encodings_, map(slice, [0, *ends], ends), strict=False))


def has_more(gaps: BoolArray, others: BoolArray, least: float = _LEAST) -> BoolArray:
    """In which columns the share of gaps is larger by ``least`` and by more than chance."""
    share, other = gaps.mean(axis=0), others.mean(axis=0)
    n_rows = len(gaps), len(others)
    pooled = (share * n_rows[0] + other * n_rows[1]) / sum(n_rows)
    error = np.sqrt(pooled * (1 - pooled) * (1 / n_rows[0] + 1 / n_rows[1]))
    return np.asarray(share - other > np.maximum(least, _ERRORS * error))
