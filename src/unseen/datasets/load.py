"""Find a data set by name: the user's directory, the package, a generator, the web."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unseen.datasets.catalogue import CATALOGUE, check_facts
from unseen.datasets.generators import make_ringnorm, make_twonorm, make_waveform
from unseen.datasets.npz import bundled_names, data_directory, read_bundled, read_npz
from unseen.datasets.record import Dataset, Rows
from unseen.datasets.remote import obtain

__all__ = ["available_datasets", "dataset_names", "load_dataset"]

_SEED = 1996
# Rows of the UCI sample's three classes.
_WAVEFORM_SIZES = (1657, 1647, 1696)
_REGION_PIXEL_COUNT = 2


def load_dataset(name: str) -> Dataset:
    """One of the data sets of the paper's experiments.

    It is looked for as ``NAME.npz`` in the data directory (the environment variable
    ``UNSEEN_DATA``, or else a cache directory of the user), then in the package, then among
    the generators; else it is downloaded into the data directory.

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
        When it must be downloaded and cannot be.

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
    facts = CATALOGUE[name]
    rows = _found(name)
    return Dataset(
        name=name,
        X=np.ascontiguousarray(rows.X, dtype=np.float64),
        y=rows.y,
        feature_names=rows.feature_names,
        unobserved=facts.unobserved,
        title=facts.title,
        source=facts.source,
        licence=facts.licence,
    )


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
    at_hand = bundled_names() | set(_MADE)
    return tuple(
        name for name in CATALOGUE if name in at_hand or (directory / f"{name}.npz").exists()
    )


def _found(name: str) -> Rows:
    file = data_directory() / f"{name}.npz"
    if file.exists():
        rows = read_npz(file)
        check_facts(name, rows, str(file))
        return rows
    if name in _MADE:
        return _MADE[name]()
    if name in bundled_names():
        return read_bundled(name)
    return obtain(name, file.parent)


def _image() -> Rows:
    """Image is segment in two groups, without the column that is constant."""
    segment = read_bundled("segment")
    kept = [i for i in range(segment.X.shape[1]) if i != _REGION_PIXEL_COUNT]
    group = np.isin(segment.y, ["brickface", "sky", "foliage", "path"])
    names = tuple(segment.feature_names[i] for i in kept)
    return Rows(segment.X[:, kept], np.where(group, 1, -1), names)


def _twonorm() -> Rows:
    return _numbered(*make_twonorm(CATALOGUE["twonorm"].counts, random_state=_SEED))


def _ringnorm() -> Rows:
    return _numbered(*make_ringnorm(CATALOGUE["ringnorm"].counts, random_state=_SEED))


def _waveform() -> Rows:
    X, y = make_waveform(_WAVEFORM_SIZES, random_state=_SEED)
    return _numbered(X, np.where(y == 1, 1, -1))


def _numbered(X: np.ndarray, y: np.ndarray) -> Rows:
    return Rows(X, y, tuple(f"x{number}" for number in range(1, X.shape[1] + 1)))


_MADE: dict[str, Callable[[], Rows]] = {
    "image": _image,
    "ringnorm": _ringnorm,
    "twonorm": _twonorm,
    "waveform": _waveform,
}
