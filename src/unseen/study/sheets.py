"""Rows of NEW that people label: written as a sheet, read back, and kept in TRAIN once promoted.

A sheet has one line for each drawn row and, above these, one for each group, whose label names the
group as a whole. A check of every row's values finds a table that has changed since the draw.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from unseen._files import write_then_rename
from unseen._frozen import Frozen
from unseen._optional import needed, pa
from unseen._types import FloatArray, IntArray
from unseen._wording import quoted
from unseen.loop import Promotion, Sheet
from unseen.records import Notice
from unseen.study.rows import NewRows
from unseen.tables import RowWriter, Source
from unseen.tables._arrow import Table, first_line
from unseen.tables.groups import key_of

# Row of NEW from 1, its check, how it came by its label, and its weight.
MARKS = ("unseen_row", "unseen_check", "unseen_source", "unseen_weight")
_OPENPYXL = "a sheet in .xlsx needs openpyxl", "excel"
# Workbooks are XML, which has no place for these.
_NO_CELL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, eq=False)
class PeopleLabels(Frozen):
    """Labels of new rows that people gave, in the order of the draw."""

    rows: IntArray  # (n,): places among the new rows that were read, from 0
    labels: tuple[Any, ...]  # one for each, None where there is none
    probabilities: FloatArray | None  # (n,): of each draw; None for a simple random sample
    groups: Mapping[int, Any]  # names of whole groups, by number


def row_checks(table: Table) -> list[str]:
    """A digest of twelve letters of the values of each row."""
    columns = [table[name].to_pylist() for name in sorted(table.column_names)]
    return [
        hashlib.sha256(repr(values).encode("utf-8", "replace")).hexdigest()[:12]
        for values in zip(*columns, strict=True)
    ]


def check_sheet_path(path: Path) -> None:
    """Raise where no sheet can be written under this name: a table, .xlsx, or .json.

    A sheet that people have filled, even in part, is hours of work.
    """
    if path.suffix == ".xlsx":
        needed("openpyxl", *_OPENPYXL)
    elif path.suffix != ".json":
        RowWriter(path)
    lines: list[dict[str, Any]] = []
    if path.is_file():
        with suppress(ValueError, TypeError, OSError):  # no sheet
            lines = _read_lines(path)
    if any("row" in line and cell_text(line, "label") for line in lines):
        raise ValueError(
            f"{path} must not be written over: it holds labels. Name another file, or delete it."
        )


def write_sheet(sheet: Sheet, new: NewRows, path: Path) -> None:
    """Write a sheet: tasks of Label Studio for .json, else a table for a spreadsheet.

    The whole rows of NEW stand behind the columns of the sheet.
    """
    lines = _lines(sheet, new)
    with write_then_rename(path) as draft:
        if path.suffix == ".json":
            # Tasks of Label Studio, each with the guess as a prediction.
            choice = {"from_name": "label", "to_name": "row", "type": "choices"}
            tasks = [
                {
                    "data": {name: cell for name, cell in line.items() if name != "label"},
                    "predictions": [
                        {
                            "score": float(line["novelty"]),
                            "result": [{**choice, "value": {"choices": [line["guess"]]}}],
                        }
                    ],
                }
                for line in lines
                if line["row"]
            ]
            draft.write_text(json.dumps(tasks, indent=1) + "\n", encoding="utf-8")
        elif path.suffix == ".xlsx":
            book = needed("openpyxl", *_OPENPYXL).Workbook()
            for row in (list(lines[0]), *(line.values() for line in lines)):
                book.active.append([_NO_CELL.sub("\ufffd", text) for text in row])
            for cell in (cell for row in book.active.iter_rows() for cell in row):
                if isinstance(cell.value, str):
                    cell.data_type = "s"  # text that begins with "=" is no formula
            book.save(draft)
        else:
            columns = {name: [line[name] for line in lines] for name in lines[0]}
            with RowWriter(draft) as writer:
                writer.write(pa.table(columns))


def read_labels(path: Path, new: NewRows, classes: Sequence[Any]) -> PeopleLabels:
    """Read a filled sheet, or any table with columns ``row`` and ``label``.

    The names of known ``classes`` in the file stand for these. It is an error where the file has no
    label, names rows that NEW lacks, or NEW has changed since the draw.
    """
    lines = _read_lines(path)
    if not {"row", "label"} <= set(lines[0]):
        raise ValueError(
            f"{path} must have the columns 'row' and 'label'; it has {quoted(lines[0])}."
        )
    names = {str(label): label for label in classes}

    def label(line: Mapping[str, Any]) -> Any:
        text = cell_text(line, "label")
        return names.get(text, text) if text else None

    drawn = [line for line in lines if cell_text(line, "row")]
    named = [line for line in lines if not cell_text(line, "row") and label(line)]
    if not any(label(line) for line in (*drawn, *named)):
        raise ValueError(f"{path} must have a label in at least one row; none is filled.")
    if all(cell_text(line, "draw") for line in drawn):
        drawn.sort(key=lambda line: _number(line, "draw", path))
    rows = _places(drawn, path, new)
    chances = None
    if any(cell_text(line, "probability") for line in drawn):
        chances = np.array([_number(line, "probability", path) for line in drawn])
    groups = {whole_number(line, "group", path): label(line) for line in named}
    return PeopleLabels(rows, tuple(label(line) for line in drawn), chances, groups)


def _lines(sheet: Sheet, new: NewRows) -> list[dict[str, str]]:
    """All lines as text, group lines first."""
    table = new.table.take(sheet.rows)
    columns = {
        "draw": [str(place + 1) for place in range(len(sheet.rows))],
        "row": [str(position + 1) for position in new.positions[sheet.rows].tolist()],
        "group": [str(group or "") for group in sheet.groups.tolist()],
        "guess": [str(guess) for guess in sheet.guesses],
        "novelty": [f"{novelty:.3f}" for novelty in sheet.novelty],
        "probability": [repr(float(chance)) for chance in sheet.probabilities],
        "label": [""] * len(sheet.rows),
        "check": row_checks(table),
    }
    beside = {}
    for name in table.column_names:
        called = name  # no name hides a column of ours, or another one
        while called in columns or (called != name and called in table.column_names):
            called = f"new_{called}"
        # People look at pictures, not at their bytes.
        beside[called] = [
            "" if isinstance(cell, bytes | dict | None) else str(cell)
            for cell in table[name].to_pylist()
        ]
    columns |= beside
    whole = {**dict.fromkeys(columns, ""), "guess": "the whole group"}
    numbers = np.unique(sheet.groups[sheet.groups > 0]).tolist()
    rows = zip(*columns.values(), strict=True)
    return [
        *({**whole, "group": str(number)} for number in numbers),
        *(dict(zip(columns, row, strict=True)) for row in rows),
    ]


def _read_lines(path: Path) -> list[dict[str, Any]]:
    """The rows of a table, or tasks: the first choice of the last annotation is the label."""
    lines: list[dict[str, Any]] = []
    if path.suffix != ".json":
        lines = [row for batch in Source.find(path).batches() for row in batch.to_pylist()]
    else:
        try:
            for task in json.loads(path.read_text(encoding="utf-8")):
                made = [one["result"] for one in task.get("annotations", []) if one.get("result")]
                chosen = made[-1][0]["value"]["choices"][0] if made else ""
                lines.append({**task["data"], "label": chosen})
        except (LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"{path} must be tasks of Label Studio in JSON; it is not.") from error
    if not lines:
        raise ValueError(f"{path} must have rows; it has none.")
    return lines


def _places(lines: Sequence[Mapping[str, Any]], path: Path, new: NewRows) -> IntArray:
    """Places of the labelled rows among the new rows, each found to be what it was."""
    numbers = [whole_number(line, "row", path) for line in lines]
    strange = [one for one in numbers if not 1 <= one <= new.n_rows]
    if strange:
        raise ValueError(
            f"{path} must number rows of {new.name}, 1 to {new.n_rows}; got {strange[0]}."
        )
    twice = [one for one, times in Counter(numbers).items() if times > 1]
    if twice:
        raise ValueError(f"{path} must have each row once; row {twice[0]} is there twice.")
    place_of = {int(position) + 1: place for place, position in enumerate(new.positions)}
    lacking = [one for one in numbers if one not in place_of]
    if lacking:
        raise ValueError(
            f"row {lacking[0]} of {path} is not among the rows of {new.name} that are used: it "
            "is promoted already, or --rows and --seed differ from those of the sheet."
        )
    places = np.array([place_of[one] for one in numbers], dtype=np.intp)
    for line, check in zip(lines, row_checks(new.table.take(places)), strict=True):
        if cell_text(line, "check") not in ("", check):
            raise ValueError(
                f"row {cell_text(line, 'row')} of {new.name} is not the row of {path}: {new.name} "
                "has changed since the draw, or TRAIN and NEW are mixed up."
            )
    return places


def cell_text(line: Mapping[str, Any], name: str) -> str:
    """The text of a cell; none where it is empty."""
    value = line.get(name)
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # spreadsheets turn whole numbers into fractions
    return "" if value is None or value != value else str(value).strip()


def _number(line: Mapping[str, Any], name: str, file: Path | str) -> float:
    text = cell_text(line, name)
    try:
        number = float(text)
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        raise ValueError(f"column {name!r} of {file} must hold numbers; got {text!r}.")
    return number


def whole_number(line: Mapping[str, Any], name: str, file: Path | str) -> int:
    """The whole number in a cell of a file."""
    number = _number(line, name, file)
    if not number.is_integer():
        raise ValueError(f"column {name!r} of {file} must hold whole numbers; got {number:g}.")
    return int(number)


def has_marks(train: Source) -> bool:
    """Whether a labelled table holds promoted rows."""
    return set(MARKS) <= set(train.columns())


def write_promoted(
    promotion: Promotion, train: Source, new: NewRows, label: str, path: Path
) -> None:
    """Write TRAIN with the promoted rows of ``new`` behind, each with its marks.

    ``new`` has whole rows; ``label`` is the column of TRAIN with the classes.
    """
    with RowWriter(path) as writer:
        for batch in train.batches():
            table = pa.Table.from_batches([batch])
            for name in MARKS:
                if name not in table.column_names:
                    table = table.append_column(name, pa.nulls(len(table), pa.string()))
            writer.write(table)
        rows = new.table.take(promotion.rows)
        own = {
            label: [str(one) for one in promotion.labels],
            "unseen_row": [str(int(new.positions[row]) + 1) for row in promotion.rows],
            "unseen_check": row_checks(rows),
            "unseen_source": list(promotion.sources),
            "unseen_weight": [f"{weight:.4g}" for weight in promotion.weights],
        }
        columns = []
        for field in table.schema:
            column = pa.nulls(len(rows), pa.string())
            if field.name in own:
                column = pa.array(own[field.name], pa.string())
            elif field.name in rows.column_names:
                column = rows[field.name]
            try:
                columns.append(column.cast(field.type))
            except pa.ArrowException as error:
                raise ValueError(
                    f"column {field.name!r} of TRAIN must take the promoted rows; it holds "
                    f"{field.type}, and {first_line(error)} Save TRAIN as csv, or rename the "
                    "classes."
                ) from error
        writer.write(pa.table(columns, names=table.schema.names))


def without_promoted(new: NewRows, train: Source, label: str) -> NewRows:
    """The new rows but for those that TRAIN holds as labelled ones, which are kept apart.

    Rows count as the same where their check is the same too, so that another NEW stays whole.
    """
    labels = {}
    for batch in train.batches([label, *MARKS]):
        for line in batch.to_pylist():
            if cell_text(line, "unseen_row"):
                number = whole_number(line, "unseen_row", train.name)
                labels[number, cell_text(line, "unseen_check")] = key_of(line[label])
    keys = zip((new.positions + 1).tolist(), row_checks(new.table), strict=True)
    found = {place: labels[key] for place, key in enumerate(keys) if key in labels}
    if not found:
        return new
    taken = np.array(list(found), dtype=np.intp)
    kept = np.setdiff1d(np.arange(len(new.X)), taken)
    names = np.array(list(found.values()), dtype=object)
    sources = np.full(len(taken), "labelled", dtype=object)
    promotion = Promotion(taken, names, sources, np.ones(len(taken)), len(new.X))
    text = (
        f"{len(taken)} rows of {new.name} are labelled rows of TRAIN: they are counted, and the "
        "others are estimated."
    )
    return replace(
        new,
        X=new.X[kept],
        table=new.table.take(kept),
        positions=new.positions[kept],
        groups=None if new.groups is None else new.groups[kept],
        gaps=None if new.gaps is None else new.gaps[kept],
        promoted=promotion,
        notices=(*new.notices, Notice("rows_promoted", text, "note")),
    )
