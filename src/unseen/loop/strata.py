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

# Fewer labels say too little about a stratum of their own.
_FEWEST = 3
_POINTS = 200
# Jeffreys' prior counts half a row of each kind.
_HALF = 0.5


@dataclass(frozen=True)
class Stratum:
    """Labels of one class among rows that the model treats alike.

    ``beta`` is the Beta distribution of the proportion: x of n equal labels make that of Jeffreys,
    Beta(x + 1/2, n - x + 1/2).
    """

    weight: float  # part of all new rows that is in the stratum
    share: float  # weighted proportion of the class among the labels
    beta: tuple[float, float]
    left: float = 1.0  # part of the variance that is left because not all rows were drawn

    @classmethod
    def drawn(
        cls,
        is_class: BoolArray,
        probabilities: FloatArray,
        weight: float,
        added: tuple[float, float] = (_HALF, _HALF),
    ) -> Stratum:
        """The stratum of labels whose rows were drawn with these probabilities.

        ``added`` rows of the class, and of other classes, stand for those that nobody drew. Such
        rows may be of the largest weight: an added row weighs as the labelled rows of its kind and
        one of the largest weight do on average, as few labels say little of the weights of their
        kind. The Beta distribution has the mean and the variance of the weighted proportion.
        """
        inverse = probabilities.min() / probabilities  # only ratios count, and these stay finite
        left = float((inverse**2) @ (1 - probabilities) / (inverse**2).sum())
        share = float(np.clip(inverse @ is_class / inverse.sum(), 0.0, 1.0))
        weights = [
            (inverse[kind].sum() + inverse.max()) / (kind.sum() + 1)
            for kind in (is_class, ~is_class)
        ]
        every, values = np.append(inverse, weights), np.append(is_class, [1.0, 0.0])
        counts = np.append(np.ones(len(inverse)), added)
        total = counts @ every
        mean = counts @ (every * values) / total
        size = mean * (1 - mean) * total**2 / (counts @ (every * (values - mean)) ** 2)
        return cls(weight, share, (float(size * mean), float(size * (1 - mean))), left)

    def with_more(self, factor: float) -> Stratum:
        """The stratum to expect of ``factor`` times as many labels of the same kind."""
        first, second = (_HALF + max(one - _HALF, 0.0) * factor for one in self.beta)
        left = max(0.0, 1 - (1 - self.left) * factor)
        return replace(self, beta=(first, second), left=left)


def class_strata(
    is_class: BoolArray, inside: BoolArray, probabilities: FloatArray, weight: float
) -> list[Stratum]:
    """Strata of one class: rows that the model calls by its name, and the others.

    One entry of ``is_class``, ``inside`` (whether the model calls the row by the class) and
    ``probabilities`` of the draw for each labelled row; ``weight`` is the part of all new rows that
    the model calls by the class. One stratum holds all rows where one of two would hold too few
    labels.
    """
    n_inside = int(inside.sum())
    if min(n_inside, len(inside) - n_inside) >= _FEWEST:
        both = ((inside, weight), (~inside, 1 - weight))
        return [Stratum.drawn(is_class[mask], probabilities[mask], part) for mask, part in both]
    added = _HALF, _HALF
    if is_class.all() or not is_class.any():
        # Of a kind without any label a whole row: two strata without one have a half each.
        added = (0.0, 1.0) if is_class.all() else (1.0, 0.0)
    return [Stratum.drawn(is_class, probabilities, 1.0, added)]


def share_interval(
    strata: Sequence[Stratum], confidence: float = 0.95
) -> tuple[float, float, float]:
    """The share of a class over its one or two strata, with lower and upper end.

    The ends are quantiles of the sum of the strata's proportions. Where no label is of the class
    the interval begins at 0, and its other end alone may err: x = 0 of n equal labels reach
    to 1 - 0.05 ** (1 / n), the exact limit.
    """
    n_points = 10 * _POINTS if len(strata) == 1 else _POINTS
    levels = (np.arange(n_points) + 0.5) / n_points
    sums, share = np.zeros(1), 0.0
    for stratum in strata:
        away = betaincinv(*stratum.beta, levels) - stratum.share
        points = stratum.share + np.sqrt(stratum.left) * away
        sums = np.add.outer(sums, stratum.weight * points).ravel()
        share += stratum.weight * stratum.share
    alone = {0.0: (0.0, confidence), 1.0: (1 - confidence, 1.0)}
    both = (1 - confidence) / 2, (1 + confidence) / 2
    lower, upper = np.quantile(sums, alone.get(share, both))
    return share, float(min(lower, share)), float(max(upper, share))
