"""The evidence from which intervals are made, and the protocol of interval methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from unseen._frozen import Frozen
from unseen._types import FloatArray

__all__ = ["IntervalEvidence", "IntervalMethod", "check_interval", "check_n_replicates"]


@dataclass(frozen=True, eq=False)
class IntervalEvidence(Frozen):
    """The estimate, and a way to draw replicates of it.

    Parameters
    ----------
    shares : ndarray of shape (K + 1,)
        The estimate: share of each known class, then of unseen ones.
    replicates : callable
        ``replicates(n_replicates, random_state)`` draws shares, shape (B, K + 1).
    n_new : int
        New rows.
    pairs : tuple of (ndarray, ndarray) or None
        Scores of the new rows and of the rows of each class; None if the estimator has none.
    seed : int or None
        Seed of the replicates.
    """

    shares: FloatArray
    replicates: Callable[[int, Any], FloatArray]
    n_new: int
    pairs: tuple[tuple[FloatArray, FloatArray], ...] | None = None
    seed: int | None = None


class IntervalMethod(Protocol):
    """A way to make intervals."""

    def limits(self, evidence: IntervalEvidence, confidence: float) -> FloatArray:
        """Lower and upper limit of each share, unseen last.

        Parameters
        ----------
        evidence : IntervalEvidence
            The estimate, its replicates and, where the estimator has them, its scores.
        confidence : float
            Level of the intervals, strictly between 0 and 1.

        Returns
        -------
        ndarray of shape (K + 1, 2)
        """
        ...


def check_interval(confidence: float | None, interval: Any = None) -> None:
    """Check that the level lies strictly between 0 and 1, and that the method makes limits.

    Examples
    --------
    >>> check_interval(95)
    Traceback (most recent call last):
        ...
    ValueError: confidence must lie strictly between 0 and 1, such as 0.95; got 95.
    """
    if confidence is not None and not 0 < confidence < 1:
        raise ValueError(
            f"confidence must lie strictly between 0 and 1, such as 0.95; got {confidence}."
        )
    if interval is not None and (isinstance(interval, type) or not hasattr(interval, "limits")):
        raise TypeError(
            f"interval must be an interval method such as Calibrated(), or None; got {interval!r}."
        )
    if interval is not None and confidence is None:
        raise ValueError(f"interval needs a confidence, such as 0.95; got {interval!r} and None.")


def check_n_replicates(n_replicates: int) -> None:
    """Check that there are enough replicates to have quantiles."""
    if n_replicates < 20:
        raise ValueError(f"n_replicates must be >= 20 to have quantiles; got {n_replicates}.")
