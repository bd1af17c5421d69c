"""Score densities of new and of known rows, from the ROC and its thresholds.

Densities are differences of the ROC, counted in equal bins and smoothed over neighbouring bins,
both samples alike. Rows beyond the range of the bins are counted in the outermost bins, and asinh
squeezes both ends of the axis, as scores often have a long tail. No area changes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unseen._types import FloatArray
from unseen.records import RocEvidence

__all__ = ["binned_masses", "smoothed", "squeezed"]

_MOST_BINS = 56
_FEWEST_BINS = 16
_TAIL = 0.004


def binned_masses(
    evidence: RocEvidence, n_bins: int | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mass of new and of known rows in equal bins of the score, from the ROC and its thresholds.

    Between two thresholds the rows are taken as evenly spread.

    Parameters
    ----------
    evidence : RocEvidence
        With thresholds.
    n_bins : int or None, default=None
        None is three times the cube root of the smaller sample, from 16 to 56.

    Returns
    -------
    edges : ndarray of shape (b + 1,)
        Ends of the bins.
    new, known : ndarray of shape (b,)
        Mass of each sample in each bin; each sums to 1.

    Examples
    --------
    >>> evidence = RocEvidence([0, 0, 1], [0, 0.5, 1], 0.5, 40, 40, thresholds=[2.0, 1.0, 0.0])
    >>> edges, new, known = binned_masses(evidence, 4)
    >>> new, known
    (array([0.25, 0.25, 0.25, 0.25]), array([0.5, 0.5, 0. , 0. ]))
    """
    thresholds, below_new, below_known = _rising(evidence)
    rows = min(evidence.n_new, evidence.n_labelled)
    if n_bins is None:
        n_bins = int(np.clip(round(3 * rows ** (1 / 3)), _FEWEST_BINS, _MOST_BINS))
    low, high = _range(thresholds, below_new, below_known)
    edges = np.linspace(low, high, n_bins + 1)
    below = np.array([np.interp(edges, thresholds, one) for one in (below_new, below_known)])
    below[:, 0], below[:, -1] = 0.0, 1.0
    new, known = np.diff(below)
    return edges, new, known


def squeezed(evidence: RocEvidence) -> RocEvidence:
    """A ROC with the tails of its scores drawn in: ``asinh((score - median) / spread)``.

    The spread is the distance between the quartiles of both samples together.

    Examples
    --------
    >>> evidence = RocEvidence([0, 0.5, 1], [0, 0.5, 1], 1.0, 9, 9, thresholds=[2.0, 0.0, -2.0])
    >>> squeezed(evidence).thresholds.round(2)
    array([ 0.88,  0.  , -0.88])
    """
    thresholds, below_new, below_known = _rising(evidence)
    quartiles = np.interp((0.25, 0.5, 0.75), (below_new + below_known) / 2, thresholds)
    spread = quartiles[2] - quartiles[0] or 1.0
    return replace(evidence, thresholds=np.arcsinh((thresholds[::-1] - quartiles[1]) / spread))


def smoothed(masses: FloatArray) -> FloatArray:
    """Means over neighbouring bins with weights 1/4, 1/2, 1/4; the total stays.

    Examples
    --------
    >>> smoothed(np.array([0.0, 1.0, 0.0, 0.0])), smoothed(np.array([1.0, 0.0]))
    (array([0.25, 0.5 , 0.25, 0.  ]), array([0.75, 0.25]))
    """
    padded = np.pad(masses, 1, mode="edge")
    return np.asarray((padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4)


def _rising(evidence: RocEvidence) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Thresholds from the lowest, and the shares of new and of known rows that are not above."""
    if evidence.thresholds is None:
        raise ValueError(
            "evidence must hold the thresholds of its ROC to draw scores; got None for them."
        )
    # An infinite end moves to one typical step beyond the next threshold.
    found = evidence.thresholds[np.isfinite(evidence.thresholds)]
    step = (found[0] - found[-1]) / max(len(found) - 1, 1) or 1.0
    thresholds = np.clip(evidence.thresholds, found[-1] - step, found[0] + step)
    return thresholds[::-1], 1.0 - evidence.detection[::-1], 1.0 - evidence.false_alarm[::-1]


def _range(
    thresholds: FloatArray, below_new: FloatArray, below_known: FloatArray
) -> tuple[float, float]:
    """Scores that hold nearly all of both samples: a few outliers must not squeeze the rest."""
    below = (below_new + below_known) / 2
    inside = np.flatnonzero((below > _TAIL) & (below < 1 - _TAIL))
    first, last = (inside[0] - 1, inside[-1] + 1) if inside.size else (0, len(below) - 1)
    low, high = float(thresholds[max(first, 0)]), float(thresholds[min(last, len(below) - 1)])
    return (low, high) if high > low else (low - 0.5, low + 0.5)
