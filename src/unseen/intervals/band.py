"""The paper's intervals: a ROC model fitted to the bands of the bootstrapped ROC (appendix)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen._types import FloatArray
from unseen.intervals.quantiles import IntervalEvidence, check_n_replicates
from unseen.roc.bootstrap import bootstrap_rocs
from unseen.roc.fit import BinomialDeviance, fit_roc
from unseen.roc.models import Concave, RocModel

__all__ = ["RocBand", "band_slopes", "closed_limits", "open_limits"]


@dataclass(frozen=True)
class RocBand:
    """The paper's intervals: models fitted to the bands of the ROC (appendix).

    The lower band of a class is a quantile of its bootstrapped ROC at each false alarm. A model
    fitted to this band has the upper limit of the share as its right-end slope.

    With ``closed=True``, the paper's rule, the lower limit of a class is one minus the sum of the
    upper limits of the others. This rule is wrong where unseen classes may be present; then the
    upper band gives the lower limit, and the unseen share lies between one minus the sum of the
    upper limits and one minus the sum of the lower ones.

    Parameters
    ----------
    closed : bool, default=False
        Whether every new row belongs to a known class, as in the paper's experiment.
    n_replicates : int, default=500
        Bootstrap replicates behind the bands.
    model : RocModel or None, default=None
        The model that is fitted to the bands; None is ``Concave()``.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.intervals import IntervalEvidence, RocBand
    >>> rng = np.random.default_rng(0)
    >>> scores = np.r_[rng.normal(0, 1, 600), rng.normal(4, 1, 400)], rng.normal(0, 1, 800)
    >>> evidence = IntervalEvidence(np.array([0.6, 0.4]), lambda *_: None, 1000, (scores,), 0)
    >>> (lower, upper), unseen = RocBand().limits(evidence, 0.95)
    >>> bool(lower < 0.6 < upper)
    True
    """

    closed: bool = False
    n_replicates: int = 500
    model: RocModel | None = None

    def __post_init__(self) -> None:
        check_n_replicates(self.n_replicates)

    def limits(self, evidence: IntervalEvidence, confidence: float) -> FloatArray:
        """Lower and upper limit of each share, unseen last: see :class:`IntervalMethod`."""
        if evidence.pairs is None:
            raise ValueError(
                "interval must be one that needs no ROC for an estimator that has none; "
                f"got {self!r}. Take Percentile() or None."
            )
        model = Concave() if self.model is None else self.model
        lower, upper = band_slopes(
            evidence.pairs, confidence, model, self.n_replicates, evidence.seed
        )
        return closed_limits(upper) if self.closed else open_limits(lower, upper)


def band_slopes(
    pairs: Sequence[tuple[FloatArray, FloatArray]],
    confidence: float,
    model: RocModel,
    n_replicates: int,
    random_state: Any,
) -> tuple[FloatArray, FloatArray]:
    """Slopes of the model fitted to the upper and to the lower band of each class's ROC.

    Returns
    -------
    lower, upper : ndarray of shape (K,)
        Limits of the share of each class; a higher ROC has the lower slope.
    """
    grid, tail = BinomialDeviance().grid, (1 - confidence) / 2
    curves = bootstrap_rocs(pairs, grid, n_replicates, random_state)
    bands = np.quantile(curves, [1 - tail, tail], axis=0)
    slopes = [fit_roc(grid, bands[:, label], model).right_slope for label in range(len(pairs))]
    lower, upper = np.sort(slopes, axis=1).T
    return lower, upper


def closed_limits(upper: FloatArray) -> FloatArray:
    """The paper's limits: a lower limit is one minus the upper limits of the other classes.

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
    """Limits of each class, and of the unseen share that they leave.

    Examples
    --------
    >>> open_limits(np.array([0.25, 0.125]), np.array([0.5, 0.25]))
    array([[0.25 , 0.5  ],
           [0.125, 0.25 ],
           [0.25 , 0.625]])
    """
    unseen = np.clip([1 - upper.sum(), 1 - lower.sum()], 0.0, 1.0)
    return np.vstack([np.column_stack([lower, upper]), unseen])
