"""Rows of NEW that a table of TRAIN holds as labelled rows: written there, and found again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from unseen._optional import pa
from unseen.loop import Promotion
from unseen.records import Notice
from unseen.study.rows import NewRows
from unseen.study.sheets import cell_text, row_checks, whole_number
from unseen.tables import RowWriter, Source
from unseen.tables._arrow import Table, first_line
from unseen.tables.groups import key_of

# Row of NEW from 1, its check, how it came by its label, and its weight.
MARKS = ("unseen_row", "unseen_check", "unseen_source", "unseen_weight")


def has_marks(source: Source) -> bool:
    """Whether a labelled table holds promoted rows."""
    return set(MARKS) <= set(source.columns())


def write_promoted(
    promotion: Promotion, train: Source, new: NewRows, label: str, path: Path
) -> None:
    """Write TRAIN with the promoted rows of ``new`` behind, each with its marks.

    ``new`` has whole rows; ``label`` is the column of TRAIN with the classes.
    """
    schema = None
    with RowWriter(path) as writer:
        for batch in train.batches():
            table = pa.Table.from_batches([batch])
            for name in MARKS:
                if name not in table.column_names:
                    table = table.append_column(name, pa.nulls(len(table), pa.string()))
            schema = table.schema
            writer.write(table)
        writer.write(_marked(promotion, new, label, schema))


def _marked(promotion: Promotion, new: NewRows, label: str, schema: Any) -> Table:
    rows = new.table.take(promotion.rows)
    own = {
        label: [str(one) for one in promotion.labels],
        "unseen_row": [str(int(new.positions[row]) + 1) for row in promotion.rows],
        "unseen_check": row_checks(rows),
        "unseen_source": list(promotion.sources),
        "unseen_weight": [f"{weight:.4g}" for weight in promotion.weights],
    }
    columns = []
    for field in schema:
        if field.name in own:
            column = pa.array(own[field.name], pa.string())
        elif field.name in rows.column_names:
            column = rows[field.name]
        else:
            column = pa.nulls(len(rows), pa.string())
        try:
            columns.append(column.cast(field.type))
        except pa.ArrowException as error:
            raise ValueError(
                f"column {field.name!r} of TRAIN must take the promoted rows; it holds "
                f"{field.type}, and {first_line(error)} Save TRAIN as csv, or rename the classes."
            ) from error
    return pa.table(columns, names=schema.names)


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
        promoted=promotion,
        notices=(*new.notices, Notice("rows_promoted", text, "note")),
    )
