"""How much must be unseen, even if the known classes changed by a factor.

If no kind of row became more than c times as common in its class, then every region A of rows
bounds the share nu of all known classes: ``nu <= (1 - P_0(A)) / (1 - c alpha)``, with
``alpha = max_i P_i(A) < 1 / c``. c = 1 is the paper's mixture proportion, c > 1 its
drift-tolerant twin. docs/drift.md derives the bound and says what a factor cannot grant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta, binom

from unseen._frozen import Frozen
from unseen._types import FloatArray

__all__ = ["Tolerance", "certified_tolerance", "group_tolerance"]

# The least of few limits at a better level each, or of many at a worse: 4 to 12 regions are alike
# in simulated drifts.
_REGIONS = 5
_LEAST_ALPHA, _LARGEST_ALPHA = 0.02, 0.3
_LARGEST_FACTOR = 1e3
# The limit of the highest row of a class must not miss its rank by rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Tolerance(Frozen):
    """Limits that hold together: P_i(A_j) <= alpha_j for all classes, P_0(A_j) >= detection_j.

    Parameters
    ----------
    alpha, detection : ndarray of shape (J,)
        Upper limits of the known classes in each region, and lower limits of the new rows there.
        Both are empty where classes have too few rows.
    delta : float, default=0.05
        Probability that any of the limits fails.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.drift import Tolerance
    >>> found = Tolerance(np.array([0.1]), np.array([0.4]))
    >>> [round(found.must(factor), 3) for factor in (1, 2, 4)], found.gamma
    ([0.333, 0.25, 0.0], 4.0)
    """

    alpha: FloatArray
    detection: FloatArray
    delta: float = 0.05

    def must(self, factor: float = 1.0) -> float:
        """Share that must be unseen; 0 where nothing is sure.

        No kind of known row became more than ``factor`` times as common, which is at least 1.
        """
        if not factor >= 1:
            raise ValueError(f"factor must be at least 1; got {factor}.")
        room = 1 - factor * self.alpha
        usable = room > 0
        bound = (1 - self.detection[usable]) / room[usable]
        return float(1 - min(bound.min(initial=1.0), 1.0))

    @property
    def gamma(self) -> float:
        """Factor up to which something must be unseen; 0 if nothing must be even at factor 1."""
        # (1 - D) / (1 - c alpha) < 1 means c < D / alpha.
        best = float((self.detection / self.alpha).max(initial=0.0))
        return 0.0 if best <= 1 else min(best, _LARGEST_FACTOR)


def certified_tolerance(
    new: ArrayLike, labelled: ArrayLike, codes: ArrayLike, delta: float = 0.05
) -> Tolerance:
    """Certified limits of how many known and how many new rows lie above thresholds of a score.

    Threshold t_j is the largest, over the classes, of the score at a rank that depends on the size
    of the class alone. Given the labelled scores, the count of new rows above t_j is binomial.
    Half of ``delta`` goes to the labelled limits, shared by classes and regions, and half to the
    new ones.

    Parameters
    ----------
    new, labelled : array-like of shape (m,) and (n,)
        One score for all rows, high where a row looks like no known class. The level is exact for
        one function that has not seen these rows, and nearly right for out-of-fold scores.
    codes : array-like of shape (n,)
        Class of each labelled row.
    delta : float, default=0.05
        Probability that any limit fails.

    Returns
    -------
    Tolerance

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.drift import certified_tolerance
    >>> rng = np.random.default_rng(0)
    >>> new = np.r_[rng.normal(0, 1, 500), rng.normal(5, 1, 500)]
    >>> found = certified_tolerance(new, rng.normal(0, 1, 800), np.zeros(800))
    >>> 0.4 < found.must(1) < 0.5, found.must(1) > found.must(3) > 0
    (True, True)
    """
    scores, old, classes = np.asarray(new, float), np.asarray(labelled, float), np.asarray(codes)
    by_class = [np.sort(old[classes == code])[::-1] for code in np.unique(classes)]
    level_old, level_new = delta / (2 * _REGIONS * len(by_class)), delta / (2 * _REGIONS)
    least = max(1 - level_old ** (1 / len(rows)) for rows in by_class)
    if least >= _LARGEST_ALPHA:
        return Tolerance(np.zeros(0), np.zeros(0), delta)
    alpha = np.geomspace(least * (1 + _ROUNDING), _LARGEST_ALPHA, _REGIONS)
    # The probability that a row exceeds the r-th largest of n is Beta(r, n - r + 1) or, with ties,
    # less: its upper limit is at most alpha while P(Binomial(n, alpha) < r) <= level.
    sizes, size_of = np.unique([len(rows) for rows in by_class], return_inverse=True)
    ranks = np.asarray(binom.ppf(level_old, sizes[:, None], alpha), dtype=np.intp)[size_of]
    threshold = np.max([rows[rank - 1] for rows, rank in zip(by_class, ranks, strict=True)], axis=0)
    above = np.array([np.count_nonzero(scores > limit) for limit in threshold])
    lower = beta.ppf(level_new, np.maximum(above, 1), len(scores) - above + 1)
    return Tolerance(alpha, np.where(above > 0, lower, 0.0), delta)


def group_tolerance(
    new: ArrayLike, labelled: ArrayLike, codes: ArrayLike, groups: ArrayLike, delta: float = 0.05
) -> tuple[Tolerance, FloatArray]:
    """Limits of the new rows in regions, and the factor that each labelled group needs there.

    t_j is the largest over classes of the score that a share alpha_j of its rows exceeds. A group
    with the share P_g(A_j) of its rows above t_j needs the factor ``max_j P_g(A_j) / alpha_j``. If
    groups are exchangeable and nothing is new, the new rows need a larger factor than all G
    labelled groups with a probability of at most 1 / (G + 1).

    Scores (m, S) and (n, S) are high where a row looks like no known class, a column for every
    scale; a labelled row's score must not depend on rows of its own group. The tolerance, whose
    limits of the new rows hold but for ``delta``, is to be asked at the largest of the factors
    (G,), or at 1.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.drift.tolerance import group_tolerance
    >>> rng = np.random.default_rng(0)
    >>> groups, old = np.repeat(np.arange(8), 100), rng.normal(0, 1, (800, 1))
    >>> old[:100] += 1.0  # one group stands apart
    >>> new = np.r_[rng.normal(0, 1, (250, 1)), rng.normal(6, 1, (250, 1))]
    >>> found, factors = group_tolerance(new, old, np.zeros(800), groups)
    >>> int(factors.argmax()), 0.3 < found.must(factors.max()) < 0.5
    (0, True)
    """
    scores, old = np.asarray(new, float), np.asarray(labelled, float)
    classes, group = np.asarray(codes), np.unique(groups, return_inverse=True)[1]
    alpha = np.geomspace(_LEAST_ALPHA, _LARGEST_ALPHA, _REGIONS)
    by_class = [old[classes == code] for code in np.unique(classes)]
    threshold = np.max([np.quantile(rows, 1 - alpha, axis=0) for rows in by_class], axis=0)
    above, above_new = (rows[:, None] > threshold for rows in (old, scores))
    shares = np.array([above[group == one].mean(axis=0) for one in range(group.max() + 1)])
    count = above_new.sum(axis=0).ravel()
    level = delta / len(count)
    lower = beta.ppf(level, np.maximum(count, 1), len(scores) - count + 1)
    region = np.repeat(alpha, old.shape[1])
    factors = (shares / alpha[:, None]).max(axis=(1, 2))
    return Tolerance(region, np.where(count > 0, lower, 0.0), delta), factors
