"""Drift for methods that assume unmoved classes: whether distances support what they claim.

Discriminators, and every ROC made of them, call moved rows unseen; distances to labelled rows
hardly see small moves. Where a method claims a share that distances do not confirm even if they
allow for drift, known classes may have moved, or what is new is hidden from distances: the verdict
is then "unclear", and never "moved". docs/drift.md, "Other methods", says how often it is right.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.metrics import pairwise_distances_argmin

from unseen._team import row_blocks
from unseen._types import FloatArray, IntArray, Matrix
from unseen.drift.again import Verdict
from unseen.drift.hypotheses import OTHER_ANSWER, quantile_of
from unseen.drift.lattice import PRIOR_STRENGTH, SHARES, MovedLattice
from unseen.drift.moved import law_by_distances
from unseen.drift.tolerance import certified_tolerance
from unseen.drift.verdict import Drift, displacement, moved_columns, strays
from unseen.mixture.placement import Candidates
from unseen.records import Estimate
from unseen.roc.pooled import log_sums
from unseen.samples import Clusters, LabelledRows, all_clusters
from unseen.scores.base import Distances
from unseen.scores.kernel import Standardisation, neighbour_distances
from unseen.scores.moves import Moves, class_shifts, steady_distances
from unseen.scores.stray import stray_values

__all__ = ["drift_by_distances", "share_by_distances", "with_drift"]

# A smaller claim is not worth a doubt, and distances cannot see so few rows.
_LEAST_CLAIM = 0.05
_MOST_REFERENCES = 1000
_LEAST_SHARE = 1e-6


def drift_by_distances(
    labelled: LabelledRows, X_new: Matrix, known: FloatArray, unseen: float, seed: int | None
) -> Drift:
    """A record of drift from distances alone, beside a method that claims these shares.

    Parameters
    ----------
    labelled : LabelledRows
    X_new : ndarray or sparse matrix of shape (m, d)
        Checked new rows.
    known : ndarray of shape (K,)
        Shares of the known classes.
    unseen : float
        The unseen share that the method claims.
    seed : int or None
        Draws the labelled rows to measure from, where there are many.

    Returns
    -------
    Drift
        Whose verdict is "still" or "unclear"; nothing is said of the probability of "moved".

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.drift.alone import drift_by_distances
    >>> from unseen.samples import LabelledRows
    >>> rng = np.random.default_rng(0)
    >>> sample = LabelledRows(rng.normal(size=(200, 4)), np.array(["a"]), np.zeros(200, dtype=int))
    >>> apart = np.vstack([rng.normal(0, 1, (150, 4)), rng.normal(9, 1, (150, 4))])
    >>> moved = rng.normal(0.3, 1, (300, 4))
    >>> [drift_by_distances(sample, rows, np.ones(1), 0.5, 0).verdict for rows in (apart, moved)]
    ['still', 'unclear']
    """
    rows, rng = labelled.rows, np.random.RandomState(seed)
    clusters = all_clusters(labelled, X_new)
    scale = Standardisation.of(rows, np.ones(rows.shape[0]))
    given = neighbour_distances(X_new, rows, scale.for_distances, rng, clusters)
    steady = steady_distances(X_new, rows, None, given, clusters, rng) or given
    verdict: Verdict = "still"
    stray = stray_values(rows, X_new)
    if unseen >= _LEAST_CLAIM:
        weight = (np.maximum(known, _LEAST_SHARE) / labelled.counts)[labelled.codes]
        seen = share_by_distances(steady, weight, clusters) - stray.share
        verdict = "unclear" if unseen - seen > OTHER_ANSWER * unseen else "still"
    shifts = class_shifts(labelled, X_new, _nearest_class(labelled, X_new, scale, rng))
    moves = Moves(steady, *shifts, labelled.names, stray)
    return Drift(
        verdict,
        None,
        certified_tolerance(given.new[:, 0], given.labelled[:, 0], labelled.codes),
        float(unseen),
        columns=moved_columns(moves),
        displacement=displacement(moves, labelled.labels),
        **strays(moves),
    )


def with_drift(estimate: Estimate, drift: Drift) -> Estimate:
    """An estimate of a method that takes known classes for unmoved, with a verdict on drift.

    Where classes have moved, or may have, rows that such a method calls unseen may be of any known
    class: the interval of the unseen share begins at 0, and those of the known shares end higher
    by that share.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.drift import Drift, Tolerance, with_drift
    >>> from unseen.records import Estimate
    >>> estimate = Estimate(("cat",), [0.1], 0.9, "m", intervals=[[0.0, 0.2], [0.8, 1.0]],
    ...                     n_labelled={"cat": 80}, n_new=400)
    >>> drift = Drift("moved", 0.97, Tolerance(np.zeros(0), np.zeros(0)), 0.9)
    >>> with_drift(estimate, drift).intervals
    array([[0., 1.],
           [0., 1.]])
    """
    limits = estimate.intervals
    if limits is not None and drift.verdict != "still":
        wider = limits + np.array([0.0, estimate.unseen])
        wider[-1] = 0.0, limits[-1, 1]
        limits = np.tile([0.0, 1.0], (len(limits), 1)) if drift.far else np.clip(wider, 0.0, 1.0)
    found = (
        "distances do not confirm what it calls unseen. OpenSetEstimator tells more."
        if drift.probability_moved is None
        else "OpenSetEstimator finds that they have moved, or may have."
    )
    text = f"{estimate.method} assumes that no class moved and calls moved rows unseen; {found}"
    doubts = tuple(
        notice if notice.code == "stray_values" else replace(notice, text=text)
        for notice in drift.notices
    )
    return replace(estimate, drift=drift, intervals=limits, notices=(*estimate.notices, *doubts))


def share_by_distances(distances: Distances, weight: FloatArray, clusters: Clusters) -> float:
    """Median of the unseen share by distances alone, if known classes may have moved.

    Parameters
    ----------
    distances : Distances
    weight : ndarray of shape (n,)
        Weights of the labelled rows.
    clusters : Clusters
        Rows that count as draws of one row.

    Returns
    -------
    float
    """
    pair, n_scales = (distances.new, distances.labelled), distances.new.shape[1]
    cells = Candidates(*pair, np.zeros(n_scales), clusters).cells(weight)
    pair = cells.new, cells.labelled
    table = MovedLattice.of_cells(*pair).tables(*pair).table
    return quantile_of(SHARES, law_by_distances(log_sums(table + PRIOR_STRENGTH, axis=2)), 0.5)


def _nearest_class(
    labelled: LabelledRows, X_new: Matrix, scale: Standardisation, rng: np.random.RandomState
) -> IntArray:
    """Class of the labelled row that is nearest to each new row, of at most 1,000."""
    if len(labelled.classes) == 1:
        return np.zeros(X_new.shape[0], dtype=np.intp)
    chosen = rng.permutation(labelled.rows.shape[0])[:_MOST_REFERENCES]
    references = scale(labelled.rows[chosen])
    nearest = [
        pairwise_distances_argmin(scale(X_new[block]), references)
        for block in row_blocks(X_new.shape[0])
    ]
    return np.asarray(labelled.codes[chosen][np.concatenate(nearest)])
