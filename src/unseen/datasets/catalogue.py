"""Facts about each data set, as catalogue.csv lists them, and the NPZ files that hold some.

The rows are the paper's: its table of training and test counts fits no others (docs/data.md).
Every set that is loaded, from wherever, is held against these facts.
"""

from __future__ import annotations

import csv
import hashlib
import os
import sys
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

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
        words = (*line["classes"].split(), line["unobserved"])
        *classes, unobserved = (word if word.isalpha() else int(word) for word in words)
        counts = tuple(int(count) for count in line["counts"].split())
        return cls(*about, *sizes, tuple(classes), unobserved, counts, line["fingerprint"])


_FOLDER = files("unseen.datasets")
_FILES = _FOLDER / "files"
BUNDLED = frozenset(
    file.name.removesuffix(".npz") for file in _FILES.iterdir() if file.name.endswith(".npz")
)
_TEXT = (_FOLDER / "catalogue.csv").read_text(encoding="utf-8")
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


def data_directory() -> Path:
    """Where data sets are looked for first, and where downloads are kept.

    The environment variable ``UNSEEN_DATA`` names it; else it is in the user's cache.
    """
    chosen = os.environ.get("UNSEEN_DATA")
    return Path(chosen).expanduser().absolute() if chosen else cache_folder() / "unseen"


def cache_folder() -> Path:
    """The folder in which a user's programs keep what can be had again."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    windows = sys.platform == "win32"
    variable, usual = ("LOCALAPPDATA", "AppData/Local") if windows else ("XDG_CACHE_HOME", ".cache")
    cache = Path(os.environ.get(variable, ""))
    return cache if cache.is_absolute() else Path.home() / usual


def read_bundled(name: str) -> Rows:
    """Rows of one file inside the package."""
    with (_FILES / f"{name}.npz").open("rb") as stream:
        return _read(stream, f"the bundled {name}.npz")


def read_npz(path: Path) -> Rows:
    """Rows of a file with the arrays X, y and feature_names.

    With an array ``split``, as some archives have it, only rows with a zero there are kept: the
    training part. If the sha256 of the file was noted beside it, the file must still have it.
    """
    if noted_sha256(path) not in (None, sha256_of(path)):
        raise ValueError(
            f"{path} must have the sha256 noted in {path.name}.sha256; got another. "
            "Delete both to start afresh."
        )
    with path.open("rb") as stream:
        return _read(stream, str(path))


def sha256_of(path: Path) -> str:
    """The sha256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def note_sha256(path: Path, digest: str) -> None:
    """Write the sha256 of a file beside it, in the form that ``sha256sum -c`` reads."""
    text = f"{digest}  {path.name}\n"
    path.with_name(f"{path.name}.sha256").write_text(text, encoding="utf-8")


def noted_sha256(path: Path) -> str | None:
    """The sha256 noted beside a file, whether the file is there or not."""
    note = path.with_name(f"{path.name}.sha256")
    words = note.read_text(encoding="utf-8").split() if note.exists() else []
    return words[0] if words else None


def _read(stream: IO[bytes], where: str) -> Rows:
    try:
        with np.load(stream, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
    except MemoryError:
        raise
    except Exception as error:  # a damaged archive, or a lone .npy array, fails in many ways
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(f"{where} must be an NPZ file of plain arrays; got: {reason}") from error
    missing = {"X", "y", "feature_names"} - set(arrays)
    if missing:
        raise ValueError(
            f"{where} must hold the arrays X, y and feature_names; it lacks {sorted(missing)}."
        )
    X, y, names = arrays["X"], arrays["y"], arrays["feature_names"]
    kept = arrays.get("split", np.zeros(len(X))) == 0
    _check_arrays(X, y, names, kept, where)
    labels = y[kept].astype(str if y.dtype.kind == "U" else np.int64)
    return Rows(X[kept].astype(np.float64), labels, tuple(names.astype(str).tolist()))


def _check_arrays(
    X: NDArray[Any], y: NDArray[Any], names: NDArray[Any], kept: NDArray[np.bool_], where: str
) -> None:
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
    if kept.shape != y.shape:
        raise ValueError(
            f"{where}: split must hold {len(X)} numbers, one per row of X; got shape {kept.shape}."
        )
