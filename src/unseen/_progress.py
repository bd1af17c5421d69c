"""Progress: long loops report how far they are, and commands which stage they are in.

No call passes a listener on to the next: a caller who wants to know listens around the call, and
the loops inside report their part of the work that is left. Without a listener a report costs
nothing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

Item = TypeVar("Item")
Listener = Callable[[float], object]

_listener: ContextVar[Listener | None] = ContextVar("unseen_progress", default=None)
_of_stages: ContextVar[Callable[[str], object] | None] = ContextVar("unseen_stages", default=None)
# Seconds after which work is long, and between two lines: on a terminal, and in a log.
_LONG, _OFTEN, _NOW_AND_THEN = 2.0, 0.2, 30.0


@contextmanager
def held(variable: ContextVar[Item], value: Item) -> Iterator[None]:
    """A context variable with another value in a ``with`` block."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


@contextmanager
def show_progress(listener: Listener | bool | None = True) -> Iterator[None]:
    """Show how far the work of a ``with`` block is: estimates, rules, comparisons, windows.

    Parameters
    ----------
    listener : callable or bool, default=True
        Called with the share of the work that is done. True shows a bar on a terminal or in a
        notebook, and elsewhere prints a line now and then; False and None show nothing.

    Examples
    --------
    >>> import numpy as np
    >>> import unseen
    >>> X, X_new = np.random.default_rng(0).normal(size=(2, 100, 2))
    >>> shares = []
    >>> with unseen.show_progress(shares.append):
    ...     estimate = unseen.estimate(X, ["known"] * 100, X_new, random_state=0)
    >>> shares[-1]
    1.0
    """
    if listener is None or listener is False:
        yield
        return
    bar = _Bar() if listener is True else None
    heard: Any = bar or listener
    if not callable(heard):
        raise TypeError(f"progress must be a function of a share, or a bool; got {listener!r}.")
    try:
        with held(_listener, heard):
            yield
    finally:
        if bar is not None:
            bar.close()


def each(items: Iterable[Item], n_items: int | None = None) -> Iterator[Item]:
    """Go through the items, and report after each; work inside an item reports its own part."""
    total = n_items or len(items)  # type: ignore[arg-type]
    for place, item in enumerate(items):
        with between(place / total, (place + 1) / total):
            yield item
        report((place + 1) / total)


@contextmanager
def between(first: float, last: float) -> Iterator[None]:
    """Work that leads from one share of the whole to another."""
    outer = _listener.get()
    if outer is None:
        yield
        return
    with show_progress(lambda done: outer(first + (last - first) * done)):
        yield


def unheard() -> AbstractContextManager[None]:
    """Work whose reports nobody hears, since the thread that waits for it makes its own."""
    return held(_listener, None)


def report(done: float) -> None:
    """Say what share of the work is done."""
    listener = _listener.get()
    if listener is not None:
        listener(done)


def hear_stages(listener: Callable[[str], object]) -> AbstractContextManager[None]:
    """Call a function with the name of every stage that begins in a ``with`` block."""
    return held(_of_stages, listener)


def stage(name: str) -> None:
    """Say which stage of the work begins, such as ``"Reading train.csv"``."""
    listener = _of_stages.get()
    if listener is not None:
        listener(name)


class _Bar:
    """Says on standard error how far long work is, in a line that changes or in a log."""

    def __init__(self) -> None:
        self.start = time.monotonic()
        self.next, self.width = self.start + _LONG, 0
        self.changes = sys.stderr.isatty() or "ipykernel" in sys.modules

    def __call__(self, done: float) -> None:
        now = time.monotonic()
        if now < self.next:
            return
        left = (now - self.start) * (1 - done) / max(done, 1e-9)
        line = f"unseen: {done:.0%} done, about {left:.0f} s left"
        if self.changes:
            print(f"\r{line:{self.width}}", end="", file=sys.stderr, flush=True)
            self.next, self.width = now + _OFTEN, len(line)
        elif done < 1:
            print(line, file=sys.stderr, flush=True)
            self.next = now + _NOW_AND_THEN

    def close(self) -> None:
        """Wipe the line that changes."""
        if self.width:
            print(f"\r{'':{self.width}}\r", end="", file=sys.stderr, flush=True)
