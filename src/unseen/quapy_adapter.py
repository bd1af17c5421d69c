"""Our estimators as QuaPy quantifiers: its protocols, evaluation and model selection.

QuaPy knows a fixed list of classes, so the unseen share must go somewhere: drop it and let the
known shares sum to one, or keep it as one more class at the end.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.base import clone

from unseen._types import FloatArray, Matrix
from unseen.records import Estimate

try:
    from quapy.method.base import BaseQuantifier
except ImportError as error:
    raise ImportError(
        'unseen.quapy_adapter needs QuaPy; try pip install "unseen[quapy]".'
    ) from error


class UnseenQuantifier(BaseQuantifier):
    """An estimator of class proportions with the interface of a QuaPy quantifier.

    Parameters
    ----------
    estimator : estimator of class proportions
        For example :class:`~unseen.MPEIncomplete`; its parameters are
        ``estimator__<name>`` in QuaPy's grid search.
    unseen : {"drop", "pad"}, default="drop"
        ``"drop"`` leaves the unseen share out and scales the known ones to sum to one (equal
        shares where nothing known is left); ``"pad"`` gives it as the last of K + 1 entries.

    Attributes
    ----------
    estimator_ : estimator
        The fitted copy.
    classes_ : ndarray of shape (K,)
        The known classes, in the order of the entries.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen import MPEIncomplete
    >>> from unseen.quapy_adapter import UnseenQuantifier
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-4, 1, (100, 2)), rng.normal(4, 1, (100, 2))])
    >>> y = np.repeat([0, 1], 100)
    >>> model = UnseenQuantifier(MPEIncomplete(random_state=0), unseen="pad").fit(X, y)
    >>> model.predict(rng.normal(-4, 1, (150, 2))).shape
    (3,)
    """

    def __init__(self, estimator: Any, unseen: Literal["drop", "pad"] = "drop") -> None:
        self.estimator = estimator
        self.unseen = unseen

    def fit(self, X: Matrix, y: Any) -> Self:
        """Keep the labelled sample, X of shape (n, d) and y of shape (n,)."""
        if self.unseen not in ("drop", "pad"):
            raise ValueError(f"unseen must be 'drop' or 'pad'; got {self.unseen!r}.")
        self.estimator_ = clone(self.estimator).fit(X, y)
        self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X: Matrix) -> FloatArray:
        """Shares of the K classes, or K + 1 with unseen, in a sample of shape (m, d)."""
        return prevalence(self.estimator_.estimate(X), self.unseen)


def prevalence(estimate: Estimate, unseen: Literal["drop", "pad"]) -> FloatArray:
    """The vector that QuaPy wants."""
    known = np.asarray(estimate.proportions, dtype=np.float64)
    if unseen == "pad":
        return np.append(known, 1.0 - known.sum())
    total = known.sum()
    return known / total if total > 0 else np.full(known.size, 1.0 / known.size)
