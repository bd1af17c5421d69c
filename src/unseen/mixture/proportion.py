"""One call: from two samples to the share of one in the other."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import clone

from unseen._validation import column_names
from unseen.base import MixtureEstimate
from unseen.mixture.base import MixtureEstimator, check_rows_for_folds, check_sample
from unseen.mixture.bound import CertifiedBound
from unseen.mixture.slope import ROCSlope


def mixture_proportion(
    F: ArrayLike,
    H: ArrayLike,
    method: MixtureEstimator | None = None,
    random_state: Any = None,
) -> MixtureEstimate:
    """Estimate ν in ``F = (1 - ν) G + ν H``, Eq. (3), from samples of F and H.

    Parameters
    ----------
    F : array-like of shape (n_unlabelled, n_features)
        The mixture: unlabelled rows.
    H : array-like of shape (n_labelled, n_features)
        The component that is known, with the same columns.
    method : MixtureEstimator or None, default=None
        How; None is :class:`~unseen.mixture.ROCSlope`. It is cloned, never changed.
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
        When the method is no mixture estimator; a certified bound is none.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.mixture import BestBin, mixture_proportion
    >>> rng = np.random.default_rng(0)
    >>> H = rng.normal(0, 1, (500, 2))
    >>> F = np.vstack([rng.normal(0, 1, (150, 2)), rng.normal(4, 1, (350, 2))])
    >>> print(mixture_proportion(F, H, BestBin(), random_state=0))
    0.294 of the unlabelled rows look like the labelled sample (BestBin)
    """
    chosen = _checked_method(method)
    _check_samples(F, H, getattr(chosen, "n_folds", 1))
    if random_state is not None:
        chosen.set_params(random_state=random_state)
    return chosen.fit(H).estimate(F)


def _checked_method(method: MixtureEstimator | None) -> MixtureEstimator:
    if method is None:
        return ROCSlope()
    if isinstance(method, CertifiedBound):
        raise TypeError(
            f"method must estimate the share; got {method!r}, which bounds it from above and "
            f"is no estimate. Call {method!r}.fit(H).bound(F) for the bound."
        )
    if not isinstance(method, MixtureEstimator):
        raise TypeError(
            f"method must be a mixture estimator such as ROCSlope(), or None; got {method!r}."
        )
    return clone(method)


def _check_samples(F: ArrayLike, H: ArrayLike, n_folds: int) -> None:
    n_columns = []
    for name, sample in (("F", F), ("H", H)):
        checked = check_sample(sample, name)
        check_rows_for_folds(checked, name, n_folds)
        n_columns.append(checked.shape[1])
    if n_columns[0] != n_columns[1]:
        raise ValueError(
            f"F and H must have the same columns; got {n_columns[0]} and {n_columns[1]} of them."
        )
    names_F, names_H = column_names(F), column_names(H)
    if names_F and names_H and names_F != names_H:
        raise ValueError(
            "F and H must have the same columns in the same order; "
            f"got {names_F} in F and {names_H} in H."
        )
