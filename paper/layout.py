"""How a table looks: the same grid as plain text and as LaTeX, and its records as csv.

pandas has no table with rules between sections, two-line headers and blocks of a given width, so
the grid is laid out here.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
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
        Our number.
    aside : str
        The number to compare it with, printed in brackets.
    best : bool
        Whether the number is the best of its row: bold in LaTeX, a star in text.

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
        """The entry in plain text."""
        found = f"*{self.text}" if self.best else self.text
        return f"{found} [{self.aside}]".lstrip() if self.aside else found

    def to_latex(self) -> str:
        """The entry in LaTeX."""
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
        captions = [" ".join([f"{self.title}.", *self.notes])]
        captions += [f"{self.title} (part {n} of {len(blocks)})" for n in range(2, len(blocks) + 1)]
        return "\n\n".join(map(self._latex_float, blocks, captions))

    def _widths(self) -> list[int]:
        names = [[len(line) for line in name.split("\n")] for name in self.header]
        rows = [[len(entry.to_text()) for entry in row] for part in self.sections for row in part]
        return [max(*name, *column) for name, *column in zip(names, *rows, strict=True)]

    def _blocks(self, width: int) -> Iterator[list[int]]:
        """Columns that stand side by side; every block repeats the names of the rows."""
        widths = self._widths()
        block = [0]
        for column in range(1, len(widths)):
            needed = sum(widths[i] + len(_GAP) for i in [*block, column]) - len(_GAP)
            if len(block) > 1 and needed > width:
                yield block
                block = [0]
            block.append(column)
        yield block

    def _lines(self, columns: list[int]) -> tuple[list[list[Entry]], list[list[list[Entry]]]]:
        """Header and sections of a block, without rows that have nothing to say there."""
        names = [self.header[column].split("\n") for column in columns]
        head = [list(map(Entry, line)) for line in zip_longest(*names, fillvalue="")]
        rows = [[[row[i] for i in columns] for row in section] for section in self.sections]
        body = [[row for row in section if any(e != Entry() for e in row[1:])] for section in rows]
        return head, [section for section in body if section]

    def _text_block(self, columns: list[int]) -> str:
        widths = [self._widths()[column] for column in columns]
        head, body = self._lines(columns)
        rule = "-" * (sum(widths) + len(_GAP) * (len(widths) - 1))
        lines = [_aligned(row, widths) for row in head]
        for section in body:
            lines += [rule, *(_aligned(row, widths) for row in section)]
        return "\n".join(lines)

    def _latex_float(self, columns: list[int], caption: str) -> str:
        head, body = self._lines(columns)
        rows = [r"\hline\hline", *map(_latex_row, head)]
        for section in body:
            rows += [r"\hline", *map(_latex_row, section)]
        return "\n".join(
            [
                r"\begin{table}[ht]",
                r"\centering",
                rf"\caption{{{latex(caption)}}}",
                r"\scriptsize",
                r"\tabcolsep 3pt",
                rf"\begin{{tabular}}{{l|{'r' * (len(columns) - 1)}}}",
                *rows,
                r"\hline",
                r"\end{tabular}",
                r"\end{table}",
            ]
        )


@dataclass(frozen=True)
class Table:
    """Records, and the grids that show them.

    Parameters
    ----------
    records : tuple of dataclass instances
        One per number, all of one class: the rows of the csv file.
    grids : tuple of Grid
        The printed form of the records.

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

    def save(self, stem: str | Path) -> tuple[Path, ...]:
        """Write text, csv and LaTeX beside each other: `stem` with .txt, .csv and .tex."""
        texts = {".txt": self.to_text(), ".csv": self.to_csv(), ".tex": self.to_latex()}
        files = {Path(f"{stem}{ending}"): text for ending, text in texts.items()}
        for file, text in files.items():
            write_text(file, text)
        return tuple(files)


def number(value: float | None, digits: int = 3) -> str:
    """A number as the paper prints it, with no zero before the point.

    Parameters
    ----------
    value : float or None
        None and nan are printed as "n/a".
    digits : int, default=3
        Digits after the point.

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


def _latex_row(row: list[Entry]) -> str:
    return " & ".join(entry.to_latex() for entry in row) + r" \\"


def _aligned(row: list[Entry], widths: list[int]) -> str:
    first, *others = (entry.to_text() for entry in row)
    cells = [first.ljust(widths[0]), *map(str.rjust, others, widths[1:])]
    return _GAP.join(cells).rstrip()
