"""Where rows come from: files, joined or with labels beside them, or standard input."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cached_property
from glob import glob, has_magic
from pathlib import Path
from typing import IO

from unseen._files import StrPath
from unseen._optional import pa
from unseen._wording import quoted
from unseen.records import Notice
from unseen.tables._arrow import Array, Batch, Part, join
from unseen.tables.formats import (
    FORMATS,
    SUFFIXES,
    Delimited,
    check_name,
    format_of_bytes,
    format_of_name,
)

# The column of labels that come from a file of their own.
LABEL = "label"
_CHUNK = 1 << 20
# What may stand between the fields of a header.
_MARK = re.compile(r"\w\W+\w")


class Source:
    r"""Rows of files, read batch by batch and as often as needed.

    Parameters
    ----------
    parts : sequence of Part
        The files, in the order in which their rows are joined; see :meth:`find`.
    name : str
        The user's name for all files together.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from unseen.tables import Source
    >>> with TemporaryDirectory() as folder:
    ...     for day in ("mon", "tue"):
    ...         _ = Path(folder, f"{day}.csv").write_text("day,count\n" + f"{day},1\n" * 2)
    ...     source = Source.find(f"{folder}/*.csv")
    ...     print(source.columns(), sum(batch.num_rows for batch in source.batches()))
    ['day', 'count'] 4
    """

    def __init__(self, parts: Sequence[Part], name: str) -> None:
        self.parts = tuple(parts)
        self.name = name

    def __repr__(self) -> str:
        return f"Source({self.name!r}, {len(self.parts)} files)"

    @classmethod
    def find(
        cls,
        argument: StrPath | Sequence[StrPath],
        *,
        format: str | None = None,
        stdin: IO[bytes] | None = None,
        separator: str | None = None,
        encoding: str | None = None,
    ) -> Source:
        """The source that one argument of a command names.

        Parameters
        ----------
        argument : path, or sequence of path
            A file, a pattern such as ``"2024-*.parquet"``, a folder of files of one format, or
            ``-`` for standard input, as which a pipe is read. The rows of several are joined in
            that order; the files of a pattern or a folder come in the order of their names.
        format : str or None, default=None
            Such as ``"csv"``; None goes by the suffix. Standard input has none: it is csv,
            unless its first bytes are those of another format.
        stdin : binary stream or None, default=None
            The stream that ``-`` stands for; None is the standard input of the process. A
            temporary file holds a copy, and goes when the source does.
        separator, encoding : str or None, default=None
            The mark between the fields of a delimited text, and how its letters are written, such
            as ``";"`` and ``"latin-1"``. None goes by the first lines; ``notices`` says what was
            found there.

        Raises
        ------
        FileNotFoundError
            When there is no such file, or none that fits the pattern.
        ValueError
            When a file has an unknown suffix or is empty, or when files have other columns.
        """
        named = [argument] if isinstance(argument, str | os.PathLike) else list(argument)
        name, written = ", ".join(str(each) for each in named), (separator, encoding)
        if name == "-":
            given = sys.stdin.buffer if stdin is None else stdin
            return cls._from_stream(given, "standard input", format, *written)
        if _is_pipe(Path(name)):
            with open(name, "rb") as pipe:
                return cls._from_stream(pipe, name, format, *written)
        paths = [path for each in named for path in _readable_files(str(each))]
        if not paths:
            raise ValueError("argument must name at least one file; got none.")
        return cls([_part(path, str(path), format, *written) for path in paths], name)

    @classmethod
    def _from_stream(
        cls,
        stream: IO[bytes],
        name: str,
        format: str | None,
        separator: str | None,
        encoding: str | None,
    ) -> Source:
        """The source of a copy of a stream."""
        handle, copy = tempfile.mkstemp(prefix="unseen-stdin-")
        path = Path(copy)
        try:
            with os.fdopen(handle, "wb") as file:
                shutil.copyfileobj(stream, file, _CHUNK)
            source = cls([_part(path, name, format, separator, encoding, by_name=False)], name)
        except BaseException:
            path.unlink()
            raise
        weakref.finalize(source, path.unlink, missing_ok=True)
        return source

    @property
    def notices(self) -> tuple[Notice, ...]:
        """How the files are written, where that had to be found; one file speaks for many."""
        found = {notice.code: notice for part in self.parts for notice in part.notices}
        return tuple(found.values())

    def columns(self) -> list[str]:
        """The names of the columns; all files must have the same, in any order."""
        return list(self._names)

    @cached_property
    def _names(self) -> list[str]:
        first, *others = self.parts
        names = first.names()
        if not names:
            raise ValueError(f"{first.name} must have columns; found none.")
        for part in others:
            found = part.names()
            both_ways = (part, found, first, names), (first, names, part, found)
            for one, own, other, wanted in both_ways:
                there = set(own)
                absent = [column for column in wanted if column not in there]
                if absent:
                    rule = f"{one.name} must have the columns of {other.name}"
                    raise ValueError(f"{rule}; it lacks {quoted(absent)}.")
        return names

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[Batch]:
        """Yield the rows of all files in order, as pyarrow's batches.

        Parameters
        ----------
        columns : sequence of str or None, default=None
            Only these columns, in this order; None reads all.

        Raises
        ------
        ValueError
            When a file is not what its suffix says, or when there is no row at all.
        """
        wanted = self.columns()
        if columns is not None:
            check_names("columns", columns, wanted, self.name)
            wanted = list(columns)
        n_rows = 0
        for part in self.parts:
            for batch in part.batches(wanted):
                if batch.num_rows:
                    n_rows += batch.num_rows
                    yield batch.select(wanted)
        if not n_rows:
            raise ValueError(f"{self.name} must have rows; it holds a header and nothing else.")

    def pieces(self) -> list[Part]:
        """Files and parts of files that can be read side by side, in the order of their rows."""
        self.columns()  # raises where files have other columns
        return [piece for part in self.parts for piece in part.pieces()]

    def sha256(self) -> str:
        """The sha256 of the files' bytes, one after the other, as they lie on disk."""
        digest = hashlib.sha256()
        for part in self.parts:
            with part.path.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    digest.update(chunk)
        return digest.hexdigest()


class WithLabels(Source):
    """Rows of one source with the labels of another, in the column ``label``.

    Parameters
    ----------
    rows : Source
        The rows, such as those of ``X.npy``.
    labels : Source
        As many labels, in one column, in the order of the rows.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from unseen.tables import Source, WithLabels
    >>> with TemporaryDirectory() as folder:
    ...     np.save(Path(folder, "X.npy"), np.zeros((3, 2)))
    ...     np.save(Path(folder, "y.npy"), np.array([0, 1, 1]))
    ...     both = WithLabels(Source.find(f"{folder}/X.npy"), Source.find(f"{folder}/y.npy"))
    ...     print(both.columns())
    ['X', 'label']
    """

    def __init__(self, rows: Source, labels: Source) -> None:
        super().__init__((*rows.parts, *labels.parts), rows.name)
        self.rows, self.labels = rows, labels

    @cached_property
    def _names(self) -> list[str]:
        names, own = self.rows.columns(), self.labels.columns()
        if len(own) != 1:
            raise ValueError(
                f"{self.labels.name} must have one column, the labels; it has {quoted(own)}."
            )
        if LABEL in names:
            raise ValueError(
                f"{self.name} must have no column {LABEL!r}, as labels come from "
                f"{self.labels.name}."
            )
        return [*names, LABEL]

    @cached_property
    def _labels(self) -> Array:
        (column,) = join(list(self.labels.batches())).columns
        if pa.types.is_nested(column.type):
            width = getattr(column.type, "list_size", "several")
            raise ValueError(
                f"{self.labels.name} must hold labels in one dimension; it has rows of {width}."
            )
        return column.combine_chunks()

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[Batch]:
        """Yield the rows with their labels, batch by batch."""
        wanted = self.columns() if columns is None else list(columns)
        first = 0
        for batch in self.rows.batches([name for name in wanted if name != LABEL]):
            labels = self._labels.slice(first, batch.num_rows)
            first += batch.num_rows
            self._check_number(first <= len(self._labels), f"at least {first}")
            added = pa.RecordBatch.from_arrays(
                [*batch.columns, labels], names=[*batch.schema.names, LABEL]
            )
            yield added.select(wanted)
        self._check_number(first == len(self._labels), str(first))

    def _check_number(self, is_right: bool, n_rows: str) -> None:
        if not is_right:
            is_text = isinstance(self.labels.parts[0].format, Delimited)
            raise ValueError(
                f"{self.labels.name} must have a label for each row of {self.name}; it has "
                f"{len(self._labels)} for {n_rows} rows."
                f"{' A text file begins with the name of its column.' * is_text}"
            )


def check_names(argument: str, names: Sequence[str], columns: Sequence[str], name: str) -> None:
    """Raise ``ValueError`` unless each name is that of a column.

    Examples
    --------
    >>> from unseen.tables import check_names
    >>> check_names("--drop", ["size"], ["size", "colour"], "train.csv")
    >>> check_names("--drop", ["sise"], ["size", "colour"], "train.csv")
    Traceback (most recent call last):
    ValueError: --drop must name a column of train.csv; it has no 'sise'. Did you mean 'size'?
    """
    there = set(columns)
    missing = [each for each in names if each not in there]
    if missing:
        like, shown = {each.casefold(): each for each in columns}, quoted(columns) or "none"
        close = get_close_matches(missing[0].casefold(), like, n=1)
        advice = f"Did you mean {like[close[0]]!r}?" if close else f"It has {shown}."
        if argument.endswith("label") and Path(missing[0]).is_file():
            advice = f"Labels in a file of their own: --labels {missing[0]}."
        elif len(columns) == 1 and _MARK.search(columns[0]):
            advice += " If this is several columns, --sep names the mark between them."
        rule = "a column" if len(names) == 1 else "columns"
        raise ValueError(
            f"{argument} must name {rule} of {name}; it has no {quoted(missing)}. {advice}"
        )


def matching_names(argument: str, patterns: Sequence[str], columns: Sequence[str]) -> list[str]:
    """The columns of TRAIN that names or patterns such as ``"f_*"`` stand for, one or more each."""
    found = []
    for pattern in patterns:
        fits = [each for each in columns if each == pattern or fnmatchcase(each, pattern)]
        if not fits:
            check_names(argument, [pattern], columns, "TRAIN")
        found += fits
    return list(dict.fromkeys(found))


def _readable_files(argument: str) -> list[Path]:
    """The files that an argument names: a file, the files of a folder, or those of a pattern."""
    if not argument.strip():
        raise FileNotFoundError("a file must have a name; got an empty one. Is a variable not set?")
    path = Path(argument)
    try:
        if path.is_dir():
            if found := [file for file in sorted(path.iterdir()) if _is_data(file)]:
                return found
            raise FileNotFoundError(
                f"{argument} must be a folder with files of one format ({SUFFIXES}); it has none."
            )
        if path.exists():
            return [path]
        if not has_magic(argument):
            raise FileNotFoundError(f"{argument} does not exist.")
        matches = [Path(match) for match in sorted(glob(argument, recursive=True))]
        if files := [match for match in matches if match.is_file()]:
            return files
        raise FileNotFoundError(f"{argument} must match at least one file; it matches none.")
    except PermissionError:
        raise PermissionError(f"{argument} may not be read: permission denied.") from None


def _is_data(file: Path) -> bool:
    # Marker files such as _SUCCESS lie beside the data of a cluster's output.
    if file.name.startswith((".", "_")) or not file.is_file():
        return False
    try:
        format_of_name(file, file.name)
    except ValueError:
        return False
    return True


def _part(
    path: Path,
    name: str,
    format: str | None,
    separator: str | None,
    encoding: str | None,
    by_name: bool = True,
) -> Part:
    """A file as its format is given or, of a text, as its first lines show it."""
    check_name(str(path))
    if _is_pipe(path):
        raise ValueError(f"{name} must be given alone: it is a pipe, which is read once.")
    try:
        with path.open("rb") as file:
            head = file.read(64)
    except PermissionError:
        raise PermissionError(f"{name} may not be read: permission denied.") from None
    if not head:
        raise ValueError(f"{name} must have rows; it is empty.")
    by_name = by_name and format is None
    kind, compression = format_of_name(path, name) if by_name else format_of_bytes(head, format)
    part = Part(path, FORMATS[kind], compression, name)
    if isinstance(part.format, Delimited):
        return part.format.settled(part, separator, encoding)
    return part


def _is_pipe(path: Path) -> bool:
    try:
        return path.is_fifo()
    except OSError:  # of a folder that may not be looked into, which others tell
        return False
