"""MPE-Joint: the ROCs of all classes fitted at once, with slopes that sum to 1.

``minimise sum_i B_f(ROC_i) subject to sum_i slope_i = 1``, or ``<= 1`` where classes may be unseen.
:mod:`unseen.roc.joint` solves the problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from unseen._types import FloatArray
from unseen.mixture.slope import SMOOTHING_REPLICATES
from unseen.proportions.base import Reading
from unseen.proportions.per_class.incomplete import PerClassEstimator
from unseen.roc.bootstrap import bootstrap_rocs
from unseen.roc.fit import GRID
from unseen.roc.joint import by_slope_of, fit_jointly
from unseen.roc.models import Concave, Gaussian, RocModel
from unseen.roc.sketch import RocSketch, scored_evidence
from unseen.scores import PairScores


@dataclass(eq=False, repr=False)
class MPEJoint(PerClassEstimator):
    """Shares of the known classes from all their ROCs at once (MPE-Joint).

    Parameters
    ----------
    model : RocModel or None, default=None
        The regression model; None is the paper's ``Gaussian()`` where ``closed``, and else
        ``Concave()``. On the ROC of a class that makes up nearly all rows the Gaussian slope is
        nearly arbitrary, unless all slopes must sum to 1.
    closed : bool, default=True
        True, as in the paper, makes the shares sum to 1: no class is unseen. False lets them sum to
        less, and the rest is unseen.
    smooth : bool, default=False
        Fit the mean of Bayesian-bootstrap replicates, as the paper's appendix does, instead of
        the empirical ROCs.
    classifier, n_folds, n_repeats, random_state, n_jobs
        As in :class:`~unseen.MPEIncomplete`.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import MPEJoint
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-2, 1, (300, 2)), rng.normal(2, 1, (300, 2))])
    >>> y = ["left"] * 300 + ["right"] * 300
    >>> X_new = np.vstack([rng.normal(-2, 1, (350, 2)), rng.normal(2, 1, (150, 2))])
    >>> estimate = MPEJoint(random_state=0).fit(X, y).estimate(X_new)
    >>> print(f"left {estimate['left']:.1f}, right {estimate['right']:.1f}")
    left 0.7, right 0.3
    """

    model: RocModel | None = None
    closed: bool = True
    smooth: bool = False

    _parameter_constraints = PerClassEstimator._parameter_constraints | {
        "model": [None, RocModel],
        "closed": ["boolean"],
        "smooth": ["boolean"],
    }

    @property
    def sees_unseen(self) -> bool:  # type: ignore[override]
        """Whether the shares may sum to less than one."""
        return not self.closed

    @property
    def n_classes(self) -> tuple[int, int | None]:  # type: ignore[override]
        """Two classes at least where the shares must sum to one."""
        return (2 if self.closed else 1), None

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Keep the labelled sample; as in :meth:`ProportionEstimator.fit`."""
        super().fit(X, y)
        by_slope_of(self._model())
        return self

    def read(self, scores: PairScores) -> Reading:
        """Fit all ROCs at once, under the constraint on the sum of their slopes."""
        model = self._model()
        if self.smooth:
            curves = bootstrap_rocs(scores.pairs, GRID, SMOOTHING_REPLICATES, scores.seed).mean(0)
        else:
            rocs = [RocSketch.from_scores(*pair).roc() for pair in scores.pairs]
            curves = np.array([np.interp(GRID, *roc) for roc in rocs])
        fitted = fit_jointly(GRID, curves, model, self.closed)

        def replicates(n_replicates: int, random_state: Any) -> FloatArray:
            drawn = bootstrap_rocs(scores.pairs, GRID, n_replicates, random_state)
            return _with_unseen(fit_jointly(GRID, drawn, model, self.closed).right_slope)

        fits = zip(scores.pairs, fitted.right_slope[0], fitted.parameters[0], strict=True)
        return Reading(
            shares=_with_unseen(fitted.right_slope)[0],
            replicates=replicates,
            roc={
                label: scored_evidence(*pair, slope, parameters=model.named(row))
                for label, (pair, slope, row) in zip(scores.classes, fits, strict=True)
            },
            diagnostics={"deviance": float(fitted.deviance[0])},
        )

    def _model(self) -> RocModel:
        if self.model is not None:
            return self.model
        return Gaussian() if self.closed else Concave()


def _with_unseen(slopes: FloatArray) -> FloatArray:
    """Slopes (B, K) and what they leave, (B, K + 1); what rounding leaves over is nothing."""
    rest = 1 - slopes.sum(axis=-1)
    return np.column_stack([slopes, np.where(rest > 1e-13, rest, 0.0)])
