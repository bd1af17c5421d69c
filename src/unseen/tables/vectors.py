"""A column of lists, such as an embedding: as many number columns as a list has values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen._frozen import Frozen
from unseen._optional import pa, pa_json, pc
from unseen._types import FloatArray, IntArray
from unseen._wording import shown
from unseen.tables._arrow import Array, decoded, is_number, is_text
from unseen.tables.encodings import Encoding, Unusable
from unseen.tables.values import LARGEST, BadCell

# A list as JSON writes it, and as text tables hold it: [0.1, -2, 3e-4].
_NUMBER = r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d{1,2})?"
_LIST = rf"^\[\s*{_NUMBER}(\s*,\s*{_NUMBER})*\s*\]$"


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

    @property
    def units(self) -> list[tuple[float, float] | None]:
        """Offset and scale of each place, of a list that may have been divided by its length."""
        return [(offset, self.scale) for offset in self.mean.tolist()]

    def read(self, column: Array) -> FloatArray:
        """The lists of a column as rows of an array."""
        found = vectors(self.name, column)
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
    values = _lengthened(vectors(name, column), unit_rows)
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
    """Whether a type holds lists of numbers, or of booleans."""
    types = pa.types
    listed = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return bool(listed and (is_number(kind.value_type) or types.is_boolean(kind.value_type)))


def holds_lists(column: Array) -> bool:
    """Whether a column holds lists of numbers, or text that says such lists throughout."""
    if not is_text(column.type):
        return is_list(column.type)
    begin = pc.match_substring_regex(column.slice(0, 1), _LIST)
    return bool(pc.all(begin).as_py() and _first_no_list(column) is None)


def begins_as_list(texts: Array) -> bool:
    """Whether the first text may be a list in another form than JSON, such as that of NumPy."""
    first = pc.match_substring_regex(texts.slice(0, 1), r"^\[")
    return bool(first[0].as_py())


def vectors(name: str, column: Array) -> FloatArray:
    """The lists of a column as rows of an array, in the precision in which they are stored."""
    column = _from_text(name, decoded(column))
    if not is_list(column.type):
        kind = shown(column.type)
        raise ValueError(f"column {name!r} must hold lists of numbers; it holds {kind}.")
    lengths = pc.list_value_length(column).fill_null(0).to_numpy()
    usual = int(np.bincount(lengths).argmax())
    other = lengths != usual
    if usual == 0 or other.any():
        place = int(other.argmax())
        raise BadCell(
            f"column {name!r} must hold lists of one length; got {lengths[place]} numbers where "
            f"others are {usual}",
            place,
        )
    flat = [chunk.flatten() for chunk in column.chunks]
    if pa.types.is_boolean(column.type.value_type):
        flat = [chunk.cast(pa.int8()) for chunk in flat]
    values = np.concatenate([chunk.to_numpy(zero_copy_only=False) for chunk in flat])
    values = values.reshape(len(column), usual)
    high, low = values.max(axis=1).astype(np.float64), values.min(axis=1).astype(np.float64)
    wrong = ~(np.maximum(high, -low) <= LARGEST)
    if wrong.any():
        place = int(wrong.argmax())
        row = values[place].astype(np.float64)
        first = int((~(np.abs(row) <= LARGEST)).argmax())
        got = "none" if np.isnan(row[first]) else f"{row[first]:g}"
        text = f"column {name!r} must hold lists of finite numbers; got {got} at [{first}]"
        raise BadCell(text, place)
    return values


def _from_text(name: str, column: Array) -> Array:
    """Lists that text says, as in csv; any other column as it is."""
    if not is_text(column.type):
        return column
    wrong = _first_no_list(column)
    if wrong is not None:
        got = column[wrong].as_py()
        got = "none" if got is None else shown(repr(got))
        raise BadCell(f"column {name!r} must hold lists such as [1.5, 2]; got {got}", wrong)
    return pa.chunked_array([_parsed(chunk) for chunk in column.chunks if len(chunk)])


def _parsed(texts: Array) -> Array:
    """Lists of numbers from JSON, in which there are digits and marks alone."""
    block = "".join(f'{{"v":{text}}}\n' for text in texts.to_pylist()).encode()
    schema = pa.schema([("v", pa.list_(pa.float64()))])
    options = {
        "read_options": pa_json.ReadOptions(block_size=len(block)),
        "parse_options": pa_json.ParseOptions(explicit_schema=schema),
    }
    return pa_json.read_json(pa.BufferReader(block), **options)["v"].combine_chunks()


def _first_no_list(column: Array) -> int | None:
    """Place of the first text that says no list of numbers; None where all do."""
    fits = pc.match_substring_regex(column, _LIST).fill_null(False)
    place = pc.index(fits, value=False).as_py()
    return None if place < 0 else place


def _lengthened(values: FloatArray, unit_rows: bool) -> FloatArray:
    """A copy in double precision, with rows of length 1 where asked; rows of zeros stay."""
    found = values.astype(np.float64)
    if unit_rows:
        lengths = np.sqrt(np.einsum("ij,ij->i", found, found))
        found /= np.where(lengths > 0, lengths, 1.0)[:, None]
    return found
