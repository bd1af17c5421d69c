"""Threads side by side: on the blocks of one computation, or on parts that wait for no other.

No call passes a number of jobs on to the next: who has cores opens a team around the work, and the
loops inside share their parts with whoever of the team is idle. Neither the parts, nor the order in
which their results are put together, depend on the team: so no bit of an answer does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache, wraps
from importlib import import_module
from itertools import pairwise, starmap
from math import inf
from operator import length_hint
from threading import Lock, Semaphore
from typing import Any, TypeVar

from joblib import cpu_count, effective_n_jobs
from threadpoolctl import ThreadpoolController

from unseen._progress import held, unheard

Part = TypeVar("Part")
Result = TypeVar("Result")
Total = TypeVar("Total", bound=Any)
Method = TypeVar("Method", bound=Callable[..., Any])

BLOCK = 4096  # rows whose kernel values stay in the cache between two passes over them


class _Team:
    """Threads that help the one that opened the team, which is one of them."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads, self.idle = n_threads, Semaphore(n_threads - 1)
        # Threads begin when they are called.
        self.threads = ThreadPoolExecutor(n_threads, thread_name_prefix="unseen")

    @contextmanager
    def helping(self, work: Callable[[], None], n_most: int) -> Iterator[None]:
        """Let helpers who are idle, at most so many, work beside a ``with`` block.

        At its end wait for those who have begun, and for nobody else.
        """
        called = list[Future[None]]()
        while len(called) < n_most and self.idle.acquire(blocking=False):
            called.append(self.threads.submit(copy_context().run, self._help, work))
        yield
        for one in called:
            if one.cancel():
                self.idle.release()
        wait(one for one in called if not one.cancelled())

    def _help(self, work: Callable[[], None]) -> None:
        try:
            with unheard():
                work()
        finally:
            self.idle.release()


_team: ContextVar[_Team | None] = ContextVar("unseen_team", default=None)


@contextmanager
def team(n_jobs: int | None = None) -> Iterator[None]:
    """Share the work of a ``with`` block among so many threads, the calling one included.

    None keeps the team that is there; where there is none, joblib says how many, which is one
    outside of ``joblib.parallel_config``. A number below 0 counts from all cores, as joblib does.
    """
    # A cluster may have more cores than the machine we are on.
    outer, n_threads = _team.get(), min(effective_n_jobs(n_jobs), max(cpu_count(), n_jobs or 0))
    if outer is not None and (n_jobs is None or n_threads == outer.n_threads):
        yield
        return
    one = _Team(n_threads)
    # At the end, wait for its threads.
    with one.threads, held(_team, one):
        yield


def by_a_team(method: Method) -> Method:
    """A method of an object that may have ``n_jobs``, run by a team of so many."""

    @wraps(method)
    def together(self: Any, *args: Any, **kwargs: Any) -> Any:
        with team(getattr(self, "n_jobs", None)):
            return method(self, *args, **kwargs)

    return together  # type: ignore[return-value]


@contextmanager
def own_threads(n_jobs: int | None = None) -> Iterator[None]:
    """A :func:`team`, each of whose threads multiplies alone."""
    with one_blas_thread(), team(n_jobs):
        yield


def one_blas_thread() -> Any:
    """Context in which BLAS runs on the calling thread alone.

    Small products spread over threads wait for each other longer than they compute, above all
    on a busy machine, and their rounding then depends on the number of cores.
    """
    return controller("scipy.linalg").limit(limits=1, user_api="blas")


@cache
def controller(module: str) -> ThreadpoolController:
    """Limits the threads of libraries that this module and those before it have loaded."""
    import_module(module)  # scipy has a BLAS of its own, and scikit-learn an OpenMP
    return ThreadpoolController()


def side_by_side(work: Callable[[Part], Result], parts: Iterable[Part]) -> list[Result]:
    """Results of the work on each part, in the order of the parts.

    The calling thread works too. An iterator makes parts as they are taken, in their order. After
    an error or an interrupt nothing more is begun; of several errors that of the first part counts.

    Examples
    --------
    >>> with team(2):
    ...     side_by_side(abs, [-1, 2, -3])
    [1, 2, 3]
    """
    one, n_parts = _team.get(), length_hint(parts, sys.maxsize)
    if one is None or one.n_threads == 1 or n_parts < 2:
        return [work(part) for part in parts]
    left, lock = enumerate(parts), Lock()
    found, failed = dict[int, Result](), dict[int, BaseException]()

    def take() -> None:
        place = 0
        try:
            while True:
                with lock:
                    following = None if failed else next(left, None)
                if following is None:
                    return
                place, part = following
                found[place] = work(part)
        except BaseException as error:
            failed[place] = error

    with one.helping(take, n_parts - 1):
        take()
    if failed:
        raise failed[min(failed)]
    return [found[place] for place in range(len(found))]


def summed(work: Callable[[Part], Total], parts: Sequence[Part], total: Total) -> Total:
    """The total with the results of the work on each part added to it, in the order of the parts.

    Few results wait for one before them: all of them may be much more than memory holds.
    """
    waiting, lock, n_added = dict[int, Total](), Lock(), 0

    def add(place: int) -> None:
        nonlocal total, n_added
        found = work(parts[place])
        with lock:
            waiting[place] = found
            while n_added in waiting:
                total += waiting.pop(n_added)
                n_added += 1

    side_by_side(add, range(len(parts)))
    return total


def row_blocks(n_rows: int, size: int | None = None) -> list[slice]:
    """Slices that cover the rows, so many at a time."""
    size = BLOCK if size is None else size
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


def even_blocks(n_rows: int, most: int, least: float = inf) -> list[slice]:
    """Slices of about as many rows each, a power of two of them, so that teams share them evenly.

    They hold at most so many rows, and at least so many where that leaves a choice.
    """
    n_blocks = 1 << max(0, -(-n_rows // most) - 1).bit_length()
    while n_rows >= 2 * least * n_blocks:
        n_blocks *= 2
    ends = [n_rows * place // n_blocks for place in range(n_blocks + 1)]
    return list(starmap(slice, pairwise(ends)))
