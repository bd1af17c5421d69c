"""Known classes that overlap so much that an unseen class among them would look known.

Taken by itself, class i accounts for the largest share of its distribution that fits into the new
one, ``nu(P_0, P_i)``: the slope of its ROC, Eq. (4). Where no class lies inside a mixture of the
others the slopes sum to at most 1, noise apart. A sum far above 1 says that the same new rows would
do for several classes, as they would for a class that training never saw.
"""

from __future__ import annotations

import numpy as np

from unseen._types import FloatArray, IntArray
from unseen.records import Notice
from unseen.roc import BinomialDeviance, Concave, RocSketch
from unseen.samples.draws import enough_places
from unseen.scores import OpenScores

__all__ = ["known_overlap", "overlap_notices", "slope_total"]

# Chosen on made problems: below it intervals held the unseen share, above it they often did not.
_FAR_ABOVE_ONE = 1.5
_LEAST_DENSITY = 1e-12


def slope_total(scores: OpenScores) -> float:
    """Sum of the slopes of all known classes, read off scores that the default makes anyway.

    The log density ratio of the new rows against class i is that against the known classes mixed,
    plus the logarithm of the mixture's density over the class's, which the posteriors know. Of very
    many rows a fixed draw is read.

    Parameters
    ----------
    scores : OpenScores
        Of at least two known classes.

    Returns
    -------
    float
    """
    posteriors, ratios = scores.posteriors, scores.ratios
    if posteriors is None:
        raise ValueError("scores must be of at least two known classes; got one.")
    new = _against_classes(scores, ratios.new, posteriors.ratios, enough_places(scores.n_new))
    sketches, known = [], posteriors.labelled_ratios
    for code, against in enumerate(new.T):
        own = np.flatnonzero(scores.codes == code)
        labelled = _against_classes(scores, ratios.labelled, known, own[enough_places(len(own))])
        sketches.append(RocSketch.from_scores(against, labelled[:, code]))
    slopes = BinomialDeviance().fit_sketches(sketches, Concave()).right_slope
    return float(np.clip(slopes, 0.0, 1.0).sum())


def _against_classes(
    scores: OpenScores, values: FloatArray, densities: FloatArray, places: IntArray | slice
) -> FloatArray:
    """Log density ratios of the new rows against each class, (rows, K), at rows of a sample."""
    densities = densities[places]
    mixed = np.log(np.maximum(densities @ scores.mixture, _LEAST_DENSITY))
    against = values[places, scores.ratios.best] + mixed
    return against[:, None] - np.log(np.maximum(densities, _LEAST_DENSITY))


def known_overlap(scores: OpenScores) -> float:
    """How many times over the known classes would account for the new rows, where far above 1.

    Parameters
    ----------
    scores : OpenScores

    Returns
    -------
    float
        The sum of the slopes, or 1 where the sum is not far above 1, or there is only one class.
    """
    total = 1.0 if scores.posteriors is None else slope_total(scores)
    return total if total > _FAR_ABOVE_ONE else 1.0


def overlap_notices(overlap: float) -> tuple[Notice, ...]:
    """A notice where the known classes overlap.

    Examples
    --------
    >>> overlap_notices(1.0)
    ()
    >>> print(overlap_notices(2.5)[0].text[:77])
    the known classes overlap: taken one by one they would account for 250% of th
    """
    if overlap == 1:
        return ()
    text = (
        f"the known classes overlap: taken one by one they would account for {overlap:.0%} of the "
        "new rows. An unseen class that lies among them looks known; the upper end of the unseen "
        "share allows for this."
    )
    return (Notice("overlapping_classes", text),)
