"""How a table looks: the same grid as plain text and as LaTeX, and its records as csv."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import zip_longest
from pathlib import Path
from typing import Any

from paper.store import write_text

__all__ = ["Entry", "Grid", "Table", "number"]

_GAP = "  "
# What fits the text width of a LaTeX article in \scriptsize.
_LATEX_WIDTH = 84
_LATEX_SIGNS = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "±": r" $\pm$ ",
        "<": "$<$",
        ">": "$>$",
        "^": r"\^{}",
        "~": r"\~{}",
        **{sign: rf"\{sign}" for sign in "&%$#_{}"},
    }
)


@dataclass(frozen=True)
class Entry:
    r"""One printed entry.

    Parameters
    ----------
    text : str
        What was found.
    aside : str
        What it is to be compared with, printed in brackets.
    best : bool
        Whether it is the best of its row: bold in LaTeX, a star in text.

    Examples
    --------
    >>> from paper.layout import Entry
    >>> print(Entry(".188±.20", aside=".190", best=True).to_latex())
    {\bf .188 $\pm$ .20} [.190]
    """

    text: str = ""
    aside: str = ""
    best: bool = False

    def to_text(self) -> str:
        """As plain text."""
        found = f"*{self.text}" if self.best else self.text
        return f"{found} [{self.aside}]".lstrip() if self.aside else found

    def to_latex(self) -> str:
        """As LaTeX."""
        found = latex(self.text)
        found = rf"{{\bf {found}}}" if self.best else found
        return f"{found} [{latex(self.aside)}]".lstrip() if self.aside else found


@dataclass(frozen=True)
class Grid:
    """Rows of entries under a header, in sections with a rule between them.

    Parameters
    ----------
    title : str
    header : tuple of str
        One name per column, of one line or more; the first column holds the names of the rows.
    sections : tuple of tuple of rows
        A row is a tuple of entries.
    notes : tuple of str
        Sentences under the table.

    Examples
    --------
    >>> from paper.layout import Entry, Grid
    >>> row = (Entry("Banana"), Entry(".10", aside=".12", best=True), Entry(".20"))
    >>> print(Grid("Errors", ("Set", "ours", "theirs"), ((row,),)).to_text())
    Errors
    <BLANKLINE>
    Set           ours  theirs
    --------------------------
    Banana  *.10 [.12]     .20
    """

    title: str
    header: tuple[str, ...]
    sections: tuple[tuple[tuple[Entry, ...], ...], ...]
    notes: tuple[str, ...] = ()

    def to_text(self, width: int = 120) -> str:
        """Plain text; columns that do not fit the width go into a further block below."""
        blocks = [self._text_block(columns) for columns in self._blocks(width)]
        return "\n\n".join([self.title, *blocks, *(["\n".join(self.notes)] if self.notes else [])])

    def to_latex(self) -> str:
        """Tables for any article class, with no package; each block is a float of its own."""
        blocks = list(self._blocks(_LATEX_WIDTH))
        caption = " ".join([self.title + ".", *self.notes])
        parts = [""] + [f" (part {part} of {len(blocks)})" for part in range(2, len(blocks) + 1)]
        return "\n\n".join(
            self._latex_float(columns, self.title + part if part else caption)
            for columns, part in zip(blocks, parts, strict=True)
        )

    def _rows(self) -> Iterator[tuple[Entry, ...]]:
        for section in self.sections:
            yield from section

    def _widths(self) -> list[int]:
        columns = zip(*self._rows(), strict=True)
        return [
            max(*map(len, name.split("\n")), *(len(entry.to_text()) for entry in column))
            for name, column in zip(self.header, columns, strict=True)
        ]

    def _blocks(self, width: int) -> Iterator[list[int]]:
        """Columns that stand side by side; every block repeats the names of the rows."""
        widths = self._widths()
        block = [0]
        for column in range(1, len(widths)):
            if len(block) > 1 and _total([widths[i] for i in [*block, column]]) > width:
                yield block
                block = [0]
            block.append(column)
        yield block

    def _head(self, columns: Sequence[int]) -> list[tuple[str, ...]]:
        """Lines of the header."""
        names = [self.header[column].split("\n") for column in columns]
        return list(zip_longest(*names, fillvalue=""))

    def _body(self, columns: Sequence[int]) -> Iterator[list[list[Entry]]]:
        """Sections of a block, without rows that have nothing to say there."""
        for section in self.sections:
            rows = ([row[column] for column in columns] for row in section)
            kept = [row for row in rows if any(entry != Entry() for entry in row[1:])]
            if kept:
                yield kept

    def _text_block(self, columns: Sequence[int]) -> str:
        widths = [self._widths()[column] for column in columns]
        lines = [_aligned(names, widths) for names in self._head(columns)]
        for section in self._body(columns):
            lines.append("-" * _total(widths))
            lines += [_aligned([entry.to_text() for entry in row], widths) for row in section]
        return "\n".join(lines)

    def _latex_float(self, columns: Sequence[int], caption: str) -> str:
        lines = [
            r"\begin{table}[ht]",
            r"\centering",
            rf"\caption{{{latex(caption)}}}",
            r"\scriptsize",
            r"\tabcolsep 3pt",
            rf"\begin{{tabular}}{{l|{'r' * (len(columns) - 1)}}}",
            r"\hline\hline",
        ]
        lines += [" & ".join(map(latex, names)) + r" \\" for names in self._head(columns)]
        for section in self._body(columns):
            lines.append(r"\hline")
            lines += [" & ".join(entry.to_latex() for entry in row) + r" \\" for row in section]
        return "\n".join([*lines, r"\hline", r"\end{tabular}", r"\end{table}"])


@dataclass(frozen=True)
class Table:
    """Records, and the grids that show them.

    Parameters
    ----------
    records : tuple of dataclass instances
        One per number, all of one class: the rows of the csv file.
    grids : tuple of Grid
        What is printed.

    Examples
    --------
    >>> from paper.layout import Entry, Grid, Table
    >>> from paper.published import Spread
    >>> grid = Grid("Errors", ("Set", "L2"), (((Entry("Banana"), Entry(".10")),),))
    >>> print(Table((Spread(0.1, 0.02),), (grid,)).to_csv(), end="")
    mean,sd
    0.1,0.02
    """

    records: tuple[Any, ...]
    grids: tuple[Grid, ...]

    def to_text(self, width: int = 120) -> str:
        """Plain text, at most `width` characters wide where one column permits it."""
        return "\n\n\n".join(grid.to_text(width) for grid in self.grids) + "\n"

    def to_latex(self) -> str:
        """One LaTeX table per grid."""
        return "\n\n".join(grid.to_latex() for grid in self.grids) + "\n"

    def to_csv(self) -> str:
        """Tidy csv: a header, then one line per record; nothing stands for a missing value."""
        file = io.StringIO()
        names = [field.name for field in fields(self.records[0])]
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(record) for record in self.records)
        return file.getvalue()

    def save(self, stem: str | Path) -> tuple[Path, Path, Path]:
        """Write text, csv and LaTeX beside each other: `stem` with .txt, .csv and .tex."""
        texts = {".txt": self.to_text(), ".csv": self.to_csv(), ".tex": self.to_latex()}
        txt, table, tex = (Path(f"{stem}{ending}") for ending in texts)
        for path, text in zip((txt, table, tex), texts.values(), strict=True):
            write_text(path, text)
        return txt, table, tex


def number(value: float | None, digits: int = 3) -> str:
    """A number as the paper prints it, with no zero before the point.

    Parameters
    ----------
    value : float or None
        None and nan are printed as "n/a".
    digits : int, default=3
        Digits after the point.

    Returns
    -------
    str

    Examples
    --------
    >>> from paper.layout import number
    >>> number(0.1882), number(1.5, 2), number(-0.25, 2), number(-0.0001), number(None)
    ('.188', '1.50', '-.25', '.000', 'n/a')
    """
    if value is None or math.isnan(value):
        return "n/a"
    sign = "-" if round(value, digits) < 0 else ""
    text = f"{abs(value):.{digits}f}"
    return sign + text.removeprefix("0")


def latex(text: str) -> str:
    """Plain text with the signs that LaTeX reserves written its way."""
    return text.translate(_LATEX_SIGNS)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _aligned(texts: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = [
        text.rjust(width) if place else text.ljust(width)
        for place, (text, width) in enumerate(zip(texts, widths, strict=True))
    ]
    return _GAP.join([first, *others]).rstrip()
