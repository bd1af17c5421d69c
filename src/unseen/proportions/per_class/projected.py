"""MPE-Projected: the slopes of MPE-Incomplete, moved to the nearest shares that sum to one.

Where every class is known, the estimates of Eq. (4) should sum to one, and miss it by estimation
error only. Projecting them on the probability simplex takes that error out. It also takes out
the unseen share: this is a closed-set method.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from unseen import simplex
from unseen._types import FloatArray
from unseen.proportions.base import Reading, append_zero_unseen
from unseen.proportions.per_class.incomplete import MPEIncomplete
from unseen.scores import PairScores


class MPEProjected(MPEIncomplete):
    """Shares by one ROC slope each, Eq. (4), projected on the simplex: nothing is unseen.

    Parameters
    ----------
    method, classifier, n_folds, n_repeats, random_state, n_jobs
        As in :class:`~unseen.MPEIncomplete`.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import MPEProjected
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-2, 1, (300, 2)), rng.normal(2, 1, (300, 2))])
    >>> y = ["left"] * 300 + ["right"] * 300
    >>> X_new = np.vstack([rng.normal(-2, 1, (350, 2)), rng.normal(2, 1, (150, 2))])
    >>> estimate = MPEProjected(random_state=0).fit(X, y).estimate(X_new)
    >>> print(f"left {estimate['left']:.1f}, right {estimate['right']:.1f}")
    left 0.7, right 0.3
    """

    sees_unseen = False
    n_classes = (2, None)

    def read(self, scores: PairScores) -> Reading:
        """The shares of MPE-Incomplete, projected on the simplex."""
        reading = super().read(scores)

        def replicates(n_replicates: int, random_state: Any) -> FloatArray:
            # A projection on the open set, then on the simplex, is one on the simplex.
            open_shares = reading.replicates(n_replicates, random_state)[:, :-1]
            return append_zero_unseen(simplex.project(open_shares))

        shares = append_zero_unseen(simplex.project(reading.shares[:-1]))
        return replace(reading, shares=shares, replicates=replicates)
