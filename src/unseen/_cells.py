"""Files of single cells in a process of its own, as HDF5 crashes or loops on damaged ones.

``tables/cells.py`` starts this module and asks: a line of JSON, then a table in Arrow's stream
format. The answer has the same form. The module lies outside ``tables`` so as to start at once.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import warnings
from contextlib import AbstractContextManager, nullcontext
from typing import Any, cast

import numpy as np

from unseen._optional import pa


class CellsError(Exception):
    """What went wrong in one step, "import", "read" or "write", with the system's number if any."""

    def __init__(self, step: str, reason: str, number: int | None = None) -> None:
        super().__init__(step, reason, number)
        self.step, self.reason, self.number = step, reason, number


def answer(path: str, draft: str | None, added: Any) -> Any:
    """The columns of a file of cells; with a draft, which gets a copy with columns added, none."""
    step = "import"
    try:
        import anndata

        step = "read"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # old layouts are read with a warning
            cells = anndata.read_h5ad(path)
            if draft is None:
                return pa.table(_columns(cells))
            step = "write"
            for name in added.column_names:
                cells.obs[name] = np.array(added[name].to_pylist())
            with any_text():
                cells.write_h5ad(draft)
        return pa.table({})
    except Exception as error:  # HDF5 and anndata raise many kinds
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise CellsError(step, reason, getattr(error, "errno", None)) from error


def any_text() -> AbstractContextManager[Any]:
    """Let anndata write text as pandas holds it since its third release."""
    import anndata

    settings = getattr(anndata, "settings", None)
    if settings is None or not hasattr(settings, "allow_write_nullable_strings"):
        return nullcontext()
    return cast(AbstractContextManager[Any], settings.override(allow_write_nullable_strings=True))


def _columns(cells: Any) -> dict[str, Any]:
    columns = {f"obs/{name}": plain(cells.obs[name]) for name in cells.obs.columns}
    for name, values in cells.obsm.items():
        array = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
        if array.ndim == 2 and array.shape[1] and array.dtype.kind in "fiub":
            # Half precision has no arithmetic in pyarrow, and foreign byte order none at all.
            half = array.dtype == np.float16
            wanted = np.dtype(np.float32) if half else array.dtype.newbyteorder("=")
            flat = pa.array(np.ascontiguousarray(array, dtype=wanted).ravel())
            columns[f"obsm/{name}"] = pa.FixedSizeListArray.from_arrays(flat, array.shape[1])
    return columns


def plain(column: Any) -> Any:
    """Categories and objects as text; numbers and booleans as they are."""
    if column.dtype.kind in "fiub":
        return pa.array(column)  # gaps of pandas too
    words = zip(column.astype(object).tolist(), column.isna(), strict=True)
    return pa.array([None if is_gap else str(word) for word, is_gap in words])


def send(stream: Any, head: dict[str, Any], table: Any) -> None:
    """Write a question or an answer."""
    stream.write(json.dumps(head).encode() + b"\n")
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    stream.flush()


def receive(stream: Any) -> tuple[dict[str, Any], Any]:
    """Read a question or an answer; EOFError where the other process has ended."""
    line = stream.readline()
    if not line:
        raise EOFError("the other process has ended")
    # No file is trusted, and neither is a process that has read one.
    table = pa.ipc.open_stream(stream).read_all()
    table.validate(full=True)
    return json.loads(line), table


def _serve() -> None:
    """Answer until the process that asks has ended."""
    # Ctrl-C goes to all; who asks ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What libraries print must not come among the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            asked, added = receive(sys.stdin.buffer)
        except EOFError:
            return
        # Where who asks was killed, nobody else ends a loop.
        faulthandler.dump_traceback_later(asked["seconds"] + 1, exit=True)
        try:
            head, table = {}, answer(asked["path"], asked["draft"], added)
        except CellsError as error:
            head, table = {"error": error.args}, pa.table({})
        send(answers, head, table)
        faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    _serve()
