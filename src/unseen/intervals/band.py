"""The paper's intervals: a model fitted to the band of a ROC (appendix)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen._types import FloatArray
from unseen.intervals.evidence import IntervalEvidence, check_n_replicates
from unseen.roc.bootstrap import bootstrap_rocs
from unseen.roc.fit import BinomialDeviance, RocFit
from unseen.roc.models import Concave, RocModel

__all__ = ["PaperBand", "band_slopes", "closed_limits", "open_limits"]


@dataclass(frozen=True)
class PaperBand:
    """The paper's intervals: models fitted to the bands of the ROC (appendix).

    The lower band of the ROC of a class, so much of each tail of its replicates cut off at each
    false alarm, is fitted like a ROC; its right-end slope is the upper limit of the share.

    Where all classes are known, the lower limit is one minus the sum of the upper limits of the
    others: the paper's rule, ``closed=True``. Where unseen classes may be present that rule is
    wrong, as what the others leave may be unseen; then the upper band gives the lower limit.
    The unseen share lies between one minus the sum of the upper limits and one minus the sum
    of the lower ones.

    Parameters
    ----------
    closed : bool, default=False
        Take it that every row belongs to a known class, as the paper's experiment does.
    n_replicates : int, default=500
        Bootstrap replicates behind the bands.
    model : RocModel or None, default=None
        What is fitted; None is ``Concave()``.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.intervals import IntervalEvidence, PaperBand
    >>> rng = np.random.default_rng(0)
    >>> scores = np.r_[rng.normal(0, 1, 600), rng.normal(4, 1, 400)], rng.normal(0, 1, 800)
    >>> evidence = IntervalEvidence(np.array([0.6, 0.4]), lambda *_: None, 1000, (scores,), 0)
    >>> (lower, upper), unseen = PaperBand().limits(evidence, 0.95)
    >>> bool(lower < 0.6 < upper)
    True
    """

    closed: bool = False
    n_replicates: int = 500
    model: RocModel | None = None

    def __post_init__(self) -> None:
        check_n_replicates(self.n_replicates)

    def limits(self, evidence: IntervalEvidence, confidence: float) -> FloatArray:
        """Lower and upper limit of each share, unseen last.

        Parameters
        ----------
        evidence : IntervalEvidence
            With the scores of each class.
        confidence : float

        Returns
        -------
        ndarray of shape (K + 1, 2)
        """
        if evidence.pairs is None:
            raise ValueError(
                "interval must be one that needs no ROC for an estimator that has none; "
                f"got {self!r}. Take Percentile() or None."
            )
        model = Concave() if self.model is None else self.model
        lower, upper = band_slopes(
            evidence.pairs, confidence, model, BinomialDeviance(), self.n_replicates, evidence.seed
        )
        return closed_limits(upper) if self.closed else open_limits(lower, upper)


def band_slopes(
    pairs: Sequence[tuple[FloatArray, FloatArray]],
    confidence: float,
    model: RocModel,
    criterion: RocFit,
    n_replicates: int,
    random_state: Any,
) -> tuple[FloatArray, FloatArray]:
    """Slopes of the model fitted to the upper and to the lower band of each class's ROC.

    Returns
    -------
    lower, upper : ndarray of shape (K,)
        Limits of the share of each class; a higher ROC has the lower slope.
    """
    curves = bootstrap_rocs(pairs, criterion.grid, n_replicates, random_state)
    tail = (1 - confidence) / 2
    bands = np.quantile(curves, [1 - tail, tail], axis=0)
    slopes = [
        criterion.fit_curves(
            criterion.grid, bands[:, label], model, n_labelled=len(scores_H)
        ).right_slope
        for label, (_, scores_H) in enumerate(pairs)
    ]
    lower, upper = np.sort(slopes, axis=1).T
    return lower, upper


def closed_limits(upper: FloatArray) -> FloatArray:
    """The paper's limits: one minus the others' upper limits is the lower limit.

    Examples
    --------
    >>> closed_limits(np.array([0.7, 0.5]))
    array([[0.5, 0.7],
           [0.3, 0.5],
           [0. , 0. ]])
    """
    others = upper.sum() - upper
    lower = np.clip(1 - others, 0.0, upper)
    return np.vstack([np.column_stack([lower, upper]), [0.0, 0.0]])


def open_limits(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Limits of each class, and what they leave to unseen classes at most and at least.

    Examples
    --------
    >>> open_limits(np.array([0.25, 0.125]), np.array([0.5, 0.25]))
    array([[0.25 , 0.5  ],
           [0.125, 0.25 ],
           [0.25 , 0.625]])
    """
    unseen = np.clip([1 - upper.sum(), 1 - lower.sum()], 0.0, 1.0)
    return np.vstack([np.column_stack([lower, upper]), unseen])
