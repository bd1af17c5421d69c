"""Log density ratios of two samples, one column for every candidate discriminator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unseen._frozen import Frozen
from unseen._types import FloatArray
from unseen.scores.distances import Distances

__all__ = ["RatioScores"]


@dataclass(frozen=True, eq=False)
class RatioScores(Frozen):
    """Out-of-fold scores of F against H, one column for every candidate discriminator.

    Parameters
    ----------
    new, labelled : ndarray of shape (n_F, C) and (n_H, C)
        Log density ratios of F against H, up to a constant; high where a row looks like F.
    log_loss : ndarray of shape (C,)
        Held-out log-loss of each candidate, per unit of weight.
    distances : Distances or None, default=None
        How far the rows stand from those of H; None where the classifier is the user's own, who
        may know better than to compare rows by distance.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.scores.ratios import RatioScores
    >>> RatioScores(np.zeros((5, 2)), np.zeros((3, 2)), np.array([0.6, 0.5])).best
    1
    """

    new: FloatArray
    labelled: FloatArray
    log_loss: FloatArray
    distances: Distances | None = None

    @property
    def best(self) -> int:
        """The candidate of the least log-loss."""
        return int(np.argmin(self.log_loss))
