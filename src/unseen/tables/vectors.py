"""A column of lists, such as an embedding: as many number columns as a list has values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen._frozen import Frozen
from unseen._types import FloatArray, IntArray
from unseen.tables._arrow import Array, arrow, is_number
from unseen.tables.encodings import Encoding, Unusable
from unseen.tables.values import LARGEST, BadCell


@dataclass(frozen=True, eq=False)
class VectorEncoding(Encoding, Frozen):
    """A column of lists of one length."""

    name: str
    length: int  # of each list
    places: IntArray  # values that are not the same in all labelled rows; others are left out
    mean: FloatArray  # of each place in the labelled rows; it is subtracted
    scales: FloatArray  # standard deviation of each place in the labelled rows
    scale: float = 1.0  # which divides the values
    unit_rows: bool = False  # whether each list is divided by its Euclidean length first

    was_missing = False

    @property
    def names(self) -> list[str]:
        """Names of the encoded columns."""
        return [f"{self.name}[{place}]" for place in self.places]

    def read(self, column: Array) -> FloatArray:
        """The lists of a column as rows of an array."""
        found = _vectors(self.name, column)
        if found.shape[1] != self.length:
            raise ValueError(
                f"column {self.name!r} must hold lists of {self.length} numbers in NEW as it does "
                f"in TRAIN; got {found.shape[1]}."
            )
        return found

    def encode(self, values: FloatArray) -> FloatArray:
        """The encoded columns, side by side."""
        encoded = _lengthened(values, self.unit_rows)
        if len(self.places) < self.length:  # else one copy of the rows is enough
            # Row by row in memory, as estimators want it; indexing would turn it round.
            encoded = np.take(encoded, self.places, axis=1)
        encoded -= self.mean
        encoded /= self.scale
        return encoded

    def statement(self) -> str:
        """The treatment of the column in a plain sentence."""
        unit = ", each list first divided by its length" if self.unit_rows else ""
        return f"{self.name!r}: {self.length} numeric columns{unit}."


def learn_vectors(name: str, column: Array, unit_rows: bool) -> VectorEncoding:
    """Learn how to encode a column of lists of labelled rows, or raise ``Unusable``."""
    values = _lengthened(_vectors(name, column), unit_rows)
    # Column by column, so that sums run as they do for number columns, to the last bit; one at a
    # time, so that the rows are in memory once.
    columns = map(np.ascontiguousarray, values.T)
    found = [(one.mean(), one.std(), one.min() < one.max()) for one in columns]
    means, deviations, varies = (np.array(part) for part in zip(*found, strict=True))
    places = np.flatnonzero(varies & (deviations * LARGEST >= 1))
    if not len(places):
        raise Unusable("has the same value in all labelled rows")
    scales = deviations[places]
    return VectorEncoding(name, values.shape[1], places, means[places], scales, unit_rows=unit_rows)


def is_list(kind: Any) -> bool:
    """Whether a type holds lists of numbers."""
    types = arrow().types
    listed = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return bool(listed and is_number(kind.value_type))


def _vectors(name: str, column: Array) -> FloatArray:
    """The lists of a column as rows of an array, in the precision in which they are stored."""
    if not is_list(column.type):
        raise ValueError(f"column {name!r} must hold lists of numbers; it holds {column.type}.")
    lengths = arrow("compute").list_value_length(column).fill_null(0).to_numpy()
    usual = int(np.bincount(lengths).argmax())
    other = lengths != usual
    if usual == 0 or other.any():
        place = int(other.argmax())
        raise BadCell(
            f"column {name!r} must hold lists of one length; got {lengths[place]} numbers where "
            f"others are {usual}",
            place,
        )
    chunks = [chunk.flatten().to_numpy(zero_copy_only=False) for chunk in column.chunks]
    values = np.concatenate(chunks).reshape(len(column), usual)
    high, low = values.max(axis=1).astype(np.float64), values.min(axis=1).astype(np.float64)
    wrong = ~(np.maximum(high, -low) <= LARGEST)
    if wrong.any():
        raise BadCell(
            f"column {name!r} must hold lists of finite numbers; got others", int(wrong.argmax())
        )
    return values


def _lengthened(values: FloatArray, unit_rows: bool) -> FloatArray:
    """A copy in double precision, with rows of length 1 where asked; rows of zeros stay."""
    found = values.astype(np.float64)
    if unit_rows:
        lengths = np.sqrt(np.einsum("ij,ij->i", found, found))
        found /= np.where(lengths > 0, lengths, 1.0)[:, None]
    return found
