"""Estimators of class proportions in three families: class by class, closed set, open set."""

from importlib import import_module
from inspect import isabstract

from unseen._names import public_names
from unseen.proportions.base import ProportionEstimator, Reading
from unseen.proportions.open_set import OpenSetEstimator

__all__ = [
    "BiasCorrectedTemperature",
    "OpenSetEstimator",
    "ProportionEstimator",
    "Reading",
    "Temperature",
    "all_estimators",
]


def all_estimators(n_classes: int | None = None) -> list[ProportionEstimator]:
    """Every public proportion estimator, with its default parameters.

    Parameters
    ----------
    n_classes : int or None, default=None
        Keep those that take so many known classes; None keeps all.

    Returns
    -------
    list of ProportionEstimator

    Examples
    --------
    >>> from unseen.proportions import all_estimators
    >>> any(type(estimator).__name__ == "BinaryRescaled" for estimator in all_estimators(3))
    False
    """
    listed = sorted(public_names().items())
    kinds = [
        getattr(import_module(module), name)
        for name, module in listed
        if module.startswith("unseen.proportions.")
    ]
    estimators = [kind() for kind in kinds if not isabstract(kind)]
    return [one for one in estimators if n_classes is None or _takes(one, n_classes)]


def _takes(estimator: ProportionEstimator, n_classes: int) -> bool:
    fewest, most = estimator.n_classes
    return fewest <= n_classes and (most is None or n_classes <= most)
