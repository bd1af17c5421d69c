"""The share of one sample in another, in one call."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import clone

from unseen.mixture.base import MixtureEstimator
from unseen.mixture.bound import CertifiedBound
from unseen.mixture.slope import ROCSlope
from unseen.records import MixtureEstimate


def mixture_proportion(
    F: ArrayLike,
    H: ArrayLike,
    method: MixtureEstimator | None = None,
    random_state: Any = None,
) -> MixtureEstimate:
    """Estimate ν in ``F = (1 - ν) G + ν H``, Eq. (3), from samples of F and H.

    Parameters
    ----------
    F : array-like of shape (n_new, n_features)
        The mixture: new rows.
    H : array-like of shape (n_labelled, n_features)
        The component that is known, with the same columns.
    method : MixtureEstimator or None, default=None
        The estimator of ν; it is copied, not changed. None is :class:`~unseen.mixture.ROCSlope`.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random in the method; None leaves the method's own seed.

    Returns
    -------
    MixtureEstimate

    Raises
    ------
    ValueError
        When a sample is empty, not 2-d, not finite, or shorter than the folds, or when the
        columns differ.
    TypeError
        When a sample holds dates, or when ``method`` is not a mixture estimator; a certified bound
        is none.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.mixture import BestBin, mixture_proportion
    >>> rng = np.random.default_rng(0)
    >>> H = rng.normal(0, 1, (500, 2))
    >>> F = np.vstack([rng.normal(0, 1, (150, 2)), rng.normal(4, 1, (350, 2))])
    >>> print(mixture_proportion(F, H, BestBin(), random_state=0))
    0.294 of the new rows look like the labelled sample (BestBin)
    """
    method = ROCSlope() if method is None else method
    if isinstance(method, CertifiedBound):
        raise TypeError(
            f"method must estimate the share; got {method!r}, which bounds it from above and "
            f"is no estimate. Call {method!r}.fit(H).bound(F) for the bound."
        )
    if not isinstance(method, MixtureEstimator):
        raise TypeError(
            f"method must be a mixture estimator such as ROCSlope(), or None; got {method!r}."
        )
    chosen = clone(method)
    if random_state is not None:
        chosen.set_params(random_state=random_state)
    chosen._validate_params()
    return chosen._keep(H, "H")._estimate(F, "F", "H")
