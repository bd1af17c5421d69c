"""The files that pass between the scripts; NumPy is all that every environment must have.

A case is a data set, a seed and a setting. Its folder holds ``reference.csv`` (labelled rows that
the user's classifier did not learn from, and what it says about them), ``<setting>.csv`` (new
rows, without labels) and ``<setting>.truth.csv`` (their labels, for scoring only).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

SETTINGS = (
    "nothing new",
    "known classes shifted",
    "columns moved by .1 sd",
    "gain of 5%",
    "30% unseen",
)
Answer = dict[str, Any]


@dataclass(frozen=True)
class Table:
    """Columns by name: features ``x0``, ..., ``p_<class>``, ``predicted``, ``label``."""

    columns: dict[str, np.ndarray]

    @classmethod
    def read(cls, path: Path) -> Table:
        """Read a csv file of numbers with a header."""
        names = path.open().readline().strip().split(",")
        values = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
        return cls(dict(zip(names, values.T, strict=True)))

    def write(self, path: Path) -> None:
        """Write a csv file of numbers with a header."""
        values = np.column_stack(list(self.columns.values()))
        np.savetxt(
            path, values, fmt="%.6g", delimiter=",", header=",".join(self.columns), comments=""
        )

    @property
    def features(self) -> list[str]:
        """Names of the feature columns."""
        return [name for name in self.columns if name.startswith("x")]

    @property
    def X(self) -> np.ndarray:
        """Features, one row per row."""
        return np.column_stack([self.columns[name] for name in self.features])

    def labels(self, name: str = "label") -> np.ndarray:
        """A column of whole numbers."""
        return self.columns[name].astype(int)


@dataclass(frozen=True)
class Case:
    """One question to a tool: labelled reference rows, and new rows."""

    folder: Path
    data: str
    seed: int
    setting: str

    @cached_property
    def reference(self) -> Table:
        """Rows with labels and the user's classifier's outputs."""
        return Table.read(self.folder / "reference.csv")

    @cached_property
    def new(self) -> Table:
        """Rows with the user's classifier's outputs only."""
        return Table.read(self.folder / f"{self.setting}.csv")

    @property
    def known(self) -> list[int]:
        """Classes that training has."""
        return [int(name[2:]) for name in self.reference.columns if name.startswith("p_")]

    def truth(self) -> np.ndarray:
        """Labels of the new rows, -1 where unseen: for scoring, never for a tool."""
        labels = Table.read(self.folder / f"{self.setting}.truth.csv").labels()
        return np.where(np.isin(labels, self.known), labels, -1)

    def answer(self, tool: str, quantity: str, value: float) -> Answer:
        """One number that a tool gave."""
        return {
            "data": self.data,
            "seed": self.seed,
            "setting": self.setting,
            "tool": tool,
            "quantity": quantity,
            "value": round(float(value), 5),
        }

    def shares(self, tool: str, shares: Iterable[float]) -> list[Answer]:
        """The share of each known class, as a tool gave them."""
        return [
            self.answer(tool, f"share {label}", share)
            for label, share in zip(self.known, shares, strict=True)
        ]


def each_case(work: Path) -> Iterator[Case]:
    """All cases, in a fixed order."""
    for folder in sorted(work.glob("cases/*/*")):
        for setting in SETTINGS:
            yield Case(folder, folder.parent.name, int(folder.name), setting)


def write_answers(work: Path, tool: str, answers: Iterable[Answer]) -> None:
    """Write what one tool said, a line for each number so that a difference shows."""
    lines = ",\n".join(json.dumps(answer) for answer in answers)
    (work / f"{tool}.json").write_text(f"[\n{lines}\n]\n")
