"""A lower bound of the unseen share that holds for all distributions, if known ones stay put."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.utils import check_random_state

from unseen.mixture.bound import CertifiedBound, Form

__all__ = ["certified_unseen"]


def certified_unseen(
    samples: Sequence[Any],
    X_new: Any,
    delta: float = 0.05,
    *,
    form: Form = "clopper-pearson",
    classifier: Any = None,
    random_state: Any = None,
    factor: float = 1.0,
) -> float:
    """Lower bound of the unseen share that fails with probability at most ``delta``.

    The share of each known class is at most its certified upper bound
    (:class:`~unseen.CertifiedBound` at ``delta / K``, on split samples); the rest must be unseen.
    No property of the classes is assumed, but that they did not change, or by at most ``factor``
    (docs/drift.md). The bound is not an estimate: with few rows it is 0.

    Parameters
    ----------
    samples : sequence of array-like of shape (n_i, n_features)
        Labelled rows of each known class.
    X_new : array-like of shape (n_new, n_features)
        New rows.
    delta, form, classifier, random_state, factor
        As in :class:`~unseen.CertifiedBound`.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.intervals import certified_unseen
    >>> rng = np.random.default_rng(0)
    >>> known = [rng.normal(0, 1, (800, 2))]
    >>> X_new = np.vstack([rng.normal(0, 1, (400, 2)), rng.normal(9, 1, (400, 2))])
    >>> 0.3 < certified_unseen(known, X_new, random_state=0) <= 0.5
    True
    """
    rng = check_random_state(random_state)
    level, seeds = delta / len(samples), [rng.randint(2**31 - 1) for _ in samples]
    bounds = [
        CertifiedBound(level, form, classifier, seed, factor).fit(sample).bound(X_new)
        for sample, seed in zip(samples, seeds, strict=True)
    ]
    return max(0.0, 1.0 - sum(bound.upper for bound in bounds))
