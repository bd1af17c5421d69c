"""How a delimited text is written: its encoding and its separator, found in its first lines."""

from __future__ import annotations

import codecs
import csv
import io
from itertools import islice

__all__ = ["HEAD_BYTES", "SEPARATORS", "decoded_head", "find_encoding", "find_separator"]

HEAD_BYTES = 1 << 20
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
_LINES_LOOKED_AT = 50
_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def find_encoding(head: bytes) -> str:
    """The encoding of a text: by its first bytes, UTF-8 where it is valid, else that of Windows.

    Examples
    --------
    >>> [find_encoding("Größe".encode(name)) for name in ("utf-8", "cp1252", "utf-16")]
    ['utf-8', 'cp1252', 'utf-16']
    """
    marked = next((name for mark, name in _MARKS.items() if head.startswith(mark)), None)
    if marked is not None:
        return marked
    for name in ("utf-8", "cp1252"):
        try:
            decoded_head(head, name)
        except UnicodeDecodeError:
            continue
        return name
    return "latin-1"  # which has a letter for every byte


def decoded_head(head: bytes, encoding: str) -> str:
    """The first bytes of a text as letters; a letter that the end cuts through is left out."""
    io.TextIOWrapper(io.BytesIO(), encoding)  # raises LookupError for codes that are none of text
    decoder = codecs.getincrementaldecoder(encoding)()
    return decoder.decode(head, final=len(head) < HEAD_BYTES).removeprefix("\ufeff")


def find_separator(text: str, stated: str) -> str:
    r"""The mark between the fields of a text: the stated one, unless only another one fits.

    A mark fits where it stands in the header and parts every line into as many fields.

    Examples
    --------
    >>> find_separator("size;mass\n1,5;3\n", ","), find_separator("a,b\n1;2,3\n", ",")
    (';', ',')
    """
    n_fields = {mark: _n_fields(text, mark) for mark in (stated, *SEPARATORS.values())}
    fitting = [mark for mark, count in n_fields.items() if count > 1]
    if not fitting or fitting[0] == stated:
        return stated
    return max(fitting, key=lambda mark: n_fields[mark])


def _n_fields(text: str, mark: str) -> int:
    """Fields of each line; 0 where lines have unlike numbers of fields."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
    try:
        found = [row for row in islice(rows, _LINES_LOOKED_AT) if row]
    except csv.Error:
        return 0
    # The last row may be cut.
    counts = {len(row) for row in (found[:-1] if len(found) > 2 else found)}
    return counts.pop() if len(counts) == 1 else 0
