"""Formats without batches, of small tables: ARFF by SciPy, and Excel by pandas."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen._optional import pa
from unseen.tables._arrow import Batch, Format, Part, Table, batch_rows


@dataclass(frozen=True)
class WholeTable(Format):
    """A format whose files are read as a whole, by a function that is told what it is called."""

    called: str
    read: Callable[[Part, str], Table]

    def names(self, part: Part) -> list[str]:
        """The columns of the table."""
        return list(self.read(part, self.called).column_names)

    def batches(self, part: Part, columns: Sequence[str]) -> Iterator[Batch]:
        """The table, cut into batches."""
        table = self.read(part, self.called).select(list(columns))
        yield from table.to_batches(max_chunksize=batch_rows(len(columns)))


def read_arff(part: Part, called: str) -> Table:
    """ARFF, the format of Weka and OpenML; numbers and nominal values."""
    from scipy.io import arff

    try:
        with part.path.open(encoding="utf-8", errors="surrogateescape") as file:
            rows, _ = arff.loadarff(file)
    except (arff.ArffError, NotImplementedError, ValueError, StopIteration) as error:
        reason = " ".join(str(error).split()) or "it has no such header"
        raise ValueError(
            f"{part.name} must be {called}; {reason[:200]}. Save it as csv."
        ) from error
    return pa.table({name: _nominal(rows[name]) for name in rows.dtype.names or ()})


def _nominal(column: Any) -> Any:
    """Nominal values, which SciPy gives as bytes, as text; ``?`` is missing."""
    if column.dtype.kind != "S":
        return column
    words = [value.decode("utf-8", "replace") for value in column.tolist()]
    return pa.array([None if word == "?" else word for word in words])


def read_excel(part: Part, called: str) -> Table:
    """The first sheet of an Excel workbook."""
    try:
        import pandas as pd

        with warnings.catch_warnings():
            # Styles and validations that the reader does not know have no values.
            warnings.simplefilter("ignore", UserWarning)
            sheet = pd.read_excel(part.path, dtype=object, keep_default_na=False)
    except ImportError as error:
        raise ImportError(
            f"{part.name} needs pandas and openpyxl to be read, and one is not installed. "
            'Try: pip install "unseen[excel]"'
        ) from error
    except Exception as error:  # a damaged workbook fails in many ways
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise ValueError(f"{part.name} must be {called}; {reason}.") from error
    return pa.table({str(name): _of_one_type(sheet[name]) for name in sheet.columns})


def _of_one_type(column: Any) -> Any:
    """The cells of a column of a sheet: of one type where they are, else as text."""
    cells = [None if cell is None or cell == "" or cell != cell else cell for cell in column]
    try:
        return pa.array(cells, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        words = [None if cell is None else _text(cell) for cell in cells]
        return pa.array(words, pa.string())


def _text(cell: Any) -> str:
    # 1.0 beside text is the whole number that the sheet shows.
    is_whole = isinstance(cell, float | np.floating) and float(cell).is_integer()
    return str(int(cell)) if is_whole else str(cell)
