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
# Jeffreys' prior counts half a row of each kind.
_HALF = 0.5


@dataclass(frozen=True)
class Stratum:
    """Labels of one class among rows that the model treats alike.

    Parameters
    ----------
    weight : float
        Part of all new rows that is in the stratum.
    share : float
        Weighted proportion of the class among the labels in the stratum.
    beta : (float, float)
        Beta distribution of the proportion: x of n equal labels make that of Jeffreys,
        Beta(x + 1/2, n - x + 1/2).
    left : float, default=1.0
        Part of the variance that is left because not all rows were drawn, in [0, 1].

    Examples
    --------
    >>> Stratum.counted(1.0, 3, 30)
    Stratum(weight=1.0, share=0.1, beta=(3.5, 27.5), left=1.0)
    """

    weight: float
    share: float
    beta: tuple[float, float]
    left: float = 1.0

    @classmethod
    def counted(cls, weight: float, x: float, n: float) -> Stratum:
        """The stratum of a uniform draw: x of n labels are of the class."""
        return cls(weight, x / n, (x + _HALF, n - x + _HALF))

    @classmethod
    def drawn(
        cls,
        is_class: BoolArray,
        probabilities: FloatArray,
        weight: float,
        added: tuple[float, float] = (_HALF, _HALF),
    ) -> Stratum:
        """The stratum of labels whose rows were drawn with these probabilities.

        ``added`` rows of the class, and of other classes, stand for those that nobody drew.
        """
        inverse = probabilities.min() / probabilities  # only ratios count, and these stay finite
        left = float((inverse**2) @ (1 - probabilities) / (inverse**2).sum())
        share = float(np.clip(inverse @ is_class / inverse.sum(), 0.0, 1.0))
        return cls(weight, share, _weighted_beta(is_class, inverse, added), left)

    def with_more(self, factor: float) -> Stratum:
        """The stratum to expect of ``factor`` times as many labels of the same kind."""
        first, second = (_HALF + max(one - _HALF, 0.0) * factor for one in self.beta)
        left = max(0.0, 1 - (1 - self.left) * factor)
        return replace(self, beta=(first, second), left=left)


def _weighted_beta(
    is_class: BoolArray, inverse: FloatArray, added: tuple[float, float]
) -> tuple[float, float]:
    """Beta distribution with the mean and the variance of a weighted proportion.

    Rows of a kind that nobody drew may be of the largest weight. An added row weighs as the
    labelled rows of its kind and one of the largest weight do on average: few labels say little
    of the weights of their kind.
    """
    weights = [
        (inverse[kind].sum() + inverse.max()) / (kind.sum() + 1) for kind in (is_class, ~is_class)
    ]
    every, values = np.append(inverse, weights), np.append(is_class, [1.0, 0.0])
    counts = np.append(np.ones(len(inverse)), added)
    total = counts @ every
    mean = counts @ (every * values) / total
    size = mean * (1 - mean) * total**2 / (counts @ (every * (values - mean)) ** 2)
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
        return [Stratum.drawn(is_class, probabilities, 1.0, _added(is_class))]
    both = ((inside, weight), (~inside, 1 - weight))
    return [Stratum.drawn(is_class[mask], probabilities[mask], part) for mask, part in both]


def _added(is_class: BoolArray) -> tuple[float, float]:
    """Rows added to a stratum of all rows: of a kind without any label a whole one.

    Two strata without a label of the class have a half each, which is as much.
    """
    if is_class.all() or not is_class.any():
        return (0.0, 1.0) if is_class.all() else (1.0, 0.0)
    return _HALF, _HALF


def share_interval(
    strata: Sequence[Stratum], confidence: float = 0.95
) -> tuple[float, float, float]:
    """The share of a class over its strata, with lower and upper end.

    The ends are quantiles of the sum of the strata's proportions. Where no label is of the class
    the interval begins at 0, and its other end alone may err: x = 0 of n equal labels reach
    to 1 - 0.05 ** (1 / n), the exact limit.

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
    >>> import numpy as np
    >>> nobody, alike = np.zeros(30, dtype=bool), np.full(30, 1e-6)
    >>> share, lower, upper = share_interval(class_strata(nobody, nobody, alike, 0.0))
    >>> share, lower, round(upper, 3)  # 1 - 0.05 ** (1 / 30)
    (0.0, 0.0, 0.095)
    """
    n_points = 10 * _POINTS if len(strata) == 1 else _POINTS
    levels = (np.arange(n_points) + 0.5) / n_points
    sums, share = np.zeros(1), 0.0
    for stratum in strata:
        points = stratum.share + np.sqrt(stratum.left) * (
            betaincinv(*stratum.beta, levels) - stratum.share
        )
        sums = np.add.outer(sums, stratum.weight * points).ravel()
        share += stratum.weight * stratum.share
    alone = {0.0: (0.0, confidence), 1.0: (1 - confidence, 1.0)}
    both = (1 - confidence) / 2, (1 + confidence) / 2
    lower, upper = np.quantile(sums, alone.get(share, both))
    return share, float(min(lower, share)), float(max(upper, share))
