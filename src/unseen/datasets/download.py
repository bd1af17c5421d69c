"""Data sets from the web: fetched on first use, checked, converted, kept.

The publisher's file becomes ``NAME.npz`` in the data directory, with its sha256 beside it.
docs/data.md says which rows and columns the readers choose, and why.
"""

from __future__ import annotations

import shutil
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from io import TextIOWrapper
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import urlopen

import numpy as np
from numpy.typing import NDArray

from unseen._files import write_then_rename
from unseen.datasets.catalogue import (
    CATALOGUE,
    Rows,
    check_facts,
    fingerprint,
    note_sha256,
    noted_sha256,
    sha256_of,
)

# The reason to open the address by hand: urlretrieve waits for a silent server for ever.
_TIMEOUT_SECONDS = 30.0
_SENSIT_SHAPE = (78_823, 100)
# Codes of the column with the mode of locomotion.
_LOCOMOTION = {"stand": 1, "walk": 2, "sit": 4, "lie": 5}
_LOCOMOTION_COLUMN, _OPPORTUNITY_COLUMNS = 243, 250
# First columns of five inertial units (acceleration, turning rate and magnetic field are used, but
# not their quaternions), and of the two shoes, which are used in full.
_INERTIAL_UNITS = {"back": 37, "rua": 50, "rla": 63, "lua": 76, "lla": 89}
_INERTIAL_CHANNELS = [f"{kind}{axis}" for kind in ("acc", "gyro", "magnetic") for axis in "XYZ"]
_SHOES = {"l-shoe": 102, "r-shoe": 118}
_SHOE_CHANNELS = [str(number) for number in range(1, 17)]


@dataclass(frozen=True)
class Remote:
    """A file of a publisher, and how to read it."""

    url: str
    read: Callable[[Path], Rows]

    @property
    def file_name(self) -> str:
        """Name of the file, on the web as in the data directory."""
        return PurePosixPath(self.url).name


def obtain(name: str, directory: Path) -> Rows:
    """Rows of a set from the publisher's file, which is downloaded unless it is there already.

    The first download notes the sha256 of the publisher's file; a later one must have the same.
    A failed download is a ConnectionError that says what to put where instead.
    """
    remote = REMOTES[name]
    original = directory / remote.file_name
    if original.exists():
        rows = _converted(name, remote, original, str(original))
    else:
        try:
            directory.mkdir(parents=True, exist_ok=True)
            # In a folder of its own, so that processes that start together do not meet.
            with TemporaryDirectory(dir=directory) as scratch:
                file = Path(scratch) / remote.file_name
                fetch(remote.url, file)
                digest, noted = sha256_of(file), noted_sha256(original)
                if noted not in (None, digest):
                    raise ValueError(f"{remote.url} must have the sha256 {noted}; got {digest}.")
                rows = _converted(name, remote, file, remote.url)
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            raise ConnectionError(
                f"{name} is downloaded on first use, and that failed: {remote.url} cannot be read: "
                f"{reason}. Put {remote.file_name} from there, or {name}.npz with the arrays X, y "
                f"and feature_names, into {directory}; UNSEEN_DATA names another directory."
            ) from error
        note_sha256(original, digest)
    kept = directory / f"{name}.npz"
    with write_then_rename(kept) as draft:
        np.savez_compressed(draft, X=rows.X, y=rows.y, feature_names=rows.feature_names)
    note_sha256(kept, sha256_of(kept))
    return rows


def fetch(url: str, path: Path) -> None:
    """Download a file, with a bar on a terminal; a transfer that breaks off raises an OSError."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(path.name), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with urlopen(url, timeout=_TIMEOUT_SECONDS) as response, path.open("wb") as target:
        stated = response.headers.get("Content-Length")
        expected = int(stated) if stated else None
        silent = expected is None or not sys.stderr.isatty()
        with Progress(*columns, console=Console(stderr=True), disable=silent) as bar:
            shutil.copyfileobj(bar.wrap_file(response, total=expected or 0), target)
        received = target.tell()
    if expected not in (None, received):
        raise ConnectionError(f"it broke off after {received} of {expected} bytes")


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
    table = _tables(path, ["australian.dat"])
    names = tuple(f"A{number}" for number in range(1, table.shape[1]))
    return Rows(table[:, :-1], np.where(table[:, -1] == 1, 1, -1), names)


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


def _read_opportunity(path: Path) -> Rows:
    table = _tables(path, [f"S1-ADL{run}.dat" for run in range(1, 6)])
    if table.shape[1] != _OPPORTUNITY_COLUMNS:
        raise ValueError(f"it must have {_OPPORTUNITY_COLUMNS} columns; got {table.shape[1]}.")
    channels = {
        f"{unit}-{channel}": first + offset
        for units, used in ((_INERTIAL_UNITS, _INERTIAL_CHANNELS), (_SHOES, _SHOE_CHANNELS))
        for unit, first in units.items()
        for offset, channel in enumerate(used)
    }
    X, codes = table[:, list(channels.values())], table[:, _LOCOMOTION_COLUMN]
    complete = np.isfinite(X).all(axis=1)
    facts = CATALOGUE["opportunity"]
    chosen = {
        str(label): _evenly_spaced(np.flatnonzero(complete & (codes == _LOCOMOTION[str(label)])), n)
        for label, n in zip(facts.classes, facts.counts, strict=True)
    }
    y = np.repeat(list(chosen), [len(rows) for rows in chosen.values()])
    return Rows(X[np.concatenate(list(chosen.values()))], y, tuple(channels))


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
