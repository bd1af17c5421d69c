"""Save anything of this library to a file, and load it without running what the file says.

A pickle is a program: to load it is to run it. A file of skops is a zip of arrays and of a JSON
description, which names the types to be filled. So the types can be read, and refused, before
anything is built. Trusted are what skops trusts of NumPy, SciPy and scikit-learn, and the
estimators and records of this library.

Three things are beyond skops, and are packed before saving and unpacked after loading. Keys of a
JSON object are text, so that a dict by labels would come back with other labels. A search tree of
scikit-learn holds indices that nobody checks, so that skops does not trust it: it is built again
from its rows. And requests for metadata know their owner, which makes a circle: they are asked for
again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass, replace
from functools import partial
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.metadata_routing import MetadataRequest

from unseen._files import check_writable, write_then_rename
from unseen._types import Matrix
from unseen._version import __version__
from unseen.records import library_versions
from unseen.samples.checks import _warn

__all__ = ["load", "save"]

FORMAT = 1  # counts changes of the layout that an older reader would misread
_HEADER = "unseen.json"
_ASKED = "_metadata_request"  # where scikit-learn keeps the requests of an estimator

# Where the estimators and records are that a file may name: to build one computes, and does
# nothing else.
_TRUSTED_HOMES = (
    "unseen.samples.checks",
    "unseen.records",
    "unseen.diagnostics",
    "unseen.intervals",
    "unseen.labelling",
    "unseen.mixture",
    "unseen.monitoring",
    "unseen.persist",
    "unseen.proportions",
    "unseen.rejection",
    "unseen.roc",
    "unseen.scores",
    "unseen.study",
    "unseen.tables.columns",
    "unseen.tables.encodings",
)
# Records that make their arrays read-only when they are made.
_FROZEN_HOMES = ("unseen.records", "unseen.monitoring.timeline")
# A dtype is a name and flags; skops saves one and leaves it to the reader to trust it.
_TRUSTED_TYPES = frozenset({"numpy.dtype"})


@dataclass(frozen=True, eq=False)
class Pairs:
    """A dict whose keys are not text, as it lies in the file.

    Examples
    --------
    >>> from unseen.persist import Pairs
    >>> dict(Pairs((True, False), (3, 4)).items())
    {True: 3, False: 4}
    """

    keys: tuple[Any, ...]
    values: tuple[Any, ...]

    def items(self) -> Iterable[tuple[Any, Any]]:
        """Keys with their values."""
        return zip(self.keys, self.values, strict=True)


@dataclass(frozen=True, eq=False)
class NeighbourRows:
    """The rows of a neighbour search, as they lie in the file: the tree is built from them again.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import NearestNeighbors
    >>> from unseen.persist import NeighbourRows
    >>> rows = NeighbourRows(NearestNeighbors(n_neighbors=1), np.array([[0.0], [5.0]]))
    >>> float(rows.search().kneighbors([[4.0]])[0][0, 0])
    1.0
    """

    unfitted: NearestNeighbors
    rows: Matrix

    def search(self) -> NearestNeighbors:
        """The search, fitted as it was before: the tree follows from rows and parameters."""
        # A file may have any estimator here, and to fit one is to run it.
        if type(self.unfitted) is not NearestNeighbors:
            kind = type(self.unfitted).__name__
            raise TypeError(f"unfitted must be a NearestNeighbors; got {kind}.")
        return clone(self.unfitted).fit(self.rows)


@dataclass(frozen=True, eq=False)
class Requests:
    """What an estimator asks a pipeline for, as it lies in the file: ``set_fit_request`` and co.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from unseen.persist import Requests
    >>> ridge = Requests({"fit": {"sample_weight": True}}).asked_by(Ridge())
    >>> ridge.get_metadata_routing().fit.requests["sample_weight"]
    True
    """

    by_method: dict[str, dict[str, Any]]

    def asked_by(self, estimator: Any) -> Any:
        """The estimator, asking for the same."""
        with config_context(enable_metadata_routing=True):
            for method, requests in self.by_method.items():
                getattr(estimator, f"set_{method}_request")(**requests)
        return estimator


def save(obj: Any, path: str | Path) -> None:
    """Save an estimator, fitted or not, a record, or a scikit-learn object that holds one.

    The file is written under another name and then renamed, so that it is never half there.

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

    See Also
    --------
    load : The way back.

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
    data = _as_bytes(obj)
    with write_then_rename(path) as draft:
        draft.write_bytes(data)


def load(path: str | Path, trusted: Iterable[str | type] = ()) -> Any:
    """Load what :func:`save` wrote, if it holds trusted types only.

    Nothing in the file is run before its types have been checked. Do not add a type to
    ``trusted`` because a file asks for it: add it because you know what it does, and who wrote the
    file.

    Parameters
    ----------
    path : str or Path
        A file of :func:`save`.
    trusted : iterable of str or type, default=()
        More types to trust, such as a classifier of your own: the class, or its name with its
        module. Without them, those that skops trusts of NumPy, SciPy and scikit-learn, and the
        estimators and records of this library.

    Returns
    -------
    object
        As it was saved; it answers the same, to the last bit.

    Raises
    ------
    ImportError
        When skops is not installed: ``pip install "unseen[secure]"``.
    ValueError
        When the file was not written by :func:`save`, is damaged, or has a newer format.
    TypeError
        When the file holds a type that is not trusted; the message names it.

    Warns
    -----
    UnseenWarning
        When the file was saved by another release of this library, whose fitted estimators may
        differ.

    See Also
    --------
    save : Has an example.
    """
    skops = _skops()
    trusted = _type_names(trusted)
    data = Path(path).read_bytes()
    with _reading(path):
        header = _read_header(data)
        asked_for = set(skops.get_untrusted_types(data=data))
    _check_release(header, path)
    ours = {name for name in asked_for if name in _TRUSTED_TYPES or _is_ours(name)}
    _check_trusted(asked_for - ours - trusted, path)
    with _reading(path):
        return _mapped(skops.loads(data, trusted=sorted(ours | trusted)), _unpacked, {})


def _skops() -> Any:
    try:
        return import_module("skops.io")
    except ImportError as error:
        raise ImportError(
            'save and load need skops, which is not installed. Try: pip install "unseen[secure]"'
        ) from error


@contextmanager
def _reading(path: str | Path) -> Iterator[None]:
    """One kind of error for a file that is not what it should be, whatever it trips over."""
    try:
        yield
    except Exception as error:
        raise ValueError(
            f"path must be a file that unseen.save wrote; {path} is none, or is damaged "
            f"({type(error).__name__}: {error})."
        ) from error


def _as_bytes(obj: Any) -> bytes:
    skops = _skops()
    try:
        data = skops.dumps(_mapped(obj, _packed, {}), compression=ZIP_DEFLATED)
    except Exception as error:  # skops raises many kinds, and each says that a part has no form
        raise TypeError(
            f"obj must hold only what skops can save; got {type(obj).__name__}, and {error}"
        ) from error
    stream = BytesIO(data)
    with ZipFile(stream, "a") as archive:
        header = {"format": FORMAT, "versions": library_versions()}
        archive.writestr(_HEADER, json.dumps(header))
    return stream.getvalue()


def _read_header(data: bytes) -> dict[str, Any]:
    with ZipFile(BytesIO(data)) as archive:
        header = json.loads(archive.read(_HEADER))
    if not isinstance(header["format"], int) or not isinstance(header["versions"]["unseen"], str):
        raise TypeError("the header must have a whole number and a version")
    return dict(header)


def _check_release(header: dict[str, Any], path: str | Path) -> None:
    saved_by = header["versions"]["unseen"]
    if header["format"] > FORMAT:
        raise ValueError(
            f"path must have format {FORMAT} or older; {path} has format {header['format']} of "
            f"unseen {saved_by}, and this is unseen {__version__}. Upgrade unseen."
        )
    if _series(saved_by) != _series(__version__):
        _warn(
            f"{path} was saved by unseen {saved_by} and is loaded by unseen {__version__}: a "
            "fitted estimator may answer differently, or fail. Fit it again if it does."
        )


def _series(version: str) -> list[str]:
    """What releases that understand each other have in common: 1 of 1.4.2, but 0.4 of 0.4.2."""
    major, *rest = version.split(".")
    return [major, *rest[:1]] if major == "0" else [major]


def _type_names(trusted: Iterable[str | type]) -> set[str]:
    if isinstance(trusted, str | type | bool):
        raise TypeError(f"trusted must be a list of types or of their names; got {trusted!r}.")
    return {
        one if isinstance(one, str) else f"{one.__module__}.{one.__qualname__}" for one in trusted
    }


def _is_ours(name: str) -> bool:
    """Whether a type is an estimator or a record that is defined where its name says.

    A name is not enough: modules also hold functions, and what they import from elsewhere, and
    skops would call any of these.
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


def _check_trusted(unknown: set[str], path: str | Path) -> None:
    if not unknown:
        return
    names = ", ".join(sorted(unknown))
    listed = ", ".join(f'"{name}"' for name in sorted(unknown))
    raise TypeError(
        f"path must hold trusted types only; {path} holds {names}. Nothing was loaded. If you know "
        f"these types, and who wrote the file: unseen.load(path, trusted=[{listed}])."
    )


def _packed(value: Any) -> Any:
    """What skops can save, in place of what it cannot."""
    if type(value) is dict and not all(type(key) is str for key in value):
        return Pairs(tuple(value), tuple(value.values()))
    if type(value) is NearestNeighbors and hasattr(value, "_fit_X"):
        return NeighbourRows(clone(value), value._fit_X)
    if isinstance(value, MetadataRequest):
        return _requests(value)
    return value


def _requests(value: MetadataRequest) -> Requests:
    routes = {name: route.requests for name, route in vars(value).items() if name != "owner"}
    given = {
        method: {name: asked for name, asked in requests.items() if asked is not None}
        for method, requests in routes.items()
    }
    return Requests({method: requests for method, requests in given.items() if requests})


def _unpacked(value: Any) -> Any:
    """The way back; records are made anew, so that their arrays are read-only again."""
    if isinstance(value, Pairs):
        return dict(value.items())
    if isinstance(value, NeighbourRows):
        return value.search()
    if isinstance(value, BaseEstimator) and isinstance(vars(value).get(_ASKED), Requests):
        return vars(value).pop(_ASKED).asked_by(value)
    if is_dataclass(value) and type(value).__module__ in _FROZEN_HOMES:
        return replace(value)  # type: ignore[type-var]
    return value


def _mapped(value: Any, change: Callable[[Any], Any], seen: dict[int, tuple[Any, Any]]) -> Any:
    """The same object with every part changed, from the innermost out; the given one stays.

    ``seen`` holds each part with what became of it: what is shared stays shared, and no id is used
    twice.
    """
    if id(value) not in seen:
        parts, put_together = _taken_apart(value)
        mapped = [_mapped(part, change, seen) for part in parts]
        same = all(new is old for new, old in zip(mapped, parts, strict=True))
        seen[id(value)] = value, change(value if same else put_together(mapped))
    return seen[id(value)][1]


def _taken_apart(value: Any) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    """Parts of a container, estimator or record, and how to put such parts together again."""
    kind = type(value)
    if isinstance(value, type):
        return [], lambda parts: value
    if kind is dict:
        return list(value.values()), lambda parts: dict(zip(value, parts, strict=True))
    if kind is list:
        return value, list
    if isinstance(value, tuple):
        return list(value), getattr(kind, "_make", kind)
    if isinstance(value, BaseEstimator) or (is_dataclass(value) and hasattr(value, "__dict__")):
        return list(vars(value).values()), partial(_twin, value)
    return [], lambda parts: value


def _twin(value: Any, parts: list[Any]) -> Any:
    """An object of the same type with other values of its attributes."""
    twin = object.__new__(type(value))
    twin.__dict__.update(zip(vars(value), parts, strict=True))
    return twin
