"""The paper's estimator: ν is the slope of the optimal ROC at its right end (Sec. 6.1).

The empirical ROC is noisy exactly there. So a smooth model is fitted to the whole ROC, and the
slope of the model at false alarm 1 is the estimate. See docs/theory.md, "The slope of a ROC". It
is what :func:`mixture_proportion`, the one call, asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sklearn.base import clone

from unseen._types import FloatArray
from unseen.mixture.base import MixtureEstimator, clipped_estimate
from unseen.mixture.bound import CertifiedBound
from unseen.records import MixtureEstimate
from unseen.roc.bootstrap import bootstrap_roc
from unseen.roc.fit import GRID, fit_roc, fit_sketches
from unseen.roc.models import Concave, RocModel
from unseen.roc.sketch import RocSketch
from unseen.samples import check_sample

SMOOTHING_REPLICATES = 500


@dataclass(eq=False, repr=False)
class ROCSlope(MixtureEstimator):
    """Mixture proportion as the right-end slope of a model fitted to the ROC (Sec. 6.1).

    The defaults differ from the paper's. In the paper μ is free, the model is fitted to the mean
    curve of the Bayesian bootstrap, and the classifier is chosen by accuracy over three folds::

        ROCSlope(
            Concave(mu=None),
            smooth=True,
            classifier=KernelLogisticRegression(scoring="accuracy"),
            n_folds=3,
        )

    Parameters
    ----------
    model : RocModel or None, default=None
        The regression model; None is ``Concave()``. ``Concave(mu=None)`` is the paper's
        model.
    smooth : bool, default=False
        Fit the mean of Bayesian-bootstrap replicates, as the paper's appendix does, instead of
        the empirical ROC.
    classifier, n_folds, random_state
        The classifier that tells F from H, its folds, and the seed of the folds, the classifier
        and the smoothing; see :class:`~unseen.mixture.base.MixtureEstimator`.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.mixture.slope import ROCSlope
    >>> rng = np.random.default_rng(0)
    >>> scores_H = rng.normal(0, 1, 2000)
    >>> scores_F = np.concatenate([rng.normal(0, 1, 600), rng.normal(4, 1, 1400)])
    >>> estimate = ROCSlope().from_scores(scores_F, scores_H)
    >>> abs(estimate.proportion - 0.3) < 0.03
    True
    """

    model: RocModel | None = None
    smooth: bool = False
    classifier: Any = None
    n_folds: int = 10
    random_state: Any = None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MixtureEstimator._parameter_constraints,
        "model": [None, RocModel],
        "smooth": ["boolean"],
    }

    def from_sketch(self, sketch: RocSketch) -> MixtureEstimate:
        """Estimate from the counts behind a ROC; ``roc.parameters`` holds the fitted ones."""
        self._validate_params()
        model = self._model()
        if self.smooth:
            curves = bootstrap_roc(sketch, GRID, SMOOTHING_REPLICATES, self.random_state)
            fitted = fit_roc(GRID, curves.mean(axis=0), model)
        else:
            fitted = fit_sketches([sketch], model)
        slope, parameters = float(fitted.right_slope[0]), model.named(fitted.parameters[0])
        return clipped_estimate(type(self).__name__, sketch, slope, parameters)

    def replicates(
        self, sketch: RocSketch, n_replicates: int = 1000, random_state: Any = None
    ) -> FloatArray:
        """Slopes of Bayesian-bootstrap replicates of the ROC, all fitted in one call.

        ``random_state=None`` takes the seed of the estimator.
        """
        self._validate_params()
        seed = self.random_state if random_state is None else random_state
        curves = bootstrap_roc(sketch, GRID, n_replicates, seed)
        return fit_roc(GRID, curves, self._model()).right_slope

    def _model(self) -> RocModel:
        return Concave() if self.model is None else self.model


def mixture_proportion(
    F: ArrayLike,
    H: ArrayLike,
    method: MixtureEstimator | None = None,
    random_state: Any = None,
) -> MixtureEstimate:
    """Estimate ν in ``F = (1 - ν) G + ν H``, Eq. (3), from samples of F and H.

    Parameters
    ----------
    F : array-like of shape (n_new, n_features)
        The mixture: new rows.
    H : array-like of shape (n_labelled, n_features)
        The component that is known, with the same columns.
    method : MixtureEstimator or None, default=None
        The estimator of ν; it is copied, not changed. None is :class:`~unseen.mixture.ROCSlope`.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random in the method; None leaves the method's own seed.

    Returns
    -------
    MixtureEstimate

    Raises
    ------
    ValueError
        When a sample is empty, not 2-d, not finite, or shorter than the folds, or when the
        columns differ.
    TypeError
        When a sample holds dates, or when ``method`` is not a mixture estimator; a certified bound
        is none.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.mixture import BestBin, mixture_proportion
    >>> rng = np.random.default_rng(0)
    >>> H = rng.normal(0, 1, (500, 2))
    >>> F = np.vstack([rng.normal(0, 1, (150, 2)), rng.normal(4, 1, (350, 2))])
    >>> print(mixture_proportion(F, H, BestBin(), random_state=0))
    0.294 of the new rows look like the labelled sample (BestBin)
    """
    method = ROCSlope() if method is None else method
    if isinstance(method, CertifiedBound):
        raise TypeError(
            f"method must estimate the share; got {method!r}, which bounds it from above and "
            f"is no estimate. Call {method!r}.fit(H).bound(F) for the bound."
        )
    if not isinstance(method, MixtureEstimator):
        raise TypeError(
            f"method must be a mixture estimator such as ROCSlope(), or None; got {method!r}."
        )
    chosen = clone(method)
    if random_state is not None:
        chosen.set_params(random_state=random_state)
    chosen._validate_params()
    chosen.labelled_ = check_sample(chosen, H, "H")
    return chosen._estimate(F, "F", "H")
