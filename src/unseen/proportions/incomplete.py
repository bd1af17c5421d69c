"""MPE-Incomplete: each known class on its own, and the rest is unseen.

The unlabelled rows are a mixture of the known classes and of others. Under condition (A) the
share of class i is the largest share of its distribution that fits into the unlabelled one,

    pi_i = nu(P_0, P_i),                                               Eq. (4)

so that one mixture proportion per class answers the question, with no model of the other
classes, seen or unseen. What the known classes leave over is the unseen share,
``1 - sum_i pi_i`` (Sec. "New MPE-based Algorithms for CPE").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import HasMethods

from unseen import simplex
from unseen.base import Estimate, EstimatesMixture, FloatArray, MixtureEstimate
from unseen.mixture.slope import ROCSlope
from unseen.proportions.base import ClassScores, PerClassEstimator

__all__ = ["MPEIncomplete", "incomplete_proportions"]

# A surplus that a table of three decimals does not show is not worth a warning.
_LEAST_SURPLUS = 5e-4


class MPEIncomplete(PerClassEstimator):
    """Shares of the known classes by one ROC slope each, Eq. (4); what is left is unseen.

    Parameters
    ----------
    method : mixture estimator or None, default=None
        Reads the share of one class off its scores; None is :class:`~unseen.ROCSlope`. Its
        own ``classifier`` and ``n_folds`` play no part here.
    classifier : scikit-learn classifier or None, default=None
        What tells the unlabelled rows from a class; None is kernel logistic regression.
    n_folds : int, default=10
        Folds of the out-of-fold scores.
    n_repeats : int, default=1
        Times the folds are drawn anew.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds and of the classifier.
    n_jobs : int or None, default=None
        Jobs that score at the same time; does not change the result.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        Labels of the known classes.
    labelled_ : LabelledRows
        The labelled sample.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had names.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import MPEIncomplete
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-4, 1, (300, 2)), rng.normal(4, 1, (300, 2))])
    >>> y = ["left"] * 300 + ["right"] * 300
    >>> X_new = np.vstack([rng.normal(-4, 1, (350, 2)), rng.normal([-4, 4], 1, (150, 2))])
    >>> estimate = MPEIncomplete(random_state=0).fit(X, y).estimate(X_new)
    >>> print(f"left {estimate['left']:.1f}, unseen {estimate.unseen:.1f}")
    left 0.7, unseen 0.3
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "method": [None, HasMethods(["from_scores", "get_params"])],
        **PerClassEstimator._parameter_constraints,
    }

    def __init__(
        self,
        method: EstimatesMixture | None = None,
        classifier: Any = None,
        n_folds: int = 10,
        n_repeats: int = 1,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(classifier, n_folds, n_repeats, random_state, n_jobs)
        self.method = method

    def from_scores(self, scores: ClassScores) -> Estimate:
        """Read the shares off scores that have been made before; needs no ``fit``.

        Parameters
        ----------
        scores : ClassScores

        Returns
        -------
        Estimate
        """
        method = self._seeded_method(scores.seed)
        mixtures = [method.from_scores(*pair) for pair in scores.pairs]
        slopes = np.array([mixture.proportion for mixture in mixtures])
        proportions, unseen = incomplete_proportions(slopes)
        by_class = dict(zip(scores.classes, mixtures, strict=True))
        return Estimate(
            classes=scores.classes,
            proportions=proportions,
            unseen=unseen,
            method=type(self).__name__,
            n_labelled=scores.n_labelled,
            n_unlabelled=scores.n_unlabelled,
            roc={label: mixture.roc for label, mixture in by_class.items() if mixture.roc},
            diagnostics={"slope_total": float(slopes.sum())},
            warnings=(*scores.warnings, *_warnings(by_class), *_overfull(slopes)),
            seed=scores.seed,
        )

    def _seeded_method(self, seed: int | None) -> EstimatesMixture:
        """A copy of the method that draws, where it draws at all, from the one seed."""
        method = ROCSlope() if self.method is None else clone(self.method)
        if method.get_params().get("random_state", seed) is None:
            method.set_params(random_state=seed)
        return method


def incomplete_proportions(slopes: Sequence[float] | FloatArray) -> tuple[FloatArray, float]:
    """Shares of the known classes and of unseen ones, from one slope per class, Eq. (4).

    Parameters
    ----------
    slopes : array-like of shape (K,)
        The mixture proportion of each class.

    Returns
    -------
    proportions : ndarray of shape (K,)
        The slopes; where they sum to more than 1, the nearest shares that do not.
    unseen : float
        ``1 - sum(proportions)``.

    Examples
    --------
    >>> from unseen.proportions import incomplete_proportions
    >>> incomplete_proportions([0.5, 0.25])
    (array([0.5 , 0.25]), 0.25)
    >>> incomplete_proportions([0.75, 0.5])
    (array([0.625, 0.375]), 0.0)
    """
    proportions = simplex.project_open(slopes)
    return proportions, max(0.0, 1.0 - float(proportions.sum()))


def _warnings(mixtures: dict[Any, MixtureEstimate]) -> list[str]:
    return [
        f"class {label!r}: {message}"
        for label, mixture in mixtures.items()
        for message in mixture.warnings
    ]


def _overfull(slopes: FloatArray) -> list[str]:
    total = float(slopes.sum())
    if total <= 1 + _LEAST_SURPLUS:
        return []
    return [
        f"the slopes of the known classes sum to {total:.3f}, more than 1; the nearest shares "
        "that sum to 1 are given, so the unseen share is 0."
    ]
