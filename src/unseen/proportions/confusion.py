"""Known classes that the columns cannot tell apart: only the sum of their shares is known.

Between classes a and b in equal shares, a row with the class densities r_a and r_b tells as much
about the shares as ``E[(2q - 1)^2]`` rows whose class is known, ``q = r_a / (r_a + r_b)``: the
Fisher information of the share, as a part of the most that there can be. For calibrated posteriors
this is half the difference of the mean of ``2q - 1`` between the two classes, which classifiers
that are too sure of themselves cannot raise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from unseen._types import FloatArray, IntArray
from unseen._wording import listed, share
from unseen.records import Notice
from unseen.samples.draws import enough_places

__all__ = ["confusion_notices", "pair_information"]

# Two classes are confused where ten rows tell less than one whose class is known.
_LEAST_INFORMATION = 0.1
_LEAST_DENSITY = 1e-300


def pair_information(densities: FloatArray, codes: IntArray) -> tuple[FloatArray, FloatArray]:
    """Worth of a row for telling two classes apart, in rows of known class; and its noise.

    Parameters
    ----------
    densities : ndarray of shape (n, K)
        Class densities at the labelled rows, out of fold, up to a factor for each row.
    codes : ndarray of shape (n,)
        Classes of the labelled rows; of very many rows of a class a fixed draw counts.

    Returns
    -------
    worth, noise : ndarray of shape (K, K)
        1 where two classes never overlap, 0 where nothing tells them apart; standard errors.

    Examples
    --------
    >>> sure, unsure = [[1.0, 0.0], [0.0, 1.0]] * 2, [[1.0, 1.0], [1.0, 1.0]] * 2
    >>> codes = np.array([0, 1, 0, 1])
    >>> [float(pair_information(np.array(rows), codes)[0][0, 1]) for rows in (sure, unsure)]
    [1.0, 0.0]
    """
    n_classes = densities.shape[1]
    mean, variance = np.zeros((2, n_classes, n_classes))
    for label in range(n_classes):
        places = np.flatnonzero(codes == label)
        own = densities[places[enough_places(len(places))]]
        mine = own[:, [label]]
        lead = (mine - own) / np.maximum(mine + own, _LEAST_DENSITY)
        mean[label], variance[label] = lead.mean(axis=0), lead.var(axis=0) / len(own)
    worth = (mean + mean.T) / 2
    np.fill_diagonal(worth, 1.0)
    return worth, np.sqrt(variance + variance.T) / 2


def confusion_notices(scores: Any, shares: FloatArray) -> tuple[Notice, ...]:
    """A notice where classes cannot be told apart, with the shares that belong together.

    Parameters
    ----------
    scores : Scores
        With posteriors of the labelled rows, or without: then there is nothing to look at.
    shares : ndarray of shape (K + 1,)
        The shares found, unseen last.

    Returns
    -------
    tuple of Notice
    """
    posteriors = getattr(scores, "posteriors", scores)
    if getattr(posteriors, "labelled", None) is None or not hasattr(posteriors, "prior"):
        return ()
    worth, noise = pair_information(posteriors.labelled_ratios, posteriors.codes)
    confused = worth + noise < _LEAST_INFORMATION
    group = connected_components(confused, directed=False)[1]
    members = [np.flatnonzero(group == one) for one in np.unique(group)]
    together = [one for one in members if len(one) > 1]
    if not together:
        return ()
    sums = [
        f"{listed([repr(scores.classes[place]) for place in one])} {share(shares[one].sum())}"
        for one in together
    ]
    count = sum(map(len, together))
    text = (
        f"{count} of {len(scores.classes)} known classes are confused by these columns. Their "
        f"shares belong together: {'; '.join(sums)}. How each sum divides is hardly known."
    )
    return (Notice("confused_classes", text),)
