"""The K + 1 labels of a rule: the known labels in sorted order, then the unseen label."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen._types import IntArray

__all__ = ["codes_of", "with_unseen"]


def with_unseen(classes: NDArray[Any], unseen_label: Any = "auto") -> NDArray[Any]:
    """The known labels, then the label of unseen classes.

    Examples
    --------
    >>> import numpy as np
    >>> with_unseen(np.array([3, 7]))
    array([ 3,  7, -1])
    >>> with_unseen(np.array(["cat", "unseen"]))
    Traceback (most recent call last):
        ...
    ValueError: unseen_label must differ from every known label; got 'unseen'.
    """
    numbers = classes.dtype.kind in "biuf"
    if isinstance(unseen_label, str) and unseen_label == "auto":
        unseen_label = -1 if numbers else "unseen"
    if numbers == isinstance(unseen_label, str):
        rule = "a number" if numbers else "text"
        raise TypeError(f"unseen_label must be {rule}, as the labels are; got {unseen_label!r}.")
    if unseen_label in classes.tolist():
        raise ValueError(f"unseen_label must differ from every known label; got {unseen_label!r}.")
    if classes.dtype.kind == "u":
        classes = classes.astype(np.int64)
    # NumPy widens text to the longer of the two labels, but would turn objects into text.
    kind = object if classes.dtype.kind == "O" else None
    return np.concatenate([classes, np.array([unseen_label], dtype=kind)])


def codes_of(labels: Any, everything: NDArray[Any]) -> IntArray:
    """Code of each label: its place among the K + 1 labels.

    Examples
    --------
    >>> import numpy as np
    >>> codes_of(["dog", "unseen"], np.array(["cat", "dog", "unseen"]))
    array([1, 2])
    """
    places = {label: place for place, label in enumerate(everything.tolist())}
    values = np.asarray(labels).ravel().tolist()
    strange = next((label for label in values if label not in places), None)
    if strange is not None:
        raise ValueError(
            f"classifier must predict labels of y or unseen_label={everything.tolist()[-1]!r}; "
            f"got {strange!r}."
        )
    return np.array([places[label] for label in values], dtype=np.intp)
