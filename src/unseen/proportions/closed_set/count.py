"""Classify and count: the share of new rows that a classifier gives to each class.

The baseline. With error rates above zero it is wrong even with endless data: it gives each class
``sum_i pi_i P_i(classified as k)`` instead of ``pi_k``, which pulls towards the training shares.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from unseen._types import FloatArray
from unseen.proportions.base import CLASSIFIER_CONSTRAINTS, Reading, closed_reading
from unseen.proportions.bootstrap import bootstrap_means
from unseen.proportions.closed_set.base import ClosedSetEstimator
from unseen.scores import Posteriors, PosteriorScorer


@dataclass(eq=False, repr=False)
class ClassifyAndCount(ClosedSetEstimator):
    """Shares of the classes among a classifier's predictions on the new rows.

    Parameters
    ----------
    soft : bool, default=False
        False counts each row for its most probable class; True spreads it over the classes by
        its posterior.
    classifier, random_state, n_jobs
        As in :class:`~unseen.SaerensEM`.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import ClassifyAndCount
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-4, 1, (300, 2)), rng.normal(4, 1, (300, 2))])
    >>> y = ["left"] * 300 + ["right"] * 300
    >>> X_new = np.vstack([rng.normal(-4, 1, (400, 2)), rng.normal(4, 1, (100, 2))])
    >>> ClassifyAndCount(random_state=0).fit(X, y).estimate(X_new)["left"]
    0.8
    """

    soft: bool = False
    classifier: Any = None
    random_state: Any = None
    n_jobs: int | None = None

    reads = Posteriors

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "soft": ["boolean"],
        **{name: CLASSIFIER_CONSTRAINTS[name] for name in ("classifier", "random_state", "n_jobs")},
    }

    def scorer(self, seed: int) -> PosteriorScorer:
        """The scorer that makes the posteriors of the new rows; only these are counted."""
        return PosteriorScorer(self.classifier, None, seed, self.n_jobs)

    def read(self, scores: Posteriors) -> Reading:
        """Count the new rows of each class."""
        rows = votes(scores.new, self.soft)
        return closed_reading(rows.mean(axis=0), partial(bootstrap_means, rows))


def votes(posteriors: FloatArray, soft: bool) -> FloatArray:
    """The posteriors themselves, or a 1 for the most probable class of each row."""
    return posteriors if soft else np.eye(posteriors.shape[1])[posteriors.argmax(axis=1)]
