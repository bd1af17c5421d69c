"""Publishers' files of the data sets that the package does not hold, and how to read them.

docs/data.md says which rows and columns the readers choose, and why.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen.datasets.catalogue import CATALOGUE
from unseen.datasets.record import Rows

__all__ = ["REMOTES", "Remote"]


@dataclass(frozen=True)
class Remote:
    """A file of a publisher, and how to read it."""

    url: str
    read: Callable[[Path], Rows]

    @property
    def file_name(self) -> str:
        """Name of the file, on the web as in the data directory."""
        return PurePosixPath(self.url).name


def _read_australian(path: Path) -> Rows:
    table = _tables(path, ["australian.dat"])
    names = tuple(f"A{number}" for number in range(1, table.shape[1]))
    return Rows(table[:, :-1], np.where(table[:, -1] == 1, 1, -1), names)


_SENSIT_SHAPE = (78_823, 100)


def _read_sensit(path: Path) -> Rows:
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(path), n_features=_SENSIT_SHAPE[1])
    if X.shape != _SENSIT_SHAPE:
        raise ValueError(f"it must hold {_SENSIT_SHAPE} rows and features; got {X.shape}.")
    facts = CATALOGUE["sensit"]
    labels = y.astype(np.int64)
    classes, counts = np.unique(labels, return_counts=True)
    if classes[counts.argmax()] != facts.unobserved:
        raise ValueError(f"class {facts.unobserved} must be the largest; got {classes}: {counts}.")
    chosen = _evenly_spaced(np.arange(len(labels)), facts.n_rows)
    names = tuple(f"x{number}" for number in range(1, X.shape[1] + 1))
    return Rows(X[chosen].toarray(), labels[chosen], names)


_LOCOMOTION = {"stand": 1, "walk": 2, "sit": 4, "lie": 5}
_OPPORTUNITY_COLUMNS = 250
_LOCOMOTION_COLUMN = 243
# Columns from 0: five inertial units (acceleration, turning rate, magnetic field, but not their
# quaternions), then everything of the two shoes.
_INERTIAL_UNITS = {"back": 37, "rua": 50, "rla": 63, "lua": 76, "lla": 89}
_INERTIAL_CHANNELS = [f"{kind}{axis}" for kind in ("acc", "gyro", "magnetic") for axis in "XYZ"]
_SHOES = {"l-shoe": 102, "r-shoe": 118}
_SHOE_CHANNELS = 16


def _read_opportunity(path: Path) -> Rows:
    table = _tables(path, [f"S1-ADL{run}.dat" for run in range(1, 6)])
    if table.shape[1] != _OPPORTUNITY_COLUMNS:
        raise ValueError(f"it must have {_OPPORTUNITY_COLUMNS} columns; got {table.shape[1]}.")
    channels = _opportunity_channels()
    X, codes = table[:, list(channels.values())], table[:, _LOCOMOTION_COLUMN]
    complete = np.isfinite(X).all(axis=1)
    facts = CATALOGUE["opportunity"]
    chosen = {
        str(label): _evenly_spaced(np.flatnonzero(complete & (codes == _LOCOMOTION[str(label)])), n)
        for label, n in zip(facts.classes, facts.counts, strict=True)
    }
    y = np.repeat(list(chosen), [len(rows) for rows in chosen.values()])
    return Rows(X[np.concatenate(list(chosen.values()))], y, tuple(channels))


def _opportunity_channels() -> dict[str, int]:
    units = {
        f"{unit}-{channel}": first + offset
        for unit, first in _INERTIAL_UNITS.items()
        for offset, channel in enumerate(_INERTIAL_CHANNELS)
    }
    shoes = {
        f"{shoe}-{offset + 1}": first + offset
        for shoe, first in _SHOES.items()
        for offset in range(_SHOE_CHANNELS)
    }
    return units | shoes


def _evenly_spaced(positions: NDArray[Any], n: int) -> NDArray[Any]:
    """``n`` of the positions, evenly apart: rows that follow each other are near copies."""
    if len(positions) < n:
        raise ValueError(f"it must hold at least {n} rows of each class; got {len(positions)}.")
    return positions[np.arange(n) * len(positions) // n]


def _tables(path: Path, names: list[str]) -> NDArray[np.float64]:
    """The named tables of numbers inside a zip file, in any of its folders, one below the other."""
    with zipfile.ZipFile(path) as archive:
        members = {PurePosixPath(member).name: member for member in archive.namelist()}
        missing = [name for name in names if name not in members]
        if missing:
            raise ValueError(f"it must hold {names}; it lacks {missing}.")
        tables = []
        for name in names:
            with archive.open(members[name]) as stream:
                tables.append(np.loadtxt(TextIOWrapper(stream, encoding="ascii"), ndmin=2))
        return np.vstack(tables)


_UCI = "https://archive.ics.uci.edu/static/public"
_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"

REMOTES: dict[str, Remote] = {
    "australian": Remote(f"{_UCI}/143/statlog+australian+credit+approval.zip", _read_australian),
    "sensit": Remote(f"{_LIBSVM}/multiclass/vehicle/combined.bz2", _read_sensit),
    "opportunity": Remote(f"{_UCI}/226/opportunity+activity+recognition.zip", _read_opportunity),
}
