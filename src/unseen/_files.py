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

from unseen._platform import make_file

__all__ = ["StrPath", "check_writable", "write_then_rename"]

StrPath: TypeAlias = str | os.PathLike[str]

# Only writing fails so; other errors within a writer may come from what it reads.
_NO_SPACE = (ENOSPC, EDQUOT, EFBIG, EROFS)


def check_writable(path: StrPath) -> None:
    """Raise at once what writing a file would raise at the end.

    Parameters
    ----------
    path : path
        Where a file is to be written; a file that is there stays as it is.

    Raises
    ------
    OSError
        When the folder does not exist or may not be written to, or when ``path`` is no plain file.

    Examples
    --------
    >>> from unseen._files import check_writable
    >>> check_writable("no such folder/out.csv")
    Traceback (most recent call last):
        ...
    FileNotFoundError: no such folder/out.csv cannot be written: its folder does not exist.
    """
    target = Path(os.path.realpath(path))
    try:
        _check_target(target)
        draft = _draft_beside(target)
        make_file(draft, target)
        draft.unlink()
    except OSError as error:
        reason = error.strerror.lower() if error.strerror else str(error)
        # Without its number an error is its sentence and nothing else.
        raise type(error)(f"{path} cannot be written: {reason}.") from None


@contextmanager
def write_then_rename(path: StrPath) -> Iterator[Path]:
    """Yield a draft to write to, which becomes the file if all went well, and is deleted if not.

    Parameters
    ----------
    path : path
        The file to make or to replace; a replaced file keeps its permissions.

    Yields
    ------
    Path
        The draft, in the same folder and with the same suffix.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from unseen._files import write_then_rename
    >>> with TemporaryDirectory() as folder:
    ...     target = Path(folder, "note.txt")
    ...     with write_then_rename(target) as draft:
    ...         _ = draft.write_text("all of it")
    ...     print(target.read_text(), len(list(Path(folder).iterdir())))
    all of it 1
    """
    check_writable(path)
    target = Path(os.path.realpath(path))
    draft = _draft_beside(target)
    try:
        make_file(draft, target)
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


def _check_target(target: Path) -> None:
    if not target.parent.exists():
        raise FileNotFoundError("its folder does not exist")
    if not target.parent.is_dir():
        raise NotADirectoryError("it would lie within a file")
    if target.is_dir():
        raise IsADirectoryError("it is a folder")
    # Renaming over a device such as /dev/null would replace it.
    if target.exists() and not target.is_file():
        raise OSError("it is no plain file")


def _draft_beside(target: Path) -> Path:
    # Some writers, such as matplotlib's, go by the suffix.
    return target.with_name(f".{uuid4().hex}{target.suffix}")
