"""The share of one class from labels drawn with known probabilities.

For one class any model splits the new rows into two strata of known sizes: the rows that it calls
by this class, and the others. In each stratum the labels, weighted by one over the probability of
the draw, estimate one proportion; the share is their mean, weighted by the sizes. A model that is
right makes the strata pure and the interval short; a wrong model costs width, never validity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from unseen._types import BoolArray, FloatArray

__all__ = ["Stratum", "class_strata", "share_interval"]

# Fewer labels say too little about a stratum of their own.
_FEWEST = 3.0
_POINTS = 200
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Stratum:
    """Labels of one class among rows that the model treats alike.

    Parameters
    ----------
    weight : float
        Part of all new rows that is in the stratum.
    share : float
        Weighted proportion of the class among the labels in the stratum.
    n_effective : float
        Labels of a uniform draw that would be as precise.
    left : float
        Part of the variance that is left because not all rows were drawn, in [0, 1].
    """

    weight: float
    share: float
    n_effective: float
    left: float = 1.0


def class_strata(
    is_class: BoolArray, inside: BoolArray, probabilities: FloatArray, weight: float
) -> list[Stratum]:
    """Strata of one class: rows that the model calls by its name, and the others.

    Parameters
    ----------
    is_class : ndarray of shape (n,)
        Whether each labelled row is of the class.
    inside : ndarray of shape (n,)
        Whether the model calls the row by the class.
    probabilities : ndarray of shape (n,)
        Probability with which each row came into the sample.
    weight : float
        Part of all new rows that the model calls by the class.

    Returns
    -------
    list of Stratum
        One stratum for all rows where either of two would hold too few labels.

    Examples
    --------
    >>> import numpy as np
    >>> inside = np.repeat([True, False], [10, 30])
    >>> strata = class_strata(inside, inside, np.full(40, 0.01), 0.25)
    >>> [(one.weight, one.share, round(one.n_effective)) for one in strata]
    [(0.25, 1.0, 10), (0.75, 0.0, 30)]
    """
    both = [(inside, weight), (~inside, 1 - weight)]
    found = [
        _stratum(is_class[mask], probabilities[mask], part)
        for mask, part in both
        if part > 0 and mask.any()
    ]
    if sum(one.weight for one in found) < 1 or min(one.n_effective for one in found) < _FEWEST:
        return [_stratum(is_class, probabilities, 1.0)]
    return found


def _stratum(is_class: BoolArray, probabilities: FloatArray, weight: float) -> Stratum:
    inverse = 1 / probabilities
    total, squares = inverse.sum(), (inverse**2).sum()
    share = float(np.clip(inverse @ is_class / total, 0.0, 1.0))
    n_effective = float(total**2 / squares)
    variance = float((inverse**2) @ (is_class - share) ** 2 / total**2)
    if variance > 0:  # rows of large weight that disagree count for less than the weights alone say
        n_effective = min(n_effective, share * (1 - share) / variance)
    left = float((inverse**2) @ (1 - probabilities) / squares)
    return Stratum(weight, share, n_effective, left)


def share_interval(
    strata: Sequence[Stratum], confidence: float = 0.95
) -> tuple[float, float, float]:
    """The share of a class over its strata, with lower and upper end.

    In each stratum the proportion has the mid-P distribution of a binomial count: an even mixture
    of Beta(x, n - x + 1) and Beta(x + 1, n - x), whose quantiles for one stratum are the mid-P
    limits of Clopper and Pearson. The ends are quantiles of the weighted sum.

    Parameters
    ----------
    strata : sequence of one or two Stratum
        See :func:`class_strata`.
    confidence : float, default=0.95
        Level of the interval.

    Returns
    -------
    share, lower, upper : float

    Examples
    --------
    >>> share, lower, upper = share_interval([Stratum(1.0, 0.0, 30)])
    >>> share, lower, round(upper, 3)  # 1 - 0.05 ** (1 / 30)
    (0.0, 0.0, 0.095)
    """
    n_points = 10 * _POINTS if len(strata) == 1 else _POINTS
    sums = np.zeros(1)
    for stratum in strata:
        sums = np.add.outer(sums, stratum.weight * _mid_p_points(stratum, n_points)).ravel()
    share = sum(stratum.weight * stratum.share for stratum in strata)
    lower, upper = np.quantile(sums, [(1 - confidence) / 2, (1 + confidence) / 2])
    return share, float(min(lower, share)), float(max(upper, share))


def _mid_p_points(stratum: Stratum, n_points: int) -> FloatArray:
    """Quantiles of the proportion in a stratum, drawn in where most of its rows are labelled."""
    levels = (np.arange(n_points // 2) + 0.5) / (n_points // 2)
    x, rest = stratum.n_effective * np.array([stratum.share, 1 - stratum.share])
    low = betaincinv(x, rest + 1, levels) if x > _ROUNDING else np.zeros(len(levels))
    high = betaincinv(x + 1, rest, levels) if rest > _ROUNDING else np.ones(len(levels))
    points = np.concatenate([low, high])
    return np.asarray(stratum.share + np.sqrt(stratum.left) * (points - stratum.share))
