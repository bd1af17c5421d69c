"""Kernel mean embedding: how much of H can be taken out of F (KM1, KM2) [1]_.

``λ F + (1 - λ) H`` is a distribution for ``λ = 1 / (1 - ν)`` up to ν*, and none beyond. Its
distance from the convex hull of the embedded rows is near zero up to λ* and then grows; ν is read
off the λ at which the slope of this distance passes a threshold. See docs/theory.md, "Other
estimators of ν". A reference: the score-based estimators are more accurate and far faster.

References
----------
.. [1] H. G. Ramaswamy, C. Scott, A. Tewari, "Mixture proportion estimation via kernel
   embeddings of distributions", ICML 2016.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.optimize import nnls
from scipy.spatial.distance import cdist
from sklearn.utils import check_random_state, resample

from unseen._sklearn import Interval, StrOptions
from unseen._types import FloatArray
from unseen.mixture.base import MixtureEstimator, clipped_estimate, sketch_scores
from unseen.records import MixtureEstimate
from unseen.roc.sketch import RocSketch
from unseen.scores.base import stack_samples

_WIDTHS = np.logspace(-1, 1, 5)
_TOLERANCE = 1e-3
_FIRST_STEP = 0.05
_RIDGE = 1e-10
_ROUNDING = 1e-9


def nearest_in_hull(points: FloatArray, target: FloatArray) -> FloatArray:
    """Weights v on the simplex that bring ``points @ v`` nearest to the target.

    Nonnegative least squares on ``[points - target; 1] y = [0; 1]`` finds ``y = s v``: the best v
    is the same for every s > 0.
    """
    system = np.vstack([points - target[:, None], np.ones(points.shape[1])])
    goal = np.zeros(system.shape[0])
    goal[-1] = 1.0
    scaled, _ = nnls(system, goal, maxiter=30 * points.shape[1])
    return scaled / scaled.sum()


class HullDistance:
    """d(λ), the distance of ``λ F + (1 - λ) H`` to the hull of all rows, F first, and its slope."""

    def __init__(self, kernel: FloatArray, n_new: int) -> None:
        # Points whose inner products are the kernel; the ridge keeps duplicates apart.
        self.points = np.linalg.cholesky(kernel + _RIDGE * np.eye(kernel.shape[0])).T
        self.mean_F = self.points[:, :n_new].mean(axis=1)
        self.mean_H = self.points[:, n_new:].mean(axis=1)
        # The slope of d as λ grows without limit, ||F - H||.
        self.final_slope = float(np.linalg.norm(self.mean_F - self.mean_H))

    def __call__(self, lam: float) -> tuple[float, float]:
        """d(λ), and d'(λ) with the nearest point held still (envelope theorem)."""
        target = lam * self.mean_F + (1 - lam) * self.mean_H
        residual = target - self.points @ nearest_in_hull(self.points, target)
        length = np.linalg.norm(residual)
        slope = 0.0 if length == 0 else residual @ (self.mean_F - self.mean_H) / length
        return float(length), float(slope)


def gaussian_kernel(squared: FloatArray, n_new: int, bandwidth: float | None) -> FloatArray:
    """Gaussian kernel; without a bandwidth that of the largest distance of F and H, [1]_."""
    if bandwidth is not None:
        return np.exp(-squared / (2 * bandwidth**2))
    n_labelled = squared.shape[0] - n_new
    contrast = np.repeat([1 / n_new, -1 / n_labelled], [n_new, n_labelled])
    # If most rows coincide, the median of the positive distances.
    middle = np.median(squared) or np.median(squared[squared > 0])
    kernels = (np.exp(-squared / (2 * middle * width**2)) for width in _WIDTHS)
    return max(kernels, key=lambda kernel: float(contrast @ kernel @ contrast))


def kernel_mean_proportion(F: Any, H: Any, variant: str, bandwidth: float | None) -> float:
    """KM1 or KM2 on two samples of rows; d is convex, so its slope is bisected."""
    rows = stack_samples(F, H)[0]
    if hasattr(rows, "tocsr"):
        rows = rows[:, np.unique(rows.indices)].toarray()
    rows = np.asarray(rows, dtype=np.float64)
    # ``x² - 2 x y + y²`` would round by more than the ridge.
    squared = cdist(rows, rows, "sqeuclidean")
    if not squared.any():
        return 1.0  # one point, many times over: F and H are the same distribution
    hull = HullDistance(gaussian_kernel(squared, F.shape[0], bandwidth), F.shape[0])
    # The slope of d beyond which λ is larger than λ*, Sec. 6 of [1]_.
    threshold = float(min(F.shape[0], H.shape[0]) ** -0.5)
    if variant == "km2":
        first_slope = hull(1 + _FIRST_STEP)[0] / _FIRST_STEP
        threshold = 0.8 * first_slope + 0.2 * hull.final_slope
    # If none of H is in F, d is straight and KM2's threshold equals its slope: it counts as passed.
    threshold *= 1 - _ROUNDING
    # The ridge adds to the distance of a sample from itself.
    by_ridge = float(np.sqrt(_RIDGE * (1 / F.shape[0] + 1 / H.shape[0])))
    if hull.final_slope <= max(threshold, 2 * by_ridge):
        return 1.0
    low, high = 0.0, 1.0
    while high - low > _TOLERANCE:
        middle = (low + high) / 2
        passed = hull(1 / (1 - middle))[1] > threshold
        low, high = (low, middle) if passed else (middle, high)
    return (low + high) / 2


@dataclass(eq=False, repr=False)
class KernelMean(MixtureEstimator):
    """Estimate ν by the distance of kernel means to a convex hull (KM1, KM2), for comparison.

    The estimate uses the rows instead of scores: features should have comparable scales.

    Parameters
    ----------
    variant : {"km1", "km2"}, default="km2"
        The rule that sets the threshold on the slope.
    bandwidth : float or None, default=None
        Width of the Gaussian kernel. None tries five widths around the median distance, and takes
        the one at which the means of F and H are furthest apart.
    max_rows : int, default=500
        Largest number of rows of each sample, drawn without replacement; the cost is cubic.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.mixture import KernelMean
    >>> rng = np.random.default_rng(0)
    >>> H = rng.normal(0, 1, (300, 2))
    >>> F = np.vstack([rng.normal(0, 1, (90, 2)), rng.normal(4, 1, (210, 2))])
    >>> print(KernelMean().fit(H).estimate(F))
    0.287 of the new rows look like the labelled sample (KernelMean)
    """

    variant: Literal["km1", "km2"] = "km2"
    bandwidth: float | None = None
    max_rows: int = 500
    random_state: Any = None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "variant": [StrOptions({"km1", "km2"})],
        "bandwidth": [None, Interval(Real, 0, None, closed="neither")],
        "max_rows": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    }

    def _from_rows(self, new: Any) -> MixtureEstimate:
        """Estimate from the rows themselves; there is no ROC to show."""
        return MixtureEstimate(self._proportion(new, self.labelled_.rows), "KernelMean")

    def from_sketch(self, sketch: RocSketch) -> MixtureEstimate:
        """Estimate with scores as the only feature; those of F lie midway in their gaps."""
        self._validate_params()
        scores_F, scores_H = sketch_scores(sketch)
        proportion = self._proportion(scores_F[:, None], scores_H[:, None])
        return clipped_estimate("KernelMean", sketch, proportion)

    def _proportion(self, F: Any, H: Any) -> float:
        rng, most = check_random_state(self.random_state), self.max_rows
        F, H = (
            resample(sample, replace=False, n_samples=most, random_state=rng)
            if sample.shape[0] > most
            else sample
            for sample in (F, H)
        )
        return kernel_mean_proportion(F, H, self.variant, self.bandwidth)
