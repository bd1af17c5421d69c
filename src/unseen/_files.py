"""Files that appear whole or not at all.

A writer fills a draft beside the target. The draft takes the target's name when it is complete and
on disk, so that a killed process may leave a draft, whose name begins with a dot, but never half a
target.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EDQUOT, EFBIG, ENOSPC, EROFS
from pathlib import Path
from typing import TypeAlias
from uuid import uuid4

StrPath: TypeAlias = str | os.PathLike[str]

# Only writing fails so; other errors within a writer may come from what it reads.
_NO_SPACE = (ENOSPC, EDQUOT, EFBIG, EROFS)


def check_writable(path: StrPath) -> None:
    """Raise at once what writing a file would raise at the end; a file that is there stays."""
    target = Path(os.path.realpath(path))
    try:
        if not target.parent.exists():
            raise FileNotFoundError("its folder does not exist")
        if not target.parent.is_dir():
            raise NotADirectoryError("it would lie within a file")
        if target.is_dir():
            raise IsADirectoryError("it is a folder")
        # Renaming over a device such as /dev/null would replace it.
        if target.exists() and not target.is_file():
            raise OSError("it is no plain file")
        _new_draft(target).unlink()
    except OSError as error:
        reason = error.strerror.lower() if error.strerror else str(error)
        # Without its number an error is its sentence and nothing else.
        raise type(error)(f"{path} cannot be written: {reason}.") from None


@contextmanager
def write_then_rename(path: StrPath) -> Iterator[Path]:
    """Yield a draft to write to, which becomes the file if all went well, and is deleted if not.

    The draft lies in the same folder and has the same suffix. A file that is replaced keeps its
    permissions.
    """
    check_writable(path)
    target = Path(os.path.realpath(path))
    draft = _new_draft(target)
    try:
        yield draft
        with draft.open("rb") as opened:
            os.fsync(opened.fileno())
        draft.replace(target)
    except OSError as error:
        if error.errno not in _NO_SPACE:
            raise
        raise OSError(f"{path} cannot be written: {os.strerror(error.errno).lower()}.") from error
    finally:
        draft.unlink(missing_ok=True)


def _new_draft(target: Path) -> Path:
    """An empty file beside the target, with its permissions if it is there.

    Nobody who may not read the old file can read the new one, not even while it is written.
    """
    # Some writers, such as matplotlib's, go by the suffix.
    draft = target.with_name(f".{uuid4().hex}{target.suffix}")
    try:
        mode = target.stat().st_mode & 0o777
    except FileNotFoundError:
        draft.touch(exist_ok=False)
    else:
        draft.touch(mode=mode & 0o600, exist_ok=False)
        draft.chmod(mode)
    return draft
