"""Single cells: the embeddings and the annotations of an AnnData file, and labels written back.

Columns are called as in the file: ``obs/cell_type`` holds text, ``obsm/X_pca`` lists of numbers.
The matrix of genes is no column: counts are no features that distances could compare.
"""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, ExitStack, nullcontext
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from unseen._files import write_then_rename
from unseen.tables._arrow import Table, arrow
from unseen.tables.arrays import column_of

if TYPE_CHECKING:
    from unseen.tables.formats import Part

CELLS = "an AnnData file (.h5ad)"
_ADDED = ("predicted", "novelty")


def _anndata() -> Any:
    try:
        return import_module("anndata")
    except ImportError as error:
        raise ImportError(
            'Files of single cells are read with anndata. Install it: pip install "unseen[anndata]"'
        ) from error


def read_cells(part: Part, called: str) -> Table:
    """AnnData in HDF5, as scanpy and scvi-tools write it."""
    cells = _read(part.path, part.name, called)
    columns = {f"obs/{name}": _plain(cells.obs[name]) for name in cells.obs.columns}
    for name, values in cells.obsm.items():
        array = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
        if array.ndim == 2 and array.shape[1] and array.dtype.kind in "fiub":
            columns[f"obsm/{name}"] = column_of(np.ascontiguousarray(array))
    return arrow().table(columns)


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
        if kind is None:
            added = arrow().concat_tables(self._rows)
            cells = _read(self.source, str(self.source), CELLS)
            for name in _ADDED:
                cells.obs[f"unseen_{name}"] = np.array(added[name].to_pylist())
            with warnings.catch_warnings(), _any_text():
                warnings.simplefilter("ignore")
                cells.write_h5ad(self._draft)
        self._stack.__exit__(kind, *error)


def _read(path: Path, name: str, called: str) -> Any:
    reader = _anndata()
    try:
        with warnings.catch_warnings():
            # Old layouts are read with a warning.
            warnings.simplefilter("ignore")
            return reader.read_h5ad(path)
    except Exception as error:  # HDF5 and anndata raise many kinds
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise ValueError(f"{name} must be {called}; {reason}.") from error


def _any_text() -> AbstractContextManager[Any]:
    """Let anndata write text as pandas holds it since its third release."""
    settings = getattr(_anndata(), "settings", None)
    if settings is None or not hasattr(settings, "allow_write_nullable_strings"):
        return nullcontext()
    return cast(AbstractContextManager[Any], settings.override(allow_write_nullable_strings=True))


def _plain(column: Any) -> Any:
    """Categories and objects as text; numbers and booleans as they are."""
    if column.dtype.kind in "fiub":
        return arrow().array(column)  # gaps of pandas too
    words = zip(column.astype(object).tolist(), column.isna(), strict=True)
    return arrow().array([None if is_gap else str(word) for word, is_gap in words])
