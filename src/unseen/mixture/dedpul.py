"""Density ratio: estimate h / f along the score, then the prior that EM would settle on.

The idea is that of DEDPUL [1]_; the smoothing (normal scores of pooled ranks, one bandwidth for
both samples, isotonic regression) and the stopping rule are ours. docs/theory.md, "Other estimators
of ν", has the steps.

References
----------
.. [1] D. Ivanov, "DEDPUL: difference-of-estimated-densities-based positive-unlabeled
   learning", ICMLA 2020.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.special import ndtri
from sklearn.isotonic import isotonic_regression
from sklearn.metrics import auc

from unseen._sklearn import Interval
from unseen._types import FloatArray
from unseen.mixture.base import MixtureEstimator, clipped_estimate
from unseen.records import MixtureEstimate
from unseen.roc.sketch import RocSketch

_CELLS_PER_BANDWIDTH = 16
_REACH = 8  # bandwidths after which a Gaussian is zero
_LEAST_COVER = 0.5


def normal_scores(sketch: RocSketch) -> tuple[FloatArray, FloatArray]:
    """Normal scores of the pooled ranks of F and of H, both rising; ties share a score."""
    # Counts have 64 bits everywhere, and repeats as many as a place: 32 in a browser.
    labelled, new = (counts[::-1].astype(np.intp) for counts in sketch.increments())
    # A gap of k rows of F is k atoms of one row; an edge is one atom, whoever is tied there.
    is_edge = np.arange(labelled.size) % 2 == 1
    atoms = np.where(is_edge, 1, new)
    atom_F = np.repeat(np.where(is_edge, new, 1), atoms)
    atom_H = np.repeat(labelled, atoms)
    mass = (atom_F / sketch.n_new + atom_H / sketch.n_labelled) / 2
    scores = ndtri(np.cumsum(mass) - mass / 2)
    return np.repeat(scores, atom_F), np.repeat(scores, atom_H)


def kernel_density(sample: FloatArray, points: FloatArray, bandwidth: float) -> FloatArray:
    """Gaussian kernel density of the sample at the points, on a fine grid of cells."""
    step = bandwidth / _CELLS_PER_BANDWIDTH
    margin = _REACH * bandwidth
    start = min(sample[0], points[0]) - margin
    n_cells = int(np.ceil((max(sample[-1], points[-1]) + margin - start) / step)) + 2
    # A row is shared by its two nearest grid points; rounding to one would move it.
    place = (sample - start) / step
    left = place.astype(np.int64)
    right_share = place - left
    counts = np.bincount(left, 1 - right_share, n_cells)
    counts += np.bincount(left + 1, right_share, n_cells)
    smooth = gaussian_filter1d(counts, _CELLS_PER_BANDWIDTH, mode="constant", truncate=_REACH)
    grid = start + step * np.arange(n_cells)
    return np.interp(points, grid, smooth) / (step * sample.size)


def falling_ratio(scores_F: FloatArray, scores_H: FloatArray, bandwidth: float) -> FloatArray:
    """Estimate h / f at the rising scores of F, as a falling function of the score."""
    ratio = kernel_density(scores_H, scores_F, bandwidth) / kernel_density(
        scores_F, scores_F, bandwidth
    )
    return isotonic_regression(ratio, increasing=False)


def largest_prior(ratio: FloatArray, tolerance: float, least_cover: float = 0.0) -> float:
    """Return the largest ν with ``mean(min(1, ν r)) >= (1 - tolerance) ν``.

    With ``t = 1 / ν`` this is ``mean(min(t, r)) = 1 - tolerance``, whose left side is piecewise
    linear and rises with t. The ratios r are scaled to average one. If they average less than
    ``least_cover``, part of H is missing from F, and the scaling stops there: the answer may be 0.
    """
    rising = np.sort(ratio) / max(float(ratio.mean()), least_cover)
    above = np.arange(rising.size - 1, -1, -1)
    covered = (np.cumsum(rising) + above * rising) / rising.size  # mean(min(t, r)) at t = r
    if covered[-1] < (1 - tolerance) * (1 - 1e-9):
        return 0.0
    share = np.concatenate([[0.0], covered])
    return 1 / float(np.interp(1 - tolerance, share, np.concatenate([[0.0], rising])))


@dataclass(eq=False, repr=False)
class DensityRatio(MixtureEstimator):
    """Estimate ν from the ratio of smoothed score densities (after DEDPUL).

    Parameters
    ----------
    bandwidth : float or None, default=None
        Width of the Gaussian kernel, in units of pooled normal scores; None is half of
        Silverman's rule.
    tolerance : float or None, default=None
        Share of H that may seem to be missing from F; None is the standard error
        ``0.5 sqrt(1/n + 1/m)``. A larger tolerance gives a larger estimate.
    classifier, n_folds, random_state
        The classifier that tells F from H, its folds and its seed; see
        :class:`~unseen.mixture.base.MixtureEstimator`.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.mixture import DensityRatio
    >>> rng = np.random.default_rng(0)
    >>> H = rng.normal(0, 1, 2000)
    >>> F = np.r_[rng.normal(0, 1, 600), rng.normal(4, 1, 1400)]
    >>> print(DensityRatio().from_scores(F, H))
    0.299 of the new rows look like the labelled sample (DensityRatio)
    """

    bandwidth: float | None = None
    tolerance: float | None = None
    classifier: Any = None
    n_folds: int = 10
    random_state: Any = None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MixtureEstimator._parameter_constraints,
        "bandwidth": [None, Interval(Real, 0, None, closed="neither")],
        "tolerance": [None, Interval(Real, 0, 1, closed="left")],
    }

    def from_sketch(self, sketch: RocSketch) -> MixtureEstimate:
        """Estimate from the counts behind a ROC; needs no ``fit``."""
        self._validate_params()
        spread = 1 / sketch.n_new + 1 / sketch.n_labelled
        bandwidth = self.bandwidth or 0.45 * (spread / 4) ** 0.2
        tolerance = 0.5 * np.sqrt(spread) if self.tolerance is None else self.tolerance
        ratio = falling_ratio(*normal_scores(sketch), bandwidth)
        # Only a score that is better than chance can show that part of H is missing from F.
        least_cover = _LEAST_COVER if auc(*sketch.roc()) > 0.5 else 0.0
        prior = largest_prior(ratio, tolerance, least_cover)
        used = {"bandwidth": float(bandwidth), "tolerance": float(tolerance)}
        return clipped_estimate("DensityRatio", sketch, prior, used)
