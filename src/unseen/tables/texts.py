"""A column of free text: TF-IDF of its words, reduced by a singular value decomposition.

Words and directions are learnt from labelled and new rows together. Learnt from the labelled rows
alone, they would suit these better than any others, and everything new would look unseen.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen._frozen import Frozen
from unseen._types import FloatArray
from unseen.tables._arrow import Array, decoded, is_text
from unseen.tables.encodings import Departure, Encoding, new_gaps
from unseen.tables.values import as_text

_DIRECTIONS = 200
_FEWEST_ROWS_OF_A_WORD = 2


@dataclass(frozen=True, eq=False)
class TextEncoding(Encoding, Frozen):
    """Text as numbers."""

    name: str
    words: Any  # a TfidfVectorizer, fitted to the labelled and the new rows
    directions: Any  # a TruncatedSVD, fitted to the same
    mean: FloatArray  # of each direction in the labelled rows; it is subtracted
    scale: float  # which divides: root mean square of their deviations in the labelled rows
    unit_rows: bool = False  # whether each row is divided by its Euclidean length first
    was_empty: bool = False  # whether a labelled row has no text

    was_missing = False

    @property
    def names(self) -> list[str]:
        """Names of the encoded columns."""
        return [f"{self.name}~{place + 1}" for place in range(len(self.mean))]

    def read(self, column: Array) -> list[str]:
        """The text of a column, empty where missing."""
        return _texts(self.name, column)

    def encode(self, texts: list[str]) -> FloatArray:
        """The encoded columns, side by side."""
        found = _projected(self.words, self.directions, texts, self.unit_rows)
        return (found - self.mean) / self.scale

    def departures(self, texts: list[str]) -> tuple[Departure, ...]:
        """Rows without a text, where all labelled rows have one."""
        is_empty = np.array([not text for text in texts], dtype=bool)
        return new_gaps(self.name, is_empty, self.was_empty, "no words")

    def statement(self) -> str:
        """The treatment of the column in a plain sentence."""
        kept = float(self.directions.explained_variance_ratio_.sum())
        return (
            f"{self.name!r}: TF-IDF of {len(self.words.vocabulary_):,} words of the labelled and "
            f"the new rows, reduced to {len(self.mean)} columns by a singular value decomposition "
            f"({kept:.0%} of the variance)."
        )


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
    found = _projected(words, directions, labelled, unit_rows)
    scale = float(np.sqrt(np.mean(found.std(axis=0) ** 2))) or 1.0
    settled = found.mean(axis=0), scale, unit_rows, not all(labelled)
    return TextEncoding(name, words, directions, *settled)


def _texts(name: str, column: Array) -> list[str]:
    if not is_text(decoded(column).type):
        raise ValueError(f"column {name!r} must hold text; it holds {column.type}.")
    return [text or "" for text in as_text(column).to_pylist()]


def _projected(words: Any, directions: Any, texts: list[str], unit_rows: bool) -> FloatArray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = np.asarray(directions.transform(words.transform(texts)), dtype=np.float64)
    if unit_rows:
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        found /= np.where(lengths > 0, lengths, 1.0)
    return found
