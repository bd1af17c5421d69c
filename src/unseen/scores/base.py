"""Scorer and Scores: the two ends of all expensive work.

A scorer is a frozen value, and equal settings are equal scorers. It turns checked rows into scores,
a read-only record, from which any number of estimators can read shares at next to no cost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from pickle import PicklingError
from typing import TYPE_CHECKING, Any, Self

import joblib
import numpy as np
from scipy import sparse

from unseen._frozen import Frozen
from unseen._types import IntArray, Matrix, ScorePair
from unseen.records import Notice
from unseen.samples import LabelledRows, check_fold_rows, check_folds

if TYPE_CHECKING:
    from unseen.scores.posteriors import Posteriors, PosteriorScorer

__all__ = ["FOLDS", "Scorer", "Scores", "as_rows", "mean_pair", "stack_samples"]

FOLDS = 10


class Scores(Frozen):
    """Out-of-fold scores of labelled and new rows; arrays are read-only.

    Attributes
    ----------
    classes : tuple
        Labels of the known classes.
    seed : int or None
        Seed that made the scores.
    notices : tuple of Notice
        What a person should know about the rows.
    """

    classes: tuple[Any, ...]
    seed: int | None
    notices: tuple[Notice, ...]

    @property
    @abstractmethod
    def n_new(self) -> int:
        """New rows."""

    @property
    @abstractmethod
    def counts(self) -> IntArray:
        """Labelled rows of each class."""

    @property
    def n_labelled(self) -> dict[Any, int]:
        """Labelled rows of each class, by label."""
        return dict(zip(self.classes, np.asarray(self.counts).tolist(), strict=True))


class Scorer(ABC):
    """A way to make scores; subclasses are frozen dataclasses.

    Attributes
    ----------
    classifier : scikit-learn classifier or None
        What tells samples apart; None is kernel logistic regression.
    n_folds : int or None
        Folds of the out-of-fold scores; None where a scorer needs none, or chooses by the rows.
    seed : int
        Where all randomness comes from.
    n_jobs : int or None
        Jobs that run at the same time; the scores do not depend on it.
    """

    classifier: Any = None
    n_folds: int | None = None
    seed: int = 0
    n_jobs: int | None = None

    @abstractmethod
    def score(self, labelled: LabelledRows, X_new: Matrix) -> Scores:
        """Score checked rows."""

    def check(self, labelled: LabelledRows, n_new: int) -> None:
        """Raise where there are too few rows for the folds."""
        if self.n_folds is not None:
            check_folds(labelled, self.n_folds)
            check_fold_rows(n_new, "X_new", self.n_folds)

    def settled(self, n_rows: int) -> Self:
        """The same scorer, with everything chosen that depends on the number of rows."""
        return self

    def serves(self, other: Scorer) -> bool:
        """Whether the other's estimators can read the scores that this one makes."""
        return self == other

    def posterior_scorer(self) -> PosteriorScorer:
        """A scorer of the known classes that is as like this one as its classifier allows."""
        from unseen.scores.posteriors import PosteriorScorer

        able = hasattr(self.classifier, "predict_proba")
        classifier = self.classifier if able else None
        return PosteriorScorer(classifier, self.n_folds or FOLDS, self.seed, self.n_jobs)

    def score_window(
        self,
        labelled: LabelledRows,
        X_new: Matrix,
        places: IntArray,
        posteriors: Posteriors | None,
    ) -> Scores:
        """Scores of some new rows, given the posteriors of all, where these can be of use."""
        return self.score(labelled, X_new[places])

    def _settings(self) -> str:
        """A fingerprint of everything that the scores depend on."""
        given = {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]
        del given["n_jobs"]
        try:
            return str(joblib.hash((type(self).__module__, type(self).__qualname__, given)))
        except (PicklingError, AttributeError, TypeError):
            # A classifier with a lambda inside cannot be compared with any other.
            return str(id(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scorer) and self._settings() == other._settings()

    def __hash__(self) -> int:
        return hash(self._settings())


def as_rows(X: Matrix) -> Matrix:
    """Rows as CSR or as a 2-d array of float64; one number a row is one column."""
    if hasattr(X, "tocsr"):
        return X.tocsr()
    values = np.asarray(X, dtype=np.float64)
    return values[:, None] if values.ndim == 1 else values


def stack_samples(X_new: Matrix, X: Matrix) -> tuple[Matrix, IntArray]:
    """New rows on top of labelled ones, and a 1 for each new row, a 0 for each labelled one."""
    is_new = np.repeat([1, 0], [X_new.shape[0], X.shape[0]])
    if sparse.issparse(X) or sparse.issparse(X_new):
        return sparse.vstack([X_new, X]).tocsr(), is_new
    return np.vstack([X_new, X]), is_new


def mean_pair(pairs: list[ScorePair]) -> ScorePair:
    """Scores of new and of labelled rows, averaged over repeats."""
    return np.mean([new for new, _ in pairs], axis=0), np.mean([own for _, own in pairs], axis=0)
