"""What a person should know about the columns of two tables, numbers in disguise among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from unseen._types import IntArray
from unseen._wording import LONGEST_NAME, listed, quoted, shown
from unseen.records import Notice
from unseen.tables._arrow import Table
from unseen.tables.embeddings import TextEncoding, VectorEncoding
from unseen.tables.encodings import ID_NAME, CategoryEncoding, Departure, NumberEncoding
from unseen.tables.values import LARGEST, as_text, departs, mark_in, number_of, wrong_cells

# Options that a sentence proposes.
_NAMED = 3
# Departures in at least this share of the new rows can move the unseen share.
_MANY = 0.05
# What is done with columns, for their statement.
_ONE_NUMBER = (
    "1 numeric column: centred, and divided by its standard deviation in the labelled rows."
)
_NUMBERS = (
    "numeric columns: centred, and all divided by one number, the root mean square of their "
    "standard deviations in the labelled rows, so that their units stay as given."
)
_NOT_FINITE = f"Missing, infinite and huge (over {LARGEST:g}) numbers are replaced by the median."
_CATEGORIES = (
    "each category becomes a 0/1 column, scaled so that rows of two categories lie as far apart "
    "as one standard deviation of a typical numeric column. A scorer that gives each column the "
    "same spread, as the default does, weighs a rare category more."
)
_NEVER_SEEN = (
    "Categories that no other labelled row shows have a column of their own, in labelled rows and "
    "in new ones alike."
)


def notices_on_train(columns: Any, table: Table) -> list[Notice]:
    """Columns that are left out, used in spite of a name, or numbers with marks between digits."""
    texts = columns.free_texts_
    others = {name: why for name, why in columns.dropped_.items() if name not in texts}
    notices = [
        Notice("columns_not_used", f"Not used: {names} ({why}).", "note")
        for names, why in by_reason(others)
    ]
    if texts:
        text = (
            f"Not used, though a text may say most about a row: {quoted(texts)}. --text "
            f"{shown(texts[0])!r} uses {'it' if len(texts) == 1 else 'the first'}."
        )
        about = texts[0] if len(texts) == 1 else None
        notices.append(Notice("free_text_not_used", text, about=about))
    used = [name for name in columns.feature_names_in_ if name not in columns.keep]
    like_ids = [name for name in used if ID_NAME.fullmatch(name)]
    if like_ids:
        text = f"Used, though named like an id: {quoted(like_ids)}. Leave ids out: --drop."
        notices.append(Notice("named_like_id", text, "note"))
    marked = []
    for one in columns.encodings_:
        word = mark_in(table[one.name], one.decimal) if isinstance(one, NumberEncoding) else None
        if word is not None:
            marked.append(f"{one.name!r} ({word!r} is {number_of(word, one.decimal):.12g})")
    if marked:
        text = f"Read as numbers: {listed(marked)}. --decimal says otherwise."
        notices.append(Notice("numbers_with_marks", text, "note"))
    return notices


def by_reason(dropped: Mapping[str, str]) -> list[tuple[str, str]]:
    """The columns that are left out for one reason, and the reason, which follows their names."""
    found: dict[str, list[str]] = {}
    for name, reason in dropped.items():
        found.setdefault(reason, []).append(name)
    said = []
    for reason, names in found.items():
        given = [name for name in names if name]
        # A file that was written with its row numbers has no name for them.
        nameless = ["a column without a name"] * (len(given) < len(names))
        called = " and ".join([*nameless, *([quoted(given)] if given else [])])
        said.append((called, f"{'each ' * (len(names) > 1)}{reason}"))
    return said


def nearly_numbers(
    table: Table, names: Sequence[str], decimals: Sequence[str], rows: IntArray | None
) -> list[Notice]:
    """A warning that names the text columns that are numbers but for a few cells, and a cell each.

    ``rows`` holds the place of each row in its file; None takes the table for the file.
    """
    said, words, about = [], [], []
    for name in names:
        wrong = next(filter(None, (wrong_cells(table[name], mark) for mark in decimals)), None)
        if wrong:
            place, word = wrong[0]
            number = place if rows is None else int(rows[place])
            n_values = len(table) - as_text(table[name]).null_count
            row = f"row {number + 1} holds {shown(repr(word))}"
            said.append(f"{name!r} (but {len(wrong)} of {n_values}: {row})")
            words += [word] if word not in words and len(word) <= LONGEST_NAME else []
            about.append(name)
    if not said:
        return []
    options = " ".join(f"--missing {quoted([word])}" for word in words[:_NAMED])
    text = (
        f"Not read as numbers, though nearly all values are: {listed(said)}. Correct these cells"
        f"{', or give ' if options else ''}{options}."
    )
    return [Notice("nearly_numbers", text, about=about[0] if len(about) == 1 else None)]


def notices_on_new(columns: Any, table: Table, there: Sequence[str]) -> list[Notice]:
    """Columns that only NEW has, and those that vary there alone."""
    notices = []
    known = {*columns.feature_names_in_, *columns.dropped_, columns.label}
    extra = [name for name in there if name not in known]
    if extra:
        text = f"Ignored columns that only NEW has: {quoted(extra)}."
        notices.append(Notice("columns_only_in_new", text, "note"))
    if columns.label in there:
        text = f"Ignored: the label {columns.label!r}, which NEW has too."
        notices.append(Notice("label_in_new", text, "note", about=columns.label))
    constants = columns.constants_.items()
    varying = [name for name, one in constants if name in there and departs(table[name], one)]
    if varying:
        has = f"{'each ' * (len(varying) > 1)}has one value in TRAIN and others in NEW"
        text = f"Not used, but may matter: {quoted(varying)} ({has})."
        notices.append(Notice("constant_in_train", text, "note"))
    return notices


def departure_notices(found: Iterable[Departure]) -> list[Notice]:
    """One notice for all columns of a kind; a column without any value is an error."""
    kinds: dict[tuple[str, bool], list[Departure]] = {}
    for one in found:
        kinds.setdefault((one.code, one.share >= _MANY), []).append(one)
    gaps = kinds.get(("newly_missing", True), [])
    empty = [one.column for one in gaps if one.share == 1]
    if empty:
        raise ValueError(
            f"columns of NEW must have values as in TRAIN; none is in {quoted(empty)}. --drop "
            "leaves a column out."
        )
    notices = []
    for (code, is_many), some in kinds.items():
        severity: Literal["note", "warning"] = "warning" if is_many else "note"
        about, share = some[0].column if len(some) == 1 else None, f"{some[0].share:.1%}"
        if code == "newly_missing":
            fillers = " or ".join(dict.fromkeys(one.said for one in some))
            columns = listed([f"{one.column!r} ({one.share:.1%})" for one in some])
            text = f"Missing in new rows and in none of the labelled ones: {columns}; they get"
            if about is not None:
                text = f"Column {about!r} is missing in {share} of the new rows and in none of the "
                text += "labelled ones; they get"
            notices.append(Notice("newly_missing", f"{text} {fillers}.", severity, about))
        else:
            told = [f"{one.column!r} ({one.share:.1%}, such as {one.said})" for one in some]
            text = f"Categories in new rows that the labelled rows never show: {listed(told)}."
            if about is not None:
                text = f"Column {about!r} holds a category that the labelled rows never show in "
                text += f"{share} of the new rows, such as {some[0].said}."
            notices.append(Notice("new_category", text, severity, about))
    return notices


def treatment(columns: Any) -> list[str]:
    """How each kind of column becomes numbers, in plain sentences."""
    n_texts = sum(isinstance(one, CategoryEncoding) for one in columns.encodings_)
    n_numbers = sum(len(one.scales) for one in columns.encodings_)
    sentences = []
    if n_numbers:
        spread = _ONE_NUMBER if n_numbers == 1 else f"{n_numbers} {_NUMBERS}"
        sentences += [spread, _NOT_FINITE]
    if n_texts:
        sentences += [
            f"{n_texts} text {'column' if n_texts == 1 else 'columns'}: {_CATEGORIES}",
            f"Categories with fewer than {columns.rare_below} labelled rows (more where many "
            f"categories are nearly as rare), or beyond the {columns.most_categories} most "
            f"common, share a column. {_NEVER_SEEN}",
        ]
    flagged = []
    for one in columns.encodings_:
        if isinstance(one, VectorEncoding):
            unit = ", each list first divided by its length" if one.unit_rows else ""
            sentences.append(f"{one.name!r}: {one.length} numeric columns{unit}.")
        elif isinstance(one, TextEncoding):
            kept = float(one.directions.explained_variance_ratio_.sum())
            sentences.append(
                f"{one.name!r}: TF-IDF of {len(one.words.vocabulary_):,} words of the labelled "
                f"and the new rows, reduced to {len(one.mean)} columns by a singular value "
                f"decomposition ({kept:.0%} of the variance)."
            )
        elif one.was_missing:
            flagged.append(one.name)
    if flagged:
        sentences.append(f"A 0/1 column each says where a value is missing: {quoted(flagged)}.")
    return sentences
