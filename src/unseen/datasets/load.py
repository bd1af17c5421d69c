"""Find a data set by name: the user's directory, the package, a generator, the web."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen._frozen import Frozen
from unseen.datasets.catalogue import (
    BUNDLED,
    CATALOGUE,
    Label,
    Rows,
    check_facts,
    data_directory,
    read_bundled,
    read_npz,
)
from unseen.datasets.download import obtain
from unseen.datasets.generators import make_ringnorm, make_twonorm, make_waveform

_MAKERS = {"ringnorm": make_ringnorm, "twonorm": make_twonorm, "waveform": make_waveform}
# Rows of the UCI sample's three classes.
_WAVEFORM_SIZES = {"waveform": (1657, 1647, 1696)}


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Frozen):
    """A labelled data set of the paper's experiments.

    Parameters
    ----------
    name : str
        The name that :func:`load_dataset` takes.
    X : ndarray of shape (n_rows, n_features)
        Values as published (categories as numbers), float64, read-only, not scaled.
    y : ndarray of shape (n_rows,)
        Labels: -1 and +1 where the paper has two classes, else those of the source.
    feature_names : tuple of str
        One name per column of X.
    unobserved : int or str
        Label of class M, which training lacks in the paper's second setting.
    title, source, licence : str
        Description, maker, and terms of use.

    Examples
    --------
    >>> from unseen.datasets import load_dataset
    >>> load_dataset("thyroid")
    Dataset('thyroid': 215 rows, 5 features; -1: 150, 1: 65)
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    unobserved: Label
    title: str
    source: str
    licence: str

    def __repr__(self) -> str:
        n_rows, n_features = self.X.shape
        classes = ", ".join(f"{label}: {count}" for label, count in self.class_counts.items())
        return f"Dataset({self.name!r}: {n_rows} rows, {n_features} features; {classes})"

    @property
    def class_counts(self) -> dict[Label, int]:
        """Rows of each class, in the order of the sorted labels."""
        labels, counts = np.unique(self.y, return_counts=True)
        return dict(zip(labels.tolist(), counts.tolist(), strict=True))


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
    facts, file = CATALOGUE[name], data_directory() / f"{name}.npz"
    if file.exists():
        rows = read_npz(file)
        check_facts(name, rows, str(file))
    elif name == "image":  # segment in two groups, without the column that is constant
        segment = read_bundled("segment")
        names = [name for name in segment.feature_names if name != "region-pixel-count"]
        group = np.isin(segment.y, ["brickface", "sky", "foliage", "path"])
        kept = np.isin(segment.feature_names, names)
        rows = Rows(segment.X[:, kept], np.where(group, 1, -1), tuple(names))
    elif name in _MAKERS:  # waveform is its class 1 against the two others
        X, y = _MAKERS[name](_WAVEFORM_SIZES.get(name, facts.counts), random_state=1996)
        names = [f"x{number}" for number in range(1, X.shape[1] + 1)]
        rows = Rows(X, np.where(y == 1, 1, -1), tuple(names))
    else:
        rows = read_bundled(name) if name in BUNDLED else obtain(name, file.parent)
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
    at_hand = {"image", *_MAKERS, *BUNDLED}
    return tuple(
        name for name in CATALOGUE if name in at_hand or (directory / f"{name}.npz").exists()
    )
