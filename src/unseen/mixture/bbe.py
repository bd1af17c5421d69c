"""Best bin: the least ratio F(C) / H(C) over sets C of low scores, with a confidence penalty.

ν* is the infimum of F(C) / H(C) over all sets C, and the sets ``C = {score <= c}`` look most like
H. Both shares are noisy if C is small, so the threshold minimises an upper confidence limit of the
ratio, and the ratio at this threshold is the estimate [1]_.

References
----------
.. [1] S. Garg, Y. Wu, A. Smola, S. Balakrishnan, Z. Lipton, "Mixture proportion estimation
   and PU learning: a modern approach", NeurIPS 2021.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from unseen._sklearn import Interval
from unseen._types import IntArray
from unseen.mixture.base import MixtureEstimator, clipped_estimate
from unseen.records import MixtureEstimate
from unseen.roc.sketch import RocSketch


def best_bin(labelled: IntArray, new: IntArray, delta: float, gamma: float) -> tuple[float, float]:
    """F(C) / H(C) and H(C) where the upper limit of the ratio is least, Eq. (4) of [1]_.

    The counts of H and of F are by rising score.
    """
    n_labelled, n_new = labelled.sum(), new.sum()
    share_H = np.cumsum(labelled) / n_labelled
    share_F = np.cumsum(new) / n_new
    candidates = np.flatnonzero(labelled)  # in between F(C) grows and H(C) stands still
    share_H, share_F = share_H[candidates], share_F[candidates]
    # Dvoretzky-Kiefer-Wolfowitz limits of both samples, added.
    deviation = np.sqrt(np.log(4 / delta) / 2) * (n_new**-0.5 + n_labelled**-0.5)
    upper = share_F / share_H + (1 + gamma) / share_H * deviation
    best = int(np.argmin(upper))
    return float(share_F[best] / share_H[best]), float(share_H[best])


@dataclass(eq=False, repr=False)
class BestBin(MixtureEstimator):
    """Estimate ν by the best bin of low scores (BBE).

    Parameters
    ----------
    delta : float, default=0.1
        Probability of error behind the penalty on small bins.
    gamma : float, default=0.01
        The penalty is multiplied by ``1 + gamma``.
    classifier, n_folds, random_state
        The classifier that tells F from H, its folds and its seed; see
        :class:`~unseen.mixture.base.MixtureEstimator`.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.mixture import BestBin
    >>> rng = np.random.default_rng(0)
    >>> H = rng.normal(0, 1, 2000)
    >>> F = np.r_[rng.normal(0, 1, 600), rng.normal(4, 1, 1400)]
    >>> print(BestBin().from_scores(F, H))
    0.295 of the new rows look like the labelled sample (BestBin)
    """

    delta: float = 0.1
    gamma: float = 0.01
    classifier: Any = None
    n_folds: int = 10
    random_state: Any = None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MixtureEstimator._parameter_constraints,
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "gamma": [Interval(Real, 0, None, closed="left")],
    }

    def from_sketch(self, sketch: RocSketch) -> MixtureEstimate:
        """Estimate from the counts behind a ROC; needs no ``fit``."""
        self._validate_params()
        labelled, new = sketch.increments()
        ratio, share = best_bin(labelled[::-1], new[::-1], self.delta, self.gamma)
        return clipped_estimate("BestBin", sketch, ratio, {"labelled_share": share})
