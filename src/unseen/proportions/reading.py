"""Reading: what a method found in scores, with the means to say how sure it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unseen._frozen import Frozen
from unseen._types import FloatArray
from unseen.records import Notice, RocEvidence

__all__ = ["Reading", "append_zero_unseen"]


@dataclass(frozen=True, eq=False)
class Reading(Frozen):
    """Shares read off scores; answers for its own replicates, as results of scipy do.

    Parameters
    ----------
    shares : ndarray of shape (K + 1,)
        Share of each known class, then of unseen ones.
    replicates : callable
        ``replicates(n_replicates, random_state)`` draws shares of shape (B, K + 1) under
        Bayesian-bootstrap weights of the scored rows, or from a posterior; nothing is refitted.
    roc : mapping
        The ROC evidence of each class, where the method has any.
    pooled : RocEvidence or None
        The ROC of the new rows against all known classes together.
    diagnostics : mapping
        Numbers by which the shares can be judged.
    notices : tuple of Notice
        What a person should know before trusting the shares.

    Examples
    --------
    >>> import numpy as np
    >>> from unseen.proportions.reading import Reading
    >>> Reading(np.array([0.7, 0.3]), lambda n, seed: np.tile([0.7, 0.3], (n, 1))).unseen
    0.3
    """

    shares: FloatArray
    replicates: Callable[[int, Any], FloatArray]
    roc: Mapping[Any, RocEvidence] = field(default_factory=dict)
    pooled: RocEvidence | None = None
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()

    @property
    def unseen(self) -> float:
        """Share of unseen classes."""
        return float(self.shares[-1])

    @property
    def expected(self) -> FloatArray:
        """Shares for what is linear in them, such as a risk; the shares themselves by default."""
        return self.shares


def append_zero_unseen(shares: FloatArray) -> FloatArray:
    """Shares of the known classes with the unseen share, 0, as a last column.

    Examples
    --------
    >>> import numpy as np
    >>> append_zero_unseen(np.array([[0.25, 0.75]]))
    array([[0.25, 0.75, 0.  ]])
    """
    return np.concatenate([shares, np.zeros((*shares.shape[:-1], 1))], axis=-1)
