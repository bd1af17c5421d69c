"""Save anything of this library to a file, and load it without running code from the file.

A pickle is a program: to load it is to run it. A skops file is a zip of arrays and of a JSON
description that names the types to fill, so that the types are read, and refused, before anything
is built. ``load`` trusts what skops trusts of NumPy, SciPy and scikit-learn, and the estimators and
records of this library. Classes whose attributes skops cannot save write others in
``__getstate__`` (:mod:`unseen._frozen`, :mod:`unseen._sklearn`, :mod:`unseen.rejection.stack`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import is_dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from unseen._files import check_writable, write_then_rename
from unseen._optional import needed
from unseen._version import __version__, library_versions
from unseen.samples.checks import warn

FORMAT = 1  # counts changes of the layout that an older reader would misread
_HEADER = "unseen.json"
_NEEDS = "save and load need skops"

# Modules and folders of the estimators and records that a file may name: building one of these
# computes, and does nothing else.
_TRUSTED_HOMES = (
    "unseen._frozen",
    "unseen.diagnostics",
    "unseen.api",
    "unseen.drift",
    "unseen.intervals",
    "unseen.labelling",
    "unseen.loop",
    "unseen.mixture",
    "unseen.monitoring",
    "unseen.proportions",
    "unseen.records",
    "unseen.rejection",
    "unseen.roc",
    "unseen.samples",
    "unseen.scores",
    "unseen.study",
    "unseen.tables.columns",
    "unseen.tables.embeddings",
    "unseen.tables.encodings",
    "unseen.tables.predictions",
)
# skops saves these and leaves it to the reader to trust them. A dtype is a name and flags; the
# indices of a matrix are checked before anything follows them.
_TRUSTED_TYPES = frozenset(
    {
        "numpy.dtype",
        "scipy.sparse._csr.csr_array",
        "scipy.sparse._csr.csr_matrix",
        # The columns that are left over, in a ColumnTransformer of scikit-learn 1.6 and 1.7.
        "sklearn.compose._column_transformer._RemainderColsList",
    }
)
# Bytes of the two descriptions in a file: a few bytes in a zip file can stand for gigabytes.
_LARGEST_HEADER, _LARGEST_SCHEMA = 1 << 20, 1 << 28
# skops makes text of the keys of a dict, and only these types come back from text as they were.
_KEY_TYPES = frozenset({"str", "int", "float"})


def save(obj: Any, path: str | Path) -> None:
    """Save an estimator, fitted or not, a record, or a scikit-learn object that holds one.

    :func:`load` reads it back. The file is written under another name and then renamed, so that it
    is never half there.

    **The file may hold your data.** A fitted estimator of class proportions or of mixture
    proportions keeps the labelled rows, as it scores them anew against each new sample; a rejection
    rule may keep some of its rows. Records (:class:`~unseen.Estimate`,
    :class:`~unseen.Comparison`) hold none.

    Parameters
    ----------
    obj : object
        Estimator of any kind, ``Estimate``, ``Comparison``, ``Pipeline``, or a dict or list of
        such.
    path : str or Path
        Where to write; an existing file is replaced. The usual suffix is ``.skops``.

    Raises
    ------
    ImportError
        When skops is not installed: ``pip install "unseen[secure]"``.
    TypeError
        When the object has a part that cannot be saved.
    FileNotFoundError
        When the folder does not exist.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from unseen import MPEIncomplete
    >>> from unseen.persist import load, save
    >>> rng = np.random.default_rng(0)
    >>> X, y, X_new = rng.normal(size=(60, 2)), [True, False] * 30, rng.normal(size=(40, 2))
    >>> fitted = MPEIncomplete(random_state=0).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     save(fitted, Path(folder) / "model.skops")
    ...     again = load(Path(folder) / "model.skops")
    >>> again.estimate(X_new).unseen == fitted.estimate(X_new).unseen
    True
    """
    path = Path(path)
    check_writable(path)
    skops = needed("skops.io", _NEEDS, "secure")
    for part in _parts(obj):
        _check_part(part, "obj cannot be saved")
    try:
        stream = BytesIO(skops.dumps(obj, compression=ZIP_DEFLATED))
        with ZipFile(stream, "a") as archive:
            _check_keys(json.loads(archive.read("schema.json")))
            header = {"format": FORMAT, "versions": library_versions()}
            archive.writestr(_HEADER, json.dumps(header))
    except Exception as error:  # skops raises many kinds, and each says that a part has no form
        raise TypeError(
            f"obj must hold only what skops can save; got {type(obj).__name__}, and {error}"
        ) from error
    with write_then_rename(path) as draft:
        draft.write_bytes(stream.getvalue())


def load(path: str | Path, trusted: Iterable[str | type] = ()) -> Any:
    """Load what :func:`save` wrote, which says what a file may hold, if all types are trusted.

    Nothing in the file is run before its types have been checked. Do not add a type to
    ``trusted`` because a file asks for it: add it because you know what it does, and who wrote the
    file.

    Parameters
    ----------
    path : str or Path
        A file of :func:`save`.
    trusted : iterable of str or type, default=()
        More types to trust, such as a classifier of your own: the class, or its name with its
        module. The types that skops trusts of NumPy, SciPy and scikit-learn, and the estimators
        and records of this library, are always trusted.

    Returns
    -------
    object
        The saved object, which gives the same answers, to the last bit.

    Raises
    ------
    ImportError
        When skops is not installed: ``pip install "unseen[secure]"``.
    ValueError
        When the file was not written by :func:`save`, is damaged, has a newer format, or holds a
        ``memory``, which would write to a folder that the author of the file chose.
    TypeError
        When the file holds a type that is not trusted; the message names it.

    Warns
    -----
    UnseenWarning
        When the file was saved by another release of this library, whose fitted estimators may
        differ.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from unseen import OpenSetEstimator
    >>> from unseen.persist import load, save
    >>> with TemporaryDirectory() as folder:
    ...     save(OpenSetEstimator(n_folds=5), Path(folder) / "settings.skops")
    ...     load(Path(folder) / "settings.skops")
    OpenSetEstimator(n_folds=5)
    """
    skops = needed("skops.io", _NEEDS, "secure")
    is_list = isinstance(trusted, Iterable) and not isinstance(trusted, str | type)
    if not is_list or not all(isinstance(one, str | type) for one in trusted):
        raise TypeError(f"trusted must be a list of types or of their names; got {trusted!r}.")
    known = {
        one if isinstance(one, str) else f"{one.__module__}.{one.__qualname__}" for one in trusted
    }
    data = Path(path).read_bytes()
    _check_header(data, path)
    with _reading(path):
        asked_for = set(skops.get_untrusted_types(data=data))
    known |= {name for name in asked_for if name in _TRUSTED_TYPES or _is_ours(name)}
    unknown = sorted(asked_for - known)
    if unknown:
        names = ", ".join(f'"{name}"' for name in unknown)
        advice = "This version of unseen lacks a type of its own there: fit and save again."
        if not any(name.startswith("unseen.") for name in unknown):  # no trust brings back ours
            call = f"unseen.load(path, trusted=[{names}])"
            advice = f"If you know these types, and who wrote the file: {call}."
        raise TypeError(
            f"path must hold trusted types only; {path} holds {', '.join(unknown)}. Nothing was "
            f"loaded. {advice}"
        )
    with _reading(path):
        found = skops.loads(data, trusted=sorted(known))
    for part in _parts(found):
        _check_part(part, f"{path} must not be used")
    return found


def _parts(found: Any) -> Iterator[Any]:
    """An object and everything that it is made of."""
    waiting, met = [found], set()
    while waiting:
        part = waiting.pop()
        if id(part) in met:
            continue
        met.add(id(part))
        yield part
        if isinstance(part, Mapping):
            waiting += part.values()
        elif isinstance(part, list | tuple | set):
            waiting += part
        elif isinstance(part, np.ndarray):
            waiting += part.ravel().tolist() if part.dtype == object else []
        else:
            waiting += getattr(part, "__dict__", {}).values()


def _check_part(part: Any, rule: str) -> None:
    """Refuse parts that would do harm when they are used, though nothing ran when they were built.

    A pipeline with a memory writes to a folder that the author of the file chose, and unpickles
    what lies there. Compiled code follows the indices of a matrix wherever they point.
    """
    if isinstance(part, sparse.csr_array | sparse.csr_matrix):
        try:
            part.check_format(full_check=True)
        except ValueError as error:
            raise ValueError(f"{rule}; it holds a damaged matrix: {error}") from error
    elif isinstance(part, BaseEstimator) and getattr(part, "memory", None) is not None:
        raise ValueError(
            f"{rule}; memory of its {type(part).__name__} must be None; got {part.memory!r}."
        )


def _check_keys(node: Any) -> None:
    """Refuse dicts whose keys would come back as others, such as True for False."""
    if isinstance(node, dict):
        if node.get("__loader__") == "DictNode":
            kinds = {kind["__class__"] for kind in node["key_types"]["content"]}
            if not kinds <= _KEY_TYPES or len(kinds) > 1:
                raise TypeError(f"keys of a dict must be all text or all numbers; got {kinds}.")
        node = list(node.values())
    if isinstance(node, list):
        for part in node:
            _check_keys(part)


@contextmanager
def _reading(path: str | Path) -> Iterator[None]:
    """Give one kind of error for a file of another kind, whatever it trips over."""
    try:
        yield
    except MemoryError as error:
        raise MemoryError(f"{path} needs more memory than there is.") from error
    except Exception as error:
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise ValueError(
            f"path must be a file that unseen.save wrote; {path} is not, or is damaged "
            f"({type(error).__name__}: {reason})."
        ) from error


def _check_header(data: bytes, path: str | Path) -> None:
    """Refuse what unpacks to too much or has a newer format; warn of another release."""
    with _reading(path), ZipFile(BytesIO(data)) as archive:
        limits = {_HEADER: _LARGEST_HEADER, "schema.json": _LARGEST_SCHEMA}
        for member, largest in limits.items():
            n_bytes = archive.getinfo(member).file_size
            if n_bytes > largest:
                raise ValueError(f"{member} must have at most {largest} bytes; it has {n_bytes}")
        header = json.loads(archive.read(_HEADER))
        layout, saved_by = header["format"], header["versions"]["unseen"]
        if not isinstance(layout, int) or not isinstance(saved_by, str):
            raise TypeError("the header must have a whole number and a version")
    if layout > FORMAT:
        raise ValueError(
            f"path must have format {FORMAT} or older; {path} has format {layout} of "
            f"unseen {saved_by}, and this is unseen {__version__}. Upgrade unseen."
        )
    # Releases understand each other that agree in 1 of 1.4.2, but in 0.4 of 0.4.2.
    theirs, ours = (
        version.split(".")[: 2 if version.startswith("0.") else 1]
        for version in (saved_by, __version__)
    )
    if theirs != ours:
        warn(
            f"{path} was saved by unseen {saved_by} and is loaded by unseen {__version__}: a "
            "fitted estimator may answer differently, or fail. Fit it again if it does."
        )


def _is_ours(name: str) -> bool:
    """Whether a type is an estimator or a record that is defined where its name says.

    A name is not enough: modules also hold functions and names imported from elsewhere, and skops
    would call any of these.
    """
    module, _, kind = name.rpartition(".")
    if not any(f"{module}.".startswith(f"{home}.") for home in _TRUSTED_HOMES):
        return False
    try:
        found = getattr(import_module(module), kind, None)
    except ImportError:
        return False
    return (
        isinstance(found, type)
        and found.__module__ == module
        and (is_dataclass(found) or issubclass(found, BaseEstimator | tuple))
    )
