"""Known classes that overlap: pairs that cannot be told apart, and overlaps that hide new ones.

Of two classes that the columns cannot tell apart, only the sum of their shares is known. And an
unseen class that lies among known classes which overlap looks known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from unseen._types import FloatArray, IntArray
from unseen._wording import listed, share
from unseen.records import Notice
from unseen.roc import Concave, RocSketch, fit_sketches
from unseen.samples.draws import enough_places
from unseen.scores import OpenScores

# Two classes are confused where ten rows tell less than one whose class is known.
_LEAST_INFORMATION = 0.1
# Chosen on made problems: below it intervals held the unseen share, above it they often did not.
_FAR_ABOVE_ONE = 1.5
_LEAST_SUM, _LEAST_DENSITY = 1e-300, 1e-12


def pair_information(densities: FloatArray, codes: IntArray) -> tuple[FloatArray, FloatArray]:
    """Worth of a row for telling two classes apart, in rows of known class; and its noise.

    Between classes a and b in equal shares, a row with the densities r_a and r_b tells as much
    about the shares as ``E[(2q - 1)^2]`` rows whose class is known, ``q = r_a / (r_a + r_b)``. For
    calibrated posteriors this is half the difference of the mean of ``2q - 1`` between the two
    classes, which classifiers that are too sure of themselves cannot raise.

    Densities (n, K) at the labelled rows are out of fold, up to a factor for each row. The worth
    (K, K) is 1 where two classes never overlap and 0 where nothing tells them apart; its noise (K,
    K) are standard errors.
    """
    n_classes = densities.shape[1]
    mean, variance = np.zeros((2, n_classes, n_classes))
    for label in range(n_classes):
        places = np.flatnonzero(codes == label)
        own = densities[places[enough_places(len(places))]]
        mine = own[:, [label]]
        lead = (mine - own) / np.maximum(mine + own, _LEAST_SUM)
        mean[label], variance[label] = lead.mean(axis=0), lead.var(axis=0) / len(own)
    worth = (mean + mean.T) / 2
    np.fill_diagonal(worth, 1.0)
    return worth, np.sqrt(variance + variance.T) / 2


def confusion_notices(scores: Any, shares: FloatArray) -> tuple[Notice, ...]:
    """A notice where classes cannot be told apart, with the shares that belong together."""
    posteriors = getattr(scores, "posteriors", scores)
    if getattr(posteriors, "labelled", None) is None or not hasattr(posteriors, "prior"):
        return ()
    worth, noise = pair_information(posteriors.labelled_ratios, posteriors.codes)
    group = connected_components(worth + noise < _LEAST_INFORMATION, directed=False)[1]
    members = [np.flatnonzero(group == one) for one in np.unique(group)]
    together = [one for one in members if len(one) > 1]
    if not together:
        return ()
    sums = [
        f"{listed([repr(scores.classes[place]) for place in one])} {share(shares[one].sum())}"
        for one in together
    ]
    text = (
        f"{sum(map(len, together))} of {len(scores.classes)} known classes are confused by these "
        f"columns. Their shares belong together: {'; '.join(sums)}. How each sum divides is hardly "
        "known."
    )
    return (Notice("confused_classes", text),)


def slope_total(scores: OpenScores) -> float:
    """Sum of the slopes of all known classes, read off scores that the default makes anyway.

    Taken by itself, class i accounts for ``nu(P_0, P_i)``: the slope of its ROC, Eq. (4). Where no
    class lies inside a mixture of the others the slopes sum to at most 1, noise apart. A sum far
    above 1 says that the same new rows would do for several classes, as they would for an unseen
    one.

    The log density ratio of the new rows against class i is that against the known classes mixed,
    plus the logarithm of the mixture's density over the class's, which the posteriors know. Of very
    many rows a fixed draw is read.
    """
    posteriors, ratios = scores.posteriors, scores.ratios
    if posteriors is None:
        return 1.0
    new = _against_classes(scores, ratios.new, posteriors.ratios, enough_places(scores.n_new))
    sketches, known = [], posteriors.labelled_ratios
    for code, against in enumerate(new.T):
        own = np.flatnonzero(scores.codes == code)
        labelled = _against_classes(scores, ratios.labelled, known, own[enough_places(len(own))])
        sketches.append(RocSketch.from_scores(against, labelled[:, code]))
    slopes = fit_sketches(sketches, Concave()).right_slope
    return float(np.clip(slopes, 0.0, 1.0).sum())


def _against_classes(
    scores: OpenScores, values: FloatArray, densities: FloatArray, places: IntArray | slice
) -> FloatArray:
    """Log density ratios of the new rows against each class, (rows, K), at rows of a sample."""
    densities = densities[places]
    mixed = np.log(np.maximum(densities @ scores.mixture, _LEAST_DENSITY))
    against = values[places, scores.ratios.best] + mixed
    return against[:, None] - np.log(np.maximum(densities, _LEAST_DENSITY))


def known_overlap(scores: OpenScores) -> tuple[float, tuple[Notice, ...]]:
    """By what factor known classes account for all new rows, 1 unless far above; a notice."""
    overlap = slope_total(scores)
    if overlap <= _FAR_ABOVE_ONE:
        return 1.0, ()
    text = (
        f"the known classes overlap: taken one by one they would account for {overlap:.0%} of the "
        "new rows. An unseen class that lies among them looks known; the upper end of the unseen "
        "share allows for this."
    )
    return overlap, (Notice("overlapping_classes", text),)
