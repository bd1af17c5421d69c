"""Scores behind the default estimator: posteriors of the known classes, and density ratios.

The ratios are of the new rows against the labelled rows weighted to some shares of the classes.
Against other shares they need no new discriminator: what changes is known from the posteriors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unseen._types import FloatArray, IntArray, Matrix
from unseen.proportions.closed_set.posteriors import Posteriors
from unseen.records import Notice
from unseen.scores.klr import KernelLogisticRegression
from unseen.scores.ratio import RatioScores, ratio_scores
from unseen.simplex import mixture_shares

__all__ = ["OpenSetScores", "closed_shares", "moved_ratios", "open_set_scores"]

# A class that EM finds absent keeps so large a part of its weight: it may be needed later.
_LEAST_PART = 0.01
_LEAST_RATIO = 1e-12


@dataclass(frozen=True, eq=False)
class OpenSetScores:
    """Out-of-fold scores behind the default estimator.

    Parameters
    ----------
    classes : tuple
        Labels of the known classes.
    codes : ndarray of shape (n,)
        Class of each labelled row, as its place among ``classes``.
    posteriors : Posteriors or None
        Posteriors of the known classes; None where there is only one.
    ratios : RatioScores
        Log density ratios of the new rows against the labelled ones.
    mixture : ndarray of shape (K,)
        Shares that the labelled rows were weighted to have when the ratios were made.
    seed : int or None
        Seed that made them.
    notices : tuple of Notice
        What a person should know about the rows.
    """

    classes: tuple[Any, ...]
    codes: IntArray
    posteriors: Posteriors | None
    ratios: RatioScores
    mixture: FloatArray
    seed: int | None = None
    notices: tuple[Notice, ...] = ()

    def __post_init__(self) -> None:
        if (self.posteriors is None) != (len(self.classes) == 1):
            raise ValueError(
                "posteriors must be there for several classes, and None for one; "
                f"got {self.posteriors!r} for {len(self.classes)}."
            )
        if len(self.codes) != len(self.ratios.labelled):
            raise ValueError(
                "codes must hold one class per labelled row; "
                f"got {len(self.codes)} for {len(self.ratios.labelled)} rows."
            )

    @property
    def n_new(self) -> int:
        """New rows."""
        return len(self.ratios.new)

    @property
    def counts(self) -> IntArray:
        """Labelled rows of each class."""
        return np.bincount(self.codes, minlength=len(self.classes))

    @property
    def n_labelled(self) -> dict[Any, int]:
        """Labelled rows of each class, by label."""
        return dict(zip(self.classes, self.counts.tolist(), strict=True))


def open_set_scores(
    classes: tuple[Any, ...],
    X: Matrix,
    codes: IntArray,
    X_new: Matrix,
    posteriors: Posteriors | None,
    classifier: Any = None,
    *,
    n_folds: int = 10,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> OpenSetScores:
    """Density ratios of new rows, beside posteriors that have been made before.

    Parameters
    ----------
    classes : tuple
        Labels of the known classes.
    X, codes : array-like of shape (n, d), ndarray of shape (n,)
        Labelled rows and their classes, 0 to K - 1.
    X_new : array-like of shape (m, d)
        New rows.
    posteriors : Posteriors or None
        Of the known classes; None for a single one.
    classifier, n_folds, random_state, n_jobs
        As in :class:`OpenSetEstimator`.

    Returns
    -------
    OpenSetScores
    """
    mixture, weight = _mixture(posteriors, codes, classifier)
    ratios = ratio_scores(
        X_new,
        X,
        weight,
        classifier,
        codes=codes,
        n_folds=n_folds,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    return OpenSetScores(classes, codes, posteriors, ratios, mixture, random_state)


def _mixture(
    posteriors: Posteriors | None, codes: IntArray, classifier: Any
) -> tuple[FloatArray, FloatArray | None]:
    """Shares to which the labelled rows are weighted, and their weights."""
    if posteriors is None:
        return np.ones(1), None
    present = posteriors.training_shares
    if not isinstance(classifier, KernelLogisticRegression | None):
        return present, None
    mixture = (1 - _LEAST_PART) * closed_shares(posteriors) + _LEAST_PART * present
    return mixture, (mixture / present)[codes]


def closed_shares(posteriors: Posteriors) -> FloatArray:
    """Shares of the known classes by EM, if nothing is unseen."""
    return mixture_shares(posteriors.ratios, start=posteriors.prior)


def moved_ratios(scores: OpenSetScores, among: FloatArray) -> RatioScores:
    """Log density ratios against the known classes mixed in other shares.

    Parameters
    ----------
    scores : OpenSetScores
    among : ndarray of shape (K,)
        The other shares.

    Returns
    -------
    RatioScores
    """
    posteriors, ratios = scores.posteriors, scores.ratios
    if posteriors is None:
        return ratios
    prior = posteriors.prior
    assert prior is not None

    # What is moved comes from another model for labelled rows than for new ones. A candidate that
    # says nothing must stay so, or this difference alone would order its rows.
    speaks = ratios.labelled.any(axis=0) | ratios.new.any(axis=0)

    def moved(values: FloatArray, rows: FloatArray) -> FloatArray:
        densities = rows / prior
        before, after = (
            np.log(np.maximum(densities @ shares, _LEAST_RATIO))
            for shares in (scores.mixture, among)
        )
        return values + np.outer(before - after, speaks)

    return replace(
        ratios,
        new=moved(ratios.new, posteriors.new),
        labelled=moved(ratios.labelled, posteriors.labelled),
    )
