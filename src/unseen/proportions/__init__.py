"""Estimators of class proportions in three families: class by class, closed set, open set."""

from importlib import import_module
from inspect import isabstract

from unseen._names import public_names
from unseen.proportions.base import ProportionEstimator as ProportionEstimator
from unseen.proportions.base import Reading as Reading
from unseen.proportions.open_set import OpenSetEstimator as OpenSetEstimator


def all_estimators(n_classes: int | None = None) -> list[ProportionEstimator]:
    """Every public estimator, with default parameters, that takes so many known classes."""
    kinds = [
        getattr(import_module(module), name)
        for name, module in sorted(public_names().items())
        if module.startswith("unseen.proportions.")
    ]
    estimators = [kind() for kind in kinds if not isabstract(kind)]
    if n_classes is not None:
        estimators = [
            one
            for one in estimators
            if one.n_classes[0] <= n_classes <= (one.n_classes[1] or n_classes)
        ]
    return estimators
