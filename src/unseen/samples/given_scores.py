"""Scores of a classifier as features: those of labelled and of new rows, checked together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unseen._types import FloatArray
from unseen._wording import quoted
from unseen.samples.checks import check_rows, column_names
from unseen.simplex import check_one_kind, part_of_probabilities, score_features


def scores_as_features(
    scores: ArrayLike,
    scores_new: ArrayLike,
    novelty: ArrayLike | None = None,
    novelty_new: ArrayLike | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Features of labelled and of new rows; novelty is scaled to the spread of the scores."""
    rows, rows_new = check_rows(scores, "scores"), check_rows(scores_new, "scores_new")
    if rows.shape[1] != rows_new.shape[1] or rows.shape[1] < 2:
        raise ValueError(
            "scores and scores_new must have as many columns, at least two; "
            f"got {rows.shape[1]} and {rows_new.shape[1]}."
        )
    names, new_names = column_names(scores), column_names(scores_new)
    if names and new_names and names != new_names:
        raise ValueError(
            "scores_new must have the columns of scores in the same order; "
            f"got {quoted(new_names)} where scores has {quoted(names)}."
        )
    if (novelty is None) != (novelty_new is None):
        raise ValueError("novelty and novelty_new must be given both, or neither.")
    part, part_new = part_of_probabilities(rows), part_of_probabilities(rows_new)
    check_one_kind(part, part_new, "scores", "scores_new")
    # A few odd rows among the new ones must not be read otherwise than the labelled rows are.
    X, X_new = (score_features(one, are_probabilities=part == 1) for one in (rows, rows_new))
    if novelty is None:
        return X, X_new
    own = _one_each(novelty, "novelty", len(X))
    new = _one_each(novelty_new, "novelty_new", len(X_new))
    unit = np.sqrt(X.var(axis=0).mean()) / (own.std() or 1.0)
    return np.column_stack([X, own * unit]), np.column_stack([X_new, new * unit])


def _one_each(values: Any, name: str, n_rows: int) -> FloatArray:
    found = np.asarray(values, dtype=np.float64)
    if found.shape != (n_rows,):
        raise ValueError(f"{name} must be one number for each of {n_rows} rows; got {found.shape}.")
    if not np.isfinite(found).all():
        raise ValueError(f"{name} must be finite; {np.sum(~np.isfinite(found))} values are not.")
    return found
