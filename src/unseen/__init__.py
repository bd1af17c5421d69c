"""The share of each known class in new rows, and the share of classes never seen.

Names are loaded on first use, so that ``import unseen`` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from unseen._version import __version__

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from unseen.intervals import Calibrated, Percentile, RocBand
    from unseen.labelling import LabellingValue, labelling_value
    from unseen.mixture import (
        BestBin,
        CertifiedBound,
        DensityRatio,
        KernelMean,
        Placement,
        ROCSlope,
        mixture_proportion,
    )
    from unseen.monitoring import Timeline, monitor
    from unseen.persist import load, save
    from unseen.proportions import (
        AdjustedCount,
        BinaryRescaled,
        ClassifyAndCount,
        Comparison,
        HallECDF,
        KLDivergence,
        L2Distance,
        MPEIncomplete,
        MPEJoint,
        MPEProjected,
        OpenSetEstimator,
        ProportionEstimator,
        SaerensEM,
        compare,
    )
    from unseen.records import Estimate, MixtureEstimate, UnseenWarning, UpperBound
    from unseen.rejection import (
        RejectionClassifier,
        RejectionForest,
        RejectionHistogram,
        RejectionKernel,
        RejectionPlugIn,
        RejectionStack,
        RejectionThreshold,
        RejectionTree,
        open_set_risk,
        open_set_scorer,
    )
    from unseen.scores.klr import KernelLogisticRegression

__all__ = [
    "AdjustedCount",
    "BestBin",
    "BinaryRescaled",
    "Calibrated",
    "CertifiedBound",
    "ClassifyAndCount",
    "Comparison",
    "DensityRatio",
    "Estimate",
    "HallECDF",
    "KLDivergence",
    "KernelLogisticRegression",
    "KernelMean",
    "L2Distance",
    "LabellingValue",
    "MPEIncomplete",
    "MPEJoint",
    "MPEProjected",
    "MixtureEstimate",
    "OpenSetEstimator",
    "Percentile",
    "Placement",
    "ROCSlope",
    "RejectionClassifier",
    "RejectionForest",
    "RejectionHistogram",
    "RejectionKernel",
    "RejectionPlugIn",
    "RejectionStack",
    "RejectionThreshold",
    "RejectionTree",
    "RocBand",
    "SaerensEM",
    "Timeline",
    "UnseenWarning",
    "UpperBound",
    "__version__",
    "compare",
    "estimate",
    "labelling_value",
    "load",
    "mixture_proportion",
    "monitor",
    "open_set_risk",
    "open_set_scorer",
    "save",
]

# Where to look for a name; the first pull in the least.
_HOMES = (
    "records",
    "scores.klr",
    "mixture",
    "intervals",
    "proportions",
    "rejection",
    "labelling",
    "monitoring",
    "persist",
)


def estimate(
    X: ArrayLike,
    y: ArrayLike,
    X_new: ArrayLike,
    *,
    estimator: ProportionEstimator | None = None,
    confidence: float | None = None,
    random_state: Any = None,
) -> Estimate:
    """Estimate the share of each known class in new rows, and the share of unseen classes.

    Parameters
    ----------
    X : array-like of shape (n_labelled, n_features)
        Rows of the known classes: NumPy, sparse, or a pandas, polars or pyarrow table.
    y : array-like of shape (n_labelled,)
        Their labels: text, whole numbers or booleans. One class is enough.
    X_new : array-like of shape (n_new, n_features)
        New rows, with the columns of X.
    estimator : proportion estimator or None, default=None
        How to estimate; None is :class:`OpenSetEstimator`. It is copied, not changed.
    confidence : float or None, default=None
        Level of the intervals, such as 0.95; None makes none.
    random_state : int, RandomState instance or None, default=None
        Seed of all randomness; overrides that of ``estimator`` when given.

    Returns
    -------
    Estimate
        Prints as a table; ``proportions`` and ``unseen`` hold the shares.

    Raises
    ------
    TypeError
        When the estimator is no proportion estimator; a mixture estimator is none.

    Examples
    --------
    >>> import numpy as np
    >>> import unseen
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(0, 1, (400, 2)), ["known"] * 400
    >>> X_new = np.vstack([rng.normal(0, 1, (300, 2)), rng.normal(9, 1, (300, 2))])
    >>> estimate = unseen.estimate(X, y, X_new, random_state=0)
    >>> print(f"{estimate.unseen:.1f}")
    0.5
    """
    from sklearn.base import clone

    from unseen.proportions import OpenSetEstimator, ProportionEstimator

    if estimator is not None and not isinstance(estimator, ProportionEstimator):
        raise TypeError(
            "estimator must be a proportion estimator such as MPEIncomplete(), or None; "
            f"got {estimator!r}."
        )
    chosen = OpenSetEstimator() if estimator is None else clone(estimator)
    if random_state is not None:
        chosen.set_params(random_state=random_state)
    return chosen.fit(X, y).estimate(X_new, confidence=confidence)


def __getattr__(name: str) -> Any:
    if name in __all__:
        for home in _HOMES:
            module = import_module(f"unseen.{home}")
            if hasattr(module, name):
                value = globals()[name] = getattr(module, name)
                return value
    raise AttributeError(f"module 'unseen' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
