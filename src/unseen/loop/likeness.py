"""Whether rows look like one class or like two, by what known classes and their pairs look like.

Three measures tell one class from two: the width in the units given, the width in units of the
scatter between neighbours, and how nearly the graph of neighbours parts. Which of them tells,
depends on the data: of texts of many kinds it is the width, of digits the graph. So each measure
is weighted by how far known classes and their pairs are apart in it, in its standard deviations
(Fisher's discriminant with independent measures).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from unseen._types import FloatArray, IntArray
from unseen.loop.neighbours import Units, neighbour_graph, parting

# Few classes hardly show how much classes differ: as so many more, as of which one class and two
# are so many standard deviations apart.
_MORE, _APART = 2.0, 2.0
_TINY = 1e-6


@dataclass(frozen=True, eq=False)
class OneOrTwo:
    """Measures of one known class, how much higher those of two are, and what each counts."""

    one: FloatArray
    gap: FloatArray
    counts: FloatArray

    @classmethod
    def learn(cls, one: FloatArray, two: FloatArray) -> OneOrTwo:
        """From measures of known classes and of their pairs: a row each."""
        means = one.mean(axis=0), two.mean(axis=0)
        gap = means[1] - means[0]
        squares = ((one - means[0]) ** 2).sum(axis=0) + ((two - means[1]) ** 2).sum(axis=0)
        n_free = len(one) + len(two) - 2 + _MORE
        spread = (squares + _MORE * (gap / _APART) ** 2) / n_free
        # A measure that is no higher for two classes tells nothing.
        counts = np.where(gap > _TINY, gap**2 / np.maximum(spread, _TINY**2), 0.0)
        return cls(means[0], np.where(gap > _TINY, gap, 1.0), counts / max(counts.sum(), _TINY))

    def place(self, measures: FloatArray) -> FloatArray:
        """Where rows lie between one class (0) and two (1)."""
        return np.asarray((measures - self.one) / self.gap @ self.counts)


def measures(X: FloatArray, units: Units, n_near: int) -> FloatArray:
    """The logarithms of both widths, and how nearly the rows part: higher for two classes."""
    scaled = units.of(X)
    widths = [width(rows) for rows in (X, scaled)]
    return np.append(np.log(np.maximum(widths, _TINY)), parting(neighbour_graph(scaled, n_near)))


def width(X: FloatArray) -> float:
    """Root mean square distance of rows to their mean."""
    return float(np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean()))


def place_of_groups(places: FloatArray, sizes: IntArray) -> float:
    """Where groups lie between one class each (0) and one of them having two (1).

    Places of one class and of two are 1 apart, those of new classes have a variance of about one
    half. So the likelihood that one of the groups holds two classes, no matter which, is the mean
    of ``exp(2 place - 1)``, where that of no such group is 1. This is its logarithm, halved and
    raised so that it is the place itself where there is one group: at least the mean place, and at
    most the largest.
    """
    return float(logsumexp(2 * places, b=sizes / sizes.sum()) / 2)
