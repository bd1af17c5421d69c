"""A ROC as counts: lossless, and mergeable by addition.

Scores are high where a row looks like F (new) and low where it looks like H (labelled). The ROC is
a function of the number of F rows between neighbouring scores of H, and tied with each; with the
scores of H fixed these counts add over chunks of F.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from unseen._arrays import chosen_arrays
from unseen._frozen import Frozen
from unseen._types import FloatArray, IntArray
from unseen.records import RocEvidence

_MAX_VERTICES = 200


@dataclass(frozen=True, eq=False)
class RocSketch(Frozen):
    """Counts of F scores between, and tied with, the sorted scores of H.

    Parameters
    ----------
    edges : ndarray of shape (m,)
        Distinct scores of H, rising.
    edge_labelled : ndarray of shape (m,)
        Rows of H at each edge.
    edge_new : ndarray of shape (m,)
        Rows of F tied with each edge.
    gap_new : ndarray of shape (m + 1,)
        Rows of F below the first edge, between neighbours, and above the last.

    Examples
    --------
    >>> from unseen.roc.sketch import RocSketch
    >>> sketch = RocSketch.from_scores([0.5, 2.0, 3.0], [0.0, 1.0])
    >>> sketch.gap_new
    array([0, 1, 2])
    >>> merged = sketch + RocSketch.from_scores([-1.0], [0.0, 1.0])
    >>> merged.gap_new
    array([1, 1, 2])
    """

    edges: FloatArray
    edge_labelled: IntArray
    edge_new: IntArray
    gap_new: IntArray

    @classmethod
    def from_scores(cls, scores_F: ArrayLike, scores_H: ArrayLike) -> RocSketch:
        """Count the scores of F against the scores of H."""
        return cls.of_labelled(scores_H).recounted(scores_F)

    @classmethod
    def of_labelled(cls, scores_H: ArrayLike) -> RocSketch:
        """The scores of H alone, for :meth:`recounted`."""
        edges, edge_labelled = np.unique(check_scores(scores_H, "scores_H"), return_counts=True)
        empty = np.zeros(edges.size + 1, dtype=np.int64)
        return cls(edges, edge_labelled, empty[1:], empty)

    def recounted(self, scores_F: ArrayLike) -> RocSketch:
        """Counts of other scores of F against the same scores of H."""
        new = np.sort(check_scores(scores_F, "scores_F"))
        below = np.searchsorted(new, self.edges, side="left")
        up_to = np.searchsorted(new, self.edges, side="right")
        gaps = np.append(below, new.size) - np.append(0, up_to)
        return RocSketch(self.edges, self.edge_labelled, up_to - below, gaps)

    def __add__(self, other: RocSketch) -> RocSketch:
        """Merge the counts of another chunk of F; the scores of H must be the same."""
        names = "edges", "edge_labelled"
        if not all(np.array_equal(getattr(self, one), getattr(other, one)) for one in names):
            raise ValueError(
                "sketches merge only when they share the scores of H; "
                f"got {self.n_labelled} and {other.n_labelled} scores that differ."
            )
        new = self.edge_new + other.edge_new, self.gap_new + other.gap_new
        return RocSketch(self.edges, self.edge_labelled, *new)

    @property
    def n_labelled(self) -> int:
        """Rows of H."""
        return int(self.edge_labelled.sum())

    @property
    def n_new(self) -> int:
        """Rows of F."""
        return int(self.edge_new.sum() + self.gap_new.sum())

    def increments(self) -> tuple[IntArray, IntArray]:
        """Rows of H and of F in each cell (gap, edge, gap, ..., gap), by falling score."""
        labelled = np.zeros(2 * self.edges.size + 1, dtype=np.int64)
        new = np.zeros_like(labelled)
        labelled[1::2] = self.edge_labelled[::-1]
        new[1::2] = self.edge_new[::-1]
        new[0::2] = self.gap_new[::-1]
        return labelled, new

    def coarse_increments(self, max_cells: int) -> tuple[IntArray, IntArray]:
        """Increments summed over at most about ``max_cells`` runs of cells, finer at both ends."""
        labelled, new = self.increments()
        if labelled.size <= max_cells:
            return labelled, new
        # A cell belongs to the run it ends in.
        angle = _angle(*cumulative_roc(labelled, new))[1:]
        run = np.ceil(angle * max_cells / np.pi - 1e-9).astype(np.int64)
        starts = np.flatnonzero(np.diff(run, prepend=-1))
        return np.add.reduceat(labelled, starts), np.add.reduceat(new, starts)

    def roc(self) -> tuple[FloatArray, FloatArray]:
        """Vertices (false_alarm, detection) of the empirical ROC from (0, 0) to (1, 1)."""
        return cumulative_roc(*self.increments())


def cumulative_roc(labelled: ArrayLike, new: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Vertices of the ROC whose steps are given, along the last axis."""
    totals = [np.cumsum(steps, axis=-1, dtype=np.float64) for steps in (labelled, new)]
    start = np.zeros((*totals[0].shape[:-1], 1))
    x, y = (np.concatenate([start, one / one[..., -1:]], axis=-1) for one in totals)
    return x, y


def _angle(false_alarm: FloatArray, detection: FloatArray) -> FloatArray:
    """Sum of ``asin(sqrt(share))`` over both axes: runs of equal angle keep the spread."""
    # Rounding lets a cumulative share pass 1 by an ulp.
    x, y = (np.arcsin(np.sqrt(np.clip(one, 0.0, 1.0))) for one in (false_alarm, detection))
    return x + y


def scored_evidence(
    scores_F: FloatArray,
    scores_H: FloatArray,
    right_slope: float,
    weight_H: FloatArray | None = None,
    parameters: Mapping[str, float] | None = None,
) -> RocEvidence:
    """The ROC of (weighted) scores for pictures: at most about 200 vertices, with their scores."""
    arrays, n_new, n_labelled = chosen_arrays(), len(scores_F), len(scores_H)
    weight = arrays.put(np.ones(n_labelled) if weight_H is None else weight_H)
    scores = arrays.put(arrays.joined([scores_F, scores_H]))
    values, place = arrays.xp.unique(-scores, return_inverse=True)
    labelled = arrays.xp.bincount(place[n_new:], weight, minlength=len(values))
    new = arrays.xp.bincount(place[:n_new], minlength=len(values))
    falling, labelled, new = map(arrays.host, (-values, labelled, new))
    middles = (falling[1:] + falling[:-1]) / 2
    thresholds = np.concatenate([falling[:1], middles, falling[-1:]])
    x, y = cumulative_roc(labelled, new)
    if len(falling) >= _MAX_VERTICES:
        run = (1e-9 - _angle(x, y) * (_MAX_VERTICES - 2) / np.pi) // 1
        kept = np.unique(np.concatenate([[0], np.flatnonzero(np.diff(run)), [len(falling)]]))
        x, y, thresholds = x[kept], y[kept], thresholds[kept]
    return RocEvidence(
        x, y, float(right_slope), n_new, n_labelled, dict(parameters or {}), thresholds
    )


def concave_hull(false_alarm: ArrayLike, detection: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Least concave majorant of a ROC: the optimal ROC of Sec. 6.1 for these thresholds.

    Its slopes are the falling isotonic regression of the slopes between the vertices, each
    weighted by its run. A vertical step has no slope, so that only its top counts.

    Parameters
    ----------
    false_alarm, detection : array-like of shape (V,)
        Vertices from (0, 0) to (1, 1), both rising.

    Returns
    -------
    false_alarm, detection : ndarray
        The vertices of the hull.

    Examples
    --------
    >>> concave_hull([0, 0.5, 0.5, 1.0], [0, 0.1, 0.8, 1.0])
    (array([0. , 0.5, 1. ]), array([0. , 0.8, 1. ]))
    """
    x, y = np.asarray(false_alarm, dtype=float), np.asarray(detection, dtype=float)
    if x.ndim != 1 or x.shape != y.shape or x.size < 2:
        raise ValueError(
            "false_alarm and detection must be 1-d, of one length >= 2; "
            f"got shapes {x.shape} and {y.shape}."
        )
    for name, values in (("false_alarm", x), ("detection", y)):
        rises = np.diff(values) >= 0
        if not rises.all():
            at = int(np.argmin(rises))
            raise ValueError(
                f"{name} must rise or stand still from vertex to vertex; "
                f"got {values[at + 1]:g} after {values[at]:g}."
            )
    tops = np.flatnonzero(np.diff(x, append=np.inf))
    run, rise = np.diff(x[tops]), np.diff(y[tops])
    if run.size:
        blocks = isotonic_regression(rise / run, weights=run, increasing=False).blocks
        tops = tops[blocks]
    foot = [0] if tops[0] > 0 else []
    kept = np.append(foot, tops).astype(np.intp)
    return x[kept], y[kept]


def check_scores(scores: ArrayLike, name: str) -> FloatArray:
    """Scores as a 1-d array of finite numbers; raise an error that names what is wrong."""
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"{name} must be 1-d, one score a row; got shape {values.shape}.")
    if values.size == 0:
        raise ValueError(f"{name} must hold at least one score; got none.")
    if not np.isfinite(values).all():
        bad = int((~np.isfinite(values)).sum())
        raise ValueError(f"{name} must be finite; got {bad} NaN or infinite of {values.size}.")
    return values
