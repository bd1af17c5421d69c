"""The share of one class from labels drawn with known probabilities.

For one class any model splits the new rows into two strata of known sizes: the rows that it calls
by this class, and the others. In each stratum the labels, weighted by one over the probability of
the draw, estimate one proportion; the share is their mean, weighted by the sizes. A model that is
right makes the strata pure and the interval short; a wrong model costs width, never validity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betaincinv

from unseen._types import BoolArray, FloatArray

__all__ = ["Stratum", "class_strata", "share_interval"]

# Fewer labels say too little about a stratum of their own.
_FEWEST = 3
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
    below, above : (float, float)
        Beta distributions of the proportion, for its lower and its upper limit: x of n equal labels
        make Beta(x, n - x + 1) and Beta(x + 1, n - x).
    left : float, default=1.0
        Part of the variance that is left because not all rows were drawn, in [0, 1].

    Examples
    --------
    >>> Stratum.counted(1.0, 3, 30)
    Stratum(weight=1.0, share=0.1, below=(3, 28), above=(4, 27), left=1.0)
    """

    weight: float
    share: float
    below: tuple[float, float]
    above: tuple[float, float]
    left: float = 1.0

    @classmethod
    def counted(cls, weight: float, x: float, n: float) -> Stratum:
        """The stratum of a uniform draw: x of n labels are of the class."""
        return cls(weight, x / n, (x, n - x + 1), (x + 1, n - x))

    @classmethod
    def drawn(cls, is_class: BoolArray, probabilities: FloatArray, weight: float) -> Stratum:
        """The stratum of labels whose rows were drawn with these probabilities."""
        inverse = probabilities.min() / probabilities  # only ratios count, and these stay finite
        above = _one_more(is_class, inverse)
        below = _one_more(~is_class, inverse)[::-1]
        left = float((inverse**2) @ (1 - probabilities) / (inverse**2).sum())
        share = float(np.clip(inverse @ is_class / inverse.sum(), 0.0, 1.0))
        return cls(weight, share, below, above, left)

    def with_more(self, factor: float) -> Stratum:
        """The stratum to expect of ``factor`` times as many labels of the same kind."""
        above = (1 + max(self.above[0] - 1, 0.0) * factor, self.above[1] * factor)
        below = (self.below[0] * factor, 1 + max(self.below[1] - 1, 0.0) * factor)
        left = max(0.0, 1 - (1 - self.left) * factor)
        return replace(self, above=above, below=below, left=left)


def _one_more(is_class: BoolArray, inverse: FloatArray) -> tuple[float, float]:
    """Beta distribution of a weighted proportion, one more row of the class counted in.

    Rows of the class that nobody has drawn may be of the largest weight, and so is this row, as in
    the limits of Fay and Feuer (1997) for weighted counts. Labels of equal weight make
    Beta(x + 1, n - x); labels count at most as many as their weights alone say.
    """
    total, largest = inverse.sum(), inverse.max()
    n_labels = float(total**2 / (inverse**2).sum())
    share = inverse @ is_class / total
    mean = (inverse @ is_class + largest) / (total + largest)
    squares = (inverse**2) @ (is_class - share) ** 2 + (largest * (1 - share)) ** 2
    if squares <= _ROUNDING or mean >= 1:
        return n_labels + 1, 0.0
    size = mean * (1 - mean) * (total + largest) ** 2 / squares
    size = min(size * (1 + 1 / n_labels), n_labels + 1)
    return float(size * mean), float(size * (1 - mean))


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
    >>> [(one.weight, one.share) for one in strata]
    [(0.25, 1.0), (0.75, 0.0)]
    """
    n_inside = int(inside.sum())
    if min(n_inside, len(inside) - n_inside) < _FEWEST:
        return [Stratum.drawn(is_class, probabilities, 1.0)]
    both = ((inside, weight), (~inside, 1 - weight))
    return [Stratum.drawn(is_class[mask], probabilities[mask], part) for mask, part in both]


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
    >>> share, lower, upper = share_interval([Stratum.counted(1.0, 0, 30)])
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
    (x, _), (_, rest) = stratum.below, stratum.above
    low = betaincinv(*stratum.below, levels) if x > _ROUNDING else np.zeros(len(levels))
    high = betaincinv(*stratum.above, levels) if rest > _ROUNDING else np.ones(len(levels))
    points = np.concatenate([low, high])
    return np.asarray(stratum.share + np.sqrt(stratum.left) * (points - stratum.share))
