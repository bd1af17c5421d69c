"""What differs between operating systems: the cache folder, permissions of files, signals."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

# Windows knows the first two.
_STOPS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


def cache_folder() -> Path:
    """The folder in which a user's programs keep what can be had again."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    windows = sys.platform == "win32"
    variable, usual = ("LOCALAPPDATA", "AppData/Local") if windows else ("XDG_CACHE_HOME", ".cache")
    cache = Path(os.environ.get(variable, ""))
    return cache if cache.is_absolute() else Path.home() / usual


def make_file(path: Path, like: Path) -> None:
    """Make an empty file, with the permissions of the file ``like`` if there is one.

    Nobody who may not read the old file can read the new one, not even while it is written.
    """
    try:
        mode = like.stat().st_mode & 0o777
    except FileNotFoundError:
        path.touch(exist_ok=False)
        return
    path.touch(mode=mode & 0o600, exist_ok=False)
    path.chmod(mode)


@contextmanager
def stopping_cleanly(message: str) -> Iterator[None]:
    """End a command that is told to stop as if by an error: what it has begun to write goes.

    The exit code is 128 and the number of the signal, as a shell has it: 130 after Ctrl-C. A
    signal that the process was started to ignore, as under ``nohup``, stays ignored.
    """
    stopped: int | None = None

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        nonlocal stopped
        stopped = number
        for each in before:
            signal.signal(each, signal.SIG_IGN)  # once is enough, and cleaning up takes a moment
        os.write(2, f"\n{message}\n".encode())
        raise SystemExit(128 + number)

    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        found = {number: signal.getsignal(number) for number in _STOPS}
        before = {each: how for each, how in found.items() if how not in (signal.SIG_IGN, None)}
    for each in before:
        signal.signal(each, stop)
    try:
        yield
    except BaseException:
        # A module that is stopped while it loads says that it could not be imported.
        if stopped is not None:
            raise SystemExit(128 + stopped) from None
        raise
    finally:
        for each, how in before.items():
            signal.signal(each, how)
