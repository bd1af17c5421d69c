"""Sizes, classes, source and licence of each data set, as catalogue.csv lists them.

The rows are the paper's: its table of training and test counts fits no others (docs/data.md).
Every set that is loaded, from wherever, is held against these facts.
"""

from __future__ import annotations

import csv
import hashlib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Label: TypeAlias = int | str


class Rows(NamedTuple):
    """Rows, labels and names of the features, as they come from a file."""

    X: NDArray[Any]
    y: NDArray[Any]
    feature_names: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """One line of the catalogue; an empty ``counts`` means that only the classes are known."""

    title: str
    source: str
    licence: str
    n_rows: int
    n_features: int
    classes: tuple[Label, ...]
    unobserved: Label
    counts: tuple[int, ...]
    fingerprint: str

    @classmethod
    def of_line(cls, line: dict[str, str]) -> Facts:
        """The facts in one line of the file; classes and counts are parted by spaces."""
        about = line["title"], line["source"], line["licence"]
        sizes = int(line["rows"]), int(line["features"])
        classes = tuple(_label(word) for word in line["classes"].split())
        counts = tuple(int(count) for count in line["counts"].split())
        unobserved = _label(line["unobserved"])
        return cls(*about, *sizes, classes, unobserved, counts, line["fingerprint"])


def _label(word: str) -> Label:
    return word if word.isalpha() else int(word)


_TEXT = (files("unseen.datasets") / "catalogue.csv").read_text(encoding="utf-8")
CATALOGUE = {line["name"]: Facts.of_line(line) for line in csv.DictReader(_TEXT.splitlines())}


def check_facts(name: str, rows: Rows, where: str) -> None:
    """Refuse rows whose number, features or classes are not those of the catalogue."""
    facts = CATALOGUE[name]
    n_rows, n_features = rows.X.shape
    if (n_rows, n_features) != (facts.n_rows, facts.n_features):
        raise ValueError(
            f"{where} must hold {facts.n_rows} rows of {facts.n_features} features; "
            f"got {n_rows} of {n_features}."
        )
    labels, counts = (part.tolist() for part in np.unique(rows.y, return_counts=True))
    if labels != list(facts.classes):
        raise ValueError(f"{where} must hold the classes {list(facts.classes)}; got {labels}.")
    if facts.counts and counts != list(facts.counts):
        raise ValueError(
            f"{where} must hold {list(facts.counts)} rows of the classes {labels}; got {counts}."
        )


def fingerprint(rows: Rows) -> str:
    """The sha256 of rows and labels, whatever the order of the rows."""
    codes = np.unique(rows.y, return_inverse=True)[1]
    # Adding zero turns -0.0 into 0.0: equal numbers, but not equal bytes.
    table = np.column_stack([rows.X, codes]).astype("<f8") + 0.0
    ordered = np.ascontiguousarray(table[np.lexsort(table.T)])
    return hashlib.sha256(ordered.tobytes()).hexdigest()
