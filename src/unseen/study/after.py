"""After the number, on tables: explain the unseen rows, audit by labels, promote named rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen._wording import count
from unseen.loop import (
    Audit,
    Column,
    Explanation,
    Promotion,
    Sheet,
    audit,
    draw_sheet,
    explain,
    promote,
)
from unseen.records import Estimate, Notice
from unseen.rejection import RejectionClassifier, RejectionKernel, RejectionStack
from unseen.study.inputs import SILENT, Inputs, Progress
from unseen.study.promoted import write_promoted
from unseen.study.results import AfterResult, Study, Suspects
from unseen.study.rows import NewRows, Training
from unseen.study.run import origin_of, quiet_warnings, table_estimate
from unseen.study.sheets import PeopleLabels, read_labels
from unseen.study.thumbnails import Thumbnail, check_pillow, data_uri, picture_file
from unseen.tables import Columns, RowWriter, check_names
from unseen.tables.beside import LABEL
from unseen.tables.encodings import NumberEncoding
from unseen.tables.texts import TextEncoding

__all__ = ["run_audit", "run_explanation", "run_promotion"]

_EXAMPLES = ("central", "spread", "borderline")


@dataclass(frozen=True)
class _Explained:
    """Both tables, the estimate, the rule that takes its shares from it, and the groups."""

    training: Training
    new: NewRows
    estimate: Estimate
    notes: tuple[Notice, ...]
    rule: Any
    explanation: Explanation


def run_explanation(
    inputs: Inputs,
    *,
    n_rows: int = 60,
    text_column: str | None = None,
    image_column: str | None = None,
    image_folder: Path | None = None,
    with_examples: bool = False,
    confidence: float = 0.95,
    command: str = "",
    progress: Progress = SILENT,
) -> tuple[Study, Sheet, NewRows]:
    """Estimate the shares in NEW, group the unseen rows, and draw a sheet of rows to label.

    Parameters
    ----------
    inputs : Inputs
        The two tables.
    n_rows : int, default=60
        Rows of the sheet.
    text_column : str or None, default=None
        Column of NEW whose words are compared between groups; None is the first one of ``text``.
    image_column : str or None, default=None
        Column of NEW with paths of pictures, or with pictures as bytes: small ones of the example
        rows of every group are kept.
    image_folder : Path or None, default=None
        Folder of the paths; None is that of NEW. Files outside it are not opened.
    with_examples : bool, default=False
        Whether to keep example rows of every group.
    confidence, command, progress
        As in :func:`~unseen.study.run_study`.

    Returns
    -------
    study : Study
        With ``explanation``.
    sheet : Sheet
    new : NewRows
        The new rows, to write the sheet from.
    """
    if image_column is not None:
        check_pillow()
    text_column = text_column or next(iter(inputs.text), None)
    found = _explained(inputs, confidence, text_column, progress, image_column=image_column)
    new, explanation = found.new, found.explanation
    groups = explanation.group_of_row
    sheet = draw_sheet(found.rule, n_rows, groups=groups, random_state=inputs.seed)
    sheet = replace(sheet, guesses=_guesses(found.rule)[sheet.rows])
    estimate = found.estimate if new.promoted is None else new.promoted.combine(found.estimate)
    shown, not_shown = _thumbnails(explanation, new, image_column, image_folder or inputs.folder)
    study = Study(
        estimate,
        found.training.counts,
        new.n_rows,
        (*found.notes, *not_shown),
        thumbnails=shown,
        suspects=_examples(explanation, found.rule, new) if with_examples else None,
        origin=origin_of(found.training, new, command),
        explanation=replace(explanation, places=new.positions),
    )
    return study, sheet, new


def run_audit(
    inputs: Inputs, labels: Path, confidence: float = 0.95, progress: Progress = SILENT
) -> AfterResult:
    """Correct the shares in NEW by labels of people, and compare them with the estimate."""
    training, new = inputs.read(progress, whole=True)
    given = read_labels(labels, new, [*training.counts])  # a bad sheet costs no minutes of work
    found = _explained(inputs, confidence, None, progress, (training, new))
    result: Audit = audit(
        _guesses(found.rule),
        given.rows,
        given.labels,
        given.probabilities,
        estimate=found.estimate,
        confidence=confidence,
    )
    return AfterResult("audit", result, found.notes)


def run_promotion(
    inputs: Inputs,
    labels: Path,
    out: Path,
    *,
    spread: bool = False,
    rest: Path | None = None,
    progress: Progress = SILENT,
) -> AfterResult:
    """Write TRAIN with the rows that people named; whole groups too with ``spread``."""
    if inputs.is_saved:
        raise ValueError("TRAIN must be a table for promote; got a saved file.")
    training, new = inputs.read(progress, whole=True)
    classes = [*training.counts]
    given = read_labels(labels, new, classes)
    explanation = None
    if spread and given.groups:
        # The groups of the sheet come again from the same tables and the same seed.
        explanation = _explained(inputs, 0.95, None, progress, (training, new)).explanation
    result: Promotion = promote(
        given.rows,
        given.labels,
        len(new.X),
        known=classes,
        probabilities=given.probabilities,
        spread=given.groups if spread else None,
        explanation=explanation,
    )
    if given.groups and not spread:
        result = replace(result, notices=(*result.notices, _not_spread(given)))
    write_promoted(result, inputs.train_source, new, inputs.label or LABEL, out)
    if rest is not None:
        _write_rest(inputs, (new.positions[result.rows]).tolist(), rest)
    return AfterResult("promotion", result, (*training.notices, *new.notices))


def _explained(
    inputs: Inputs,
    confidence: float,
    text_column: str | None,
    progress: Progress,
    tables: tuple[Training, NewRows] | None = None,
    *,
    image_column: str | None = None,
) -> _Explained:
    besides = {"--text-column": text_column, "--image-column": image_column}
    named = {option: name for option, name in besides.items() if name is not None}
    for option, name in named.items():
        check_names(option, [name], inputs.new_source.columns(), inputs.new)
    training, new = tables or inputs.read(progress, tuple(named.values()), whole=True)
    texts = None
    if text_column is not None:
        texts = [str(text or "") for text in new.table[text_column].to_pylist()]
    progress.stage("Estimating")
    estimate, notes = table_estimate(training, new, None, None, confidence, inputs, progress)
    progress.stage("Fitting a rule")
    with quiet_warnings():
        # Two of the three members of the default: nearly as good, in two thirds of the time.
        members = [RejectionStack(), RejectionKernel()]
        rule = RejectionClassifier(members, random_state=inputs.seed)
        rule.fit(training.X, training.y, new.X, estimate)
        progress.stage("Grouping the unseen rows")
        explanation = explain(
            rule,
            training.X,
            training.y,
            new.X,
            columns=readable(training.columns),
            texts=texts,
            random_state=inputs.seed,
        )
    return _Explained(training, new, estimate, notes, rule, explanation)


def readable(columns: Columns) -> list[Column]:
    """The encoded columns as people know them: numbers in their units, categories by name.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"size": [1.0, 2.0, 4.0] * 4, "colour": ["red", "red", "blue"] * 4})
    >>> [column.clause(1.0, above=True) for column in readable(Columns().fit(table))][:2]
    ['size > 3.58', "colour is 'red'"]
    """
    found = []
    for encoding in columns.encodings_:
        for name in encoding.names:
            is_number = isinstance(encoding, NumberEncoding) and name == encoding.name
            if isinstance(encoding, NumberEncoding) and is_number:
                found.append(Column(name, encoding.mean, encoding.scale))
            else:
                _, is_category, category = name.removeprefix(encoding.name).partition("=")
                direction = isinstance(encoding, TextEncoding)
                found.append(
                    Column(encoding.name, category=category)
                    if is_category
                    else Column(name, is_direction=direction)
                )
    return found


def _chosen(explanation: Explanation) -> list[tuple[int, str, int]]:
    """Example rows of every group: central ones, ones far apart, and ones at the border."""
    return [
        (group.number, kind, row)
        for group in explanation.groups
        for kind in _EXAMPLES
        for row in getattr(group, kind)
    ]


def _thumbnails(
    explanation: Explanation, new: NewRows, column: str | None, folder: Path
) -> tuple[tuple[Thumbnail, ...], list[Notice]]:
    """Small pictures of the example rows, and a notice of those that cannot be shown."""
    if column is None:
        return (), []
    chosen, cells = _chosen(explanation), new.table[column]
    found = [
        (group, kind, row, data_uri(picture_file(cells[row].as_py(), folder)))
        for group, kind, row in chosen
    ]
    shown = [
        Thumbnail(group, kind, int(new.positions[row]) + 1, source)
        for group, kind, row, source in found
        if source is not None
    ]
    if len(shown) == len(chosen):
        return tuple(shown), []
    text = (
        f"{len(chosen) - len(shown)} of {count(len(chosen), 'picture')} not shown: column "
        f"{column!r} must hold pictures, or names of picture files in the folder of NEW or of "
        "--image-folder. Nothing is fetched from the network."
    )
    return tuple(shown), [Notice("pictures_not_shown", text, "note", column)]


def _examples(explanation: Explanation, rule: Any, new: NewRows) -> Suspects:
    """The values of the example rows."""
    chosen = _chosen(explanation)
    rows = np.array([row for *_, row in chosen], dtype=np.intp)
    table = new.table.take(rows)
    cells = [[str(value) for value in column.to_pylist()] for column in table.columns]
    kinds = [f"{number}, {kind}" for number, kind, _ in chosen]
    return Suspects(
        ("group", *table.column_names),
        tuple(zip(kinds, *cells, strict=True)),
        tuple((new.positions[rows] + 1).tolist()),
        tuple(rule.out_of_fold_.novelty[1][rows].tolist()),
    )


def _guesses(rule: Any) -> NDArray[Any]:
    """The label of every new row; "unseen" is a word for people, beside numbers too."""
    labels = rule.predict_new().astype(object)
    labels[labels == rule.classes_[-1]] = "unseen"
    return labels


def _not_spread(given: PeopleLabels) -> Notice:
    numbers = ", ".join(map(str, given.groups))
    text = f"the names of whole groups ({numbers}) are not used: --spread gives them to their rows."
    return Notice("groups_not_spread", text, "note")


def _write_rest(inputs: Inputs, taken: Iterable[int], path: Path) -> None:
    """NEW without the promoted rows."""
    import pyarrow as pa

    gone, first = np.array(sorted(taken), dtype=np.intp), 0
    with RowWriter(path) as writer:
        for batch in inputs.new_source.batches():
            places = np.arange(first, first + batch.num_rows)
            first += batch.num_rows
            writer.write(pa.Table.from_batches([batch]).filter(~np.isin(places, gone)))
