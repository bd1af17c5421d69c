"""A draw of very many rows: some ten thousand are enough for one estimate (docs/big_data.md)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen._types import IntArray
from unseen.samples.labelled import on_host

__all__ = ["MAX_ROWS", "draw_by_class", "draw_rows", "flat_labels", "label_codes"]

MAX_ROWS = 20_000


def draw_rows(n_rows: int, max_rows: int, rng: np.random.Generator) -> IntArray:
    """Places of at most so many rows, in order.

    Examples
    --------
    >>> import numpy as np
    >>> len(draw_rows(1000, 50, np.random.default_rng(0)))
    50
    """
    return np.sort(rng.choice(n_rows, min(n_rows, max_rows), replace=False))


def flat_labels(y: Any) -> NDArray[Any]:
    """Labels as one array, from wherever they are.

    Examples
    --------
    >>> flat_labels(["a", "b"])
    array(['a', 'b'], dtype='<U1')
    """
    return np.ravel(on_host(y, "y"))


def label_codes(labels: NDArray[Any]) -> IntArray:
    """Class of each row, where labels count as text and classes are in the order of it.

    Examples
    --------
    >>> import numpy as np
    >>> label_codes(np.array([10, 9, 10]))
    array([0, 1, 0])
    """
    if labels.dtype.kind == "O":
        return np.unique(labels.astype(str), return_inverse=True)[1]
    distinct, place = np.unique(labels, return_inverse=True)
    return np.unique(distinct.astype(str), return_inverse=True)[1][place]


def draw_by_class(codes: IntArray, max_rows: int, rng: np.random.Generator) -> IntArray:
    """Places of at most so many labelled rows: small classes whole, equally many of the others.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.repeat([0, 1, 2], [10, 500, 900])
    >>> np.bincount(codes[draw_by_class(codes, 210, np.random.default_rng(0))])
    array([ 10, 100, 100])
    """
    counts = np.sort(np.bincount(codes))
    # Up to each count: what the smaller classes hold, and as many of each of the others.
    taken = np.cumsum(counts) + counts * np.arange(len(counts) - 1, -1, -1)
    whole = int(np.searchsorted(taken, max_rows, side="right"))
    most = len(codes)
    if whole < len(counts):
        most = (max_rows - int(counts[:whole].sum())) // (len(counts) - whole)
    order = rng.permutation(len(codes))
    parts = [order[codes[order] == code][:most] for code in range(int(codes.max()) + 1)]
    return np.sort(np.concatenate(parts))
