"""Single cells: the embeddings and the annotations of an AnnData file, and labels written back.

Columns are called as in the file: ``obs/cell_type`` holds text, ``obsm/X_pca`` lists of numbers.
The matrix of genes is no column: counts are no features that distances could compare. HDF5 runs in
a process of its own (``_cells.py``): a file on which it crashes or hangs cannot be read, no more.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from multiprocessing.spawn import get_executable
from pathlib import Path
from threading import Lock, Timer
from typing import Any

from unseen._cells import CellsError, answer, receive, send
from unseen._files import write_then_rename
from unseen._optional import pa
from unseen.tables._arrow import Part, Table

CELLS = "an AnnData file (.h5ad)"
_ADDED = ("predicted", "novelty")
# Seconds for each 128 MB of a file that have begun: a hundred times what is usual.
PATIENCE = 120.0


def read_cells(part: Part, called: str) -> Table:
    """AnnData in HDF5, as scanpy and scvi-tools write it."""
    try:
        return _READER.ask(part.path)
    except CellsError as error:
        raise _refused(error, part.name, called) from error


def _refused(error: CellsError, name: str, called: str) -> Exception:
    if error.step == "import":
        return ImportError(
            'Files of single cells are read with anndata. Install it: pip install "unseen[anndata]"'
        )
    return ValueError(f"{name} must be {called}; {error.reason}.")


class CellWriter:
    """Write labels and novelty into ``obs`` of a copy, ``path``, of a file of cells, ``source``."""

    keeps_types = True

    def __init__(self, source: Path, path: Path) -> None:
        self.source, self.path = source, path
        self._rows: list[Table] = []
        self._stack = ExitStack()

    def __enter__(self) -> CellWriter:
        self._draft = self._stack.enter_context(write_then_rename(self.path))
        return self

    def write(self, rows: Table) -> None:
        """Keep the added columns of rows, which come in the order of the file."""
        self._rows.append(rows.select(list(_ADDED)))

    def __exit__(self, kind: Any, *error: Any) -> None:
        if kind is not None:
            self._stack.__exit__(kind, *error)
            return
        with self._stack:
            added = pa.concat_tables(self._rows)
            added = added.rename_columns([f"unseen_{name}" for name in _ADDED])
            try:
                _READER.ask(self.source, self._draft, added)
            except CellsError as error:
                if error.step != "write":
                    raise _refused(error, str(self.source), CELLS) from error
                reason = os.strerror(error.number).lower() if error.number else error.reason
                raise OSError(f"{self.path} cannot be written: {reason}.") from error


class _Reader:
    """The process in which HDF5 runs: started when it is first needed, and again when it died."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def ask(self, path: Path, draft: Path | None = None, added: Table = None) -> Table:
        """The columns of a file of cells, or, where a draft is to get a copy of it, none."""
        table = pa.table({}) if added is None else added
        file, copy = str(path.absolute()), str(draft.absolute()) if draft else None
        if getattr(sys, "frozen", False) or not get_executable():  # no Python that could be started
            return answer(file, copy, table)
        seconds = PATIENCE * (1 + (path.stat().st_size >> 27))
        with self._lock:
            # A fork has the object of the process it comes from, but no right to its pipes.
            process = self._process if self._owner == os.getpid() else None
            if process is None or process.poll() is not None:
                self._owner = os.getpid()
                # -P: modules of the folder that holds the data must not run.
                self._process = process = subprocess.Popen(
                    [get_executable(), "-P", "-m", "unseen._cells"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sys.path))},
                )
            asked = {"path": file, "draft": copy, "seconds": seconds}
            head, found = self._asked(process, asked, table)
        if "error" in head:
            raise CellsError(*head["error"])
        return found

    def _asked(
        self, process: subprocess.Popen[bytes], head: dict[str, Any], table: Table
    ) -> tuple[dict[str, Any], Table]:
        end = time.monotonic() + head["seconds"]
        limit = Timer(head["seconds"], process.kill)
        limit.daemon = True
        limit.start()
        try:
            send(process.stdin, head, table)
            return receive(process.stdout)
        except (EOFError, OSError, ValueError) as error:
            with suppress(subprocess.TimeoutExpired):
                process.wait(1)
            self.stop()
            reason = "HDF5 crashed on it"
            if time.monotonic() >= end:
                reason = f"HDF5 took more than {head['seconds']:.0f} seconds for it"
            elif process.returncode == 1:  # Python itself gave up, such as without pyarrow
                reason = "the process that would read it could not start"
            raise CellsError("write" if head["draft"] else "read", reason) from error
        except BaseException:  # such as Ctrl-C: what the process would answer is of no use
            self.stop()
            raise
        finally:
            limit.cancel()

    def stop(self) -> None:
        """End the process, if there is one and it is ours."""
        process, self._process = self._process, None
        if process is not None and self._owner == os.getpid():
            process.kill()
            process.communicate()


_READER = _Reader()
atexit.register(_READER.stop)
