"""A rule from Bayes' theorem, with density ratios from ordinary classifiers plugged in.

The probability of class i among the new rows is ``eta_i = pi_i p_i(x) / p_0(x)``; the rest is
unseen. :class:`OneModel` and :class:`TwoModels` are two ways to get the ratios ``p_i / p_0`` from
classifiers that tell the samples apart (``docs/rejection.md``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from itertools import repeat
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.random import RandomState

from unseen._random import seeded
from unseen._sklearn import HasMethods
from unseen._team import own_threads
from unseen._types import FloatArray, Matrix
from unseen.rejection.base import RejectionRule
from unseen.rejection.losses import calibrated
from unseen.rejection.sample import FittedRule, OpenSample, OutOfFold, as_chosen, cross_fit
from unseen.scores.klr import KernelLogisticRegression

MIN_PROBABILITY = 1e-12  # a classifier that is sure that a row is not new has no ratio


class DensityRatio(Protocol):
    """The tasks that classifiers learn, and how their answers make up the density ratios."""

    def tasks(self, sample: OpenSample) -> list[tuple[Matrix, Any]]:
        """Rows and codes that each classifier learns."""

    def ratios(self, answers: list[FloatArray], n_classes: int) -> FloatArray:
        """``P(i | x) / P(new | x)``, up to a common model of both: shape (n, K)."""


@dataclass(frozen=True)
class OneModel:
    """One model of the K classes, with the new sample as one more class."""

    def tasks(self, sample: OpenSample) -> list[tuple[Matrix, Any]]:
        """All rows."""
        return [(sample.rows, sample.strata)]

    def ratios(self, answers: list[FloatArray], n_classes: int) -> FloatArray:
        """``P(i | x) / P(new | x)``."""
        (chances,) = answers
        return chances[:, :-1] / np.maximum(chances[:, -1:], MIN_PROBABILITY)


@dataclass(frozen=True)
class TwoModels:
    """A model of known against new rows, times one of the K classes."""

    def tasks(self, sample: OpenSample) -> list[tuple[Matrix, Any]]:
        """All rows, known or not; and, where there are several classes, the known rows."""
        origin = np.repeat([0, 1], [len(sample.codes), sample.X_new.shape[0]])
        known = [(sample.X, sample.codes)] if len(sample.shares) > 1 else []
        return [(sample.rows, origin), *known]

    def ratios(self, answers: list[FloatArray], n_classes: int) -> FloatArray:
        """``P(i | x, known) P(known | x) / P(new | x)``."""
        origin, *among_known = answers
        odds = origin[:, :1] / np.maximum(origin[:, 1:], MIN_PROBABILITY)
        return odds * (among_known[0] if among_known else np.ones((len(odds), n_classes)))


def posterior(chances: FloatArray) -> FloatArray:
    """Probabilities of K classes and unseen from the eta_i >= 0, which may sum to more than 1."""
    total = chances.sum(axis=1, keepdims=True)
    known = chances / np.maximum(total, 1.0)
    return np.hstack([known, np.maximum(1.0 - total, 0.0)])


@dataclass(frozen=True, eq=False)
class PlugInRule:
    """Fitted classifiers, and the factors that turn their answers into probabilities."""

    models: list[Any]  # one for each task
    density_ratio: DensityRatio
    factor: FloatArray  # pi_i n_0 / n_i

    def probabilities(self, X: Matrix) -> FloatArray:
        """Probability of each known class and, last, of unseen ones."""
        with own_threads():
            answers = [np.asarray(model.predict_proba(X)) for model in self.models]
        return posterior(self.factor * self.density_ratio.ratios(answers, len(self.factor)))

    def refit(self, sample: OpenSample, rng: RandomState) -> PlugInRule:
        """Fit the same rule to other rows, with the settings that its models have chosen."""
        classifiers = [as_chosen(model) for model in self.models]
        return fit_plug_in(sample, self.density_ratio, classifiers, rng)


def fit_plug_in(
    sample: OpenSample, density_ratio: DensityRatio, classifiers: Iterable[Any], rng: RandomState
) -> PlugInRule:
    """Fit one of the classifiers to each task of the density ratio."""
    tasks = density_ratio.tasks(sample)
    with own_threads():
        models = [
            seeded(classifier, rng.randint(2**31 - 1)).fit(X, codes)
            for (X, codes), classifier in zip(tasks, classifiers, strict=False)
        ]
    counts = np.bincount(sample.codes, minlength=len(sample.shares))
    return PlugInRule(models, density_ratio, sample.shares * sample.X_new.shape[0] / counts)


@dataclass(eq=False, repr=False)
class RejectionPlugIn(RejectionRule):
    """Bayes' rule, with the shares and a classifier's ratios of densities plugged in.

    Parameters
    ----------
    classifier : scikit-learn classifier with ``predict_proba`` or None, default=None
        Gives the probabilities; None is :class:`~unseen.KernelLogisticRegression`, whose bandwidth
        and C are chosen once, from all rows, and not anew in every fold.
    density_ratio : OneModel, TwoModels or None, default=None
        How the classifier finds the ratios of densities; None is :class:`OneModel`.
    calibrate : bool, default=True
        Calibrate P(known) by rows out of fold (:mod:`unseen.rejection.losses`).
    unseen_label, n_folds, random_state
        Parameters of every rule.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import RejectionPlugIn
    >>> rng = np.random.RandomState(0)
    >>> y = np.repeat(["left", "right"], 100)
    >>> X = rng.normal(size=(200, 1)) + np.where(y == "left", -4, 4)[:, None]
    >>> X_new = rng.normal(size=(300, 1)) + np.repeat([-4, 4, 0], 100)[:, None]
    >>> rule = RejectionPlugIn(random_state=0).fit(X, y, X_new, [1 / 3, 1 / 3])
    >>> rule.predict([[-4.0], [0.0], [4.0]])
    array(['left', 'unseen', 'right'], dtype='<U6')
    """

    classifier: Any = None
    density_ratio: DensityRatio | None = None
    _: KW_ONLY
    calibrate: bool = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "classifier": [None, HasMethods(["fit", "predict_proba"])],
        "density_ratio": [None, HasMethods(["tasks", "ratios"])],
        "calibrate": ["boolean"],
        **RejectionRule._parameter_constraints,
    }

    def _fit_both(self, sample: OpenSample, rng: RandomState) -> tuple[FittedRule, OutOfFold]:
        """Settings that the classifier chooses from all rows hold in every fold."""
        density_ratio = OneModel() if self.density_ratio is None else self.density_ratio
        classifier = KernelLogisticRegression() if self.classifier is None else self.classifier
        rule = fit_plug_in(sample, density_ratio, repeat(classifier), rng)
        out_of_fold = cross_fit(rule.refit, sample, self.n_folds, rng)
        if not self.calibrate:
            return rule, out_of_fold
        return calibrated(rule, out_of_fold, sample.shares, self.n_folds, rng)
