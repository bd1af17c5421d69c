"""The record that :func:`load_dataset` returns, and the bare rows that it is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unseen._frozen import Frozen

__all__ = ["Dataset", "Label", "Rows"]

Label: TypeAlias = int | str


class Rows(NamedTuple):
    """Rows, labels and names of the features, as they come from a file."""

    X: NDArray[Any]
    y: NDArray[Any]
    feature_names: tuple[str, ...]


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
