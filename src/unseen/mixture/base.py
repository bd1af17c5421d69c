"""The base of every estimator of ν: keep H, score F against it out of fold, read the ROC.

A method says how a :class:`~unseen.roc.sketch.RocSketch` becomes a number.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from unseen._sklearn import HasMethods, Interval, Tags, fit_context
from unseen._types import FloatArray
from unseen.records import MixtureEstimate, RocEvidence
from unseen.roc.sketch import RocSketch, cumulative_roc
from unseen.samples import check_fold_rows, check_new, check_sample, sample_notices
from unseen.scores.pairs import crossfit_scores

_EVIDENCE_CELLS = 200


class LabelledSample(BaseEstimator):
    """Keeps the labelled sample H and checks the new sample F against it."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "classifier": [None, HasMethods(["fit", "get_params"])],
        "random_state": ["random_state"],
    }

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Keep the labelled sample H: rows of one known class, or of all known classes together.

        ``y`` is ignored; it is there for scikit-learn's tools.
        """
        self.labelled_ = check_sample(self, X, "X")
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class MixtureEstimator(LabelledSample, ABC):
    """Base of the estimators of ν in ``F = (1 - ν) G + ν H``, Eq. (3).

    ``fit(H)`` then ``estimate(F)`` starts from samples; :meth:`from_scores` and
    :meth:`from_sketch` start from given out-of-fold scores. A subclass adds its own parameters to
    ``_parameter_constraints`` and writes :meth:`from_sketch`.

    Parameters
    ----------
    classifier : scikit-learn classifier or None, default=None
        The classifier that tells F from H; None is kernel logistic regression.
    n_folds : int, default=10
        Folds of the out-of-fold scores.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds and of the classifier.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LabelledSample._parameter_constraints,
        "n_folds": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(self, classifier: Any = None, n_folds: int = 10, random_state: Any = None) -> None:
        self.classifier = classifier
        self.n_folds = n_folds
        self.random_state = random_state

    def estimate(self, X_new: ArrayLike) -> MixtureEstimate:
        """Estimate the share of H in the new sample, which has the columns of the labelled one."""
        check_is_fitted(self)
        return self._estimate(X_new, "X_new", "X")

    def _estimate(self, X_new: ArrayLike, name: str, known: str) -> MixtureEstimate:
        """Estimate from samples; ``name`` and ``known`` are the user's names for F and H."""
        new = check_new(self.labelled_, X_new, name, known)
        n_folds = getattr(self, "n_folds", 1)
        check_fold_rows(new.shape[0], name, n_folds)
        check_fold_rows(self.labelled_.rows.shape[0], known, n_folds)
        found = sample_notices(self.labelled_, new, X_new, name, known)
        estimate = self._from_rows(new)
        return replace(estimate, notices=(*found, *estimate.notices))

    def from_scores(self, scores_F: ArrayLike, scores_H: ArrayLike) -> MixtureEstimate:
        """Estimate from scores that are high where a row looks like F; needs no ``fit``.

        The scores must be out of fold: in-sample scores make every estimator useless.
        """
        self._validate_params()
        return self.from_sketch(RocSketch.from_scores(scores_F, scores_H))

    def _from_rows(self, new: Any) -> MixtureEstimate:
        """Estimate from out-of-fold scores of the rows of F against the rows of H."""
        options = {"n_folds": self.n_folds, "random_state": self.random_state}
        rows = self.labelled_.rows
        return self.from_scores(*crossfit_scores(new, rows, self.classifier, **options))

    @abstractmethod
    def from_sketch(self, sketch: RocSketch) -> MixtureEstimate:
        """Estimate from the counts behind a ROC of out-of-fold scores; needs no ``fit``."""


def clipped_estimate(
    method: str,
    sketch: RocSketch,
    right_slope: float,
    parameters: dict[str, float] | None = None,
) -> MixtureEstimate:
    """Clip the slope to [0, 1], and attach the ROC behind it, thinned for plots and reports."""
    curve = cumulative_roc(*sketch.coarse_increments(_EVIDENCE_CELLS))
    rows = sketch.n_new, sketch.n_labelled
    evidence = RocEvidence(*curve, float(right_slope), *rows, dict(parameters or {}))
    return MixtureEstimate(float(np.clip(right_slope, 0.0, 1.0)), method, evidence)


def sketch_scores(sketch: RocSketch) -> tuple[FloatArray, FloatArray]:
    """Sorted scores of F and H that have this sketch; those of F lie midway in their gaps."""
    edges = sketch.edges
    step = (edges[-1] - edges[0]) / (edges.size - 1) if edges.size > 1 else 1.0
    middles = (edges[1:] + edges[:-1]) / 2
    gaps = np.concatenate([[edges[0] - step / 2], middles, [edges[-1] + step / 2]])
    places = np.concatenate([gaps, edges])
    counts = np.concatenate([sketch.gap_new, sketch.edge_new])
    return np.sort(np.repeat(places, counts)), np.repeat(edges, sketch.edge_labelled)
