"""The record that every experiment leaves behind: one estimate beside its truth."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Cell"]


@dataclass(frozen=True)
class Cell:
    """One method on one permutation of one data set at one prescribed share of class M.

    Parameters
    ----------
    setting : str
        "observed" (all classes are in training) or "unobserved" (class M is not).
    dataset : str
        The data set, as in ``"australian"``.
    permutation : int
        Which of the ten permutations.
    proportion : float
        Prescribed share of class M in the test sample.
    method : str
        The method, as in ``"MPE-Incomplete"``; a star marks our own tuning.
    truth : tuple of float
        True shares of the classes of the data set, class M last.
    shares : tuple of float
        Estimates in the same order. Where class M is not observed, the estimated share of
        unseen classes stands in its place.
    lower, upper : tuple of float or None
        Limits of the 95% intervals, where the method makes them.

    Examples
    --------
    >>> from paper.cell import Cell
    >>> cell = Cell("observed", "banana", 0, 0.5, "L2", (0.5, 0.5), (0.25, 0.75))
    >>> cell.error
    0.5
    """

    setting: str
    dataset: str
    permutation: int
    proportion: float
    method: str
    truth: tuple[float, ...]
    shares: tuple[float, ...]
    lower: tuple[float, ...] | None = None
    upper: tuple[float, ...] | None = None

    @property
    def error(self) -> float:
        """The l1 distance of the estimated and the true shares, the paper's measure."""
        pairs = zip(self.shares, self.truth, strict=True)
        return sum((abs(share - true) for share, true in pairs), 0.0)
