"""Find a data set by name: the user's directory, the package, a generator, the web."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import compress
from typing import Any

import numpy as np

from unseen.datasets.catalogue import CATALOGUE, check_facts
from unseen.datasets.download import obtain
from unseen.datasets.generators import make_ringnorm, make_twonorm, make_waveform
from unseen.datasets.npz import BUNDLED, data_directory, read_bundled, read_npz
from unseen.datasets.record import Dataset, Rows

__all__ = ["available_datasets", "dataset_names", "load_dataset"]

_SEED = 1996
# Rows of the UCI sample's three classes.
_WAVEFORM_SIZES = (1657, 1647, 1696)


def load_dataset(name: str) -> Dataset:
    """Load one of the data sets of the paper's experiments.

    The set is looked for as ``NAME.npz`` in the data directory (the environment variable
    ``UNSEEN_DATA``, or else a cache directory of the user), then in the package, then among
    the generators; else its publisher's file is downloaded into the data directory.

    Parameters
    ----------
    name : str
        One of :func:`dataset_names`.

    Returns
    -------
    Dataset
        Rows, labels, and the label that the paper leaves unobserved.

    Raises
    ------
    ValueError
        When there is no such set, or a file does not hold what it should.
    ConnectionError
        When the set must be downloaded and cannot be.

    Examples
    --------
    >>> from unseen.datasets import load_dataset
    >>> dna = load_dataset("dna")
    >>> dna
    Dataset('dna': 2000 rows, 180 features; ei: 464, ie: 485, n: 1051)
    >>> dna.unobserved
    'n'
    """
    if name not in CATALOGUE:
        raise ValueError(f"name must be one of {', '.join(CATALOGUE)}; got {name!r}.")
    facts, rows = CATALOGUE[name], _found(name)
    X = np.ascontiguousarray(rows.X, dtype=np.float64)
    about = (facts.unobserved, facts.title, facts.source, facts.licence)
    return Dataset(name, X, rows.y, rows.feature_names, *about)


def dataset_names() -> tuple[str, ...]:
    """Names of all data sets: the 13 binary ones, then the 5 with more classes.

    Examples
    --------
    >>> from unseen.datasets import dataset_names
    >>> len(dataset_names()), dataset_names()[0], dataset_names()[-1]
    (18, 'australian', 'segment')
    """
    return tuple(CATALOGUE)


def available_datasets() -> tuple[str, ...]:
    """Names of the data sets that need no download, in the order of :func:`dataset_names`.

    Examples
    --------
    >>> from unseen.datasets import available_datasets
    >>> "twonorm" in available_datasets()
    True
    """
    directory = data_directory()
    return tuple(
        name
        for name in CATALOGUE
        if name in BUNDLED or name in _MADE or (directory / f"{name}.npz").exists()
    )


def _found(name: str) -> Rows:
    file = data_directory() / f"{name}.npz"
    if file.exists():
        rows = read_npz(file)
        check_facts(name, rows, str(file))
        return rows
    if name in _MADE:
        return _MADE[name]()
    if name in BUNDLED:
        return read_bundled(name)
    return obtain(name, file.parent)


def _image() -> Rows:
    """Image is segment in two groups, without the column that is constant."""
    segment = read_bundled("segment")
    kept = [name != "region-pixel-count" for name in segment.feature_names]
    group = np.isin(segment.y, ["brickface", "sky", "foliage", "path"])
    names = tuple(compress(segment.feature_names, kept))
    return Rows(segment.X[:, kept], np.where(group, 1, -1), names)


def _norm(name: str, make: Callable[..., Any]) -> Rows:
    return _numbered(*make(CATALOGUE[name].counts, random_state=_SEED))


def _waveform() -> Rows:
    X, y = make_waveform(_WAVEFORM_SIZES, random_state=_SEED)
    return _numbered(X, np.where(y == 1, 1, -1))


def _numbered(X: np.ndarray, y: np.ndarray) -> Rows:
    return Rows(X, y, tuple(f"x{number}" for number in range(1, X.shape[1] + 1)))


_MADE: dict[str, Callable[[], Rows]] = {
    "image": _image,
    "ringnorm": partial(_norm, "ringnorm", make_ringnorm),
    "twonorm": partial(_norm, "twonorm", make_twonorm),
    "waveform": _waveform,
}
