"""Batches that a stopped run leaves behind, for the next run to go on after them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from unseen._files import StrPath, write_then_rename
from unseen.tables._arrow import Table, arrow

__all__ = ["KeptBatches"]

_KEY = "key.txt"


class KeptBatches:
    """Tables by number, in a hidden folder beside a file that is being made of them.

    Each table is on disk, whole, before :meth:`keep` returns, so that a process may be killed at
    any time. A later run finds the tables by the name of the file and by the ``key``, which says
    what the tables were made from; tables of another key are thrown away.

    Parameters
    ----------
    target : path
        The file that the tables are for.
    key : str
        Equal for equal tables.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pyarrow as pa
    >>> from unseen.tables.kept import KeptBatches
    >>> with TemporaryDirectory() as folder:
    ...     target = Path(folder, "labelled.csv")
    ...     KeptBatches(target, "one rule").keep(0, pa.table({"label": ["a"]}))
    ...     [KeptBatches(target, key).find(0) is None for key in ("one rule", "another")]
    [False, True]
    """

    def __init__(self, target: StrPath, key: str) -> None:
        target = Path(os.path.realpath(target))
        self.folder = target.with_name(f".{target.name}.kept")
        known = self.folder / _KEY
        if not (known.is_file() and known.read_bytes() == key.encode()):
            self.remove()
            self.folder.mkdir(mode=0o700)  # the file may be for its owner alone
            with write_then_rename(known) as draft:
                draft.write_text(key)

    def find(self, number: int) -> Table | None:
        """The table of this number; None where it was not kept."""
        file = self._file(number)
        return arrow("feather").read_table(file, memory_map=False) if file.exists() else None

    def keep(self, number: int, table: Table) -> None:
        """Put the table of this number on disk."""
        with write_then_rename(self._file(number)) as draft:
            arrow("feather").write_feather(table, draft, compression="lz4")

    def remove(self) -> None:
        """Throw all tables away."""
        if self.folder.exists():
            shutil.rmtree(self.folder)

    def _file(self, number: int) -> Path:
        return self.folder / f"{number:08d}.feather"
