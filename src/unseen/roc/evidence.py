"""The ROC behind a share, thinned for pictures, with the score at each of its vertices.

A sketch keeps no scores of F, and a picture of the two score densities needs them: the evidence of
a record is made from the scores themselves.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unseen._types import FloatArray
from unseen.records import RocEvidence
from unseen.roc.sketch import cumulative_roc

__all__ = ["pooled_evidence", "scored_evidence"]

_MAX_VERTICES = 200


def scored_evidence(
    evidence: RocEvidence, scores_F: FloatArray, scores_H: FloatArray
) -> RocEvidence:
    """Replace the curve of the evidence by one with thresholds, thinned from the scores.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.records import RocEvidence
    >>> bare = RocEvidence([0.0, 1.0], [0.0, 1.0], 0.5, 3, 2)
    >>> scored = scored_evidence(bare, np.array([0.0, 2.0, 3.0]), np.array([0.0, 1.0]))
    >>> scored.thresholds
    array([3. , 2.5, 1.5, 0.5, 0. ])
    >>> scored.detection.round(2)
    array([0.  , 0.33, 0.67, 0.67, 1.  ])
    """
    false_alarm, detection, thresholds = _scored_roc(scores_F, scores_H, np.ones(len(scores_H)))
    return replace(evidence, false_alarm=false_alarm, detection=detection, thresholds=thresholds)


def pooled_evidence(
    scores_F: FloatArray, scores_H: FloatArray, weight_H: FloatArray, right_slope: float
) -> RocEvidence:
    """Evidence of the new rows against all labelled rows together, with weighted labelled rows.

    Parameters
    ----------
    scores_F, scores_H : ndarray of shape (m,) and (n,)
        Scores of the new and of the labelled rows; high where a row looks new.
    weight_H : ndarray of shape (n,)
        Weights of the labelled rows, such that they are a sample of the known part of F.
    right_slope : float
        Share of the known classes in F.

    Returns
    -------
    RocEvidence

    Examples
    --------
    >>> import numpy as np
    >>> scores_H = np.array([0.0, 1.0])
    >>> pooled_evidence(np.zeros(2), scores_H, np.array([3.0, 1.0]), 0.7).false_alarm
    array([0.  , 0.25, 1.  ])
    """
    false_alarm, detection, thresholds = _scored_roc(scores_F, scores_H, weight_H)
    rows = len(scores_F), len(scores_H)
    return RocEvidence(false_alarm, detection, float(right_slope), *rows, thresholds=thresholds)


def _scored_roc(
    scores_F: FloatArray, scores_H: FloatArray, weight_H: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """At most about 200 vertices (false_alarm, detection, threshold), by falling threshold."""
    values, place = np.unique(np.concatenate([scores_F, scores_H]), return_inverse=True)
    new = np.bincount(place[: len(scores_F)], minlength=len(values))
    labelled = np.bincount(place[len(scores_F) :], weight_H, minlength=len(values))
    falling = values[::-1]
    middles = (falling[1:] + falling[:-1]) / 2
    thresholds = np.concatenate([falling[:1], middles, falling[-1:]])
    false_alarm, detection = cumulative_roc(labelled[::-1], new[::-1])
    if len(false_alarm) <= _MAX_VERTICES:
        return false_alarm, detection, thresholds
    # Vertices at equal steps of the summed angles are finer towards both ends of either axis.
    # Rounding lets a cumulative share pass 1 by an ulp, where asin has no value.
    angle = np.arcsin(np.sqrt(np.clip([false_alarm, detection], 0.0, 1.0))).sum(axis=0)
    run = np.ceil(angle * (_MAX_VERTICES - 2) / np.pi - 1e-9).astype(np.int64)
    last_of_run = np.flatnonzero(np.diff(run, append=run[-1] + 1))
    kept = np.unique(np.append(0, last_of_run))
    return false_alarm[kept], detection[kept], thresholds[kept]
