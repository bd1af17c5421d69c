"""A rule from Bayes' theorem, with ratios of densities from ordinary classifiers put in.

The probability of class i at x among the new rows is ``eta_i = pi_i p_i(x) / p_0(x)``, and
that of unseen what these leave. A classifier that tells samples apart knows the ratios of their
densities. One model of the K classes and the new sample as one more gives

    eta_i = pi_i (n_0 / n_i) P(i | x) / P(new | x).                         (:class:`Joint`)

Two models, of known rows against new ones and of the K classes among themselves, give

    eta_i = pi_i (n_0 / n_i) P(i | x, known) P(known | x) / P(new | x):     (:class:`Pooled`)

two tasks, each easier than the one, but their errors multiply. Where noise makes the sum of the
eta_i exceed 1 nothing is unseen, and they are divided by their sum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from sklearn.base import clone

from unseen._random import one_blas_thread, seeded
from unseen._sklearn import HasMethods
from unseen._types import FloatArray, Matrix
from unseen.rejection.base import RejectionRule
from unseen.rejection.kernel import stack_rows
from unseen.rejection.learning.calibration import (
    CalibratedRule,
    calibrate_held_out,
    fit_calibration,
)
from unseen.rejection.learning.folds import FittedRule, HeldOut, cross_fit
from unseen.rejection.learning.sample import OpenSample
from unseen.scores.klr import KernelLogisticRegression

__all__ = ["Joint", "PlugInRule", "Pooled", "RejectionPlugIn", "posterior"]

LEAST = 1e-12  # a classifier that is sure that a row is not new has no ratio


class Form(Protocol):
    """Which classifiers to ask, and how their answers make up the densities' ratios."""

    def tasks(self, sample: OpenSample) -> list[tuple[Matrix, Any]]:
        """Rows and codes that each classifier learns."""
        ...

    def ratios(self, answers: list[FloatArray], n_classes: int) -> FloatArray:
        """``P(i | x) / P(new | x)``, up to a common model of both: shape (n, K)."""
        ...


@dataclass(frozen=True)
class Joint:
    """One model of the K classes, with the new sample as one more class.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.plugin import Joint
    >>> Joint().ratios([np.array([[0.25, 0.25, 0.5]])], 2)
    array([[0.5, 0.5]])
    """

    def tasks(self, sample: OpenSample) -> list[tuple[Matrix, Any]]:
        """All rows."""
        new = np.full(sample.X_new.shape[0], sample.n_classes)
        return [(stack_rows(sample), np.append(sample.codes, new))]

    def ratios(self, answers: list[FloatArray], n_classes: int) -> FloatArray:
        """``P(i | x) / P(new | x)``."""
        (chances,) = answers
        return chances[:, :-1] / np.maximum(chances[:, -1:], LEAST)


@dataclass(frozen=True)
class Pooled:
    """A model of known against new rows, times one of the K classes.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.plugin import Pooled
    >>> Pooled().ratios([np.array([[0.5, 0.5]]), np.array([[0.25, 0.75]])], 2)
    array([[0.25, 0.75]])
    """

    def tasks(self, sample: OpenSample) -> list[tuple[Matrix, Any]]:
        """All rows, known or not; and, where there are several classes, the known rows."""
        origin = np.repeat([0, 1], [len(sample.codes), sample.X_new.shape[0]])
        known = [(sample.X, sample.codes)] if sample.n_classes > 1 else []
        return [(stack_rows(sample), origin), *known]

    def ratios(self, answers: list[FloatArray], n_classes: int) -> FloatArray:
        """``P(i | x, known) P(known | x) / P(new | x)``."""
        origin, *among_known = answers
        odds = origin[:, :1] / np.maximum(origin[:, 1:], LEAST)
        return odds * (among_known[0] if among_known else np.ones((len(odds), n_classes)))


def posterior(chances: FloatArray) -> FloatArray:
    """Probabilities of K classes and unseen from the eta_i, which may sum to more than 1.

    Parameters
    ----------
    chances : ndarray of shape (n, K)
        The eta_i, each at least 0.

    Returns
    -------
    ndarray of shape (n, K + 1)

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.plugin import posterior
    >>> posterior(np.array([[0.25, 0.25], [1.5, 0.5]]))
    array([[0.25, 0.25, 0.5 ],
           [0.75, 0.25, 0.  ]])
    """
    total = chances.sum(axis=1, keepdims=True)
    known = chances / np.maximum(total, 1.0)
    return np.hstack([known, np.maximum(1.0 - total, 0.0)])


@dataclass(frozen=True, eq=False)
class PlugInRule:
    """Fitted classifiers, and what turns their answers into probabilities.

    Parameters
    ----------
    models : list of classifier
        One for each task of the form.
    form : Joint or Pooled
        How their answers go together.
    factor : ndarray of shape (K,)
        ``pi_i n_0 / n_i``.
    """

    models: list[Any]
    form: Form
    factor: FloatArray

    def probabilities(self, X: Matrix) -> FloatArray:
        """Probability of each known class and, last, of unseen ones."""
        with one_blas_thread():
            answers: list[FloatArray] = [
                np.asarray(model.predict_proba(X)) for model in self.models
            ]
        return posterior(np.multiply(self.factor, self.form.ratios(answers, len(self.factor))))


def fit_plug_in(
    sample: OpenSample, form: Form, classifiers: list[Any], rng: np.random.RandomState
) -> PlugInRule:
    """Fit a classifier to each task of the form."""
    with one_blas_thread():
        models = [
            seeded(classifier, rng.randint(2**31 - 1)).fit(X, codes)
            # A fold without a class may have fewer tasks than there are classifiers.
            for classifier, (X, codes) in zip(classifiers, form.tasks(sample), strict=False)
        ]
    counts = np.bincount(sample.codes, minlength=sample.n_classes)
    return PlugInRule(models, form, sample.shares * sample.X_new.shape[0] / counts)


def as_chosen(model: Any) -> Any:
    """An unfitted copy that keeps what a fitted kernel model chose, and so need not choose again.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from unseen import KernelLogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelLogisticRegression(C=[1.0, 10.0], bandwidth=2.0).fit(X, y)
    >>> as_chosen(model).C == model.C_
    True
    """
    copy = clone(model)
    if isinstance(model, KernelLogisticRegression):
        copy.set_params(bandwidth=model.bandwidth_, C=model.C_)
    return copy


class RejectionPlugIn(RejectionRule):
    """Bayes' rule with shares, and ratios of densities from a classifier, put in.

    Parameters
    ----------
    classifier : scikit-learn classifier with ``predict_proba`` or None, default=None
        Whose probabilities are trusted; None is :class:`~unseen.KernelLogisticRegression`. Its
        bandwidth and C are chosen once, from all rows, and not anew in every fold.
    form : Joint, Pooled or None, default=None
        What the classifier is asked; None is :class:`Joint`, the better one on average
        (``benchmarks/rejection.py``).
    calibrate : bool, default=True
        Mend P(known) by held-out rows (:mod:`unseen.rejection.learning.calibration`).
    unseen_label, n_folds, random_state
        As for every rule.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.rejection.plugin import RejectionPlugIn
    >>> rng = np.random.RandomState(0)
    >>> y = np.repeat(["left", "right"], 100)
    >>> X = rng.normal(size=(200, 1)) + np.where(y == "left", -4, 4)[:, None]
    >>> X_new = rng.normal(size=(300, 1)) + np.repeat([-4, 4, 0], 100)[:, None]
    >>> rule = RejectionPlugIn(random_state=0).fit(X, y, X_new, [1 / 3, 1 / 3])
    >>> rule.predict([[-4.0], [0.0], [4.0]])
    array(['left', 'unseen', 'right'], dtype='<U6')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "classifier": [None, HasMethods(["fit", "predict_proba"])],
        "form": [None, HasMethods(["tasks", "ratios"])],
        "calibrate": ["boolean"],
        **RejectionRule._parameter_constraints,
    }

    def __init__(
        self,
        classifier: Any = None,
        form: Form | None = None,
        *,
        calibrate: bool = True,
        unseen_label: Any = "auto",
        n_folds: int = 5,
        random_state: Any = None,
    ) -> None:
        super().__init__(unseen_label=unseen_label, n_folds=n_folds, random_state=random_state)
        self.classifier = classifier
        self.form = form
        self.calibrate = calibrate

    def _fit_rule(self, sample: OpenSample, rng: np.random.RandomState) -> FittedRule:
        return self._fit_both(sample, rng)[0]

    def _fit_both(
        self, sample: OpenSample, rng: np.random.RandomState
    ) -> tuple[FittedRule, HeldOut]:
        """What the classifier chooses from all rows holds in the folds; these calibrate it."""
        form = Joint() if self.form is None else self.form
        classifier = KernelLogisticRegression() if self.classifier is None else self.classifier
        rule = fit_plug_in(sample, form, [classifier] * len(form.tasks(sample)), rng)
        held_out = cross_fit(refitted(rule), sample, self.n_folds, rng)
        if not self.calibrate:
            return rule, held_out
        calibrated = CalibratedRule(rule, fit_calibration(held_out, sample.shares))
        return calibrated, calibrate_held_out(held_out, sample.shares, self.n_folds, rng)


def refitted(rule: PlugInRule) -> Callable[[OpenSample, np.random.RandomState], PlugInRule]:
    """How to fit the same rule to other rows, with what its models have chosen."""
    classifiers = [as_chosen(model) for model in rule.models]

    def fit(sample: OpenSample, rng: np.random.RandomState) -> PlugInRule:
        return fit_plug_in(sample, rule.form, classifiers, rng)

    return fit
