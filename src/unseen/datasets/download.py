"""Data sets from the web: fetched on first use, checked, converted, kept.

The publisher's file becomes ``NAME.npz`` in the data directory, with its sha256 beside it.
"""

from __future__ import annotations

import shutil
import sys
import zipfile
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

import numpy as np

from unseen._files import write_then_rename
from unseen.datasets.catalogue import CATALOGUE, check_facts, fingerprint
from unseen.datasets.npz import note_sha256, noted_sha256, sha256_of
from unseen.datasets.record import Rows
from unseen.datasets.remote import REMOTES, Remote

__all__ = ["fetch", "obtain"]

# The reason to open the address by hand: urlretrieve waits for a silent server for ever.
_TIMEOUT_SECONDS = 30.0


def obtain(name: str, directory: Path, remote: Remote | None = None) -> Rows:
    """Rows of a set from the publisher's file, which is downloaded unless it is there already.

    The first download notes the sha256 of the publisher's file; a later one must have the same.

    Raises
    ------
    ConnectionError
        When the file cannot be downloaded; the message says what to put where instead.
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


def _downloaded(name: str, remote: Remote, original: Path) -> Rows:
    try:
        original.parent.mkdir(parents=True, exist_ok=True)
        # In a folder of its own, so that processes that start together do not meet.
        with TemporaryDirectory(dir=original.parent) as scratch:
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
            f"{reason}. Put {remote.file_name} from there, or {name}.npz with the arrays X, y and "
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
