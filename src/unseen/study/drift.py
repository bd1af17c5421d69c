"""Columns that changed as a whole: what looks like an unseen class may be a drifted column.

Nothing in the shares can tell a new class from a known one whose measurements moved. But where
one column alone sets the new rows apart, a person who is told its name often can.
"""

from __future__ import annotations

import numpy as np

from unseen._types import FloatArray
from unseen.study.samples import NewRows, Training

__all__ = ["column_drift"]

# More rows than this outside of what training has seen are rarely all of a new class.
_MANY_OUTSIDE = 0.5
_LARGE_CHANGE = 0.1
_MISSING = "=missing"


def column_drift(training: Training, new: NewRows) -> tuple[str, ...]:
    """Sentences about columns in which most new rows lie out of range, or gaps became common.

    Parameters
    ----------
    training, new : Training, NewRows
        The rows.

    Returns
    -------
    tuple of str
    """
    names = training.columns.get_feature_names_out().tolist()
    outside = share_outside(training.X, new.X)
    gaps, gaps_new = ((rows > 0).mean(axis=0) for rows in (training.X, new.X))
    found = []
    for place, name in enumerate(names):
        if name.endswith(_MISSING):
            if abs(gaps_new[place] - gaps[place]) > _LARGE_CHANGE:
                found.append(
                    f"Column {name.removesuffix(_MISSING)!r} is missing in {gaps_new[place]:.0%} "
                    f"of the new rows and in {gaps[place]:.0%} of the labelled ones."
                )
        elif outside[place] > _MANY_OUTSIDE:
            found.append(
                f"Column {name!r} lies outside its range in TRAIN in {outside[place]:.0%} of the "
                "new rows."
            )
    return tuple(found)


def share_outside(X: FloatArray, X_new: FloatArray) -> FloatArray:
    """Share of new rows below the least or above the largest labelled value, by column.

    Examples
    --------
    >>> import numpy as np
    >>> share_outside(np.array([[0.0], [1.0]]), np.array([[0.5], [2.0], [-1.0], [3.0]]))
    array([0.75])
    """
    return np.asarray(((X_new < X.min(axis=0)) | (X_new > X.max(axis=0))).mean(axis=0))
