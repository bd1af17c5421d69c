"""Columns that become many: lists of numbers, such as embeddings, and free text by TF-IDF.

Words of a text and their directions are learnt from labelled and new rows together. Learnt from the
labelled rows alone, they would suit these better than any others, and everything new would look
unseen.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unseen._frozen import Frozen
from unseen._optional import pa, pa_json, pc
from unseen._types import BoolArray, FloatArray, IntArray
from unseen._wording import shown
from unseen.tables._arrow import Array, decoded, is_number, is_text
from unseen.tables.encodings import Encoding, Output, Unusable
from unseen.tables.values import LARGEST, BadCell, as_text

_DIRECTIONS = 200
_FEWEST_ROWS_OF_A_WORD = 2
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
    def outputs(self) -> list[Output]:
        """The places of a list, which may have been divided by its length."""
        return [
            Output(f"{self.name}[{place}]", (offset, self.scale))
            for place, offset in zip(self.places, self.mean.tolist(), strict=True)
        ]

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
        encoded = _of_length_one(values.astype(np.float64), self.unit_rows)
        if len(self.places) < self.length:  # else one copy of the rows is enough
            # Row by row in memory, as estimators want it; indexing would turn it round.
            encoded = np.take(encoded, self.places, axis=1)
        encoded -= self.mean
        encoded /= self.scale
        return encoded


def learn_vectors(name: str, column: Array, unit_rows: bool) -> VectorEncoding:
    """Learn how to encode a column of lists of labelled rows, or raise ``Unusable``."""
    values = _of_length_one(vectors(name, column).astype(np.float64), unit_rows)
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


def vectors(name: str, column: Array) -> FloatArray:
    """The lists of a column as rows of an array, in the precision in which they are stored."""
    column = decoded(column)
    if is_text(column.type):
        column = _from_text(name, column)
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
    """Lists that text says, as in csv, by a parser of JSON, in which are digits and marks alone."""
    wrong = _first_no_list(column)
    if wrong is not None:
        got = column[wrong].as_py()
        got = "none" if got is None else shown(repr(got))
        raise BadCell(f"column {name!r} must hold lists such as [1.5, 2]; got {got}", wrong)
    schema, parsed = pa.schema([("v", pa.list_(pa.float64()))]), []
    for texts in column.chunks:
        if len(texts):
            block = "".join(f'{{"v":{text}}}\n' for text in texts.to_pylist()).encode()
            options = {
                "read_options": pa_json.ReadOptions(block_size=len(block)),
                "parse_options": pa_json.ParseOptions(explicit_schema=schema),
            }
            found = pa_json.read_json(pa.BufferReader(block), **options)
            parsed.append(found["v"].combine_chunks())
    return pa.chunked_array(parsed)


def _first_no_list(column: Array) -> int | None:
    """Place of the first text that says no list of numbers; None where all do."""
    fits = pc.match_substring_regex(column, _LIST).fill_null(False)
    place = pc.index(fits, value=False).as_py()
    return None if place < 0 else place


def _of_length_one(rows: FloatArray, unit_rows: bool) -> FloatArray:
    """The rows, changed in place to length 1 where asked; rows of zeros stay."""
    if unit_rows:
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        rows /= np.where(lengths > 0, lengths, 1.0)[:, None]
    return rows


@dataclass(frozen=True, eq=False)
class TextEncoding(Encoding, Frozen):
    """Text as numbers."""

    name: str
    words: Any  # a TfidfVectorizer, fitted to the labelled and the new rows
    directions: Any  # a TruncatedSVD, fitted to the same
    mean: FloatArray  # of each direction in the labelled rows; it is subtracted
    scale: float  # which divides: root mean square of their deviations in the labelled rows
    unit_rows: bool = False  # whether each row is divided by its Euclidean length first
    was_missing: bool = False  # whether a labelled row has no text

    filler = "no words"

    @property
    def outputs(self) -> list[Output]:
        """Directions among words."""
        return [Output(f"{self.name}~{place + 1}") for place in range(len(self.mean))]

    def read(self, column: Array) -> list[str]:
        """The text of a column, empty where missing."""
        return _texts(self.name, column)

    def encode(self, texts: list[str]) -> FloatArray:
        """The encoded columns, side by side."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found = self.directions.transform(self.words.transform(texts)).astype(np.float64)
        if self.unit_rows:
            lengths = np.linalg.norm(found, axis=1, keepdims=True)
            found /= np.where(lengths > 0, lengths, 1.0)
        return np.asarray((found - self.mean) / self.scale)

    def gaps(self, texts: list[str]) -> BoolArray:
        """Where there is no text."""
        return np.array([not text for text in texts], dtype=bool)


def learn_text(name: str, known: Array, new: Array, unit_rows: bool) -> TextEncoding:
    """Learn words and directions from both tables, centre and scale from the labelled rows."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    labelled = _texts(name, known)
    both = labelled + _texts(name, new)
    words = TfidfVectorizer(
        sublinear_tf=True, min_df=min(_FEWEST_ROWS_OF_A_WORD, len(both)), dtype=np.float32
    )
    rule = f"column {name!r} must hold several words that occur in two rows"
    try:
        counts = words.fit_transform(both)
    except ValueError as error:
        raise ValueError(f"{rule}; it has none.") from error
    if counts.shape[1] < 2:
        raise ValueError(f"{rule}; it has one.")
    for place, rows in (("TRAIN", counts[: len(labelled)]), ("NEW", counts[len(labelled) :])):
        if not rows.nnz:
            raise ValueError(f"{rule}; it has none in {place}.")
    n_directions = min(_DIRECTIONS, counts.shape[1] - 1, counts.shape[0] - 1)
    directions = TruncatedSVD(n_directions, random_state=0).fit(counts)
    settled = unit_rows, not all(labelled)
    raw = TextEncoding(name, words, directions, np.zeros(n_directions), 1.0, *settled)
    found = raw.encode(labelled)
    scale = float(np.sqrt(np.mean(found.std(axis=0) ** 2))) or 1.0
    return replace(raw, mean=found.mean(axis=0), scale=scale)


def _texts(name: str, column: Array) -> list[str]:
    if not is_text(decoded(column).type):
        raise ValueError(f"column {name!r} must hold text; it holds {column.type}.")
    return [text or "" for text in as_text(column).to_pylist()]
