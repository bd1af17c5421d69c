"""File formats: how each is recognised by its name or first bytes, and read batch by batch.

A reader never holds more than a few blocks. Columns of delimited text stay text: a type guessed
from a first block may not fit a later one.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from unseen._optional import pa, pa_csv, pa_ipc, pa_json, pa_parquet
from unseen.records import Notice
from unseen.tables._arrow import Batch, Format, Part, Table, batch_rows, readable, without_views
from unseen.tables.cells import CELLS, read_cells
from unseen.tables.more_formats import Npy, Npz, WholeTable, read_arff, read_excel

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
_CALLED = {mark: name for name, mark in SEPARATORS.items()}
# What texts begin with that say how their letters are written.
_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
# The part of a text in which its encoding, its separator and its header are looked for.
_HEAD_BYTES = 1 << 20
_LINES_LOOKED_AT = 50
_BLOCK_BYTES = 2 << 20
_LINE_BYTES = 32 << 20
_FIRST_ROWS = 64
_PIECE_ROWS = 1 << 20
# pyarrow's parser of JSON calls itself for each level, and ends the process where the stack does.
_DEEPEST = 100
_NO_OBJECT = re.compile(rb"^(?:\xef\xbb\xbf)?[ \t\r]*([^{ \t\r\n\xef].{,30})", re.MULTILINE)
_STEPS = np.zeros(256, dtype=np.int8)
_STEPS[list(b"{[")], _STEPS[list(b"}]")] = 1, -1
_JSON_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"')
_WORKBOOK = "an Excel workbook (--format says otherwise)"
_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
# What files begin with, the format that they are probably in, and their compression.
_BEGINS = {
    b"PAR1": ("parquet", None),
    b"ARROW1": ("feather", None),
    b"\x1f\x8b": ("csv", "gzip"),
    b"\x28\xb5\x2f\xfd": ("csv", "zstd"),
    b"BZh": ("csv", "bz2"),
}


@dataclass(frozen=True)
class Delimited(Format):
    """Text with a header, and a mark between the fields."""

    separator: str
    encoding: str = "utf-8"

    @property
    def called(self) -> str:  # type: ignore[override]
        """Name of the format in an error."""
        mark = _CALLED.get(self.separator, repr(self.separator))
        return f"{mark} separated text in {self.encoding} (--sep and --encoding say otherwise)"

    def settled(self, part: Part, separator: str | None, encoding: str | None) -> Part:
        """The file as its format is given, or as its first lines show it, with notices of that."""
        with readable(part.name, self.called), part.open() as stream:
            head = bytes(stream.read(_HEAD_BYTES))
        written = encoding or _find_encoding(head)
        if b"\x00" in head and not written.startswith("utf-16"):
            raise ValueError(f"{part.name} must be {self.called}; it looks like a binary file.")
        with readable(part.name, f"text in {written}"):
            text = _decoded_head(head, written)
        found = Delimited(separator or find_separator(text, self.separator), written)
        notices = []
        if separator is None and found.separator != self.separator:
            said = f"{part.name} is read with {found.separator!r} between the fields (--sep)."
            notices.append(Notice("separator_found", said, "note"))
        if encoding is None and written != "utf-8":
            said = f"{part.name} is no UTF-8 text: it is read as {written} (--encoding)."
            notices.append(Notice("encoding_found", said, "note"))
        return replace(part, format=found, notices=tuple(notices))

    def names(self, part: Part) -> list[str]:
        """The header, which may hold quoted line ends."""
        with part.open() as stream:
            text = _decoded_head(bytes(stream.read(_HEAD_BYTES)), self.encoding)
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=self.separator)
        try:
            return next((row for row in rows if row), [])
        except csv.Error as error:
            raise ValueError(f"{part.name} must have a header; {error}.") from error

    def batches(self, part: Part, columns: Sequence[str]) -> Iterator[Batch]:
        """Blocks of rows, all text; an empty field is missing."""
        wanted = list(columns)
        with part.open() as stream:
            try:
                yield from pa_csv.open_csv(
                    stream,
                    # Only one thread can say in which row an error is.
                    read_options=pa_csv.ReadOptions(
                        block_size=_BLOCK_BYTES, use_threads=False, encoding=self.encoding
                    ),
                    parse_options=pa_csv.ParseOptions(
                        delimiter=self.separator, newlines_in_values=True
                    ),
                    convert_options=pa_csv.ConvertOptions(
                        column_types=dict.fromkeys(wanted, pa.string()),
                        include_columns=wanted,
                        null_values=[""],
                        strings_can_be_null=True,
                    ),
                )
            except pa.ArrowInvalid as error:
                if "straddl" not in str(error):
                    raise
                raise ValueError(
                    f"{part.name} must have rows under {_BLOCK_BYTES >> 20} MB; "
                    "one is longer. Is a quotation mark left open?"
                ) from error


def _find_encoding(head: bytes) -> str:
    """The encoding of a text: by its first bytes, UTF-8 where it is valid, else that of Windows."""
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return name
    for name in ("utf-8", "cp1252"):
        try:
            _decoded_head(head, name)
        except UnicodeDecodeError:
            continue
        return name
    return "latin-1"  # which has a letter for every byte


def _decoded_head(head: bytes, encoding: str) -> str:
    """The first bytes of a text as letters; a letter that the end cuts through is left out."""
    io.TextIOWrapper(io.BytesIO(), encoding)  # raises LookupError for codes that are none of text
    decoder = codecs.getincrementaldecoder(encoding)()
    return decoder.decode(head, final=len(head) < _HEAD_BYTES).removeprefix("\ufeff")


def find_separator(text: str, stated: str) -> str:
    """The mark between the fields of a text: the stated one, unless only another one fits.

    A mark fits where it stands in the header and parts every line into as many fields.
    """
    n_fields = {}
    for mark in (stated, *SEPARATORS.values()):
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
        try:
            found = [row for row in islice(rows, _LINES_LOOKED_AT) if row]
        except csv.Error:
            continue
        # The last row may be cut.
        counts = {len(row) for row in (found[:-1] if len(found) > 2 else found)}
        if len(counts) == 1 and counts != {1}:
            n_fields[mark] = counts.pop()
    if not n_fields or stated in n_fields:
        return stated
    return max(n_fields, key=lambda mark: n_fields[mark])


@dataclass(frozen=True)
class JsonLines(Format):
    """One JSON object a line."""

    called = "JSON lines, one object a line"

    def names(self, part: Part) -> list[str]:
        """The fields of the first block, in order of appearance."""
        first = next(self._blocks(part), None)
        return [] if first is None else list(first.column_names)

    def batches(self, part: Part, columns: Sequence[str]) -> Iterator[Batch]:
        """Blocks of lines; a field that a block lacks is missing there."""
        for block in self._blocks(part):
            absent, held = pa.nulls(block.num_rows), set(block.column_names)
            table = pa.table({name: block[name] if name in held else absent for name in columns})
            yield from table.to_batches(max_chunksize=batch_rows(len(columns)))

    def _blocks(self, part: Part) -> Iterator[Any]:
        # A line end within a JSON text is escaped: it is safe to cut there.
        rest = b""
        with part.open() as stream:
            while chunk := stream.read(_BLOCK_BYTES):
                block, _, rest = (rest + chunk).rpartition(b"\n")
                if len(rest) > _LINE_BYTES:
                    limit = _LINE_BYTES >> 20
                    raise ValueError(f"{part.name} must be {self.called}; one is over {limit} MB.")
                if block.strip():
                    yield _read_json(block, part.name)
        if rest.strip():
            yield _read_json(rest, part.name)


def _read_json(block: bytes, name: str) -> Table:
    """Parse a block; pyarrow would end the process where a line is no object, or too deep."""
    each_begins = block.startswith(b"{") and block.count(b"\n") == block.count(b"\n{")
    other = None if each_begins else _NO_OBJECT.search(block)
    if other is not None:
        got = other[1].decode("utf-8", "replace")
        raise ValueError(f"{name} must be {JsonLines.called}; a line begins with {got!r}.")
    if _depth(block) > _DEEPEST and _depth(_JSON_TEXT.sub(b"", block)) > _DEEPEST:
        raise ValueError(f"{name} must nest its values at most {_DEEPEST} deep; a line is deeper.")
    found = pa_json.read_json(io.BytesIO(block))
    # The parser takes bytes that are no text for text.
    found.validate(full=True)
    return found


def _depth(block: bytes) -> int:
    """How deep brackets nest, those within text included."""
    steps = _STEPS[np.frombuffer(block, np.uint8)]
    return int(np.cumsum(steps, dtype=np.int32).max(initial=0))


@dataclass(frozen=True)
class Parquet(Format):
    """Parquet, which compresses inside the file; some of its row groups, or all."""

    called = "a Parquet file"
    groups: tuple[int, ...] | None = None

    def names(self, part: Part) -> list[str]:
        """The columns of the schema."""
        with pa_parquet.ParquetFile(part.path) as file:
            return list(file.schema_arrow.names)

    def batches(self, part: Part, columns: Sequence[str]) -> Iterator[Batch]:
        """Batches within row groups; a row group is never read as a whole."""
        settings = {"pre_buffer": False, "buffer_size": 1 << 16}
        with pa_parquet.ParquetFile(part.path, **settings) as file:
            chosen: dict[str, Any] = {"columns": list(columns), "use_threads": False}
            chosen["row_groups"] = None if self.groups is None else list(self.groups)
            first = next(file.iter_batches(_FIRST_ROWS, **chosen), None)
            # A page of few bytes may hold one long text that every row repeats.
            row_bytes = 0 if first is None else first.nbytes // max(1, first.num_rows)
            size = batch_rows(len(columns), row_bytes)
            for batch in file.iter_batches(size, **chosen):
                batch.validate(full=True)
                yield batch

    def pieces(self, part: Part) -> list[Part]:
        """Runs of row groups, of a million rows or more."""
        with pa_parquet.ParquetFile(part.path) as file:
            about = file.metadata
            rows = [about.row_group(group).num_rows for group in range(about.num_row_groups)]
        ends = np.cumsum(rows)
        starts = ends - rows
        run = (ends - 1) // _PIECE_ROWS  # a row group belongs to the run that it ends in
        runs = [np.flatnonzero(run == one).tolist() for one in np.unique(run)]
        return [
            replace(part, format=Parquet(tuple(groups)), first=int(starts[groups[0]]))
            for groups in runs
        ]


@dataclass(frozen=True)
class Feather(Format):
    """Feather, or Arrow IPC: the file or the stream format."""

    called = "a Feather (Arrow IPC) file"

    def names(self, part: Part) -> list[str]:
        """The columns of the schema."""
        with pa.OSFile(str(part.path)) as file:
            return list(self._reader(file).schema.names)

    def batches(self, part: Part, columns: Sequence[str]) -> Iterator[Batch]:
        """The batches of the file, cut where they are large."""
        # Pages of a mapped file would stay in memory beside the rows that are kept.
        with pa.OSFile(str(part.path)) as file:
            reader = self._reader(file, columns)
            count = getattr(reader, "num_record_batches", None)
            whole = iter(reader) if count is None else map(reader.get_batch, range(count))
            # Nothing holds a batch while the next is read.
            yield from chain.from_iterable(map(partial(self._cut, columns), whole))

    def _cut(self, columns: Sequence[str], batch: Batch) -> Iterator[Batch]:
        # Arrow takes lengths and offsets as they stand: a damaged one reads foreign memory.
        batch.validate(full=True)
        chosen = without_views(batch.select(list(columns)))
        row_bytes = chosen.nbytes // max(1, chosen.num_rows)
        n_rows = batch_rows(chosen.num_columns, row_bytes)
        if chosen.num_rows <= n_rows:
            yield chosen
            return
        for start in range(0, chosen.num_rows, n_rows):
            # A copy: a slice would keep the whole batch in memory.
            yield chosen.take(pa.array(range(start, min(start + n_rows, chosen.num_rows))))

    def _reader(self, file: Any, columns: Sequence[str] = ()) -> Any:
        """A reader of these columns alone, or of all: others are not even decompressed."""
        opened = pa_ipc.open_file if file.read(6) == b"ARROW1" else pa_ipc.open_stream
        file.seek(0)
        if not columns:
            return opened(file)
        names = list(opened(file).schema.names)
        file.seek(0)
        places = [names.index(name) for name in columns]
        return opened(file, options=pa_ipc.IpcReadOptions(included_fields=places))


FORMATS: dict[str, Format] = {
    "csv": Delimited(","),
    **dict.fromkeys(("tsv", "txt"), Delimited("\t")),
    **dict.fromkeys(("jsonl", "ndjson", "json"), JsonLines()),
    **dict.fromkeys(("parquet", "pq"), Parquet()),
    **dict.fromkeys(("feather", "arrow", "ipc"), Feather()),
    "npy": Npy(),
    "npz": Npz(),
    "arff": WholeTable("an ARFF file of numbers and nominal values", read_arff),
    "h5ad": WholeTable(CELLS, read_cells),
    **dict.fromkeys(("xlsx", "xls"), WholeTable(_WORKBOOK, read_excel)),
}
SUFFIXES = f"{', '.join(f'.{name}' for name in FORMATS)}; text also with {', '.join(_COMPRESSIONS)}"


def check_name(name: str) -> None:
    """Refuse a file name that pyarrow cannot hold."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name!r} must have a name in UTF-8; rename the file.") from None


def format_of_name(path: Path, name: str) -> tuple[str, str | None]:
    """The format and compression that a file's suffixes state."""
    compression = _COMPRESSIONS.get(path.suffix.lower())
    stem = path.with_suffix("") if compression else path
    suffix = stem.suffix.lower().lstrip(".")
    if suffix not in FORMATS:
        raise ValueError(f"{name} must end in one of {SUFFIXES}; got {path.name!r}.")
    if compression and not isinstance(FORMATS[suffix], Delimited | JsonLines):
        raise ValueError(
            f"{name} must not be compressed from outside: only text formats are, and .{suffix} is "
            "none."
        )
    return suffix, compression


def format_of_bytes(head: bytes, stated: str | None) -> tuple[str, str | None]:
    """The format of standard input: as stated, or as its first bytes show, else csv."""
    if stated is not None and stated not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}; got {stated!r}.")
    if head.lstrip().startswith(b"{"):
        return stated or "jsonl", None
    for mark, (kind, compression) in _BEGINS.items():
        if head.startswith(mark):
            return stated or kind, compression
    return stated or "csv", None
