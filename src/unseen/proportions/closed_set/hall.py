"""Matching distribution functions (Hall, 1981).

The shares minimise ``integral (F_0 - sum_i pi_i F_i)^2 dm`` over the distribution functions of a
score, with m the measure of all rows together. That is a quadratic program
(:mod:`unseen.proportions.closed_set.matching`); the criteria of several scores are summed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from unseen._types import FloatArray, IntArray
from unseen.proportions.base import (
    CLASSIFIER_CONSTRAINTS,
    PosteriorEstimator,
    Reading,
    closed_reading,
)
from unseen.proportions.closed_set.matching import matching, matching_replicates
from unseen.scores import Posteriors, RawScorer, RowScores, Scorer, Scores
from unseen.simplex import minimise_on_simplex

_DECIMALS = 2


@dataclass(eq=False, repr=False)
class HallECDF(PosteriorEstimator):
    """Shares of the known classes by matching distribution functions of a score.

    Parameters
    ----------
    raw : bool, default=False
        False matches the posteriors of a classifier, to two decimals: one score with two classes,
        one per class with more. True matches the features themselves: with one feature this is
        Hall's own method, with several it matches their marginals.
    classifier, n_folds, random_state, n_jobs
        As in :class:`~unseen.SaerensEM`. Not used where ``raw`` is True.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import HallECDF
    >>> rng = np.random.default_rng(0)
    >>> X = np.append(rng.normal(-1, 1, 500), rng.normal(1, 1, 500))[:, None]
    >>> y = ["left"] * 500 + ["right"] * 500
    >>> X_new = np.append(rng.normal(-1, 1, 800), rng.normal(1, 1, 200))[:, None]
    >>> round(HallECDF(raw=True).fit(X, y).estimate(X_new)["left"], 1)
    0.8
    """

    raw: bool = False

    reads: ClassVar[type[Scores]] = RowScores

    _parameter_constraints = CLASSIFIER_CONSTRAINTS | {"raw": ["boolean"]}

    def scorer(self, seed: int) -> Scorer:
        """The scorer that makes posteriors or, where ``raw`` is True, keeps the columns."""
        return RawScorer(seed) if self.raw else super().scorer(seed)

    def read(self, scores: RowScores) -> Reading:
        """Bring the mixture of distribution functions nearest to that of the new rows."""
        labelled, new = scores.of_labelled, scores.new
        if isinstance(scores, Posteriors):
            # Two posteriors are one score: the second column mirrors the first. And the order of
            # values all but equal to 0 or 1 tells which model made them more than anything else.
            first = 1 if len(scores.classes) == 2 else 0
            labelled, new = (np.round(rows[:, first:], _DECIMALS) for rows in (labelled, new))
        own, other = ecdf_products(labelled, scores.codes, new)
        rows = own, scores.codes, other
        return closed_reading(
            minimise_on_simplex(*matching(*rows)), partial(matching_replicates, *rows)
        )


def ecdf_products(
    labelled: FloatArray, codes: IntArray, new: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Inner products ``integral_{t >= x} F(t) dm(t)`` of each row with each sample.

    For each labelled row (n, S) and new row (m, S) the products with each class and, last, with the
    new rows, (n, K + 1) and (m, K + 1), summed over the S scores.
    """
    n_rows, n_classes = len(labelled), int(codes.max()) + 1
    samples = np.append(codes, np.full(len(new), n_classes))
    sizes = np.bincount(samples)
    products = np.zeros((len(samples), n_classes + 1))
    for column in np.concatenate([labelled, new]).T:
        _, place, ties = np.unique(column, return_inverse=True, return_counts=True)
        counts = np.zeros((len(ties), n_classes + 1))
        np.add.at(counts, (place, samples), 1)
        functions = np.cumsum(counts, axis=0) / sizes
        mass = ties[:, None] / len(samples)
        beyond = np.cumsum((functions * mass)[::-1], axis=0)[::-1]
        products += beyond[place]
    return products[:n_rows], products[n_rows:]
