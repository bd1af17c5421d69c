"""NPZ files of data sets: those in the package, and those in the user's data directory."""

from __future__ import annotations

import hashlib
import os
import sys
import zipfile
import zlib
from importlib.resources import files
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from unseen.datasets.record import Rows

__all__ = [
    "bundled_names",
    "check_sha256",
    "data_directory",
    "note_sha256",
    "noted_sha256",
    "read_bundled",
    "read_npz",
    "write_npz",
]

_UNREADABLE = (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error)


def data_directory() -> Path:
    """Where data sets are looked for first and downloads are kept.

    The environment variable ``UNSEEN_DATA``, or else a cache directory of the user.

    Examples
    --------
    >>> data_directory().is_absolute()
    True
    """
    chosen = os.environ.get("UNSEEN_DATA")
    return Path(chosen).expanduser().absolute() if chosen else _user_cache() / "unseen"


def _user_cache() -> Path:
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) if local else Path.home() / "AppData" / "Local"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    xdg = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return xdg if xdg.is_absolute() else Path.home() / ".cache"


def bundled_names() -> frozenset[str]:
    """Names of the files inside the package."""
    folder = files("unseen.datasets") / "files"
    return frozenset(
        entry.name.removesuffix(".npz") for entry in folder.iterdir() if entry.name.endswith(".npz")
    )


def read_bundled(name: str) -> Rows:
    """Rows of one file inside the package."""
    resource = files("unseen.datasets") / "files" / f"{name}.npz"
    with resource.open("rb") as stream:
        return _read(stream, f"the bundled {name}.npz")


def read_npz(path: Path) -> Rows:
    """Rows of a file with the arrays X, y and feature_names.

    With an array ``split``, as some archives have it, only its zeros are kept: the training
    part. A file that has its sha256 beside it must still have it.
    """
    check_sha256(path)
    with path.open("rb") as stream:
        return _read(stream, str(path))


def write_npz(path: Path, rows: Rows) -> None:
    """Write to a temporary name, then rename: a reader never meets half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as stream:
        part = Path(stream.name)
    try:
        with part.open("wb") as stream:
            np.savez_compressed(stream, X=rows.X, y=rows.y, feature_names=rows.feature_names)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def note_sha256(path: Path, digest: str | None = None) -> None:
    """Write the sha256 of a file beside it, in the form that ``sha256sum -c`` reads."""
    digest = _sha256(path) if digest is None else digest
    _sidecar(path).write_text(f"{digest}  {path.name}\n", encoding="utf-8")


def noted_sha256(path: Path) -> str | None:
    """The sha256 noted beside a file, whether the file is there or not."""
    sidecar = _sidecar(path)
    words = sidecar.read_text(encoding="utf-8").split() if sidecar.exists() else []
    return words[0] if words else None


def check_sha256(path: Path) -> None:
    """Refuse a file that is not the one whose sha256 was noted beside it."""
    noted = noted_sha256(path)
    if noted is not None and noted != _sha256(path):
        raise ValueError(
            f"{path} must have the sha256 noted in {_sidecar(path).name}; got another. "
            "Delete both to start afresh."
        )


def _sidecar(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _read(stream: IO[bytes], where: str) -> Rows:
    arrays = _arrays(stream, where)
    missing = {"X", "y", "feature_names"} - set(arrays)
    if missing:
        raise ValueError(
            f"{where} must hold the arrays X, y and feature_names; it lacks {sorted(missing)}."
        )
    X, y, names = arrays["X"], arrays["y"], arrays["feature_names"]
    _check_arrays(X, y, names, where)
    if "split" in arrays:
        kept = _training_part(arrays["split"], len(X), where)
        X, y = X[kept], y[kept]
    labels = y.astype(str if y.dtype.kind == "U" else np.int64)
    return Rows(X.astype(np.float64), labels, tuple(names.astype(str).tolist()))


def _arrays(stream: IO[bytes], where: str) -> dict[str, NDArray[Any]]:
    try:
        with np.load(stream, allow_pickle=False) as archive:
            return {key: archive[key] for key in archive.files}
    except (*_UNREADABLE, AttributeError, TypeError) as error:
        # A lone .npy array has neither files nor a context; to the user it is no NPZ either.
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(f"{where} must be an NPZ file of plain arrays; got: {reason}") from error


def _check_arrays(X: NDArray[Any], y: NDArray[Any], names: NDArray[Any], where: str) -> None:
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise ValueError(f"{where}: X must be a 2-d array of numbers; got {X.ndim}-d of {X.dtype}.")
    if not np.isfinite(X).all():
        raise ValueError(f"{where}: X must be finite; got {(~np.isfinite(X)).sum()} other values.")
    if y.shape != X.shape[:1] or y.dtype.kind not in "iuU":
        raise ValueError(
            f"{where}: y must hold {len(X)} whole numbers or texts, one per row of X; "
            f"got shape {y.shape} of {y.dtype}."
        )
    if names.shape != X.shape[1:]:
        raise ValueError(
            f"{where}: feature_names must hold {X.shape[1]} names; got shape {names.shape}."
        )


def _training_part(split: NDArray[Any], n_rows: int, where: str) -> NDArray[np.bool_]:
    if split.shape != (n_rows,):
        raise ValueError(
            f"{where}: split must hold {n_rows} numbers, one per row of X; got shape {split.shape}."
        )
    kept: NDArray[np.bool_] = split == 0
    return kept
