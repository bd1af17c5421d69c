"""After the number, on tables: explain the unseen rows, audit by labels, promote named rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unseen._optional import needed
from unseen._progress import stage
from unseen._wording import count
from unseen.loop import Column, Explanation, audit, draw_sheet, explain, promote
from unseen.proportions import OpenSetEstimator
from unseen.records import Estimate, Notice
from unseen.rejection import RejectionClassifier, RejectionKernel, RejectionStack
from unseen.study.inputs import Inputs
from unseen.study.results import AfterResult, Study, Suspects
from unseen.study.rows import NewRows, Training
from unseen.study.run import origin_of, quiet_warnings, shown_rows, table_estimate
from unseen.study.sheets import read_labels, write_promoted, write_sheet
from unseen.study.thumbnails import Thumbnail, data_uri, picture_file
from unseen.tables import Columns, RowWriter, check_names
from unseen.tables.source import LABEL


@quiet_warnings()
def run_explanation(
    inputs: Inputs,
    sheet: Path | None = None,
    *,
    n_rows: int = 60,
    text_column: str | None = None,
    image_column: str | None = None,
    image_folder: Path | None = None,
    n_examples: int | None = None,
    confidence: float = 0.95,
    command: str = "",
) -> Study:
    """Estimate the shares in NEW, group the unseen rows, and write a sheet of rows to label.

    Words of ``text_column``, by default the first column of text, are compared between groups.
    ``image_column`` has pictures, or paths within ``image_folder``, by default that of NEW: small
    pictures of the example rows of every group are kept; values are of ``n_examples`` rows of each.
    """
    if image_column is not None:
        needed("PIL", "pictures need Pillow", "images")
    text_column = text_column or next(iter(inputs.text), None)
    besides = {"--text-column": text_column, "--image-column": image_column}
    named = {option: name for option, name in besides.items() if name is not None}
    for option, name in named.items():
        check_names(option, [name], inputs.new_source.columns(), inputs.new)
    # A column of --text is a feature too, though its words are compared between groups.
    aside = tuple(sorted(set(named.values()).difference(inputs.text)))
    training, new = inputs.read(aside, whole=True)
    texts = None
    if text_column is not None:
        texts = [str(text or "") for text in new.table[text_column].to_pylist()]
    estimate, notes, rule, explanation = _explained(inputs, training, new, confidence, texts)
    if sheet is not None:
        groups = explanation.group_of_row
        drawn = draw_sheet(rule, n_rows, groups=groups, random_state=inputs.seed)
        write_sheet(replace(drawn, guesses=_guesses(rule)[drawn.rows]), new, sheet)
    estimate = estimate if new.promoted is None else new.promoted.combine(estimate)
    if image_folder is None:  # that of NEW; the current one for standard input and pipes
        first = inputs.new_source.parts[0]
        image_folder = first.path.parent if first.name == str(first.path) else Path()
    shown, not_shown = _thumbnails(explanation, new, image_column, image_folder)
    return Study(
        estimate,
        training.counts,
        new.n_rows,
        (*notes, *not_shown),
        thumbnails=shown,
        suspects=None if n_examples is None else _suspects(explanation, new, rule, n_examples),
        origin=origin_of(training, new, command),
        explanation=replace(explanation, places=new.positions),
    )


@quiet_warnings()
def run_audit(inputs: Inputs, sheet: Path, confidence: float = 0.95) -> AfterResult:
    """Correct the shares in NEW by labels of people, and compare them with the estimate."""
    training, new = inputs.read(whole=True)
    given = read_labels(sheet, new, [*training.counts])  # a bad sheet costs no minutes of work
    estimate, notes, rule, _ = _explained(inputs, training, new, confidence)
    result = audit(
        _guesses(rule),
        given.rows,
        given.labels,
        given.probabilities,
        estimate=estimate,
        confidence=confidence,
    )
    return AfterResult("audit", result, notes)


@quiet_warnings()
def run_promotion(
    inputs: Inputs,
    sheet: Path,
    out: Path,
    *,
    spread: bool = False,
    spread_from: float = 0.9,
    rest: Path | None = None,
) -> AfterResult:
    """Write TRAIN with the rows that people named; whole groups too with ``spread``."""
    if inputs.is_saved:
        raise ValueError("TRAIN must be a table for promote; got a saved file.")
    training, new = inputs.read(whole=True)
    classes = [*training.counts]
    given = read_labels(sheet, new, classes)
    explanation = None
    if spread and given.groups:
        # The groups of the sheet come again from the same tables and the same seed.
        *_, explanation = _explained(inputs, training, new, 0.95)
    result = promote(
        given.rows,
        given.labels,
        len(new.X),
        known=classes,
        probabilities=given.probabilities,
        spread=given.groups if spread else None,
        explanation=explanation,
        spread_from=spread_from,
    )
    if given.groups and not spread:
        numbers = ", ".join(map(str, given.groups))
        text = f"the names of whole groups ({numbers}) are not used"
        advice = "--spread gives them to their rows"
        not_spread = Notice("groups_not_spread", f"{text}: {advice}.", "note")
        result = replace(result, notices=(*result.notices, not_spread))
    write_promoted(result, inputs.train_source, new, inputs.label or LABEL, out)
    if rest is not None:
        # NEW without the promoted rows.
        promoted, first = new.positions[result.rows], 0
        with RowWriter(rest) as writer:
            for batch in inputs.new_source.batches():
                places = np.arange(first, first + batch.num_rows)
                first += batch.num_rows
                writer.write(batch.filter(~np.isin(places, promoted)))
    return AfterResult("promotion", result, (*training.notices, *new.notices))


def _explained(
    inputs: Inputs,
    training: Training,
    new: NewRows,
    confidence: float,
    texts: list[str] | None = None,
) -> tuple[Estimate, tuple[Notice, ...], RejectionClassifier, Explanation]:
    """The estimate, notes on the tables, a rule with the same shares, and the groups."""
    stage("Estimating")
    estimate, notes = table_estimate(training, new, inputs, OpenSetEstimator(), confidence)
    stage("Fitting a rule")
    # Two of the three members of the default: nearly as good, in two thirds of the time.
    members = [RejectionStack(), RejectionKernel()]
    rule = RejectionClassifier(members, random_state=inputs.seed)
    rule.fit(training.X, training.y, new.X, estimate)
    stage("Grouping the unseen rows")
    explanation = explain(
        rule,
        training.X,
        training.y,
        new.X,
        columns=readable(training.columns),
        texts=texts,
        random_state=inputs.seed,
    )
    return estimate, notes, rule, explanation


def readable(columns: Columns) -> list[Column]:
    """The encoded columns as people know them: numbers in their units, categories by name."""
    found = []
    for encoding in columns.encodings_:
        for one in encoding.outputs:
            if one.category is not None:
                found.append(Column(encoding.name, category=one.category))
            else:
                offset, scale = one.unit or (0.0, 1.0)
                is_direction = one.unit is None  # among the words of a text
                found.append(Column(one.name, offset, scale, is_direction=is_direction))
    return found


def _examples(explanation: Explanation, most: int | None = None) -> list[tuple[int, str, int]]:
    """Example rows of every group: central ones, ones far apart, and ones at the border.

    Of fewer than these the first of each kind are taken; more are filled up with the surest rows.
    """
    found = []
    for group in explanation.groups:
        own = [
            (rank, place, kind, row)
            for place, kind in enumerate(("central", "spread", "borderline"))
            for rank, row in enumerate(getattr(group, kind))
        ]
        chosen = sorted(sorted(own)[:most], key=lambda one: one[1])
        found += [(group.number, kind, row) for *_, kind, row in chosen]
        if most is not None and most > len(chosen):
            members = np.flatnonzero(explanation.group_of_row == group.number)
            order = members[np.argsort(-explanation.weights[members], kind="stable")].tolist()
            others = [row for row in order if row not in {one[-1] for one in chosen}]
            found += [(group.number, "other", row) for row in others[: most - len(chosen)]]
    return found


def _suspects(explanation: Explanation, new: NewRows, rule: Any, most: int) -> Suspects:
    """Example rows of every group with their values, as text."""
    examples = _examples(explanation, most)
    rows = np.array([row for *_, row in examples], dtype=np.intp)
    names = [f"{number}, {kind}" for number, kind, _ in examples]
    # Columns in the sentences of the groups, then others that set groups apart.
    sentences = [group.sentence for group in explanation.groups if group.sentence]
    places = [clause.column for sentence in sentences for clause in sentence.clauses]
    places += [place for group in explanation.groups for place, _ in group.columns]
    telling = [explanation.columns[place].name for place in places]
    return shown_rows(new, rows, rule.out_of_fold_.novelty[1], telling, group=names)


def _thumbnails(
    explanation: Explanation, new: NewRows, column: str | None, folder: Path
) -> tuple[tuple[Thumbnail, ...], list[Notice]]:
    """Small pictures of the example rows, and a notice of those that cannot be shown."""
    if column is None:
        return (), []
    examples, shown = _examples(explanation), []
    for group, kind, row in examples:
        source = data_uri(picture_file(new.table[column][row].as_py(), folder))
        if source is not None:
            shown.append(Thumbnail(group, kind, int(new.positions[row]) + 1, source))
    if len(shown) == len(examples):
        return tuple(shown), []
    text = (
        f"{len(examples) - len(shown)} of {count(len(examples), 'picture')} not shown: column "
        f"{column!r} must hold pictures, or names of picture files in the folder of NEW or of "
        "--image-folder. Nothing is fetched from the network."
    )
    return tuple(shown), [Notice("pictures_not_shown", text, "note", column)]


def _guesses(rule: Any) -> NDArray[Any]:
    """The label of every new row; "unseen" is a word for people, beside numbers too."""
    labels = rule.predict_new().astype(object)
    labels[labels == rule.classes_[-1]] = "unseen"
    return labels
