"""One BLAS thread inside, so that work can be spread outside."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> Any:
    """Context in which BLAS runs on the calling thread alone.

    Small products spread over threads wait for each other longer than they compute, above all
    on a busy machine, and their rounding then depends on the number of cores.

    Examples
    --------
    >>> from unseen.engine.threads import one_blas_thread
    >>> with one_blas_thread():
    ...     pass
    """
    return _controller().limit(limits=1, user_api="blas")


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    # scipy loads a BLAS of its own; the controller sees only what is loaded when it is made.
    import scipy.linalg  # noqa: F401

    return ThreadpoolController()
