"""A small table as text or HTML: how records print themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["html_table", "text_table"]


def text_table(table: Sequence[Sequence[str]], remarks: Iterable[str]) -> str:
    """Columns side by side, names on the left and numbers on the right, and remarks below.

    Examples
    --------
    >>> print(text_table([["", "share"], ["cat", "0.5"]], ["m"]))
         share
    cat    0.5
    m
    """
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in table
    ]
    return "\n".join([*lines, *remarks])


def html_table(table: Sequence[Sequence[str]], remarks: Iterable[str]) -> str:
    """The same for a notebook; everything is escaped.

    Examples
    --------
    >>> html_table([["a"], ["<b>"]], ["c"])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table><p>c</p>'
    """
    header, *rows = ([escape(cell) for cell in row] for row in table)
    head = "".join(f"<th>{cell}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    below = "".join(f"<p>{escape(remark)}</p>" for remark in remarks)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"
