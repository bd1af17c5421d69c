"""Lattices of curves that readings of much the same rows share."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

__all__ = ["Lattices"]

Lattice = TypeVar("Lattice")
# Windows of about one length ask for fewer lattices of a kind than this.
_MOST = 6


class Lattices:
    """The last few lattices of each kind, kept as long as their owner lives.

    A record of scores owns one for all rounds of a reading; windows of one pool share the pool's.

    Examples
    --------
    >>> lattices = Lattices()
    >>> lattices.at(list, "ab") is lattices.at(list, "ab"), lattices.at(tuple, "ab")
    (True, ('a', 'b'))
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[Any, ...], Any] = {}

    def at(self, make: Callable[..., Lattice], *key: Hashable) -> Lattice:
        """The lattice ``make(*key)``, made only if it is not among the last few of its kind."""
        found: Lattice | None = self._kept.pop((make, *key), None)
        if found is None:
            found = make(*key)
        self._kept[make, *key] = found
        of_kind = [one for one in self._kept if one[0] is make]
        for oldest in of_kind[:-_MOST]:
            del self._kept[oldest]
        return found
