"""Rows whose classes have moved, as a rule reads them: where the labelled rows of the classes lie.

A rule tells new rows from labelled ones by whatever tells them apart, and a movement of the known
classes does: where cells hold no labelled row, no known class is likelier than another. So the
movement is taken off the new rows before a rule learns. Values that are laid back lie between those
of a column that knows only some values, such as whole numbers, and would tell the rows apart as
well: so each becomes the nearest one that labelled rows have. ``docs/rejection.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unseen._frozen import Frozen
from unseen._types import FloatArray, Matrix
from unseen.records import Notice
from unseen.samples import LabelledRows
from unseen.scores.laid_back import Movement, movement_of
from unseen.scores.scales import dense

_MOST = 1000  # labelled rows whose values are kept
_NEAR = 0.5  # standard deviations of a column from which on no value is the nearest


@dataclass(frozen=True, eq=False)
class LayBack(Frozen):
    """The movement of a batch, and the values of labelled rows that its rows may take."""

    movement: Movement
    values: tuple[FloatArray, ...]  # of each column, rising
    near: FloatArray  # the distance of each column below which a value counts as the nearest

    @classmethod
    def of(cls, labelled: LabelledRows, X_new: Matrix) -> LayBack | None:
        """For rows of known classes that have moved; None where nothing can be taken off."""
        movement = movement_of(labelled, X_new)
        if movement is None:
            return None
        drawn = np.random.default_rng(0).permutation(labelled.rows.shape[0])[:_MOST]
        rows = dense(labelled.rows[drawn])
        return cls(movement, tuple(map(np.unique, rows.T)), _NEAR * rows.std(axis=0))

    def __call__(self, X: Matrix) -> FloatArray:
        """Rows of the batch, dense, where rows of their classes lay before these moved."""
        found = self.movement.taken_off(X)
        for column, values, near in zip(found.T, self.values, self.near, strict=True):
            middles = (values[1:] + values[:-1]) / 2
            nearest = values[np.searchsorted(middles, column)]
            close = np.abs(nearest - column) < near
            column[close] = nearest[close]
        return found

    @property
    def notice(self) -> Notice:
        """What a person should know of rows that are labelled in this way."""
        text = (
            "Rows are labelled once a shift and a factor are taken off each column, as the known "
            f"classes have moved ({self.movement.size:.2g} standard deviations on average over "
            "columns). This holds for further rows too: fit a rule anew for rows of another batch."
        )
        return Notice("laid_back", text, severity="note")
