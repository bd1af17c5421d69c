"""The data sets that are neither bundled nor generated: fetched once, converted, kept.

A file of the publisher is turned into NAME.npz in the data directory, with its sha256 beside
it. What the conversion chooses (which rows, which columns) is said in docs/data.md.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from unseen.datasets.catalogue import CATALOGUE, check_facts, fingerprint
from unseen.datasets.download import fetch
from unseen.datasets.npz import note_sha256, noted_sha256, write_npz
from unseen.datasets.record import Rows

__all__ = ["REMOTES", "Remote", "obtain"]


@dataclass(frozen=True)
class Remote:
    """A file of a publisher, and how to read it."""

    url: str
    read: Callable[[Path], Rows]

    @property
    def file_name(self) -> str:
        """Name of the file, here as there."""
        return PurePosixPath(urlsplit(self.url).path).name


def obtain(name: str, directory: Path, remote: Remote | None = None) -> Rows:
    """Rows of a set from the publisher's file, which is downloaded unless it is there already.

    The first download notes the sha256 of the publisher's file; a later one must have the same.

    Raises
    ------
    ConnectionError
        When it cannot be downloaded; the message says what to put where instead.
    ValueError
        When the file does not hold what it should.
    """
    remote = REMOTES[name] if remote is None else remote
    original = directory / remote.file_name
    if original.exists():
        rows = _converted(name, remote, original, str(original))
    else:
        rows = _downloaded(name, remote, original)
    kept = directory / f"{name}.npz"
    write_npz(kept, rows)
    note_sha256(kept)
    return rows


def _downloaded(name: str, remote: Remote, original: Path) -> Rows:
    # In a folder of its own, so that processes that start together do not meet.
    try:
        original.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=original.parent) as scratch:
            here = Path(scratch) / remote.file_name
            digest = fetch(remote.url, here, noted_sha256(original))
            rows = _converted(name, remote, here, remote.url)
    except OSError as error:
        raise ConnectionError(
            f"{name} is downloaded on first use, and that failed: {error}. "
            f"Put {remote.file_name} from there, or {name}.npz with the arrays X, y and "
            f"feature_names, into {original.parent}; UNSEEN_DATA names another directory."
        ) from error
    note_sha256(original, digest)
    return rows


def _converted(name: str, remote: Remote, file: Path, where: str) -> Rows:
    try:
        rows = remote.read(file)
    except (zipfile.BadZipFile, EOFError, OSError, KeyError, IndexError, ValueError) as error:
        raise ValueError(f"{where} must be the published file of {name}: {error}") from error
    check_facts(name, rows, where)
    known = CATALOGUE[name].fingerprint
    if known and fingerprint(rows) != known:
        raise ValueError(f"{where} must hold the published values of {name}; got others.")
    return rows


def _read_australian(path: Path) -> Rows:
    table = np.vstack(_tables(path, ["australian.dat"]))
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
# From 0. Five inertial units (acceleration, turning rate, magnetic field; their quaternions
# left out), then all of the two shoes.
_INERTIAL_UNITS = {"back": 37, "rua": 50, "rla": 63, "lua": 76, "lla": 89}
_INERTIAL_CHANNELS = [f"{kind}{axis}" for kind in ("acc", "gyro", "magnetic") for axis in "XYZ"]
_SHOES = {"l-shoe": 102, "r-shoe": 118}
_SHOE_CHANNELS = 16


def _read_opportunity(path: Path) -> Rows:
    runs = _tables(path, [f"S1-ADL{run}.dat" for run in range(1, 6)])
    table = np.vstack(runs)
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
    """``n`` of the positions, as far apart as can be: neighbours in time are near copies."""
    if len(positions) < n:
        raise ValueError(f"it must hold at least {n} rows of each class; got {len(positions)}.")
    chosen: NDArray[Any] = positions[np.arange(n) * len(positions) // n]
    return chosen


def _tables(path: Path, names: list[str]) -> list[NDArray[np.float64]]:
    """The named tables of numbers inside a zip file, in whatever folder they lie there."""
    with zipfile.ZipFile(path) as archive:
        members = {PurePosixPath(member).name: member for member in archive.namelist()}
        missing = [name for name in names if name not in members]
        if missing:
            raise ValueError(f"it must hold {names}; it lacks {missing}.")
        return [_table(archive, members[name]) for name in names]


def _table(archive: zipfile.ZipFile, member: str) -> NDArray[np.float64]:
    with archive.open(member) as stream:
        return np.loadtxt(TextIOWrapper(stream, encoding="ascii"), ndmin=2)


_UCI = "https://archive.ics.uci.edu/static/public"
_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"

REMOTES: dict[str, Remote] = {
    "australian": Remote(f"{_UCI}/143/statlog+australian+credit+approval.zip", _read_australian),
    "sensit": Remote(f"{_LIBSVM}/multiclass/vehicle/combined.bz2", _read_sensit),
    "opportunity": Remote(f"{_UCI}/226/opportunity+activity+recognition.zip", _read_opportunity),
}
