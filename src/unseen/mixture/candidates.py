"""Scores that order the rows of two samples, and how far each is trusted before the fact.

Which score tells F from H is not known, so that there are several candidates. Half of the prior
weight is with discriminators. Each of these (bandwidth and C) has a held-out log-loss, and within
their half the weight of candidate c is ``q_c ~ exp(-n (loss_c - least loss) / 10)``. The other half
is with distances to the nearest rows of H, which are no density ratios, but find few unseen rows
where no discriminator can be learnt from them; evenly, as they have no loss. What a user's own
classifier says has all the weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from unseen._types import BoolArray, FloatArray, IntArray
from unseen.roc.pooled import N_CELLS, PooledCells, spread_cells
from unseen.scores.ratios import RatioScores

__all__ = ["Candidates", "row_cells"]

_DISTANCE_WEIGHT = 0.5
_LOSS_WEIGHT = 0.1
_NEGLIGIBLE = 1e-6
_MOST_MASS = 2.0


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidate scores, high where a row looks like F, and their prior weights.

    Parameters
    ----------
    new, labelled : ndarray of shape (n_F, C) and (n_H, C)
        Scores of the rows, one column for every candidate.
    log_prior : ndarray of shape (C,)
        Log prior weights; -inf for candidates that cannot matter.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.mixture.candidates import Candidates
    >>> from unseen.scores.ratios import RatioScores
    >>> scores = RatioScores(np.zeros((50, 3)), np.zeros((50, 3)), np.array([0.5, 0.5, 9.0]))
    >>> np.exp(Candidates.from_ratios(scores).log_prior)
    array([0.5, 0.5, 0. ])
    """

    new: FloatArray
    labelled: FloatArray
    log_prior: FloatArray

    @classmethod
    def from_ratios(cls, scores: RatioScores) -> Candidates:
        """The discriminators, and the distances where there are any."""
        n_rows = len(scores.new) + len(scores.labelled)
        log_prior = -_LOSS_WEIGHT * n_rows * (scores.log_loss - scores.log_loss.min())
        log_prior[log_prior < np.log(_NEGLIGIBLE)] = -np.inf
        log_prior -= logsumexp(log_prior)
        far = scores.distances
        if far is None:
            return cls(scores.new, scores.labelled, log_prior)
        n_far = far.labelled.shape[1]
        return cls(
            np.hstack([scores.new, far.new]),
            np.hstack([scores.labelled, far.labelled]),
            np.append(
                log_prior + np.log1p(-_DISTANCE_WEIGHT),
                np.full(n_far, np.log(_DISTANCE_WEIGHT / n_far)),
            ),
        )

    def cells(self, weight: FloatArray | None = None) -> PooledCells:
        """Cells of every candidate; those that cannot matter are left empty.

        Parameters
        ----------
        weight : ndarray of shape (n_H,), optional
            Weights of the rows of H; their mass is the effective number of rows
            ``(sum w)^2 / sum w^2``, or less, so that none counts as more than two.

        Returns
        -------
        PooledCells
        """
        weights = np.ones(len(self.labelled)) if weight is None else weight
        # The effective number is right for means over all rows; where the few rows of one class
        # have most of the weight, it would take each of them for many.
        scale = min(weights.sum() / np.square(weights).sum(), _MOST_MASS / weights.max())
        mass = weights * scale
        used = np.isfinite(self.log_prior)
        parts = [
            row_cells(self.new[:, column], self.labelled[:, column], mass)
            for column in np.flatnonzero(used)
        ]
        return PooledCells(*(_filled(used, [part[item] for part in parts]) for item in range(3)))


def _filled(used: BoolArray, parts: list[Any]) -> Any:
    rows = np.zeros((len(used), len(parts[0])), dtype=parts[0].dtype)
    rows[used] = parts
    return rows


def row_cells(
    scores_F: FloatArray, scores_H: FloatArray, mass: FloatArray
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Cells of F and H, and the cell of each row of F, by falling score."""
    steps, step = np.unique(-np.concatenate([scores_F, scores_H]), return_inverse=True)
    new = np.bincount(step[: len(scores_F)], minlength=len(steps)).astype(float)
    labelled = np.bincount(step[len(scores_F) :], mass, minlength=len(steps)).astype(float)
    pooled = new + labelled
    middle = (np.cumsum(pooled) - pooled / 2) / pooled.sum()
    place = np.minimum((middle * N_CELLS).astype(np.intp), N_CELLS - 1)
    return *spread_cells(new, labelled), place[step[: len(scores_F)]]
